// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Certificates of webhooks when something is lost, foreign, malformed or away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "client/request/connection_state.h"
#include "tests/runtime/controller/webhook/certificates_fixture.h"
#include "tests/support/machine.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TroubleTest : public CertificatesTest {
 protected:
  void Begin(int replicas = 2) {
    AddConfiguration(true, "shop", {"a.shop.example.com"});
    AddConfiguration(false, "shop", {"b.shop.example.com"});
    CheckAlways();
    for (int i = 0; i < replicas; ++i) Start(ShortLived());
    cluster_.RunUntilIdle();
  }
  void SetInSecret(const std::string& key, const std::string& value) {
    json secret = Secret();
    secret["data"][key] = ToBase64(value);
    Must(cluster_.Update(secret.dump()));
  }
  void DropFromSecret(const std::string& key) {
    json secret = Secret();
    secret["data"].erase(key);
    Must(cluster_.Update(secret.dump()));
  }
  void ExpectOneGoodCertificate() {
    for (const Replica& replica : replicas_) EXPECT_EQ(replica.keeper->current_pem(), InSecret("tls.crt"));
    EXPECT_TRUE(net::KeyFits({InSecret("tls.crt"), InSecret("tls.key")}));
    EXPECT_TRUE(net::KeyFits({InSecret("ca.crt"), InSecret("ca.key")}));
    EXPECT_TRUE(net::IsSignedBy(InSecret("tls.crt"), InSecret("ca.crt")));
    EXPECT_EQ(Violation(), "");
    EXPECT_EQ(violation_, "");
  }
};

TEST_P(TroubleTest, ADeletedSecretMakesANewAuthorityWithoutAGap) {
  Begin();
  const std::string old = InSecret("ca.crt");
  Must(cluster_.Delete("secrets", "shop", "hooks-certificates"));
  Pass(5min, 1min);
  EXPECT_THAT(Logged("made a CA"), SizeIs(2));
  for (const Replica& replica : replicas_) {
    EXPECT_TRUE(net::IsSignedBy(replica.keeper->current_pem(), old)) << "API servers have time to notice the new CA";
  }
  Pass(2min, 1min);
  ExpectOneGoodCertificate();
  for (const auto& [where, bundle] : Bundles()) EXPECT_EQ(bundle, InSecret("ca.crt") + old) << where;
  Pass(4h + 5min);
  for (const auto& [where, bundle] : Bundles()) EXPECT_EQ(bundle, InSecret("ca.crt")) << where;
  EXPECT_EQ(violation_, "");
}

TEST_P(TroubleTest, ANewAuthorityIsServedAtOnceIfTheOldOneIsOfNoUse) {
  Begin();
  watcher_->after = {};
  Must(cluster_.Delete("secrets", "shop", "hooks-certificates"));
  for (const bool mutating : {true, false}) {  // nobody trusts the old one any more
    json object = Get(Resource(mutating), "", "shop");
    object["webhooks"][0]["clientConfig"].erase("caBundle");
    Must(cluster_.Update(object.dump()));
  }
  cluster_.Advance(1min);
  ExpectOneGoodCertificate();
}

TEST_P(TroubleTest, ANewAuthorityIsServedBeforeTheOldCertificateExpires) {
  ManagedCertificates options = ShortLived();
  options.renew_before = options.settle = 2h;
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  CheckAlways();
  Start(options);
  cluster_.RunUntilIdle();
  cluster_.Inject({.verb = "update", .resource = "secrets", .times = testing::kAlways, .status = 500});
  Pass(3h);  // it could not be renewed
  cluster_.ClearFaults();
  Must(cluster_.Delete("secrets", "shop", "hooks-certificates"));
  Pass(50min);
  EXPECT_NE(replicas_.front().keeper->current_pem(), InSecret("tls.crt"));
  Pass(10min, 1min);
  ExpectOneGoodCertificate();
}

TEST_P(TroubleTest, AReplicaThatStartsAfterTheSecretWasLostServesOnlyWhatIsTrusted) {
  Begin(1);
  Must(cluster_.Delete("secrets", "shop", "hooks-certificates"));
  // The configurations cannot be written for a while.
  cluster_.Inject({.verb = "patch", .times = 3, .status = 500});
  End(replicas_.front());
  Replica& fresh = Start(ShortLived());
  cluster_.Advance({});
  EXPECT_FALSE(fresh.keeper->has_certificate());
  EXPECT_THAT(fresh.keeper->Ready().error().ToString(), HasSubstr("write the caBundle of"));
  Pass(1min, 1s);
  ExpectOneGoodCertificate();
}

