// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The life of certificates of webhooks: made, published, renewed, and their authority replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/request/connection_state.h"
#include "tests/runtime/controller/webhook/certificates_fixture.h"
#include "tests/support/machine.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Nanos kDay = 24h;

class RotationTest : public CertificatesTest {};

TEST_P(RotationTest, TheFirstReplicaMakesTheSecretAndPublishesTheAuthority) {
  AddConfiguration(true, "shop", {"a.shop.example.com", "b.shop.example.com"});
  AddConfiguration(false, "shop", {"c.shop.example.com"});
  AddConfiguration(false, "other", {"d.example.com"});
  AddCrd();
  const json before = Configuration(true, "shop", {"a.shop.example.com", "b.shop.example.com"});
  const json other = Get(Resource(false), "", "other");
  CheckAlways();
  ManagedCertificates options{.service = "hooks", .namespace_ = "shop", .names = {"hooks.example.com", "10.1.2.3"}};
  options.configurations = {"shop"};
  options.crds = {"orders.shop.example.com"};
  Replica& replica = Start(options);
  EXPECT_FALSE(replica.keeper->has_certificate());
  EXPECT_THAT(replica.keeper->Ready().error().message(), HasSubstr("no certificate"));
  cluster_.RunUntilIdle();

  ASSERT_TRUE(replica.keeper->has_certificate());
  EXPECT_TRUE(replica.keeper->Ready());
  for (const char* name : {"hooks.shop.svc", "hooks.shop.svc.cluster.local", "hooks.example.com"}) {
    EXPECT_EQ(Violation(name), "") << name;
  }
  EXPECT_THAT(Violation("hooks.other.svc"), HasSubstr("hostname mismatch"));
  EXPECT_EQ(violation_, "");
  EXPECT_THAT(Bundles(), SizeIs(5));
  for (const auto& [where, bundle] : Bundles()) {
    EXPECT_EQ(bundle, where == "other/d.example.com" ? "" : InSecret("ca.crt")) << where;
  }
  // Nothing else was changed.
  json after = Get(Resource(true), "", "shop");
  for (json& webhook : after["webhooks"]) webhook["clientConfig"].erase("caBundle");
  EXPECT_EQ(after["webhooks"], before["webhooks"]);
  EXPECT_EQ(after["metadata"]["labels"], before["metadata"]["labels"]);
  EXPECT_EQ(Get(Resource(false), "", "other"), other);

  EXPECT_EQ(Secret()["type"], "kubernetes.io/tls");
  EXPECT_EQ(InSecret("tls.crt"), replica.keeper->current_pem());
  const net::CertificateFacts leaf = net::ReadCertificates(InSecret("tls.crt")).front();
  EXPECT_EQ(leaf.validity.from, WallNow() - 1h) << "for clocks that are behind";
  EXPECT_EQ(leaf.validity.until, WallNow() + 90 * kDay);
  EXPECT_THAT(leaf.names,
              ElementsAre("hooks.shop.svc", "hooks.shop.svc.cluster.local", "hooks.example.com", "10.1.2.3"));
  EXPECT_FALSE(leaf.authority);
  const net::CertificateFacts authority = net::ReadCertificates(InSecret("ca.crt")).front();
  EXPECT_EQ(authority.validity.until, WallNow() + 730 * kDay);
  EXPECT_TRUE(authority.authority);
}

TEST_P(RotationTest, ReplicasThatStartTogetherServeOneCertificate) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  CheckAlways();
  for (int i = 0; i < 4; ++i) Start(ShortLived());
  cluster_.RunUntilIdle();
  for (const Replica& replica : replicas_) EXPECT_EQ(replica.keeper->current_pem(), InSecret("tls.crt"));
  EXPECT_EQ(violation_, "");
  EXPECT_THAT(Logged("made a CA"), SizeIs(1)) << "the others have read it";
}

TEST_P(RotationTest, ACertificateIsRenewedAThirdOfItsLifeBeforeItsEndByOneReplica) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  for (int i = 0; i < 3; ++i) Start(ShortLived());
  cluster_.RunUntilIdle();
  const std::string first = InSecret("tls.crt"), authority = InSecret("ca.crt");
  Pass(2h + 39min);
  EXPECT_EQ(InSecret("tls.crt"), first);
  Pass(3min, 1min);
  const std::string second = InSecret("tls.crt");
  EXPECT_NE(second, first);
  EXPECT_EQ(InSecret("ca.crt"), authority);
  for (const Replica& replica : replicas_) EXPECT_EQ(replica.keeper->current_pem(), second);
  EXPECT_THAT(Logged("renewed the certificate, because it was due"), SizeIs(1));
}

