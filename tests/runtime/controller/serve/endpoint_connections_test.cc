// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which connections of an endpoint stay when there are too many, and what becomes of those that do not read: in virtual
// time. endpoint_hostile_test.cc has sockets.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/runtime/controller/serve/endpoint_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EndpointConnectionsTest : public EndpointTest {
 protected:
  using Clients = std::vector<Shared<ManualStream>>;

  // Has a page that is made only when the test says so.
  void ListenWithAPage(std::size_t bytes = 1) {
    Listen();
    Must(server_->AddSection("page", [bytes] { return controller::DebugSection{.text = std::string(bytes, 'x')}; }));
    Start();
  }
  Clients Many(int count, std::string_view bytes, const std::string& ip = "10.0.0.1") {
    Clients clients;
    for (int i = 0; i < count; ++i) {
      clients.push_back(loop_->Dial(ip));
      clients.back()->Receive(bytes);
    }
    return clients;
  }
  static long Closed(const Clients& clients) {
    return std::ranges::count_if(clients, [](const auto& each) { return each->closed(); });
  }
};

TEST_F(EndpointConnectionsTest, OneAddressThatOpensManyTakesNoConnectionOfAnother) {
  ListenWithAPage();
  const auto kubelet = loop_->Dial("10.0.0.2");
  kubelet->Receive("GET /healthz HTTP/1.1\r\n");
  const Clients flood = Many(1000, "GET /healthz HTTP/1.1\r\n");
  EXPECT_FALSE(kubelet->closed());
  kubelet->Receive("Host: h\r\n\r\n");
  executor_->Run();
  EXPECT_THAT(kubelet->sent(), HasSubstr("200 OK"));
  EXPECT_EQ(Closed(flood), 1001 - 256);
  EXPECT_FALSE(flood.back()->closed());  // the newest of them stay
}

TEST_F(EndpointConnectionsTest, AllFromOneAddressHaveAllConnections) {
  ListenWithAPage();
  EXPECT_EQ(Closed(Many(256, "G")), 0);
}

TEST_F(EndpointConnectionsTest, ALimitedNumberWaitsForPages) {
  ListenWithAPage();
  const Clients pages = Many(70, Request("/debug"));
  EXPECT_EQ(Closed(pages), 6);
  for (std::size_t i = 0; i < pages.size(); ++i) EXPECT_EQ(pages[i]->closed(), i < 6) << i;  // the oldest
  executor_->Run();
  EXPECT_THAT(pages.back()->sent(), HasSubstr("200 OK"));
}

TEST_F(EndpointConnectionsTest, ANewcomerIsServedEvenIfAllConnectionsHaveARequest) {
  ListenWithAPage();
  const Clients pages = Many(64, Request("/debug")), probes = Many(192, Request("/readyz"));
  EXPECT_EQ(Closed(pages) + Closed(probes), 0);
  const auto kubelet = loop_->Dial("10.0.0.2");
  kubelet->Receive(Request("/healthz"));
  EXPECT_TRUE(pages.front()->closed());
  executor_->Run();
  EXPECT_THAT(kubelet->sent(), HasSubstr("200 OK"));
  EXPECT_EQ(Closed(pages) + Closed(probes), 1);
}

TEST_F(EndpointConnectionsTest, WaitingConnectionsBeforeTheStartGiveWayToNewOnes) {
  Listen();
  const Clients early = Many(300, "");
  EXPECT_EQ(Closed(early), 300 - 256);
  EXPECT_TRUE(early.front()->closed());
  Start();
  early.back()->Receive(Request("/healthz"));
  executor_->Run();
  EXPECT_THAT(early.back()->sent(), HasSubstr("200 OK"));
}

TEST_F(EndpointConnectionsTest, ClosesAReaderThatTakesNothingForTenSeconds) {
  ListenWithAPage(1'000'000);
  const auto idle = loop_->Dial(), slow = loop_->Dial();
  for (const auto& each : {idle, slow}) {
    each->Hold();
    each->Receive(Request("/debug"));
  }
  executor_->Run();
  EXPECT_LE(idle->backlog(), 65'000u + 1000u);  // the rest waits in the one text that both share
  executor_->Advance(9s);
  EXPECT_FALSE(idle->closed());
  slow->Take(1);
  executor_->Advance(4s);
  EXPECT_TRUE(idle->closed());
  for (int i = 0; i < 7; ++i) {
    EXPECT_FALSE(slow->closed());
    slow->Take(1);
    executor_->Advance(9s);
  }
  executor_->Advance(4s);
  EXPECT_TRUE(slow->closed());
}

TEST_F(EndpointConnectionsTest, AReaderThatTakesEverythingKeepsItsConnection) {
  ListenWithAPage(1'000'000);
  const auto client = loop_->Dial();
  client->Hold();
  client->Receive(Request("/debug"));
  executor_->Run();
  while (client->backlog() > 0) {
    client->Take(client->backlog());
    executor_->Advance(3s);  // longer than a look at the reader, and each time the same backlog
  }
  EXPECT_GT(client->sent().size(), 1'000'000u);
  executor_->Advance(60s);
  EXPECT_FALSE(client->closed());
}

TEST_F(EndpointConnectionsTest, HoldsFewLargePagesThatNobodyReads) {
  ListenWithAPage(1'000'000);
  Clients clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(loop_->Dial());
    clients.back()->Hold();
    clients.back()->Receive(Request("/debug"));
    executor_->Run();  // so that each gets a page of its own
  }
  EXPECT_EQ(Closed(clients), 20 - 8);
  EXPECT_FALSE(clients.back()->closed());
}

TEST_F(EndpointConnectionsTest, ServesHealthAtAnAddressOfItsOwn) {
  Listen({.address = "127.0.0.1:81", .health_address = ":82"});
  EXPECT_EQ(server_->address(), "127.0.0.1:81");
  EXPECT_EQ(server_->health_address(), "[::]:82");
  Must(server_->AddSection("page", [] { return controller::DebugSection{.text = "x"}; }));
  Start();
  const auto ask = [this](std::uint16_t port, std::string_view target) {
    const auto client = loop_->Dial("10.0.0.1", port);
    client->Receive(Request(target));
    executor_->Run();
    return StatusOf(client->sent());
  };
  EXPECT_EQ(ask(82, "/healthz"), "200");
  EXPECT_EQ(ask(82, "/readyz"), "200");
  EXPECT_EQ(ask(82, "/debug"), "404");
  EXPECT_EQ(ask(81, "/debug"), "200");
  EXPECT_EQ(ask(81, "/healthz"), "404");
  Must(server_->Stop(1s));
  EXPECT_FALSE(loop_->listening());
}

TEST_F(EndpointConnectionsTest, ServesHealthAlone) {
  Listen({.address = "", .health_address = "127.0.0.1:82"});
  EXPECT_EQ(server_->address(), "");
  EXPECT_EQ(server_->health_address(), "127.0.0.1:82");
  Must(server_->AddSection("page", [] { return controller::DebugSection{.text = "x"}; }));
  Start();
  EXPECT_EQ(Ask("/readyz"), "200 ok");
  EXPECT_THAT(Ask("/debug"), StartsWith("404 "));
}

TEST_F(EndpointConnectionsTest, OpensNeitherAddressIfOneIsMalformed) {
  const auto server =
      Server::Listen({.address = "127.0.0.1:81", .health_address = "nowhere", .executor = executor_}, loop_);
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().message(), HasSubstr("'nowhere'"));
  executor_->Run();
  EXPECT_FALSE(loop_->listening());
}

}  // namespace
}  // namespace kgen::testing
