// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The API of api/shop_v1.h on the API server that is part of the library: no server, no sleeps.
#include <gtest/gtest.h>
#include <kgen/client/crd.h>
#include <kgen/testing/cluster.h>
#include <store/clientset.h>
#include <store/informers.h>

#include <string>
#include <vector>

#include "api/shop_v1.h"

using kgen::testing::Cluster;
using store::shop::v1::Line;
using store::shop::v1::Order;
using store::shop::v1::OrderSpec;
using store::shop::v1::Priority;

TEST(CppFirst, WatchesOrdersWhoseTypeIsAStructOfThisProgram) {
  Cluster cluster({.seed = 1});
  const store::Clientset clientset(cluster.Connection());
  kgen::Must(kgen::crd::Install(clientset, store::Manifests()));

  store::SharedInformerFactory factory(clientset);
  std::vector<std::string> seen;
  const auto registration = factory.Shop().V1().Orders().Informer().AddEventHandler(
      {.on_add = [&](const kgen::Added<Order>& e) { seen.push_back(e.now->spec->lines[0].item.str()); }});
  factory.Start();
  kgen::Must(factory.WaitForCacheSync({}, {.handlers = {&registration}}));

  const Order order{.metadata = {.name = "first"},
                    .spec = OrderSpec{.lines = {Line{.item = "teapot"}}, .priority = Priority::kHigh}};
  const Order created = kgen::Must(clientset.ShopV1().Orders("default").Create(order));
  cluster.RunUntilIdle();
  EXPECT_EQ(seen, std::vector<std::string>{"teapot"});
  EXPECT_EQ(created.spec->priority, Priority::kHigh);
}
