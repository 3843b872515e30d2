// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Pages of the user's own at the endpoint. endpoint_access_test.cc has tokens, manager_threads_test.cc a manager.
#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "tests/runtime/controller/serve/endpoint_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EndpointPagesTest : public EndpointTest {
 protected:
  // "added", or why not.
  std::string Add(std::string_view path, Endpoint::Page page = Text("x")) {
    const auto added = server_->AddPage(path, std::move(page));
    EXPECT_TRUE(added || added.error().code() == Code::kInvalidArgument);
    return added ? "added" : added.error().message();
  }
  static Endpoint::Page Text(const std::string& body) {
    return [body](const std::stop_token&) { return EndpointPage{.body = body}; };
  }
};

TEST_F(EndpointPagesTest, AreServedAtExactlyTheirPaths) {
  Listen();
  Must(server_->AddPage("/orders", Text("3 open")));
  Must(server_->AddPage("/orders/open.json", [](const std::stop_token&) {
    return EndpointPage{.body = "[]", .content_type = "application/json"};
  }));
  Start();
  EXPECT_EQ(Ask("/orders"), "200 3 open");
  EXPECT_THAT(Get("/orders"), HasSubstr("content-type: text/plain; charset=utf-8\r\n"));
  EXPECT_THAT(Get("/orders/open.json?a=b"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("content-type: application/json\r\n")));
  for (const char* path : {"/", "/order", "/orders/", "/orders/open", "/Orders", "//orders"}) {
    EXPECT_THAT(Ask(path), StartsWith("404 ")) << path;
  }
  EXPECT_EQ(BodyOf(Send(Request("/orders", "", "HEAD"))), "");
  EXPECT_EQ(StatusOf(Send(Request("/orders", "", "POST"))), "405");
}

TEST_F(EndpointPagesTest, AreRefusedWithABadReservedOrTakenPath) {
  Listen();
  EXPECT_EQ(Add("/orders"), "added");
  EXPECT_EQ(Add("/orders/open"), "added");
  EXPECT_EQ(Add("/healthz-of-orders"), "added");
  EXPECT_EQ(Add("/orders"), "endpoint /orders: the path is taken");
  EXPECT_EQ(Add("/empty", {}), "endpoint /empty: the function is empty");
  for (const char* path : {"", "orders", "/", "/a/", "//a", "/a//b", "/a b", "/a?b", "/a%20b", "/\xC3\xA4", "/a\n"}) {
    EXPECT_THAT(Add(path), HasSubstr("a path has parts such as /orders/open")) << path;
  }
  for (const char* path :
       {"/healthz", "/readyz", "/metrics", "/debug", "/healthz/a", "/readyz/a/b", "/metrics/a", "/debug/pprof"}) {
    EXPECT_THAT(Add(path), HasSubstr("the endpoint has this path itself")) << path;
  }
  Start();
  EXPECT_EQ(Add("/late"), "endpoint: '/late' was added after Start()");
}

TEST_F(EndpointPagesTest, AnswerAFailureAndAnExceptionWith500AndTellTheObserver) {
  Listen();
  Must(server_->AddPage("/throws", [](const std::stop_token&) -> Result<EndpointPage> {
    throw std::runtime_error("the secret reason");
  }));
  Must(server_->AddPage("/fails", [](const std::stop_token&) -> Result<EndpointPage> {
    return Fail(Code::kUnavailable, "no database");
  }));
  Must(server_->AddPage("/splits", [](const std::stop_token&) {
    return EndpointPage{.body = "x", .content_type = "text/plain\r\nset-cookie: a"};
  }));
  Start();
  for (const char* path : {"/throws", "/fails", "/splits"}) {
    EXPECT_EQ(Ask(path), "500 internal server error: reason withheld\n") << path;
  }
  EXPECT_THAT(reports_->lines, ElementsAre(AllOf(HasSubstr("/throws: "), HasSubstr("the secret reason")),
                                           AllOf(HasSubstr("/fails: "), HasSubstr("no database")),
                                           AllOf(HasSubstr("/splits: "), HasSubstr("control characters"))));
}

TEST_F(EndpointPagesTest, AFunctionThatHangsKeepsNoProbeWaitingAndFailsAfterTenSeconds) {
  Listen();
  const Shared<Waiter> release = executor_->MakeWaiter("the test");
  int runs = 0;
  bool stopped = false;
  Must(server_->AddPage("/hangs", [&](const std::stop_token& stop) {
    if (++runs == 1) (void)release->Wait();
    stopped = stop.stop_requested();
    return EndpointPage{.body = "done"};
  }));
  Start();
  const auto first = loop_->Dial(), second = loop_->Dial(), third = loop_->Dial(), probe = loop_->Dial();
  const auto at = [this](Nanos when, std::function<void()> what) {
    return executor_->manual_clock()->After(when, TimerKind::kProgress, std::move(what));
  };
  std::string early;
  const Timer join = at(1s, [&] { second->Receive(Request("/hangs")); });
  const Timer ask = at(2s, [&] { probe->Receive(Request("/healthz")); });
  const Timer look = at(9s, [&] { early = first->sent() + second->sent(); });
  const Timer late = at(11s, [&] { third->Receive(Request("/hangs")); });
  const Timer end = at(12s, [&] { release->Notify(); });
  first->Receive(Request("/hangs"));
  executor_->Run();
  EXPECT_THAT(probe->sent(), HasSubstr("200 OK"));
  EXPECT_EQ(early, "");
  for (const auto& each : {first, second, third}) EXPECT_THAT(each->sent(), StartsWith("HTTP/1.1 500 "));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(Ask("/hangs"), "200 done");
}

TEST_F(EndpointPagesTest, CountAmongThePagesThatMayWait) {
  Listen();
  Must(server_->AddPage("/orders", Text("x")));
  Start();
  std::vector<Shared<ManualStream>> clients;
  for (int i = 0; i < 70; ++i) {
    clients.push_back(loop_->Dial());
    clients.back()->Receive(Request("/orders"));
  }
  EXPECT_EQ(std::ranges::count_if(clients, [](const auto& each) { return each->closed(); }), 6);
  executor_->Run();
  EXPECT_THAT(clients.back()->sent(), HasSubstr("200 OK"));
}

TEST_F(EndpointPagesTest, LargeOnesCountAsLongAsTheyAreNotRead) {
  Listen();
  Must(server_->AddPage("/large", Text(std::string(1'000'000, 'x'))));
  Start();
  std::vector<Shared<ManualStream>> clients;
  for (int i = 0; i < 9; ++i) {  // one after the other, so that each has a text of its own
    clients.push_back(loop_->Dial());
    clients.back()->Hold();
    clients.back()->Receive(Request("/large"));
    executor_->Run();
  }
  EXPECT_EQ(std::ranges::count_if(clients, [](const auto& each) { return each->closed(); }), 1);
  EXPECT_TRUE(clients.front()->closed());
}

TEST_F(EndpointPagesTest, AreNotServedAtTheHealthAddress) {
  Listen({.address = "127.0.0.1:81", .health_address = "127.0.0.1:82"});
  Must(server_->AddPage("/orders", Text("x")));
  Start();
  const auto pages = loop_->Dial("127.0.0.1", 81), health = loop_->Dial("127.0.0.1", 82);
  for (const auto& each : {pages, health}) each->Receive(Request("/orders"));
  executor_->Run();
  EXPECT_EQ(StatusOf(pages->sent()), "200");
  EXPECT_EQ(StatusOf(health->sent()), "404");
}

}  // namespace
}  // namespace kgen::testing
