// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <k8s/core/v1/types.h>
#include <kgen/controller/owners.h>
#include <kgen/controller/predicates.h>
#include <kgen/core/conditions.h>
#include <store/shop/v1/types.h>

#include <cstdint>
#include <string>

using k8s::core::v1::ConfigMap;
using store::shop::v1::Line;
using store::shop::v1::Order;
using store::shop::v1::Priority;

namespace {

ConfigMap PackingList(const Order& order) {
  ConfigMap list{.metadata = {.name = std::string(order.metadata.name) + "-packing-list",
                              .namespace_ = order.metadata.namespace_,
                              .ownerReferences = {kgen::ControllerRef(order)}}};
  list.data["priority"] = order.spec->priority == Priority::kHigh ? "today" : "as usual";
  for (const Line& line : order.spec->lines) list.data[line.item] = std::to_string(line.quantity.value_or(1));
  return list;
}

kgen::Result<void> Reconcile(kgen::Request& request) {
  KGEN_TRY(const auto order, request.Get<Order>());
  if (!order) return {};  // deleted, and the garbage collector deletes its packing list
  if (const auto list = request.client().Apply(PackingList(*order), {.force = true}); !list) return list.error();

  Order packed = *order;  // the cached object is const
  std::int32_t articles = 0;
  for (const Line& line : order->spec->lines) articles += line.quantity.value_or(1);
  packed.status->articles = articles;
  kgen::SetCondition(packed.status->conditions, {.message = "The packing list is written.",
                                                 .observedGeneration = order->metadata.generation,
                                                 .reason = "Listed",
                                                 .status = "True",
                                                 .type = "Ready"});
  if (packed.status == order->status) return {};
  const auto updated = request.client().UpdateStatus(packed);
  return updated ? kgen::Result<void>() : updated.error();
}

}  // namespace

kgen::Result<void> AddOrderController(const kgen::Manager& manager) {
  // What the function writes into the status of an order calls it again without this predicate.
  return kgen::Discard(
      manager.Control<Order>("orders").When(kgen::GenerationChanged()).Owns<ConfigMap>().Reconcile(Reconcile));
}
