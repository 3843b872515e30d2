// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The logic of a ShardMember: a state machine on a strand. It has two lanes with one request at a time each, so that a
// list that takes long does not keep the Lease from being renewed:
//
//   the own Lease    Write --> Write --> ...              member_lease.cc: renews it, and acknowledges
//                        \--> ReadOwn --/                 somebody has changed it
//   the others       Look: map --> members --> ...        member_look.cc: follows the map, starts ranges
//                                      \--> publish       the assigner: deletes dead Leases, reads the map again,
//                                      writes the next
//
// What it decides is in work_sets.h, shard_rules.h and assigner.h. The thread that called Run() competes for the Lease
// with the map. Timers only say when to look: deadlines are read from Clock::NowWithSuspend().
#ifndef KGEN_SRC_CONTROLLER_SHARDS_MEMBER_STATE_H_
#define KGEN_SRC_CONTROLLER_SHARDS_MEMBER_STATE_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/auth/kubeconfig.h"
#include "controller/election/lease.h"
#include "controller/shards/assigner.h"
#include "controller/shards/shard_gate.h"
#include "controller/shards/shard_map.h"
#include "controller/shards/shard_rules.h"
#include "controller/shards/work_sets.h"
#include "core/execution/jitter.h"
#include "core/execution/post_timer.h"
#include "core/memory/mutex.h"
#include "core/out_of_memory.h"
#include "kgen/client/raw_resource.h"
#include "kgen/controller/leader_election.h"
#include "kgen/controller/shards.h"

namespace kgen::controller {

// Thread safety: public members from any thread; the others on the strand, unless they say otherwise.
// Ownership: shared by the handle, Run(), timers, requests and calls of the work. Nothing that it owns refers to it
// after it has ended.
class MemberState final : public SharedObject {
 public:
  // Checks the options and fills in those that are empty.
  static Result<ShardOptions> Complete(ShardOptions options, const client::Surroundings& around);
  MemberState(const Connection& connection, ShardOptions options, Shared<ShardWork> work);

  Result<void> Run(const std::stop_token& stop);

  const Shared<ShardGate>& gate() const noexcept { return gate_; }
  const std::string& lease() const noexcept { return full_name_; }
  ShardStatus status() const;

 private:
  enum class Phase : std::uint8_t { kNew, kJoining, kMember, kLeaving, kLeft, kEnding, kEnded };
  using Step = void (MemberState::*)();
  using Body = Result<std::string>;
  using Answer = void (MemberState::*)(Body body);

  // member_state.cc: the course of a run
  void Leave();
  void End(Result<void> result);
  void Fence(Error why);
  void Changed();
  void Publish();
  Result<Phase> WaitWhile(std::initializer_list<Phase> phases);
  void Compete();
  void BecomeAssigner(const LeaderElector& elector);
  void ResignAssigner();
  void Failed(const Error& error);
  void Recovered();
  void Say(LogLevel level, std::string_view message) const noexcept;
  bool Live() const noexcept { return phase_ == Phase::kMember || phase_ == Phase::kLeaving; }
  void SetPhase(Phase phase);

  // member_work.cc: calls of the work
  void PumpWork();
  void Prepare(ShardRanges ranges);
  void OnPrepared(const Result<void>& result);
  void Start(const Startable& what);
  void Drain(const WorkSets::Drain& what);
  bool AwaitsSurvey(TimePoint now);
  void BeginSurvey();
  void OnSurveyed(const Result<std::vector<ShardWeight>>& weights);
  void OnDrained(std::uint64_t id, const Result<std::optional<ShardVersions>>& versions);
  void OnWorkTimer();

  // member_lease.cc: the own Lease
  void Write();
  void OnWritten(Body body);
  void OnReadOwn(Body body);
  void TakeLease(Lease lease);
  void OnDeadline();
  void Renew();
  void DeleteOwn();
  void OnDeletedOwn(Body body);
  ShardAck MakeAck() const;
  bool IsOwn(const Lease& lease) const;
  void WriteIfChanged();

  // member_look.cc: the map and the other members
  void Look();
  void OnMap(Body body);
  void OnAssigner(Body body);
  void LookAtMembers();
  void OnMembers(Body body);
  void Adopt(const ShardMap& map);
  void StartWhatMay(const std::vector<SeenMember>& members);
  void Assign(const std::vector<SeenMember>& members);
  void Bury(const SeenMember& member);
  void OnMapAgain(Body body);
  void WriteMap();
  void OnMapWritten(Body body);
  void EndLook();
  void LookSoon();
  bool Hurried() const;

