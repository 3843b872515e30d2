// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a webhook server does when there is too much: reviews, bytes, connections, and clients that are too slow.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tests/runtime/controller/webhook/webhook_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class WebhookLimitsTest : public WebhookTest {
 protected:
  using Clients = std::vector<Shared<ManualStream>>;
  static constexpr int kConnections = 512;

  Clients Many(int count, std::string_view bytes) {
    Clients clients;
    for (int i = 0; i < count; ++i) {
      clients.push_back(loop_->Dial());
      if (!bytes.empty()) clients.back()->Receive(bytes);
    }
    return clients;
  }
  static long Closed(const Clients& clients) {
    return std::ranges::count_if(clients, [](const auto& each) { return each->closed(); });
  }
  // The request with the first `bytes` of its body.
  static std::string Part(const std::string& request, std::size_t bytes) {
    return request.substr(0, request.find("\r\n\r\n") + 4 + bytes);
  }
  static std::string Rest(const std::string& request, std::size_t bytes) {
    return request.substr(request.find("\r\n\r\n") + 4 + bytes);
  }
};

TEST_F(WebhookLimitsTest, RunsALimitedNumberOfFunctionsAndConversionsBesideThem) {
  Gate gate(*executor_);
  const auto handler = Add("/v", gate.Function());
  Add("/convert", Echo, Kind::kConversion);
  Serve({.max_concurrent = 1});
  const Clients reviews = Many(2, Post("/v", "{}"));
  const Clients conversions = Many(1, Post("/convert", "{}"));
  std::vector<int> calls;
  std::vector<bool> converted;
  std::vector<Timer> timers;
  for (const Nanos when : {Nanos(1s), Nanos(2s)}) {
    timers.push_back(executor_->clock()->After(when, TimerKind::kProgress, [&] {
      calls.push_back(handler->calls);
      converted.push_back(!conversions[0]->sent().empty());
      gate.opened->Notify();
    }));
  }
  executor_->Run();
  EXPECT_THAT(calls, ::testing::ElementsAre(1, 2));
  EXPECT_THAT(converted, ::testing::ElementsAre(true, true));
  for (const auto& each : reviews) EXPECT_THAT(each->sent(), HasSubstr("passed"));
}

TEST_F(WebhookLimitsTest, DropsAReviewWhoseTimeIsOverBeforeItsTurn) {
  const auto release = executor_->MakeWaiter("the test");
  const auto handler = Add("/v", [&](std::string_view, const Call&) {
    (void)release->Wait();
    return std::string("{}");
  });
  Serve({.max_concurrent = 1});
  const auto first = loop_->Dial(), second = loop_->Dial();
  first->Receive(Post("/v?timeout=30s", "{}"));
  second->Receive(Post("/v?timeout=1s", "{}"));
  bool closed = false;
  const Timer look = executor_->clock()->After(2100ms, TimerKind::kProgress, [&] { closed = second->closed(); });
  const Timer open = executor_->clock()->After(5s, TimerKind::kProgress, [&] { release->Notify(); });
  executor_->Run();
  EXPECT_TRUE(closed);
  EXPECT_EQ(handler->calls, 1);
  EXPECT_EQ(second->sent(), "");
  EXPECT_THAT(first->sent(), HasSubstr("200 OK"));
}

TEST_F(WebhookLimitsTest, ReadsNoFurtherThanThereIsRoom) {
  Add("/v");
  Serve({.max_review_bytes = 100, .max_conversion_bytes = 100, .max_bytes = 100});
  const std::string large = Post("/v", std::string(100, 'x'));
  const auto a = loop_->Dial(), b = loop_->Dial();
  a->Receive(Part(large, 40));
  b->Receive(Part(large, 10));
  EXPECT_FALSE(a->paused());
  EXPECT_TRUE(b->paused());                                         // two half-read reviews would wait for each other
  EXPECT_EQ(Ask("/v", std::string(50, 'x')), R"(200 {"got":50})");  // a small one is not in their way
  a->Receive(Rest(large, 40));
  EXPECT_TRUE(b->paused());
  executor_->Run();
  EXPECT_THAT(a->sent(), HasSubstr("{\"got\":100}"));
  EXPECT_FALSE(b->paused());
  b->Receive(Rest(large, 10));
  executor_->Run();
  EXPECT_THAT(b->sent(), HasSubstr("{\"got\":100}"));
}

