// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Certificates of server and client: what the transport trusts, what it presents, and the errors. All certificates are
// made here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "kgen/client/connection.h"
#include "net/tls.h"
#include "tests/support/http2_harness.h"

namespace kgen::test_support {
namespace {

using kgen::testing::CertificateAuthority;
using kgen::testing::CertificateOptions;
using kgen::testing::Identity;
using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class Http2Tls : public Http2Test {
 protected:
  void ServeWith(CertificateOptions certificate) {
    Serve({.authority = authority_, .certificate = std::move(certificate)});
  }

  // What a request to the server ends with.
  Error Failure(const net::ServerConfig& config) {
    Connect(config);
    const Call call = Get(*transport_, "/ok");
    const auto end = call.sink->WaitEnd();
    EXPECT_EQ(call.sink->ends(), 1);
    return end ? Error(Code::kInternal, "the request succeeded") : end.error();
  }
  bool Succeeds(const net::ServerConfig& config) {
    Connect(config);
    const auto end = Get(*transport_, "/ok").sink->WaitEnd();
    if (!end) ADD_FAILURE() << end.error();
    return end.has_value();
  }

  const Shared<CertificateAuthority> authority_ = Must(CertificateAuthority::Make("the right authority"));
};

TEST_F(Http2Tls, NamesBothSidesWhenTheCertificateIsForAnotherHost) {
  ServeWith({.names = {"localhost", "10.1.2.3"}});
  net::ServerConfig config = Target();
  config.tls.server_name = "api.example.test";
  Error error = Failure(config);
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(),
              HasSubstr("the server's certificate is not for api.example.test, it is for localhost, 10.1.2.3"));

  error = Failure(Target());
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(),
              HasSubstr("the server's certificate is not for 127.0.0.1, it is for localhost, 10.1.2.3"));
}

TEST_F(Http2Tls, DoesNotTakeAnIpAddressWrittenAsANameForTheAddress) {
  ServeWith({.common_name = "127.0.0.1", .names = {"localhost"}});
  EXPECT_EQ(Failure(Target()).code(), Code::kTls);
}

TEST_F(Http2Tls, IgnoresTheCommonName) {
  ServeWith({.common_name = "localhost", .names = {}});
  net::ServerConfig config = Target();
  config.tls.server_name = "localhost";
  const Error error = Failure(config);
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), HasSubstr("not for localhost, it is for no name at all"));
}

// Contract: client TRN-7.
TEST_F(Http2Tls, AsksForTheGivenServerNameInsteadOfTheHost) {
  ServeWith({.names = {"api.example.test"}});
  net::ServerConfig config = Target();
  config.tls.server_name = "api.example.test";
  EXPECT_TRUE(Succeeds(config));
}

TEST_F(Http2Tls, TakesNamesAsKubectlDoes) {
  ServeWith({.names = {"*.test", "plain"}});
  net::ServerConfig config = Target();
  for (const char* name : {"api.test", "API.test", "api.test.", "*.test", "plain", "plain."}) {
    config.tls.server_name = name;
    EXPECT_TRUE(Succeeds(config)) << name;
  }
  for (const char* name : {"test", ".test", "a.api.test", "plai"}) {
    config.tls.server_name = name;
    EXPECT_EQ(Failure(config).code(), Code::kTls) << name;
  }
}

TEST_F(Http2Tls, RefusesANameWithANulBeforeSendingAnything) {
  ServeWith({.names = {"plain"}});
  rest::Config config = Config();
  config.tls.server_name = std::string("plain\0.evil", 11);
  const auto opened = Connection::Open(config);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), Code::kConfig);
  EXPECT_THAT(opened.error().ToString(), HasSubstr("tls-server-name"));
}

// Contract: client TRN-8.
TEST_F(Http2Tls, NamesTheAuthorityThatItDoesNotKnow) {
  ServeWith({});
  net::ServerConfig config = Target();
  config.tls.ca_data = Must(CertificateAuthority::Make("another authority"))->certificate_pem();
  const Error error = Failure(config);
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(),
              HasSubstr("the server's certificate is signed by an unknown authority, CN=the right authority"));

  config.tls.ca_data.clear();  // the system's roots
  EXPECT_THAT(Failure(config).message(), HasSubstr("signed by an unknown authority"));
}

