// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An endpoint without sockets, in virtual time.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_ENDPOINT_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_ENDPOINT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "controller/serve/endpoint_server.h"
#include "tests/support/manual_executor.h"
#include "tests/support/manual_loop.h"

namespace kgen::testing {

class EndpointTest : public ::testing::Test {
 protected:
  using Kind = controller::EndpointRoutes::Kind;
  using Server = controller::EndpointServer;

  class Reports final : public Observer {
   public:
    void OnCheckFailed(const CheckFailed& event) override {
      lines.push_back(std::string(event.check) + ": " + event.error->ToString());
    }
    void OnRecovered(const Recovered& event) override {
      lines.push_back(std::string(event.source) + " " + std::string(event.key) + ": works again after " +
                      std::to_string(event.failures) + " in " +
                      std::to_string(std::chrono::floor<std::chrono::seconds>(event.after).count()) + " s");
    }
    std::vector<std::string> lines;
  };

  ~EndpointTest() override {
    if (server_) server_->Close();
    executor_->Run();
    executor_->Shutdown();
  }

  void Listen(EndpointOptions options = {}) {
    options.executor = executor_;
    options.observer = reports_;
    server_ = Must(Server::Listen(options, loop_));
  }
  void Start() {
    Must(server_->Start());
    executor_->Run();
  }
  void Check(Kind kind, std::string_view name, bool passes = true) {
    Must(server_->Add(kind, name, [passes](const std::stop_token&) -> Result<std::string> {
      if (!passes) return Fail(Code::kUnavailable, "the secret reason");
      return "";
    }));
  }

  static std::string Request(std::string_view target, std::string_view headers = "", std::string_view method = "GET") {
    return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n";
  }
  // What the endpoint sends to a client that asks once.
  std::string Send(std::string_view request) {
    const auto client = loop_->Dial();
    client->Receive(request);
    executor_->Run();
    return client->sent();
  }
  std::string Get(std::string_view target, std::string_view headers = "") { return Send(Request(target, headers)); }
  static std::string BodyOf(const std::string& response) { return response.substr(response.find("\r\n\r\n") + 4); }
  static std::string StatusOf(const std::string& response) { return response.substr(9, 3); }
  // "200 ok"
  std::string Ask(std::string_view target, std::string_view headers = "") {
    const std::string response = Get(target, headers);
    return StatusOf(response) + " " + BodyOf(response);
  }

  const Shared<ManualExecutor> executor_ = MakeShared<ManualExecutor>();
  const Shared<ManualLoop> loop_ = MakeShared<ManualLoop>(executor_);
  const Shared<Reports> reports_ = MakeShared<Reports>();
  Shared<Server> server_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_ENDPOINT_FIXTURE_H_
