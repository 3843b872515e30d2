// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tests the controller on the in-memory API server of the library, in virtual time, and with each seed in another
// order.
#include "controller.h"

#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <kgen/client/crd.h>
#include <kgen/core/conditions.h>
#include <kgen/testing/cluster.h>
#include <store/clientset.h>
#include <store/shop/v1/types.h>

#include <cstdint>
#include <stop_token>
#include <string>

using k8s::core::v1::ConfigMap;
using store::shop::v1::Line;
using store::shop::v1::Order;
using store::shop::v1::OrderSpec;
using store::shop::v1::Priority;

namespace {

class OrderControllerTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  OrderControllerTest() {
    kgen::Must(kgen::crd::Install(cluster_.Connection(), store::Manifests()));
    kgen::Must(AddOrderController(manager_));
    running_ = cluster_.simulation().Spawn([this] { return manager_.Run(stop_.get_token()); });
  }
  ~OrderControllerTest() override {
    stop_.request_stop();
    cluster_.RunUntilIdle();
    EXPECT_TRUE(running_.done() && running_.result());
  }

  kgen::Result<Order> Create(const OrderSpec& spec) {
    auto created = orders_.Create(Order{.metadata = {.name = "first"}, .spec = spec});
    cluster_.RunUntilIdle();
    return created;
  }
  ConfigMap PackingList() {
    return kgen::Must(kgen::Decode<ConfigMap>(kgen::Must(cluster_.Get("configmaps", "default", "first-packing-list"))));
  }

  kgen::testing::Cluster cluster_{{.seed = GetParam(), .observer = kgen::NullObserver()}};
  const kgen::Manager manager_ = kgen::Must(kgen::Manager::New(cluster_.Connection(), {.name = "order-controller"}));
  const store::shop::v1::OrdersClient orders_ = store::Clientset(cluster_.Connection()).ShopV1().Orders("default");
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};

TEST_P(OrderControllerTest, WritesThePackingListAndTheStatus) {
  const Order created = kgen::Must(
      Create({.lines = {Line{.item = "teapot"}, Line{.item = "cup", .quantity = 4}}, .priority = Priority::kHigh}));
  EXPECT_EQ(created.spec->lines[0].quantity, 1) << "the default of the API";
  EXPECT_EQ(created.spec->keepFor.text(), "336h");

  const kgen::Map<kgen::String> expected = {{"cup", "4"}, {"priority", "today"}, {"teapot", "1"}};
  EXPECT_EQ(PackingList().data, expected);
  EXPECT_TRUE(kgen::IsControlledBy(PackingList(), created));
  const Order packed = kgen::Must(orders_.Get("first"));
  EXPECT_EQ(packed.status->articles, 5);
  EXPECT_TRUE(kgen::IsConditionTrue(packed.status->conditions, "Ready"));
}

TEST_P(OrderControllerTest, KeepsThePackingListAsTheOrderSays) {
  Order order = kgen::Must(Create({.lines = {Line{.item = "teapot"}}}));
  kgen::Must(cluster_.Delete("configmaps", "default", "first-packing-list"));
  cluster_.RunUntilIdle();
  EXPECT_EQ(PackingList().data["teapot"], "1");

  kgen::Must(orders_.Patch("first", kgen::MergePatch(R"({"spec":{"lines":[{"item":"teapot","quantity":2}]}})")));
  cluster_.RunUntilIdle();
  EXPECT_EQ(PackingList().data["teapot"], "2");
  order = kgen::Must(orders_.Get("first"));
  EXPECT_EQ(order.status->articles, 2);
}

TEST_P(OrderControllerTest, ReachesTheSameStateWhateverFailsOnTheWay) {
  cluster_.Inject({.verb = "list", .resource = "orders", .times = 2, .status = 500});
  cluster_.Inject({.verb = "patch", .resource = "configmaps", .times = 2, .status = 503});
  cluster_.Inject({.verb = "update", .resource = "orders", .times = 3, .status = 409, .reason = "Conflict"});
  kgen::Must(cluster_.Add(Order{.metadata = {.name = "first", .namespace_ = "default"},
                                .spec = OrderSpec{.lines = {Line{.item = "teapot", .quantity = 3}}}}));
  cluster_.CutWatches();
  cluster_.RunUntilIdle();
  EXPECT_EQ(PackingList().data["teapot"], "3");
  const Order packed = kgen::Must(orders_.Get("first"));
  EXPECT_EQ(packed.status->articles, 3);
}

TEST_P(OrderControllerTest, OrdersThatTheApiDoesNotAllowAreRefused) {
  for (const OrderSpec& wrong : {OrderSpec{}, OrderSpec{.lines = {Line{.item = "Tea pot"}}},
                                 OrderSpec{.lines = {Line{.item = "teapot", .quantity = 0}}},
                                 OrderSpec{.lines = {Line{.item = "teapot"}, Line{.item = "teapot"}}}}) {
    const auto refused = Create(wrong);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), kgen::Code::kInvalid) << refused.error();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OrderControllerTest, ::testing::Range<std::uint64_t>(1, 11));

}  // namespace
