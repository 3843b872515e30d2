// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Where work runs. Two kinds of it: Post, short and never blocking; Blocking, everything else. [D9]
//
//   | runs                                                        | where                               | may block |
//   | split, decode, transform, queue, index functions, apply     | the informer's strand               | no        |
//   | handlers, reconcile functions                               | the registration's strand, Blocking | yes       |
//   | the library's own: token and certificate files, names       | BlockingShort                       | briefly   |
#ifndef KGEN_CORE_EXECUTOR_H_
#define KGEN_CORE_EXECUTOR_H_

#include <string>
#include <string_view>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/shared.h"
#include "kgen/core/waiter.h"

namespace kgen {

class Observer;

// A queue of tasks that run one after the other, in the order of posting, on whichever thread of the pool is free. What
// one task wrote the next one sees. Costs no thread while it is idle.
class Strand : public SharedObject {
 public:
  virtual std::string_view name() const noexcept = 0;  // for traces: "informer pods"
};

struct ExecutorOptions {
  int threads = 0;  // for posted work; 0: the number of cores, at least 2
  // Posted and blocking together; reaching it is reported once to the observer (OnLimiterWaited). Up to two more, of
  // the library's own, come on top: see BlockingShort.
  int max_threads = 512;
  Nanos idle = std::chrono::seconds(10);  // a thread for blocking work that found none for so long ends
};

// Thread safety: all members from any thread; none blocks.
// Lifetime: tasks that were posted run, or are destroyed unrun when the last reference to the executor goes. Its own
// threads are joined by the runtime, never by one of themselves.
class Executor : public SharedObject {
 public:
  [[nodiscard]] virtual Shared<Strand> MakeStrand(std::string_view name) = 0;
  virtual void Post(const Shared<Strand>& strand, Task task) = 0;
  // Work that may block, on a thread that may. The name shows in traces and in "who waits for whom".
  virtual void Blocking(std::string name, Task body) = 0;
  // Blocking work in the strand's order: nothing else of that strand runs until `body` has returned.
  virtual void BlockingOn(const Shared<Strand>& strand, Task body) = 0;
  // For the library itself, not for user code: a file to read, a name to resolve. Calls made in bodies of Blocking wait
  // for these, so they must not wait behind such bodies, however many there are. An executor that wraps another one
  // passes them on; one without a limit of threads has no reason to tell the two apart.
  virtual void BlockingShort(std::string name, Task body) { Blocking(std::move(name), std::move(body)); }
  [[nodiscard]] virtual Shared<Waiter> MakeWaiter(std::string_view what) = 0;
  virtual Shared<Clock> clock() noexcept = 0;
  // True on a thread that must not block, because it runs posted (not Blocking) work, timers or a connection's I/O: a
  // blocking call there is a fault, and is refused with kInvalidArgument instead of stopping the pipeline.
  virtual bool InPostedTask() const noexcept = 0;
  // Who is told of the executor's own troubles: threads at their limit, a task that threw. Every connection enters its
  // observer and takes it back at its end. One that was entered twice is told twice.
  virtual void ReportTo(Shared<Observer> /*observer*/) {}  // NOLINT(performance-unnecessary-value-param): it is kept
  virtual void StopReportingTo(const Observer& /*observer*/) noexcept {}
};

// A pool of threads over the machine's clock.
Shared<Executor> MakeThreadPool(ExecutorOptions options = {});
// The pool that connections use unless their config names another one. Made at the first use, lives to the end of the
// process.
Shared<Executor> DefaultExecutor();

}  // namespace kgen

#endif  // KGEN_CORE_EXECUTOR_H_
