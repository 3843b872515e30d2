// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The webhooks of a real kube-apiserver go on while replicas are replaced, and while somebody else uses up connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "kgen/core/result.h"
#include "testing/certificates.h"
#include "tests/integration/eventually.h"
#include "tests/integration/webhooks/crowd.h"
#include "tests/integration/webhooks/forwarder.h"
#include "tests/integration/webhooks/load.h"
#include "tests/integration/webhooks/webhook_fixture.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

class AvailabilityTest : public WebhookTest {};

TEST_P(AvailabilityTest, ARollingUpdateFailsNoRequest) {
  Forwarder forwarder;
  const auto start = [&] {
    auto replica = Start({}, /*drain=*/5s);  // the default of WebhookOptions
    forwarder.Add(replica->port(), replica->health());
    EXPECT_TRUE(forwarder.AwaitReady(replica->port()));
    return replica;
  };
  std::vector<std::unique_ptr<Replica>> old, fresh;
  for (int i = 0; i < 3; ++i) old.push_back(start());
  Install(forwarder.port(), {authority_});
  const auto failed = FailedCalls();
  Load load(*connection_, /*threads=*/4);
  EXPECT_TRUE(load.Passes(2));
  // As a Deployment with `maxUnavailable: 0`: an old replica is told to stop once a new one is ready.
  for (const auto& each : old) {
    fresh.push_back(start());
    each->RequestStop();
    EXPECT_TRUE(forwarder.AwaitReady(each->port(), false));
    EXPECT_TRUE(load.Passes(2));
  }
  for (const auto& each : old) each->Stop();
  EXPECT_TRUE(load.Passes(3));
  EXPECT_THAT(load.End(), IsEmpty());
  EXPECT_EQ(FailedCalls(), failed);
  for (const auto& each : old) EXPECT_GT(forwarder.Connections(each->port()), 0) << "it had none to lose";
  for (const auto& each : fresh) each->RequestStop();  // so that all drain at the same time
}

TEST_P(AvailabilityTest, AThousandConnectionsOfSomebodyElseAreNotInTheWayOfTheServer) {
  const auto replica = Start();
  Install(replica->port(), {authority_});
  const auto failed = FailedCalls();
  Load load(*connection_);
  EXPECT_TRUE(load.Passes(2));
  Crowd crowd(replica->port(), 1000);
  ASSERT_TRUE(Eventually([&] { return crowd.turns() > 1; }, 120s));
  EXPECT_GT(crowd.closed(), 400) << "more came than the server has room for";
  EXPECT_TRUE(load.Passes(10));
  // Another authority makes the API server open new connections, for which others must go.
  Install(replica->port(), {authority_, Must(testing::CertificateAuthority::Make("other"))});
  EXPECT_TRUE(load.Passes(10));
  const int turns = crowd.turns();
  EXPECT_TRUE(Eventually([&] { return crowd.turns() > turns + 1; }, 120s)) << "the crowd goes on";
  EXPECT_GT(crowd.open(), 300) << "the server is full";
  EXPECT_THAT(load.End(), IsEmpty());
  EXPECT_EQ(FailedCalls(), failed);
  EXPECT_LT(load.slowest(), 15s) << "half of the time that the API server waits";
}

INSTANTIATE_TEST_SUITE_P(Service, AvailabilityTest, ::testing::Values(Route::kService));

}  // namespace
}  // namespace kgen::integration
