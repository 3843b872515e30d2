// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The transport with a peer whose bytes the test writes, in virtual time: its errors for a server that violates HTTP/2,
// and its timeouts for a silent one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "client/request/connection_state.h"
#include "core/secrets.h"
#include "net/http2_transport.h"
#include "tests/support/http2_frames.h"
#include "tests/support/manual_loop.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;

struct PeerSink final : ResponseSink {
  void OnHead(HttpHead given) override { head = std::move(given); }
  void OnBytes(std::string bytes) override { body += bytes; }
  void OnEnd(HttpEnd given) override { end.emplace(std::move(given)); }
  std::string Failure() const {
    return !end ? "not ended" : end->result ? "ended well" : end->result.error().ToString();
  }
  HttpHead head{};
  std::string body;
  std::optional<HttpEnd> end;
};

class Http2Peer : public ::testing::Test {
 protected:
  void SetUp() override { Connect({}); }
  void Connect(Http2Options options) {
    options.loop = loop_;
    transport_ = Must(MakeHttp2Transport({.host = "http://10.0.0.1:80"}, executor_, nullptr, options));
  }
  void TearDown() override {
    transport_->Close();
    executor_->Run();
  }

  Shared<PeerSink> Get(bool long_lived = false) {
    auto sink = MakeShared<PeerSink>();
    exchanges_.push_back(transport_->Start({.method = "GET", .path = "/", .long_lived = long_lived}, sink));
    executor_->Run();
    return sink;
  }
  // A request that is stream 1 of a connection whose server has sent its settings.
  Shared<PeerSink> Open(bool long_lived = false) {
    auto sink = Get(long_lived);
    peer().Accept();
    Say(Settings());
    return sink;
  }
  // A blocking call that gives up after ten seconds.
  Result<ApiResponse> Call(std::stop_token stop = {}) {
    const Connection connection =
        client::ConnectionState::Handle({transport_, executor_}, {.host = "http://10.0.0.1:80", .timeout = 10s});
    return connection.Call({.path = "/", .what = "get pods default/p"}, std::move(stop));
  }
  ManualStream& peer() { return loop_->attempt(loop_->attempts() - 1); }
  void Say(std::string_view bytes) {
    peer().Receive(bytes);
    executor_->Run();
  }
  std::vector<Frame> Received(std::uint8_t type) { return FramesOf(peer().sent(), type); }

  const Shared<ManualExecutor> executor_ = MakeShared<ManualExecutor>();
  const Shared<ManualLoop> loop_ = MakeShared<ManualLoop>(executor_);
  Shared<Transport> transport_;
  std::vector<Shared<Exchange>> exchanges_;
};

constexpr std::string_view kClosed =
    "10.0.0.1:80: connection lost: kgen closed the connection because the server broke the HTTP/2 protocol: ";
constexpr std::string_view kReset = "10.0.0.1:80: kgen reset the stream because the server broke the HTTP/2 protocol: ";
constexpr std::string_view kUnavailable = " (Unavailable)";

std::string Text(std::string_view first, std::string_view second) {
  return std::string(first) + std::string(second) + std::string(kUnavailable);
}

TEST_F(Http2Peer, ReceivesItsResponse) {
  const auto sink = Open();
  Say(Head(1) + Data(1, "fine", NGHTTP2_FLAG_END_STREAM));
  EXPECT_EQ(sink->Failure(), "ended well");
  EXPECT_EQ(sink->head.status, 200);
  EXPECT_EQ(sink->body, "fine");
}

struct Verdict {
  const char* name;
  std::string said;
  std::string failure;
  bool lost = true;  // the whole connection
};