TEST_F(WebhookLimitsTest, AnAnswerThatIsNotReadYetTakesRoom) {
  Add("/v", [](std::string_view, const Call&) { return std::string(100'000, 'x'); });
  Add("/w");
  Serve({.max_review_bytes = 100, .max_conversion_bytes = 100, .max_bytes = 100'000});
  const auto reader = loop_->Dial(), other = loop_->Dial();
  reader->Hold();
  reader->Receive(Post("/v", "{}"));
  executor_->Run();
  other->Receive(Post("/w", "{}"));
  executor_->Run();
  EXPECT_TRUE(other->paused());
  while (reader->backlog() > 0) {
    reader->Take(reader->backlog());
    executor_->Run();
  }
  EXPECT_FALSE(other->paused());
  EXPECT_THAT(other->sent(), HasSubstr("{\"got\":2}"));
}

TEST_F(WebhookLimitsTest, AConnectionThatWaitsForRoomAndLeavesIsForgotten) {
  Add("/v");
  Serve({.max_review_bytes = 100, .max_conversion_bytes = 100, .max_bytes = 100});
  const std::string large = Post("/v", std::string(100, 'x'));
  const auto a = loop_->Dial(), b = loop_->Dial(), c = loop_->Dial();
  a->Receive(Part(large, 99));
  b->Receive(Part(large, 99));
  c->Receive(Part(large, 99));
  EXPECT_TRUE(b->paused() && c->paused());
  b->Break("gone");
  a->Break("gone");
  executor_->Run();
  EXPECT_FALSE(c->paused());
  c->Receive("x");
  executor_->Run();
  EXPECT_THAT(c->sent(), HasSubstr("{\"got\":100}"));
}

TEST_F(WebhookLimitsTest, ManyReviewsThatDoNotFitTogetherAreAllAnswered) {
  Add("/v");
  Serve({.max_review_bytes = 1000, .max_conversion_bytes = 1000, .max_bytes = 1500});
  const std::string chunks =
      "POST /v HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  const std::string large = Post("/v", std::string(900, 'x'));
  Clients clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(loop_->Dial());
    i % 2 == 0 ? clients.back()->Receive(Part(large, 300))
               : clients.back()->Receive(chunks + "64\r\n" + std::string(100, 'y'));
  }
  for (int i = 0; i < 40; ++i) {
    auto& client = clients[static_cast<std::size_t>(i)];
    client->Receive(i % 2 == 0 ? Rest(large, 300) : "\r\n0\r\n\r\n");
    executor_->Run();
  }
  for (int i = 0; i < 40; ++i) {
    EXPECT_THAT(clients[static_cast<std::size_t>(i)]->sent(), HasSubstr(i % 2 == 0 ? "{\"got\":900}" : "{\"got\":100}"))
        << i;
  }
}

TEST_F(WebhookLimitsTest, ClosesAConnectionWhoseRequestComesTooSlowly) {
  Add("/v");
  Serve();
  const auto silent = loop_->Dial(), head = loop_->Dial(), body = loop_->Dial();
  body->Receive(Part(Post("/v", std::string(1000, 'x')), 1));
  for (int i = 0; i < 29; ++i) {
    head->Receive(std::string_view("POST /v HTTP/1.1\r\nHost: host\r\n\r\n").substr(static_cast<std::size_t>(i), 1));
    body->Receive("x");
    executor_->Advance(1s);
  }
  EXPECT_EQ(Closed({silent, head, body}), 0);
  executor_->Advance(1s);
  EXPECT_EQ(Closed({silent, head, body}), 3);
}

TEST_F(WebhookLimitsTest, KeepsAnIdleConnectionForLongerThanAnApiServerDoes) {
  Add("/v");
  Serve();
  const auto client = loop_->Dial();
  for (int i = 0; i < 3; ++i) {
    client->Receive(Post("/v", "{}"));
    executor_->Advance(119s);
    ASSERT_FALSE(client->closed());
  }
  executor_->Advance(1s);
  EXPECT_TRUE(client->closed());
}

TEST_F(WebhookLimitsTest, ClosesAReaderThatTakesNothingForTenSeconds) {
  Add("/v", [](std::string_view, const Call&) { return std::string(1'000'000, 'x'); });
  Serve();
  const auto client = loop_->Dial();
  client->Hold();
  client->Receive(Post("/v", "{}"));
  executor_->Advance(9s);
  EXPECT_FALSE(client->closed());
  client->Take(1);
  executor_->Advance(9s);
  EXPECT_FALSE(client->closed());
  executor_->Advance(4s);
  EXPECT_TRUE(client->closed());
}

TEST_F(WebhookLimitsTest, ClosesTheOldestConnectionWithoutARequestForANewOne) {
  Add("/v");
  Serve();
  const auto busy = loop_->Dial();
  busy->Receive(Post("/v", "{}"));
  const Clients silent = Many(2000, "POST /v");
  EXPECT_EQ(Closed(silent), 2001 - kConnections);
  EXPECT_TRUE(silent.front()->closed());
  EXPECT_FALSE(silent.back()->closed());
  EXPECT_FALSE(busy->closed());
  executor_->Run();
  EXPECT_THAT(busy->sent(), HasSubstr("{\"got\":2}"));
  EXPECT_EQ(Ask("/v"), R"(200 {"got":2})");
}

TEST_F(WebhookLimitsTest, NeverCutsARequestToMakeRoomAndLetsNewConnectionsWait) {
  Add("/v");
  Serve();
  const Clients busy = Many(kConnections, Post("/v", "{}"));
  const Clients late = Many(10, Post("/v", "{ }"));
  EXPECT_EQ(Closed(busy) + Closed(late), 0);
  executor_->Run();
  for (const auto& each : busy) EXPECT_THAT(each->sent(), HasSubstr("{\"got\":2}"));
  for (const auto& each : late) {
    each->Receive(Post("/v", "{ }"));  // it had no reader before
    executor_->Run();
    EXPECT_THAT(each->sent(), HasSubstr("{\"got\":3}"));
  }
  EXPECT_EQ(Closed(busy), 10);  // which are idle now
}

// Announced bytes are not allocated before they arrive.
TEST_F(WebhookLimitsTest, AnnouncedBytesTakeNoMemory) {
  const auto allocated = [] {  // 0 under a sanitizer, which has its own heap
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
  };
  Add("/convert", Echo, Kind::kConversion);
  Add("/v");
  Serve();
  const std::size_t before = allocated();
  const Clients large = Many(500, "POST /convert HTTP/1.1\r\nHost: h\r\nContent-Length: 268435456\r\n\r\nx");
  EXPECT_EQ(Closed(large), 0);
  EXPECT_LT(allocated(), before + 50'000'000);
  EXPECT_EQ(Ask("/v"), R"(200 {"got":2})");
}

}  // namespace
}  // namespace kgen::testing
