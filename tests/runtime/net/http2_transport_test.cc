// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The transport on loopback, in real time: streams, windows, limits, and how connections end.
#include "net/http2_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "kgen/core/observer.h"
#include "net/event_loop.h"
#include "tests/support/http2_harness.h"

namespace kgen::test_support {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::chrono_literals;

using Http2Transport = Http2Test;

TEST_F(Http2Transport, CarriesARequestAndItsAnswerOverTls) {
  Serve();
  Connect();
  const Call call = Get(*transport_, "/ok");
  EXPECT_TRUE(call.sink->WaitEnd().has_value()) << call.sink->WaitEnd().error();
  EXPECT_EQ(call.sink->status(), 200);
  EXPECT_EQ(call.sink->head().Header("x-path"), "/ok");
  EXPECT_EQ(call.sink->body(), "fine");
}

TEST_F(Http2Transport, CarriesARequestAndItsAnswerWithoutTls) {
  Serve({.tls = false});
  Connect();
  const Call call = Get(*transport_, "/ok");
  EXPECT_TRUE(call.sink->WaitEnd().has_value()) << call.sink->WaitEnd().error();
  EXPECT_EQ(call.sink->body(), "fine");
}

TEST_F(Http2Transport, TriesEveryAddressOfAName) {
  Serve();
  net::ServerConfig config = Target();
  config.host = "https://localhost:" + std::to_string(server_->port());  // often ::1 first, where no server listens
  Connect(config);
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
}

TEST_F(Http2Transport, SendsABodyOfAnySize) {
  Serve();
  Connect();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{16384}, std::size_t{5} * 1024 * 1024 + 1}) {
    auto sink = MakeShared<RecordingSink>();
    transport_->Start({.method = "POST", .path = "/size", .body = std::string(size, 'x')}, sink);
    EXPECT_TRUE(sink->WaitEnd().has_value());
    EXPECT_EQ(sink->body(), std::to_string(size));
  }
}

