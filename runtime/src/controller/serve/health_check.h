// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HealthCheck: a check of the endpoint, and the result of its last run.
//
//   Start(), Ask() or the interval --> SharedCall --> the user's function --> the last result --> Ask()
#ifndef KGEN_SRC_CONTROLLER_SERVE_HEALTH_CHECK_H_
#define KGEN_SRC_CONTROLLER_SERVE_HEALTH_CHECK_H_

#include <cstddef>
#include <optional>
#include <string>

#include "controller/serve/shared_call.h"

namespace kgen::controller {

// Thread safety: all members from any thread; none blocks, so no answer waits for a check.
//
// It runs once at Start(), and then only for those who ask: at once when asked, unless the last run began less than a
// second ago, and every 5 seconds for two minutes from then on. So for somebody who asks every two minutes, or more
// often, a result is never older than 5 seconds and the time of one run; and if nobody asks, nothing runs.
class HealthCheck final : public SharedObject {
 public:
  struct Answer {
    bool known = false;            // false: no run has ended yet
    std::optional<Error> error{};  // why it failed
    bool news = false;             // this answer is the first one with this result
    Nanos age{};                   // of the result
    // Set in the first answer that passes after one that failed.
    struct Recovery {
      std::size_t failures = 0;  // runs in a row
      Nanos after{};             // since the end of the first of them
    };
    std::optional<Recovery> recovery{};
  };

  HealthCheck(std::string name, SharedCall::Function function, Shared<Executor> executor, Shared<RunningWork> running);

  void Start() { Run(); }
  // The result of the last run that has ended. A run that takes more than 10 seconds has failed.
  Answer Ask();
  // Requests the stop of a run, and starts no other.
  void Stop();
  bool running() { return call_->running(); }
  const std::string& name() const noexcept { return call_->name(); }

 private:
  struct Outcome {
    std::optional<Error> error;
    TimePoint at;
    bool told = false;
  };
  // A series of failed runs. It is kept until an answer has told its end.
  struct Failures {
    TimePoint since;
    std::size_t count = 0;
    bool told = false;
    std::optional<TimePoint> until{};  // the first run after them
  };

  void Run();
  // Begins the next run after a while, if somebody has asked lately.
  void Arm(TimePoint now) noexcept KGEN_REQUIRES(mutex_);
  void OnEnd(const Result<SharedCall::Text>& result);

  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const Shared<SharedCall> call_;
  Mutex mutex_;
  std::optional<Outcome> last_ KGEN_GUARDED_BY(mutex_);
  std::optional<Failures> failures_ KGEN_GUARDED_BY(mutex_);
  std::optional<TimePoint> begun_ KGEN_GUARDED_BY(mutex_);  // the last run
  std::optional<TimePoint> asked_ KGEN_GUARDED_BY(mutex_);
  kgen::detail::PostTimer next_ KGEN_GUARDED_BY(mutex_){executor_, strand_};
  bool running_ KGEN_GUARDED_BY(mutex_) = false;
  bool stopped_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SERVE_HEALTH_CHECK_H_
