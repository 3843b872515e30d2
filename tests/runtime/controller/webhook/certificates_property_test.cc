// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Random faults: replicas that come and go, a server that fails, Secrets that are lost. Whatever happens, each replica
// serves a certificate that every configuration trusts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/controller/webhook/certificates_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

class CertificatesPropertyTest : public CertificatesTest {
 protected:
  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }

  static ManagedCertificates Options() {
    ManagedCertificates options = ShortLived(4min);
    options.configurations = {"shop", "more"};
    options.crds = {"orders.shop.example.com"};
    return options;
  }

  void Fault() {
    testing::Fault fault;
    fault.verb = std::vector<std::string>{"", "get", "create", "update", "patch"}[Choose(5)];
    fault.resource = std::vector<std::string>{"", "secrets", Resource(true), "customresourcedefinitions"}[Choose(4)];
    fault.skip = static_cast<int>(Choose(4));
    fault.times = 1 + static_cast<int>(Choose(5));
    switch (Choose(6)) {
      case 0:
        fault.status = 500;
        break;
      case 1:
        fault.status = 409;
        fault.reason = "Conflict";
        break;
      case 2:
        fault.refuse = true;
        break;
      case 3:
        fault.cut_after_bytes = Choose(200);  // what a write did, nobody learns
        break;
      case 4:
        fault.stall = true;
        break;
      default:
        fault.delay = Nanos(1s) * (1 + Choose(25));  // a late replica
        break;
    }
    cluster_.Inject(fault);
  }

  void Act() {
    switch (Choose(12)) {
      case 0: {  // a restart, at any step
        auto replica = replicas_.begin();
        std::advance(replica, Choose(static_cast<std::uint32_t>(replicas_.size())));
        End(*replica);
        Start(Options());
        break;
      }
      case 1:
        if (replicas_.size() > 1) End(replicas_.front());
        break;
      case 2:
        if (replicas_.size() < 4) Start(Options());
        break;
      case 3:
        if (loses_secrets_ && Choose(4) == 0) (void)cluster_.Delete("secrets", "shop", "hooks-certificates");
        break;
      case 4:
        if (loses_secrets_ && Choose(4) == 0) Damage();
        break;
      case 5: {  // a configuration is made again, without a bundle
        const bool mutating = Choose(2) == 0;
        (void)cluster_.Delete(Resource(mutating), "", "more");
        AddConfiguration(mutating, "more", {"m.shop.example.com"});
        break;
      }
      case 6:
        cluster_.Inject({.times = 2000, .refuse = true});  // away, for up to the pause below
        cluster_.Advance(Nanos(1min) * (1 + Choose(20)));
        cluster_.ClearFaults();
        break;
      default:
        Fault();
        break;
    }
  }
  void Damage() {
    if (!HasSecret()) return;
    json secret = Secret();
    const char* const keys[] = {"tls.crt", "tls.key", "ca.crt", "ca.key", "rotation.json", "next-ca.crt"};
    const char* const key = keys[Choose(std::size(keys))];
    if (Choose(2) == 0) {
      secret["data"].erase(key);
    } else {
      secret["data"][key] = ToBase64("nonsense");
    }
    Must(cluster_.Update(secret.dump()));
  }

  bool Calm() {
    const std::string authority = InSecret("ca.crt"), served = InSecret("tls.crt");
    return Certificates(authority) == 1 &&
           std::ranges::all_of(Bundles(), [&](const auto& each) { return each.second == authority; }) &&
           std::ranges::all_of(replicas_, [&](const Replica& each) { return each.keeper->current_pem() == served; });
  }

  // A lost Secret makes a new authority, so that with such losses the end of one is rarely reached.
  const bool loses_secrets_ = GetParam() % 2 == 0;
};

TEST_P(CertificatesPropertyTest, WhatIsServedIsTrustedByEverythingThatIsPublished) {
  AddConfiguration(true, "shop", {"a.shop.example.com", "b.shop.example.com"});
  AddConfiguration(false, "shop", {"c.shop.example.com"});
  AddCrd();
  CheckAlways();
  for (int i = 0; i < 3; ++i) Start(Options());
  for (int i = 0; i < 60; ++i) {
    Act();
    Pass(Nanos(1min) * (1 + Choose(30)), 5min);
    ASSERT_EQ(violation_, "") << "seed " << GetParam() << ", step " << i;
  }
  EXPECT_TRUE(loses_secrets_ || !Logged("signed a certificate with the next CA").empty());
  // In the end everything is calm: one authority, one certificate, and all replicas serve it. The next rotation may
  // begin at any time, so this is true at some time between two of them.
  cluster_.ClearFaults();
  Pass(6h);
  for (Nanos limit = 14h; !Calm() && limit > Nanos(); limit -= 10min) Pass(10min);
  EXPECT_EQ(Certificates(InSecret("ca.crt")), 1);
  ASSERT_EQ(violation_, "");
  for (const auto& [where, bundle] : Bundles()) EXPECT_EQ(bundle, InSecret("ca.crt")) << where;
  for (const Replica& replica : replicas_) EXPECT_EQ(replica.keeper->current_pem(), InSecret("tls.crt"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, CertificatesPropertyTest, ::testing::Range(std::uint64_t{1}, std::uint64_t{3}));

}  // namespace
}  // namespace kgen::controller
