// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 03: a custom resource. kgen_add_api generates namespace acme from examples/crds/orders.yaml (see CMakeLists.txt). The
// program installs the CRD, then creates, changes, patches, lists and deletes an order.
#include <acme/clientset.h>
#include <acme/shop/v1/types.h>
#include <k8s/clientset.h>

#include <chrono>
#include <iostream>

using acme::shop::v1::Order;
using acme::shop::v1::OrderSpec;

namespace {

void Run() {
  using std::chrono_literals::operator""s;
  // Two clientsets share one connection.
  const auto connection = kgen::Must(kgen::Connection::Open(kgen::Must(kgen::rest::LoadConfig())));
  const k8s::Clientset kubernetes(connection);
  const acme::Clientset shop(connection);

  // The manifests are part of the program. Waits until the server serves them; does nothing if it already does.
  kgen::Must(kgen::crd::Install(kubernetes, acme::Manifests(), {.timeout = 10s}));

  const auto orders = shop.ShopV1().Orders("default");
  const auto made =
      orders.Create({.metadata = {.name = "first", .labels = {{"tier", "gold"}}},
                     .spec = OrderSpec{.item = "teapot", .priority = OrderSpec::PriorityValues::kHigh, .quantity = 2}});
  if (!made && made.error().code() != kgen::Code::kAlreadyExists) kgen::Must(made);

  // Another client may write between our read and our write; both are then repeated. Fields that the server has but
  // this program does not know keep their values.
  kgen::Must(kgen::RetryOnConflict([&]() -> kgen::Result<Order> {
    auto order = orders.Get("first");
    if (!order) return order;
    order->spec->quantity = *order->spec->quantity + 1;
    order->metadata.annotations["shop.example.com/note"] = "one more";
    return orders.Update(*order);
  }));
  kgen::Must(orders.Patch("first", kgen::MergePatch(R"({"spec":{"item":"kettle"}})")));

  const auto gold = kgen::Must(orders.List({.label_selector = "tier=gold"}));
  for (const Order& order : gold) {
    std::cout << order.metadata.name << ": " << order.spec->quantity << " x " << order.spec->item << '\n';
  }
  kgen::Must(orders.Delete("first", {.propagation_policy = kgen::Propagation::kForeground}));
}

}  // namespace

int main() {
  try {
    Run();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
