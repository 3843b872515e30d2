// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A webhook server without sockets and without TLS, in virtual time.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_WEBHOOK_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_WEBHOOK_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/webhook/webhook_server.h"
#include "tests/support/manual_executor.h"
#include "tests/support/manual_loop.h"

namespace kgen::testing {

// A handler as the test wants it.
class FakeHandler final : public controller::WebhookHandler {
 public:
  using Function = std::function<std::string(std::string_view review, const controller::WebhookCall& call)>;
  explicit FakeHandler(Function function, Kind kind = Kind::kValidating)
      : function_(std::move(function)), kind_(kind) {}

  Kind kind() const noexcept override { return kind_; }
  std::string Answer(std::string_view review, const controller::WebhookCall& call) override {
    ++calls;
    return function_(review, call);
  }
  std::string AnswerTooLarge(std::size_t limit) override { return R"({"larger_than":)" + std::to_string(limit) + "}"; }
  std::uint64_t panics() const noexcept override { return panicked.load(); }

  std::atomic<int> calls{0};
  std::atomic<std::uint64_t> panicked{0};

 private:
  const Function function_;
  const Kind kind_;
};

// What a handler answers that says what it got.
inline std::string Echo(std::string_view review, const controller::WebhookCall&) {
  return R"({"got":)" + std::to_string(review.size()) + "}";
}

inline std::string Post(std::string_view target, std::string_view body, std::string_view headers = "") {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n" +
         std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

class WebhookTest : public ::testing::Test {
 protected:
  using Server = controller::WebhookServer;
  using Kind = controller::WebhookHandler::Kind;
  using Call = controller::WebhookCall;

  class Reports final : public Observer {
   public:
    void OnCheckFailed(const CheckFailed& event) override {
      lines.push_back(std::string(event.check) + ": " + event.error->ToString());
    }
    std::vector<std::string> lines;
  };

  ~WebhookTest() override {
    if (server_) server_->Close();
    executor_->Run();
    executor_->Shutdown();
  }

  Shared<FakeHandler> Add(const std::string& path, FakeHandler::Function function = Echo,
                          Kind kind = Kind::kValidating) {
    auto handler = MakeShared<FakeHandler>(std::move(function), kind);
    Must(routes_->Add(path, handler));
    return handler;
  }
  Server::Setup SetupOf(WebhookOptions options = {}) {
    return {.options = std::move(options),
            .routes = routes_,
            .metrics = metrics_,
            .observer = reports_,
            .loop = loop_,
            .executor = executor_,
            .plain = true};
  }
  void Listen(WebhookOptions options = {}) { server_ = Must(Server::Listen(SetupOf(std::move(options)))); }
  // Listens and serves.
  void Serve(WebhookOptions options = {}) {
    Listen(std::move(options));
    Must(server_->Start());
    executor_->Run();
  }
  // What the server sends to a client that asks once.
  std::string Send(std::string_view request) {
    const auto client = loop_->Dial();
    client->Receive(request);
    executor_->Run();
    return client->sent();
  }
  static std::string BodyOf(const std::string& response) { return response.substr(response.find("\r\n\r\n") + 4); }
  static std::string StatusOf(const std::string& response) { return response.substr(9, 3); }
  // "200 {}"
  std::string Ask(std::string_view target, std::string_view body = "{}", std::string_view headers = "") {
    const std::string response = Send(Post(target, body, headers));
    return response.empty() ? "" : StatusOf(response) + " " + BodyOf(response);
  }
  std::string Ready() {
    const auto ready = server_->ReadyCheck()({});
    return ready ? "ready" : ready.error().message();
  }
  // A function of a handler that returns only when the test, or the stop of its call, says so.
  struct Gate {
    explicit Gate(Executor& executor) : opened(executor.MakeWaiter("the gate")) {}
    FakeHandler::Function Function() {
      return [this](std::string_view, const Call& call) -> std::string {
        ++inside;
        const auto passed = opened->Wait(call.stop);
        --inside;
        if (call.stop.stop_requested()) stopped = true;
        return passed ? R"({"passed":true})" : R"({"stopped":true})";
      };
    }
    const Shared<Waiter> opened;
    int inside = 0;
    bool stopped = false;
  };

  const Shared<ManualExecutor> executor_ = MakeShared<ManualExecutor>();
  const Shared<ManualLoop> loop_ = MakeShared<ManualLoop>(executor_);
  const Shared<Reports> reports_ = MakeShared<Reports>();
  const Shared<controller::WebhookRoutes> routes_ = MakeShared<controller::WebhookRoutes>();
  Metrics metrics_;
  Shared<Server> server_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_WEBHOOK_WEBHOOK_FIXTURE_H_
