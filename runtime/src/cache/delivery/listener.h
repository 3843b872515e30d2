// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Listener: the queue and the handler of one registration.
//
//   Processor --Deliver(events)--> queue --> Drain() on a thread that may block --> the user's functions
//
// A slow handler delays only itself. An idle listener occupies no thread. If its calls are short, Deliver() makes them.
#ifndef KGEN_SRC_CACHE_DELIVERY_LISTENER_H_
#define KGEN_SRC_CACHE_DELIVERY_LISTENER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cache/delivery/event_queue.h"
#include "core/memory/mutex.h"
#include "kgen/cache/events.h"
#include "kgen/cache/informer_status.h"
#include "kgen/cache/registration.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/shared.h"
#include "kgen/core/waiter.h"

namespace kgen::cache {

// Whether an informer has been started. A separate object, because listeners may outlive their informer.
struct StartMark : SharedObject {
  std::atomic<bool> set{false};
};

// Thread safety: all members from any thread.
// Lifetime: shared by the registration, the informer and the running calls.
// Invariants (tests/runtime/cache/processor_test.cc):
//   L1  Calls of the functions never overlap, and come in the order of Deliver().
//   L2  After Remove() from another thread has returned no call is running or will start.
//   L3  Remove() from the functions themselves returns at once; they are destroyed after that call.
//   L4  HasSynced() becomes true only after InitialQueued() and after the calls for all events that were delivered
//       before it have returned. It then stays true. HasHandledSaved() is the same for SavedQueued(), and true if
//       HasSynced() is.
//   L5  Nothing is dropped while registered, but what HandlerOptions leave out, and nothing is called after removal.
class Listener final : public SharedObject {
 public:
  // If `started` is null, the informer counts as started.
  Listener(AnyHandler handler, HandlerOptions options, std::string informer, Shared<Executor> executor,
           Shared<Observer> observer, Shared<const StartMark> started = {});

  void Deliver(std::vector<AnyEvent> events);  // on the informer's strand
  void SavedQueued();                          // every event of a saved state was delivered
  void InitialQueued();                        // the informer has synced, and every initial event was delivered
  void Remove();
  void StopDelivery();  // the informer stopped: discards waiting events and lets the running call finish; does not wait
  // Blocks until no call is running. As with Remove(), it does not wait on the thread of the running call itself, nor
  // when two handlers would wait for each other. Destructors lead here, so the first of concurrent calls allocates
  // nothing. Errors: kCancelled (`stop`), kInternal (no memory).
  Result<void> Join(std::stop_token stop);
  void Reject(Error why);       // nothing is registered
  Result<void> status() const;  // `why` of Reject()
  const std::string& name() const noexcept { return name_; }

  bool HasSynced() const noexcept;
  bool HasHandledSaved() const noexcept;
  // Posts `callback` once, when HasSynced() is true, with `saved` when HasHandledSaved() is, or when the listener is
  // closed. If the handle is dropped before, `callback` is forgotten, so that repeated waits leave nothing behind.
  class SyncedWatch : public SharedObject {};
  [[nodiscard]] Shared<SyncedWatch> NotifySynced(Task callback, bool saved = false);
  std::size_t Backlog() const noexcept;
  HandlerStatus Describe() const;
  const HandlerOptions& options() const noexcept { return options_; }
  bool started() const noexcept { return !started_ || started_->set.load(); }  // its informer has been
  bool removed() const noexcept;
  bool closed() const noexcept;   // removed, or its informer has stopped: no call will start any more
  bool gone() const noexcept;     // removed, and its last call has ended
  bool running() const noexcept;  // a call is

 private:
  class OnSynced;

  void Schedule() KGEN_REQUIRES(mutex_);
  void Drain();
  void Call(const AnyEvent& event);
  bool FinishCall();
  // Returns a waiter for the end of the running call, or null if there is none.
  Shared<Waiter> BeginJoin() KGEN_REQUIRES(mutex_);
  void EndJoin(const Waiter& waiter) noexcept;
  // Whether the calls for all events before that place of the queue have returned.
  bool HandledUntil(const std::optional<std::uint64_t>& end) const KGEN_REQUIRES(mutex_);
  void SettleSync();
  // Calls the functions of all watches, or only of the watches for HasHandledSaved().
  void FireSyncedCallbacks(bool all = true) noexcept;
  // The limit of the queue: none without a limit, and for calls that never wait in it.
  static std::optional<std::size_t> BytesLimit(const HandlerOptions& options) noexcept;
  std::optional<Observer::BacklogHigh> NewlyHighBacklog(bool merges) KGEN_REQUIRES(mutex_);

  const HandlerOptions options_;
  const std::size_t warning_level_;  // events
  const std::string informer_;
  const std::string name_;
  const Shared<Executor> executor_;
  const Shared<Observer> observer_;
  const Shared<Strand> strand_, notices_;
  const Shared<const StartMark> started_;
  static inline Mutex graph_mutex_;                              // taken before any mutex_
  Listener* waits_for_ KGEN_GUARDED_BY(graph_mutex_) = nullptr;  // set while this handler's call removes another

  mutable Mutex mutex_;  // never held while user code runs or a thread waits
  // Changed under mutex_ and called without it: only Drain() calls it, and only Drain() destroys it while running_.
  AnyHandler handler_;
  // Null once it was discarded, which happens only when closed_.
  std::unique_ptr<EventQueue> queue_ KGEN_GUARDED_BY(mutex_) = std::make_unique<EventQueue>(BytesLimit(options_));
  const Shared<Waiter> joiner_ = executor_->MakeWaiter("the running call of the handler of " + name_);
  bool joins_ KGEN_GUARDED_BY(mutex_) = false;                   // a call of Join() uses joiner_
  std::vector<Shared<Waiter>> waiters_ KGEN_GUARDED_BY(mutex_);  // of other calls
  std::vector<OnSynced*> on_synced_ KGEN_GUARDED_BY(mutex_);     // each removes itself
  bool scheduled_ KGEN_GUARDED_BY(mutex_) = false;
  bool running_ KGEN_GUARDED_BY(mutex_) = false;
  std::uint64_t running_place_ KGEN_GUARDED_BY(mutex_) = 0;  // in the queue, of the event whose call is running
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
  bool removed_ KGEN_GUARDED_BY(mutex_) = false;
  std::optional<Error> rejected_ KGEN_GUARDED_BY(mutex_);
  // The ends of the queue at SavedQueued() and InitialQueued().
  std::optional<std::uint64_t> saved_end_ KGEN_GUARDED_BY(mutex_);
  std::optional<std::uint64_t> initial_end_ KGEN_GUARDED_BY(mutex_);
  bool saved_handled_ KGEN_GUARDED_BY(mutex_) = false;
  bool synced_ KGEN_GUARDED_BY(mutex_) = false;
  bool backlog_reported_ KGEN_GUARDED_BY(mutex_) = false;
  bool merging_reported_ KGEN_GUARDED_BY(mutex_) = false;

  // Changed by Call() only, of which one runs at a time.
  struct CallCounts {
    std::atomic<std::uint64_t> ended{0}, slow{0};
    std::atomic<Nanos::rep> time{0};
    std::atomic<TimePoint> running_since{kNotRunning};
  };
  static constexpr TimePoint kNotRunning = TimePoint::min();
  CallCounts counts_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_DELIVERY_LISTENER_H_
