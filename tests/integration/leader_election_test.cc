// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LeaderElector and client-go's elector (tests/integration/controller/elect.go) as candidates for one Lease of a real
// API server. Each writes to one ConfigMap while it leads, and a watch shows in which order their writes came.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <k8s/clientset.h>
#include <k8s/coordination/v1/client.h>
#include <k8s/coordination/v1/types.h>
#include <k8s/core/v1/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kgen/controller/leader_election.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/programs/program.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using k8s::core::v1::ConfigMap;
using test_support::Program;
using ::testing::ElementsAre;

// Blocking work that its destructor waits for.
class Work {
 public:
  explicit Work(std::function<void(std::stop_token)> body) {
    DefaultExecutor()->Blocking("test", [body = std::move(body), token = stop_.get_token(), ended = ended_] {
      body(token);
      ended->Notify();
    });
  }
  ~Work() {
    stop_.request_stop();
    (void)ended_->Wait();
  }

 private:
  std::stop_source stop_;
  Shared<Waiter> ended_ = DefaultExecutor()->MakeWaiter("the work of a test");
};

// A candidate of this process, which writes the Lease as client-go's elector does.
class Candidate {
 public:
  Candidate(const Connection& connection, const std::string& in_namespace, const std::string& identity)
      : elector_(Must(LeaderElector::New(connection, {.name = "shop",
                                                      .namespace_ = in_namespace,
                                                      .identity = identity,
                                                      .lease_duration = 6s,
                                                      .renew_deadline = 4s,
                                                      .retry_period = 1s}))) {
    const auto maps = k8s::Clientset(connection.With(elector_->guard())).CoreV1().ConfigMaps(in_namespace);
    work_.emplace([elector = elector_, maps, identity](const std::stop_token& stop) mutable {
      if (!elector->Acquire(stop)) return;
      elector.reset();  // see Vanish()
      const auto pause = DefaultExecutor()->MakeWaiter("pause");
      for (int n = 0; !stop.stop_requested(); ++n) {
        const std::string patch = R"({"data":{"by":")" + identity + R"(","n":")" + std::to_string(n) + R"("}})";
        (void)maps.Patch("work", MergePatch(patch));
        (void)pause->Wait({}, DefaultExecutor()->clock()->Now() + 50ms);
      }
    });
  }
  bool leads() const { return elector_->IsLeader(); }
  Result<void> Release() {
    work_.reset();  // waits for it
    return elector_->Release();
  }
  // Ends as a process would that cannot release the Lease. The work goes on, and the guard stops its writes.
  void Vanish() { elector_.reset(); }

 private:
  std::optional<LeaderElector> elector_;
  std::optional<Work> work_;
};

class LeaderElectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    program_ = test_support::SourcePath("build/controller");
    if (!std::filesystem::exists(program_)) GTEST_SKIP() << "no " << program_ << ": ./dev integration builds it";
    connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    namespace_ = "election-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    const k8s::Clientset clientset(*connection_);
    Must(clientset.CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
    Must(clientset.CoreV1().ConfigMaps(namespace_).Create({.metadata = {.name = "work"}}));
    watch_.emplace([this, maps = clientset.CoreV1().ConfigMaps(namespace_)](const std::stop_token& stop) {
      auto watcher = Must(maps.Watch({.field_selector = "metadata.name=work"}));
      while (const auto event = watcher.Next(stop)) {
        const std::string by(event->object->data["by"].view());
        const std::lock_guard lock(mutex_);
        if (!by.empty() && (terms_.empty() || terms_.back() != by)) terms_.push_back(by);
        ++writes_;
      }
    });
  }
  std::unique_ptr<Program> ClientGo(const std::string& identity) {
    return std::make_unique<Program>(
        program_, std::vector<std::string>{"elect", RealApiServer::Kubeconfig(), namespace_, identity},
        std::vector<std::string>{});
  }
  std::unique_ptr<Candidate> Ours(const std::string& identity) {
    return std::make_unique<Candidate>(*connection_, namespace_, identity);
  }
  std::vector<std::string> Terms() {
    const std::lock_guard lock(mutex_);
    return terms_;
  }
  // Waits until writes of that candidate come, and for some more.
  void ExpectTerm(const std::string& identity) {
    EXPECT_TRUE(Eventually([&] { return !Terms().empty() && Terms().back() == identity; }, 30s)) << identity;
    const int before = writes_;
    EXPECT_TRUE(Eventually([&] { return writes_ > before + 30; }, 30s)) << identity;
  }

  std::string program_, namespace_;
  std::optional<Connection> connection_;
  std::mutex mutex_;
  std::vector<std::string> terms_;  // who wrote, without repetitions
  std::atomic<int> writes_ = 0;
  std::optional<Work> watch_;  // after what it uses
};

