// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LeaderElector in virtual time, against the in-memory cluster. tests/simulation has it under random faults.
#include "kgen/controller/leader_election.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "client/request/connection_state.h"
#include "controller/election/elector_state.h"
#include "kgen/testing/cluster.h"
#include "tests/support/machine.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using testing::Cluster;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using testing::TaskResult;

struct Changes : Observer {
  void OnLeadershipChanged(const LeadershipChanged& e) override {
    std::string line = std::string(e.identity) + (e.leading ? " leads" : " does not lead");
    if (!e.leader.empty() && e.leader != e.identity) line += ", " + std::string(e.leader) + " does";
    if (e.error != nullptr) line += ": " + e.error->ToString();
    told.push_back(line);
    holders.emplace_back(e.leader);
  }
  std::vector<std::string> told, holders;
};

// A candidate with a connection of its own, whose blocking calls run as spawned work.
struct Candidate {
  Candidate(Cluster& of, LeaderElectionOptions options, const Connection& connection)
      : cluster(of), elector(Must(LeaderElector::New(connection, std::move(options)))) {}

  void Acquire() {
    acquired = cluster.simulation().Spawn([e = *elector, token = stop.get_token()] { return e.Acquire(token); });
  }
  void WaitUntilLost() {
    lost = cluster.simulation().Spawn([e = *elector, token = stop.get_token()] { return e.WaitUntilLost(token); });
  }
  bool Leads() const { return elector->IsLeader() && elector->guard()->MaySend(); }

  Cluster& cluster;
  std::stop_source stop{};
  std::optional<LeaderElector> elector;
  std::optional<TaskResult<Result<void>>> acquired{}, lost{};
};

class LeaderElectionTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  static LeaderElectionOptions Options(std::string identity) {
    return {.name = "shop", .namespace_ = "default", .identity = std::move(identity)};
  }
  Candidate Make(std::string identity) { return {cluster_, Options(std::move(identity)), cluster_.Connection()}; }
  // Acquires the Lease, which must be free.
  Candidate Leader(std::string identity) {
    Candidate candidate = Make(std::move(identity));
    candidate.Acquire();
    cluster_.Advance(0s);
    EXPECT_TRUE(candidate.acquired->done() && candidate.acquired->result());
    candidate.WaitUntilLost();
    return candidate;
  }
  json Spec() { return json::parse(Must(cluster_.Get("leases", "default", "shop")))["spec"]; }
  json Lease(json spec) {
    return {{"apiVersion", "coordination.k8s.io/v1"},
            {"kind", "Lease"},
            {"metadata", {{"namespace", "default"}, {"name", "shop"}}},
            {"spec", std::move(spec)}};
  }
  // Until it is so; returns how long that took, or more than `limit`.
  template <typename Condition>
  Nanos Until(Condition condition, Nanos limit) {
    Nanos passed{};
    for (; !condition() && passed <= limit; passed += 100ms) cluster_.Advance(100ms);
    return passed;
  }
  Result<void> Release(Candidate& candidate, Nanos limit = 10s) {
    auto released = cluster_.simulation().Spawn([e = *candidate.elector, limit] { return e.Release(limit); });
    cluster_.Advance(limit + 1s);
    EXPECT_TRUE(released.done());
    return released.result();
  }

  Shared<Changes> changes_ = MakeShared<Changes>();
  Cluster cluster_{{.seed = GetParam(), .observer = changes_}};
};

