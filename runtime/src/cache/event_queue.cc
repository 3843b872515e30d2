// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/event_queue.h"

#include <utility>

namespace kgen::cache {

int EventQueue::Push(AnyEvent event) {
  if (limit_ == 0) {
    const int initial = event.initial ? 1 : 0;
    queue_.push_back({std::move(event)});
    ++size_;
    return initial;
  }
  const KeyView key{event.key.namespace_, event.key.name};
  const std::uint64_t hash = LeafHash(key);
  if (size_ >= limit_) {
    if (const Place* place = newest_.Find(key, hash)) {
      if (const std::optional<int> merged = Merge(*place->pending(), event)) return *merged;
    }
  }
  const int initial = event.initial ? 1 : 0;
  queue_.push_back({std::move(event)});
  ++size_;
  newest_.Set(Place(&queue_.back(), hash));
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
    first.now = std::move(event.now);
    first.version = std::move(event.version);
    if (first.type == Type::kUpdated && event.reason != Reason::kResync) first.reason = event.reason;
    return 0;
  }
  if (first.type == Type::kUpdated) {
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
    if (limit_ != 0) {
      const KeyView key{front.event.key.namespace_, front.event.key.name};
      const std::uint64_t hash = LeafHash(key);
      if (const Place* place = newest_.Find(key, hash); place != nullptr && place->pending() == &front) {
        newest_.Erase(key, hash);
      }
    }
    std::optional<AnyEvent> event;
    if (!front.cancelled) event.emplace(std::move(front.event));
    queue_.pop_front();
    if (!event) continue;
    --size_;
    return event;
  }
  return std::nullopt;
}

}  // namespace kgen::cache