TEST_P(RotationTest, RenewBeforeSaysWhenACertificateIsRenewed) {
  ManagedCertificates options = ShortLived();
  options.renew_before = 30min;
  Start(options);
  Pass(3h + 29min);
  EXPECT_THAT(Logged("renewed"), IsEmpty());
  Pass(2min, 1min);
  EXPECT_THAT(Logged("renewed"), SizeIs(1));
}

TEST_P(RotationTest, AnAuthorityIsReplacedInThreeSteps) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  AddConfiguration(false, "shop", {"b.shop.example.com"});
  AddCrd();
  CheckAlways();
  ManagedCertificates options = ShortLived();
  options.crds = {"orders.shop.example.com"};
  options.settle = 6min;
  options.poll = 2min;
  for (int i = 0; i < 2; ++i) Start(options);
  cluster_.RunUntilIdle();
  const std::string old = InSecret("ca.crt");
  const auto is = [&](const std::string& bundle) {
    const auto all = Bundles();
    return std::ranges::all_of(all, [&](const auto& each) { return each.second == bundle; });
  };
  const auto until = [&](const auto& condition, Nanos limit) {
    const Nanos begin = Elapsed();
    while (!condition() && Elapsed() - begin < limit) Pass(1min, 1min);
    EXPECT_TRUE(condition()) << "after " << limit / 1min << " min";
    return Elapsed() - begin;
  };

  // 1. Both are published. It begins early enough for a certificate of the old one to have its whole life.
  until([&] { return !InSecret("next-ca.crt").empty(); }, 8h);
  EXPECT_NEAR(static_cast<double>(Elapsed() / 1min), (12h - 4h - 80min) / 1min, 3);
  const std::string next = InSecret("next-ca.crt");
  EXPECT_TRUE(is(old + next));
  EXPECT_EQ(InSecret("ca.crt"), old);
  const std::string served = InSecret("tls.crt");
  EXPECT_TRUE(net::IsSignedBy(served, old));

  // 2. After the pause, a certificate of the new one is served.
  const Nanos settled = until([&] { return InSecret("tls.crt") != served; }, 1h);
  EXPECT_GE(settled, 4min);
  EXPECT_LE(settled, 8min);
  Pass(2min, 1min);
  EXPECT_EQ(InSecret("ca.crt"), next);
  EXPECT_TRUE(net::IsSignedBy(InSecret("tls.crt"), next));
  for (const Replica& replica : replicas_) EXPECT_EQ(replica.keeper->current_pem(), InSecret("tls.crt"));
  EXPECT_TRUE(is(next + old)) << "a replica that was away may still serve the old certificate";

  // 3. When the old certificate has expired, its authority goes.
  const auto end = net::ReadCertificates(served).front().validity.until;
  until([&] { return is(next); }, 5h);
  EXPECT_GE(WallNow(), end);
  EXPECT_LE(WallNow(), end + 3min);
  EXPECT_EQ(violation_, "");
  EXPECT_THAT(Logged("made the next CA"), SizeIs(1));
  EXPECT_THAT(Logged("signed a certificate with the next CA"), SizeIs(1));
  EXPECT_THAT(Logged("removed 1 old CA"), SizeIs(1));
}

TEST_P(RotationTest, ManyReplicasDoNoMoreThanOne) {
  std::vector<std::vector<std::string>> done;
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  CheckAlways();
  for (const int replicas : {1, 3}) {
    (void)cluster_.Delete("secrets", "shop", "hooks-certificates");
    watcher_->logged.clear();
    for (int i = 0; i < replicas; ++i) Start(ShortLived(5min));
    Pass(14h);
    std::vector<std::string> what;
    for (const std::string& each : watcher_->logged) what.push_back(each.substr(0, each.find(';')));
    done.push_back(what);
    while (!replicas_.empty()) End(replicas_.front());
    // The second half begins with what the first one has published.
    json empty = Get(Resource(true), "", "shop");
    empty["webhooks"][0]["clientConfig"].erase("caBundle");
    Must(cluster_.Update(empty.dump()));
  }
  EXPECT_EQ(done[0], done[1]);
  EXPECT_GT(done[0].size(), 8u);
  EXPECT_EQ(violation_, "");
}

TEST_P(RotationTest, EachStepIsOneThatAReplicaThatStartsThenGoesOnWith) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  CheckAlways();
  Start(ShortLived());
  cluster_.RunUntilIdle();
  // One replica after the other, each for 20 minutes: none sees two steps.
  for (Nanos passed{}; passed < 24h; passed += 20min) {
    Start(ShortLived(5min));
    cluster_.Advance(1s);
    End(replicas_.front());
    Pass(20min - 1s);
  }
  EXPECT_EQ(violation_, "");
  EXPECT_GE(Logged("signed a certificate with the next CA").size(), 3u);
  EXPECT_GE(Logged("removed 1 old CA").size(), 2u);
}