const Verdict kVerdicts[] = {
    {"PaddingOfData",
     Head(1) + Data(1,
                    "\x05"
                    "abc",
                    NGHTTP2_FLAG_PADDED),
     Text(kClosed, "PROTOCOL_ERROR: DATA: invalid padding")},
    {"NoRoomForPadding", Head(1) + Data(1, "", NGHTTP2_FLAG_PADDED),
     Text(kClosed, "PROTOCOL_ERROR: DATA: insufficient padding space")},
    {"PaddingOfTheHead",
     Bytes({.type = NGHTTP2_HEADERS,
            .flags = NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_PADDED,
            .stream = 1,
            .payload = "\x09\x88"}),
     Text(kClosed, "PROTOCOL_ERROR: HEADERS: invalid padding")},
    {"FrameTooLarge", Head(1) + Data(1, std::string(16385, 'x')),
     Text(kClosed, "FRAME_SIZE_ERROR: too large frame size")},
    {"FrameOfAWrongSize", Bytes({.type = NGHTTP2_PING, .payload = "seven.."}),
     Text(kClosed, "FRAME_SIZE_ERROR: a frame of the wrong size")},
    {"DataForNoStream", Data(0, "x"), Text(kClosed, "PROTOCOL_ERROR: DATA: stream_id == 0")},
    {"DataForAStreamThatIsNotOpen", Data(7, "x"), Text(kClosed, "PROTOCOL_ERROR: DATA: stream in idle")},
    {"AnotherFrameInsideAHead", Bytes({.type = NGHTTP2_HEADERS, .stream = 1, .payload = "\x88"}) + Data(1, "x"),
     Text(kClosed, "PROTOCOL_ERROR: unexpected non-CONTINUATION frame or stream_id is invalid")},
    {"PushThatWasForbidden",
     Bytes({.type = NGHTTP2_PUSH_PROMISE,
            .flags = NGHTTP2_FLAG_END_HEADERS,
            .stream = 1,
            .payload = std::string("\0\0\0\x02\x88", 5)}),
     Text(kClosed, "PROTOCOL_ERROR: PUSH_PROMISE: push disabled")},
    {"MoreThanTheWindowOfTheConnection",
     Head(1) + Data(1, std::string(16384, 'x')) + Data(1, std::string(16384, 'x')) + Data(1, std::string(16384, 'x')) +
         Data(1, std::string(16384, 'x')) + Data(1, std::string(16384, 'x')) + Data(1, std::string(16384, 'x')) +
         Data(1, std::string(16384, 'x')) + Data(1, std::string(16384, 'x')),
     Text(kClosed, "FLOW_CONTROL_ERROR: more data than the window allows")},
    {"WindowThatOverflows", Bytes({.type = NGHTTP2_WINDOW_UPDATE, .payload = "\x7F\xFF\xFF\xFF"}),
     Text(kClosed, "FLOW_CONTROL_ERROR: more data than the window allows")},
    {"HeadThatCannotBeDecoded", Head(1, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
     Text(kClosed, "COMPRESSION_ERROR: a header block that cannot be decoded")},
    {"MoreThanTheWindowOfTheStream", Head(1) + Data(1, std::string(70, 'x')),
     Text(kReset, "FLOW_CONTROL_ERROR: more data than the window allows"), false},
    {"HeadWithoutAStatus",
     Bytes({.type = NGHTTP2_HEADERS,
            .flags = NGHTTP2_FLAG_END_HEADERS,
            .stream = 1,
            .payload = std::string("\0\1a\1b", 5)}),
     Text(kReset, "PROTOCOL_ERROR: Violation in HTTP messaging rule"), false},
    {"HeaderThatIsNotAllowed", Head(1, std::string_view("\0\3Foo\3bar", 9)),
     Text(kReset,
          "PROTOCOL_ERROR: Invalid HTTP header field was received: frame type: 1, stream: 1, name: [Foo], value: "
          "[bar]"),
     false},
    {"BodyOfAnotherLength",
     Head(1,
          "\x0F\x0D\x01"
          "9") +
         Data(1, "x", NGHTTP2_FLAG_END_STREAM),
     Text(kReset, "PROTOCOL_ERROR: the body is not as long as its content-length says"), false},
    {"ResetByTheServer", Reset(1, NGHTTP2_ENHANCE_YOUR_CALM),
     "10.0.0.1:80: the server reset the stream: ENHANCE_YOUR_CALM (Unavailable)", false},
    {"ResetForAnUnknownReason", Reset(1, 4711),
     "10.0.0.1:80: the server reset the stream: error code 4711 (Unavailable)", false},
};

class Http2Verdict : public Http2Peer, public ::testing::WithParamInterface<Verdict> {};

TEST_P(Http2Verdict, IsReportedWithItsCauseAndTheResponsibleSide) {
  const std::string_view name = GetParam().name;
  Connect({.stream_window = name == "MoreThanTheWindowOfTheStream" ? 64u : 1u << 20, .connection_window = 65535});
  const auto sink = Open();
  Say(GetParam().said);
  ASSERT_EQ(sink->Failure(), GetParam().failure);
  EXPECT_EQ(sink->end->connection_lost, GetParam().lost);
  EXPECT_FALSE(sink->end->result.error().not_connected());
}

INSTANTIATE_TEST_SUITE_P(All, Http2Verdict, ::testing::ValuesIn(kVerdicts),
                         [](const auto& test) { return test.param.name; });

TEST_F(Http2Peer, SendsTheServerTheReasonWhenItClosesTheConnection) {
  const auto sink = Open();
  Say(Head(1) + Data(1,
                     "\x05"
                     "abc",
                     NGHTTP2_FLAG_PADDED));
  const auto goodbyes = Received(NGHTTP2_GOAWAY);
  ASSERT_EQ(goodbyes.size(), 1u);
  EXPECT_EQ(goodbyes[0].payload, BigEndian(0, 4) + BigEndian(NGHTTP2_PROTOCOL_ERROR, 4) + "DATA: invalid padding");
  EXPECT_TRUE(peer().closed());
}

TEST_F(Http2Peer, DoesNotReportTheFaultOfOneStreamForTheNext) {
  const auto first = Open(), second = Get();
  Say(Head(1, std::string_view("\0\3Foo\3bar", 9)));
  Say(Reset(3, NGHTTP2_INTERNAL_ERROR));
  EXPECT_NE(first->Failure(), "not ended");
  EXPECT_EQ(second->Failure(), "10.0.0.1:80: the server reset the stream: INTERNAL_ERROR (Unavailable)");
}

TEST_F(Http2Peer, ReportsWhyTheServerClosedTheConnection) {
  const auto sink = Open();
  Say(Head(1) + GoAway(1, NGHTTP2_ENHANCE_YOUR_CALM, "too many\npings"));
  EXPECT_EQ(sink->Failure(), "not ended");
  peer().Break("the peer closed the connection");
  EXPECT_EQ(sink->Failure(),
            "10.0.0.1:80: connection lost: the server closed the connection: ENHANCE_YOUR_CALM: too many?pings "
            "(Unavailable)");
  EXPECT_TRUE(sink->end->connection_lost);
}

TEST_F(Http2Peer, ReportsHowOftenARequestWasRefused) {
  const auto sink = Open();
  for (const std::uint32_t stream : {1, 3, 5}) Say(Reset(stream, NGHTTP2_REFUSED_STREAM));
  EXPECT_EQ(sink->Failure(),
            "10.0.0.1:80: the server refused the request 3 times without processing it (REFUSED_STREAM) (Unavailable)");
  EXPECT_FALSE(sink->end->connection_lost);
}

TEST_F(Http2Peer, DoesNotCallAGoawayARefusalOfTheRequest) {
  for (const std::string_view said : {"", "go away"}) {
    const auto sink = Get();
    for (int i = 0; i < 3; ++i) {
      peer().Accept();
      Say(Settings() + GoAway(0, said.empty() ? NGHTTP2_NO_ERROR : NGHTTP2_INTERNAL_ERROR, said));
    }
    EXPECT_EQ(sink->Failure(), std::string("10.0.0.1:80: the server closed the connection") +
                                   (said.empty() ? " (GOAWAY)" : ": INTERNAL_ERROR: go away") +
                                   "; this happened 3 times before it had processed the request (Unavailable)");
    EXPECT_FALSE(sink->end->connection_lost);
  }
}

TEST_F(Http2Peer, ShowsNoTokenThatAGoawayContains) {
  const detail::Secret token("token-of-the-connection");
  const auto sink = Get();
  for (int i = 0; i < 3; ++i) {
    peer().Accept();
    Say(Settings() + GoAway(0, NGHTTP2_INTERNAL_ERROR, "bad token-of-the-connection"));
  }
  EXPECT_THAT(sink->Failure(), ::testing::HasSubstr("INTERNAL_ERROR: bad (hidden);"));
}

TEST_F(Http2Peer, NamesAStatusThatIsNone) {
  for (const std::string_view status : {"000", "099"}) {
    const auto sink = Get();
    if (status == "000") {
      peer().Accept();
      Say(Settings());
    }
    const std::uint32_t stream = status == "000" ? 1 : 3;
    Say(Bytes({.type = NGHTTP2_HEADERS,
               .flags = NGHTTP2_FLAG_END_HEADERS,
               .stream = stream,
               .payload = "\x08\x03" + std::string(status)}));
    EXPECT_EQ(sink->Failure(), "10.0.0.1:80: kgen reset the stream because the response has the status \"" +
                                   std::string(status) + "\", which is not an HTTP status (Unavailable)");
  }
}

TEST_F(Http2Peer, ReportsThatTheFirstBytesAreNotHttp2) {
  const auto sink = Get();
  peer().Accept();
  Say("SSH-2.0-OpenSSH_9.2p1\r\n");
  EXPECT_EQ(sink->Failure(),
            "cannot connect to 10.0.0.1:80: kgen closed the connection because the server broke the HTTP/2 protocol: "
            "PROTOCOL_ERROR: SETTINGS expected; is this the address of an API server? (Unavailable)");
  EXPECT_TRUE(sink->end->result.error().not_connected());
}

TEST_F(Http2Peer, ReportsThatTheServerSpeaksTlsOrHttp1) {
  auto sink = Get();
  peer().Accept();
  Say(std::string_view("\x15\3\1\0\2\2\x46", 7));
  EXPECT_EQ(sink->Failure(),
            "cannot connect to 10.0.0.1:80: the server speaks TLS; its address begins with https://, not http:// "
            "(Unavailable)");
  sink = Get();
  peer().Accept();
  Say("HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_EQ(sink->Failure(),
            "cannot connect to 10.0.0.1:80: the server does not speak HTTP/2, it responded with HTTP/1; is it an API "
            "server, or a "
            "proxy in between? (Unavailable)");
}

TEST_F(Http2Peer, ReportsThatTheServerClosedBeforeItsSettings) {
  const auto sink = Get();
  peer().Accept();
  peer().Break("the peer closed the connection");
  EXPECT_EQ(sink->Failure(), "cannot connect to 10.0.0.1:80: the peer closed the connection (Unavailable)");
  EXPECT_TRUE(sink->end->result.error().not_connected());
}

TEST_F(Http2Peer, PingsASilentServerAfterFiveSecondsAndGivesItFiveMore) {
  const auto watch = Open(/*long_lived=*/true);
  executor_->Advance(4999ms);
  EXPECT_EQ(Received(NGHTTP2_PING).size(), 0u);
  executor_->Advance(1ms);
  EXPECT_EQ(Received(NGHTTP2_PING).size(), 1u);
  executor_->Advance(4999ms);
  EXPECT_EQ(watch->Failure(), "not ended");
  executor_->Advance(1ms);
  EXPECT_EQ(watch->Failure(), "10.0.0.1:80: connection lost: the server did not answer a PING within 5s (Unavailable)");
  EXPECT_TRUE(watch->end->connection_lost);
  EXPECT_TRUE(peer().closed());
}

TEST_F(Http2Peer, PingsAgainFiveSecondsAfterTheLastByteAndNeverWhileBytesArrive) {
  const auto watch = Open(/*long_lived=*/true);
  Say(Head(1));
  for (int i = 0; i < 10; ++i) {
    executor_->Advance(4s);
    Say(Data(1, "event"));
  }
  EXPECT_EQ(Received(NGHTTP2_PING).size(), 0u);
  executor_->Advance(5s);
  ASSERT_EQ(Received(NGHTTP2_PING).size(), 1u);
  Say(Bytes({.type = NGHTTP2_PING, .flags = NGHTTP2_FLAG_ACK, .payload = Received(NGHTTP2_PING)[0].payload}));
  executor_->Advance(4999ms);
  EXPECT_EQ(Received(NGHTTP2_PING).size(), 1u);
  executor_->Advance(1ms);
  EXPECT_EQ(Received(NGHTTP2_PING).size(), 2u);
  EXPECT_EQ(watch->Failure(), "not ended");
}

TEST_F(Http2Peer, SendsNoPingWhileNoStreamIsOpen) {
  const auto sink = Open();
  Say(Head(1) + Data(1, "fine", NGHTTP2_FLAG_END_STREAM));
  executor_->Advance(1min);
  EXPECT_EQ(Received(NGHTTP2_PING).size(), 0u);
}

TEST_F(Http2Peer, ATimeoutReportsThatThereWasNoConnection) {
  EXPECT_EQ(Call().error().ToString(),
            "get pods default/p: no answer within 10s: still connecting to 10.0.0.1:80: no answer yet (Timeout)");
}

TEST_F(Http2Peer, ATimeoutReportsHowTheLastConnectionEnded) {
  Open();
  peer().Break("the peer closed the connection");
  EXPECT_EQ(Call().error().ToString(),
            "get pods default/p: no answer within 10s: still connecting to 10.0.0.1:80: no answer yet; before that: "
            "10.0.0.1:80: connection lost: the peer closed the connection (Timeout)");
}

TEST_F(Http2Peer, ATimeoutReportsThatTheServerIsSlow) {
  const auto first = Open();
  Say(Head(1) + Data(1, "", NGHTTP2_FLAG_END_STREAM));
  const Timer pong = executor_->clock()->After(9s, TimerKind::kProgress, [this] {
    Say(Bytes({.type = NGHTTP2_PING, .flags = NGHTTP2_FLAG_ACK, .payload = std::string(8, '\0')}));
  });
  EXPECT_EQ(Call().error().ToString(),
            "get pods default/p: no answer within 10s: 10.0.0.1:80 had not answered yet (Timeout)");
}

TEST_F(Http2Peer, ATimeoutReportsThatTheServerAllowsNoMoreStreams) {
  Get();
  peer().Accept();
  Say(Bytes(
      {.type = NGHTTP2_SETTINGS, .payload = BigEndian(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2) + BigEndian(0, 4)}));
  EXPECT_EQ(Call().error().ToString(),
            "get pods default/p: no answer within 10s: all streams that 10.0.0.1:80 allows were in use (Timeout)");
}

TEST_F(Http2Peer, ACancelledCallNamesItsPendingStepAndItsOperationOnce) {
  std::stop_source stop;
  const Timer timer = executor_->clock()->After(3s, TimerKind::kProgress, [&] { stop.request_stop(); });
  const Timer accepted = executor_->clock()->After(1s, TimerKind::kProgress, [this] { loop_->attempt(0).Accept(); });
  EXPECT_EQ(Call(stop.get_token()).error().ToString(),
            "get pods default/p: cancelled: still connecting to 10.0.0.1:80: no answer to the HTTP/2 preface "
            "(Cancelled)");
}

TEST_F(Http2Peer, ReconnectsWithinASecondOfTheServersReturn) {
  const auto sink = Get();
  executor_->Advance(7300ms);  // the server is gone: each SYN is lost
  const std::size_t attempts = loop_->attempts();
  executor_->Advance(1s);
  ASSERT_EQ(loop_->attempts(), attempts + 1);
  peer().Accept();
  Say(Settings());
  Say(Head(1) + Data(1, "", NGHTTP2_FLAG_END_STREAM));
  EXPECT_EQ(sink->Failure(), "ended well");
}

}  // namespace
}  // namespace kgen::testing
