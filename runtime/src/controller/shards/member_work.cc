// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The calls of a member's work.
#include <algorithm>
#include <utility>

#include "controller/shards/member_state.h"
#include "core/thrown.h"

namespace kgen::controller {
namespace {

constexpr int kSurveyLimit = 4;  // lease durations for which the first map waits for a survey

}  // namespace

// Makes the calls that are due.
void MemberState::PumpWork() {
  gate_->Withdraw(sets_.draining());
  while (const std::optional<WorkSets::Drain> due = sets_.BeginDrain()) Drain(*due);
  const TimePoint now = clock_->Now();
  std::optional<TimePoint> next = sets_.NextExpiry();
  if (sets_.ShouldStopPreparing()) preparing_.request_stop();
  if (phase_ == Phase::kMember) {
    if (prepare_after_ && now < *prepare_after_) {
      next = next ? std::min(*next, *prepare_after_) : *prepare_after_;
    } else {
      prepare_after_.reset();
      if (std::optional<ShardRanges> ranges = sets_.BeginPrepare()) Prepare(*std::move(ranges));
    }
  }
  if (!next) return work_timer_.Cancel();
  work_timer_.Set(*next, TimerKind::kHousekeeping,
                  [self = Shared<MemberState>(this)] { self->Guarded([&] { self->OnWorkTimer(); }); });
}

void MemberState::OnWorkTimer() {
  const ShardRanges refused = sets_.Expire(clock_->Now());
  if (!refused.empty()) {
    gate_->Shut(refused);
    Say(LogLevel::kWarning,
        "draining takes longer than drain_limit, so writes are refused from now on: " + refused.ToString());
  }
  Changed();
}

// Whether the first map must wait, because nobody knows yet what a range of hashes weighs.
bool MemberState::AwaitsSurvey(TimePoint now) {
  if (!assigner_.NeedsSurvey()) return false;
  if (!survey_end_) {
    survey_end_ = Later(now, kSurveyLimit * options_.lease_duration);
    BeginSurvey();
  }
  if (now >= *survey_end_) survey_stop_.request_stop();
  return surveying_ && now < *survey_end_;
}

void MemberState::BeginSurvey() {
  surveying_ = true;
  survey_stop_ = {};
  CallWork(
      "survey for shards of",
      [stop = survey_stop_.get_token()](ShardWork& work) -> Result<std::vector<ShardWeight>> {
        try {
          return work.Survey(stop);
        } catch (...) {
          return Fail(detail::ErrorOfThrown("ShardWork::Survey"));
        }
      },
      [](MemberState& self, const Result<std::vector<ShardWeight>>& weights) { self.OnSurveyed(weights); });
}

void MemberState::OnSurveyed(const Result<std::vector<ShardWeight>>& weights) {
  surveying_ = false;
  if (weights) {
    assigner_.Survey(*weights, ShardTime(*clock_));
  } else if (Live()) {
    Say(LogLevel::kWarning,
        "the first shards are equal parts of all hashes, because the survey failed: " + weights.error().ToString());
  }
  Changed();
  LookSoon();
}

void MemberState::Prepare(ShardRanges ranges) {
  preparing_ = {};
  CallWork(
      "prepare shards of",
      [ranges = std::move(ranges), stop = preparing_.get_token()](ShardWork& work) -> Result<void> {
        try {
          return work.Prepare(ranges, stop);
        } catch (...) {
          return Fail(detail::ErrorOfThrown("ShardWork::Prepare"));
        }
      },
      [](MemberState& self, const Result<void>& result) { self.OnPrepared(result); });
}

void MemberState::OnPrepared(const Result<void>& result) {
  sets_.EndPrepare(static_cast<bool>(result));
  if (!result && !preparing_.stop_requested()) {
    prepare_after_ = Later(clock_->Now(), options_.retry_period);
    Failed(result.error().With("prepare shards"));
  }
  Changed();
  if (!sets_.Ready().empty()) LookSoon();
}

void MemberState::Start(const Startable& what) {
  sets_.BeginStart(what.ranges);
  sets_.Learn(what.from.versions);
  gate_->Open(what.ranges);
  Say(LogLevel::kInfo, "works on " + what.ranges.ToString());
  CallWork(
      "start shards of",
      [what, gate = gate_](ShardWork& work) -> Result<void> {
        // The machine may have been suspended before this call. Then others may own the ranges by now.
        if (gate->time_left() <= Nanos()) return {};
        try {
          work.Start(what.ranges, what.from);
          return {};
        } catch (...) {
          return Fail(detail::ErrorOfThrown("ShardWork::Start"));
        }
      },
      [](MemberState& self, const Result<void>& result) {
        self.sets_.EndStart();
        if (!result) self.Failed(result.error().With("start shards"));
        self.Changed();
        if (!self.sets_.Ready().empty()) self.LookSoon();
      });
  Changed();
}

void MemberState::Drain(const WorkSets::Drain& what) {
  CallWork(
      "drain shards of",
      [ranges = what.ranges](ShardWork& work) -> Result<std::optional<ShardVersions>> {
        try {
          return work.Drain(ranges);
        } catch (...) {
          return Fail(detail::ErrorOfThrown("ShardWork::Drain"));
        }
      },
      [id = what.id](MemberState& self, const Result<std::optional<ShardVersions>>& result) {
        self.OnDrained(id, result);
      });
}

void MemberState::OnDrained(std::uint64_t id, const Result<std::optional<ShardVersions>>& versions) {
  if (!versions) Failed(versions.error().With("drain shards"));
  const ShardRanges drained = sets_.EndDrain(id, versions ? *versions : std::nullopt);
  // Before anybody is told.
  gate_->Shut(drained);
  if (!drained.empty()) Say(LogLevel::kInfo, "no longer works on " + drained.ToString());
  Changed();
  if (phase_ == Phase::kLeaving) LookSoon();
}

}  // namespace kgen::controller