TEST_F(Http2Transport, UsesOneConnectionForAllRequests) {
  Serve();
  Connect();
  std::vector<Call> calls;
  for (int i = 0; i < 100; ++i) calls.push_back(Get(*transport_, "/ok"));
  for (const Call& call : calls) EXPECT_TRUE(call.sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(Http2Transport, BuffersExactlyOneWindowForAStalledReaderWhileFortyNineOthersRun) {
  Serve();
  Connect();
  constexpr std::size_t kWindow = 256 * 1024;
  const Call stalled = Get(*transport_, "/big", false, /*consume=*/false);
  const auto writer = WaitHeld(1)[0];
  std::vector<Call> others;
  for (int i = 0; i < 49; ++i) others.push_back(Get(*transport_, "/big"));
  for (const Call& other : others) {
    EXPECT_TRUE(other.sink->WaitEnd().has_value());
    EXPECT_EQ(other.sink->body().size(), kBig);
  }
  EXPECT_TRUE(stalled.sink->WaitBytes(kWindow));
  EXPECT_EQ(stalled.sink->body().size(), kWindow);
  EXPECT_EQ(writer->backlog(), kBig - kWindow);
  EXPECT_EQ(stalled.sink->ends(), 0);
  EXPECT_EQ(server_->connections(), 1u);

  stalled.exchange->Consumed(kWindow);
  EXPECT_TRUE(stalled.sink->WaitBytes(2 * kWindow));
  EXPECT_EQ(stalled.sink->body().size(), 2 * kWindow);
  stalled.sink->SetConsumes();
  stalled.sink->Consume(stalled.exchange);
  stalled.exchange->Consumed(kWindow);
  EXPECT_TRUE(stalled.sink->WaitEnd().has_value());
  EXPECT_EQ(stalled.sink->body().size(), kBig);
}

TEST_F(Http2Transport, NeverHasMoreStreamsThanTheServerAllows) {
  Serve({.max_concurrent_streams = 3});
  Connect();
  std::vector<Call> calls;
  for (int i = 0; i < 10; ++i) calls.push_back(Get(*transport_, "/silent"));
  for (std::size_t i = 0; i < 10; ++i) {
    const auto held = WaitHeld(i + 1);
    EXPECT_LE(held.size(), i + 3);
    held[i]->Head(200, {});
    held[i]->End();
  }
  for (const Call& call : calls) EXPECT_TRUE(call.sink->WaitEnd().has_value());
  EXPECT_EQ(server_->peak_streams(), 3u);
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(Http2Transport, FollowsALimitThatTheServerRaises) {
  Serve({.max_concurrent_streams = 1});
  Connect();
  const Call first = Get(*transport_, "/silent");
  const Call second = Get(*transport_, "/silent");
  WaitHeld(1);
  server_->SetMaxConcurrentStreams(2);
  EXPECT_EQ(WaitHeld(2).size(), 2u);
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(Http2Transport, GivesWatchesFourFifthsOfAConnectionSoThatShortRequestsNeverWaitForThem) {
  Serve({.max_concurrent_streams = 5});
  Connect();
  std::vector<Call> watches;
  for (int i = 0; i < 6; ++i) watches.push_back(Get(*transport_, "/hold", /*long_lived=*/true));
  WaitHeld(6);
  EXPECT_EQ(server_->connections(), 2u);
  EXPECT_EQ(server_->peak_streams(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 2u);
  for (const Call& watch : watches) EXPECT_EQ(watch.sink->ends(), 0);
}

TEST_F(Http2Transport, OpensAConnectionForAShortRequestWhenAWatchHasTheOnlyStream) {
  Serve({.max_concurrent_streams = 1});
  Connect();
  const Call watch = Get(*transport_, "/hold", /*long_lived=*/true);
  WaitHeld(1);
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 2u);
}

// Contract: controller 271.
TEST_F(Http2Transport, DetectsAFrozenServerByAnUnansweredPing) {
  Serve();
  Connect(Http2Options{.ping_interval = 30ms, .ping_timeout = 60ms});
  const Call watch = Get(*transport_, "/hold", true);
  ASSERT_TRUE(watch.sink->WaitHead());
  server_->Freeze(true);
  const auto end = watch.sink->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code(), Code::kUnavailable);
  EXPECT_THAT(end.error().message(), HasSubstr("connection lost: the server did not answer a PING within 60ms"));

  server_->Freeze(false);
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 2u);
}

TEST_F(Http2Transport, DetectsAFrozenServerEvenIfEveryRequestTimesOutFirst) {
  Serve();
  Connect(Http2Options{.handshake_timeout = 50ms, .ping_interval = 30ms, .ping_timeout = 60ms});
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  server_->Freeze(true);
  while (server_->connections() == 1) {
    const Call call = Get(*transport_, "/ok");
    call.exchange->Cancel();
    EXPECT_FALSE(call.sink->WaitEnd().has_value());
  }
  server_->Freeze(false);
}

TEST_F(Http2Transport, KeepsASilentServerThatAnswersPings) {
  Serve();
  Connect(Http2Options{.ping_interval = 10ms, .ping_timeout = 20s});
  const Call watch = Get(*transport_, "/hold", true);
  const auto writer = WaitHeld(1)[0];
  EXPECT_TRUE(WaitServer([&] { return server_->pings() >= 5; }));
  writer->Write("still here");
  EXPECT_TRUE(watch.sink->WaitBytes(10));
  EXPECT_EQ(watch.sink->ends(), 0);
}

TEST_F(Http2Transport, ClosesAnUnusedConnection) {
  Serve();
  Connect(Http2Options{.idle_timeout = 20ms});
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_TRUE(WaitServer([&] { return server_->open_connections() == 0; }));
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 2u);
}

TEST_F(Http2Transport, LetsOldStreamsGoOnAfterGoAwayAndOpensAnotherConnectionForNewOnes) {
  Serve();
  Connect();
  const Call watch = Get(*transport_, "/hold", true);
  const auto writer = WaitHeld(1)[0];
  server_->SendGoAway();
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 2u);
  writer->Write("one more event");
  writer->End();
  EXPECT_TRUE(watch.sink->WaitEnd().has_value());
  EXPECT_EQ(watch.sink->body(), "one more event");
  EXPECT_TRUE(WaitServer([&] { return server_->open_connections() == 1; }));
}