// Contract: controller 26.
TEST_P(LeaderElectionTest, ACandidateCreatesTheLeaseAsClientGoDoes) {
  Candidate a = Make("a");
  EXPECT_FALSE(a.Leads());
  EXPECT_EQ(a.elector->lease(), "default/shop");
  a.Acquire();
  cluster_.Advance(0s);
  ASSERT_TRUE(a.acquired->done());
  EXPECT_TRUE(a.acquired->result()) << a.acquired->result();
  EXPECT_TRUE(a.Leads());
  EXPECT_EQ(a.elector->leader(), "a");
  EXPECT_THAT(changes_->told, ElementsAre("a leads"));
  const json spec = Spec();
  EXPECT_EQ(spec["holderIdentity"], "a");
  EXPECT_EQ(spec["leaseDurationSeconds"], 15);
  EXPECT_EQ(spec["leaseTransitions"], 0);
  EXPECT_EQ(spec["acquireTime"], spec["renewTime"]);
  EXPECT_THAT(spec["renewTime"].get<std::string>(), MatchesRegex("2026-01-01T00:00:0.\\.[0-9]{6}Z"));
}

TEST_P(LeaderElectionTest, ALeaderRenewsEveryRetryPeriodWithOneUpdate) {
  Candidate a = Leader("a");
  const json before = Spec();
  cluster_.ClearWrites();
  cluster_.Advance(61s);
  EXPECT_THAT(cluster_.Writes(), SizeIs(30));
  const json after = Spec();
  EXPECT_EQ(after["acquireTime"], before["acquireTime"]);
  EXPECT_NE(after["renewTime"], before["renewTime"]);
  EXPECT_EQ(after["leaseTransitions"], 0);
  EXPECT_TRUE(a.Leads());
  EXPECT_FALSE(a.lost->done());
  EXPECT_EQ(a.elector->slow_paths(), 0u);
  EXPECT_EQ(cluster_.simulation().census().blocking, 1u);  // WaitUntilLost() alone
}

TEST_P(LeaderElectionTest, AnotherOneWaitsWhileTheLeaseIsHeld) {
  Candidate a = Leader("a");
  Candidate b = Make("b");
  b.Acquire();
  cluster_.Advance(10min);
  EXPECT_FALSE(b.acquired->done());
  EXPECT_FALSE(b.Leads());
  EXPECT_EQ(b.elector->leader(), "a");
  EXPECT_TRUE(a.Leads());
  EXPECT_THAT(changes_->told, ElementsAre("a leads", "b does not lead, a does"));
}

// Contract: controller 29.
TEST_P(LeaderElectionTest, AReleaseClearsTheHolderAndAnotherOneTakesOverAtItsNextAttempt) {
  Candidate a = Leader("a");
  Candidate b = Make("b");
  b.Acquire();
  cluster_.Advance(20s);
  const auto released = cluster_.simulation().Spawn([e = *a.elector] { return e.Release(); });
  cluster_.Advance(0s);
  ASSERT_TRUE(released.done());
  EXPECT_TRUE(released.result()) << released.result();
  EXPECT_FALSE(a.Leads());
  EXPECT_EQ(a.elector->guard()->MaySend().error().code(), Code::kCancelled);
  ASSERT_TRUE(a.lost->done());
  EXPECT_TRUE(a.lost->result()) << "a release is no loss";
  if (!b.acquired->done()) {
    const json spec = Spec();
    EXPECT_EQ(spec["holderIdentity"], "");
    EXPECT_EQ(spec["leaseDurationSeconds"], 1);
    EXPECT_EQ(spec["acquireTime"], spec["renewTime"]);
  }
  EXPECT_LE(Until([&] { return b.Leads(); }, 15s), 4500ms);
  EXPECT_EQ(Spec()["holderIdentity"], "b");
  EXPECT_EQ(Spec()["leaseTransitions"], 1);
  EXPECT_EQ(Spec()["leaseDurationSeconds"], 15);
}

TEST_P(LeaderElectionTest, WithoutAReleaseAnotherOneTakesOverAfterTheLeaseDuration) {
  std::optional<Candidate> a(Leader("a"));
  Candidate b = Make("b");
  b.Acquire();
  cluster_.Advance(20s);
  const Shared<SendGuard> guard = a->elector->guard();
  cluster_.ClearWrites();
  a->stop.request_stop();
  cluster_.Advance(0s);
  a.reset();  // the elector is destroyed
  EXPECT_FALSE(guard->MaySend());
  const Nanos took = Until([&] { return b.Leads(); }, 30s);
  EXPECT_GE(took, 13s);  // b has seen the last renewal at most 2 s ago
  EXPECT_LE(took, 15s + 4500ms + 4500ms);
}

