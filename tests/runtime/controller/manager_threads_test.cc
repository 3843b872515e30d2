// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A manager with an endpoint, over the network, on threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/coordination/v1/types.h>
#include <k8s/core/v1/types.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <thread>

#include "kgen/client/config.h"
#include "kgen/controller/manager.h"
#include "kgen/controller/terminal_error.h"
#include "kgen/core/executor.h"
#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using k8s::coordination::v1::Lease;
using k8s::core::v1::ConfigMap;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

std::string Fetch(const std::string& address, const std::string& target, const std::string& accept = "*/*") {
  const std::size_t colon = address.rfind(':');
  boost::asio::ip::tcp::iostream stream;
  stream.expires_after(std::chrono::seconds(60));
  stream.connect(address.substr(0, colon), address.substr(colon + 1));
  stream << "GET " << target << " HTTP/1.1\r\nHost: h\r\nAccept: " << accept << "\r\nConnection: close\r\n\r\n";
  stream.flush();
  return {std::istreambuf_iterator<char>(stream), {}};
}

nlohmann::json DebugJson(const Manager& manager) {
  const std::string response = Fetch(manager.endpoint_address(), "/debug", "application/json");
  return nlohmann::json::parse(response.substr(response.find("\r\n\r\n") + 4));
}

template <typename Done>
bool Eventually(Done done) {
  for (const TimePoint end = SystemClock()->Now() + std::chrono::seconds(30); SystemClock()->Now() < end;) {
    if (done()) return true;
    std::this_thread::yield();
  }
  return false;
}