TEST_F(Http2Transport, EndsAStreamThatTheServerResets) {
  Serve();
  Connect();
  const Call watch = Get(*transport_, "/hold", true);
  const Call other = Get(*transport_, "/hold", true);
  ASSERT_TRUE(watch.sink->WaitHead());
  ASSERT_TRUE(other.sink->WaitHead());
  WaitHeld(2)[0]->Reset(NGHTTP2_INTERNAL_ERROR);
  const auto end = watch.sink->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code(), Code::kUnavailable);
  EXPECT_THAT(end.error().message(), HasSubstr("the server reset the stream: INTERNAL_ERROR"));
  EXPECT_FALSE(watch.sink->lost()) << "only the stream was";
  EXPECT_EQ(other.sink->ends(), 0);
}

TEST_F(Http2Transport, SendsARequestAgainThatTheServerRefusedUnprocessed) {
  Serve();
  Connect();
  server_->RefuseNext(2);
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  server_->RefuseNext(3);
  const auto end = Get(*transport_, "/ok").sink->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_THAT(end.error().message(), HasSubstr("REFUSED_STREAM"));
}

TEST_F(Http2Transport, EndsEveryExchangeOnceWhenTheConnectionBreaks) {
  Serve();
  Connect();
  std::vector<Call> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(Get(*transport_, "/hold", i % 2 == 0));
  WaitHeld(20);
  for (const Call& call : calls) ASSERT_TRUE(call.sink->WaitHead());
  server_->CutNow();
  for (const Call& call : calls) {
    const auto end = call.sink->WaitEnd();
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error().code(), Code::kUnavailable);
    EXPECT_THAT(end.error().message(), HasSubstr(": connection lost: "));
    EXPECT_FALSE(end.error().not_connected());
    EXPECT_TRUE(call.sink->lost());
  }
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  for (const Call& call : calls) EXPECT_EQ(call.sink->ends(), 1);
}

// The first size at which a request succeeds is a connection that lives to its end.
void CutAtEveryByte(kgen::testing::Http2Server& server, const net::ServerConfig& config, std::size_t step) {
  std::size_t bytes = 0;
  for (bool whole = false; !whole; bytes += step) {
    ASSERT_LT(bytes, 20000u);
    server.CutAfter(bytes);
    const Shared<Transport> transport = *MakeHttp2Transport(config, DefaultExecutor(), nullptr);
    const Call call = Get(*transport, "/ok");
    const auto end = call.sink->WaitEnd();
    whole = end.has_value();
    if (whole) {
      EXPECT_EQ(call.sink->body(), "fine");
    } else {
      EXPECT_EQ(end.error().code(), Code::kUnavailable) << bytes << ": " << end.error();
      EXPECT_FALSE(end.error().message().empty());
    }
    transport->Close();
    EXPECT_EQ(call.sink->ends(), 1);
  }
  EXPECT_GT(bytes, 50u);
}

TEST_F(Http2Transport, SurvivesACutAtAnyByte) {
  Serve({.tls = false});
  CutAtEveryByte(*server_, Target(), 1);
}

TEST_F(Http2Transport, SurvivesACutAtAnyByteOfTls) {
  Serve();
  CutAtEveryByte(*server_, Target(), 7);
}