TEST_F(Http2Tls, DetectsAnAuthorityThatWasRecreatedUnderItsOldName) {
  ServeWith({});
  net::ServerConfig config = Target();
  config.tls.ca_data = Must(CertificateAuthority::Make("the right authority"))->certificate_pem();
  const Error error = Failure(config);
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("authority"), HasSubstr("the right authority")));
}

TEST_F(Http2Tls, ReportsWhenACertificateHasExpired) {
  ServeWith({.common_name = "old server", .from = -48h, .until = -24h});
  const Error error = Failure(Target());
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), HasSubstr("the certificate of CN=old server expired at 20"));
}

TEST_F(Http2Tls, ReportsWhenACertificateIsNotYetValid) {
  ServeWith({.common_name = "new server", .from = 24h, .until = 48h});
  const Error error = Failure(Target());
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), HasSubstr("the certificate of CN=new server is not valid before 20"));
}

TEST_F(Http2Tls, SkipsEveryCheckOfTheServerIfConfigured) {
  ServeWith({.names = {"elsewhere"}, .from = -48h, .until = -24h});
  net::ServerConfig config = Target();
  config.tls = {.insecure_skip_verify = true};
  EXPECT_TRUE(Succeeds(config));
}

TEST_F(Http2Tls, TrustsTheServersOwnCertificateIfConfigured) {
  // A leaf as the only root, as self-signed servers are given; its authority is not known to the client.
  const Identity leaf = Must(authority_->Issue());
  const auto context = MakeHttp2Transport({.host = "https://127.0.0.1:1", .tls = {.ca_data = leaf.certificate_pem}},
                                          DefaultExecutor(), nullptr);
  EXPECT_TRUE(context.has_value());
}

// Contract: client TRN-9.
TEST_F(Http2Tls, ShowsItsCertificateToAServerThatWantsOne) {
  Serve({.authority = authority_, .client_certificate = true});
  const Identity client = Must(authority_->Issue({.common_name = "admin", .names = {}}));
  net::ServerConfig config = Target();
  config.tls.certificate_data = client.certificate_pem;
  config.tls.key_data = client.key_pem;
  EXPECT_TRUE(Succeeds(config));
}

TEST_F(Http2Tls, ReportsThatTheServerWantsACertificate) {
  Serve({.authority = authority_, .client_certificate = true});
  const Error error = Failure(Target());
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("the server refused"), HasSubstr("certificate required")));
  EXPECT_TRUE(error.not_connected());
}

TEST_F(Http2Tls, ReportsThatTheServerRefusesItsCertificate) {
  Serve({.authority = authority_, .client_certificate = true});
  const Identity client = Must(Must(CertificateAuthority::Make("strangers"))->Issue({.names = {}}));
  net::ServerConfig config = Target();
  config.tls.certificate_data = client.certificate_pem;
  config.tls.key_data = client.key_pem;
  const Error error = Failure(config);
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("the server refused"), HasSubstr("another client certificate")));
}

TEST_F(Http2Tls, ReportsThatTheServerDoesNotSpeakHttp2) {
  Serve({.authority = authority_, .alpn = "http/1.1"});
  Error error = Failure(Target());
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), HasSubstr("the server does not speak HTTP/2"));
  TearDown();

  Serve({.authority = authority_, .alpn = ""});  // answers no ALPN at all
  error = Failure(Target());
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), HasSubstr("the server does not speak HTTP/2"));
}

TEST_F(Http2Tls, ReportsThatTheServerDoesNotSpeakTls) {
  Serve({.tls = false});
  net::ServerConfig config{.host = "https://127.0.0.1:" + std::to_string(server_->port()),
                           .tls = {.insecure_skip_verify = true}};
  const Error error = Failure(config);
  EXPECT_EQ(error.code(), Code::kTls);
  EXPECT_THAT(error.message(), HasSubstr("the server does not speak TLS"));
}