TEST_P(TroubleTest, AMalformedPartOfTheSecretIsMadeAgain) {
  Begin();
  const net::Identity foreign = Must(net::MakeAuthority("foreign", {WallNow() - 1h, WallNow() + 100h}));
  const struct {
    std::string key, value, expected;
    bool new_authority;
  } cases[] = {
      {"tls.crt", "nonsense", "renewed the certificate, because the certificate in the Secret cannot be used", false},
      {"tls.key", foreign.key_pem, "renewed the certificate", false},
      {"tls.crt", "", "renewed the certificate", false},
      {"ca.key", foreign.key_pem, "made a CA", true},
      {"ca.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "made a CA", true},
      {"rotation.json", "{", "wrote the record", false},
      {"rotation.json", R"({"signedUntil":"2026-01-01T00:00:00Z","old":[{"until":"x"}]})", "wrote the record", false},
      {"rotation.json", R"({"signedUntil":7})", "wrote the record", false},
      {"next-ca.crt", "nonsense", "", false},
  };
  for (const auto& [key, value, expected, new_authority] : cases) {
    const std::string authority = InSecret("ca.crt");
    watcher_->logged.clear();
    SetInSecret(key, value);
    Pass(new_authority ? 7min : 2min, 30s);  // API servers have five minutes to notice an authority
    EXPECT_THAT(Logged(expected), SizeIs(expected.empty() ? 0 : 1)) << key;
    EXPECT_THAT(watcher_->logged, SizeIs(expected.empty() ? 0 : 1)) << key;
    EXPECT_EQ(InSecret("ca.crt") != authority, new_authority || key == "ca.crt") << key;
    ExpectOneGoodCertificate();
  }
}

TEST_P(TroubleTest, AKeyPairOfAnotherAuthorityIsReplaced) {
  Begin();
  const net::Identity foreign = Must(net::MakeAuthority("foreign", {WallNow() - 1h, WallNow() + 100h}));
  const net::Identity leaf =
      Must(net::IssueServer(foreign, "foreign", {"hooks.shop.svc"}, {WallNow() - 1h, WallNow() + 100h}));
  json secret = Secret();
  secret["data"]["tls.crt"] = ToBase64(leaf.certificate_pem);
  secret["data"]["tls.key"] = ToBase64(leaf.key_pem);
  Must(cluster_.Update(secret.dump()));
  Pass(2min, 30s);
  EXPECT_THAT(Logged("because the certificate in the Secret is not of its CA"), SizeIs(1));
  ExpectOneGoodCertificate();
}

TEST_P(TroubleTest, ACertificateThatCannotSignIsNoAuthority) {
  Begin();
  const net::Identity leaf = Must(net::SelfSignedIdentity({"hooks.shop.svc"}, 100h));
  json secret = Secret();
  secret["data"]["ca.crt"] = ToBase64(leaf.certificate_pem);
  secret["data"]["ca.key"] = ToBase64(leaf.key_pem);
  Must(cluster_.Update(secret.dump()));
  Pass(7min, 30s);
  EXPECT_THAT(Logged("made a CA"), SizeIs(2));
  ExpectOneGoodCertificate();
}

TEST_P(TroubleTest, ASecretWithForeignDataIsRefused) {
  json secret = json::parse(testing::MinimalObject("v1", "Secret", "shop", "hooks-certificates").json());
  secret["data"] = {{"tls.crt", ToBase64("cert-manager's")}};
  Must(cluster_.Add(secret.dump()));
  const json before = Secret();
  Replica& replica = Start(ShortLived());
  cluster_.Advance(10min);
  EXPECT_EQ(Secret(), before);
  EXPECT_FALSE(replica.keeper->has_certificate());
  EXPECT_THAT(replica.keeper->Ready().error().message(),
              ::testing::AllOf(HasSubstr("the Secret shop/hooks-certificates has data that kgen has not written"),
                               HasSubstr("kubectl -n shop annotate secret hooks-certificates "
                                         "kgen.dev/webhook-certificates=v1")));
  EXPECT_THAT(Logged("has data that kgen has not written"), SizeIs(1)) << "not once for each attempt";
}

TEST_P(TroubleTest, AnEmptySecretIsFilled) {
  Must(cluster_.Add(testing::MinimalObject("v1", "Secret", "shop", "hooks-certificates")));
  Begin();
  ExpectOneGoodCertificate();
}

TEST_P(TroubleTest, AMissingConfigurationIsReportedAndWaitedFor) {
  ManagedCertificates options = ShortLived();
  options.crds = {"orders.shop.example.com"};
  Replica& replica = Start(options);
  cluster_.RunUntilIdle();
  EXPECT_TRUE(replica.keeper->has_certificate()) << "nothing that exists mistrusts it";
  Pass(10min, 1min);
  EXPECT_THAT(Logged("there is no"),
              ::testing::UnorderedElementsAre(
                  HasSubstr("there is no webhook configuration shop; it gets the caBundle once it is there"),
                  HasSubstr("there is no CustomResourceDefinition orders.shop.example.com")));
  AddConfiguration(false, "shop", {"a.shop.example.com"});
  AddCrd();
  Pass(1min, 1min);
  for (const auto& [where, bundle] : Bundles()) EXPECT_EQ(bundle, InSecret("ca.crt")) << where;
  EXPECT_THAT(Bundles(), SizeIs(2));
}

TEST_P(TroubleTest, ACrdWithoutAConversionWebhookIsReported) {
  ManagedCertificates options = ShortLived();
  options.configurations.clear();
  options.crds = {"orders.shop.example.com"};
  AddCrd(/*with_webhook=*/false);
  const json before = Get("customresourcedefinitions", "", "orders.shop.example.com");
  Replica& replica = Start(options);
  cluster_.RunUntilIdle();
  EXPECT_TRUE(replica.keeper->has_certificate());
  EXPECT_THAT(Logged("has no spec.conversion.webhook.clientConfig"), SizeIs(1));
  EXPECT_EQ(Get("customresourcedefinitions", "", "orders.shop.example.com"), before);
}

TEST_P(TroubleTest, ACaBundleThatSomebodyReplacesIsWrittenAgain) {
  Begin();
  watcher_->after = {};
  json object = Get(Resource(false), "", "shop");
  object["webhooks"][0]["clientConfig"]["caBundle"] = ToBase64("nonsense");
  object["webhooks"].push_back(Webhook("c.shop.example.com"));
  Must(cluster_.Update(object.dump()));
  cluster_.Advance(1min);
  EXPECT_THAT(Bundles(), SizeIs(3));
  for (const auto& [where, bundle] : Bundles()) EXPECT_EQ(bundle, InSecret("ca.crt")) << where;
}

TEST_P(TroubleTest, WhatWasPublishedBeforeTheFirstSecretStaysTrustedForALife) {
  // As after a change from files of cert-manager: its replicas serve until the update is done.
  const net::Identity foreign = Must(net::MakeAuthority("cert-manager's", {WallNow() - 1h, WallNow() + 100h}));
  json object = Configuration(true, "shop", {"a.shop.example.com"});
  object["webhooks"][0]["clientConfig"]["caBundle"] = ToBase64(foreign.certificate_pem);
  Must(cluster_.Add(object.dump()));
  CheckAlways();
  Start(ShortLived());
  cluster_.RunUntilIdle();
  EXPECT_EQ(Bundles().front().second, InSecret("ca.crt") + foreign.certificate_pem);
  EXPECT_EQ(Violation(), "");
  EXPECT_EQ(violation_, "");
  Pass(4h + 5min);
  EXPECT_EQ(Bundles().front().second, InSecret("ca.crt"));
}

TEST_P(TroubleTest, AServerThatIsAwayAtTheStartIsWaitedFor) {
  cluster_.Inject({.times = 7, .refuse = true});
  Begin();
  ExpectOneGoodCertificate();
  EXPECT_THAT(Logged("can be kept again"), ::testing::Not(IsEmpty()));
}

TEST_P(TroubleTest, AServerThatDoesNotAnswerDoesNotStopARound) {
  Begin(1);
  cluster_.Inject({.verb = "get", .resource = "secrets", .stall = true});
  Pass(5min, 1min);
  EXPECT_THAT(Logged("get secrets shop/hooks-certificates"), SizeIs(1));
  EXPECT_THAT(Logged("can be kept again"), SizeIs(1));
}

TEST_P(TroubleTest, AnAnswerThatIsLostIsNoReasonToWriteAgain) {
  cluster_.Inject({.verb = "create", .resource = "secrets", .skip = 1, .cut_after_bytes = 10});
  Begin(1);
  ExpectOneGoodCertificate();
  EXPECT_THAT(Logged("made a CA"), IsEmpty()) << "the Secret was written, though no answer said so";
}

TEST_P(TroubleTest, AReplicaWithAWrongClockDoesNoHarm) {
  for (const Nanos skew : {-100 * 24h, 3h, 1000 * 24h}) {
    Begin(0);
    test_support::Machine machine(cluster_.simulation(), {.skew = skew});
    const Connection plain = cluster_.Connection();
    Replica& wrong =
        Start(ShortLived(5min), Connection::Over({.transport = client::ConnectionState::Of(plain)->transport,
                                                  .executor = machine.executor(),
                                                  .observer = watcher_}));
    cluster_.RunUntilIdle();
    Start(ShortLived(5min));
    Pass(13h);
    ExpectOneGoodCertificate();
    EXPECT_THAT(Logged("made a CA"), SizeIs(1));
    EXPECT_THAT(Logged("clock of this machine"), ::testing::Not(IsEmpty()));
    End(wrong);
    End(replicas_.front());
    watcher_->after = {};
    watcher_->logged.clear();
    Must(cluster_.Delete("secrets", "shop", "hooks-certificates"));
    for (const bool mutating : {true, false}) Must(cluster_.Delete(Resource(mutating), "", "shop"));
  }
}

TEST_P(TroubleTest, WithoutTheRightToAskForTheTimeTheOwnClockCounts) {
  cluster_.Inject({.verb = "create", .resource = "secrets", .status = 403, .reason = "Forbidden"});
  Begin(1);
  ExpectOneGoodCertificate();
}

TEST_P(TroubleTest, AConfigurationThatMayNotBeReadKeepsAReplicaUnready) {
  cluster_.Inject({.verb = "get", .resource = Resource(false), .times = testing::kAlways, .status = 403});
  AddConfiguration(false, "shop", {"a.shop.example.com"});
  Replica& replica = Start(ShortLived());
  cluster_.Advance(5min);
  EXPECT_THAT(replica.keeper->Ready().error().message(), HasSubstr("get ValidatingWebhookConfiguration shop"));
  cluster_.ClearFaults();
  cluster_.Advance(1min);
  EXPECT_TRUE(replica.keeper->Ready());
}

TEST_P(TroubleTest, AStopEndsARequestAndAPause) {
  Begin(1);
  cluster_.Inject({.verb = "get", .resource = "secrets", .stall = true});
  cluster_.Advance(70s);
  End(replicas_.front());
  EXPECT_EQ(cluster_.census().requests, 0u);
}

TEST_P(TroubleTest, AnExecutorThreadThatMustNotBlockIsRefused) {
  const auto keeper = Must(CertificateKeeper::Make(cluster_.Connection(), ShortLived(), "shop"));
  std::optional<Result<void>> result;
  const Shared<Executor> executor = cluster_.simulation().executor();
  executor->Post(executor->MakeStrand("posted"), [&] { result = keeper->Run({}); });
  cluster_.RunUntilIdle();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error().code(), Code::kInvalidArgument);
}

