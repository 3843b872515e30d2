// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The cluster without a simulation: the same server on real threads, as in the demonstration.
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/testing/cluster.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";

class CountingSink final : public StreamSink {
 public:
  explicit CountingSink(const Executor& executor) : done_(const_cast<Executor&>(executor).MakeWaiter("the events")) {}
  void OnOpen() override {}
  void OnBytes(std::string_view bytes) override {
    for (const char c : bytes) lines_ += c == '\n';
    if (lines_ >= 100) done_->Notify();
  }
  void OnEnd(Result<void>) override { done_->Notify(); }
  Shared<Waiter> done_;
  std::atomic<int> lines_ = 0;
};

TEST(ClusterInRealTime, ServesManyThreadsAtOnce) {
  Cluster cluster({.simulated = false});
  const auto connection = cluster.Connection();
  const auto sink = MakeShared<CountingSink>(connection.executor());
  ApiRequest request{.path = kPods, .query = "watch=true", .what = "watch pods"};
  request.watch = true;
  const auto call = connection.Stream(std::move(request), connection.executor().MakeStrand("watcher"), sink);
  std::atomic<int> created = 0;
  {
    std::vector<std::jthread> clients;
    for (int t = 0; t < 4; ++t) {
      clients.emplace_back([&, t] {
        for (int i = 0; i < 25; ++i) {
          ApiRequest create{.method = "POST", .path = kPods, .content_type = "application/json", .what = "create pods"};
          create.body = MinimalPod("default", "pod-" + std::to_string(t) + "-" + std::to_string(i)).json();
          if (connection.Call(std::move(create))) ++created;
        }
      });
    }
  }
  EXPECT_EQ(created, 100);
  EXPECT_EQ(cluster.List("pods").size(), 100u);
  EXPECT_TRUE(sink->done_->Wait({}, connection.clock().Now() + 30s));
  EXPECT_EQ(sink->lines_, 100);
  call->Cancel();
}

// Contract: design D11.
TEST(ClusterInRealTime, CanBeDestroyedWhileAWatchIsOpen) {
  Shared<CountingSink> sink;
  Shared<StreamCall> call;
  {
    Cluster cluster({.simulated = false});
    const auto connection = cluster.Connection();
    sink = MakeShared<CountingSink>(connection.executor());
    ApiRequest request{.path = kPods, .query = "watch=true", .what = "watch pods"};
    request.watch = true;
    call = connection.Stream(std::move(request), connection.executor().MakeStrand("watcher"), sink);
  }
  EXPECT_TRUE(sink->done_->Wait({}, SystemClock()->Now() + 30s));  // its end
  call->Cancel();
}

}  // namespace
}  // namespace kgen::testing