TEST_P(LeaderElectionTest, AnExpiredRecordCountsByTheOwnClockAndNotByItsTimeStamps) {
  for (const char* time : {"2020-01-01T00:00:00.000000Z", "2035-01-01T00:00:00.000000Z"}) {
    Must(cluster_.Add(Lease({{"holderIdentity", "old"}, {"leaseDurationSeconds", 7}, {"renewTime", time}}).dump()));
    Candidate a = Make("a");
    a.Acquire();
    const Nanos took = Until([&] { return a.Leads(); }, 60s);
    EXPECT_GE(took, 7s) << time;
    EXPECT_LE(took, 7s + 4500ms) << time;
    EXPECT_EQ(Spec()["leaseTransitions"], 1);
    EXPECT_TRUE(Release(a));
    Must(cluster_.Delete("leases", "default", "shop"));
  }
}

TEST_P(LeaderElectionTest, ARecordWithoutADurationCountsWithTheOwnOne) {
  Must(cluster_.Add(Lease({{"holderIdentity", "old"}}).dump()));
  Candidate a = Make("a");
  a.Acquire();
  const Nanos took = Until([&] { return a.Leads(); }, 60s);
  EXPECT_GE(took, 15s);
  EXPECT_LE(took, 20s);
}

// Contract: controller 30.
TEST_P(LeaderElectionTest, AFreeLeaseIsTakenAtOnceAndKeepsWhatElseItHas) {
  json lease = Lease({{"holderIdentity", ""}, {"leaseTransitions", 4}, {"strategy", "OldestEmulationVersion"}});
  lease["metadata"]["labels"] = {{"team", "shop"}};
  lease["metadata"]["annotations"] = {{"note", "x"}};
  Must(cluster_.Add(lease.dump()));
  LeaderElectionOptions options = Options("a");
  options.labels = {{"app", "elector"}};
  Candidate a(cluster_, options, cluster_.Connection());
  a.Acquire();
  cluster_.Advance(0s);
  EXPECT_TRUE(a.Leads());
  const json stored = json::parse(Must(cluster_.Get("leases", "default", "shop")));
  EXPECT_EQ(stored["spec"]["leaseTransitions"], 5);
  EXPECT_EQ(stored["spec"]["strategy"], "OldestEmulationVersion");
  EXPECT_EQ(stored["metadata"]["labels"], json({{"app", "elector"}, {"team", "shop"}}));
  EXPECT_EQ(stored["metadata"]["annotations"], json({{"note", "x"}}));
}

TEST_P(LeaderElectionTest, OnlyOneOfSeveralCandidatesWins) {
  std::vector<Candidate> all;
  for (const char* name : {"a", "b", "c", "d"}) all.push_back(Make(name));
  for (Candidate& each : all) each.Acquire();
  cluster_.Advance(30s);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const Candidate& each) { return each.Leads(); }), 1);
}

// Contract: controller 31.
TEST_P(LeaderElectionTest, ALeaderReadsALeaseThatSomebodyElseHasChangedAndKeepsIt) {
  Candidate a = Leader("a");
  json lease = json::parse(Must(cluster_.Get("leases", "default", "shop")));
  lease["metadata"]["annotations"] = {{"note", "x"}};
  Must(cluster_.Update(lease.dump()));
  cluster_.Advance(30s);
  EXPECT_TRUE(a.Leads());
  EXPECT_EQ(a.elector->slow_paths(), 1u);
  EXPECT_EQ(json::parse(Must(cluster_.Get("leases", "default", "shop")))["metadata"]["annotations"]["note"], "x");
}