  // Any thread. A step that runs out of memory ends the member.
  void Post(Step step);
  template <typename F>
  void PostStep(F step) {
    executor_->Post(strand_, [self = Shared<MemberState>(this), step = std::move(step)]() mutable {
      self->Guarded([&] { step(*self); });
    });
  }
  template <typename F>
  void Guarded(F step) noexcept {
    try {
      step();
    } catch (...) {
      gate_->Close();
      End(Fail(detail::OutOfMemory()));
    }
  }
  // Runs `call` as Blocking work, and then `then` with the member and its result on the strand.
  template <typename Call, typename Then>
  void CallWork(std::string_view what, Call call, Then then) {
    executor_->Blocking(std::string(what) + " " + full_name_,
                        [self = Shared<MemberState>(this), call = std::move(call), then = std::move(then)]() mutable {
                          auto result = call(*self->work_);
                          self->PostStep([then = std::move(then), result = std::move(result)](MemberState& member) {
                            then(member, result);
                          });
                        });
  }
  void Send(const Connection& connection, Result<ApiRequest> request, Answer then);

  const ShardOptions options_;
  const std::string name_;       // of the own Lease: "orders-web-0-1f3c"
  const std::string full_name_;  // "shop/orders-web-0-1f3c"
  const std::string source_;     // "shards shop/orders"
  const Connection connection_;
  const RawResource leases_;
  const Shared<ShardWork> work_;
  const Shared<Observer> observer_;
  const Shared<Executor> executor_;
  const Shared<Clock> clock_;
  const Shared<Strand> strand_;
  const Shared<ShardGate> gate_;
  std::stop_source compete_{};  // requested: no longer for the Lease with the map

  // The members below are used on the strand. Points in time are of ShardTime(), unless they say otherwise.
  Phase phase_ = Phase::kNew;
  WorkSets sets_;
  std::string lineage_{};  // of the map that is followed
  std::uint64_t epoch_ = 0;
  std::optional<ShardMap> map_{};
  std::uint64_t map_number_ = 0;  // the resource version of its Lease, when that was last read with this map
  std::stop_source preparing_{};
  std::optional<TimePoint> prepare_after_{};  // of Now(): after a failure
  std::map<std::string, TimePoint> waits_{};  // for whom, and since when by Now()

  std::optional<Lease> own_{};  // as last read or written
  std::string own_uid_{};       // "": not known to exist
  std::string written_ack_{};   // the acknowledgement that the server has
  std::string sent_ack_{};
  TimePoint sent_{};   // when the last write of the Lease was begun
  TimePoint until_{};  // the renew deadline
  bool writing_ = false;

  std::optional<Lease> map_lease_{};  // as last read
  std::optional<LeaderElector> elector_{};
  Assigner assigner_;
  bool assigning_ = false;                 // it holds the map
  std::optional<ShardMap> next_map_{};     // to be written
  std::optional<TimePoint> survey_end_{};  // since this member makes the map: for how long the first one waits
  std::stop_source survey_stop_{};
  bool surveying_ = false;     // a call of ShardWork::Survey() is under way
  std::string map_version_{};  // of the Lease with the map
  TimePoint map_changed_{};    // when that version was first seen
  std::set<std::string> burying_{};
  bool looking_ = false, look_again_ = false;

  detail::PostTimer renew_timer_{executor_, strand_};
  detail::PostTimer deadline_timer_{executor_, strand_};
  detail::PostTimer look_timer_{executor_, strand_};
  detail::PostTimer work_timer_{executor_, strand_};
  std::optional<Code> reported_{};  // of the failures in a row
  TimePoint reported_at_{};         // of Now()
  Jitter jitter_;

  mutable Mutex mutex_;
  Phase seen_phase_ KGEN_GUARDED_BY(mutex_) = Phase::kNew;
  std::optional<Result<void>> result_ KGEN_GUARDED_BY(mutex_);
  Shared<Waiter> waiter_ KGEN_GUARDED_BY(mutex_);
  ShardStatus status_ KGEN_GUARDED_BY(mutex_);  // without the lease
  std::map<std::string, TimePoint> status_waits_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SHARDS_MEMBER_STATE_H_
