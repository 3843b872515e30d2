// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The real transport against the HTTP/2 server: a recording sink, a handler that is a function, and waits for both.
#ifndef KGEN_TESTS_SUPPORT_HTTP2_HARNESS_H_
#define KGEN_TESTS_SUPPORT_HTTP2_HARNESS_H_

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/core/executor.h"
#include "kgen/net/transport.h"
#include "net/http2_transport.h"
#include "testing/http2_server.h"
#include "tests/support/signal.h"

namespace kgen::test_support {

// Remembers what it was given.
class RecordingSink final : public ResponseSink {
 public:
  void OnHead(HttpHead head) override {
    signal_.Change([&] { head_ = std::move(head); });
  }
  void OnBytes(std::string bytes) override {
    signal_.Change([&] { body_ += bytes; });
    if (const Shared<Exchange> exchange = consumes_ ? signal_.Look([&] { return exchange_; }) : nullptr) {
      exchange->Consumed(bytes.size());
    } else if (consumes_) {
      early_ += bytes.size();
    }
  }
  void OnEnd(HttpEnd end) override {
    signal_.Change([&] {
      ++ends_;
      lost_ = end.connection_lost;
      end_ = std::move(end.result);
    });
  }

  // Gives every byte back as it comes.
  void Consume(const Shared<Exchange>& exchange) {
    signal_.Change([&] { exchange_ = exchange; });
    exchange->Consumed(early_.exchange(0));
  }
  void SetConsumes() { consumes_ = true; }

  bool WaitHead() {
    return signal_.WaitFor([&] { return head_.has_value() || ends_ > 0; }) && status() != 0;
  }
  bool WaitBytes(std::size_t size) {
    return signal_.WaitFor([&] { return body_.size() >= size || ends_ > 0; }) && body().size() >= size;
  }
  // What OnEnd gave; a failure of the test if it does not come.
  Result<void> WaitEnd() {
    if (!signal_.WaitFor([&] { return ends_ > 0; })) return Fail(Code::kInternal, "the test waited in vain");
    return signal_.Look([&] { return *end_; });
  }

  int status() {
    return signal_.Look([&] { return head_ ? head_->status : 0; });
  }
  HttpHead head() {
    return signal_.Look([&] { return head_.value_or(HttpHead()); });
  }
  std::string body() {
    return signal_.Look([&] { return body_; });
  }
  // Whether the end came because the connection was lost.
  bool lost() {
    return signal_.Look([&] { return lost_; });
  }
  int ends() {
    return signal_.Look([&] { return ends_; });
  }

 private:
  Signal signal_;
  std::optional<HttpHead> head_;
  std::string body_;
  std::optional<Result<void>> end_;
  int ends_ = 0;
  bool lost_ = false;
  Shared<Exchange> exchange_;
  std::atomic<bool> consumes_{false};
  std::atomic<std::size_t> early_{0};
};

class FunctionHandler final : public kgen::testing::HttpHandler {
 public:
  using Function = std::function<void(kgen::testing::ServerRequest, Shared<kgen::testing::ResponseWriter>)>;
  explicit FunctionHandler(Function function) : function_(std::move(function)) {}
  void OnRequest(kgen::testing::ServerRequest request, Shared<kgen::testing::ResponseWriter> writer) override {
    function_(std::move(request), std::move(writer));
  }

 private:
  const Function function_;
};

struct Call {
  Shared<RecordingSink> sink;
  Shared<Exchange> exchange;
};

inline Call Get(Transport& transport, std::string path, bool long_lived = false, bool consume = true) {
  Call call{.sink = MakeShared<RecordingSink>(), .exchange = {}};
  if (consume) call.sink->SetConsumes();
  call.exchange = transport.Start({.method = "GET", .path = std::move(path), .long_lived = long_lived}, call.sink);
  if (consume) call.sink->Consume(call.exchange);
  return call;
}

// A server, whose answer depends on the path, and a transport to it.
//   /ok       200 "fine"                     /hold     200, and the writer is kept in `held`
//   /silent   kept in `held`, no head        /big      200 and a mebibyte
//   /size     200 and the size of the request's body   /denied   401
class Http2Test : public ::testing::Test {
 protected:
  static constexpr std::size_t kBig = 1024 * 1024;

  void Serve(kgen::testing::Http2ServerOptions options = {}) {
    options.on_change = [this] { signal_.Notify(); };
    auto server =
        kgen::testing::Http2Server::Start(options, MakeShared<FunctionHandler>([this](auto request, auto writer) {
                                            Answer(std::move(request), std::move(writer));
                                          }));
    ASSERT_TRUE(server.has_value()) << server.error();
    server_ = *server;
  }

  // The configurations for a connection, and for the transport alone.
  rest::Config Config() const { return {.host = server_->url(), .tls = {.ca_data = server_->ca_pem()}}; }
  net::ServerConfig Target() const { return {.host = server_->url(), .tls = {.ca_data = server_->ca_pem()}}; }

  void Connect(const Http2Options& options = {}) { Connect(Target(), options); }
  void Connect(const net::ServerConfig& config, const Http2Options& options = {}) {
    auto transport = MakeHttp2Transport(config, DefaultExecutor(), nullptr, options);
    ASSERT_TRUE(transport.has_value()) << transport.error();
    transport_ = *transport;
  }

  void TearDown() override {
    if (transport_) transport_->Close();
    transport_ = {};
    if (server_) server_->Stop();
    server_ = {};
  }

  void Answer(kgen::testing::ServerRequest request, Shared<kgen::testing::ResponseWriter> writer) {
    const bool hold = request.path.starts_with("/hold");
    if (request.path == "/silent" || hold) {
      if (hold) writer->Head(200, {{"content-type", "text/plain"}});
      signal_.Change([&] { held_.push_back(writer); });
      return;
    }
    std::string body = "fine";
    if (request.path == "/big") body.assign(kBig, 'b');
    if (request.path == "/size") body = std::to_string(request.body.size());
    writer->Head(request.path == "/denied" ? 401 : 200, {{"x-path", request.path}});
    writer->Write(std::move(body));
    writer->End();
    if (request.path == "/big") signal_.Change([&] { held_.push_back(writer); });
  }

  // The writers of /silent, /hold and /big in order of arrival, once there are so many.
  std::vector<Shared<kgen::testing::ResponseWriter>> WaitHeld(std::size_t count) {
    EXPECT_TRUE(signal_.WaitFor([&] { return held_.size() >= count; }));
    return signal_.Look([&] { return held_; });
  }
  template <typename Condition>
  bool WaitServer(Condition condition) {
    return signal_.WaitFor(std::move(condition));
  }

  Signal signal_;  // guards held_; notified when one of the server's numbers changes
  std::vector<Shared<kgen::testing::ResponseWriter>> held_;
  Shared<kgen::testing::Http2Server> server_;
  Shared<Transport> transport_;
};

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_SUPPORT_HTTP2_HARNESS_H_