TEST_P(LeaderElectionTest, ALeaseThatAnotherOneTookIsLost) {
  Candidate a = Leader("a");
  json lease = Lease(Spec());
  lease["spec"]["holderIdentity"] = "thief";
  Must(cluster_.Update(lease.dump()));
  cluster_.Advance(3s);
  EXPECT_FALSE(a.Leads());
  ASSERT_TRUE(a.lost->done());
  EXPECT_EQ(a.lost->result().error().code(), Code::kConflict);
  EXPECT_THAT(a.lost->result().error().ToString(), HasSubstr("hold lease default/shop: the lease was taken by thief"));
  cluster_.ClearWrites();
  EXPECT_TRUE(Release(a)) << "nothing to release";
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
  EXPECT_EQ(Spec()["holderIdentity"], "thief");
}

TEST_P(LeaderElectionTest, ADeletedLeaseIsMadeAgain) {
  Candidate a = Leader("a");
  Must(cluster_.Delete("leases", "default", "shop"));
  cluster_.Advance(3s);
  EXPECT_TRUE(a.Leads());
  EXPECT_FALSE(a.lost->done());
  EXPECT_EQ(Spec()["holderIdentity"], "a");
  EXPECT_THAT(changes_->told, ElementsAre("a leads", HasSubstr("a leads: the lease was deleted"), "a leads"));
  cluster_.Advance(30s);
  EXPECT_TRUE(a.Leads());
}

TEST_P(LeaderElectionTest, ADeletedLeaseIsLostIfAnotherOneMakesItFirst) {
  Candidate a = Leader("a");
  Must(cluster_.Delete("leases", "default", "shop"));
  Must(cluster_.Add(Lease({{"holderIdentity", "b"}, {"leaseDurationSeconds", 15}}).dump()));
  cluster_.Advance(3s);
  EXPECT_FALSE(a.Leads());
  ASSERT_TRUE(a.lost->done());
  EXPECT_EQ(a.lost->result().error().code(), Code::kConflict);
}

// The lease is gone when the leader reads it, and there again when the leader makes it.
TEST_P(LeaderElectionTest, ADeletedLeaseIsLostIfAnotherOneMakesItMeanwhile) {
  Candidate a = Leader("a");
  Must(cluster_.Delete("leases", "default", "shop"));
  cluster_.Inject({.verb = "create", .resource = "leases", .times = 1, .status = 409, .reason = "AlreadyExists"});
  Until([&] { return changes_->told.size() > 1; }, 5s);
  Must(cluster_.Add(Lease({{"holderIdentity", "b"}, {"leaseDurationSeconds", 15}}).dump()));
  cluster_.Advance(6s);
  EXPECT_FALSE(a.Leads());
  ASSERT_TRUE(a.lost->done());
  EXPECT_EQ(a.lost->result().error().code(), Code::kConflict);
  EXPECT_EQ(Spec()["holderIdentity"], "b");
}

TEST_P(LeaderElectionTest, RenewalSurvivesFaultsThatAreShorterThanTheRenewDeadline) {
  Candidate a = Leader("a");
  cluster_.Advance(5s);
  cluster_.Inject({.resource = "leases", .times = 3, .status = 500, .reason = "InternalError"});
  cluster_.Advance(20s);
  EXPECT_TRUE(a.Leads());
  cluster_.Inject({.resource = "leases", .times = 1, .stall = true});
  cluster_.Advance(20s);
  EXPECT_TRUE(a.Leads());
  cluster_.Inject({.resource = "leases", .times = 2, .refuse = true});
  cluster_.Advance(20s);
  EXPECT_TRUE(a.Leads());
  EXPECT_FALSE(a.lost->done());
  // Each fault once, however often it was met, and its end.
  EXPECT_THAT(changes_->told,
              ElementsAre("a leads", HasSubstr("a leads: update leases.coordination.k8s.io/v1 (Lease)"), "a leads",
                          HasSubstr("no answer within 5s"), "a leads", HasSubstr("connection refused"), "a leads"));
}

