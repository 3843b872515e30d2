// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/delivery/event_queue.h"

#include <utility>

#include "cache/store/deliberate_bugs.h"
#include "core/own_bytes.h"

namespace kgen::cache {

// Returns the bytes that only this event keeps alive: the event, and the state that the cache has replaced. The cache
// shares its key and newest object.
std::size_t EventQueue::BytesOf(const AnyEvent& event) const noexcept {
  constexpr std::size_t kPlace = 48;  // of newest_
  // A handler that keeps up finds each event in an empty queue, and then nothing needs to be measured.
  const bool measured = event.before && event.before != event.now && !queue_.empty();
  return sizeof(Pending) + kPlace + (measured ? detail::OwnBytes(event.before) : 0);
}

int EventQueue::Push(AnyEvent event) {
  const KeyView key{event.key.namespace_, event.key.name};
  // As long as any key is known, all new ones are: otherwise newest_ would name an event that is not the newest.
  const bool known = limit_ && (bytes_ >= *limit_ / 2 || known_ > 0);
  const std::uint64_t hash = known ? LeafHash(key) : 0;
  if (known && bytes_ >= *limit_) {
    if (const Place* place = newest_.Find(key, hash)) {
      if (const std::optional<int> merged = Merge(*place->pending(), event)) {
        ++merged_;
        return *merged;
      }
    }
  }
  const int initial = event.initial ? 1 : 0;
  const std::size_t bytes = limit_ ? BytesOf(event) : 0;
  queue_.push_back({.event = std::move(event), .bytes = bytes});
  ++size_;
  bytes_ += bytes;
  if (known) {
    newest_.Set(Place(&queue_.back(), hash));
    queue_.back().known = true;
    ++known_;
  }
  return initial;
}

// Merges `event` into `pending` and returns the change in the number of initial events. Returns nothing if both events
// must be delivered.
std::optional<int> EventQueue::Merge(Pending& pending, AnyEvent& event) {
  using Type = AnyEvent::Type;
  AnyEvent& first = pending.event;
  if (pending.cancelled) {
    if (event.type != Type::kAdded) return std::nullopt;
    first = std::move(event);
    pending.cancelled = false;
    ++size_;
    return first.initial ? 1 : 0;
  }
  if (first.type == Type::kDeleted) {
    if (event.type != Type::kDeleted) return std::nullopt;
    return 0;  // the object was never delivered in between
  }
  if (event.type == Type::kAdded) return std::nullopt;
  if (event.type == Type::kUpdated) {
    if (!Injected(Bug::kMergeKeepsOldState)) first.now = std::move(event.now);
    first.version = std::move(event.version);
    if (first.type == Type::kUpdated && event.reason != Reason::kResync) first.reason = event.reason;
    return 0;
  }
  if (first.type == Type::kUpdated) {
    const std::size_t bytes = BytesOf(event);
    bytes_ += bytes - std::exchange(pending.bytes, bytes);
    first = std::move(event);
    return 0;
  }
  const int initial = first.initial ? -1 : 0;
  first.now = {};
  pending.cancelled = true;
  --size_;
  return initial;
}

std::optional<AnyEvent> EventQueue::Pop() {
  while (!queue_.empty()) {
    Pending& front = queue_.front();
    if (front.known) {
      --known_;
      const KeyView key{front.event.key.namespace_, front.event.key.name};
      const std::uint64_t hash = LeafHash(key);
      if (const Place* place = newest_.Find(key, hash); place != nullptr && place->pending() == &front) {
        newest_.Erase(key, hash);
      }
    }
    std::optional<AnyEvent> event;
    if (!front.cancelled) event.emplace(std::move(front.event));
    bytes_ -= front.bytes;
    queue_.pop_front();
    if (!event) continue;
    --size_;
    return event;
  }
  return std::nullopt;
}

}  // namespace kgen::cache
