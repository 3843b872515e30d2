// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Acquires, renews and releases the Lease. leader_election.cc has the options and the handle.
#include "controller/election/elector_state.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "client/request/errors.h"
#include "controller/election/deliberate_bugs.h"
#include "controller/election/map_of_shards.h"
#include "core/observers/notify_observer.h"
#include "core/out_of_memory.h"
#include "kgen/client/resource_client.h"
#include "kgen/codec/encode.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

constexpr double kJitterFactor = 1.2;
constexpr Nanos kReportEvery = std::chrono::minutes(1);  // of a failure that goes on
// The control plane takes a Lease back that its choice has not renewed within five seconds.
constexpr Nanos kLookForChoice = std::chrono::seconds(1);

TimePoint LeaseTime(Clock& clock) noexcept {
  return Injected(Bug::kIgnoresSuspend) ? clock.Now() : clock.NowWithSuspend();
}

std::unexpected<Error> MustNotBlock(std::string_view doing) {
  return Fail(Error(Code::kInvalidArgument, "a blocking call on a thread that must not block; use Executor::Blocking")
                  .With(doing));
}

}  // namespace

LeaseGuard::LeaseGuard(Shared<Clock> clock, const std::string& lease)
    : clock_(std::move(clock)),
      refusal_(Code::kCancelled, "not sent, because this process does not hold the lease " + lease) {}

bool LeaseGuard::Leads() const noexcept {
  return LeaseTime(*clock_) < TimePoint(Nanos(until_.load(std::memory_order_acquire)));
}

Result<void> LeaseGuard::MaySend() noexcept {
  if (Leads()) return {};
  return Fail(refusal_);
}

ElectorState::ElectorState(const Connection& connection, LeaderElectionOptions options)
    : options_(std::move(options)),
      name_(options_.namespace_ + "/" + options_.name),
      connection_(connection.With(Shared<SendGuard>())),
      leases_(connection_, *Lease::kTable.kind, options_.namespace_),
      observer_(client::ConnectionState::Of(connection)->observer),
      executor_(connection.shared_executor()),
      clock_(executor_->clock()),
      strand_(executor_->MakeStrand("lease " + name_)),
      guard_(MakeShared<LeaseGuard>(clock_, name_)),
      jitter_(SeedFrom(*clock_) ^ std::hash<std::string>()(options_.identity)) {
  if (!options_.coordinated) return;
  // CancelTimers() destroys the function on the strand, before this object ends.
  candidate_ = MakeShared<Candidate>(connection_, options_, strand_, [this](const Error& error) {
    KeepFailure(error);
    ReportFailure(error);
  });
}

// --- The functions of the handle

ElectorState::Phase ElectorState::phase() const {
  const MutexLock lock(mutex_);
  return phase_;
}

std::optional<Error> ElectorState::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

std::string ElectorState::leader() const {
  const MutexLock lock(mutex_);
  return leader_;
}

MicroTime ElectorState::acquired() const {
  const MutexLock lock(mutex_);
  return acquired_;
}

std::vector<Shared<Waiter>> ElectorState::Change(Phase to) {
  phase_ = to;
  if (to != Phase::kLeading) guard_->Close();
  return std::exchange(waiters_, {});
}

Result<ElectorState::Phase> ElectorState::WaitWhile(Phase phase, std::string_view doing, const std::stop_token& stop) {
  const Shared<Waiter> waiter = executor_->MakeWaiter(doing);
  for (;;) {
    if (const std::optional<Phase> now = Left(phase, waiter)) return *now;
    const Result<void> waited = waiter->Wait(stop);
    if (waited) continue;
    const MutexLock lock(mutex_);
    std::erase(waiters_, waiter);
    if (phase_ != phase) return phase_;
    return Fail(waited.error());
  }
}

std::optional<ElectorState::Phase> ElectorState::Left(Phase phase, const Shared<Waiter>& waker) {
  const MutexLock lock(mutex_);
  if (phase_ != phase) return phase_;
  if (std::ranges::find(waiters_, waker) == waiters_.end()) waiters_.push_back(waker);
  return std::nullopt;
}

Result<void> ElectorState::BeginToAcquire(const std::stop_token& stop) {
  const std::string doing = "acquire lease " + name_;
  {
    const MutexLock lock(mutex_);
    if (phase_ != Phase::kNew) {
      return Fail(Error(Code::kInvalidArgument, "this elector was used before; make a new one").With(doing));
    }
    if (stop.stop_requested()) return Fail(Error(Code::kCancelled, "a stop was requested").With(doing));
    phase_ = Phase::kAcquiring;
  }
  if (candidate_) executor_->Post(strand_, [candidate = candidate_] { candidate->Start(); });
  Post(&ElectorState::Try);
  return {};
}

