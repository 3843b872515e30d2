// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The course of a run: joining, working, leaving or being fenced, and the competition for the Lease with the map.
#include "controller/shards/member_state.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "client/request/connection_state.h"
#include "controller/shards/deliberate_bugs.h"
#include "core/observers/notify_observer.h"

namespace kgen::controller {
namespace {

constexpr Nanos kShardReportEvery = std::chrono::minutes(1);   // of a failure that goes on
constexpr Nanos kShardReleaseLimit = std::chrono::seconds(5);  // to release the Lease with the map

}  // namespace

MemberState::MemberState(const Connection& connection, ShardOptions options, Shared<ShardWork> work)
    : options_(std::move(options)),
      name_(options_.name + "-" + options_.identity),
      full_name_(options_.namespace_ + "/" + name_),
      source_("shards " + options_.namespace_ + "/" + options_.name),
      connection_(connection.With(Shared<SendGuard>())),
      leases_(connection_, *Lease::kTable.kind, options_.namespace_),
      work_(std::move(work)),
      observer_(client::ConnectionState::Of(connection)->observer),
      executor_(connection.shared_executor()),
      clock_(executor_->clock()),
      strand_(executor_->MakeStrand("shards " + full_name_)),
      gate_(MakeShared<ShardGate>(clock_, full_name_)),
      // A write that left before the guards refused has ended after another renew deadline, if it carries time_left().
      sets_({.refuse = options_.drain_limit, .give_up = options_.renew_deadline}),
      assigner_({.lease_duration = options_.lease_duration, .retry_period = options_.retry_period, .by = options_.by}),
      jitter_(SeedFrom(*clock_) ^ std::hash<std::string>()(name_)) {}

// --- Any thread

void MemberState::Post(Step step) {
  executor_->Post(strand_, [self = Shared<MemberState>(this), step] { self->Guarded([&] { (self.get()->*step)(); }); });
}

Result<MemberState::Phase> MemberState::WaitWhile(std::initializer_list<Phase> phases) {
  const Shared<Waiter> waiter = executor_->MakeWaiter("member " + full_name_);
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (std::ranges::find(phases, seen_phase_) == phases.end()) {
        waiter_ = {};
        return seen_phase_;
      }
      waiter_ = waiter;
    }
    if (Result<void> waited = waiter->Wait(); !waited) return Fail(waited.error());
  }
}

Result<void> MemberState::Run(const std::stop_token& stop) {
  const std::string doing = "run member " + full_name_;
  if (executor_->InPostedTask()) {
    return Fail(Error(Code::kInvalidArgument, "a blocking call on a thread that must not block; use Executor::Blocking")
                    .With(doing));
  }
  {
    const MutexLock lock(mutex_);
    if (seen_phase_ != Phase::kNew) {
      return Fail(Error(Code::kInvalidArgument, "this member was used before; make a new one").With(doing));
    }
    seen_phase_ = Phase::kJoining;
  }
  executor_->Post(strand_, [self = Shared<MemberState>(this)] {
    self->phase_ = Phase::kJoining;
    self->Guarded([&] { self->Write(); });
  });
  const std::stop_callback on_stop(stop, [this] { Post(&MemberState::Leave); });
  if (const Result<Phase> joined = WaitWhile({Phase::kJoining}); !joined) return Fail(joined.error().With(doing));
  Compete();
  const Result<Phase> ended =
      WaitWhile({Phase::kJoining, Phase::kMember, Phase::kLeaving, Phase::kLeft, Phase::kEnding});
  if (!ended) return Fail(ended.error().With(doing));
  const MutexLock lock(mutex_);
  if (!*result_) return Fail(result_->error().With(doing));
  return {};
}

// Competes for the Lease with the map, and makes maps while it is held, until the member ends. It looks at that Lease
// three times as often as at its own, because a candidate sees the last renewal late, and then its end.
void MemberState::Compete() {
  const std::stop_token stop = compete_.get_token();
  for (;;) {
    Result<LeaderElector> elector =
        LeaderElector::NewForShards(connection_, {.name = options_.name,
                                                  .namespace_ = options_.namespace_,
                                                  .identity = name_,
                                                  .lease_duration = options_.lease_duration,
                                                  .renew_deadline = options_.renew_deadline,
                                                  .retry_period = options_.retry_period / 3});
    if (!elector || !elector->Acquire(stop)) return;
    PostStep([elector = *elector](MemberState& self) { self.BecomeAssigner(elector); });
    const Result<void> lost = elector->WaitUntilLost(stop);
    Post(&MemberState::ResignAssigner);
    if (lost) {  // the member has ended, or the executor
      (void)elector->Release(kShardReleaseLimit);
      return;
    }
  }
}

