// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The certificates of a webhook server and of its clients, in virtual time.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "net/tls.h"
#include "testing/certificates.h"
#include "tests/runtime/controller/webhook/webhook_fixture.h"
#include "tests/support/private_folder.h"
#include "tests/support/prometheus_parser.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class WebhookTlsTest : public WebhookTest {
 protected:
  WebhookTlsTest() { Add("/v"); }

  // One connection over TLS.
  class Client {
   public:
    Client(WebhookTlsTest& test, const rest::TlsConfig& config, const std::string& name)
        : test_(test),
          engine_(Must(net::TlsEngine::Client(Must(net::TlsContext::ForClient(config)), name))),
          stream_(test.loop_->Dial()) {}
    // What comes back for a review, or why there is no connection.
    std::string Ask() {
      std::string request = Post("/v", "{}"), response;
      for (int i = 0; i < 12; ++i) {
        engine_.Feed(stream_->sent().substr(read_));
        read_ = stream_->sent().size();
        const auto open = engine_.Handshake();
        if (!open) return open.error().message();
        if (*open && !request.empty()) Must(engine_.Write(std::exchange(request, "")));
        char bytes[4096];
        if (*open) {
          const auto size = engine_.Read(bytes);
          if (!size) return size.error().message();
          response.append(bytes, *size);
        }
        stream_->Receive(engine_.TakeOutput());
        test_.executor_->Run();
      }
      return response;
    }
    bool closed() const { return stream_->closed(); }

   private:
    WebhookTlsTest& test_;
    net::TlsEngine engine_;
    const Shared<ManualStream> stream_;
    std::size_t read_ = 0;
  };

  rest::TlsConfig Trusting() const { return {.ca_data = authority_->certificate_pem()}; }
  Client Dial(const std::string& name) { return {*this, Trusting(), name}; }
  std::string Fetch(const std::string& name) { return Dial(name).Ask(); }
  std::string FetchAs(const Shared<CertificateAuthority>& authority) {
    const Identity identity = Must(authority->Issue({.common_name = "apiserver"}));
    rest::TlsConfig config = Trusting();
    config.certificate_data = identity.certificate_pem;
    config.key_data = identity.key_pem;
    return Client(*this, config, "old.example").Ask();
  }
  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }
  void Write(const Identity& identity) {
    std::ofstream(Path("tls.crt")) << identity.certificate_pem;
    std::ofstream(Path("tls.key")) << identity.key_pem;
  }
  void ServeTls(WebhookOptions options) {
    auto setup = SetupOf(std::move(options));
    setup.plain = false;
    setup.certificates = certificates_;
    server_ = Must(Server::Listen(std::move(setup)));
    Must(server_->Start());
    executor_->Run();
  }
  std::string Refused(WebhookOptions options) {
    auto setup = SetupOf(std::move(options));
    setup.plain = false;
    const auto server = Server::Listen(std::move(setup));
    return server ? "accepted" : std::string(ToString(server.error().code())) + " " + server.error().ToString();
  }

  const test_support::PrivateFolder folder_;
  const Shared<CertificateAuthority> authority_ = Must(CertificateAuthority::Make());
  const Identity identity_ = Must(authority_->Issue({.names = {"old.example", "127.0.0.1"}}));
  controller::WebhookServer::Certificates certificates_;
};

// Contract: controller 194, 205, 213.
TEST_F(WebhookTlsTest, ServesTheLatestCertificateAndOpenConnectionsKeepTheirs) {
  Write(identity_);
  ServeTls({.certificate = TlsFiles{Path("tls.crt"), Path("tls.key")}});
  const auto count = [this](const std::string& name) {
    return test_support::ParsePrometheus(Must(metrics_.Text())).at("certwatcher_read_certificate_" + name);
  };
  Client open = Dial("old.example");
  EXPECT_THAT(open.Ask(), HasSubstr("{\"got\":2}"));
  EXPECT_EQ(count("total"), 1);

  const Identity fresh = Must(authority_->Issue({.names = {"new.example"}}));
  Write({fresh.certificate_pem, identity_.key_pem});  // half of it
  executor_->Advance(10s);
  EXPECT_THAT(reports_->lines, ElementsAre(AllOf(StartsWith("webhooks/certificate: "), HasSubstr("tls.crt"),
                                                 HasSubstr("is not the key of"))));
  EXPECT_EQ(count("errors_total"), 1);
  EXPECT_THAT(Fetch("old.example"), HasSubstr("200 OK"));
  EXPECT_EQ(Ready(), "ready");

  Write(fresh);
  executor_->Advance(10s);
  EXPECT_THAT(Fetch("new.example"), HasSubstr("200 OK"));
  EXPECT_THAT(Fetch("old.example"), HasSubstr("the server's certificate is not for old.example"));
  EXPECT_THAT(open.Ask(), HasSubstr("{\"got\":2}"));
  EXPECT_FALSE(open.closed());
}

TEST_F(WebhookTlsTest, TakesClientsWithoutAServerName) {
  Write(identity_);
  ServeTls({.certificate = TlsFiles{Path("tls.crt"), Path("tls.key")}});
  EXPECT_THAT(Fetch("127.0.0.1"), HasSubstr("200 OK"));  // an address is not sent as a server name
}