// Contract: controller 17.
TEST_P(LeaderElectionTest, LeadershipIsLostWhenNoRenewalSucceedsWithinTheRenewDeadline) {
  Candidate a = Leader("a");
  cluster_.Advance(1s);
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 503, .reason = "ServiceUnavailable"});
  cluster_.Advance(8900ms);
  EXPECT_TRUE(a.Leads());
  cluster_.Advance(100ms);
  EXPECT_FALSE(a.Leads());
  ASSERT_TRUE(a.lost->done());
  EXPECT_EQ(a.lost->result().error().code(), Code::kTimeout);
  EXPECT_THAT(a.lost->result().error().ToString(),
              AllOf(HasSubstr("no renewal succeeded within 10s; the last failure: update leases.coordination.k8s.io/v1 "
                              "(Lease) default/shop"),
                    HasSubstr("503")));
  EXPECT_FALSE(a.elector->IsLeader());
  // The Lease still names this process, which must not read as if it led.
  EXPECT_EQ(changes_->holders.back(), "");
}

TEST_P(LeaderElectionTest, TheDeadlineCountsFromTheRequestAndNotFromItsAnswer) {
  Candidate a = Leader("a");
  cluster_.Inject({.verb = "update", .resource = "leases", .times = 1, .delay = 4s});  // sent at 2 s, answered at 6 s
  cluster_.Advance(3s);
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .refuse = true});
  EXPECT_EQ(Until([&] { return !a.Leads(); }, 30s), 9s);
}

// Contract: controller 28.
TEST_P(LeaderElectionTest, AHungRequestTakesHalfTheRenewDeadlineAtMost) {
  Candidate a = Leader("a");
  cluster_.Inject({.resource = "leases", .times = 1, .stall = true});
  cluster_.Advance(6900ms);
  EXPECT_THAT(changes_->told, SizeIs(1));
  cluster_.Advance(200ms);
  EXPECT_THAT(changes_->told.at(1), HasSubstr("no answer within 5s"));
  cluster_.Advance(20s);
  EXPECT_TRUE(a.Leads());
}

TEST_P(LeaderElectionTest, MissingRightsAreReportedOnceAndRetried) {
  cluster_.Inject({.resource = "leases", .times = 3, .status = 403, .reason = "Forbidden"});
  cluster_.Inject({.resource = "leases", .times = 2, .status = 401, .reason = "Unauthorized"});
  Candidate a = Make("a");
  a.Acquire();
  EXPECT_LE(Until([&] { return a.Leads(); }, 60s), 5 * 4500ms);
  ASSERT_THAT(changes_->told, SizeIs(3));
  EXPECT_THAT(changes_->told[0], HasSubstr("403"));
  EXPECT_THAT(changes_->told[1], HasSubstr("401"));
  EXPECT_EQ(changes_->told[2], "a leads");
}

TEST_P(LeaderElectionTest, AFailureThatGoesOnIsReportedEveryMinuteUntilItIsOver) {
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 403, .reason = "Forbidden"});
  Candidate a = Make("a");
  a.Acquire();
  cluster_.Advance(5min + 10s);
  EXPECT_THAT(changes_->told, SizeIs(::testing::AllOf(::testing::Ge(5u), ::testing::Le(6u))));
  EXPECT_THAT(changes_->told, Each(AllOf(HasSubstr("a does not lead: missing rights (grant get, create and update on "
                                                   "leases of coordination.k8s.io in namespace default): get leases"),
                                         HasSubstr("403"))));
  ASSERT_TRUE(a.elector->failure());
  EXPECT_EQ(a.elector->failure()->code(), Code::kForbidden);
  changes_->told.clear();
  Must(cluster_.Add(Lease({{"holderIdentity", "b"}, {"leaseDurationSeconds", 3600}}).dump()));
  cluster_.ClearFaults();
  cluster_.Advance(10s);
  EXPECT_THAT(changes_->told, ElementsAre("a does not lead, b does"));
  EXPECT_FALSE(a.elector->failure());
}

