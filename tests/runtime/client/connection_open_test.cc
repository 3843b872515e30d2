// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Connection::Open: its checks, shared connections, and tokens that are read again.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "kgen/client/config.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/support/recording_tracer.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class OpenTest : public ClientTest {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "kgen_open_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
    config_.host = "http://127.0.0.1:1";
    config_.executor = executor_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, std::string_view text) {
    std::ofstream(folder_ + '/' + name, std::ios::binary) << text;
    return folder_ + '/' + name;
  }
  std::string Fault() {
    const Result<Connection> connection = Connection::Open(config_);
    if (connection) return "no fault";
    EXPECT_EQ(connection.error().code(), Code::kConfig);
    return connection.error().ToString();
  }

  std::string folder_;
  rest::Config config_;
};

// Contract: design D16.
TEST_F(OpenTest, SharesAnEqualConfigWhileItIsAlive) {
  std::optional<Connection> first = Must(Connection::Open(config_));
  EXPECT_EQ(*first, Must(Connection::Open(config_)));
  rest::Config other = config_;
  other.user_agent = "other";
  EXPECT_FALSE(*first == Must(Connection::Open(other)));
  other = config_;
  other.observer = MakeShared<RecordingObserver>();
  EXPECT_FALSE(*first == Must(Connection::Open(other)));
  other = config_;
  other.tracer = MakeShared<RecordingTracer>();
  EXPECT_FALSE(*first == Must(Connection::Open(other)));
}

TEST_F(OpenTest, KnowsItsHostAndNamespace) {
  config_.host = "http://127.0.0.1:1/prefix/";
  EXPECT_EQ(Must(Connection::Open(config_)).host(), "http://127.0.0.1:1/prefix");
  EXPECT_EQ(Must(Connection::Open(config_)).default_namespace(), "default");
  config_.namespace_ = "shop";
  EXPECT_EQ(Must(Connection::Open(config_)).default_namespace(), "shop");
}

TEST_F(OpenTest, RefusesFilesThatNeverEnd) {
  const std::string fifo = folder_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  config_.bearer_token_file = fifo;
  EXPECT_THAT(Fault(), HasSubstr("token file " + fifo + ": is a FIFO, not a regular file"));
  config_.bearer_token_file = "/dev/zero";
  EXPECT_THAT(Fault(), HasSubstr("token file /dev/zero: is a device, not a regular file"));
  config_.bearer_token_file = folder_;
  EXPECT_THAT(Fault(), HasSubstr("is a folder, not a file"));
  config_.bearer_token_file.clear();
  config_.host = "https://127.0.0.1:1";
  const auto refused = [&](std::string rest::TlsConfig::* file, std::string_view what) {
    config_.tls = {};
    if (what == "client key") config_.tls.certificate_data = "x";
    if (what == "client certificate") config_.tls.key_data = "x";
    config_.tls.*file = fifo;
    EXPECT_THAT(Fault(), HasSubstr(std::string(what) + " " + fifo + ": is a FIFO"));
  };
  refused(&rest::TlsConfig::ca_file, "certificate authority");
  refused(&rest::TlsConfig::certificate_file, "client certificate");
  refused(&rest::TlsConfig::key_file, "client key");
  const Result<rest::Config> loaded = rest::LoadConfig({.kubeconfig = fifo});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().ToString(), HasSubstr("kubeconfig " + fifo + ": is a FIFO"));
}

TEST_F(OpenTest, RefusesLimitsOfZeroOrLess) {
  for (const Nanos timeout : {Nanos(0), Nanos(-1)}) {
    config_.timeout = timeout;
    EXPECT_THAT(Fault(), HasSubstr("Config::timeout is " + std::string(timeout == Nanos(0) ? "0s" : "-1ns")));
  }
  config_.timeout = kNoLimit;
  EXPECT_TRUE(Connection::Open(config_));
  config_.qps = 0;
  EXPECT_THAT(Fault(), HasSubstr("Config::qps is 0"));
  config_.qps = 1;
  config_.burst = 0;
  EXPECT_THAT(Fault(), HasSubstr("Config::burst is 0; leave it out"));
  config_.burst = {};
  EXPECT_TRUE(Connection::Open(config_)) << "absent: those of one second";
}

// Contract: client TRN-7.
TEST_F(OpenTest, RefusesConfigsThatCannotWork) {
  config_.host = "ftp://x";
  EXPECT_THAT(Fault(), HasSubstr("ftp://x"));
  config_.host = "https://x";
  config_.tls.ca_file = folder_ + "/none";
  EXPECT_THAT(Fault(), HasSubstr("certificate authority " + folder_ + "/none: No such file"));
  config_.tls = {.ca_data = "x", .insecure_skip_verify = true};
  EXPECT_THAT(Fault(), HasSubstr("remove one of them"));
  config_.tls = {.certificate_data = "x"};
  EXPECT_THAT(Fault(), HasSubstr("but no client key"));
  config_.tls = {.ca_file = Write("empty", "")};
  EXPECT_THAT(Fault(), HasSubstr("/empty: contains no certificate"));
  config_.tls = {};
  config_.bearer_token = "a\nb";
  EXPECT_THAT(Fault(), HasSubstr("control characters"));
}

