// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/serve/shared_call.h"

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

namespace kgen::controller {
namespace {

constexpr Nanos kLimit = std::chrono::seconds(10);

}  // namespace

SharedCall::SharedCall(std::string name, Function function, Shared<Executor> executor, Shared<Activity> activity)
    : name_(std::move(name)),
      function_(std::move(function)),
      executor_(std::move(executor)),
      strand_(executor_->MakeStrand(name_)),
      activity_(std::move(activity)) {}

void SharedCall::Call(Done done) {
  std::optional<Error> refusal;
  Shared<Run> begun;
  {
    const MutexLock lock(mutex_);
    if (stopped_) {
      refusal = Error(Code::kStopped, name_ + ": the endpoint is stopping");
    } else if (run_ && run_->late) {
      refusal = TooLate();
    } else {
      if (!run_) run_ = begun = MakeShared<Run>();
      run_->waiting.push_back(std::move(done));
    }
  }
  if (refusal) return done(Fail(*std::move(refusal)));
  if (begun) Begin(begun);
}

void SharedCall::Begin(const Shared<Run>& run) {
  const Shared<SharedCall> self(this);
  Timer limit = executor_->clock()->After(kLimit, TimerKind::kProgress, [self, run] {
    self->executor_->Post(self->strand_, [self, run] { self->OnLimit(run); });
  });
  {
    const MutexLock lock(mutex_);
    run->limit = std::move(limit);
  }
  executor_->Blocking(name_, [self, stop = run->stop.get_token(), token = Activity::Token(activity_)] {
    self->Finish(self->Invoke(stop));
  });
}

Result<SharedCall::Text> SharedCall::Invoke(std::stop_token stop) const {
  try {
    return function_(std::move(stop));
  } catch (const std::exception& thrown) {
    return Fail(Code::kUserCode, std::string("an exception was thrown: ") + thrown.what());
  } catch (...) {
    return Fail(Code::kUserCode, "an exception that is not a std::exception was thrown");
  }
}

void SharedCall::Finish(const Result<Text>& result) {
  std::vector<Done> waiting;
  Timer limit;
  {
    const MutexLock lock(mutex_);
    waiting = std::move(run_->waiting);
    limit = std::move(run_->limit);
    run_ = {};
  }
  limit.Cancel();
  for (Done& done : waiting) done(result);
}

void SharedCall::OnLimit(const Shared<Run>& run) {
  std::vector<Done> waiting;
  {
    const MutexLock lock(mutex_);
    if (run_ != run) return;
    run->late = true;
    waiting = std::move(run->waiting);
  }
  run->stop.request_stop();
  for (Done& done : waiting) done(Fail(TooLate()));
}

Error SharedCall::TooLate() const { return Error(Code::kTimeout, "it has not returned within 10 s"); }

void SharedCall::Stop() {
  Shared<Run> run;
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    run = run_;
  }
  if (run) run->stop.request_stop();
}

bool SharedCall::running() {
  const MutexLock lock(mutex_);
  return static_cast<bool>(run_);
}

}  // namespace kgen::controller