std::optional<Result<void>> ElectorState::PollAcquired(const Shared<Waiter>& waker) {
  const std::optional<Phase> now = Left(Phase::kAcquiring, waker);
  if (!now) return std::nullopt;
  if (*now != Phase::kStopped) return Result<void>();  // if it is lost already, WaitUntilLost() says so
  return Fail(Error(Code::kCancelled, "it was released").With("acquire lease " + name_));
}

std::optional<Result<void>> ElectorState::PollLost(const Shared<Waiter>& waker) {
  const std::optional<Phase> now = Left(Phase::kLeading, waker);
  if (!now) return std::nullopt;
  return HowLost(*now);
}

Result<void> ElectorState::Acquire(const std::stop_token& stop) {
  const std::string doing = "acquire lease " + name_;
  if (executor_->InPostedTask()) return MustNotBlock(doing);
  if (Result<void> begun = BeginToAcquire(stop); !begun) return begun;
  const Result<Phase> now = WaitWhile(Phase::kAcquiring, doing, stop);
  if (now && *now != Phase::kStopped) return {};
  if (!now) Stop();
  return now ? Fail(Error(Code::kCancelled, "it was released").With(doing)) : Fail(now.error());
}

Result<void> ElectorState::WaitUntilLost(const std::stop_token& stop) {
  const std::string doing = "hold lease " + name_;
  if (executor_->InPostedTask()) return MustNotBlock(doing);
  const Result<Phase> now = WaitWhile(Phase::kLeading, doing, stop);
  if (!now && !stop.stop_requested()) return Fail(now.error());
  if (!now) return {};
  return HowLost(*now);
}

Result<void> ElectorState::HowLost(Phase now) const {
  if (now == Phase::kStopped) return {};
  const MutexLock lock(mutex_);
  if (lost_) return Fail(*lost_);
  return Fail(Error(Code::kInvalidArgument, "it has not been acquired").With("hold lease " + name_));
}

Result<void> ElectorState::Release(Nanos limit) {
  const std::string doing = "release lease " + name_;
  if (executor_->InPostedTask()) return MustNotBlock(doing);
  const Shared<Waiter> waiter = executor_->MakeWaiter(doing);
  const TimePoint deadline = Later(clock_->Now(), limit);
  std::vector<Shared<Waiter>> ended;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(release_begun_, true)) return {};
    ended = Change(Phase::kStopped);
    releaser_ = waiter;
  }
  for (const Shared<Waiter>& each : ended) each->Notify();
  executor_->Post(strand_, [self = Shared<ElectorState>(this), deadline] {
    self->release_by_ = deadline;
    self->Run([&] { self->BeginRelease(); });
  });
  const Result<void> waited = waiter->Wait({}, deadline);
  const MutexLock lock(mutex_);
  releaser_ = {};
  const Result<void> result = released_ ? *released_ : waited;
  if (!result) return Fail(result.error().With(doing));
  return {};
}

void ElectorState::Stop() {
  std::vector<Shared<Waiter>> ended;
  {
    const MutexLock lock(mutex_);
    ended = Change(Phase::kStopped);
  }
  for (const Shared<Waiter>& each : ended) each->Notify();
  Post(&ElectorState::CancelTimers);
}

// --- Acquiring and renewing, on the strand

// A step that runs out of memory counts as a failed attempt.
template <typename F>
void ElectorState::Run(F step) {
  try {
    step();
  } catch (...) {
    if (releasing_) return EndRelease(Fail(detail::OutOfMemory()));
    TryAfter(options_.retry_period);
  }
}

void ElectorState::Post(Step step) {
  executor_->Post(strand_, [self = Shared<ElectorState>(this), step] { self->Run([&] { (self.get()->*step)(); }); });
}

void ElectorState::TryAfter(Nanos delay) noexcept {
  next_.After(delay, TimerKind::kHousekeeping,
              [self = Shared<ElectorState>(this)] { self->Run([&] { self->Try(); }); });
}

void ElectorState::OnDeadlineAfter(Nanos delay) noexcept {
  deadline_.After(delay, TimerKind::kHousekeeping,
                  [self = Shared<ElectorState>(this)] { self->Run([&] { self->OnDeadline(); }); });
}