TEST_P(TroubleTest, ClientsAreAskedForACertificateOfTheAuthorityThatIsGiven) {
  Begin(1);
  CertificateKeeper& keeper = *replicas_.front().keeper;
  const Shared<net::TlsContext> anybody = keeper.Current();
  ASSERT_TRUE(anybody);
  EXPECT_EQ(keeper.Current(), anybody);
  EXPECT_EQ(SSL_CTX_get_verify_mode(anybody->get()), SSL_VERIFY_NONE);
  const net::Identity authority = Must(net::MakeAuthority("clients", {WallNow() - 1h, WallNow() + 100h}));
  const Shared<net::TlsContext> some = keeper.Current(authority.certificate_pem);
  ASSERT_TRUE(some);
  EXPECT_EQ(SSL_CTX_get_verify_mode(some->get()), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
  EXPECT_EQ(keeper.Current(authority.certificate_pem), some);
  EXPECT_FALSE(keeper.Current("nonsense")) << "rather nobody than anybody";
  Pass(4h);
  EXPECT_NE(keeper.Current(authority.certificate_pem), some) << "the certificate was renewed";
}

INSTANTIATE_TEST_SUITE_P(Seeds, TroubleTest, ::testing::Values(1, 2));

// The server's own clock may jump, too: the next step is a function of the time that it says.
class StepTest : public ::testing::Test {
 protected:
  using Seconds = std::chrono::sys_seconds;
  CertificateState Step(const CertificateState& state, Seconds now) {
    const auto step = Must(NextStep(state, {}, now, plan_));
    return step ? step->state : state;
  }
  const Seconds begin_ = std::chrono::sys_days(std::chrono::January / 1 / 2026);
  const CertificatePlan plan_{.names = {"hooks"}, .validity = 4h, .ca_validity = 12h, .settle = 5min};
};

TEST_F(StepTest, AClockThatJumpsAheadAndBackCostsAnAuthorityButNoTrust) {
  const CertificateState first = Step({}, begin_);
  const CertificateState ahead = Step(first, begin_ + 9000h);
  EXPECT_NE(ahead.authority.facts.pem, first.authority.facts.pem);
  const auto back = Must(NextStep(ahead, {{ahead.authority.facts.pem, first.authority.facts.pem}}, begin_ + 1h, plan_));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->state.authority.valid(begin_ + 1h));
  EXPECT_TRUE(back->state.serving.valid(begin_ + 1h));
  EXPECT_THAT(back->state.Published(),
              ::testing::UnorderedElementsAre(back->state.authority.facts.pem, ahead.authority.facts.pem,
                                              first.authority.facts.pem));
}

