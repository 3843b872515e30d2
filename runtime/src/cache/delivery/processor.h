// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Processor: hands the events of applied changes to the listeners of one informer.
//
//   controller loop --Distribute(events)--> Processor --Deliver(events)--> every Listener
#ifndef KGEN_SRC_CACHE_DELIVERY_PROCESSOR_H_
#define KGEN_SRC_CACHE_DELIVERY_PROCESSOR_H_

#include <cstddef>
#include <vector>

#include "cache/delivery/listener.h"
#include "kgen/cache/events.h"
#include "kgen/core/clock.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

// The registrations of one informer. Thread safety: all members on the informer's strand.
class Processor {
 public:
  // The recipients of events. Fixed at the beginning of a delivery in several steps, so that each listener gets all of
  // it or nothing.
  struct Recipient {
    Shared<Listener> listener;
    bool unchanged;  // also gets objects that a list found unchanged
  };
  using Recipients = std::vector<Recipient>;
  // The recipients of changes: all listeners.
  Recipients ForChanges();
  // The recipients of a resync: the listeners that a check found due and that have had no resync since. A listener
  // added after the check is not among them.
  Recipients TakeDue();
  static void Deliver(const Recipients& recipients, std::vector<AnyEvent> events);

  void Distribute(std::vector<AnyEvent> events) { Deliver(ForChanges(), std::move(events)); }
  // The replay for a late listener must be delivered before this call, so that InitialQueued() cannot come too early.
  void Add(Shared<Listener> listener, Nanos effective_resync, TimePoint now);
  void SavedQueued();
  void InitialQueued();
  void StopAll();
  // Determines which listeners are due. The result holds for resyncs until TakeDue(), and for objects that a list finds
  // unchanged until the next call.
  bool ShouldResync(TimePoint now);
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    Shared<Listener> listener;
    Nanos resync;
    TimePoint due;
    bool syncing = true;      // due at the last check, or no check yet: gets objects that a list found unchanged
    bool resync_due = false;  // a check found it due, and TakeDue() has not returned it since
  };
  std::vector<Entry> entries_;
  bool saved_queued_ = false;
  bool initial_queued_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_DELIVERY_PROCESSOR_H_
