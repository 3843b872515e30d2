// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 06: a controller. For each order one deployment of the same name, owned by it; the order's status says how many are
// ready.
//
//   orders, deployments --events--> queue of keys --workers--> Sync(key): compare what is with what should be
#include <acme/clientset.h>
#include <acme/informers.h>
#include <acme/shop/v1/types.h>
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/informers.h>
#include <kgen/controller/work_queue.h>

#include <vector>

using acme::shop::v1::Order;
using k8s::apps::v1::Deployment;

class OrderController {
 public:
  OrderController(const kgen::Connection& connection, const k8s::SharedInformerFactory& core,
                  const acme::SharedInformerFactory& own)
      : kubernetes_(connection),
        shop_(connection),
        deployments_(core.Apps().V1().Deployments()),
        orders_(own.Shop().V1().Orders()) {
    registrations_.push_back(orders_.Informer().AddEventHandler(kgen::Enqueue<Order>(queue_)));
    registrations_.push_back(deployments_.Informer().AddEventHandler(kgen::EnqueueOwner<Deployment, Order>(queue_)));
  }

  // Until `stop`. A key whose Sync() failed comes back later, each time a little later.
  kgen::Result<void> Run(int workers, const std::stop_token& stop) {
    if (auto synced = kgen::WaitForCacheSync(stop, deployments_.Informer(), orders_.Informer()); !synced) return synced;
    return queue_.Process(workers, stop, [this](const kgen::ObjectKey& key) { return Sync(key); });
  }

 private:
  kgen::Result<void> Sync(const kgen::ObjectKey& key) {
    const auto order = orders_.Lister().Orders(key.namespace_).Get(key.name);
    if (!order) return {};  // deleted; its deployment goes with it

    const auto deployment = deployments_.Lister().Deployments(key.namespace_).Get(key.name);
    if (!deployment) {
      return kgen::Discard(
          kubernetes_.AppsV1()
              .Deployments(key.namespace_)
              .Create({.metadata = {.name = key.name, .ownerReferences = {kgen::ControllerRef(*order)}}}));
    }
    if (!kgen::IsControlledBy(*deployment, *order)) {
      return kgen::Error(kgen::Code::kConflict, "a deployment of that name belongs to somebody else");
    }
    Order wanted = *order;  // a copy: what the cache holds is const
    wanted.status->availableReplicas = deployment->status->availableReplicas.value_or(0);
    if (wanted == *order) return {};
    return kgen::Discard(shop_.ShopV1().Orders(key.namespace_).UpdateStatus(wanted));
  }

  k8s::Clientset kubernetes_;
  acme::Clientset shop_;
  k8s::apps::v1::DeploymentInformer deployments_;
  acme::shop::v1::OrderInformer orders_;
  kgen::RateLimitingQueue queue_;
  std::vector<kgen::Registration> registrations_;  // last, so that they go first: no handler meets a queue that is gone
};
