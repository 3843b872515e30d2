// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The default observer of a connection, which writes to standard error, and one that the program sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "kgen/client/config.h"
#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

class ConnectionObserverTest : public ClientTest {
 protected:
  // What is written to standard error when a callback of this connection throws.
  std::string WrittenWhenACallbackThrows(const Connection& connection) {
    CaptureStderr();
    transport_->Reply({.body = "{}"});
    connection.CallAsync(Get(), [](const Result<ApiResponse>&) { throw std::runtime_error("out of range"); });
    executor_->Run();
    return GetCapturedStderr();
  }
};

TEST_F(ConnectionObserverTest, WritesAWarningToStandardErrorWhenThereIsNoObserver) {
  EXPECT_THAT(WrittenWhenACallbackThrows(Connection::Over({transport_, executor_})),
              ::testing::EndsWith("Z ERROR kgen: get pods default/web-0: handler threw: out of range\n"));
}

TEST_F(ConnectionObserverTest, WritesNothingWhenThereIsAnObserver) {
  EXPECT_EQ(WrittenWhenACallbackThrows(Connection::Over({transport_, executor_, observer_})), "");
  EXPECT_EQ(observer_->failures.size(), 1u);
  EXPECT_EQ(WrittenWhenACallbackThrows(Connection::Over({transport_, executor_, NullObserver()})), "");
}

TEST_F(ConnectionObserverTest, WritesWarningsOfAConnectionFromAConfigWithoutAnObserver) {
  rest::Config config;
  config.host = "http://127.0.0.1:1";
  const auto warn = [&] {
    CaptureStderr();
    Must(Connection::Open(config)).observer().OnHandlerFailed({.informer = "pods", .what = "out of range"});
    return GetCapturedStderr();
  };
  EXPECT_THAT(warn(), ::testing::EndsWith("Z ERROR kgen: pods: handler threw: out of range\n"));
  config.observer = NullObserver();
  EXPECT_EQ(warn(), "");
}

}  // namespace
}  // namespace kgen::testing
