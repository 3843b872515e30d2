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

void EventQueue::Push(AnyEvent event, TimePoint now) {
  const KeyView key{event.key.namespace_, event.key.name};
  // As long as any key is known, all new ones are: otherwise newest_ would name an event that is not the newest.
  const bool known = limit_ && (bytes_ >= *limit_ / 2 || known_ > 0);
  const std::uint64_t hash = known ? LeafHash(key) : 0;
  if (known && bytes_ >= *limit_) {
    const Place* place = newest_.Find(key, hash);
    if (place != nullptr && Merge(*place->pending(), event)) {
      ++merged_;
      DropCancelled();
      return;
    }
  }
  const std::size_t bytes = limit_ ? BytesOf(event) : 0;
  queue_.push_back({.event = std::move(event), .since = now, .bytes = bytes});
  ++end_;
  ++size_;
  bytes_ += bytes;
  if (known) {
    newest_.Set(Place(&queue_.back(), hash));
    queue_.back().known = true;
    ++known_;
  }
}

// Merges `event` into `pending`. Returns false if both events must be delivered.
bool EventQueue::Merge(Pending& pending, AnyEvent& event) {
  using Type = AnyEvent::Type;
  AnyEvent& first = pending.event;
  if (pending.cancelled) {
    if (event.type != Type::kAdded) return false;
    first = std::move(event);
    pending.cancelled = false;
    ++size_;
    return true;
  }
  if (!first.now) return MergeGone(pending, event);
  if (event.type == Type::kAdded) return false;
  if (event.type == Type::kUpdated) {
    if (!Injected(Bug::kMergeKeepsOldState)) first.now = std::move(event.now);
    first.version = std::move(event.version);
    if (first.type == Type::kUpdated && event.reason != Reason::kResync) first.reason = event.reason;
    return true;
  }
  if (first.type == Type::kUpdated) {
    Replace(pending, event);
    return true;
  }
  first.now = {};
  pending.cancelled = true;
  --size_;
  return true;
}

// Two events without an addition in between: the object was never told of in between. That it was deleted says more
// than that it has left.
bool EventQueue::MergeGone(Pending& pending, AnyEvent& event) {
  using Type = AnyEvent::Type;
  AnyEvent& first = pending.event;
  if (event.now) return false;
  if (first.type == Type::kDeleted || event.type == Type::kLeft) return true;
  if (!event.before) {
    event.before = std::move(first.before);
    event.final_state_unknown = true;
  }
  Replace(pending, event);
  return true;
}

void EventQueue::Replace(Pending& pending, AnyEvent& event) {
  const std::size_t bytes = BytesOf(event);
  bytes_ += bytes - std::exchange(pending.bytes, bytes);
  pending.event = std::move(event);
}

std::optional<AnyEvent> EventQueue::Pop() {
  if (queue_.empty()) return std::nullopt;
  ForgetFront();
  AnyEvent event = std::move(queue_.front().event);
  queue_.pop_front();
  --size_;
  DropCancelled();
  return event;
}

void EventQueue::DropCancelled() {
  while (!queue_.empty() && queue_.front().cancelled) {
    ForgetFront();
    queue_.pop_front();
  }
}

// Called before the first element leaves the queue, while it still has its key.
void EventQueue::ForgetFront() {
  const Pending& front = queue_.front();
  if (front.known) {
    --known_;
    const KeyView key{front.event.key.namespace_, front.event.key.name};
    const std::uint64_t hash = LeafHash(key);
    if (const Place* place = newest_.Find(key, hash); place != nullptr && place->pending() == &front) {
      newest_.Erase(key, hash);
    }
  }
  bytes_ -= front.bytes;
}

}  // namespace kgen::cache
