// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/serve/shared_call.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "client/request/errors.h"
#include "core/out_of_memory.h"

namespace kgen::controller {
namespace {

constexpr Nanos kCallLimit = std::chrono::seconds(10);

}  // namespace

SharedCall::SharedCall(std::string name, Function function, Shared<Executor> executor, Shared<RunningWork> running)
    : name_(std::move(name)),
      function_(std::move(function)),
      executor_(std::move(executor)),
      strand_(executor_->MakeStrand(name_)),
      running_(std::move(running)) {}

void SharedCall::Call(Done done) {
  std::optional<Error> refusal;
  Shared<Run> begun;
  {
    const MutexLock lock(mutex_);
    refusal = WhyRefused();
    if (!refusal) begun = Join(done);
  }
  if (begun) return Begin(begun);
  if (refusal) done(Fail(*std::move(refusal)));
}

void SharedCall::Begin(const Shared<Run>& run) {
  const Shared<SharedCall> self(this);
  {
    const MutexLock lock(mutex_);
    run->limit.After(kCallLimit, TimerKind::kProgress, [self, run] { self->OnLimit(run); });
  }
  try {
    executor_->Blocking(name_, [self, stop = run->stop.get_token(), token = RunningWork::Token(running_)] {
      self->Finish(self->Invoke(stop));
    });
  } catch (const std::bad_alloc&) {
    Finish(Fail(detail::OutOfMemory(name_)));
  }
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
  Shared<Run> run;
  {
    const MutexLock lock(mutex_);
    run = std::move(run_);
    waiting = std::move(run->waiting);
    run->limit.Cancel();
  }
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

Shared<SharedCall::Run> SharedCall::Join(Done& done) {
  if (run_) {
    run_->waiting.push_back(std::move(done));
    return {};
  }
  auto run = MakeShared<Run>(executor_, strand_);
  run->waiting.push_back(std::move(done));
  return run_ = std::move(run);
}

std::optional<Error> SharedCall::WhyRefused() const {
  if (stopped_) return Error(Code::kStopped, name_ + ": the endpoint is stopping");
  if (run_ && run_->late) return TooLate();
  return std::nullopt;
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
