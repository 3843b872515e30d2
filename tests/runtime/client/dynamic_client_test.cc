// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// DynamicClient against the in-memory cluster, with resources that are installed while the test runs.
#include "kgen/client/dynamic_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kgen/client/async_client.h"
#include "kgen/testing/cluster.h"
#include "tests/support/crds.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;

const GroupVersionKind kOrder{"shop.example.com", "v1", "Order"};
const GroupVersionResource kOrders{"shop.example.com", "v1", "orders"};

class DynamicClientTest : public ::testing::Test {
 protected:
  static Unstructured Order(std::string_view name) {
    Unstructured order{.metadata = {.name = name}, .apiVersion = "shop.example.com/v1", .kind = "Order"};
    Must(order.Set("spec.quantity", 2));
    return order;
  }
  void Install() {
    Must(cluster_.Add(std::string_view(CrdJson("Order", "orders", true))));
    Must(cluster_.Add(std::string_view(CrdJson("Region", "regions", false))));
  }

  Cluster cluster_;
  const DynamicClient dynamic_{cluster_.Connection()};
};

// Contract: controller 149.
TEST_F(DynamicClientTest, HasEveryVerbForAResourceThatWasInstalledAtRunTime) {
  Install();
  const DynamicResource orders = dynamic_.ForResource(kOrders, "default");
  const Unstructured created = Must(orders.Create(Order("first")));
  EXPECT_TRUE(created.metadata.uid.has_value());
  Unstructured order = Must(orders.Get("first"));
  EXPECT_EQ(Must(order.GetInt64("spec.quantity")), 2);
  Must(order.Set("spec.quantity", 3));
  order = Must(orders.Update(order));
  Must(order.Set("status.phase", "Packed"));
  Must(orders.UpdateStatus(order));
  Must(orders.Patch("first", MergePatch(R"({"spec":{"item":"kettle"}})")));
  Unstructured applied{.metadata = {.name = "first"}, .apiVersion = "shop.example.com/v1", .kind = "Order"};
  Must(applied.Set("spec.gift", true));
  order = Must(orders.Apply(applied, {.field_manager = "test"}));
  EXPECT_EQ(Must(order.GetInt64("spec.quantity")), 3);
  EXPECT_EQ(Must(order.GetString("status.phase")), "Packed");
  EXPECT_EQ(Must(order.GetString("spec.item")), "kettle");
  EXPECT_TRUE(Must(order.GetBool("spec.gift")));

  const UnstructuredList list = Must(dynamic_.ForResource(kOrders).List());
  ASSERT_EQ(list.items.size(), 1u);
  auto watcher = Must(orders.Watch({.resource_version = list.metadata.resourceVersion.str()}));
  Must(orders.Delete("first"));
  const auto event = Must(watcher.Next());
  EXPECT_EQ(event.type, WatchType::kDeleted);
  EXPECT_EQ(event.object->kind, "Order");
  EXPECT_EQ(orders.Get("first").error().code(), Code::kNotFound);
}

// Contract: controller 149.
TEST_F(DynamicClientTest, FindsAResourceByItsKind) {
  Install();
  const DynamicResource orders = Must(dynamic_.ForKind(kOrder, "default"));
  Must(orders.Create(Order("first")));
  EXPECT_EQ(Must(Must(dynamic_.ForKind({"shop.example.com", "", "Order"}, "default")).Get("first")).kind, "Order");
  EXPECT_EQ(orders.raw().kind().resource, "orders");
  EXPECT_EQ(Must(dynamic_.ForKind({"", "v1", "Pod"}, "a")).raw().namespace_name(), "a");
}

// Contract: controller 149.
TEST_F(DynamicClientTest, KnowsTheScopeOfAKind) {
  Install();
  // The namespace of a cluster-scoped object does not matter, and the namespace of an object is taken where the client
  // has none.
  const DynamicResource regions = Must(dynamic_.ForKind({"shop.example.com", "v1", "Region"}, "ignored"));
  Must(regions.Create({.metadata = {.name = "north"}, .apiVersion = "shop.example.com/v1", .kind = "Region"}));
  EXPECT_EQ(Must(regions.Get("north")).metadata.name, "north");
  EXPECT_FALSE(Must(regions.Get("north")).metadata.namespace_.has_value());
  Unstructured order = Order("second");
  order.metadata.namespace_ = "default";
  const DynamicResource everywhere = Must(dynamic_.ForKind(kOrder));
  EXPECT_EQ(Must(everywhere.Create(order)).metadata.namespace_, "default");
  EXPECT_EQ(Must(everywhere.List()).items.size(), 1u);
  EXPECT_EQ(everywhere.Get("second").error().code(), Code::kInvalidArgument) << "which namespace?";
}

