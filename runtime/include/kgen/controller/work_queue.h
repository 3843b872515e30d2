// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueue<Key>: a queue of keys to reconcile, with priorities, delays and back-off after failures.
//
//   handlers --Enqueue--> RateLimitingQueue --Process--> the user's function, on `workers` threads of the executor
//
//   kgen::RateLimitingQueue queue({.name = "orders"});
//   auto registration = orders.Informer().AddEventHandler(kgen::Enqueue<Order>(queue));
//   return queue.Process(2, stop, [&](const kgen::ObjectKey& key) -> kgen::Result<void> { ... });
//
// The queue guarantees, for each key:
//   * It is queued once, however often it is added before it is handed out. Two additions of a key combine to the
//     higher priority and the earlier time.
//   * Two workers never process it at once. A key that is added while it is being processed is handed out once more
//     after that.
//   * It is not handed out before its delay has passed. Adding it without a delay meanwhile hands it out at once.
// Between keys:
//   * The highest priority comes first; within a priority, items come in the order in which they became ready. An item
//     whose priority is raised goes to the end of the higher one.
//   * No priority starves: every 16th item is the one that has been ready for the longest time, whatever its priority.
//
// Time comes from the executor's clock, so the same code runs in virtual time. Delays count as progress there, except
// for Requeue::after, which usually repeats forever.
#ifndef KGEN_CONTROLLER_WORK_QUEUE_H_
#define KGEN_CONTROLLER_WORK_QUEUE_H_

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/controller/owners.h"
#include "kgen/controller/queue_handle.h"
#include "kgen/controller/queue_metrics.h"
#include "kgen/controller/rate_limiter.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/object_key.h"
#include "kgen/core/observer.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

struct Unstructured;
struct PartialObjectMetadata;
namespace controller {
class ControllerRunner;
}

inline constexpr int kNormalPriority = 0;  // of everything that says nothing else
// The priority of work that no change has caused: objects of the first list, and resyncs. Changes overtake these.
inline constexpr int kLowPriority = -100;

// The options of a WorkQueue.
struct WorkQueueOptions {
  std::string name = "unnamed";  // Default: "unnamed". For metrics, messages and traces.
  Shared<Executor> executor{};   // Default: DefaultExecutor().
  // Default: ExponentialRateLimiter(), 5 ms to 1000 s for each key; without priorities DefaultControllerRateLimiter(),
  // which adds an overall bucket.
  Shared<RateLimiter> rate_limiter{};
  Shared<Observer> observer{};  // Default: warnings on standard error. Gets the failures of reconcile functions.
  bool priorities = true;       // Default: true. False: first in, first out; every priority counts as kNormalPriority.
  // Default: false, because reading the clock takes about as long as everything else that the queue does. Whether
  // WorkQueueMetrics have durations. A Manager measures its queues.
  bool measure_durations = false;
};

// The options of Add().
struct AddOptions {
  // A delay. Absent or zero: none; kNever: until the key is added again. A negative one is reported to the observer and
  // counts as zero.
  std::optional<Nanos> after{};
  bool rate_limited = false;  // as long a delay as the rate limiter says; with `after` too, the shorter of both
  int priority = kNormalPriority;
};

// What a successful reconcile function returns: when to run again if no event arrives first.
//
//   return kgen::Requeue::After(30s);
struct Requeue {
  // Absent or kNever: not before the next event. Zero: at once, unlike the RequeueAfter of controller-runtime. A
  // negative delay is an error of the call (kInvalidArgument), which is reported, and the key backs off.
  std::optional<Nanos> after{};
  std::optional<int> priority{};  // absent: the one that the item had this time
  // Set this instead to run again after the delay of the rate limiter, which grows with each time in a row, as after an
  // error. Nothing has failed, so the observer is not notified.
  bool back_off = false;

  // Make the values that the members describe.
  static Requeue Done() { return {}; }
  static Requeue After(Nanos delay) { return {.after = delay}; }
  static Requeue BackOff() { return {.back_off = true}; }
};

// The options of Process().
struct ProcessOptions {
  // Whether Process() finishes the items that are ready when a stop is requested; otherwise it drops them. Items that
  // wait for a delay are always dropped.
  bool drain = false;
};

