// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardMember in virtual time, against the in-memory cluster. tests/simulation has it under random faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "client/request/connection_state.h"
#include "controller/shards/member_state.h"
#include "kgen/controller/shards.h"
#include "kgen/testing/cluster.h"
#include "tests/support/machine.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using testing::Cluster;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing::TaskResult;

// Work that remembers its calls.
struct Calls : ShardWork {
  explicit Calls(Executor& of) : executor(of) {}
  Result<std::vector<ShardWeight>> Survey(const std::stop_token& stop) override {
    ++surveys;
    if (surveys_until_stopped) {
      (void)executor.MakeWaiter("a survey")->Wait(stop);
      survey_stopped = stop.stop_requested();
    }
    return survey;
  }
  Result<void> Prepare(const ShardRanges& ranges, const std::stop_token&) override {
    calls.push_back("prepare " + ranges.ToString());
    if (fail_prepare-- > 0) return Fail(Code::kUserCode, "no cache");
    return {};
  }
  void Start(const ShardRanges& ranges, const ShardStart& from) override {
    calls.push_back("start " + ranges.ToString());
    starts.push_back(from);
  }
  std::optional<ShardVersions> Drain(const ShardRanges& ranges) override {
    calls.push_back("drain " + ranges.ToString());
    if (drains_until) (void)drains_until->Wait();
    return versions;
  }
  Executor& executor;
  std::vector<std::string> calls{};
  std::vector<ShardStart> starts{};
  int fail_prepare = 0, surveys = 0;
  bool surveys_until_stopped = false, survey_stopped = false;
  Result<std::vector<ShardWeight>> survey{};
  Shared<Waiter> drains_until{};
  std::optional<ShardVersions> versions = ShardVersions{{"pods", "77"}};
};

struct MemberLog final : Observer {
  void OnLogged(const Logged& e) override { messages.emplace_back(e.message); }
  std::vector<std::string> messages{};
};

struct Member {
  Member(Cluster& cluster, std::string identity, ShardOptions options = {})
      : Member(cluster, std::move(identity), std::move(options), cluster.Connection()) {}
  Member(Cluster& cluster, std::string identity, ShardOptions options, Connection over)
      : connection(std::move(over)), work(MakeShared<Calls>(connection.executor())) {
    options.name = "shop";
    options.namespace_ = "default";
    options.identity = std::move(identity);
    options.drain_limit = 5s;
    member.emplace(Must(ShardMember::New(connection, options, work)));
    ended = cluster.simulation().Spawn([m = *member, token = stop.get_token()] { return m.Run(token); });
  }
  bool MayWrite(std::uint64_t hash) const { return member->guard(hash)->MaySend().has_value(); }

  Connection connection;
  Shared<Calls> work;
  std::stop_source stop{};
  std::optional<ShardMember> member{};
  std::optional<TaskResult<Result<void>>> ended{};
};

class ShardMemberTest : public ::testing::Test {
 protected:
  std::unique_ptr<Member> Join(const std::string& identity, ShardOptions options = {}) {
    return std::make_unique<Member>(cluster_, identity, std::move(options));
  }
  // The first map of all waits for the duration of a Lease.
  void AwaitFirstMap() { cluster_.Advance(22s); }
  nlohmann::json Lease(const std::string& name) {
    return nlohmann::json::parse(Must(cluster_.Get("leases", "default", name)));
  }
  Cluster cluster_{{.observer = NullObserver()}};
};

TEST_F(ShardMemberTest, StartsNothingAfterItsMachineWasSuspendedPastTheRenewDeadline) {
  test_support::Machine machine(cluster_.simulation(), {});
  const Connection plain = cluster_.Connection();  // closes the transport when it is destroyed
  const Connection own = Connection::Over({.transport = client::ConnectionState::Of(plain)->transport,
                                           .executor = machine.executor(),
                                           .observer = NullObserver()});
  Member a(cluster_, "a", {}, own);
  // The list after which it would start is on its way for a second.
  cluster_.Inject({.verb = "list", .resource = "leases", .times = testing::kAlways, .delay = 1s});
  for (int i = 0; i < 400 && a.work->calls.empty(); ++i) cluster_.Advance(100ms);
  ASSERT_THAT(a.work->calls, ElementsAre("prepare 0000000000000000-10000000000000000"));
  cluster_.Advance(900ms);
  ASSERT_THAT(a.work->calls, SizeIs(1));
  machine.Suspend();
  cluster_.Advance(60s);
  machine.Resume();
  cluster_.Advance(10s);
  EXPECT_THAT(a.work->calls, Not(Contains(HasSubstr("start"))));
  ASSERT_TRUE(a.ended->done());
  EXPECT_EQ(a.ended->result().error().code(), Code::kTimeout);
}