TEST_F(Http2Tls, RecognisesTheReplyOfATlsServerToPlainText) {
  Serve();
  const Error error = Failure({.host = "http://127.0.0.1:" + std::to_string(server_->port())});
  EXPECT_EQ(error.code(), Code::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("cannot connect to 127.0.0.1"));
  EXPECT_TRUE(error.not_connected());
}

class Http2TlsFiles : public Http2Tls {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override {
    Http2Tls::TearDown();
    std::filesystem::remove_all(folder_);
  }
  std::string Write(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  void WriteIdentity(const Identity& identity) {
    Write("client.pem", identity.certificate_pem);
    Write("client.key", identity.key_pem);
  }
  // A client with a certificate from files.
  net::ServerConfig ConfigWith(const Identity& identity) {
    WriteIdentity(identity);
    net::ServerConfig config = Target();
    config.tls.certificate_file = (folder_ / "client.pem").string();
    config.tls.key_file = (folder_ / "client.key").string();
    return config;
  }
  static Error Refused(const rest::TlsConfig& tls) {
    const auto made = MakeHttp2Transport({.host = "https://127.0.0.1:1", .tls = tls}, DefaultExecutor(), nullptr);
    return made ? Error(Code::kInternal, "accepted") : made.error();
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("kgen_tls_" +
       std::to_string(std::hash<std::string>()(::testing::UnitTest::GetInstance()->current_test_info()->name())));
};

TEST_F(Http2TlsFiles, ReadsAuthorityAndIdentityFromFiles) {
  Serve({.authority = authority_, .client_certificate = true});
  const Identity client = Must(authority_->Issue({.names = {}}));
  net::ServerConfig config = Target();
  config.tls = {.ca_file = Write("ca.pem", authority_->certificate_pem()),
                .certificate_file = Write("client.pem", client.certificate_pem),
                .key_file = Write("client.key", client.key_pem)};
  EXPECT_TRUE(Succeeds(config));
}

// Contract: client CFG-10.
TEST_F(Http2TlsFiles, PrefersDataToTheFile) {
  Serve({.authority = authority_});
  net::ServerConfig config = Target();
  config.tls.ca_file = "no such file";
  EXPECT_TRUE(Succeeds(config));
}

// Contract: client TRN-11.
TEST_F(Http2TlsFiles, ReadsReplacedFilesForTheNextConnection) {
  Serve({.authority = Must(CertificateAuthority::Make("the new authority"))});
  net::ServerConfig config = Target();
  const std::string file = Write("ca.pem", authority_->certificate_pem());
  config.tls = {.ca_file = file};
  EXPECT_EQ(Failure(config).code(), Code::kTls);
  Write("ca.pem", "nothing of use");  // what was read before stays
  EXPECT_EQ(Get(*transport_, "/ok").sink->WaitEnd().error().code(), Code::kTls);
  Write("ca.pem", server_->ca_pem());
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
}

// Contract: client TRN-10.
TEST_F(Http2TlsFiles, TheFirstConnectionUsesTheFilesAsTheyAreThen) {
  Serve({.authority = authority_, .client_certificate = true});
  const Identity old = Must(Must(CertificateAuthority::Make("strangers"))->Issue({.names = {}}));
  const net::ServerConfig config = ConfigWith(old);
  Connect(config);
  WriteIdentity(Must(authority_->Issue({.names = {}})));
  const auto end = Get(*transport_, "/ok").sink->WaitEnd();
  EXPECT_TRUE(end.has_value()) << end.error();
}

// Contract: client TRN-10.
TEST_F(Http2TlsFiles, ReplacedFilesEndWatchesAndMoveRequestsToANewConnection) {
  Serve({.authority = authority_, .client_certificate = true});
  Connect(ConfigWith(Must(authority_->Issue({.names = {}}))), {.file_check = Nanos(0)});
  const Call watch = Get(*transport_, "/hold?watch=true", /*long_lived=*/true);
  ASSERT_TRUE(watch.sink->WaitHead());
  const Call slow = Get(*transport_, "/silent");
  const auto writer = WaitHeld(2)[1];

  WriteIdentity({.certificate_pem = "nothing", .key_pem = "of use"});
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value()) << "what cannot be used leaves everything";
  WriteIdentity(Must(authority_->Issue({.names = {}})));
  // A look that began with the request before may still be under way, and finds nothing: the next request looks again.
  for (int i = 0; i < 10'000 && watch.sink->ends() == 0; ++i)
    ASSERT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  const auto end = watch.sink->WaitEnd();
  EXPECT_TRUE(end.has_value()) << "as if the server had ended it: " << end.error();
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 2u);

  EXPECT_EQ(slow.sink->ends(), 0);
  writer->Head(200, {});
  writer->End();
  EXPECT_TRUE(slow.sink->WaitEnd().has_value()) << slow.sink->WaitEnd().error();
  EXPECT_TRUE(WaitServer([&] { return server_->open_connections() == 1; }));
}

TEST_F(Http2TlsFiles, ReplacedFilesLeaveALogWithItsConnection) {
  Serve({.authority = authority_, .client_certificate = true});
  Connect(ConfigWith(Must(authority_->Issue({.names = {}}))), {.file_check = Nanos(0)});
  const Call log = Get(*transport_, "/hold", /*long_lived=*/true);
  ASSERT_TRUE(log.sink->WaitHead());
  const auto writer = WaitHeld(1)[0];
  WriteIdentity(Must(authority_->Issue({.names = {}})));
  for (int i = 0; i < 10'000 && server_->connections() == 1; ++i)
    ASSERT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 2u);
  EXPECT_EQ(log.sink->ends(), 0);
  writer->Write("the rest");
  writer->End();
  EXPECT_TRUE(log.sink->WaitEnd().has_value()) << log.sink->WaitEnd().error();
  EXPECT_TRUE(WaitServer([&] { return server_->open_connections() == 1; }));
}

// Contract: client TRN-10.
TEST_F(Http2TlsFiles, AWatchWithoutAResponseMovesToTheNewConnection) {
  Serve({.authority = authority_, .client_certificate = true});
  Connect(ConfigWith(Must(authority_->Issue({.names = {}}))), {.file_check = Nanos(0)});
  const Call watch = Get(*transport_, "/silent", /*long_lived=*/true);
  WaitHeld(1);
  WriteIdentity(Must(authority_->Issue({.names = {}})));
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  const auto writer = WaitHeld(2)[1];
  writer->Head(200, {});
  writer->End();
  EXPECT_TRUE(watch.sink->WaitEnd().has_value()) << watch.sink->WaitEnd().error();
  EXPECT_EQ(server_->connections(), 2u);
}

// Contract: client TRN-10.
TEST_F(Http2TlsFiles, ChecksTheFilesAfterA401) {
  Serve({.authority = authority_, .client_certificate = true});
  Connect(ConfigWith(Must(authority_->Issue({.names = {}}))), {.file_check = 1h, .file_check_on_401 = Nanos(0)});
  const Call watch = Get(*transport_, "/hold?watch=true", /*long_lived=*/true);
  ASSERT_TRUE(watch.sink->WaitHead());
  WriteIdentity(Must(authority_->Issue({.names = {}})));
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(watch.sink->ends(), 0) << "the hour is not over";
  EXPECT_TRUE(Get(*transport_, "/denied").sink->WaitEnd().has_value());
  EXPECT_TRUE(watch.sink->WaitEnd().has_value());
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  EXPECT_EQ(server_->connections(), 2u);
}

// Contract: design D9.
TEST_F(Http2TlsFiles, ChecksTheFilesForANewConnectionEvenIfTheExecutorIsBusy) {
  Serve({.authority = authority_, .client_certificate = true});
  const auto executor = Must(MakeThreadPool({.threads = 1, .max_threads = 2}));
  const auto gate = executor->MakeWaiter("the end of the test");
  bool held = false, ended = false;
  executor->Blocking("body", [&] {
    signal_.Change([&] { held = true; });
    EXPECT_TRUE(gate->Wait());
    signal_.Change([&] { ended = true; });
  });
  ASSERT_TRUE(signal_.WaitFor([&] { return held; }));
  transport_ = Must(MakeHttp2Transport(ConfigWith(Must(authority_->Issue({.names = {}}))), executor, nullptr));
  EXPECT_TRUE(Get(*transport_, "/ok").sink->WaitEnd().has_value());
  gate->Notify();
  EXPECT_TRUE(signal_.WaitFor([&] { return ended; }));
}

TEST_F(Http2TlsFiles, RefusesUnusableFilesBeforeSendingAnything) {
  const Identity one = Must(authority_->Issue()), other = Must(authority_->Issue());
  Error error = Refused({.ca_file = (folder_ / "missing.pem").string()});
  EXPECT_EQ(error.code(), Code::kConfig);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("missing.pem"), HasSubstr("No such file")));
  error = Refused({.ca_data = "rubbish"});
  EXPECT_EQ(error.code(), Code::kConfig);
  EXPECT_THAT(error.message(), HasSubstr("certificate authority: contains no certificate in PEM form"));
  error = Refused({.certificate_data = one.certificate_pem, .key_data = other.key_pem});
  EXPECT_EQ(error.code(), Code::kConfig);
  EXPECT_THAT(error.message(), HasSubstr("client key: is not the key of client certificate"));
  error = Refused({.certificate_data = one.certificate_pem, .key_data = "rubbish"});
  EXPECT_THAT(error.message(), HasSubstr("client key: contains no private key in PEM form"));
  EXPECT_EQ(Refused({.certificate_data = one.certificate_pem}).code(), Code::kConfig);
  EXPECT_EQ(Refused({.key_data = one.key_pem}).code(), Code::kConfig);
  EXPECT_EQ(Refused({.ca_data = authority_->certificate_pem(), .insecure_skip_verify = true}).code(), Code::kConfig);
}