// Key: copyable, with == and std::hash, both of which must not throw. The queue holds its lock while it calls them, the
// copy constructor and the destructor, so they must not call the queue. If a copy throws, or Add() has no memory for an
// item (std::bad_alloc), the call passes the exception on and changes nothing.
//
// Thread safety: all members from any thread. None blocks, except where its comment says so.
// Ownership: a handle; copies share the queue. It is shut down when the last handle is destroyed, so event handlers may
// hold one longer than everything else, and an idle queue holds no thread.
template <typename Key>
class WorkQueue {
 public:
  static_assert(alignof(Key) <= alignof(void*), "WorkQueue: keys with a larger alignment are not supported");

  // An item that was handed out.
  struct Item {
    Key key;       // what was added
    int priority;  // larger ones go first
  };

  explicit WorkQueue(WorkQueueOptions options = {})
      : handle_(MakeShared<detail::QueueHandle>(detail::kKeyType<Key>, std::move(options))) {}
  // Copied even where it could be moved, so that a handle is never empty.
  WorkQueue(const WorkQueue&) = default;
  WorkQueue& operator=(const WorkQueue&) = default;
  ~WorkQueue() = default;

  // Adds a key. Does nothing once the queue is shutting down.
  void Add(const Key& key, const AddOptions& options = {}) const { queue().Add(&key, options); }
  void AddAfter(const Key& key, Nanos delay) const { Add(key, {.after = delay}); }
  // Adds a key after the delay that the rate limiter asks for. This counts as a failure of the key until Forget().
  void AddRateLimited(const Key& key) const { Add(key, {.rate_limited = true}); }
  // Forgets the failures of the key. If it is queued, it stays queued.
  void Forget(const Key& key) const { queue().Forget(&key); }
  int NumRequeues(const Key& key) const { return queue().NumRequeues(&key); }  // failures since Forget()

  // Returns the number of items that are ready, without those that wait for a delay or are being processed.
  std::size_t size() const { return queue().size(); }

  // Returns the metrics. Their durations are zero unless WorkQueueOptions::measure_durations is set.
  WorkQueueMetrics metrics() const { return queue().metrics(); }

  // Calls `reconcile(key)`, which returns Result<void> or Result<Requeue>, for the items of the queue, at most
  // `workers` at a time, until a stop is requested or the queue is shut down from elsewhere. Then shuts the queue down
  // and waits until the running calls have returned. Blocks for all that time.
  //
  // Once a stop is requested, no call starts any more unless `drain` is set; such a stop also ends a drain that began
  // elsewhere. The function is destroyed before Process() returns, so it may hold the queue and refer to the caller.
  //
  // Calls run as Blocking work of the executor, which therefore needs at least one thread for them beside the thread of
  // Process(). They may block, and each one that does holds a thread; a worker without work holds none, and one with
  // much work gives its thread to other Blocking work that waits, after 64 items or a tenth of a second. Success
  // forgets the key's failures. After an error the key comes back with its priority and the delay of the rate limiter,
  // and the observer is notified; after a terminal one (TerminalError()) it does not come back before the next Add().
  // An exception counts as an error with code kUserCode. Done() is not needed: the end of a call is the end of its
  // processing.
  //
  // Errors: kInvalidArgument  `workers` is less than 1, another Process() of this queue runs, or a thread that must not
  // block
  //         kStopped          the queue was shut down before
  //         kDeadlock, kCancelled  simulation, or the executor was shut down: the queue is shut down, but running calls
  //                           are not waited for, and the last call to return destroys the function
  template <typename F>
  Result<void> Process(int workers, const std::stop_token& stop, F reconcile,
                       const ProcessOptions& options = {}) const {
    static_assert(std::is_invocable_v<const F&, const Key&>,
                  "WorkQueue::Process: the function takes `const Key&`, and is called by several threads at once, so "
                  "its operator() is const");
    using Returned = std::invoke_result_t<const F&, const Key&>;
    static_assert(std::is_same_v<Returned, Result<void>> || std::is_same_v<Returned, Result<Requeue>>,
                  "WorkQueue::Process: the function returns kgen::Result<void> or kgen::Result<kgen::Requeue>");
    auto erased = [reconcile = std::move(reconcile)](const void* key) -> Result<Requeue> {
      auto result = reconcile(*static_cast<const Key*>(key));
      if (!result) return Fail(std::move(result).error());
      if constexpr (std::is_same_v<Returned, Result<void>>) {
        return Requeue{};
      } else {
        return *std::move(result);
      }
    };
    return queue().Process(workers, stop, std::move(erased), options.drain);
  }

