// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The sample CRD as C++: members of every kind are written, read, and sent back as received.
#include <acme/clientset.h>
#include <acme/informers.h>
#include <acme/shop/v1/types.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <type_traits>

#include "kgen/client/crd.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/testing/cluster.h"

namespace {

using acme::shop::v1::Order;
using acme::shop::v1::OrderList;
using acme::shop::v1::OrderSpec;
using acme::shop::v1::OrderStatus;

// Members in the order of their struct; a null is kept behind them.
constexpr const char* kWhole =
    R"({"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":"first","namespace":"default"},"spec":{)"
    R"("address":{"city":"Kiel","door":"3b","street":"Quay"},"deliverAfter":"2026-01-02T03:04:05Z","express":false,)"
    R"("extensions":{"a":[1,null]},"giftCards":{"ann":{"lines":2,"text":"hi"}},"item":"teapot",)"
    R"("lines":[{"discount":-2.5,"engraving":["a"],"item":"cup","quantity":0}],"options":{"colour":"blue"},"packers":2,)"
    R"("photo":"aGk=","priority":"Urgent","quantity":3,"shelves":[[1,2],[]],"template":{"kept":true},)"
    R"("weight":"1500m","voucher":null},"status":{"availableReplicas":0}})";

// Contract: generator ACC-02.
TEST(Order, RoundTripsEveryKindOfMember) {
  const auto order = kgen::Decode<Order>(kWhole);
  ASSERT_TRUE(order) << order.error();
  EXPECT_EQ(kgen::Encode(*order), kWhole);
}

TEST(Order, ReadsEachMemberWithItsType) {
  const Order order = kgen::Must(kgen::Decode<Order>(kWhole));
  EXPECT_EQ(order.metadata.name, "first");
  EXPECT_EQ(order.spec->address->door.str(), "3b");
  EXPECT_TRUE(order.spec->express.has_value());
  EXPECT_FALSE(*order.spec->express);
  EXPECT_EQ(order.spec->giftCards["ann"].lines, 2);
  EXPECT_EQ(order.spec->lines[0].discount, -2.5);
  EXPECT_EQ(order.spec->priority, "Urgent") << "an enum is open";
  EXPECT_EQ(order.spec->shelves[0][1], 2);
  EXPECT_TRUE(order.spec->template_.has_value());
  EXPECT_FALSE(order.spec->voucher.has_value());
  EXPECT_EQ(order.status->availableReplicas, 0);
}

TEST(Order, PrintsAsYamlOnStreamsAndInGoogleTest) {
  const Order order{.metadata = {.name = "first"}, .spec = OrderSpec{.item = "yes", .quantity = 2}};
  const std::string yaml =
      "apiVersion: shop.example.com/v1\nkind: Order\nmetadata:\n  name: first\nspec:\n  item: \"yes\"\n  quantity: 2";
  std::ostringstream out;
  out << order;
  EXPECT_EQ(out.str(), yaml);
  EXPECT_EQ(::testing::PrintToString(order), yaml);
  EXPECT_EQ(::testing::PrintToString(*order.spec), "item: \"yes\"\nquantity: 2") << "a nested type";
  EXPECT_EQ(::testing::PrintToString(order.status), "absent");
}

TEST(Order, CanBeBuiltWithDesignatedInitializers) {
  const Order order{.metadata = {.name = "first"},
                    .spec = OrderSpec{.item = "teapot", .priority = OrderSpec::PriorityValues::kHigh, .quantity = 2},
                    .status = OrderStatus{.availableReplicas = 1}};
  EXPECT_EQ(kgen::Encode(order),
            R"({"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":"first"},)"
            R"("spec":{"item":"teapot","priority":"High","quantity":2},"status":{"availableReplicas":1}})");
  Order copy = order;
  EXPECT_EQ(copy, order);
  copy.spec->quantity = 3;
  EXPECT_FALSE(copy == order);
}

// Contract: generator WK-17.
TEST(OrderList, IsARangeOfItsItems) {
  const auto list = kgen::Decode<OrderList>(
      R"({"apiVersion":"shop.example.com/v1","kind":"OrderList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})");
  ASSERT_TRUE(list) << list.error();
  std::string names;
  for (const Order& order : *list) names += order.metadata.name;
  EXPECT_EQ(names, "ab");
  EXPECT_EQ(list->size(), 2u);
  EXPECT_EQ((*list)[1].metadata.name, "b");
}

TEST(Manifests, AreTheCustomResourceDefinitionsOfTheInput) {
  ASSERT_EQ(acme::Manifests().size(), 1u);
  EXPECT_NE(acme::Manifests()[0].find(R"("name":"orders.shop.example.com")"), std::string_view::npos);
}

// Contract: generator CRD-20.
TEST(Order, NamesThePathsOfItsScale) {
  static_assert(Order::ScalePaths::kSpecReplicas == ".spec.packers");
  EXPECT_EQ(Order::ScalePaths::kStatusReplicas, ".status.availableReplicas");
  EXPECT_EQ(Order::ScalePaths::kLabelSelector, ".status.selector");
}

// Contract: generator CRD-21.
TEST(Order, HasThePrinterColumnsOfTheCrd) {
  std::string shown;
  for (const kgen::PrinterColumn& column : Order::kPrinterColumns) {
    shown.append(column.name).append(" ").append(column.type).append(" ").append(column.json_path).append("\n");
  }
  EXPECT_EQ(shown, "Item string .spec.item\nQuantity integer .spec.quantity\nAge date .metadata.creationTimestamp\n");
}

// Contract: generator CRD-23.
TEST(Order, IsSelectedByItsSelectableFields) {
  kgen::testing::Cluster cluster;
  const acme::Clientset clientset(cluster.Connection());
  kgen::Must(kgen::crd::Install(clientset, acme::Manifests()));
  const auto orders = clientset.ShopV1().Orders("default");
  for (const char* item : {"teapot", "cup"}) {
    kgen::Must(orders.Create({.metadata = {.name = item}, .spec = OrderSpec{.item = item, .quantity = 1}}));
  }
  const std::string teapots = std::string(Order::SelectableFields::kSpecItem) + "=teapot";
  const OrderList found = kgen::Must(orders.List({.field_selector = teapots}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].metadata.name, "teapot");
}

template <typename T>
concept CanUpdateStatus = requires(const T& client, const Order& order) { client.UpdateStatus(order); };

// Contract: generator CLI-06, CRD-19.
TEST(OrdersClient, HasTheVerbsOfItsResource) {
  using Client = decltype(std::declval<acme::Clientset>().ShopV1().Orders(""));
  EXPECT_TRUE(CanUpdateStatus<Client>);
  EXPECT_TRUE((std::is_same_v<decltype(std::declval<Client>().Get("")), kgen::Result<Order>>));
}

}  // namespace