void ElectorState::CancelTimers() noexcept {
  if (candidate_) candidate_->Stop();
  next_.Cancel();
  deadline_.Cancel();
}

Nanos ElectorState::RequestTimeout() const {
  const Nanos limit = std::max<Nanos>(options_.renew_deadline / 2, std::chrono::seconds(1));
  if (!releasing_) return limit;
  const Nanos left = release_by_ - clock_->Now();
  return left > Nanos::zero() ? std::min(limit, left) : Nanos(1);  // too short: the request fails with kTimeout
}

void ElectorState::Send(Result<ApiRequest> request, Answer then) {
  if (!request) return (this->*then)(Fail(request.error()));
  request->timeout = RequestTimeout();
  request->unlimited = true;  // controllers that use up the limit must not cost the lease
  std::string what = request->what;
  busy_ = true;
  connection_.CallAsync(*std::move(request), [self = Shared<ElectorState>(this), what = std::move(what),
                                              then](Result<ApiResponse> response) mutable {
    Result<std::string> body = response ? Result<std::string>(std::move(response->body)) : Fail(response.error());
    self->executor_->Post(self->strand_, [self, what = std::move(what), then, body = std::move(body)] {
      self->busy_ = false;
      self->Run([&] {
        if (self->releasing_ && then != &ElectorState::OnReadToRelease && then != &ElectorState::OnReleased) {
          return self->ReadToRelease();  // Release() has waited for this request
        }
        (self.get()->*then)(detail::DecodeBody<Lease>(body, what));
      });
    });
  });
}

void ElectorState::Try() {
  const Phase now = phase();
  if (busy_ || (now != Phase::kAcquiring && now != Phase::kLeading)) return;
  tried_ = clock_->Now();
  slow_ = false;
  // Whether processes compete is not known before the server has answered.
  if (now == Phase::kAcquiring && candidate_ && candidate_->served() == Candidate::Served::kUnknown) return Again();
  if (now == Phase::kAcquiring) return Read();
  if (LeaseTime(*clock_) >= until_) return OnDeadline();
  Write();
}

void ElectorState::Read() { Send(leases_.Get(options_.name, "", {}), &ElectorState::OnRead); }

void ElectorState::OnRead(Result<Lease> lease) {
  const Phase now = phase();
  if (now == Phase::kLeading && LeaseTime(*clock_) >= until_) return OnDeadline();
  if (now != Phase::kAcquiring && now != Phase::kLeading) return;
  if (!lease) {
    if (lease.error().code() != Code::kNotFound) return Failed(lease.error());
    lease_.reset();
    if (coordinated() && now == Phase::kLeading) return Lose(Error(Code::kConflict, "the lease was deleted"));
    if (coordinated()) return Again();  // the control plane makes it
    if (now == Phase::kLeading) ReportFailure(Error(Code::kNotFound, "the lease was deleted; it is made again"));
    return Write();
  }
  const bool reported = Observe(*std::move(lease));
  const std::string holder(lease_->spec->holderIdentity.view());
  if (now == Phase::kLeading && !Mine()) {
    return Lose(Error(Code::kConflict, holder.empty() ? "somebody has cleared the holder of the lease"
                                                      : "the lease was taken by " + holder));
  }
  if (now == Phase::kAcquiring && !makes_map_ && HasShards(*lease_)) {
    return Failed(Error(Code::kConflict,
                        "the lease has the map of shards whose members work; if none of them runs any "
                        "more, delete the lease"));
  }
  const std::string preferred(std::as_const(*lease_).spec->preferredHolder.view());
  const bool may_renew = Mine() && !Expired() && preferred.empty();
  if (now == Phase::kLeading && coordinated() && !preferred.empty()) {
    return Lose(Error(Code::kConflict, "the control plane gives the lease to " + preferred));
  }
  if (coordinated() ? !may_renew && now == Phase::kAcquiring : !holder.empty() && !Mine() && !Expired()) {
    if (Recovered() && !reported) Report(false, nullptr);
    return Again();
  }
  if (now == Phase::kLeading) slow_paths_.fetch_add(1, std::memory_order_relaxed);
  Write();
}

