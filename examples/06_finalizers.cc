// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 06: finalizers. For each ConfigMap this controller reserves something outside of the cluster, here in `reserved`, and
// writes a receipt. The finalizer keeps a deleted ConfigMap until the controller has given the reservation back.
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <kgen/controller/create_or_update.h>
#include <kgen/controller/finalizers.h>
#include <kgen/controller/manager.h>
#include <kgen/controller/wait.h>
#include <kgen/core/try.h>
#include <kgen/testing/cluster.h>

#include <chrono>
#include <set>
#include <stop_token>
#include <string>

using k8s::core::v1::ConfigMap;
using k8s::core::v1::Secret;
using kgen::ObjectKey;
using std::chrono_literals::operator""s;

namespace {

constexpr const char* kFinalizer = "shop.example.com/reservation";

struct Reservations {
  kgen::Result<kgen::Requeue> Reconcile(const kgen::Request& request) {
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    if (!map) return kgen::Requeue::Done();

    // Adds the finalizer before anything is reserved. Once the ConfigMap is being deleted, gives the reservation back
    // and removes the finalizer; only then does the server delete the ConfigMap.
    ConfigMap changed = *map;
    const kgen::Finalized done = finalizers.Run(changed);
    if (done.updated) {
      KGEN_TRY(changed, request.client().Update(changed));
    }
    if (!done.result) return done.result.error();
    if (kgen::IsBeingDeleted(*map)) return kgen::Requeue::Done();
    reserved.insert(map->metadata.name.str());

    // Creates the receipt, or patches what differs; sends nothing if it is as it should be.
    const Secret like{.metadata = {.name = map->metadata.name, .namespace_ = map->metadata.namespace_}};
    KGEN_TRY(const auto written, kgen::CreateOrPatch(request.client(), like, [&](Secret& receipt) {
               receipt.metadata.labels["item"] = map->data["item"];
               return kgen::SetControllerReference(receipt, *map);
             }));
    request.Log("wrote the receipt", {{"operation", ToString(written.operation)}, {"item", map->data["item"]}});

    // Server-side apply names only the members that this controller owns.
    const Secret labelled{.metadata = {.name = like.metadata.name,
                                       .namespace_ = like.metadata.namespace_,
                                       .annotations = {{"shop.example.com/checked", "true"}}}};
    KGEN_TRY(const auto applied, kgen::ApplyIfChanged(request.client(), labelled));
    return kgen::Requeue::Done();
  }

  kgen::Finalizers<ConfigMap> finalizers{};
  std::set<std::string> reserved{};
};

TEST(FinalizersExample, GivesTheReservationBackBeforeTheObjectIsGone) {
  kgen::testing::Cluster cluster({.seed = 1, .observer = kgen::NullObserver()});
  const kgen::Manager manager = kgen::Must(kgen::Manager::New(cluster.Connection(), {.name = "reservations"}));
  Reservations reservations;
  kgen::Must(reservations.finalizers.Register(kFinalizer, [&](ConfigMap& map) -> kgen::Result<void> {
    reservations.reserved.erase(map.metadata.name.str());  // nothing is left to do if it is not there
    return {};
  }));
  kgen::Must(manager.Control<ConfigMap>("reservations").Owns<Secret>().Reconcile([&](kgen::Request& request) {
    return reservations.Reconcile(request);
  }));
  std::stop_source stop;
  const auto running = cluster.simulation().Spawn([&] { return manager.Run(stop.get_token()); });

  const ObjectKey key("default", "teapot");
  kgen::Must(cluster.Add(
      ConfigMap{.metadata = {.name = key.name, .namespace_ = key.namespace_}, .data = {{"item", "teapot"}}}));
  cluster.RunUntilIdle();
  EXPECT_TRUE(reservations.reserved.contains("teapot"));

  // WaitFor blocks until the predicate accepts the cached object, for ten seconds at most.
  const auto checked = [](const kgen::Ref<const Secret>& receipt) {
    return receipt && receipt->metadata.annotations.contains("shop.example.com/checked");
  };
  const auto receipt = kgen::Must(kgen::WaitFor<Secret>(manager.client(), key, checked, {}, 10s));
  EXPECT_EQ(receipt->metadata.labels["item"], "teapot");

  kgen::Must(manager.client().Delete<ConfigMap>(key));
  const auto is_gone = [](const kgen::Ref<const ConfigMap>& map) { return !map; };
  kgen::Must(kgen::WaitFor<ConfigMap>(manager.client(), key, is_gone, {}, 10s));
  EXPECT_TRUE(reservations.reserved.empty());

  stop.request_stop();
  cluster.RunUntilIdle();
  EXPECT_TRUE(running.done() && running.result());
}

}  // namespace
