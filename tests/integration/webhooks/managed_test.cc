// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Certificates that the replicas make and renew by themselves, with a real kube-apiserver: behind a Service, and at a
// URL as on a laptop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/webhook/certificate_options.h"
#include "controller/webhook/certificate_plan.h"
#include "controller/webhook/certificate_state.h"
#include "examples/cronjob/webhooks.h"
#include "kgen/client/config.h"
#include "kgen/controller/webhook_certificates.h"
#include "kgen/core/observer.h"
#include "kgen/core/quantity.h"
#include "net/x509.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/integration/webhooks/forwarder.h"
#include "tests/integration/webhooks/load.h"
#include "tests/integration/webhooks/webhook_fixture.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_seconds;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;

// Remembers what the replicas say about their certificates.
class Watcher final : public Observer {
 public:
  bool IsEnabled(LogComponent, LogLevel level) const noexcept override { return level <= LogLevel::kInfo; }
  void OnLogged(const Logged& event) override {
    const std::scoped_lock lock(mutex_);
    logged_.emplace_back(event.message);
  }
  std::vector<std::string> Logged(std::string_view part) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> all;
    for (const std::string& each : logged_) {
      if (each.find(part) != std::string::npos) all.push_back(each);
    }
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> logged_;  // guarded by mutex_
};

// A certificate lives for a minute, the shortest that there is, and an authority for two.
class ManagedTest : public WebhookTest {
 protected:
  void SetUp() override {
    WebhookTest::SetUp();
    if (IsSkipped()) return;
    rest::Config config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = watcher_;
    connection_.emplace(Must(Connection::Open(config)));
    PointTo(forwarder_.port());
  }
  void TearDown() override {
    if (HasFailure()) {
      for (const std::string& each : watcher_->Logged("")) ADD_FAILURE() << "logged: " << each;
    }
    for (const auto& each : replicas_) each->RequestStop();
    replicas_.clear();
    WebhookTest::TearDown();
  }

  ManagedCertificates Options() const {
    ManagedCertificates options{.namespace_ = "cronjobs",
                                .crds = {kCrd},
                                .install = Configuration("MutatingWebhookConfiguration").dump() + "\n---\n" +
                                           Configuration("ValidatingWebhookConfiguration").dump(),
                                .validity = 1min,
                                .ca_validity = 2min,
                                .renew_before = 30s,
                                .settle = 10s,
                                .poll = 1s};
    if (GetParam() == Route::kUrl) {
      options.url = "https://127.0.0.1:" + std::to_string(forwarder_.port());
    } else {
      options.service = "cronjobs";
    }
    return options;
  }
  Replica& StartManaged(const ManagedCertificates& options, Nanos drain = 1s) {
    Replica& replica = *replicas_.emplace_back(std::make_unique<Replica>(
        *connection_, WebhookOptions{.managed = options, .drain = drain}, AddCronJobWebhooks));
    forwarder_.Add(replica.port(), replica.health());
    return replica;
  }
  // Starts two at the same time, and waits until the server calls them.
  std::pair<Replica&, Replica&> StartTwo(Nanos drain = 1s) {
    Replica &one = StartManaged(Options(), drain), &other = StartManaged(Options());
    EXPECT_TRUE(forwarder_.AwaitReady(one.port()));
    EXPECT_TRUE(forwarder_.AwaitReady(other.port()));
    AwaitWebhooks();
    return {one, other};
  }

