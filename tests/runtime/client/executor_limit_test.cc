// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Work that a call depends on (reading a token file, resolving a name) does not wait behind the tasks that make calls.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "kgen/client/connection.h"
#include "tests/support/http2_harness.h"

namespace kgen::test_support {
namespace {

class ExecutorLimit : public Http2Test {
 protected:
  void TearDown() override {
    Http2Test::TearDown();
    std::filesystem::remove(token_);
  }
  const std::string token_ = ::testing::TempDir() + "/kgen_executor_limit_token";
};

// Contract: design D9.
TEST_F(ExecutorLimit, CallsFromTasksThatHoldEveryThreadAreAnswered) {
  Serve();
  std::ofstream(token_) << "secret";
  const auto executor = Must(MakeThreadPool({.threads = 2, .max_threads = 4}));
  rest::Config config = Config();
  config.host = "https://localhost:" + std::to_string(server_->port());  // a name to resolve
  config.executor = executor;
  const Connection connection = Must(Connection::Open(config));
  config.bearer_token = "fixed";  // so that the file is read with the first call
  config.bearer_token_file = token_ + "_later";
  const Connection with_file = Must(Connection::Open(config));
  std::filesystem::copy_file(token_, config.bearer_token_file, std::filesystem::copy_options::overwrite_existing);

  int done = 0;
  for (int i = 0; i < 8; ++i) {
    executor->Blocking("handler", [&, &from = i % 2 == 0 ? connection : with_file] {
      const auto answer = from.Call({.path = "/ok"});
      EXPECT_TRUE(answer.has_value()) << answer.error();
      signal_.Change([&] { ++done; });
    });
  }
  EXPECT_TRUE(signal_.WaitFor([&] { return done == 8; }));
  std::filesystem::remove(config.bearer_token_file);
}

// Contract: design D9.
TEST_F(ExecutorLimit, APluginRunsWhileTasksHoldEveryThread) {
  Serve();
  const auto executor = Must(MakeThreadPool({.threads = 2, .max_threads = 4}));
  rest::Config config = Config();
  config.executor = executor;
  config.bearer_token = "";
  config.exec = {.api_version = "client.authentication.k8s.io/v1",
                 .command = "/bin/sh",
                 .args = {"-c", R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
                                R"("status":{"token":"secret"}}')"},
                 .interactive_mode = rest::ExecConfig::InteractiveMode::kNever};
  const Connection connection = Must(Connection::Open(config));
  int done = 0;
  for (int i = 0; i < 8; ++i) {
    executor->Blocking("handler", [&] {
      const auto answer = connection.Call({.path = "/ok"});
      EXPECT_TRUE(answer.has_value()) << answer.error();
      signal_.Change([&] { ++done; });
    });
  }
  EXPECT_TRUE(signal_.WaitFor([&] { return done == 8; }));
}

}  // namespace
}  // namespace kgen::test_support
