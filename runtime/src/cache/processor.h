// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Processor and listeners: turn applied changes into calls of handlers.
//
//   controller loop --Distribute(events)--> Processor --> Listener (a queue, and a strand of its own) --Blocking--> the
//   user's functions
//
// A slow handler delays only itself. An idle listener occupies no thread.
#ifndef KGEN_RUNTIME_CACHE_PROCESSOR_H_
#define KGEN_RUNTIME_CACHE_PROCESSOR_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/cache/registration.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

// Whether an informer has been started. A separate object, because listeners may outlive their informer.
struct StartMark : SharedObject {
  std::atomic<bool> set{false};
};

// The queue and the handler of one registration.
//
// Thread safety: all members from any thread.
// Invariants (tests/runtime/cache/processor_test.cc):
//   L1  Calls of the functions never overlap, and come in the order of Deliver().
//   L2  After Remove() from another thread has returned no call is running or will start.
//   L3  Remove() from the functions themselves returns at once; they are destroyed after that call.
//   L4  HasSynced() turns true only after InitialQueued() and the return of every initial event's call, and stays.
//   L5  Nothing is dropped while registered, and nothing is called after removal.
class Listener : public SharedObject {
 public:
  // Without `started`: the informer has been started.
  Listener(AnyHandler handler, HandlerOptions options, std::string informer, Shared<Executor> executor,
           Shared<Observer> observer, Shared<const StartMark> started = {});
  ~Listener() override;

  void Deliver(std::vector<AnyEvent> events);
  void InitialQueued();  // the informer has synced, and every initial event was delivered
  void Remove();
  void StopDelivery();  // the informer stopped: discards waiting events, lets the running call finish; does not wait
  // Blocks until no call is running. As with Remove(), it does not wait on the thread of the running call itself, nor
  // when two handlers would wait for each other. Errors: kCancelled (`stop`).
  Result<void> Join(std::stop_token stop);
  void Reject();                // the informer had already stopped, so nothing is registered
  Result<void> status() const;  // kStopped after Reject()
  const std::string& name() const noexcept;

  bool HasSynced() const noexcept;
  // Runs `callback` once, as posted work, when HasSynced() is true or the listener is removed, unless the handle is
  // dropped before, so that repeated waits leave nothing behind.
  class SyncedWatch : public SharedObject {};
  [[nodiscard]] Shared<SyncedWatch> NotifySynced(Task callback);
  std::size_t Backlog() const noexcept;
  const HandlerOptions& options() const noexcept;
  bool started() const noexcept;  // its informer has been
  bool removed() const noexcept;
  bool closed() const noexcept;  // removed, or its informer has stopped: no call will start any more
  bool gone() const noexcept;    // removed, and its last call has ended

 private:
  class Impl;
  Shared<Impl> impl_;  // also held by calls under way
};

// All registrations of one informer. On the informer's strand, except where it says otherwise.
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
  bool initial_queued_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_PROCESSOR_H_