  std::string SecretName() const {
    return GetParam() == Route::kUrl ? "webhook-certificates" : "cronjobs-certificates";
  }
  std::string SecretPath() const { return "/api/v1/namespaces/cronjobs/secrets/" + SecretName(); }
  // A part of the Secret; "": it is not there.
  std::string InSecret(const char* key) const {
    const Json secret = Read(SecretPath());
    if (secret.is_null() || !secret["data"].contains(key)) return {};
    return Bytes::FromBase64(secret["data"][key].get<std::string>()).Decode();
  }
  // Every caBundle that leads to these replicas.
  std::vector<std::string> Bundles() const {
    std::vector<Json> clients;
    for (const char* each : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
      const Json object = Read("/apis/admissionregistration.k8s.io/v1/" + std::string(each) + "/cronjobs");
      if (object.is_null()) continue;
      for (const Json& webhook : object["webhooks"]) clients.push_back(webhook["clientConfig"]);
    }
    const Json crd = Read("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + std::string(kCrd));
    clients.push_back(crd["spec"]["conversion"]["webhook"]["clientConfig"]);
    std::vector<std::string> bundles;
    for (const Json& client : clients) {
      bundles.push_back(Bytes::FromBase64(client.value("caBundle", "")).Decode());
    }
    return bundles;
  }
  // Makes the Secret as it is when replicas have run for this long.
  void MakeSecretOf(std::chrono::seconds age) {
    const auto setup = Must(controller::SetUpCertificates(Options()));
    const controller::CertificatePlan plan{.names = setup.names,
                                           .validity = setup.options.validity,
                                           .ca_validity = setup.options.ca_validity,
                                           .renew_before = setup.options.renew_before,
                                           .settle = setup.options.settle};
    controller::CertificateState state;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    for (sys_seconds at = now - age; at <= now;) {
      auto step = Must(controller::NextStep(state, {state.Published()}, at, plan));
      step ? state = std::move(step->state), void() : void(at += 1s);
    }
    Json secret = {{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"type", "kubernetes.io/tls"},
                   {"metadata",
                    {{"name", SecretName()},
                     {"namespace", "cronjobs"},
                     {"annotations", {{"kgen.dev/webhook-certificates", "v1"}}}}}};
    for (const auto& [key, value] : controller::EncodeState(state)) {
      secret["data"][key] = std::string(Bytes::Of(value).base64());
    }
    Apply("/api/v1/namespaces/cronjobs/secrets", secret);
  }

  const Shared<Watcher> watcher_ = MakeShared<Watcher>();
  Forwarder forwarder_;
  std::vector<std::unique_ptr<Replica>> replicas_;
};

TEST_P(ManagedTest, ReplicasThatStartTogetherMakeOneAuthorityAndInstallTheirWebhooks) {
  ASSERT_EQ(InSecret("ca.crt"), "");
  const auto [one, other] = StartTwo();

  const std::string authority = InSecret("ca.crt"), served = CertificateAt(one.port());
  EXPECT_EQ(served, InSecret("tls.crt"));
  EXPECT_EQ(CertificateAt(other.port()), served);
  EXPECT_TRUE(net::IsSignedBy(served, authority));
  EXPECT_THAT(watcher_->Logged("made a CA"), SizeIs(1)) << "the other replica has read it";
  EXPECT_THAT(Bundles(), SizeIs(3));
  EXPECT_THAT(Bundles(), Each(authority));

  EXPECT_THAT(KubectlFile("create", CronJob("first", "1 2 3 4 5")), HasSubstr("created"));
  EXPECT_EQ(Get("v2", "first")["spec"]["schedule"]["minute"], "1");
  Json own = CronJob("own", "nonsense");
  own["metadata"]["namespace"] = "cronjobs";
  EXPECT_THAT(KubectlFile("create", own), HasSubstr("created")) << "the program's own namespace is excluded";
}

// The Secret is nearly two minutes old, so that its authority is about to be replaced.
TEST_P(ManagedTest, CertificateAndAuthorityAreReplacedUnderLoadWithoutAFailedRequest) {
  MakeSecretOf(107s);
  const auto [one, other] = StartTwo(/*drain=*/5s);
  const auto failed = FailedCalls();
  Load load(*connection_);
  ASSERT_TRUE(load.Passes(1));
  const std::string authority = InSecret("ca.crt"), certificate = CertificateAt(one.port());

  // A new version of the program needs one more name, so it renews the certificate.
  ManagedCertificates named = Options();
  named.names = {"webhooks.example.com"};
  Replica& last = StartManaged(named);
  ASSERT_TRUE(forwarder_.AwaitReady(last.port()));
  const std::vector<Replica*> stay = {&other, &last};
  const auto serve = [&](const auto& good) {
    return Eventually(
        [&] { return std::ranges::all_of(stay, [&](Replica* each) { return good(CertificateAt(each->port())); }); },
        120s);
  };
  EXPECT_TRUE(serve([&](const std::string& now) { return !now.empty() && now != certificate; }));

  // A replica ends after the first step of the other rotation. The others go on with it.
  EXPECT_TRUE(Eventually([&] { return !InSecret("next-ca.crt").empty() || InSecret("ca.crt") != authority; }, 120s));
  one.RequestStop();
  EXPECT_TRUE(serve([&](const std::string& now) { return !now.empty() && !net::IsSignedBy(now, authority); }));
  EXPECT_THAT(Bundles(), Each(HasSubstr(InSecret("ca.crt"))));
  EXPECT_TRUE(load.Passes(3));
  one.Stop();
  EXPECT_TRUE(load.Passes(1));

  EXPECT_THAT(load.End(), IsEmpty());
  EXPECT_EQ(FailedCalls(), failed);
  EXPECT_THAT(watcher_->Logged("because the certificate was not for webhooks.example.com"), Not(IsEmpty()));
  EXPECT_THAT(watcher_->Logged("signed a certificate with the next CA"), Not(IsEmpty()));
}

// The route makes no difference here.
class LostSecretTest : public ManagedTest {};

TEST_P(LostSecretTest, ADeletedSecretIsMadeAgainUnderLoadWithoutAFailedRequest) {
  const auto [one, other] = StartTwo();
  const auto failed = FailedCalls();
  Load load(*connection_);
  ASSERT_TRUE(load.Passes(1));
  const std::string authority = InSecret("ca.crt");
  Must(connection_->Call({.method = "DELETE", .path = SecretPath(), .what = "delete the Secret"}));
  for (const Replica* each : {&one, &other}) {
    EXPECT_TRUE(Eventually(
        [&] {
          const std::string now = CertificateAt(each->port());
          return !now.empty() && !net::IsSignedBy(now, authority);
        },
        120s));
  }
  EXPECT_TRUE(load.Passes(3));
  EXPECT_THAT(load.End(), IsEmpty());
  EXPECT_EQ(FailedCalls(), failed);
}

INSTANTIATE_TEST_SUITE_P(Url, ManagedTest, ::testing::Values(Route::kUrl));
INSTANTIATE_TEST_SUITE_P(Service, ManagedTest, ::testing::Values(Route::kService));
INSTANTIATE_TEST_SUITE_P(Service, LostSecretTest, ::testing::Values(Route::kService));

}  // namespace
}  // namespace kgen::integration
