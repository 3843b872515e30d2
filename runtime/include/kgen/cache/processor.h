// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Processor and listeners: from applied changes to the calls of handlers.
//
//   controller loop --Distribute(events)--> Processor --> Listener (a queue, and a strand of its own) --Blocking--> the
//   user's functions
//
// A slow handler delays nobody but itself. An idle listener costs no thread. [INF PL; D9, D11]
#ifndef KGEN_CACHE_PROCESSOR_H_
#define KGEN_CACHE_PROCESSOR_H_

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

// Whether an informer has been started: what its listeners know of it, as they may outlive it.
struct StartMark : SharedObject {
  std::atomic<bool> set{false};
};

// One registration's side.
//
// Thread safety: all members from any thread.
// Invariants (tests/runtime/cache/processor_test.cc):
//   L1  Calls of the functions never overlap, and come in the order of Deliver().
//   L2  After Remove() from another thread has returned no call is running or will start.
//   L3  Remove() from the functions themselves returns at once; they are destroyed after that call.
//   L4  HasSynced() turns true only after InitialQueued() and the return of every initial event's call, and stays.
//       [INF HS-01, HS-03]
//   L5  Nothing is dropped while registered, and nothing is called after removal. [INF PL-03, PL-06]
class Listener : public SharedObject {
 public:
  // Without `started`: of an informer that has been.
  Listener(AnyHandler handler, HandlerOptions options, std::string informer, Shared<Executor> executor,
           Shared<Observer> observer, Shared<const StartMark> started = {});
  ~Listener() override;

  void Deliver(std::vector<AnyEvent> events);
  void InitialQueued();  // the informer has synced, and every initial event was delivered
  void Remove();
  void StopDelivery();  // the informer stopped: what waits is discarded, the running call ends by itself; does not wait
                        // [INF SI-02]
  // Blocks until no call is running, under the same rule as Remove(): never on the thread of the running call itself,
  // nor where two handlers would wait for each other. Errors: kCancelled (`stop`).
  Result<void> Join(std::stop_token stop);
  void Reject();                // the informer had already stopped: registered nowhere [INF SI-12]
  Result<void> status() const;  // kStopped after Reject()
  const std::string& name() const noexcept;

  bool HasSynced() const noexcept;
  // `callback` runs once, as posted work, when HasSynced() is true or the listener is removed, unless the handle was
  // dropped before: who waits again and again leaves nothing behind.
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
  // Whom events are for. Fixed at the beginning of what is told in several steps, so that each listener hears all of
  // it or nothing.
  struct Recipient {
    Shared<Listener> listener;
    bool unchanged;  // also of objects that a list found unchanged
  };
  using Recipients = std::vector<Recipient>;
  // Of changes: all listeners.
  Recipients ForChanges();
  // Of a resync: those that a check found due and that were told of no resync since. One that came after the check is
  // not among them.
  Recipients TakeDue();
  static void Deliver(const Recipients& recipients, std::vector<AnyEvent> events);

  void Distribute(std::vector<AnyEvent> events) { Deliver(ForChanges(), std::move(events)); }
  // A late listener gets its replay by Deliver() before this, so that InitialQueued() cannot come too early. [INF
  // HS-03]
  void Add(Shared<Listener> listener, Nanos effective_resync, TimePoint now);
  void InitialQueued();
  void StopAll();
  // Which listeners are due; for resyncs remembered until TakeDue(), for what a list finds unchanged until the next
  // call.
  bool ShouldResync(TimePoint now);
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    Shared<Listener> listener;
    Nanos resync;
    TimePoint due;
    bool syncing = true;  // at the last check, and before the first: is told what a list found unchanged [INF RS-09]
    bool resync_due = false;  // a check found it due, and TakeDue() has not given it since
  };
  std::vector<Entry> entries_;
  bool initial_queued_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_CACHE_PROCESSOR_H_