// Contract: controller 9.
TEST(ManagerThreadsTest, ServesItsEndpointWhileItsCachesSync) {
  testing::Cluster cluster({.simulated = false});
  const std::string kubeconfig = ::testing::TempDir() + "/manager_threads_kubeconfig";
  std::ofstream(kubeconfig) << Must(cluster.Serve());
  rest::Config config = Must(rest::LoadConfig({.kubeconfig = kubeconfig}));
  std::remove(kubeconfig.c_str());
  config.observer = NullObserver();
  cluster.Inject({.resource = "configmaps", .times = testing::kAlways, .stall = true});
  const Manager manager = Must(Manager::New(config, {.endpoint = {.address = "127.0.0.1:0"}}));
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  EXPECT_THAT(Fetch(manager.endpoint_address(), "/healthz"), StartsWith("HTTP/1.1 200 "));
  const std::string ready = Fetch(manager.endpoint_address(), "/readyz");
  EXPECT_THAT(ready, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(ready, HasSubstr("[-]caches failed"));
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

TEST(ManagerThreadsTest, ServesHealthApartFromTheRestIfItHasAnAddressOfItsOwn) {
  testing::Cluster cluster({.simulated = false, .observer = NullObserver()});
  const Manager manager = Must(
      Manager::New(cluster.Connection(), {.endpoint = {.address = "127.0.0.1:0", .health_address = "127.0.0.1:0"}}));
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  EXPECT_NE(manager.endpoint_health_address(), manager.endpoint_address());
  EXPECT_THAT(Fetch(manager.endpoint_health_address(), "/healthz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Fetch(manager.endpoint_health_address(), "/metrics"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Fetch(manager.endpoint_address(), "/metrics"), StartsWith("HTTP/1.1 200 "));
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

// The program of docs/controllers.md.
TEST(ManagerThreadsTest, ServesPagesOfTheUsersOwn) {
  testing::Cluster cluster({.simulated = false, .observer = NullObserver()});
  std::atomic<int> open = 3;
  const Manager manager = Must(Manager::New(cluster.Connection(), {.endpoint = {.address = "127.0.0.1:0"}}));
  Must(manager.AddPage("/orders", [&](const std::stop_token&) {
    return EndpointPage{.body = "{\"open\": " + std::to_string(open) + "}\n", .content_type = "application/json"};
  }));
  EXPECT_FALSE(manager.AddPage("/metrics", [](const std::stop_token&) { return EndpointPage(); }).has_value());
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  EXPECT_THAT(Fetch(manager.endpoint_address(), "/orders"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("application/json"), HasSubstr("\r\n\r\n{\"open\": 3}\n")));
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

TEST(ManagerThreadsTest, TheDebugPageSaysWhoHoldsTheLeaseAndWhyItCannotBeHad) {
  testing::Cluster cluster({.simulated = false, .observer = NullObserver()});
  cluster.Inject({.resource = "leases", .times = testing::kAlways, .status = 403, .reason = "Forbidden"});
  const Manager manager = Must(Manager::New(
      cluster.Connection(),
      {.leader_election = {.name = "shop", .namespace_ = "default", .identity = "first", .retry_period = 50ms},
       .endpoint = {.address = "127.0.0.1:0"}}));
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  std::string page;
  const auto shows = [&](std::string_view text) {
    return Eventually([&] { return (page = Fetch(manager.endpoint_address(), "/debug")).contains(text); });
  };
  EXPECT_TRUE(
      shows("# leader\ndefault/shop has no known holder; this process, \"first\", does not lead; "
            "the last attempt failed: "))
      << page;
  EXPECT_THAT(page, ContainsRegex("failed: [^\n]*leases[^\n]*\\(Forbidden, 403\\)\n"));
  Lease other{.metadata = {.name = "shop", .namespace_ = "default"}};
  other.spec->holderIdentity = "other";
  other.spec->leaseDurationSeconds = 3600;
  Must(cluster.Add(other));
  cluster.ClearFaults();
  EXPECT_TRUE(shows("\ndefault/shop was last seen held by \"other\"; this process, \"first\", does not lead\n"))
      << page;
  Must(cluster.Delete("leases", "default", "shop"));
  EXPECT_TRUE(shows("\ndefault/shop is held by this process, \"first\"\n")) << page;
  EXPECT_TRUE(DebugJson(manager)["leader"]["election"][0]["since"].get<std::string>().starts_with("20"));
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

TEST(ManagerThreadsTest, TheDebugPageHasTheLastCallsWithReasonsAndWithoutValues) {
  testing::Cluster cluster({.simulated = false, .observer = NullObserver()});
  for (const std::string_view name : {"a", "fails", "b"}) {
    Must(cluster.Add(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}, .data = {{"key", "a-value"}}}));
  }
  const Manager manager = Must(Manager::New(cluster.Connection(), {.endpoint = {.address = "127.0.0.1:0"}}));
  std::atomic<int> calls = 0;
  std::string id;  // of the call that fails
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    const Ref<const ConfigMap> map = Must(request.Get<ConfigMap>());
    ++calls;
    if (map->metadata.name.view() == "a") return Requeue::After(1h);
    if (map->metadata.name.view() == "b") return Requeue::Done();
    id = request.id();
    return Fail(TerminalError(Error(Code::kInvalid, "spec.key: " + map->data["key"].str())));
  }));
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  nlohmann::json page;
  ASSERT_TRUE(Eventually([&] {
    page = DebugJson(manager);
    return page["controllers"]["last_reconciles"].size() == 3;
  }));
  std::map<std::string, nlohmann::json> by_object;
  for (const auto& call : page["controllers"]["last_reconciles"]) by_object[call["object"]] = call;
  EXPECT_EQ(by_object["default/a"]["result"], "again after 1h00m");
  EXPECT_EQ(by_object["default/b"]["result"], "done");
  EXPECT_EQ(by_object["default/b"]["reasons"], "initial");
  EXPECT_EQ(by_object["default/fails"]["result"], "terminal error: Invalid");
  EXPECT_EQ(by_object["default/fails"]["id"], id);
  EXPECT_EQ(page["controllers"]["totals"][0]["calls"], 3);
  EXPECT_EQ(page["controllers"]["totals"][0]["failed"], 1);
  EXPECT_EQ(page["queues"]["waiting"],
            nlohmann::json::parse(R"([{"controller": "maps", "object": "default/a", "reason": "requeued"}])"));
  EXPECT_EQ(page["queues"]["depths"][0]["depth"], 0);
  EXPECT_TRUE(page["queues"]["depths"][0].contains("add_rate"));
  EXPECT_TRUE(page["controllers"]["totals"][0].contains("call_rate"));
  EXPECT_EQ(page["caches"]["informers"][0]["objects"], 3);
  EXPECT_EQ(page["caches"]["informers"][0]["state"], "watching");
  EXPECT_EQ(page["handlers"]["slowest_handlers"][0]["calls"], 3);
  EXPECT_EQ(page["history"]["plots"]["queue_depth"]["lines"]["maps"].size(), 120u);
  EXPECT_EQ(page["connection"]["server"][0]["state"], "works");
  EXPECT_EQ(page["leader"]["text"], "no election\n");
  for (const char* form : {"text/html", "application/json", "text/plain"}) {
    EXPECT_THAT(Fetch(manager.endpoint_address(), "/debug", form),
                AllOf(HasSubstr("fails"), Not(HasSubstr("a-value"))));
  }
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

// A manager whose user code holds every thread for blocking work.
class FullPoolTest : public ::testing::Test {
 protected:
  static constexpr int kThreads = 8;  // for blocking work

  struct Limits final : Observer {
    void OnLimiterWaited(const LimiterWaited& event) override { reached = reached || event.what == "executor threads"; }
    std::atomic<bool> reached = false;
  };

  FullPoolTest() {
    const std::string kubeconfig = ::testing::TempDir() + "/full_pool_kubeconfig";
    std::ofstream(kubeconfig) << Must(cluster_.Serve());
    config_ = Must(rest::LoadConfig({.kubeconfig = kubeconfig}));
    std::remove(kubeconfig.c_str());
    config_.observer = limits_;
    config_.executor = Must(MakeThreadPool({.threads = 2, .max_threads = 2 + kThreads}));
  }
  // Waits for the calls that hang: they use the members.
  ~FullPoolTest() override {
    hang_.request_stop();
    for (int left = blocking_; left != 0; left = blocking_) blocking_.wait(left);
  }

  // Hands the pool a call that hangs until `hang_` stops.
  void HangInThePool() {
    ++blocking_;
    config_.executor->Blocking("hangs", [this] {
      Hang();
      --blocking_;
      blocking_.notify_all();
    });
  }
  void Hang() { (void)config_.executor->MakeWaiter("the test")->Wait(hang_.get_token()); }
  std::string Lease() { return cluster_.Get("leases", "default", "shop").value_or(""); }

  testing::Cluster cluster_{{.simulated = false}};
  const Shared<Limits> limits_ = MakeShared<Limits>();
  std::atomic<int> blocking_ = 0;  // calls in the pool that have not ended
  rest::Config config_;
  std::stop_source hang_;
};

TEST_F(FullPoolTest, ProbesAndTheLeaseWaitForNoCallThatHangs) {
  const Manager manager = Must(Manager::New(
      config_,
      {.leader_election = {.name = "shop", .namespace_ = "default", .retry_period = std::chrono::milliseconds(50)},
       .endpoint = {.address = "127.0.0.1:0"}}));
  std::atomic<int> calls = 0;
  Must(manager.Control<ConfigMap>("maps").MaxConcurrentReconciles(3).Reconcile([&](Request&) -> Result<void> {
    ++calls;
    Hang();
    return {};
  }));
  for (const char* name : {"a", "b", "c"}) {
    Must(cluster_.Add(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}}));
  }
  std::stop_source stop;
  Result<void> result;
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  ASSERT_TRUE(Eventually([&] { return calls == 3; }));
  for (int i = 0; i < 2 * kThreads; ++i) HangInThePool();
  ASSERT_TRUE(Eventually([&] { return limits_->reached.load(); }));

  EXPECT_THAT(Fetch(manager.endpoint_address(), "/healthz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(Eventually([&] { return Fetch(manager.endpoint_address(), "/readyz").starts_with("HTTP/1.1 200 "); }));
  EXPECT_THAT(Fetch(manager.endpoint_address(), "/metrics"), HasSubstr("leader_election_master_status"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Eventually([&, before = Lease()] { return Lease() != before; })) << "not renewed";
  }
  EXPECT_TRUE(manager.IsLeader());
  hang_.request_stop();
  stop.request_stop();
  run.join();
  EXPECT_TRUE(result) << result;
}

TEST_F(FullPoolTest, RefusesMoreWorkersThanThereAreThreads) {
  const auto made = Manager::New(config_, {.controllers = {.max_concurrent_reconciles = kThreads}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(made.error().message(), HasSubstr("raise ExecutorOptions::max_threads by 1"));

  const Manager manager = Must(Manager::New(config_));
  const auto add = [&manager](std::string_view name, int workers) {
    const auto added = manager.Control<ConfigMap>(name).MaxConcurrentReconciles(workers).Reconcile(
        [](Request&) -> Result<void> { return {}; });
    return added ? "added" : added.error().ToString();
  };
  EXPECT_EQ(add("a", 4), "added");
  EXPECT_THAT(add("b", 4), AllOf(HasSubstr("controller b"), HasSubstr("8 threads"), HasSubstr("max_threads by 1")));
  EXPECT_EQ(add("b", 3), "added");
}

}  // namespace
}  // namespace kgen