TEST_F(StepTest, ATimeOfPublicationInTheFutureBeginsAgain) {
  CertificateState state = Step({}, begin_);
  const Seconds late = begin_ + 8h;
  state = Step(state, late);  // renews
  state = Step(state, late);  // makes the next authority
  ASSERT_TRUE(state.next.usable());
  state.published = late + 100h;
  state = Step(state, late);
  EXPECT_EQ(state.published, late);
  const CertificateState before = state;
  state = Step(state, late + 4min);
  EXPECT_EQ(state.authority.facts.pem, before.authority.facts.pem);
  state = Step(state, late + 5min);
  EXPECT_EQ(state.authority.facts.pem, before.next.facts.pem);
}

TEST_F(StepTest, ANextAuthorityThatHasExpiredIsMadeAgain) {
  CertificateState state = Step({}, begin_);
  state.next = ReadKeyPair(Must(net::MakeAuthority("expired", {begin_ - 2h, begin_ - 1h})));
  const std::string expired = state.next.facts.pem;
  state = Step(state, begin_);
  EXPECT_TRUE(state.next.valid(begin_));
  EXPECT_NE(state.next.facts.pem, expired);
}

TEST_F(StepTest, ACertificateThatEndsWithItsAuthorityIsNotRenewedAgainAndAgain) {
  CertificateState state = Step({}, begin_);
  const Seconds late = begin_ + 11h;
  state = Step(state, late);
  EXPECT_EQ(state.serving.facts.validity.until, state.authority.facts.validity.until);
  const std::string served = state.serving.facts.pem;
  for (int i = 0; i < 5; ++i) state = Step(state, late + 40min);
  EXPECT_EQ(state.serving.facts.pem, served);
  EXPECT_TRUE(state.next.usable());
}

TEST_F(StepTest, WhatIsWrittenIsReadBack) {
  CertificateState state = Step({}, begin_);
  state.next = ReadKeyPair(Must(net::MakeAuthority("next", {begin_, begin_ + 20h})));
  state.published = begin_ + 3s;
  state.old = {{Must(net::MakeAuthority("old", {begin_, begin_ + 20h})).certificate_pem, begin_ + 7h}};
  const CertificateState read = DecodeState(EncodeState(state));
  EXPECT_FALSE(read.record_lost);
  EXPECT_EQ(read.Published(), state.Published());
  EXPECT_EQ(read.published, state.published);
  EXPECT_EQ(read.signed_until, state.signed_until);
  EXPECT_EQ(read.old.front().until, begin_ + 7h);
  EXPECT_EQ(read.serving.facts.pem, state.serving.facts.pem);
  EXPECT_EQ(read.next.identity.key_pem, state.next.identity.key_pem);
}

}  // namespace
}  // namespace kgen::controller
