// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Three shard members on a real API server: they divide all hashes, one leaves in order, one loses the server, and no
// hash ever has two whose guards let writes through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/controller/shards.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;

// Sends nothing any more once it is cut.
class CutTransport final : public Transport {
 public:
  explicit CutTransport(Shared<Transport> inner) : inner_(std::move(inner)) {}
  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    if (!cut) return inner_->Start(std::move(request), std::move(sink));
    sink->OnEnd(Fail(Error::NotConnected("the network is gone")));
    return {};
  }
  void Close() noexcept override { inner_->Close(); }
  std::atomic<bool> cut = false;

 private:
  const Shared<Transport> inner_;
};

// The hashes at which ownership is looked at.
std::vector<std::uint64_t> Probes() {
  std::vector<std::uint64_t> probes;
  for (std::uint64_t n = 0; n < 64; ++n) probes.push_back(n << 58);
  return probes;
}

class Replica final {
 public:
  Replica(const rest::Config& config, const std::string& in_namespace, const std::string& identity)
      : transport_(MakeShared<CutTransport>(Must(MakeHttpTransport(config)))),
        member_(Must(ShardMember::New(Must(Connection::Over(config, transport_)),
                                      {.name = "shop",
                                       .namespace_ = in_namespace,
                                       .identity = identity,
                                       .lease_duration = 6s,
                                       .renew_deadline = 4s,
                                       .retry_period = 1s},
                                      MakeShared<Idle>()))) {
    DefaultExecutor()->Blocking("replica", [this, stop = stop_.get_token()] {
      result_ = member_.Run(stop);
      ended_->Notify();
    });
  }
  ~Replica() {
    stop_.request_stop();
    if (!waited_) (void)ended_->Wait();
  }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  const ShardMember& member() const { return member_; }
  void Cut() { transport_->cut = true; }
  Result<void> Leave() {
    stop_.request_stop();
    return Await();
  }
  Result<void> Await() {
    waited_ = true;
    if (Result<void> waited = ended_->Wait({}, DefaultExecutor()->clock()->Now() + 30s); !waited) return waited;
    return *result_;
  }

 private:
  struct Idle final : ShardWork {
    Result<void> Prepare(const ShardRanges&, const std::stop_token&) override { return {}; }
    void Start(const ShardRanges&, const ShardStart&) override {}
    std::optional<ShardVersions> Drain(const ShardRanges&) override { return ShardVersions{}; }
  };

  const Shared<CutTransport> transport_;
  const ShardMember member_;
  std::stop_source stop_{};
  const Shared<Waiter> ended_ = DefaultExecutor()->MakeWaiter("a replica");
  std::optional<Result<void>> result_{};
  bool waited_ = false;
};

class ShardsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    config_ = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    namespace_ = "shards-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    RealApiServer::Kubectl("create namespace " + namespace_);
  }
  void Add(const std::string& identity) {
    replicas_.push_back(std::make_unique<Replica>(config_, namespace_, identity));
  }
  // Whether each probe is owned. Fails the test if two may write for one at the same time: if the first one still may
  // after the second one was asked.
  bool AllOwned() {
    bool all = true;
    for (const std::uint64_t probe : Probes()) {
      const auto may_write = [&](const auto& each) { return each->member().guard(probe)->MaySend().has_value(); };
      for (const auto& one : replicas_) {
        for (const auto& other : replicas_) {
          EXPECT_FALSE(one != other && may_write(one) && may_write(other) && may_write(one)) << probe;
        }
      }
      all &= std::ranges::any_of(replicas_, [&](const auto& each) { return each->member().Owns(probe); });
    }
    return all;
  }

  rest::Config config_;
  std::string namespace_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

TEST_F(ShardsTest, AreHandedOverWhenMembersComeLeaveAndLoseTheServer) {
  Add("one");
  Add("two");
  Add("three");
  ASSERT_TRUE(Eventually([&] { return AllOwned(); }, 30s));  // the first map waits for a Lease's duration
  for (const auto& each : replicas_) EXPECT_FALSE(each->member().ranges().empty()) << each->member().lease();

  const Result<void> left = replicas_.back()->Leave();
  EXPECT_TRUE(left) << left.error();
  replicas_.pop_back();
  EXPECT_TRUE(Eventually([&] { return AllOwned(); }, 30s));
  EXPECT_EQ(RealApiServer::Kubectl("get leases -n " + namespace_ + " -l kgen.dev/shards=shop -o name"),
            "lease.coordination.k8s.io/shop-one\nlease.coordination.k8s.io/shop-two\n");

  // The assigner, which is the harder case.
  const bool first = replicas_[0]->member().status().assigner;
  Replica& gone = *replicas_[first ? 0 : 1];
  const Replica& stays = *replicas_[first ? 1 : 0];
  gone.Cut();
  const Result<void> lost = gone.Await();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), Code::kTimeout) << lost.error();
  EXPECT_TRUE(Eventually([&] { return stays.member().ranges() == ShardRanges::All(); }, 30s));
  EXPECT_TRUE(AllOwned());
}

}  // namespace
}  // namespace kgen::integration
