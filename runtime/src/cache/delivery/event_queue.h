// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventQueue: the events that wait for one handler.
#ifndef KGEN_SRC_CACHE_DELIVERY_EVENT_QUEUE_H_
#define KGEN_SRC_CACHE_DELIVERY_EVENT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "cache/store/persistent_map.h"
#include "cache/store/store_state.h"
#include "core/memory/heap_allocator.h"
#include "kgen/cache/events.h"
#include "kgen/core/clock.h"

namespace kgen::cache {

// While the events keep fewer than `limit` bytes alive, each is kept. Beyond that, an event is merged with the newest
// waiting event of its key, see HandlerOptions::backlog_bytes. The keys are known of the events that came after half of
// the limit and until those have gone, so that a queue that never gets there does not look up any. So at most `limit`
// bytes, and two events and two replaced states of each key wait. The cost of an operation does not depend on the
// number of events.
//
// Thread safety: as a standard container.
class EventQueue {
 public:
  explicit EventQueue(std::optional<std::size_t> limit) noexcept : limit_(limit) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  void Push(AnyEvent event, TimePoint now);
  // Removes and returns the oldest event, or none.
  std::optional<AnyEvent> Pop();

  // Places in the order of Push(). An event that was merged has the place of the older one.
  std::uint64_t begin() const noexcept { return end_ - queue_.size(); }  // of the oldest event that waits
  std::uint64_t end() const noexcept { return end_; }                    // of the next event

  bool empty() const noexcept { return size_ == 0; }
  // The time of the oldest event's Push(); of the older one, if it was merged.
  std::optional<TimePoint> oldest() const noexcept {
    return queue_.empty() ? std::nullopt : std::optional(queue_.front().since);
  }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return bytes_; }    // that only this queue keeps alive, about
  std::size_t merged() const noexcept { return merged_; }  // events so far
  bool well_below_limit() const noexcept { return !limit_ || bytes_ <= *limit_ / 2; }

 private:
  struct Pending {
    AnyEvent event;
    TimePoint since{};
    std::size_t bytes = 0;
    bool cancelled = false;  // an addition of what was gone before it was delivered: do not deliver it
    bool known = false;      // in newest_
  };

  std::size_t BytesOf(const AnyEvent& event) const noexcept;
  bool Merge(Pending& pending, AnyEvent& event);
  bool MergeGone(Pending& pending, AnyEvent& event);
  void Replace(Pending& pending, AnyEvent& event);
  void DropCancelled();
  void ForgetFront();

  const std::optional<std::size_t> limit_;
  std::deque<Pending, detail::HeapAllocator<Pending>> queue_;  // the first one is not cancelled
  std::uint64_t end_ = 0;                                      // the number of events that were ever in queue_
  std::size_t size_ = 0;                                       // without cancelled ones
  std::size_t bytes_ = 0;
  std::size_t merged_ = 0;
  std::size_t known_ = 0;  // events whose keys are in newest_, or were replaced there by newer ones

  // The newest waiting event of each key, as far as known. Elements of the queue do not move.
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

#endif  // KGEN_SRC_CACHE_DELIVERY_EVENT_QUEUE_H_
