// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Range expressions that users write without thinking of lifetimes, under GCC's ASan: before the first iteration, GCC
// 12 destroys every temporary except the range itself, and none of these loops may dangle.
#include <gtest/gtest.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>
#include <kgen/testing/cluster.h>

#include <string>

namespace kgen::testing {
namespace {

using k8s::core::v1::Pod;

// Every text is long enough to have a block of its own.
constexpr const char* kPod = R"({"apiVersion": "v1", "kind": "Pod",
  "metadata": {"namespace": "default", "name": "a-pod-with-a-long-name", "labels": {"app": "an application with a name"}},
  "spec": {"nodeName": "a-node-with-a-long-name", "containers": [{"name": "a-container-with-a-long-name", "image": "i"}]}})";

class RangesTest : public ::testing::Test {
 protected:
  RangesTest() {
    Must(cluster_.Add(kPod));
    // A transformed object shares no block with the decoder and its memo, so it is freed with the last Ref.
    Must(pods_.Informer().SetTransform([](Pod& pod) { pod.metadata.annotations["seen"] = "by the transform"; }));
    Must(pods_.Informer().AddIndex("node", FieldPath("spec.nodeName")));
    factory_.Start();
    Must(factory_.WaitForCacheSync({}));
  }

  // Makes the server, the store and its index forget the pod during the first iteration: from then on only the loop can
  // keep it alive.
  void Forget() {
    Must(cluster_.Delete("pods", "default", kName));
    cluster_.RunUntilIdle();
  }
  auto Client() const { return clientset_.CoreV1().Pods("default"); }

  static constexpr const char* kName = "a-pod-with-a-long-name";
  static constexpr const char* kNode = "a-node-with-a-long-name";
  static constexpr const char* kApp = "an application with a name";

  Cluster cluster_{ClusterOptions{.seed = 1}};
  k8s::Clientset clientset_{cluster_.Connection()};
  k8s::SharedInformerFactory factory_{clientset_};
  decltype(factory_.Core().V1().Pods()) pods_ = factory_.Core().V1().Pods();
  std::string seen_;
};

TEST_F(RangesTest, PodsOfALister) {
  for (const auto& pod : factory_.Core().V1().Pods().Lister().List()) {
    Forget();
    seen_ += pod->metadata.labels["app"];
  }
  EXPECT_EQ(seen_, kApp);
}

TEST_F(RangesTest, PodsOfANamespaceOfALister) {
  for (const Pod& pod : pods_.Lister().Pods("default").List()) {
    Forget();
    for (const auto& container : pod.spec->containers) seen_ += container.name;
  }
  EXPECT_EQ(seen_, "a-container-with-a-long-name");
}

TEST_F(RangesTest, PodsOfASnapshotByIndex) {
  for (const Pod& pod : pods_.Informer().Indexer().Snapshot().ByIndex("node", kNode)) {
    Forget();
    seen_ += pod.metadata.labels["app"];
  }
  EXPECT_EQ(seen_, kApp);
}

TEST_F(RangesTest, ValuesOfAnIndexOfASnapshot) {
  for (const auto& value : pods_.Informer().Indexer().Snapshot().IndexValues("node")) {
    Forget();
    seen_ += value;
  }
  EXPECT_EQ(seen_, kNode);
}

TEST_F(RangesTest, PodsAndKeysOfASnapshot) {
  for (const auto& key : pods_.Informer().Indexer().Snapshot().Keys()) {
    for (const Pod& pod : pods_.Informer().Indexer().Snapshot().List()) {
      Forget();
      seen_ += key.name + " on " + pod.spec->nodeName;
    }
  }
  EXPECT_EQ(seen_, std::string(kName) + " on " + kNode);
}

TEST_F(RangesTest, PodsOfAListFromTheServer) {
  for (const auto& pod : Must(Client().List())) seen_ += pod.metadata.labels["app"];
  for (const auto& pod : Must(Client().List()).items) seen_ += pod.metadata.labels["app"];
  EXPECT_EQ(seen_, std::string(kApp) + kApp);
}

TEST_F(RangesTest, PagesOfAListFromTheServer) {
  for (const auto& page : clientset_.CoreV1().Pods("default").Pages({.limit = 1})) {
    ASSERT_TRUE(page) << page.error();
    for (const Pod& pod : *page) seen_ += pod.metadata.labels["app"];
  }
  EXPECT_EQ(seen_, kApp);
}

TEST_F(RangesTest, LabelsOfOnePodFromTheServer) {
  for (const auto& [key, value] : Must(Client().Get(kName)).metadata.labels) seen_ += std::string(key) + '=' + value;
  EXPECT_EQ(seen_, std::string("app=") + kApp);
}

TEST_F(RangesTest, ContainersInAHandler) {
  cluster_.RunUntilIdle();
  const auto registration = pods_.Informer().AddEventHandler({.on_add = [&](const Added<Pod>& e) {
    for (const auto& container : e.now->spec->containers) seen_ += container.name;
  }});
  cluster_.RunUntilIdle();
  EXPECT_EQ(seen_, "a-container-with-a-long-name");
}

}  // namespace
}  // namespace kgen::testing