TEST_F(OpenTest, DoesNotShowCredentialsInTheHost) {
  for (const std::string host : {"https://bob:hunter2@api:6443", "bob:hunter2@api", "https://bob:hu/nt@er2@api"}) {
    config_.host = host;
    EXPECT_THAT(Fault(), ::testing::AllOf(HasSubstr("(hidden)@api"), ::testing::Not(HasSubstr("bob")),
                                          ::testing::Not(HasSubstr("er2"))));
    EXPECT_THAT(config_.ToString(), ::testing::AllOf(HasSubstr("(hidden)@api"), ::testing::Not(HasSubstr("er2"))));
  }
}

// Contract: client TRN-5.
TEST_F(OpenTest, RequiresATokenFileThatIsTheOnlyCredential) {
  config_.bearer_token_file = folder_ + "/none";
  EXPECT_THAT(Fault(), HasSubstr(folder_ + "/none"));
  config_.bearer_token_file = Write("blank", " \n");
  EXPECT_THAT(Fault(), HasSubstr("is empty"));
  config_.bearer_token_file = folder_ + "/none";
  config_.bearer_token = "fixed";
  EXPECT_EQ(Fault(), "no fault") << "the fixed one will do until the file comes";
}

class TokenTest : public OpenTest {
 protected:
  std::string Authorization(const Connection& connection) {
    transport_->Reply({});
    EXPECT_TRUE(connection.Call(Get()).has_value());
    return HeaderOf(transport_->last().request(), "authorization");
  }
  Connection WithFile(std::string token = {}) {
    Settings settings = Defaults();
    settings.token = std::move(token);
    settings.token_file = folder_ + "/token";
    return MakeConnection(settings);
  }
};

// Contract: client TRN-4.
TEST_F(TokenTest, IsReadAgainBeforeAMinuteHasPassedAndNotOnPostedWork) {
  Write("token", " one\n");
  const Connection connection = WithFile();
  EXPECT_EQ(Authorization(connection), "Bearer one");
  EXPECT_EQ(executor_->blocking(), 1u);
  Write("token", "two");
  executor_->Advance(49s);
  EXPECT_EQ(Authorization(connection), "Bearer one");
  executor_->Advance(1s);
  EXPECT_EQ(Authorization(connection), "Bearer two");
  EXPECT_EQ(executor_->blocking(), 2u);
}

// Contract: client TRN-4.
TEST_F(TokenTest, KeepsTheLastTokenWhileTheFileCannotBeRead) {
  Write("token", "one");
  const Connection connection = WithFile();
  EXPECT_EQ(Authorization(connection), "Bearer one");
  std::filesystem::remove(folder_ + "/token");
  executor_->Advance(120s);
  EXPECT_EQ(Authorization(connection), "Bearer one");
  Write("token", "two");
  EXPECT_EQ(Authorization(connection), "Bearer two") << "it tries again with the next request";
}

TEST_F(TokenTest, IsReplacedWithoutAnotherConnection) {
  config_.bearer_token = "one";
  const Connection connection = Must(Connection::Over(config_, transport_));
  EXPECT_EQ(Authorization(connection), "Bearer one");
  const auto replace = [&](const rest::Config& after) {
    return client::ConnectionState::Of(connection)->ReplaceCredentials(config_, after);
  };
  rest::Config after = config_;
  after.bearer_token = "two";
  EXPECT_TRUE(replace(after));
  EXPECT_EQ(Authorization(connection), "Bearer two");
  after.host = "http://127.0.0.1:2";
  EXPECT_FALSE(replace(after)) << "another server";
  after = config_;
  after.bearer_token.clear();
  EXPECT_FALSE(replace(after)) << "another sort of credentials";
  after = config_;
  after.tls.certificate_data = "new";
  EXPECT_FALSE(replace(after)) << "the transport is the caller's";
  EXPECT_EQ(Authorization(connection), "Bearer two");
}

TEST_F(OpenTest, FindsAConnectionByItsNewCredentials) {
  config_.bearer_token = "one";
  const Connection connection = Must(Connection::Open(config_));
  rest::Config after = config_;
  after.bearer_token = "two";
  EXPECT_TRUE(client::ConnectionState::Of(connection)->ReplaceCredentials(config_, after));
  EXPECT_EQ(connection, Must(Connection::Open(after)));
  EXPECT_FALSE(connection == Must(Connection::Open(config_)));
}

// Contract: client KCFG-10.
TEST_F(TokenTest, TheFileBeatsTheFixedToken) {
  const Connection connection = WithFile("fixed");
  EXPECT_EQ(Authorization(connection), "Bearer fixed");
  Write("token", "file");
  EXPECT_EQ(Authorization(connection), "Bearer file");
}

// Contract: client TRN-6.
TEST_F(TokenTest, IsReadAgainAfterA401WhichIsReturnedToTheCaller) {
  Write("token", "one");
  const Connection connection = WithFile();
  EXPECT_EQ(Authorization(connection), "Bearer one");
  Write("token", "two");
  transport_->Reply({.status = 401});
  EXPECT_EQ(connection.Call(Get()).error().code(), Code::kUnauthorized);
  EXPECT_EQ(Authorization(connection), "Bearer two");
}

TEST_F(TokenTest, FailsTheRequestWhenThereIsNoTokenAtAll) {
  const Result<ApiResponse> response = WithFile().Call(Get());
  EXPECT_EQ(response.error().code(), Code::kConfig);
  EXPECT_THAT(response.error().ToString(), HasSubstr("get pods default/web-0: token file"));
  EXPECT_EQ(transport_->size(), 0u);
}

}  // namespace
}  // namespace kgen::testing
