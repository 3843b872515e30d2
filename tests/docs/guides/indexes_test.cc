// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include <set>
#include <string>
#include <string_view>

#include "tests/docs/guides/guide.h"

using k8s::core::v1::Node;
using k8s::core::v1::Pod;

namespace guides {
namespace {

// begin add
// Who runs on a node, and who uses an image, without a walk over all pods.
kgen::Result<void> AddIndexes(const kgen::SharedInformer<Pod>& pods) {
  if (auto done = pods.AddIndex("node", kgen::FieldPath("spec.nodeName")); !done) return done;
  return pods.AddIndex("image", [](const Pod& pod, kgen::IndexSink& sink) {
    for (const auto& container : pod.spec->containers) sink.Add(container.image);
  });
}
// end add

// begin read
// The images that run on a node and nowhere else.
std::set<std::string> OnlyOn(const kgen::SharedInformer<Pod>& pods, std::string_view node) {
  std::set<std::string> images;
  const auto view = pods.Indexer().Snapshot();  // one state, so that all reads below agree
  for (const auto& pod : view.ByIndex("node", node)) {
    for (const auto& container : pod->spec->containers) {
      bool elsewhere = false;
      for (const auto& other : view.ByIndex("image", container.image)) elsewhere |= other->spec->nodeName != node;
      if (!elsewhere) images.insert(container.image.str());
    }
  }
  return images;
}
// end read

// begin controller
// A controller of nodes that finds the pods of its node.
kgen::Result<void> AddNodeController(const kgen::Manager& manager) {
  KGEN_TRY(const auto pods, manager.caches().Of<Pod>());
  if (auto done = pods.AddIndex("node", kgen::FieldPath("spec.nodeName")); !done) return done;
  return kgen::Discard(manager.Control<Node>("nodes").Reconcile([](kgen::Request& request) -> kgen::Result<void> {
    KGEN_TRY(const auto node, request.Get<Node>());
    if (!node) return {};
    KGEN_TRY(const auto here, request.client().List<Pod>({.index = "node", .value = request.key().name.str()}));
    Node counted = *node;
    counted.metadata.annotations["example.com/pods"] = std::to_string(here.size());
    if (counted == *node) return {};
    return kgen::Discard(request.client().Update(counted));
  }));
}
// end controller

using IndexesGuide = Guide;

TEST_F(IndexesGuide, AnswersFromIndexesOfAnInformer) {
  kgen::Must(cluster_.Add(PodOn("n1", "a", "nginx")));
  kgen::Must(cluster_.Add(PodOn("n1", "b", "redis")));
  kgen::Must(cluster_.Add(PodOn("n2", "c", "nginx")));
  k8s::SharedInformerFactory factory(cluster_.Connection());
  const auto pods = factory.Core().V1().Pods().Informer();
  kgen::Must(AddIndexes(pods));
  factory.Start();
  kgen::Must(factory.WaitForCacheSync({}));
  EXPECT_THAT(OnlyOn(pods, "n1"), ::testing::ElementsAre("redis"));
}

TEST_F(IndexesGuide, AControllerFindsObjectsByAnIndex) {
  kgen::Must(cluster_.Add(PodOn("n1", "a", "nginx")));
  kgen::Must(cluster_.Add(kgen::testing::MinimalObject("v1", "Node", "", "n1")));
  kgen::Must(AddNodeController(manager_));
  Run();
  EXPECT_THAT(kgen::Must(cluster_.Get("nodes", "", "n1")), ::testing::HasSubstr(R"("example.com/pods":"1")"));
}

}  // namespace
}  // namespace guides