ShardStatus MemberState::status() const {
  const TimePoint now = clock_->Now();
  const MutexLock lock(mutex_);
  ShardStatus status = status_;
  status.lease = full_name_;
  for (const auto& [member, since] : status_waits_) status.waits.push_back({member, now - since});
  return status;
}

// --- On the strand

void MemberState::SetPhase(Phase phase) {
  phase_ = phase;
  Shared<Waiter> waiter;
  {
    const MutexLock lock(mutex_);
    seen_phase_ = phase;
    waiter = waiter_;
  }
  if (waiter) waiter->Notify();
}

void MemberState::Leave() {
  if (phase_ == Phase::kJoining) {
    // The Lease may exist without an answer that says so.
    SetPhase(Phase::kLeft);
    if (!writing_) DeleteOwn();
    return;
  }
  if (phase_ != Phase::kMember) return;
  SetPhase(Phase::kLeaving);
  preparing_.request_stop();
  // Starts nothing any more; what is prepared is dropped, and what is worked on waits for the next map.
  sets_.Assign(sets_.working(), sets_.working(), clock_->Now());
  Changed();
  LookSoon();
}

// Ends with an error, because another process may own the ranges soon.
void MemberState::Fence(Error why) {
  if (!Live() && phase_ != Phase::kJoining) return;
  gate_->Close();
  Say(LogLevel::kError, "stopped: " + why.ToString());
  End(Fail(std::move(why)));
}

void MemberState::End(Result<void> result) {
  if (phase_ == Phase::kEnding || phase_ == Phase::kEnded) return;
  gate_->Close();
  SetPhase(Phase::kEnding);
  {
    const MutexLock lock(mutex_);
    result_ = std::move(result);
  }
  compete_.request_stop();
  preparing_.request_stop();
  survey_stop_.request_stop();
  renew_timer_.Cancel();
  deadline_timer_.Cancel();
  look_timer_.Cancel();
  sets_.Assign({}, {}, clock_->Now());
  Changed();
}

// Something of what the member works on, or waits for, has changed.
void MemberState::Changed() {
  PumpWork();
  Publish();
  if (phase_ == Phase::kEnding) {
    if (sets_.calls_under_way() || surveying_) return;
    work_timer_.Cancel();
    SetPhase(Phase::kEnded);
    return;
  }
  WriteIfChanged();
}

void MemberState::Publish() {
  const bool ended = phase_ == Phase::kEnding;
  const MutexLock lock(mutex_);
  status_.assigner = assigning_ && !ended;
  status_.epoch = epoch_;
  status_.members = map_ ? map_->members : std::vector<std::string>();
  status_.working = sets_.working();
  status_.draining = sets_.draining();
  status_.waiting = sets_.waiting();
  status_waits_ = waits_;
}

void MemberState::BecomeAssigner(const LeaderElector& elector) {
  if (!Live()) return;
  elector_ = elector;
  assigning_ = true;
  assigner_.BeginTerm();
  if (!surveying_) survey_end_.reset();
  Publish();
  LookSoon();
}

void MemberState::ResignAssigner() {
  elector_.reset();
  if (Injected(ShardBug::kStaleMap) && Live()) return;
  assigning_ = false;
  Publish();
}

void MemberState::Failed(const Error& error) {
  {
    const MutexLock lock(mutex_);
    status_.last_error = error;
  }
  const TimePoint now = clock_->Now();
  if (reported_ == error.code() && now - reported_at_ < kShardReportEvery) return;
  reported_ = error.code();
  reported_at_ = now;
  std::string hint;
  if (error.code() == Code::kForbidden) {
    hint = " (grant get, list, create, update and delete on leases of coordination.k8s.io in namespace " +
           options_.namespace_ + ")";
  }
  Say(LogLevel::kWarning, error.ToString() + hint);
}

void MemberState::Recovered() {
  if (std::exchange(reported_, {})) Say(LogLevel::kInfo, "requests succeed again");
  const MutexLock lock(mutex_);
  status_.last_error.reset();
}

void MemberState::Say(LogLevel level, std::string_view message) const noexcept {
  NotifyObserver(observer_, [&](Observer& o) {
    o.OnLogged(
        {.source = source_, .key = name_, .message = message, .level = level, .component = LogComponent::kElection});
  });
}

}  // namespace kgen::controller
