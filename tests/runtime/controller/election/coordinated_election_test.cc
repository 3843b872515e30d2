// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LeaderElector with LeaderElectionOptions::coordinated, where the test is the control plane.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kgen/controller/leader_election.h"
#include "kgen/controller/manager.h"
#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using testing::Cluster;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::TaskResult;

struct Failures : Observer {
  void OnLeadershipChanged(const LeadershipChanged& e) override {
    if (e.error != nullptr) told.push_back(e.error->ToString());
  }
  std::vector<std::string> told;
};

class CoordinatedElectionTest : public ::testing::Test {
 protected:
  void ServeCandidates() {
    cluster_.AddResource({.group = "coordination.k8s.io",
                          .version = "v1beta1",
                          .plural = "leasecandidates",
                          .singular = "leasecandidate",
                          .kind = "LeaseCandidate",
                          .list_kind = "LeaseCandidateList"});
  }
  static LeaderElectionOptions Options() {
    return {.name = "shop",
            .namespace_ = "default",
            .identity = "a",
            .coordinated = CoordinatedElection{.binary_version = "1.4.0", .emulation_version = "1.3.0"}};
  }
  void Acquire() {
    elector_.emplace(Must(LeaderElector::New(cluster_.Connection(), Options())));
    acquired_ = cluster_.simulation().Spawn([e = *elector_, stop = stop_.get_token()] { return e.Acquire(stop); });
  }
  void WaitUntilLost() {
    lost_ = cluster_.simulation().Spawn([e = *elector_, stop = stop_.get_token()] { return e.WaitUntilLost(stop); });
  }
  json Candidate() { return json::parse(Must(cluster_.Get("leasecandidates", "default", "a"))); }
  json Lease() { return json::parse(Must(cluster_.Get("leases", "default", "shop"))); }
  // What the control plane writes when it has chosen.
  void Choose(const std::string& holder) {
    const json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                        {"kind", "Lease"},
                        {"metadata", {{"namespace", "default"}, {"name", "shop"}}},
                        {"spec",
                         {{"holderIdentity", holder},
                          {"leaseDurationSeconds", 5},
                          {"strategy", "OldestEmulationVersion"},
                          {"renewTime", "2026-01-01T00:00:00.000000Z"}}}};
    if (cluster_.Get("leases", "default", "shop")) Must(cluster_.Delete("leases", "default", "shop"));
    Must(cluster_.Add(lease.dump()));
  }
  void Prefer(const std::string& another) {
    json lease = Lease();
    lease["spec"]["preferredHolder"] = another;
    Must(cluster_.Update(lease.dump()));
  }

  Shared<Failures> failures_ = MakeShared<Failures>();
  Cluster cluster_{{.observer = failures_}};
  std::stop_source stop_{};
  std::optional<LeaderElector> elector_;
  std::optional<TaskResult<Result<void>>> acquired_{}, lost_{};
};

TEST_F(CoordinatedElectionTest, AProcessIsACandidateAndTakesNothing) {
  ServeCandidates();
  Acquire();
  cluster_.Advance(1min);
  EXPECT_FALSE(acquired_->done());
  EXPECT_FALSE(cluster_.Get("leases", "default", "shop")) << "the control plane makes the Lease";
  const json spec = Candidate()["spec"];
  EXPECT_EQ(spec["leaseName"], "shop");
  EXPECT_EQ(spec["binaryVersion"], "1.4.0");
  EXPECT_EQ(spec["emulationVersion"], "1.3.0");
  EXPECT_EQ(spec["strategy"], "OldestEmulationVersion");
  EXPECT_THAT(spec["renewTime"].get<std::string>(), HasSubstr("2026-01-01T"));
}

TEST_F(CoordinatedElectionTest, AProcessLeadsOnceItIsChosenAndRenews) {
  ServeCandidates();
  Acquire();
  cluster_.Advance(20s);
  Choose("b");
  cluster_.Advance(20s);
  EXPECT_FALSE(acquired_->done()) << "another one is chosen, and its Lease has expired";
  Choose("a");
  cluster_.Advance(2s);
  ASSERT_TRUE(acquired_->done());
  EXPECT_TRUE(acquired_->result());
  cluster_.Advance(10min);
  EXPECT_TRUE(elector_->IsLeader());
  EXPECT_EQ(Lease()["spec"]["leaseDurationSeconds"], 15);
  EXPECT_EQ(Lease()["spec"]["strategy"], "OldestEmulationVersion");
}

TEST_F(CoordinatedElectionTest, ACandidateAnswersThatItIsAlive) {
  ServeCandidates();
  Acquire();
  cluster_.Advance(10s);
  const std::string before = Candidate()["spec"]["renewTime"];
  cluster_.Advance(10min);
  EXPECT_EQ(Candidate()["spec"]["renewTime"], before) << "nobody has asked";
  json candidate = Candidate();
  candidate["spec"]["pingTime"] = "2026-01-01T00:10:00.000000Z";
  Must(cluster_.Update(candidate.dump()));
  cluster_.Advance(3s);
  EXPECT_GT(Candidate()["spec"]["renewTime"], Candidate()["spec"]["pingTime"]);
}

TEST_F(CoordinatedElectionTest, ACandidateThatSomebodyDeletesIsMadeAgain) {
  ServeCandidates();
  Acquire();
  cluster_.Advance(10s);
  Must(cluster_.Delete("leasecandidates", "default", "a"));
  cluster_.Advance(3s);
  EXPECT_EQ(Candidate()["spec"]["leaseName"], "shop");
}