// Contract: controller 26, 29, 31.
TEST_F(LeaderElectionTest, AlternatesWithClientGoAndNeverBothWrite) {
  auto go_1 = ClientGo("go-1");
  ExpectTerm("go-1");
  auto ours_1 = Ours("ours-1");
  auto standby = Ours("ours-2");
  ASSERT_TRUE(go_1->Prints("leader go-1"));
  go_1->Signal(SIGTERM);  // releases
  EXPECT_EQ(go_1->Wait(), 0) << go_1->errors();
  ASSERT_TRUE(Eventually([&] { return ours_1->leads() || standby->leads(); }));
  if (!ours_1->leads()) std::swap(ours_1, standby);
  const std::string first =
      Must(Eventually([&] { return Terms().size() == 2; }) ? Result<std::string>(Terms().back())
                                                           : Fail(Code::kInternal, "no write of ours came"));
  ExpectTerm(first);
  (void)standby->Release();  // it has never led

  auto go_2 = ClientGo("go-2");
  ASSERT_TRUE(go_2->Prints("leader " + first));
  EXPECT_TRUE(ours_1->Release());
  ExpectTerm("go-2");

  auto ours_3 = Ours("ours-3");
  go_2->Signal(SIGKILL);  // does not release
  const auto killed = std::chrono::steady_clock::now();
  ExpectTerm("ours-3");
  EXPECT_GE(std::chrono::steady_clock::now() - killed, 4s);

  auto go_3 = ClientGo("go-3");
  ASSERT_TRUE(go_3->Prints("leader ours-3"));
  ours_3->Vanish();
  ExpectTerm("go-3");
  EXPECT_THAT(Terms(), ElementsAre("go-1", first, "go-2", "ours-3", "go-3"));

  const auto lease = Must(k8s::Clientset(*connection_).CoordinationV1().Leases(namespace_).Get("shop"));
  EXPECT_EQ(lease.spec->holderIdentity, "go-3");
  EXPECT_EQ(*lease.spec->leaseTransitions, 4);
  EXPECT_EQ(*lease.spec->leaseDurationSeconds, 6);
  go_3->Signal(SIGTERM);
  EXPECT_EQ(go_3->Wait(), 0) << go_3->errors();
}

// The control plane chooses.
class CoordinatedElectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    RealApiServer::RestartWithFlags(
        "--feature-gates=CoordinatedLeaderElection=true --runtime-config=coordination.k8s.io/v1beta1=true");
    connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    namespace_ = "coordinated-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    Must(k8s::Clientset(*connection_).CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
  }
  void TearDown() override {
    if (RealApiServer::Present()) RealApiServer::RestartWithFlags("");
  }
  LeaderElector Of(const std::string& identity, const std::string& version) {
    return Must(LeaderElector::New(*connection_, {.name = "shop",
                                                  .namespace_ = namespace_,
                                                  .identity = identity,
                                                  .coordinated = CoordinatedElection{.binary_version = version}}));
  }

  std::optional<Connection> connection_;
  std::string namespace_;
};

TEST_F(CoordinatedElectionTest, TheControlPlaneGivesTheLeaseToTheOldestVersion) {
  const LeaderElector recent = Of("recent", "1.5.0");
  std::optional<Error> lost;
  Work leads([&](const std::stop_token& stop) {
    if (!recent.Acquire(stop)) return;
    if (const Result<void> held = recent.WaitUntilLost(stop); !held) {
      lost = held.error();
      (void)recent.Release();
    }
  });
  ASSERT_TRUE(Eventually([&] { return recent.IsLeader(); }, 60s));

  const LeaderElector old = Of("old", "1.4.0");
  Work follows([&](const std::stop_token& stop) {
    if (old.Acquire(stop)) (void)old.WaitUntilLost(stop);
  });
  ASSERT_TRUE(Eventually([&] { return old.IsLeader(); }, 120s));
  EXPECT_FALSE(recent.IsLeader());
  const auto leases = k8s::Clientset(*connection_).CoordinationV1().Leases(namespace_);
  const auto taken = Must(leases.Get("shop"));
  EXPECT_EQ(taken.spec->holderIdentity, "old");
  EXPECT_EQ(taken.spec->strategy, "OldestEmulationVersion");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->code(), Code::kConflict);
  EXPECT_THAT(lost->ToString(), ::testing::HasSubstr("the control plane gives the lease to old"));
}

}  // namespace
}  // namespace kgen::integration
