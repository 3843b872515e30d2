// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A Connection over a scripted transport in virtual time.
#ifndef KGEN_TESTS_RUNTIME_CLIENT_CLIENT_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CLIENT_CLIENT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "client/request/connection_state.h"
#include "kgen/client/connection.h"
#include "tests/support/fake_transport.h"
#include "tests/support/manual_executor.h"

namespace kgen::testing {

// What the observer received.
class RecordingObserver final : public Observer {
 public:
  void OnLimiterWaited(const LimiterWaited& event) override { waits.push_back(event.waited); }
  void OnHandlerFailed(const HandlerFailed& event) override { failures.emplace_back(event.what); }
  std::vector<Nanos> waits;
  std::vector<std::string> failures;
};

class ClientTest : public ::testing::Test {
 protected:
  using Settings = client::ConnectionState::Settings;

  // Whatever a test has left under way holds the connection, and that the executor.
  ~ClientTest() override {
    transport_->EndAll();
    executor_->Shutdown();
  }

  Connection MakeConnection(Settings settings) {
    return client::ConnectionState::Handle({transport_, executor_, observer_}, std::move(settings));
  }
  static Settings Defaults() { return {.host = "https://test", .user_agent = "test/kgen"}; }
  Connection connection() { return MakeConnection(Defaults()); }

  static ApiRequest Get(std::string path = "/api/v1/namespaces/default/pods/web-0") {
    return {.method = "GET", .path = std::move(path), .what = "get pods default/web-0"};
  }
  static ApiRequest Post() {
    return {.method = "POST",
            .path = "/api/v1/pods",
            .content_type = "application/json",
            .body = "{}",
            .what = "create pods"};
  }
  Nanos Elapsed() { return executor_->manual_clock()->Now() - start_; }

  Shared<ManualExecutor> executor_ = MakeShared<ManualExecutor>();
  Shared<FakeTransport> transport_ = MakeShared<FakeTransport>();
  Shared<RecordingObserver> observer_ = MakeShared<RecordingObserver>();
  const TimePoint start_ = executor_->manual_clock()->Now();
};

inline const Error kReset(Code::kUnavailable, "connection reset");
inline const Error kRefused = Error::NotConnected("cannot connect to test: refused");

inline FakeReply Busy(int status, std::string retry_after) {
  return {.status = status,
          .body = "busy",
          .headers = {{"content-type", "text/plain"}, {"retry-after", std::move(retry_after)}}};
}

}  // namespace kgen::testing

#endif  // KGEN_TESTS_RUNTIME_CLIENT_CLIENT_FIXTURE_H_