TEST_F(Http2Transport, CancelsActiveAndWaitingRequests) {
  Serve({.max_concurrent_streams = 1});
  Connect();
  const Call active = Get(*transport_, "/hold");
  ASSERT_TRUE(active.sink->WaitHead());
  const Call waiting = Get(*transport_, "/ok");
  waiting.exchange->Cancel();
  EXPECT_EQ(waiting.sink->WaitEnd().error().code(), Code::kCancelled);
  active.exchange->Cancel();
  active.exchange->Cancel();
  EXPECT_EQ(active.sink->WaitEnd().error().code(), Code::kCancelled);
  EXPECT_TRUE(WaitServer([&] { return server_->open_streams() == 0; }));
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(active.sink->ends(), 1);
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(Http2Transport, CloseCancelsEverythingForEver) {
  Serve({.max_concurrent_streams = 1});
  Connect();
  const Call active = Get(*transport_, "/hold");
  ASSERT_TRUE(active.sink->WaitHead());
  const Call waiting = Get(*transport_, "/ok");
  transport_->Close();
  EXPECT_EQ(active.sink->WaitEnd().error().code(), Code::kCancelled);
  EXPECT_EQ(waiting.sink->WaitEnd().error().code(), Code::kCancelled);
  EXPECT_EQ(Get(*transport_, "/ok").sink->WaitEnd().error().code(), Code::kCancelled);
  EXPECT_TRUE(WaitServer([&] { return server_->open_connections() == 0; }));
}

TEST_F(Http2Transport, StaysClosedEvenIfItWasNeverUsed) {
  Serve();
  Connect();
  transport_->Close();
  EXPECT_EQ(Get(*transport_, "/ok").sink->WaitEnd().error().code(), Code::kCancelled);
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(Http2Transport, DroppingItCancelsActiveRequests) {
  Serve();
  Connect();
  const Call call = Get(*transport_, "/hold");
  ASSERT_TRUE(call.sink->WaitHead());
  transport_ = {};
  EXPECT_EQ(call.sink->WaitEnd().error().code(), Code::kCancelled);
  call.exchange->Consumed(1);
  call.exchange->Cancel();
}

TEST_F(Http2Transport, MayBeUsedFromManyThreadsAtOnce) {
  Serve({.max_concurrent_streams = 20});
  Connect();
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 50; ++i) {
          const bool cancel = (thread + i) % 3 == 0;
          const Call call = Get(*transport_, i % 10 == 0 ? "/big" : "/ok", thread % 2 == 0);
          if (cancel) call.exchange->Cancel();
          const auto end = call.sink->WaitEnd();
          const bool right = end ? call.sink->status() == 200 : cancel && end.error().code() == Code::kCancelled;
          if (!right) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(server_->peak_streams(), 20u);
}

TEST_F(Http2Transport, WaitsForAServerThatAllowsNoStreamAtFirst) {
  Serve({.max_concurrent_streams = 0});
  Connect();
  const Call call = Get(*transport_, "/ok");
  const Call watch = Get(*transport_, "/ok", true);
  EXPECT_TRUE(WaitServer([&] { return server_->open_connections() == 1; }));
  server_->SetMaxConcurrentStreams(1);
  EXPECT_TRUE(call.sink->WaitEnd().has_value());
  EXPECT_TRUE(watch.sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 1u);
}

// A process that ends while requests are under way, held by objects that go later than the I/O thread.
TEST(Http2TransportDeathTest, TheProcessMayEndWhileRequestsAreUnderWay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static Shared<Transport> kept;  // known to exit() before the thread is
        static auto handler = MakeShared<FunctionHandler>([](auto, auto writer) { writer->Head(200, {}); });
        static auto server = *testing::Http2Server::Start({.tls = false}, handler);
        kept = *MakeHttp2Transport({.host = server->url()}, DefaultExecutor(), nullptr);
        static Call call = Get(*kept, "/never-ending");
        const bool open = call.sink->WaitHead();
        std::exit(open ? 7 : 8);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_F(Http2Transport, RefusesResponseHeadersThatAreTooLarge) {
  Serve();
  Connect(Http2Options{.max_head_bytes = 1000});
  const Call call = Get(*transport_, "/silent");
  WaitHeld(1)[0]->Head(200, {{"x-much", std::string(2000, 'm')}});
  const auto end = call.sink->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code(), Code::kUnavailable);
  EXPECT_THAT(end.error().message(), HasSubstr("the headers of the response are larger than 1000 bytes"));
}

TEST_F(Http2Transport, ReportsThatTheConnectionWasRefused) {
  Serve();
  const net::ServerConfig config = Target();
  const std::string where = "127.0.0.1:" + std::to_string(server_->port());
  server_->Stop();
  Connect(config);
  const auto end = Get(*transport_, "/ok").sink->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code(), Code::kUnavailable);
  EXPECT_EQ(end.error().message(), "cannot connect to " + where + ": Connection refused");
  EXPECT_TRUE(end.error().not_connected());
}

TEST_F(Http2Transport, TriesTheProxyOfTheEnvironmentAndKeepsItsPassword) {
  const char* const old = std::getenv("HTTP_PROXY");
  const std::string kept = old != nullptr ? old : "";
  setenv("HTTP_PROXY", "http://bob:hunter2@two..dots:3128", 1);
  Connect({.host = "http://kgen.invalid:1"});
  old != nullptr ? setenv("HTTP_PROXY", kept.c_str(), 1) : unsetenv("HTTP_PROXY");
  const auto end = Get(*transport_, "/ok").sink->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_FALSE(Get(*transport_, "/ok").sink->lost());
  EXPECT_THAT(end.error().message(),
              HasSubstr("cannot connect to kgen.invalid:1 through the proxy http://two..dots:3128: "));
  EXPECT_THAT(end.error().message(), ::testing::Not(HasSubstr("hunter2")));
}

// The events that it received, and whether on the I/O thread.
struct ConnectionObserver final : Observer {
  void OnConnectionChanged(const ConnectionChanged& event) override {
    const bool on_loop = net::EventLoop::Process()->InLoop();
    signal.Change([&] {
      received.push_back(event.up ? "up" : "down: " + event.error->message());
      io_thread = io_thread || on_loop;
    });
  }
  std::vector<std::string> received;
  bool io_thread = false;
  Signal signal;
};

// Contract: design D9.
TEST_F(Http2Transport, NotifiesTheObserverInOrderAndNotOnTheThreadOfTheConnection) {
  Serve();
  const auto observer = MakeShared<ConnectionObserver>();
  transport_ = Must(MakeHttp2Transport(Target(), DefaultExecutor(), observer));
  for (int i = 0; i < 10; ++i) {
    const Call call = Get(*transport_, "/hold");
    ASSERT_TRUE(call.sink->WaitHead());
    server_->CutNow();
    EXPECT_FALSE(call.sink->WaitEnd().has_value());
  }
  ASSERT_TRUE(observer->signal.WaitFor([&] { return observer->received.size() == 20; }));
  EXPECT_FALSE(observer->io_thread);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_THAT(observer->received[i], i % 2 == 0 ? ::testing::StrEq("up") : ::testing::StrEq(observer->received[1]))
        << i;
  }
  EXPECT_THAT(observer->received[1], HasSubstr("connection lost"));
}