TEST_P(LeaderElectionTest, AMissingNamespaceIsReportedAndRetried) {
  LeaderElectionOptions options = Options("a");
  options.namespace_ = "later";
  Candidate a(cluster_, options, cluster_.Connection());
  a.Acquire();
  cluster_.Advance(20s);
  EXPECT_FALSE(a.acquired->done());
  ASSERT_THAT(changes_->told, SizeIs(1));
  EXPECT_THAT(changes_->told[0],
              HasSubstr("create leases.coordination.k8s.io/v1 (Lease) in later: namespaces \"later\" not found"));
  Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", "later")));
  EXPECT_LE(Until([&] { return a.Leads(); }, 60s), 4500ms);
}

// Contract: controller 12.
TEST_P(LeaderElectionTest, AStoppedCandidateNeverLeads) {
  Candidate a = Leader("a");
  Candidate b = Make("b");
  b.Acquire();
  cluster_.Advance(5s);
  b.stop.request_stop();
  cluster_.Advance(0s);
  ASSERT_TRUE(b.acquired->done());
  EXPECT_EQ(b.acquired->result().error().code(), Code::kCancelled);
  EXPECT_TRUE(Release(a));
  cluster_.Advance(60s);
  EXPECT_FALSE(b.Leads());
  EXPECT_EQ(Spec()["holderIdentity"], "");
  b.Acquire();
  cluster_.Advance(0s);
  EXPECT_EQ(b.acquired->result().error().code(), Code::kInvalidArgument);
}

TEST_P(LeaderElectionTest, AReleaseAlsoGivesBackALeaseThatWasWonAfterTheStop) {
  cluster_.Inject({.verb = "create", .resource = "leases", .delay = 3s});
  Candidate a = Make("a");
  a.Acquire();
  cluster_.Advance(1s);
  a.stop.request_stop();
  cluster_.Advance(0s);
  ASSERT_TRUE(a.acquired->done());
  EXPECT_FALSE(a.acquired->result());
  EXPECT_TRUE(Release(a));
  EXPECT_EQ(Spec()["holderIdentity"], "");
}

TEST_P(LeaderElectionTest, NothingIsWrittenAfterARelease) {
  Candidate a = Leader("a");
  cluster_.Inject({.verb = "update", .resource = "leases", .delay = 3s});
  cluster_.Advance(2500ms);  // a renewal is under way
  EXPECT_TRUE(Release(a));
  EXPECT_EQ(Spec()["holderIdentity"], "");
  cluster_.ClearWrites();
  EXPECT_TRUE(Release(a));
  cluster_.Advance(60s);
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
  a.elector.reset();
  cluster_.Advance(0s);
  EXPECT_EQ(cluster_.simulation().census().timers, 0u);
  EXPECT_EQ(cluster_.simulation().census().tasks, 0u);
}

TEST_P(LeaderElectionTest, AReleaseThatFailsSaysSoWithinItsLimit) {
  Candidate a = Leader("a");
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .stall = true});
  const Result<void> released = Release(a, 3s);
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code(), Code::kTimeout);
  EXPECT_THAT(released.error().ToString(), HasSubstr("release lease default/shop"));
  EXPECT_FALSE(a.Leads());
}

TEST_P(LeaderElectionTest, ReleaseOnlyStopsRenewingIfTheOptionsSaySo) {
  LeaderElectionOptions options = Options("a");
  options.release = false;
  Candidate a(cluster_, options, cluster_.Connection());
  a.Acquire();
  cluster_.Advance(0s);
  cluster_.ClearWrites();
  EXPECT_TRUE(Release(a));
  EXPECT_FALSE(a.Leads());
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
  EXPECT_EQ(Spec()["holderIdentity"], "a");
}