TEST(Tls, TellsWhichCertificatesAConfigTrusts) {
  const std::string one = Must(CertificateAuthority::Make("one"))->certificate_pem();
  const std::string two = Must(CertificateAuthority::Make("two"))->certificate_pem();
  const std::string file = ::testing::TempDir() + "trusted-" + std::to_string(::getpid()) + ".pem";
  std::ofstream(file) << one;
  const auto digest = [](const rest::TlsConfig& config) { return Must(net::TrustDigest(config)); };
  EXPECT_THAT(digest({.ca_data = one}), ::testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_EQ(digest({.ca_data = one}), digest({.ca_file = file}));
  EXPECT_NE(digest({.ca_data = one}), digest({.ca_data = two}));
  EXPECT_EQ(digest({}), "system");
  EXPECT_EQ(digest({.insecure_skip_verify = true}), "insecure");
  ASSERT_EQ(std::remove(file.c_str()), 0);
  EXPECT_EQ(net::TrustDigest({.ca_file = file}).error().code(), Code::kConfig);
}

// Created before the first use of OpenSSL, so that it is destroyed after OpenSSL has cleaned up.
struct GoesLast {
  Shared<Transport> transport;
  ~GoesLast() {
    if (!transport) return;
    transport = {};
    const auto late = MakeHttp2Transport({.host = "https://127.0.0.1:1"}, DefaultExecutor(), nullptr);
    const bool refused = !late && late.error().code() == Code::kCancelled;
    std::_Exit(refused ? 7 : 8);
  }
} goes_last;

[[noreturn]] void ExitWithAConnectionInAStaticObject() {
  auto handler = MakeShared<FunctionHandler>([](auto, auto writer) { writer->Head(200, {}); });
  static auto server = Must(testing::Http2Server::Start({}, std::move(handler)));
  const net::ServerConfig config{.host = server->url(), .tls = {.ca_data = server->ca_pem()}};
  goes_last.transport = Must(MakeHttp2Transport(config, DefaultExecutor(), nullptr));
  static const Call kCall = Get(*goes_last.transport, "/never-ending");
  std::exit(kCall.sink->WaitHead() ? 9 : 10);
}

// Contract: design D11.
TEST(Http2TlsDeathTest, AConnectionInAStaticObjectMayOutliveOpenSsl) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ExitWithAConnectionInAStaticObject(), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace kgen::test_support