TEST_F(Http2Transport, ReportsThatANameCannotBeResolved) {
  Connect({.host = "http://two..dots:1"});
  const auto end = Get(*transport_, "/ok").sink->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code(), Code::kUnavailable);
  EXPECT_THAT(end.error().message(), StartsWith("cannot connect to two..dots:1: the name cannot be resolved: "));
}

// Asks, on the thread of the I/O, whether a blocking call would be refused there.
struct AskingSink final : ResponseSink {
  void OnHead(HttpHead) override { refused = DefaultExecutor()->InPostedTask(); }
  void OnBytes(std::string) override {}
  void OnEnd(HttpEnd) override {
    signal.Change([this] { ended = true; });
  }
  bool refused = false;
  bool ended = false;
  Signal signal;
};

// Contract: design D9.
TEST_F(Http2Transport, RefusesBlockingCallsOnTheThreadOfTheConnection) {
  Serve();
  Connect();
  const auto sink = MakeShared<AskingSink>();
  const auto exchange = transport_->Start({.method = "GET", .path = "/ok"}, sink);
  ASSERT_TRUE(sink->signal.WaitFor([&] { return sink->ended; }));
  EXPECT_TRUE(sink->refused);
}

TEST_F(Http2Transport, GivesUpAServerThatNeverAnswersTheHandshake) {
  for (const bool tls : {true, false}) {
    Serve({.tls = tls});
    server_->Freeze(true);
    Connect(Http2Options{.handshake_timeout = 30ms});
    const auto end = Get(*transport_, "/ok").sink->WaitEnd();
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error().code(), Code::kUnavailable);
    EXPECT_TRUE(end.error().not_connected());
    EXPECT_THAT(end.error().message(), HasSubstr(tls ? "no answer to the TLS handshake within 30ms"
                                                     : "no answer to the HTTP/2 preface within 30ms"));
    TearDown();
  }
}

}  // namespace
}  // namespace kgen::test_support