// Notices a change of the spec, from which the duration of the Lease counts, and a new holder, which it reports: true.
bool ElectorState::Observe(Lease lease) {
  const TimePoint now = LeaseTime(*clock_);
  const bool changed = lease_ && !(std::as_const(*lease_).spec == std::as_const(lease).spec);
  if (changed || (!lease_ && !Injected(Bug::kExpiresAtFirstSight))) observed_ = now;
  lease_ = std::move(lease);
  const std::string holder(std::as_const(*lease_).spec->holderIdentity.view());
  bool another = false;
  {
    const MutexLock lock(mutex_);
    another = leader_ != holder && !holder.empty() && holder != options_.identity;
    leader_ = holder;
    acquired_ = holder.empty() ? MicroTime() : std::as_const(*lease_).spec->acquireTime;
  }
  if (another) Report(false, nullptr);
  return another;
}

bool ElectorState::Mine() const { return lease_ && lease_->spec->holderIdentity == options_.identity; }

bool ElectorState::Expired() const {
  const std::chrono::seconds written(lease_->spec->leaseDurationSeconds.value_or(0));
  const Nanos duration = written > written.zero() ? Nanos(written) : options_.lease_duration;
  if (Injected(Bug::kTrustsTimeStamps)) return clock_->WallNow() - lease_->spec->renewTime.value() >= duration;
  return LeaseTime(*clock_) >= Later(observed_, duration);
}

// Makes this process the holder of the Lease, renewed now.
void ElectorState::Fill(Lease& lease) const {
  const auto now = clock_->WallNow();
  LeaseSpec& spec = *lease.spec;
  if (!Mine()) {
    const std::int32_t before = spec.leaseTransitions.value_or(0);
    spec.leaseTransitions = lease_ && before < std::numeric_limits<std::int32_t>::max() ? before + 1 : before;
    spec.acquireTime = now;
    spec.holderIdentity = options_.identity;
  }
  spec.leaseDurationSeconds =
      static_cast<std::int32_t>(std::chrono::ceil<std::chrono::seconds>(options_.lease_duration).count());
  spec.renewTime = now;
  for (const auto& [key, value] : options_.labels) lease.metadata.labels[key] = value;
}

void ElectorState::Write() {
  Lease next;
  if (lease_) {
    next = *lease_;
  } else {
    next.metadata.name = options_.name;
    next.metadata.namespace_ = options_.namespace_;
  }
  Fill(next);
  written_ = LeaseTime(*clock_);
  may_hold_ = true;
  Send(lease_ ? leases_.Update(options_.namespace_, options_.name, "", Encode(next), {})
              : leases_.Create(options_.namespace_, Encode(next), {}),
       &ElectorState::OnWritten);
}

void ElectorState::OnWritten(Result<Lease> lease) {
  const Phase now = phase();
  const bool leads = now == Phase::kLeading;
  if (leads && LeaseTime(*clock_) >= until_) return OnDeadline();
  if (now != Phase::kAcquiring && !leads) return;
  if (lease) {
    Observe(*std::move(lease));
    return Extend();
  }
  const Code code = lease.error().code();
  const bool changed = code == Code::kConflict || code == Code::kNotFound || code == Code::kAlreadyExists;
  if (leads && !slow_ && changed) {
    slow_ = true;
    return Read();
  }
  if (!leads && (code == Code::kConflict || code == Code::kAlreadyExists)) return Again();  // another one was faster
  Failed(lease.error());
}

void ElectorState::Extend() {
  const TimePoint now = LeaseTime(*clock_);
  until_ = Later(Injected(Bug::kDeadlineFromAnswer) ? now : written_, options_.renew_deadline);
  if (now >= until_) {
    return Failed(Error(Code::kTimeout, "the answer took longer than the renew deadline, " +
                                            net::DurationText(options_.renew_deadline)));
  }
  std::vector<Shared<Waiter>> waiters;
  bool gained = false;
  {
    const MutexLock lock(mutex_);
    if (phase_ != Phase::kAcquiring && phase_ != Phase::kLeading) return;
    gained = phase_ == Phase::kAcquiring;
    if (gained) waiters = Change(Phase::kLeading);
    guard_->Extend(until_);
  }
  for (const Shared<Waiter>& each : waiters) each->Notify();
  const bool recovered = Recovered();
  if (gained || recovered) Report(true, nullptr);
  OnDeadlineAfter(until_ - now);
  Again();
}

void ElectorState::OnDeadline() {
  if (phase() != Phase::kLeading) return;
  const TimePoint now = LeaseTime(*clock_);
  if (now < until_) return OnDeadlineAfter(until_ - now);
  std::string why = "no renewal succeeded within " + net::DurationText(options_.renew_deadline);
  if (const std::optional<Error> last = failure()) why += "; the last failure: " + last->ToString();
  Lose(Error(Code::kTimeout, why));
}

