// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/serve/health_check.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "client/request/errors.h"
#include "core/out_of_memory.h"

namespace kgen::controller {
namespace {

constexpr Nanos kFresh = std::chrono::seconds(1);
constexpr Nanos kInterval = std::chrono::seconds(5);
constexpr Nanos kInterest = std::chrono::minutes(2);

}  // namespace

HealthCheck::HealthCheck(std::string name, SharedCall::Function function, Shared<Executor> executor,
                         Shared<RunningWork> running)
    : executor_(std::move(executor)),
      strand_(executor_->MakeStrand(name)),
      call_(MakeShared<SharedCall>(std::move(name), std::move(function), executor_, std::move(running))) {}

HealthCheck::Answer HealthCheck::Ask() {
  const TimePoint now = executor_->clock()->Now();
  Answer answer;
  bool stale = false;
  {
    const MutexLock lock(mutex_);
    asked_ = now;
    if (last_) {
      answer = {.known = true,
                .error = last_->error,
                .news = !std::exchange(last_->told, true),
                .age = std::max(now - last_->at, Nanos::zero())};
      if (answer.error && failures_) failures_->told = true;
      if (failures_ && failures_->until) {
        if (failures_->told) answer.recovery = {failures_->count, *failures_->until - failures_->since};
        failures_.reset();
      }
    }
    stale = !begun_ || now >= *begun_ + kFresh;
    if (!stale && !next_.armed()) Arm(now);
  }
  if (stale) Run();
  return answer;
}

void HealthCheck::Run() {
  {
    const MutexLock lock(mutex_);
    if (running_ || stopped_) return;
    running_ = true;
    begun_ = executor_->clock()->Now();
    next_.Cancel();
  }
  try {
    call_->Call([self = Shared<HealthCheck>(this)](const Result<SharedCall::Text>& result) { self->OnEnd(result); });
  } catch (const std::bad_alloc&) {
    OnEnd(Fail(detail::OutOfMemory()));
  }
}

void HealthCheck::OnEnd(const Result<SharedCall::Text>& result) {
  const TimePoint now = executor_->clock()->Now();
  const MutexLock lock(mutex_);
  running_ = false;
  last_ = Outcome{.error = result ? std::nullopt : std::optional(result.error()), .at = now};
  if (!result) {
    if (!failures_) failures_ = Failures{.since = now};
    ++failures_->count;
    failures_->until.reset();
  } else if (failures_ && !failures_->until) {
    failures_->until = now;
  }
  Arm(now);
}

void HealthCheck::Arm(TimePoint now) noexcept {
  if (running_ || stopped_ || !asked_ || now >= *asked_ + kInterest) return;
  const Nanos pause = std::max(*begun_ + kInterval - now, kFresh);
  next_.After(pause, TimerKind::kHousekeeping, [self = Shared<HealthCheck>(this)] { self->Run(); });
}

void HealthCheck::Stop() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    next_.Cancel();
  }
  call_->Stop();
}

}  // namespace kgen::controller
