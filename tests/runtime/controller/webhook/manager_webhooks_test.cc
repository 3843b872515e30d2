// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The webhook server in the life of a manager.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "kgen/controller/manager.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/controller/webhook/webhook_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using k8s::core::v1::ConfigMap;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The whole response to one request, "" if there is none.
std::string Exchange(const std::string& address, const std::string& request, bool tls) {
  boost::asio::io_context io;
  boost::asio::ssl::context context(boost::asio::ssl::context::tls_client);
  boost::asio::ssl::stream<tcp::socket> stream(io, context);
  boost::system::error_code failure;
  const std::size_t colon = address.rfind(':');
  stream.next_layer().connect({boost::asio::ip::make_address(address.substr(0, colon)),
                               static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)))},
                              failure);
  if (failure) return {};
  std::string response;
  if (tls) {
    (void)stream.handshake(boost::asio::ssl::stream_base::client, failure);
    boost::asio::write(stream, boost::asio::buffer(request), failure);
    boost::asio::read(stream, boost::asio::dynamic_buffer(response), failure);
  } else {
    boost::asio::write(stream.next_layer(), boost::asio::buffer(request), failure);
    boost::asio::read(stream.next_layer(), boost::asio::dynamic_buffer(response), failure);
  }
  return response;
}

std::string Review(const Manager& manager) {
  return Exchange(manager.webhook_address(), Post("/v", "{}", "Connection: close\r\n"), true);
}

std::string Get(const Manager& manager, const std::string& target) {
  return Exchange(manager.endpoint_address(), "GET " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
                  false);
}

template <typename Done>
bool Eventually(Done done) {
  for (const TimePoint end = SystemClock()->Now() + std::chrono::seconds(30); SystemClock()->Now() < end;) {
    if (done()) return true;
    std::this_thread::yield();
  }
  return false;
}

// Contract: controller 194, 195.
TEST(ManagerWebhooksTest, ServesBeforeItsCachesSyncAndForAWhileAfterAStop) {
  Cluster cluster({.simulated = false, .observer = NullObserver()});
  cluster.Inject({.resource = "configmaps", .times = kAlways, .stall = true});
  const Manager manager =
      Must(Manager::New(cluster.Connection(), {.endpoint = {.address = "127.0.0.1:0"},
                                               .webhooks = {.enabled = true, .address = "127.0.0.1:0", .drain = 3s}}));
  Must(detail::WebhookRoutesOf(manager)->Add("/v", MakeShared<FakeHandler>(Echo)));
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  std::stop_source stop;
  Result<void> result = Fail(Code::kInternal, "still running");
  std::jthread run([&] { result = manager.Run(stop.get_token()); });
  EXPECT_THAT(Review(manager), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("{\"got\":2}")));
  EXPECT_TRUE(Eventually([&] { return Get(manager, "/readyz/webhooks").starts_with("HTTP/1.1 200 "); }));
  EXPECT_THAT(Get(manager, "/readyz?verbose"), AllOf(HasSubstr("[+]webhooks ok"), HasSubstr("[-]caches failed")));
  EXPECT_THAT(Get(manager, "/metrics"),
              HasSubstr("controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/v\"} 1\n"));
  const TimePoint stopped = SystemClock()->Now();
  stop.request_stop();
  EXPECT_TRUE(Eventually([&] { return Get(manager, "/readyz/webhooks").starts_with("HTTP/1.1 500 "); }));
  EXPECT_THAT(Review(manager), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("connection: close")));
  run.join();
  EXPECT_TRUE(result) << result;
  EXPECT_GE(SystemClock()->Now(), stopped + 3s);
  EXPECT_EQ(Review(manager), "");
}

TEST(ManagerWebhooksTest, RunsWithDeclaredWebhooksWhileTheServerIsOff) {
  Cluster cluster;
  const Manager manager = Must(Manager::New(cluster.Connection()));
  const auto handler = MakeShared<FakeHandler>(Echo);
  Must(detail::WebhookRoutesOf(manager)->Add("/v", handler));
  EXPECT_EQ(manager.webhook_address(), "");
  std::stop_source stop;
  const auto ran = cluster.simulation().Spawn([manager, stop = stop.get_token()] { return manager.Run(stop); });
  cluster.RunUntilIdle();
  EXPECT_TRUE(manager.IsLeader());
  EXPECT_EQ(detail::WebhookRoutesOf(manager)->Find("/v")->Answer("{}", {}), "{\"got\":2}");
  const TimePoint before = cluster.simulation().clock()->Now();
  stop.request_stop();
  cluster.RunUntilIdle();
  ASSERT_TRUE(ran.done());
  EXPECT_TRUE(ran.result()) << ran.result();
  EXPECT_EQ(cluster.simulation().clock()->Now(), before);  // nothing drains
}

TEST(ManagerWebhooksTest, RefusesBadOptionsAndATakenAddressInNew) {
  Cluster cluster({.simulated = false, .observer = NullObserver()});
  const auto refused = [&](WebhookOptions options) {
    options.enabled = true;
    const auto manager = Manager::New(cluster.Connection(), {.webhooks = std::move(options)});
    return manager ? "accepted" : std::string(ToString(manager.error().code())) + " " + manager.error().ToString();
  };
  EXPECT_THAT(refused({.address = "127.0.0.1:0", .max_bytes = 1}),
              AllOf(StartsWith("InvalidArgument"), HasSubstr("new manager"), HasSubstr("max_bytes")));
  EXPECT_THAT(refused({.address = "nowhere"}), AllOf(StartsWith("Config"), HasSubstr("'nowhere'")));
  EXPECT_THAT(refused({.address = "127.0.0.1:0", .certificate = TlsFiles{"/nothing", "/nothing"}}),
              AllOf(StartsWith("Config"), HasSubstr("/nothing")));
  const Manager first =
      Must(Manager::New(cluster.Connection(), {.webhooks = {.enabled = true, .address = "127.0.0.1:0"}}));
  EXPECT_THAT(refused({.address = first.webhook_address()}), AllOf(StartsWith("Unavailable"), HasSubstr("in use")));
}

TEST(ManagerWebhooksTest, ClosesItsAddressIfItNeverRuns) {
  Cluster cluster({.simulated = false, .observer = NullObserver()});
  std::optional<Manager> first =
      Must(Manager::New(cluster.Connection(), {.webhooks = {.enabled = true, .address = "127.0.0.1:0"}}));
  const std::string address = first->webhook_address();
  first.reset();
  EXPECT_TRUE(Eventually([&] {
    return Manager::New(cluster.Connection(), {.webhooks = {.enabled = true, .address = address}}).has_value();
  }));
}

}  // namespace
}  // namespace kgen::testing