TEST_P(LeaderElectionTest, AGuardedWriteFailsUnlessThisProcessLeads) {
  Candidate a = Make("a");
  const Connection guarded = cluster_.Connection().With(a.elector->guard());
  const ApiRequest request{.method = "DELETE", .path = "/api/v1/namespaces/default/pods/web", .what = "delete pod"};
  EXPECT_EQ(guarded.Call(request).error().code(), Code::kCancelled);
  EXPECT_THAT(guarded.Call(request).error().ToString(),
              HasSubstr("delete pod: not sent, because this process does not hold the lease default/shop"));
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
  a.Acquire();
  cluster_.Advance(0s);
  EXPECT_EQ(guarded.Call(request).error().code(), Code::kNotFound);
  // The election itself goes on over a guarded connection.
  Candidate b(cluster_, Options("b"), guarded);
  EXPECT_TRUE(Release(a));
  b.Acquire();
  EXPECT_LE(Until([&] { return b.Leads(); }, 20s), 4500ms);
  EXPECT_EQ(guarded.Call(request).error().code(), Code::kCancelled);
}

TEST_P(LeaderElectionTest, TimeForWhichTheMachineWasSuspendedCounts) {
  test_support::Machine machine(cluster_.simulation(), {.suspended_before = 5h});
  const Connection plain = cluster_.Connection();  // closes the transport when it is destroyed
  const Connection own = Connection::Over({.transport = client::ConnectionState::Of(plain)->transport,
                                           .executor = machine.executor(),
                                           .observer = changes_});
  Candidate a(cluster_, Options("a"), own);
  a.Acquire();
  cluster_.Advance(3s);  // renewed at 2 s
  ASSERT_TRUE(a.Leads());
  machine.Suspend();
  cluster_.Advance(8500ms);
  EXPECT_TRUE(a.Leads());
  cluster_.Advance(501ms);
  EXPECT_FALSE(a.Leads()) << "the deadline has passed, although no timer could fire";
  machine.Resume();
  cluster_.Advance(2s);
  const auto lost = cluster_.simulation().Spawn([e = *a.elector] { return e.WaitUntilLost(); });
  cluster_.Advance(0s);
  ASSERT_TRUE(lost.done());
  EXPECT_EQ(lost.result().error().code(), Code::kTimeout);
  EXPECT_EQ(Spec()["holderIdentity"], "a");
}

TEST_P(LeaderElectionTest, ALeaderThatWasSuspendedBrieflyGoesOn) {
  test_support::Machine machine(cluster_.simulation(), {.rate = 1.25, .booted = 100h});
  const Connection plain = cluster_.Connection();
  const Connection own = Connection::Over({.transport = client::ConnectionState::Of(plain)->transport,
                                           .executor = machine.executor(),
                                           .observer = changes_});
  Candidate a(cluster_, Options("a"), own);
  a.Acquire();
  for (int i = 0; i < 10; ++i) {
    cluster_.Advance(3s);
    machine.Suspend();
    cluster_.Advance(4s);
    machine.Resume();
  }
  EXPECT_TRUE(a.Leads());
}

