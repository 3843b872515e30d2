// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventQueue: the events that wait for one handler.
#ifndef KGEN_RUNTIME_CACHE_EVENT_QUEUE_H_
#define KGEN_RUNTIME_CACHE_EVENT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "cache/persistent_map.h"
#include "cache/store_state.h"
#include "kgen/cache/events.h"

namespace kgen::cache {

// While fewer than `limit` events wait, each is kept. Beyond that, an event is merged with the newest waiting event of
// its key, see HandlerOptions::backlog_limit, so that at most `limit` events plus two for each key wait. The cost of an
// operation does not depend on the number of events.
//
// Thread safety: as a standard container.
class EventQueue {
 public:
  explicit EventQueue(std::size_t limit) noexcept : limit_(limit) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  // Returns by how much the number of waiting initial events has changed: -1, 0 or 1.
  int Push(AnyEvent event);
  // The oldest event, or none.
  std::optional<AnyEvent> Pop();

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Pending {
    AnyEvent event;
    bool cancelled = false;  // an addition that was deleted before it was delivered: do not deliver it
  };

  std::optional<int> Merge(Pending& pending, AnyEvent& event);

  const std::size_t limit_;  // 0: none
  std::deque<Pending> queue_;
  std::size_t size_ = 0;  // without cancelled ones

  // The newest waiting event of each key; empty if there is no limit. Elements of the queue do not move.
  class Place {
   public:
    using Key = KeyView;
    Place(Pending* pending, std::uint64_t hash) noexcept : pending_(pending), hash_(hash) {}
    std::uint64_t hash() const noexcept { return hash_; }
    KeyView key() const noexcept { return {pending_->event.key.namespace_, pending_->event.key.name}; }
    bool Is(const KeyView& other) const noexcept {
      const KeyView mine = key();
      return mine.name == other.name && mine.namespace_ == other.namespace_;
    }
    Pending* pending() const noexcept { return pending_; }

   private:
    Pending* pending_;
    std::uint64_t hash_;
  };
  PersistentMap<Place> newest_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_EVENT_QUEUE_H_
