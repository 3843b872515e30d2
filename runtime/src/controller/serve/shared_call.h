// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SharedCall: a function of the user whose result requests need. It may block, and it may hang.
//
//   request, request --Call--> SharedCall --Blocking--> the function;   its result, or the time limit --> every request
#ifndef KGEN_SRC_CONTROLLER_SERVE_SHARED_CALL_H_
#define KGEN_SRC_CONTROLLER_SERVE_SHARED_CALL_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/http/running_work.h"
#include "core/execution/post_timer.h"
#include "core/memory/mutex.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/response_writer.h"

namespace kgen::controller {

// Thread safety: all members from any thread; none blocks. The function runs at most once at a time, so one that hangs
// holds one thread, however many requests arrive.
class SharedCall final : public SharedObject {
 public:
  using Text = Shared<const net::SharedText>;
  using Function = std::function<Result<Text>(std::stop_token)>;
  using Done = UniqueFunction<void(const Result<Text>&)>;

  // `name` is for messages. Every run counts in `running` until the function has returned.
  SharedCall(std::string name, Function function, Shared<Executor> executor, Shared<RunningWork> running);

  // Calls `done` once: with the function's result, kUserCode if it threw, kTimeout 10 seconds after its start, kStopped
  // after Stop(). On any thread, also inside this call; must be short. If the executor shuts down, it is destroyed.
  void Call(Done done);
  // Requests the stop of a run, and starts no other.
  void Stop();
  bool running();
  const std::string& name() const noexcept { return name_; }

 private:
  struct Run : SharedObject {
    Run(const Shared<Executor>& executor, const Shared<Strand>& strand) : limit(executor, strand) {}
    std::stop_source stop{};
    std::vector<Done> waiting{};
    kgen::detail::PostTimer limit;
    bool late = false;
  };

  void Begin(const Shared<Run>& run);
  Result<Text> Invoke(std::stop_token stop) const;
  void Finish(const Result<Text>& result);
  void OnLimit(const Shared<Run>& run);
  // Takes `done`. Returns the run if it is a new one.
  Shared<Run> Join(Done& done) KGEN_REQUIRES(mutex_);
  std::optional<Error> WhyRefused() const KGEN_REQUIRES(mutex_);
  Error TooLate() const;

  const std::string name_;
  const Function function_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const Shared<RunningWork> running_;
  Mutex mutex_;
  Shared<Run> run_ KGEN_GUARDED_BY(mutex_);  // the members of the run, too
  bool stopped_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SERVE_SHARED_CALL_H_