TEST_P(LeaderElectionTest, WaitUntilLostSucceedsWhenAStopIsRequestedAndRenewingGoesOn) {
  Candidate a = Leader("a");
  a.stop.request_stop();
  cluster_.Advance(0s);
  ASSERT_TRUE(a.lost->done());
  EXPECT_TRUE(a.lost->result());
  cluster_.Advance(60s);
  EXPECT_TRUE(a.Leads());
  Candidate b = Make("b");
  b.WaitUntilLost();
  cluster_.Advance(0s);
  EXPECT_EQ(b.lost->result().error().code(), Code::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LeaderElectionTest, ::testing::Range<std::uint64_t>(1, 9));

TEST(LeaderElectionOptionsTest, ABadOptionIsAClearError) {
  Cluster cluster;
  const Connection connection = cluster.Connection();
  const auto refused = [&](LeaderElectionOptions options) {
    const auto made = LeaderElector::New(connection, std::move(options));
    EXPECT_FALSE(made);
    if (made) return std::string();
    EXPECT_EQ(made.error().code(), Code::kInvalidArgument);
    return made.error().ToString();
  };
  const LeaderElectionOptions good{.name = "shop", .namespace_ = "default"};
  const auto elector = LeaderElector::New(connection, good);
  ASSERT_TRUE(elector);
  EXPECT_THAT(elector->Release(-1s).error().ToString(), HasSubstr("`limit` is -1s"));
  EXPECT_THAT(refused({.namespace_ = "default"}), HasSubstr("leader election: the name of the lease is empty"));
  EXPECT_THAT(refused({.name = "a/b", .namespace_ = "default"}), HasSubstr("the name \"a/b\" must not"));
  EXPECT_THAT(refused({.name = "a", .namespace_ = ".."}), HasSubstr("the namespace \"..\" must not"));
  auto options = good;
  const std::pair<const char*, Nanos LeaderElectionOptions::*> durations[] = {
      {"lease_duration", &LeaderElectionOptions::lease_duration},
      {"renew_deadline", &LeaderElectionOptions::renew_deadline},
      {"retry_period", &LeaderElectionOptions::retry_period}};
  for (const auto& [name, member] : durations) {
    for (const char* text : {"0s", "-1s"}) {
      options = good;
      options.*member = std::string_view(text) == "0s" ? Nanos() : Nanos(-1s);
      EXPECT_THAT(refused(options), HasSubstr(std::string(name) + " is " + text + ", and must be positive"));
    }
  }
  options = good;
  options.renew_deadline = 15s;
  EXPECT_THAT(refused(options), HasSubstr("lease_duration is 15s, and must be longer than renew_deadline, 15s"));
  options = good;
  options.retry_period = 9s;
  EXPECT_THAT(refused(options), HasSubstr("must be longer than 1.2 times retry_period, 9s"));
  options = good;
  options.lease_duration = Nanos::max();
  EXPECT_THAT(refused(options), HasSubstr("more seconds than the lease can contain"));
}

// Contract: controller 27.
TEST(LeaderElectionOptionsTest, TheNamespaceIsByDefaultThatOfTheServiceAccount) {
  using controller::ElectorState;
  client::Surroundings around;
  around.service_account = ::testing::TempDir() + "no_account";
  auto outside = ElectorState::Complete({.name = "shop"}, around);
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(outside.error().ToString(),
              AllOf(HasSubstr("the options name no namespace"), HasSubstr("not in a cluster")));
  char folder[] = "leader_election_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  around = {.service_host = "10.0.0.1", .service_port = "443", .service_account = folder};
  std::ofstream(std::string(folder) + "/token") << "secret";
  std::ofstream(std::string(folder) + "/namespace") << "ours\n";
  auto inside = ElectorState::Complete({.name = "shop"}, around);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(inside) << inside.error();
  EXPECT_EQ(inside->namespace_, "ours");
  EXPECT_THAT(inside->identity, MatchesRegex(".+_[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}"));
  EXPECT_NE(inside->identity, ElectorState::Complete({.name = "shop", .namespace_ = "x"}, around)->identity);
}

TEST(LeaderElectionOptionsTest, AFractionOfASecondIsRoundedUpInTheLease) {
  Cluster cluster;
  Candidate a(cluster,
              {.name = "shop",
               .namespace_ = "default",
               .identity = "a",
               .lease_duration = 2500ms,
               .renew_deadline = 2200ms,
               .retry_period = 500ms},
              cluster.Connection());
  a.Acquire();
  cluster.Advance(1s);
  EXPECT_EQ(json::parse(Must(cluster.Get("leases", "default", "shop")))["spec"]["leaseDurationSeconds"], 3);
}

}  // namespace
}  // namespace kgen
