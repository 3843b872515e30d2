// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Four processes that divide 2,000 objects of a real API server, with and without the gate ShardedListAndWatch: one is
// suspended, one is killed, and one leaves; the assigner is among them. The judge sees every stored version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/integration/shards/fleet.h"
#include "tests/integration/shards/judge.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kEndedWithAnError = 3;  // of replica/main.cc

// docs/shards.md, and a list, a beat and what a busy machine adds.
constexpr int kRequests = 6;  // of a hand-over
constexpr double kAfterDeath = 20 + 5, kAfterLeaving = 3 + 4;

struct Server {
  bool gate;
  bool suspends_the_assigner;  // otherwise the assigner is killed
};

class ShardedManagersTest : public ::testing::TestWithParam<Server> {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    RealApiServer::RestartWithFlags(GetParam().gate ? "--feature-gates=ShardedListAndWatch=true" : "");
    std::string folder = std::filesystem::temp_directory_path() / "sharded_managers_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    const auto connection = Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}))));
    fleet_.emplace(connection, FleetOptions{.name = "fleet", .program = KGEN_SHARD_REPLICA, .folder = folder_});
    judge_.emplace(connection, fleet_->name());
    // Both tests have the same objects, and replicas of their own.
    fleet_->Want(wanted_);
    for (const char* name : {"one", "two", "three", "four"}) {
      fleet_->Start(std::string(name) + (GetParam().gate ? "-filtered" : ""));
    }
  }
  void TearDown() override {
    if (!RealApiServer::Present()) return;
    if (HasFailure()) {
      for (const auto& log : std::filesystem::directory_iterator(folder_)) {
        ADD_FAILURE() << log.path().filename() << ":\n" << test_support::ReadFile(log.path());
      }
    }
    fleet_.reset();
    judge_.reset();
    std::filesystem::remove_all(folder_);
    RealApiServer::RestartWithFlags("");
  }

  bool AllDone(std::size_t objects) {
    return Eventually([&] { return judge_->Done(wanted_) == objects; }, 3min);
  }
  // Changes objects of all namespaces, and expects that each is reconciled and no namespace is left alone for longer
  // than that; then changes all objects.
  void WorkGoesOn(double bound, const char* after) {
    constexpr int kSome = 5;
    fleet_->Want(++wanted_, kSome);
    EXPECT_TRUE(AllDone(kSome * 20)) << after << ": " << judge_->Done(wanted_);
    EXPECT_TRUE(Eventually([&] { return judge_->Silent(4) == 0; })) << after;
    // On a machine that is busy with other work, the requests of a hand-over, which come one after the other, take
    // long.
    const double slowest = fleet_->TakeSlowest();
    const Judge::Gap gap = judge_->LongestGap();
    const std::size_t gaps = judge_->GapsLongerThan(3);
    EXPECT_LT(gap.seconds, bound + kRequests * slowest) << after << ", in " << gap.in_namespace;
    fleet_->Want(++wanted_);
    EXPECT_TRUE(AllDone(fleet_->size())) << after << ": " << judge_->Done(wanted_);
    std::printf(
        "%s: at most %.1f s without a beat, and longer than 3 s in %zu namespaces; the server took up to %.1f s\n",
        after, gap.seconds, gaps, slowest);
  }
  void Mark() {
    (void)fleet_->TakeSlowest();
    judge_->Mark();
  }
  bool Works(const std::string& name) { return judge_->Owners().contains(name); }
  // A member that works on something: the assigner, or one that is not.
  std::string Pick(bool assigner) {
    const std::string makes_the_map = fleet_->Assigner();
    if (assigner) return makes_the_map;
    for (const auto& [name, replica] : fleet_->replicas()) {
      if (name != makes_the_map && Works(name)) return name;
    }
    return "";
  }

  std::string folder_;
  std::optional<Fleet> fleet_;
  std::optional<Judge> judge_;
  int wanted_ = 1;
};

TEST_P(ShardedManagersTest, KeepTheirPromisesWhenProcessesAreSuspendedKilledAndStopped) {
  ASSERT_TRUE(AllDone(fleet_->size()));
  ASSERT_TRUE(Eventually([&] { return judge_->Owners().size() == 4; }, 90s));
  for (const auto& [name, filters] : judge_->Filters()) EXPECT_EQ(filters, GetParam().gate ? "yes" : "no") << name;

  // A call is under way when the process stops, and goes on long after others have taken its namespaces over.
  const std::string suspended = Pick(GetParam().suspends_the_assigner);
  ASSERT_TRUE(Works(suspended)) << suspended;
  fleet_->Hold(judge_->NamespacesOf(suspended).front(), suspended, ++wanted_);
  ASSERT_TRUE(Eventually([&] { return fleet_->at(suspended).HasPrinted("holds "); }));
  fleet_->at(suspended).Signal(SIGSTOP);
  const auto since = std::chrono::steady_clock::now();
  Mark();
  WorkGoesOn(kAfterDeath, "suspended");

  const std::string killed = Pick(!GetParam().suspends_the_assigner);
  ASSERT_TRUE(Works(killed)) << killed;
  Mark();
  fleet_->at(killed).Signal(SIGKILL);
  WorkGoesOn(kAfterDeath, "killed");
  fleet_->Drop(killed);

  std::this_thread::sleep_until(since + 40s);
  fleet_->at(suspended).Signal(SIGCONT);
  EXPECT_EQ(fleet_->at(suspended).Wait(20s), kEndedWithAnError);
  EXPECT_THAT(fleet_->at(suspended).Log(), HasSubstr("refused "));
  EXPECT_THAT(fleet_->at(suspended).Log(), HasSubstr("ended: "));
  fleet_->Drop(suspended);

  const std::string leaves = Pick(!GetParam().suspends_the_assigner);
  Mark();
  fleet_->at(leaves).Signal(SIGTERM);
  WorkGoesOn(kAfterLeaving, "left");
  EXPECT_EQ(fleet_->at(leaves).Wait(20s), 0);
  fleet_->Drop(leaves);
  EXPECT_EQ(judge_->Owners().size(), 1u);

  Replica& last = *fleet_->replicas().begin()->second;
  last.Signal(SIGTERM);
  EXPECT_EQ(last.Wait(20s), 0);
  EXPECT_THAT(judge_->Faults(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Servers, ShardedManagersTest, ::testing::Values(Server{false, false}, Server{true, true}),
                         [](const auto& info) {
                           return std::string(info.param.gate ? "WithTheGate" : "WithoutTheGate");
                         });

}  // namespace
}  // namespace kgen::integration
