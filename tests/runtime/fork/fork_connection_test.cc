// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Connections in a forked child, which shares the socket with its parent: the child gets errors, and the parent's
// connection goes on as if there were no child.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kgen/client/connection.h"
#include "tests/runtime/fork/forked.h"
#include "tests/support/http2_harness.h"

namespace kgen::test_support {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// The socket of this process that is connected to that port.
int SocketTo(std::uint16_t port) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  while (const dirent* entry = ::readdir(folder.get())) {
    const int handle = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(handle, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET) continue;
    if (ntohs(peer.sin_port) == port) return handle;
  }
  return -1;
}

std::uint64_t BytesSent(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return info.tcpi_bytes_sent;
}

class ForkedTransport : public Http2Test {
 protected:
  // Opens a connection with a stream on it, on which nothing is sent without a request.
  void Open(bool tls) {
    Serve({.tls = tls});
    Connect({.ping_interval = 1h, .idle_timeout = 1h});
    stream_ = Get(*transport_, "/hold", true);
    ASSERT_TRUE(stream_.sink->WaitHead());
    ASSERT_TRUE(Get(*transport_, "/ok").sink->WaitEnd());
    socket_ = SocketTo(server_->port());
    ASSERT_GE(socket_, 0);
  }

  // What the child did must not be seen on the connection.
  void ExpectUntouched(const char* what, const std::function<std::string()>& body, const std::string& expected) {
    WaitForTheLoop();
    const std::uint64_t before = BytesSent(socket_);
    const Ending child = InChild(body);
    EXPECT_THAT(child.said, HasSubstr(expected))
        << what << ", exit code " << child.exit_code << ", signal " << child.signal;
    EXPECT_EQ(child.signal, 0) << what;
    EXPECT_EQ(BytesSent(socket_), before) << what << ": the child sent bytes";
  }

  // Until the window updates of earlier requests have been sent.
  static void WaitForTheLoop() {
    Signal signal;
    int left = 3;
    for (int i = 0; i < 3; ++i) {
      net::EventLoop::Process()->Post([&] { signal.Change([&] { --left; }); });
      ASSERT_TRUE(signal.WaitFor([&] { return left == 2 - i; }));
    }
  }

  void ExpectThatTheConnectionWorks() {
    const Result<void> end = Get(*transport_, "/ok").sink->WaitEnd();
    EXPECT_TRUE(end) << end;
    EXPECT_EQ(stream_.sink->ends(), 0);
    EXPECT_EQ(server_->connections(), 1u);
    EXPECT_EQ(server_->open_connections(), 1u);
  }

  void TestAll(bool tls) {
    Open(tls);
    ExpectUntouched(
        "a request",
        [&] {
          const auto sink = MakeShared<RecordingSink>();
          const auto exchange = transport_->Start({.method = "GET", .path = "/ok"}, sink);
          exchange->Cancel();
          exchange->Consumed(1);
          return Text(sink->WaitEnd());
        },
        std::string(kForked));
    ExpectUntouched(
        "the end of the stream",
        [&] {
          stream_.exchange->Consumed(100);
          stream_.exchange->Cancel();
          stream_ = {};
          return "success";
        },
        "success");
    ExpectUntouched(
        "the end of the transport",
        [&] {
          transport_->Close();
          transport_ = {};
          return "success";
        },
        "success");
    ExpectUntouched(
        "a new transport", [&] { return Text(MakeHttp2Transport(Target(), DefaultExecutor(), nullptr)); },
        std::string(kForked));
    ExpectUntouched("exit", [&]() -> std::string { std::exit(0); }, "");
    ExpectThatTheConnectionWorks();
  }

  Call stream_;
  int socket_ = -1;
};

TEST_F(ForkedTransport, SendsNothingOnAConnectionWithTls) { TestAll(true); }
TEST_F(ForkedTransport, SendsNothingOnAConnectionWithoutTls) { TestAll(false); }