TEST_F(ShardMemberTest, OneMemberSurveysBeforeTheFirstMapWhichItDivides) {
  const auto a = Join("a");
  const auto b = Join("b");
  for (const auto* each : {&a, &b}) (*each)->work->survey = std::vector<ShardWeight>{{1, 50}, {2, 50}};
  cluster_.Advance(60s);
  EXPECT_EQ(a->work->surveys + b->work->surveys, 1);
  EXPECT_EQ(a->member->status().epoch, 1u);
  EXPECT_NE(a->member->Owns(1), a->member->Owns(2));
  EXPECT_NE(b->member->Owns(1), b->member->Owns(2));
}

TEST_F(ShardMemberTest, ASurveyThatTakesLongIsStoppedAndTheMapMadeWithoutIt) {
  const auto a = Join("a");
  a->work->surveys_until_stopped = true;
  cluster_.Advance(58s);
  EXPECT_EQ(a->member->status().epoch, 0u);
  EXPECT_FALSE(a->work->survey_stopped);
  cluster_.Advance(15s);
  EXPECT_TRUE(a->work->survey_stopped);
  EXPECT_EQ(a->member->ranges(), ShardRanges::All());
  EXPECT_EQ(a->work->surveys, 1);
}

TEST_F(ShardMemberTest, ASurveyThatFailsIsReportedAndTheMapMadeWithoutIt) {
  const Shared<MemberLog> log = MakeShared<MemberLog>();
  Cluster cluster({.observer = log});
  Member a(cluster, "a");
  a.work->survey = Fail(Code::kForbidden, "list orders: no");
  cluster.Advance(22s);
  EXPECT_EQ(a.member->ranges(), ShardRanges::All());
  EXPECT_THAT(log->messages, Contains(AllOf(HasSubstr("equal parts"), HasSubstr("list orders: no"))));
  EXPECT_THAT(log->messages, Not(Contains(HasSubstr("grant")))) << "which would be rights to Leases";
}

TEST_F(ShardMemberTest, EndsOnlyAfterItsSurveyHas) {
  const auto a = Join("a");
  a->work->surveys_until_stopped = true;
  cluster_.Advance(10s);
  ASSERT_EQ(a->work->surveys, 1);
  Must(cluster_.Delete("leases", "default", "shop-a"));
  cluster_.Advance(5s);
  EXPECT_TRUE(a->work->survey_stopped);
  ASSERT_TRUE(a->ended->done());
  EXPECT_EQ(a->ended->result().error().code(), Code::kConflict);
}

TEST_F(ShardMemberTest, NobodySurveysWhatMembersHaveCounted) {
  const auto a = Join("a", {.weights = [] { return std::vector<ShardWeight>{{1, 50}}; }});
  AwaitFirstMap();
  EXPECT_EQ(a->member->ranges(), ShardRanges::All());
  EXPECT_EQ(a->work->surveys, 0);
}

TEST_F(ShardMemberTest, OwnsEverythingWhenItIsAlone) {
  const auto a = Join("a");
  AwaitFirstMap();
  EXPECT_EQ(a->member->ranges(), ShardRanges::All());
  EXPECT_TRUE(a->member->Owns(5));
  EXPECT_TRUE(a->MayWrite(5));
  EXPECT_GT(a->member->time_left(), 5s);
  EXPECT_THAT(a->work->calls,
              ElementsAre("prepare 0000000000000000-10000000000000000", "start 0000000000000000-10000000000000000"));
  EXPECT_TRUE(a->work->starts[0].list_anew);  // nobody knows who was there before
  const ShardStatus status = a->member->status();
  EXPECT_TRUE(status.assigner);
  EXPECT_EQ(status.epoch, 1u);
  EXPECT_THAT(status.members, ElementsAre("shop-a"));
  EXPECT_EQ(status.lease, "default/shop-a");
  EXPECT_EQ(Lease("shop-a")["metadata"]["labels"]["kgen.dev/shards"], "shop");
  a->stop.request_stop();
  cluster_.Advance(10s);
  ASSERT_TRUE(a->ended->done());
  EXPECT_TRUE(a->ended->result()) << a->ended->result().error();
  EXPECT_FALSE(cluster_.Get("leases", "default", "shop-a"));
  EXPECT_EQ(Lease("shop")["spec"].value("holderIdentity", ""), "");
  EXPECT_FALSE(a->MayWrite(5));
}

TEST_F(ShardMemberTest, DoesNotWaitWhenTheMapIsKnown) {
  const auto a = Join("a");
  AwaitFirstMap();
  a->stop.request_stop();
  cluster_.Advance(10s);
  const auto b = Join("b");
  cluster_.Advance(3s);
  EXPECT_EQ(b->member->ranges(), ShardRanges::All());
  EXPECT_FALSE(b->work->starts[0].list_anew);
  EXPECT_EQ(b->work->starts[0].versions, (ShardVersions{{"pods", "77"}}));
  b->stop.request_stop();
  cluster_.Advance(10s);
}