TEST_F(WebhookTlsTest, MakesItsOwnCertificateWithoutFiles) {
  ServeTls({.address = "127.0.0.2:9443"});
  EXPECT_THAT(Client(*this, {.insecure_skip_verify = true}, "localhost").Ask(), HasSubstr("{\"got\":2}"));
  EXPECT_THAT(Fetch("localhost"), HasSubstr("unknown authority"));
}

// Contract: controller 195.
TEST_F(WebhookTlsTest, RefusesClientsWithoutACertificateOfTheAuthority) {
  const auto clients = Must(CertificateAuthority::Make("clients")), others = Must(CertificateAuthority::Make("others"));
  Write(identity_);
  std::ofstream(Path("ca.crt")) << clients->certificate_pem();
  ServeTls({.certificate = TlsFiles{Path("tls.crt"), Path("tls.key")}, .client_ca_file = Path("ca.crt")});
  EXPECT_THAT(FetchAs(clients), HasSubstr("{\"got\":2}"));
  EXPECT_THAT(FetchAs(others), HasSubstr("the server refused: "));
  EXPECT_THAT(Fetch("old.example"), HasSubstr("certificate required"));

  // The file is watched, too.
  std::ofstream(Path("ca.crt")) << others->certificate_pem();
  executor_->Advance(10s);
  EXPECT_THAT(FetchAs(others), HasSubstr("{\"got\":2}"));
  EXPECT_THAT(FetchAs(clients), HasSubstr("the server refused: "));
  std::ofstream(Path("ca.crt")) << "rubbish";
  executor_->Advance(10s);
  EXPECT_THAT(FetchAs(others), HasSubstr("{\"got\":2}"));  // still
  EXPECT_THAT(Fetch("old.example"), HasSubstr("certificate required"));
  EXPECT_THAT(reports_->lines, ElementsAre(HasSubstr("ca.crt")));
}

TEST_F(WebhookTlsTest, RefusesClientsInTheSameWayWithItsOwnCertificate) {
  std::ofstream(Path("ca.crt")) << authority_->certificate_pem();
  ServeTls({.client_ca_file = Path("ca.crt")});
  EXPECT_THAT(Client(*this, {.insecure_skip_verify = true}, "localhost").Ask(), HasSubstr("certificate required"));
}

TEST_F(WebhookTlsTest, TakesCertificatesFromElsewhere) {
  Shared<net::TlsContext> current;
  std::string authority;
  certificates_ = [&](const std::string& client_ca_pem) {
    authority = client_ca_pem;
    return current;
  };
  std::ofstream(Path("ca.crt")) << authority_->certificate_pem();
  ServeTls({.client_ca_file = Path("ca.crt")});
  EXPECT_THAT(Ready(), HasSubstr("no certificate yet"));
  Client early = Dial("old.example");
  EXPECT_EQ(early.Ask(), "");
  EXPECT_TRUE(early.closed());
  current = Must(net::TlsContext::ForServer(
      {.certificate_pem = identity_.certificate_pem, .key_pem = identity_.key_pem, .alpn = ""}));
  EXPECT_EQ(Ready(), "ready");
  EXPECT_THAT(Fetch("old.example"), HasSubstr("200 OK"));
  EXPECT_EQ(authority, authority_->certificate_pem());
}

TEST_F(WebhookTlsTest, SurvivesClientsWithoutTls) {
  Write(identity_);
  ServeTls({.certificate = TlsFiles{Path("tls.crt"), Path("tls.key")}});
  for (const std::string& bytes : {Post("/v", "{}"), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                                   std::string(100'000, '\x16'), std::string("\x80\x2e\x01\x00\x02", 5)}) {
    const auto client = loop_->Dial();
    client->Receive(bytes);
    executor_->Advance(30s);
    EXPECT_TRUE(client->closed());
  }
  EXPECT_THAT(Fetch("old.example"), HasSubstr("200 OK"));
}

// Contract: controller 205.
TEST_F(WebhookTlsTest, FailsIfTheFilesCannotBeUsed) {
  Write(identity_);
  const TlsFiles good{Path("tls.crt"), Path("tls.key")};
  EXPECT_THAT(Refused({.certificate = TlsFiles{"/nothing.crt", "/nothing.key"}}),
              AllOf(StartsWith("Config "), HasSubstr("the webhook server's certificate"), HasSubstr("/nothing.crt")));
  EXPECT_THAT(Refused({.certificate = TlsFiles{good.certificate_file, ""}}),
              AllOf(StartsWith("Config "), HasSubstr("only the file of the certificate is named")));
  EXPECT_THAT(Refused({.certificate = good, .client_ca_file = "/nothing.ca"}),
              AllOf(StartsWith("Config "), HasSubstr("/nothing.ca")));
  EXPECT_THAT(Refused({.certificate = good, .client_ca_file = good.key_file}),
              AllOf(StartsWith("Config "), HasSubstr("contains no certificate")));
  std::ofstream(Path("empty")) << "";
  EXPECT_THAT(Refused({.client_ca_file = Path("empty")}), AllOf(StartsWith("Config "), HasSubstr("empty")));
}

}  // namespace
}  // namespace kgen::testing