// ----------------------------------------------------------------------------------------------- a process and its
// uses

class NoteSink final : public StreamSink {
 public:
  void OnOpen() override {}
  void OnBytes(std::string_view) override {}
  void OnEnd(Result<void> end) override { end_ = Text(end); }
  const std::string& end() const noexcept { return end_; }

 private:
  std::string end_;
};

class ForkedConnection : public Http2Test {
 protected:
  ForkedConnection() {
    Serve();
    connection_.emplace(Must(Connection::Open(Config())));
    Must(connection_->Call({.path = "/ok"}));
  }

  std::string Forked(const std::function<std::string()>& body) {
    const Ending child = InChild(body);
    return child.signal == 0 ? child.said : "signal " + std::to_string(child.signal);
  }

  std::optional<Connection> connection_;
};

TEST_F(ForkedConnection, FailsAtOnceInEveryWay) {
  EXPECT_THAT(Forked([&] { return Text(connection_->Call({.path = "/ok", .timeout = 1h})); }), HasSubstr(kForked));
  EXPECT_THAT(Forked([&] {
                std::string said = "not called";
                connection_->CallAsync({.path = "/ok"}, [&](Result<ApiResponse> answer) { said = Text(answer); });
                return said;
              }),
              HasSubstr(kForked));
  EXPECT_THAT(Forked([&] {
                const auto sink = MakeShared<NoteSink>();
                const auto call =
                    connection_->Stream({.path = "/hold"}, connection_->executor().MakeStrand("strand"), sink);
                call->Cancel();
                return sink->end();
              }),
              HasSubstr(kForked));
  EXPECT_THAT(Forked([&] { return Text(Connection::Open(Config())); }), HasSubstr(kForked)) << "the shared one";
  EXPECT_THAT(Forked([&] { return Text(Connection::Open({.host = "http://127.0.0.1:1"})); }), HasSubstr(kForked));
  EXPECT_THAT(Forked([&] { return Text(MakeHttpTransport(Config())); }), HasSubstr(kForked));
  EXPECT_EQ(Forked([&] {
              connection_.reset();
              return "success";
            }),
            "success");
  EXPECT_TRUE(connection_->Call({.path = "/ok"}));
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_F(ForkedConnection, FailsInAChildOfAChild) {
  EXPECT_THAT(Forked([&] { return Forked([&] { return Text(connection_->Call({.path = "/ok"})); }); }),
              HasSubstr(kForked));
}

// A connection that was opened and not used has neither a thread nor a descriptor, so each process gets its own.
[[noreturn]] void UseAConnectionThatWasOpenedBeforeTheFork() {
  int ends[2];
  if (::pipe(ends) != 0) std::exit(1);
  const pid_t server_process = ::fork();
  if (server_process == 0) {
    ::alarm(kChildSeconds);
    const auto server = Must(testing::Http2Server::Start({.tls = false}, MakeShared<FunctionHandler>([](auto, auto to) {
                                                           to->Head(200, {});
                                                           to->End();
                                                         })));
    const std::uint16_t port = server->port();
    if (::write(ends[1], &port, sizeof port) != sizeof port) std::exit(1);
    for (;;) ::pause();
  }
  std::uint16_t port = 0;
  if (::read(ends[0], &port, sizeof port) != sizeof port) std::exit(2);
  const Connection connection = Must(Connection::Open({.host = "http://127.0.0.1:" + std::to_string(port)}));
  const auto use = [&] { return Text(connection.Call({.path = "/ok"})); };
  const Ending first = InChild(use), second = InChild(use);
  const std::string own = use();
  ::kill(server_process, SIGKILL);
  (void)WaitFor(server_process);
  std::exit(first.said == "success" && second.said == "success" && own == "success" ? 7 : 3);
}

TEST(ForkBeforeUseDeathTest, AConnectionThatWasOnlyOpenedWorksInEachProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(UseAConnectionThatWasOpenedBeforeTheFork(), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace kgen::test_support
