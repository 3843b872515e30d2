// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Shows everything from end to end: a custom resource from its CRD file, informers, an index, a small controller,
// watches that break, and finally a comparison of the cache with the server.
//
//   kgen_demo                       on the API server that is part of the library
//   kgen_demo --kubeconfig FILE     on that cluster, in a new namespace, which is deleted afterwards
#include <chrono>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include <acme/clientset.h>
#include <acme/informers.h>
#include <acme/shop/v1/types.h>
#include <k8s/apiextensions/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include "cluster_under_demo.h"
#include "kgen/core/executor.h"

using acme::shop::v1::Order;
using k8s::core::v1::Pod;
using namespace std::chrono_literals;

namespace {

// Handlers run on several threads; the mutex keeps their lines apart.
void Say(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cout << line << '\n' << std::flush;
}

template <typename... Parts>
std::string Text(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// Counts the checks, for the last line of output.
struct Checks {
  int passed = 0, failed = 0;
  void That(bool holds, const std::string& what) {
    Say((holds ? "ok    " : "FAIL  ") + what);
    ++(holds ? passed : failed);
  }
};

// Polls until `condition` holds. That is fine in a demonstration; a controller reacts to events instead.
template <typename F>
bool Eventually(const kgen::Connection& connection, F condition, std::chrono::seconds limit = 20s) {
  const kgen::TimePoint end = connection.clock().Now() + limit;
  const auto pause = connection.executor().MakeWaiter("the demonstration");
  while (!condition()) {
    if (connection.clock().Now() >= end) return false;
    (void)pause->Wait({}, connection.clock().Now() + 10ms);
  }
  return true;
}

// A controller in a few lines, which makes the ordered quantity available. It calls the API from its handler, which
// delays no other handler.
kgen::Registration Deliver(acme::Clientset& shop, const acme::shop::v1::OrderInformer& orders) {
  auto deliver = [&shop](const Order& order) {
    if (!order.metadata.deletionTimestamp.has_value() && order.status->availableReplicas != order.spec->quantity) {
      Order delivered = order;  // a copy, because the cached object is const
      delivered.status->availableReplicas = *order.spec->quantity;
      auto updated = shop.ShopV1().Orders(order.metadata.namespace_).UpdateStatus(delivered);
      // Another client has changed or deleted the order. Either way, another event follows.
      if (!updated && updated.error().code() != kgen::Code::kConflict &&
          updated.error().code() != kgen::Code::kNotFound) {
        Say(Text("controller: ", updated.error()));
      }
    }
  };
  return orders.Informer().AddEventHandler({.on_add = [deliver](const kgen::Added<Order>& e) { deliver(*e.now); },
                                            .on_update = [deliver](const kgen::Updated<Order>& e) { deliver(*e.now); }},
                                           {.name = "controller"});
}

template <typename T>
kgen::EventHandler<T> Print(const char* kind) {
  return {.on_add = [kind](const kgen::Added<T>& e) { Say(Text("  + ", kind, ' ', e.key, " (", e.reason, ')')); },
          .on_update = [kind](const kgen::Updated<T>& e) { Say(Text("  ~ ", kind, ' ', e.key, " (", e.reason, ')')); },
          .on_delete =
              [kind](const kgen::Deleted<T>& e) {
                Say(Text("  - ", kind, ' ', e.key, " (", e.reason,
                         e.final_state_unknown ? ", missed its last change)" : ")"));
              }};
}

Pod NewPod(const std::string& name, const std::string& node) {
  return {.metadata = {.name = name, .labels = {{"demo", "kgen"}}},
          .spec = k8s::core::v1::PodSpec{.containers = {{.name = "web", .image = "nginx"}}, .nodeName = node}};
}

void ChangeThings(demo::ClusterUnderDemo& cluster, k8s::Clientset& kubernetes, acme::Clientset& shop,
                  const acme::shop::v1::OrderInformer& orders, const k8s::core::v1::PodInformer& pods, Checks& checks) {
  const std::string& ns = cluster.namespace_name();
  auto order_client = shop.ShopV1().Orders(ns);
  auto pod_client = kubernetes.CoreV1().Pods(ns);

  Say("-- three orders and two pods are created");
  for (int i = 1; i <= 3; ++i) {
    kgen::Must(order_client.Create({.metadata = {.name = "order-" + std::to_string(i)},
                                    .spec = acme::shop::v1::OrderSpec{.item = "teapot", .quantity = i}}));
  }
  kgen::Must(pod_client.Create(NewPod("web-0", "node-a")));
  kgen::Must(pod_client.Create(NewPod("web-1", "node-b")));
  checks.That(Eventually(cluster.connection(), [&] { return orders.Lister().Orders(ns).List().size() == 3; }),
              "the lister has the three orders");
  checks.That(Eventually(cluster.connection(),
                         [&] {
                           auto order = orders.Lister().Orders(ns).Get("order-3");
                           return order && order->status->availableReplicas == 3;
                         }),
              "the controller has delivered order-3");
  checks.That(Eventually(cluster.connection(),
                         [&] {
                           const auto view = pods.Informer().Indexer().Snapshot();
                           const auto on_node = view.ByIndex("node", "node-b");
                           return on_node.size() == 1 && on_node[0]->metadata.name == "web-1";
                         }),
              "the index finds web-1 by its node");

  Say(cluster.embedded() ? "-- every watch is cut; meanwhile an order changes, one is deleted, one is new"
                         : "-- an order changes, one is deleted, one is new");
  cluster.CutWatches();
  kgen::Must(kgen::RetryOnConflict([&]() -> kgen::Result<Order> {
    auto order = order_client.Get("order-1");
    if (!order) return order;
    order->spec->quantity = 7;
    return order_client.Update(*order);
  }));
  kgen::Must(order_client.Delete("order-2"));
  kgen::Must(order_client.Create(
      {.metadata = {.name = "order-4"}, .spec = acme::shop::v1::OrderSpec{.item = "kettle", .quantity = 4}}));
  kgen::Must(pod_client.Delete("web-0", {.grace_period_seconds = 0}));
  checks.That(Eventually(cluster.connection(),
                         [&] {
                           auto first = orders.Lister().Orders(ns).Get("order-1");
                           auto fourth = orders.Lister().Orders(ns).Get("order-4");
                           return first && first->status->availableReplicas == 7 && fourth &&
                                  !orders.Lister().Orders(ns).Get("order-2");
                         }),
              "the cache has all three changes");
}

// Once nothing changes any more, the cache has the same objects as the server, at the same resource versions.
void CompareWithServer(demo::ClusterUnderDemo& cluster, acme::Clientset& shop,
                       const acme::shop::v1::OrderInformer& orders, Checks& checks) {
  const std::string& ns = cluster.namespace_name();
  const bool equal = Eventually(cluster.connection(), [&] {
    const auto listed = kgen::Must(shop.ShopV1().Orders(ns).List());
    const auto cached = orders.Lister().Orders(ns);
    if (listed.items.size() != cached.List().size()) return false;
    for (const Order& order : listed) {
      const auto mine = cached.Get(order.metadata.name);
      if (!mine || !(*mine == order)) return false;
    }
    return true;
  });
  checks.That(equal, "the cache equals a fresh list, object by object");
  for (const auto& order : orders.Lister().Orders(ns).List()) {
    Say(Text("  ", order->metadata.name, ": ", order->spec->quantity, " x ", order->spec->item, ", available ",
             order->status->availableReplicas));
  }
}

int Run(const std::string& kubeconfig) {
  auto cluster = kgen::Must(demo::ClusterUnderDemo::Open(kubeconfig));
  const std::string ns = cluster.namespace_name();
  k8s::Clientset kubernetes(cluster.connection());
  acme::Clientset shop(cluster.connection());
  Checks checks;

  Say(Text("-- API server ", cluster.connection().host(), ", namespace ", ns));
  kgen::Must(kubernetes.CoreV1().Namespaces().Create({.metadata = {.name = ns}}));
  const char* const crd = "orders.shop.example.com";
  const bool had_crd = kubernetes.ApiextensionsV1().CustomResourceDefinitions().Get(crd).has_value();
  for (const auto& installed : kgen::Must(kgen::crd::Install(kubernetes, acme::Manifests()))) Say(installed.str());
  {
    k8s::SharedInformerFactory core(kubernetes, {.namespace_ = ns});
    acme::SharedInformerFactory own(shop, {.namespace_ = ns});
    auto pods = core.Core().V1().Pods();
    auto orders = own.Shop().V1().Orders();
    kgen::Must(pods.Informer().AddIndex("node", kgen::FieldPath("spec.nodeName")));

    auto print_orders = orders.Informer().AddEventHandler(Print<Order>("order"));
    auto print_pods = pods.Informer().AddEventHandler(Print<Pod>("pod"));
    auto controller = Deliver(shop, orders);
    core.Start();
    own.Start();
    kgen::Must(core.WaitForCacheSync({}, {.give_up_after = 30s}));
    kgen::Must(own.WaitForCacheSync({}, {.handlers = {&print_orders, &controller}, .give_up_after = 30s}));
    Say("-- both caches have synced");

    ChangeThings(cluster, kubernetes, shop, orders, pods, checks);
    CompareWithServer(cluster, shop, orders, checks);
  }
  kgen::Must(kubernetes.CoreV1().Namespaces().Delete(ns));
  if (!had_crd) kgen::Must(kubernetes.ApiextensionsV1().CustomResourceDefinitions().Delete(crd));
  Say(Text("demo: ", checks.passed, " passed, ", checks.failed, " failed"));
  return checks.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string kubeconfig;
  if (argc == 3 && std::strcmp(argv[1], "--kubeconfig") == 0) {
    kubeconfig = argv[2];
  } else if (argc != 1) {
    std::cerr << "usage: kgen_demo [--kubeconfig FILE]\n";
    return 2;
  }
  try {
    return Run(kubeconfig);
  } catch (const kgen::Exception& e) {  // Must() above
    std::cerr << "kgen_demo: " << e.what() << '\n';
    return 1;
  }
}
