// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Executor: runs all work of the library. There are two kinds of work: Post is for short tasks that never block,
// Blocking for everything else.
//
//   | runs                                                        | where                               | may block |
//   | split, decode, transform, queue, index functions, apply     | the informer's strand               | no        |
//   | handlers, reconcile functions                               | the registration's strand, Blocking | yes       |
//   | the library's own: token and certificate files, names       | BlockingShort                       | briefly   |
#ifndef KGEN_CORE_EXECUTOR_H_
#define KGEN_CORE_EXECUTOR_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/waiter.h"

namespace kgen {

class Observer;

// A queue of tasks that run one after the other, in the order of posting, on any free thread of the pool. Each task
// sees the memory writes of the tasks before it. An idle strand occupies no thread.
class Strand : public SharedObject {
 public:
  virtual std::string_view name() const noexcept = 0;  // for traces: "informer pods"
};

// Options of a pool of threads.
struct ExecutorOptions {
  // Default: the number of cores, at least 2, but fewer than `max_threads`. The number of threads for posted work.
  std::optional<int> threads{};
  // Default: 512. The limit for posted and blocking work together, more than `threads` because blocking work needs a
  // thread, too. Reaching it is reported once to the observer (OnLimiterWaited). The library may use up to two threads
  // more for itself: see BlockingShort.
  int max_threads = 512;
  // Default: 10 s. After being idle for so long, a thread for blocking work ends. Zero: at once; kNever: it stays.
  Nanos idle = std::chrono::seconds(10);
};

// Room for one posted task, for code that cannot handle a failure (timers, destructors): Post() allocates nothing.
//
// Thread safety: any thread.
class ReservedPost : public SharedObject {
 public:
  // Posts `task` as Executor::Post() does on the strand. A task that is still waiting here is destroyed, and `task`
  // takes its place.
  virtual void Post(Task task) noexcept = 0;
};

// Thread safety: all members from any thread; none blocks.
// Lifetime: a posted task runs, or is destroyed without running when the last reference to the executor is dropped. The
// runtime joins the executor's threads; they never join themselves. In a child of fork() that has none of the threads,
// a task is dropped without running or being destroyed (docs/lifetimes.md).
class Executor : public SharedObject {
 public:
  // Returns a new strand; the name is for traces.
  [[nodiscard]] virtual Shared<Strand> MakeStrand(std::string_view name) = 0;
  // Runs the task on the strand, after those that were posted to it earlier.
  virtual void Post(const Shared<Strand>& strand, Task task) = 0;
  // The default calls Post(), and ends the process if that throws (docs/lifetimes.md).
  [[nodiscard]] virtual Shared<ReservedPost> ReservePost(const Shared<Strand>& strand);
  // Runs work that may block, on a thread that may block. The name appears in traces and in the message of kDeadlock.
  // A pool starts more than a few threads only for as many tasks as block: at once for those in Waiter::Wait(), and
  // after a millisecond or two for those that block otherwise.
  virtual void Blocking(std::string name, Task work) = 0;
  // Runs work that may block in the strand's order: nothing else of that strand runs until `work` has returned.
  virtual void BlockingOn(const Shared<Strand>& strand, Task work) = 0;
  // Runs short blocking work of the library itself, such as reading a file or resolving a name; not for user code.
  // Calls made by Blocking work wait for these, so they must not queue behind Blocking work, however much of it there
  // is. An executor that wraps another one forwards them; one without a limit of threads may treat both alike.
  virtual void BlockingShort(std::string name, Task work) { Blocking(std::move(name), std::move(work)); }
  [[nodiscard]] virtual Shared<Waiter> MakeWaiter(std::string_view what) = 0;
  virtual Shared<Clock> clock() noexcept = 0;
  // Returns true on a thread that must not block, because it runs posted (not Blocking) work, timers or a connection's
  // I/O: a blocking call there is a bug, and fails with kInvalidArgument instead of stopping the pipeline.
  virtual bool InPostedTask() const noexcept = 0;
  // Adds or removes an observer of events of the executor itself: the limit of threads was reached, a task threw. Every
  // connection adds its observer, and removes it when it closes. An observer that was added twice gets each event
  // twice.
  virtual void ReportTo(Shared<Observer> /*observer*/) {}  // NOLINT(performance-unnecessary-value-param): it is kept
  virtual void StopReportingTo(const Observer& /*observer*/) noexcept {}
};

// Makes a pool of threads over the machine's clock.
// Errors: kInvalidArgument  an option is out of its range; the message names it
Result<Shared<Executor>> MakeThreadPool(const ExecutorOptions& options = {});
// Returns the pool that connections use unless their config names another one. It is created at the first use, and
// lives until the process ends.
Shared<Executor> DefaultExecutor();

}  // namespace kgen

#endif  // KGEN_CORE_EXECUTOR_H_