TEST_F(ShardMemberTest, SharesWithOneThatJoinsAndTakesOverFromOneThatLeaves) {
  const auto a = Join("a");
  AwaitFirstMap();
  const auto b = Join("b");
  cluster_.Advance(6s);
  EXPECT_EQ(a->member->ranges() | b->member->ranges(), ShardRanges::All());
  EXPECT_FALSE(b->member->ranges().empty());
  EXPECT_FALSE(a->member->ranges().Overlaps(b->member->ranges()));
  EXPECT_EQ(b->work->starts[0].versions, (ShardVersions{{"pods", "77"}}));
  a->stop.request_stop();
  cluster_.Advance(8s);
  ASSERT_TRUE(a->ended->done());
  EXPECT_TRUE(a->ended->result());
  EXPECT_EQ(b->member->ranges(), ShardRanges::All());
  b->stop.request_stop();
  cluster_.Advance(10s);
  EXPECT_TRUE(b->ended->done());
}

TEST_F(ShardMemberTest, StartsNothingBeforeTheOtherHasDrained) {
  const auto a = Join("a");
  AwaitFirstMap();
  a->work->drains_until = a->connection.executor().MakeWaiter("drain");
  const auto b = Join("b");
  cluster_.Advance(4s);
  ASSERT_THAT(a->work->calls, ::testing::Contains(HasSubstr("drain")));
  const ShardRanges moving = b->member->status().waiting;
  ASSERT_FALSE(moving.empty());
  const std::uint64_t hash = moving.ranges()[0].first;
  EXPECT_FALSE(a->member->Owns(hash));  // no new call
  EXPECT_TRUE(a->MayWrite(hash));       // but the calls under way may write
  EXPECT_FALSE(b->MayWrite(hash));
  ASSERT_EQ(b->member->status().waits.size(), 1u);
  EXPECT_EQ(b->member->status().waits[0].member, "shop-a");
  a->work->drains_until->Notify();
  cluster_.Advance(2s);
  EXPECT_FALSE(a->MayWrite(hash));
  EXPECT_TRUE(b->MayWrite(hash));
  EXPECT_TRUE(b->member->Owns(hash));
  a->stop.request_stop();
  b->stop.request_stop();
  a->work->drains_until = {};
  cluster_.Advance(20s);
}

TEST_F(ShardMemberTest, RefusesWritesOfADrainThatDoesNotEndAndHandsOverWithoutAVersion) {
  const auto a = Join("a");
  AwaitFirstMap();
  a->work->drains_until = a->connection.executor().MakeWaiter("drain");
  const auto b = Join("b");
  cluster_.Advance(4s);
  const std::uint64_t hash = b->member->status().waiting.ranges().front().first;
  cluster_.Advance(4s);
  EXPECT_FALSE(a->MayWrite(hash));  // drain_limit has passed
  EXPECT_FALSE(b->MayWrite(hash));  // what had left may still be under way
  cluster_.Advance(12s);
  EXPECT_TRUE(b->MayWrite(hash));
  EXPECT_TRUE(b->work->starts.back().list_anew);
  a->work->drains_until->Notify();
  a->work->drains_until = {};
  a->stop.request_stop();
  b->stop.request_stop();
  cluster_.Advance(20s);
}

TEST_F(ShardMemberTest, StopsAtOnceWhenItsLeaseIsDeleted) {
  const auto a = Join("a");
  AwaitFirstMap();
  Must(cluster_.Delete("leases", "default", "shop-a"));
  cluster_.Advance(3s);
  ASSERT_TRUE(a->ended->done());
  ASSERT_FALSE(a->ended->result());
  EXPECT_EQ(a->ended->result().error().code(), Code::kConflict);
  EXPECT_THAT(a->ended->result().error().ToString(), HasSubstr("the Lease default/shop-a was deleted"));
  EXPECT_EQ(a->work->calls.back(), "drain 0000000000000000-10000000000000000");
  EXPECT_FALSE(a->MayWrite(1));
  EXPECT_TRUE(a->member->ranges().empty());
}

TEST_F(ShardMemberTest, StopsWhenItCannotRenew) {
  const auto a = Join("a");
  AwaitFirstMap();
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 503, .reason = "ServiceUnavailable"});
  cluster_.Advance(13s);
  ASSERT_TRUE(a->ended->done());
  EXPECT_EQ(a->ended->result().error().code(), Code::kTimeout);
  EXPECT_THAT(a->ended->result().error().ToString(),
              AllOf(HasSubstr("no renewal of the Lease default/shop-a succeeded within 10s"), HasSubstr("503")));
}