TEST_P(RotationTest, AConfigurationThatIsMadeInTheMiddlePublishesBothBeforeTheNextOneIsServed) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  CheckAlways();
  ManagedCertificates options = ShortLived();
  options.settle = 30min;
  Start(options);
  cluster_.RunUntilIdle();
  while (Logged("every configuration publishes the next CA").empty() && Elapsed() < 12h) Pass(1min, 1min);
  Pass(20min);
  AddConfiguration(false, "shop", {"b.shop.example.com"});
  const std::string served = InSecret("tls.crt");
  Pass(25min, 1min);
  EXPECT_EQ(InSecret("tls.crt"), served) << "the pause begins again";
  Pass(10min, 1min);
  EXPECT_NE(InSecret("tls.crt"), served);
  EXPECT_THAT(Logged("does not publish the next CA any more"), SizeIs(1));
  EXPECT_EQ(violation_, "");
}

TEST_P(RotationTest, AReplicaThatWasAwayForAMonthServesTheNewCertificateWhenItIsBack) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  ManagedCertificates options = ShortLived();
  options.validity = 10 * kDay;
  options.ca_validity = 25 * kDay;
  options.poll = 1h;
  test_support::Machine machine(cluster_.simulation(), {});
  const Connection plain = cluster_.Connection();
  Replica& away = Start(options, Connection::Over({.transport = client::ConnectionState::Of(plain)->transport,
                                                   .executor = machine.executor(),
                                                   .observer = watcher_}));
  Start(options);
  cluster_.RunUntilIdle();
  const std::string first = away.keeper->current_pem();
  EXPECT_EQ(first, InSecret("tls.crt"));
  machine.Suspend();
  cluster_.Advance(30 * kDay);
  EXPECT_NE(InSecret("ca.crt"), "");
  EXPECT_FALSE(net::IsSignedBy(first, InSecret("ca.crt"))) << "the CA was replaced meanwhile";
  EXPECT_EQ(away.keeper->current_pem(), first);
  machine.Resume();
  cluster_.Advance(1h + 1min);  // its own clock stood still, so the pause goes on
  EXPECT_EQ(away.keeper->current_pem(), InSecret("tls.crt"));
  EXPECT_EQ(Violation(), "");
  EXPECT_THAT(Logged("made a CA"), SizeIs(1));
  End(away);
}

TEST_P(RotationTest, AClusterThatWasOffForYearsBeginsAgain) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  Replica& first = Start(ShortLived());
  cluster_.RunUntilIdle();
  End(first);
  cluster_.Advance(1000 * kDay);
  CheckAlways();
  Replica& second = Start(ShortLived());
  cluster_.RunUntilIdle();
  EXPECT_TRUE(second.keeper->has_certificate());
  EXPECT_EQ(Violation(), "");
  EXPECT_EQ(violation_, "");
  EXPECT_EQ(Certificates(Bundles().front().second), 1u) << "the expired one is not kept";
}

TEST_P(RotationTest, AnotherNameMakesAnotherCertificateThatBothVersionsOfAProgramAccept) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  CheckAlways();
  ManagedCertificates old = ShortLived(), now = ShortLived();
  old.names = {"old.example.com"};
  now.names = {"new.example.com"};
  Start(old);
  cluster_.RunUntilIdle();
  Start(now);
  Pass(10min, 1min);
  EXPECT_THAT(Logged("renewed the certificate, because the certificate was not for new.example.com"), SizeIs(1));
  EXPECT_THAT(Logged("renewed"), SizeIs(1)) << "they do not replace the certificates of each other";
  EXPECT_EQ(Violation("old.example.com"), "");
  EXPECT_EQ(Violation("new.example.com"), "");
  End(replicas_.front());
  Pass(4h);
  EXPECT_THAT(Violation("old.example.com"), HasSubstr("mismatch")) << "the next renewal drops it";
}

TEST_P(RotationTest, VersionsWithDifferentTimesDoNotReplaceTheCertificatesOfEachOther) {
  AddConfiguration(true, "shop", {"a.shop.example.com"});
  ManagedCertificates longer = ShortLived();
  longer.validity = 90 * kDay;
  longer.ca_validity = 730 * kDay;
  longer.renew_before = 30 * kDay;
  Start(ShortLived());
  cluster_.RunUntilIdle();
  Start(longer);
  Pass(1h + 50min);
  EXPECT_THAT(Logged("renewed"), IsEmpty());
  EXPECT_LE(Logged("made the next CA").size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RotationTest, ::testing::Values(1, 2));

}  // namespace
}  // namespace kgen::controller
