// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The logic of a LeaderElector: a state machine on a strand with one request at a time.
//
//   Try --> Read --> Write --> Extend       a candidate, and a leader whose Lease somebody else has changed
//   Try -----------> Write --> Extend       a leader
//
// Timers only say when to look. Whether a deadline has passed is read from Clock::NowWithSuspend(), because timers fire
// late after the machine was suspended.
//
// Each update contains the resourceVersion on which its decision is based. So an update that arrives late, after
// another process has changed the Lease, has no effect.
#ifndef KGEN_SRC_CONTROLLER_ELECTION_ELECTOR_STATE_H_
#define KGEN_SRC_CONTROLLER_ELECTION_ELECTOR_STATE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "client/auth/kubeconfig.h"
#include "client/request/connection_state.h"
#include "controller/election/candidate.h"
#include "controller/election/lease.h"
#include "core/execution/jitter.h"
#include "core/execution/post_timer.h"
#include "core/memory/mutex.h"
#include "kgen/client/raw_resource.h"
#include "kgen/controller/leader_election.h"

namespace kgen::controller {

// Thread safety: all members from any thread.
class LeaseGuard final : public SendGuard {
 public:
  LeaseGuard(Shared<Clock> clock, const std::string& lease);
  Result<void> MaySend() noexcept override;
  bool Leads() const noexcept;
  void Extend(TimePoint until) noexcept { until_.store(until.time_since_epoch().count(), std::memory_order_release); }
  void Close() noexcept { Extend(TimePoint::min()); }

 private:
  const Shared<Clock> clock_;
  const Error refusal_;
  std::atomic<Nanos::rep> until_ = TimePoint::min().time_since_epoch().count();
};

// Thread safety: public members from any thread; the others on the strand, unless they say otherwise.
// Ownership: shared by the handle, timers and the request under way. Nothing that the state owns refers to it.
class ElectorState final : public SharedObject {
 public:
  // Checks the options and fills in those that are empty.
  static Result<LeaderElectionOptions> Complete(LeaderElectionOptions options, const client::Surroundings& around);
  ElectorState(const Connection& connection, LeaderElectionOptions options);
  // It belongs to a member of shards. Once, before anything else.
  void MakesMap() noexcept { makes_map_ = true; }

  Result<void> Acquire(const std::stop_token& stop);
  Result<void> WaitUntilLost(const std::stop_token& stop);
  // The two for callers that do not block: nothing while they would wait. `waker` is then notified when to ask again.
  // To stop acquiring, call Stop().
  Result<void> BeginToAcquire(const std::stop_token& stop);
  std::optional<Result<void>> PollAcquired(const Shared<Waiter>& waker);
  std::optional<Result<void>> PollLost(const Shared<Waiter>& waker);
  Result<void> Release(Nanos limit);
  void Stop();  // as Release(), but sends nothing and does not block

  const Shared<LeaseGuard>& guard() const noexcept { return guard_; }
  std::string leader() const;
  MicroTime acquired() const;
  std::optional<Error> failure() const;
  const std::string& identity() const noexcept { return options_.identity; }
  const std::string& lease() const noexcept { return name_; }
  std::uint64_t slow_paths() const noexcept { return slow_paths_.load(std::memory_order_relaxed); }

 private:
  enum class Phase : std::uint8_t { kNew, kAcquiring, kLeading, kLost, kStopped };
  using Step = void (ElectorState::*)();
  using Answer = void (ElectorState::*)(Result<Lease> lease);

  void Try();
  void Read();
  void OnRead(Result<Lease> lease);
  void Write();
  void OnWritten(Result<Lease> lease);
  bool Observe(Lease lease);
  void Extend();
  void OnDeadline();
  void Lose(Error why);
  void Failed(Error error);
  void KeepFailure(const Error& error);
  void ReportFailure(const Error& error);
  bool Recovered();
  void Again();
  void CancelTimers() noexcept;

  void BeginRelease();
  void ReadToRelease();
  void OnReadToRelease(Result<Lease> lease);
  void OnReleased(Result<Lease> lease);
  void EndRelease(Result<void> result);

  bool coordinated() const noexcept { return candidate_ && candidate_->served() == Candidate::Served::kYes; }
  bool Expired() const;
  bool Mine() const;  // the Lease, as last seen
  void Fill(Lease& lease) const;
  Nanos RequestTimeout() const;
  void Send(Result<ApiRequest> request, Answer then);
  void TryAfter(Nanos delay) noexcept;
  void OnDeadlineAfter(Nanos delay) noexcept;
  void Report(bool leading, const Error* error) const noexcept;

  // Queues a step; any thread may call it.
  void Post(Step step);
  template <typename F>
  void Run(F step);
  Phase phase() const;
  // Returns the phase if it is not `phase`; otherwise `waker` is notified when it is not.
  std::optional<Phase> Left(Phase phase, const Shared<Waiter>& waker);
  Result<void> HowLost(Phase now) const;
  // Blocks until the phase is not `phase`. Errors: as Waiter::Wait().
  Result<Phase> WaitWhile(Phase phase, std::string_view doing, const std::stop_token& stop);
  // Changes the phase. Returns the waiters to notify after the lock is released.
  std::vector<Shared<Waiter>> Change(Phase to) KGEN_REQUIRES(mutex_);

  const LeaderElectionOptions options_;
  bool makes_map_ = false;
  const std::string name_;  // "shop/shop-controller"
  const Connection connection_;
  const RawResource leases_;
  const Shared<Observer> observer_;
  const Shared<Executor> executor_;
  const Shared<Clock> clock_;
  const Shared<Strand> strand_;
  const Shared<LeaseGuard> guard_;
  std::atomic<std::uint64_t> slow_paths_ = 0;

  // The members below are used on the strand. Points in time are of NowWithSuspend(), unless they say otherwise.
  std::optional<Lease> lease_{};  // as last read or written
  TimePoint observed_{};          // when its spec was last seen to change
  TimePoint written_{};           // when the last write was begun
  TimePoint until_{};             // the renew deadline
  TimePoint tried_{};             // of Now(): when this attempt was begun
  TimePoint release_by_{};        // of Now()
  bool busy_ = false;             // a request is under way
  bool slow_ = false;             // this attempt of the leader has read the Lease
  bool releasing_ = false;
  bool may_hold_ = false;  // a write was sent
  detail::PostTimer next_{executor_, strand_};
  detail::PostTimer deadline_{executor_, strand_};
  std::optional<Code> reported_{};  // of the failures in a row
  TimePoint reported_at_{};         // of Now()
  Jitter jitter_;
  Shared<Candidate> candidate_;  // null unless the election is coordinated

  mutable Mutex mutex_;
  Phase phase_ KGEN_GUARDED_BY(mutex_) = Phase::kNew;
  std::optional<Error> lost_ KGEN_GUARDED_BY(mutex_);
  std::string leader_ KGEN_GUARDED_BY(mutex_);
  MicroTime acquired_ KGEN_GUARDED_BY(mutex_);            // by leader_
  std::optional<Error> failure_ KGEN_GUARDED_BY(mutex_);  // the last one since the last success
  std::vector<Shared<Waiter>> waiters_ KGEN_GUARDED_BY(mutex_);
  Shared<Waiter> releaser_ KGEN_GUARDED_BY(mutex_);  // null: Release() was not called, or has returned
  bool release_begun_ KGEN_GUARDED_BY(mutex_) = false;
  std::optional<Result<void>> released_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_ELECTION_ELECTOR_STATE_H_