TEST_F(ShardMemberTest, GoesOnWhenTheMapIsDeletedAndFollowsTheNextOne) {
  const auto a = Join("a");
  const auto b = Join("b");
  AwaitFirstMap();
  const ShardRanges of_a = a->member->ranges(), of_b = b->member->ranges();
  ASSERT_EQ(of_a | of_b, ShardRanges::All());
  Must(cluster_.Delete("leases", "default", "shop"));
  cluster_.Advance(5s);
  EXPECT_EQ(a->member->ranges(), of_a);
  cluster_.Advance(25s);
  EXPECT_EQ(a->member->status().epoch, 1u);
  EXPECT_THAT(Lease("shop")["metadata"]["annotations"]["kgen.dev/shard-map"].get<std::string>(),
              HasSubstr("\"epoch\":1"));
  EXPECT_EQ(a->member->ranges(), of_a);
  EXPECT_EQ(b->member->ranges(), of_b);
  EXPECT_EQ(a->work->starts.size() + b->work->starts.size(), 2u);  // nothing was started anew
  a->stop.request_stop();
  b->stop.request_stop();
  cluster_.Advance(20s);
}

TEST_F(ShardMemberTest, RefusesToShareByAnotherKey) {
  const auto a = Join("a");
  AwaitFirstMap();
  const auto b = Join("b", {.by = ShardBy::kUid});
  cluster_.Advance(5s);
  ASSERT_TRUE(b->ended->done());
  EXPECT_EQ(b->ended->result().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(b->ended->result().error().ToString(), HasSubstr("another ShardOptions::by"));
  EXPECT_THAT(b->work->calls, IsEmpty());
  a->stop.request_stop();
  cluster_.Advance(20s);
}

TEST_F(ShardMemberTest, PreparesAgainAfterAFailure) {
  const auto a = Join("a");
  a->work->fail_prepare = 2;
  AwaitFirstMap();
  cluster_.Advance(5s);
  EXPECT_EQ(std::ranges::count(a->work->calls, "prepare 0000000000000000-10000000000000000"), 3);
  EXPECT_EQ(a->member->ranges(), ShardRanges::All());
  a->stop.request_stop();
  cluster_.Advance(20s);
}

TEST_F(ShardMemberTest, BalancesByTheWeightsOfItsUser) {
  ShardOptions options;
  options.weights = [] {
    std::vector<ShardWeight> weights;
    for (int n = 0; n < 40; ++n) weights.push_back({ShardHash("team-" + std::to_string(10 + n)), 1});
    return weights;
  };
  const auto a = Join("a", options);
  const auto b = Join("b", options);
  AwaitFirstMap();
  cluster_.Advance(10s);
  int of_a = 0;
  for (const ShardWeight& each : *options.weights()) of_a += a->member->Owns(each.hash) ? 1 : 0;
  EXPECT_GE(of_a, 16);
  EXPECT_LE(of_a, 24);
  a->stop.request_stop();
  b->stop.request_stop();
  cluster_.Advance(20s);
}

TEST_F(ShardMemberTest, CanRunOnlyOnceAndSaysWhatIsWrongWithItsOptions) {
  const auto a = Join("a");
  cluster_.Advance(1s);
  const Result<void> again = a->member->Run();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(again.error().ToString(), HasSubstr("was used before"));
  a->stop.request_stop();
  cluster_.Advance(20s);
  const auto refused = [&](const ShardOptions& options, const Shared<ShardWork>& work) {
    const Result<ShardMember> member = ShardMember::New(a->connection, options, work);
    return member ? "accepted" : member.error().ToString();
  };
  const ShardOptions good = {.name = "shop", .namespace_ = "default", .identity = "x"};
  EXPECT_EQ(refused(good, a->work), "accepted");
  EXPECT_THAT(refused(good, {}), HasSubstr("`work` is null"));
  ShardOptions options = good;
  options.identity = "Upper";
  EXPECT_THAT(refused(options, a->work), HasSubstr("cannot be the name of a Lease"));
  options = good;
  options.drain_limit = 0s;
  EXPECT_THAT(refused(options, a->work), HasSubstr("drain_limit"));
  options = good;
  options.name = std::string(64, 'n');
  EXPECT_THAT(refused(options, a->work), HasSubstr("63"));
  options = good;
  options.lease_duration = 5s;
  EXPECT_THAT(refused(options, a->work), HasSubstr("lease_duration"));
  options = good;
  options.identity = {};
  EXPECT_EQ(refused(options, a->work), "accepted");  // the host name, made fit for a Lease
}

}  // namespace
}  // namespace kgen
