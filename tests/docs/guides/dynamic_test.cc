// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <site/clientset.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "kgen/client/crd.h"
#include "kgen/client/dynamic_client.h"
#include "kgen/core/unstructured.h"
#include "tests/docs/guides/guide.h"

namespace guides {
namespace {

// begin client
// Adds one replica to a site, of whose kind the program has no type.
kgen::Result<std::int64_t> AddReplica(const kgen::Connection& connection, std::string_view name) {
  const kgen::DynamicClient dynamic(connection);
  // Asks the server which resource the kind is; the version may be left out.
  KGEN_TRY(const auto sites, dynamic.ForKind({"web.example.com", "v1", "Website"}, "default"));
  KGEN_TRY(kgen::Unstructured site, sites.Get(name));
  const std::int64_t replicas = site.GetInt64("spec.replicas").value_or(1) + 1;
  if (auto done = site.Set("spec.replicas", replicas); !done) return done.error();
  KGEN_TRY(const kgen::Unstructured updated, sites.Update(site));
  return updated.GetInt64("spec.replicas");
}
// end client

// begin controller
// A controller of any kind, for instance one that a configuration file names.
kgen::Result<void> AddLabeller(const kgen::Manager& manager, const kgen::GroupVersionKind& kind) {
  return kgen::Discard(
      manager.Control(kind, "labeller").Reconcile([kind](kgen::Request& request) -> kgen::Result<void> {
        KGEN_TRY(const auto object, request.client().Get(kind, request.key()));
        if (!object || object->metadata.labels.contains("seen")) return {};
        kgen::Unstructured labelled = *object;
        labelled.metadata.labels["seen"] = "true";
        return kgen::Discard(request.client().Update(labelled));
      }));
}
// end controller

class DynamicGuide : public Guide {
 protected:
  void SetUp() override {
    kgen::Must(kgen::crd::Install(cluster_.Connection(), site::Manifests()));
    kgen::Must(cluster_.Add(R"({"apiVersion": "web.example.com/v1", "kind": "Website",
        "metadata": {"namespace": "default", "name": "home"}, "spec": {"html": "Hello", "replicas": 2}})"));
  }
};

TEST_F(DynamicGuide, ChangesAMemberByItsPath) { EXPECT_EQ(kgen::Must(AddReplica(cluster_.Connection(), "home")), 3); }

TEST_F(DynamicGuide, ControlsAKindWithoutGeneratedCode) {
  const auto added = cluster_.simulation().Spawn(
      [&] { return AddLabeller(manager_, {"web.example.com", "v1", "Website"}); });  // asks the server
  cluster_.RunUntilIdle();
  ASSERT_TRUE(added.done() && added.result());
  Run();
  const kgen::DynamicClient dynamic(cluster_.Connection());
  const auto sites = dynamic.ForResource({"web.example.com", "v1", "websites"}, "default");
  const kgen::Unstructured site = kgen::Must(sites.Get("home"));
  EXPECT_EQ(site.metadata.labels["seen"], "true");
}

}  // namespace
}  // namespace guides