TEST_F(DynamicClientTest, FindsAKindThatIsInstalledLater) {
  const Result<DynamicResource> none = dynamic_.ForKind(kOrder);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code(), Code::kNotFound);
  EXPECT_THAT(none.error().ToString(), HasSubstr("the server has no kind \"Order\" in shop.example.com/v1"));
  Install();
  EXPECT_TRUE(dynamic_.ForKind(kOrder).has_value());
}

// Contract: client DYN-6.
TEST_F(DynamicClientTest, NamesTheItemsOfListsOfBuiltInResources) {
  Must(cluster_.Add(MinimalPod("default", "web-0")));
  const DynamicResource pods = dynamic_.ForResource({"", "v1", "pods"}, "default");
  EXPECT_EQ(Must(pods.List()).items[0].kind, "Pod");
  EXPECT_EQ(Must(pods.List()).items[0].apiVersion, "v1");
  for (const auto& page : pods.Pages({.limit = 1})) EXPECT_EQ(Must(page).items[0].kind, "Pod");
  std::optional<Unstructured> item;
  pods.Async().List([&](Result<UnstructuredList> list) { item = Must(std::move(list)).items[0]; });
  cluster_.RunUntilIdle();
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->kind, "Pod");
}

TEST_F(DynamicClientTest, ListsAResourceWhoseListIsCalledAnything) {
  cluster_.AddResource({.group = "stock.example.com",
                        .version = "v1",
                        .plural = "shelves",
                        .singular = "shelf",
                        .kind = "Shelf",
                        .list_kind = "Shelves"});
  Must(cluster_.Add(std::string_view(
      R"({"apiVersion":"stock.example.com/v1","kind":"Shelf","metadata":{"name":"top","namespace":"default"}})")));
  const DynamicResource known = Must(dynamic_.ForKind({"stock.example.com", "v1", "Shelf"}, "default"));
  const UnstructuredList list = Must(known.List());
  EXPECT_EQ(list.kind, "Shelves");
  ASSERT_EQ(list.items.size(), 1u);
  EXPECT_EQ(list.items[0].kind, "Shelf");
  const DynamicResource by_name = dynamic_.ForResource({"stock.example.com", "v1", "shelves"}, "default");
  EXPECT_EQ(Must(by_name.List()).items.size(), 1u);
}

TEST_F(DynamicClientTest, SendsAnObjectBackAsReceived) {
  Install();
  const DynamicResource orders = dynamic_.ForResource(kOrders, "default");
  Unstructured order = Order("first");
  order.unknown_fields.Set("data", Json(R"({"b":123456789012345678,"a":[1.5,null]})"));
  Must(orders.Create(order));
  EXPECT_EQ(Must(orders.Update(Must(orders.Get("first")))).unknown_fields["data"], order.unknown_fields["data"]);
}

// Contract: client DYN-2.
TEST_F(DynamicClientTest, RefusesBadNamesBeforeAnythingIsSent) {
  EXPECT_EQ(dynamic_.ForResource(kOrders, "a/b").Get("x").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(dynamic_.ForResource(kOrders, "default").Get("..").error().code(), Code::kInvalidArgument);
  for (const GroupVersionResource& bad :
       {GroupVersionResource{"shop.example.com", "v1", ""}, GroupVersionResource{"shop.example.com", "", "orders"},
        GroupVersionResource{"a/b", "v1", "orders"}, GroupVersionResource{"", "..", "x"}}) {
    EXPECT_EQ(dynamic_.ForResource(bad).List().error().code(), Code::kInvalidArgument) << bad.str();
    EXPECT_EQ(dynamic_.ForResource(bad, "default").Get("x").error().code(), Code::kInvalidArgument) << bad.str();
  }
}

}  // namespace
}  // namespace kgen::testing