  // The functions below are for loops of your own, beside Process() or instead of it. Each item that was handed out
  // needs one Done().
  //
  // Returns the next item; nothing if none is ready.
  std::optional<Item> TryGet() const {
    std::optional<Item> item;
    queue().TryGet(ReceiverOf(item));
    return item;
  }
  // Blocks until an item is ready, and returns it.
  // Errors: kStopped     the queue is shutting down, and nothing is ready
  //         kCancelled   `stop` was requested
  //         kInvalidArgument, kDeadlock  as for Waiter::Wait()
  Result<Item> Get(const std::stop_token& stop = {}) const {
    std::optional<Item> item;
    if (Result<void> got = queue().Get(stop, ReceiverOf(item)); !got) return Fail(std::move(got).error());
    return *std::move(item);
  }
  // Ends the processing of a key. Does nothing for a key that is not being processed, or that a worker of Process()
  // processes.
  void Done(const Key& key) const { queue().Done(&key); }

  // Drops every item, ends every Get() and lets Process() return. Running calls go on.
  void ShutDown() const { queue().ShutDown(); }
  // Accepts no more keys, drops those that wait for a delay, and then blocks until those that are ready have been
  // handed out and done. Somebody has to take them: Process(), or callers of Get(). ShutDown() ends the drain. Do not
  // call it from a reconcile function: it would wait for that call, and so for itself.
  //
  // Errors: kCancelled, kInvalidArgument, kDeadlock  as for Waiter::Wait(); the drain goes on
  Result<void> ShutDownWithDrain(const std::stop_token& stop = {}) const { return queue().ShutDownWithDrain(stop); }
  bool ShuttingDown() const { return queue().ShuttingDown(); }

 private:
  friend class controller::ControllerRunner;
  detail::AnyWorkQueue& queue() const noexcept { return handle_->queue(); }
  static detail::ItemReceiver ReceiverOf(std::optional<Item>& item) noexcept {
    return {&item, [](void* to, const void* key, int priority) {
              static_cast<std::optional<Item>*>(to)->emplace(*static_cast<const Key*>(key), priority);
            }};
  }

  Shared<detail::QueueHandle> handle_;
};

// client-go's name for a queue of objects.
using RateLimitingQueue = WorkQueue<ObjectKey>;

namespace detail {

// Deletions are always of normal priority.
constexpr AddOptions AddFor(Reason reason) noexcept {
  const bool low = reason == Reason::kInitial || reason == Reason::kSaved || reason == Reason::kResync;
  return {.priority = low ? kLowPriority : kNormalPriority};
}

template <typename Owner, typename Object>
void AddOwners(const RateLimitingQueue& queue, const Object& object, Owners which, const AddOptions& options) {
  if (!object) return;
  for (const ObjectKey& key : OwnerKeys(object->metadata, *Owner::kTable.kind, which)) queue.Add(key, options);
}

}  // namespace detail

// Returns a handler that queues the key of every object that was added, changed or deleted: with kLowPriority for
// objects of the first list or of a saved cache, and resyncs.
template <typename T>
EventHandler<T> Enqueue(const RateLimitingQueue& queue) {
  return {.on_add = [queue](const Added<T>& e) { queue.Add(e.key, detail::AddFor(e.reason)); },
          .on_update = [queue](const Updated<T>& e) { queue.Add(e.key, detail::AddFor(e.reason)); },
          .on_delete = [queue](const Deleted<T>& e) { queue.Add(e.key); }};
}

// Returns a handler that queues the keys of the object's owners of kind Owner, by default only the key of the owner
// that controls it. When an object changes its owner, both are queued. The version in an owner reference does not
// matter. A deletion whose last state is unknown queues nobody, because only that state names the owners.
template <typename T, typename Owner>
EventHandler<T> EnqueueOwner(const RateLimitingQueue& queue, Owners which = Owners::kController) {
  static_assert(
      !std::is_same_v<Owner, Unstructured> && !std::is_same_v<Owner, PartialObjectMetadata>,
      "EnqueueOwner: the type of the owner must name its kind; use a generated type instead of Unstructured or "
      "PartialObjectMetadata");
  using detail::AddFor;
  using detail::AddOwners;
  return {.on_add = [queue, which](const Added<T>& e) { AddOwners<Owner>(queue, e.now, which, AddFor(e.reason)); },
          .on_update =
              [queue, which](const Updated<T>& e) {
                AddOwners<Owner>(queue, e.before, which, AddFor(e.reason));
                AddOwners<Owner>(queue, e.now, which, AddFor(e.reason));
              },
          .on_delete = [queue, which](const Deleted<T>& e) { AddOwners<Owner>(queue, e.before, which, AddOptions{}); }};
}

}  // namespace kgen

#endif  // KGEN_CONTROLLER_WORK_QUEUE_H_