void ElectorState::Lose(Error why) {
  why = why.With("hold lease " + name_);
  std::vector<Shared<Waiter>> waiters;
  {
    const MutexLock lock(mutex_);
    if (phase_ != Phase::kLeading) return;
    waiters = Change(Phase::kLost);
    lost_ = why;
  }
  CancelTimers();
  for (const Shared<Waiter>& each : waiters) each->Notify();
  Report(false, &why);
  if (Injected(Bug::kReleasesWhenLost)) {
    releasing_ = true;
    release_by_ = TimePoint::max();
    if (!busy_) ReadToRelease();
  }
}

void ElectorState::Failed(Error error) {
  if (error.code() == Code::kForbidden) {
    error = error.With("missing rights (grant get, create and update on leases of coordination.k8s.io in namespace " +
                       options_.namespace_ + ")");
  }
  KeepFailure(error);
  ReportFailure(error);
  Again();
}

void ElectorState::KeepFailure(const Error& error) {
  const MutexLock lock(mutex_);
  failure_ = error;
}

// Reports the error immediately if it differs from the last one, and then every minute.
void ElectorState::ReportFailure(const Error& error) {
  const TimePoint now = clock_->Now();
  if (reported_ == error.code() && now - reported_at_ < kReportEvery) return;
  reported_ = error.code();
  reported_at_ = now;
  Report(phase() == Phase::kLeading, &error);
}

// An attempt has succeeded. Returns whether failures before it have been reported.
bool ElectorState::Recovered() {
  const bool reported = std::exchange(reported_, {}).has_value();
  const MutexLock lock(mutex_);
  failure_.reset();
  return reported;
}

// A leader tries again when the retry period has passed since this attempt was begun, a candidate later than that, at a
// time by chance.
void ElectorState::Again() {
  Nanos delay = options_.retry_period;
  if (phase() == Phase::kLeading) {
    delay = std::max(tried_ + delay - clock_->Now(), Nanos::zero());
  } else if (candidate_ && candidate_->served() != Candidate::Served::kNo) {
    delay = std::min<Nanos>(delay, kLookForChoice);
  } else {
    delay += Nanos(static_cast<Nanos::rep>(static_cast<double>(delay.count()) * kJitterFactor * jitter_.Unit()));
  }
  TryAfter(delay);
}

void ElectorState::Report(bool leading, const Error* error) const noexcept {
  NotifyObserver(observer_, [&](Observer& o) {
    std::string holder = leader();
    if (!leading && holder == options_.identity) holder.clear();  // the lease still says so, but it does not count
    o.OnLeadershipChanged(
        {.lease = name_, .identity = options_.identity, .leader = holder, .leading = leading, .error = error});
  });
}

// --- Releasing, on the strand

void ElectorState::BeginRelease() {
  CancelTimers();
  releasing_ = true;
  if (!busy_) ReadToRelease();
}

void ElectorState::ReadToRelease() {
  if (!options_.release || !may_hold_) return EndRelease({});
  Send(leases_.Get(options_.name, "", {}), &ElectorState::OnReadToRelease);
}

void ElectorState::OnReadToRelease(Result<Lease> lease) {
  if (!lease) {
    if (lease.error().code() == Code::kNotFound) return EndRelease({});
    return EndRelease(Fail(lease.error()));
  }
  Observe(*std::move(lease));
  if (!Mine()) return EndRelease({});
  Lease next = *lease_;
  const auto now = clock_->WallNow();
  next.spec->holderIdentity = "";
  next.spec->leaseDurationSeconds = 1;
  next.spec->renewTime = now;
  next.spec->acquireTime = now;
  Send(leases_.Update(options_.namespace_, options_.name, "", Encode(next), {}), &ElectorState::OnReleased);
}

void ElectorState::OnReleased(Result<Lease> lease) {
  if (!lease) {
    // A renewal that had timed out may have arrived in between.
    if (lease.error().code() == Code::kConflict) return ReadToRelease();
    return EndRelease(Fail(lease.error()));
  }
  Observe(*std::move(lease));
  EndRelease({});
}

void ElectorState::EndRelease(Result<void> result) {
  Shared<Waiter> waiter;
  {
    const MutexLock lock(mutex_);
    released_ = std::move(result);
    waiter = releaser_;
  }
  if (waiter) waiter->Notify();
  if (may_hold_) Report(false, nullptr);
}

}  // namespace kgen::controller