TEST_F(CoordinatedElectionTest, ALeaderGivesWayToTheOneThatTheControlPlanePrefers) {
  ServeCandidates();
  Acquire();
  cluster_.Advance(5s);
  Choose("a");
  cluster_.Advance(5s);
  WaitUntilLost();
  Prefer("b");
  cluster_.Advance(3s);
  ASSERT_TRUE(lost_->done());
  EXPECT_EQ(lost_->result().error().code(), Code::kConflict);
  EXPECT_THAT(lost_->result().error().ToString(), HasSubstr("the control plane gives the lease to b"));
  EXPECT_FALSE(elector_->guard()->MaySend());
  EXPECT_EQ(Lease()["spec"]["holderIdentity"], "a") << "the work has not ended yet";
  auto released = cluster_.simulation().Spawn([e = *elector_] { return e.Release(); });
  cluster_.Advance(5s);
  ASSERT_TRUE(released.done());
  EXPECT_TRUE(released.result());
  EXPECT_EQ(Lease()["spec"]["holderIdentity"], "");
}

TEST_F(CoordinatedElectionTest, AnotherOneThatIsPreferredIsNotOvertaken) {
  ServeCandidates();
  Choose("a");
  Prefer("b");
  Acquire();
  cluster_.Advance(1min);
  EXPECT_FALSE(acquired_->done());
}

TEST_F(CoordinatedElectionTest, ADeletedLeaseIsLost) {
  ServeCandidates();
  Acquire();
  cluster_.Advance(5s);
  Choose("a");
  cluster_.Advance(5s);
  WaitUntilLost();
  Must(cluster_.Delete("leases", "default", "shop"));
  cluster_.Advance(5s);
  ASSERT_TRUE(lost_->done());
  EXPECT_EQ(lost_->result().error().code(), Code::kConflict);
  EXPECT_FALSE(cluster_.Get("leases", "default", "shop"));
}

TEST_F(CoordinatedElectionTest, WithoutCandidatesOnTheServerProcessesCompete) {
  Acquire();
  cluster_.Advance(5s);
  ASSERT_TRUE(acquired_->done());
  EXPECT_TRUE(elector_->IsLeader());
  EXPECT_THAT(failures_->told, IsEmpty());
  ServeCandidates();  // the server was replaced
  cluster_.Advance(2min);
  EXPECT_EQ(Candidate()["spec"]["leaseName"], "shop");
  EXPECT_TRUE(elector_->IsLeader());
}

TEST_F(CoordinatedElectionTest, MissingRightsAreReported) {
  ServeCandidates();
  cluster_.Inject({.resource = "leasecandidates", .times = testing::kAlways, .status = 403, .reason = "Forbidden"});
  Acquire();
  cluster_.Advance(30s);
  EXPECT_FALSE(acquired_->done());
  EXPECT_THAT(failures_->told, ElementsAre(HasSubstr("grant get, create and update on leasecandidates")));
  ASSERT_TRUE(elector_->failure());
  cluster_.ClearFaults();
  cluster_.Advance(30s);
  EXPECT_EQ(Candidate()["spec"]["leaseName"], "shop");
}

TEST_F(CoordinatedElectionTest, ALostElectorIsNoLongerACandidate) {
  ServeCandidates();
  Acquire();
  cluster_.Advance(5s);
  Choose("a");
  cluster_.Advance(5s);
  WaitUntilLost();
  Prefer("b");
  cluster_.Advance(5s);
  json candidate = Candidate();
  candidate["spec"]["pingTime"] = "2026-01-01T01:00:00.000000Z";
  Must(cluster_.Update(candidate.dump()));
  cluster_.Advance(2h);
  EXPECT_LT(Candidate()["spec"]["renewTime"], Candidate()["spec"]["pingTime"]);
}

TEST_F(CoordinatedElectionTest, OptionsThatTheServerWouldRefuseAreClearErrors) {
  const auto refused = [&](const std::string& identity, CoordinatedElection versions) {
    LeaderElectionOptions options = Options();
    options.identity = identity;
    options.coordinated = std::move(versions);
    const Result<LeaderElector> made = LeaderElector::New(cluster_.Connection(), options);
    EXPECT_FALSE(made);
    return made ? std::string() : made.error().ToString();
  };
  EXPECT_THAT(refused("host_1", {"1.0.0", ""}), HasSubstr("the identity is 'host_1', but in a coordinated election"));
  EXPECT_THAT(refused("a", {"", ""}), HasSubstr("coordinated.binary_version is ''"));
  EXPECT_THAT(refused("a", {"1.0", ""}), HasSubstr("coordinated.binary_version is '1.0'"));
  EXPECT_THAT(refused("a", {"1.0.x", ""}), HasSubstr("coordinated.binary_version is '1.0.x'"));
  EXPECT_THAT(refused("a", {"1.0.0", "v1.0.0"}), HasSubstr("coordinated.emulation_version is 'v1.0.0'"));
  LeaderElectionOptions options = Options();
  options.identity = "";
  options.coordinated = CoordinatedElection{.binary_version = "1.0.0-rc.1+build"};
  EXPECT_TRUE(LeaderElector::New(cluster_.Connection(), options));
}

TEST_F(CoordinatedElectionTest, AManagerNeedsRightsOnCandidates) {
  const Manager manager = Must(Manager::New(cluster_.Connection(), {.leader_election = Options()}));
  const AccessRule rule{"default", "coordination.k8s.io", "leasecandidates", "", {"create", "get", "update"}};
  EXPECT_THAT(manager.Rules(), Contains(rule));
}

}  // namespace
}  // namespace kgen
