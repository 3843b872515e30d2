// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Informers and listers of resources without generated code, with the in-memory API server.
#include "kgen/cache/dynamic_informer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "kgen/client/dynamic_client.h"
#include "kgen/testing/cluster.h"
#include "tests/support/crds.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const GroupVersionResource kOrders{"shop.example.com", "v1", "orders"};
const GroupVersionResource kRegions{"shop.example.com", "v1", "regions"};
const GroupVersionResource kPods{"", "v1", "pods"};

class DynamicInformerTest : public ::testing::Test {
 protected:
  explicit DynamicInformerTest(ClusterOptions options = {}) : cluster_(std::move(options)) {
    Must(cluster_.Add(std::string_view(CrdJson("Order", "orders", true))));
    Must(cluster_.Add(std::string_view(CrdJson("Region", "regions", false))));
  }
  void AddOrder(std::string_view space, std::string_view name, int quantity) {
    Unstructured order{
        .metadata = {.name = name, .namespace_ = space}, .apiVersion = "shop.example.com/v1", .kind = "Order"};
    Must(order.Set("spec.quantity", quantity));
    Must(cluster_.Add(order));
  }
  Cluster cluster_;
};

class DynamicListsTest : public DynamicInformerTest {
 protected:
  DynamicListsTest() : DynamicInformerTest({.streaming_lists = false}) {}
};

TEST_F(DynamicInformerTest, ServesHandlersAndListersOfAResourceThatWasInstalledAtRunTime) {
  AddOrder("default", "first", 1);
  AddOrder("other", "second", 2);
  SharedInformerFactory factory(cluster_.Connection());
  const DynamicInformer orders = factory.ForResource(kOrders);
  std::vector<std::string> seen;
  const auto registration = orders.Informer().AddEventHandler(
      {.on_add = [&](const Added<Unstructured>& e) { seen.push_back("+" + e.key.str()); },
       .on_update =
           [&](const Updated<Unstructured>& e) {
             seen.push_back("~" + std::to_string(e.now->GetInt64("spec.quantity").value_or(0)));
           },
       .on_delete = [&](const Deleted<Unstructured>& e) { seen.push_back("-" + e.key.str()); }});
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.handlers = {&registration}}));
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("+default/first", "+other/second"));
  seen.clear();

  const DynamicResource client = DynamicClient(cluster_.Connection()).ForResource(kOrders, "default");
  Must(client.Patch("first", MergePatch(R"({"spec":{"quantity":5}})")));
  Must(client.Delete("first"));
  cluster_.RunUntilIdle();
  EXPECT_THAT(seen, ElementsAre("~5", "-default/first"));

  const DynamicLister lister = orders.Lister();
  EXPECT_EQ(lister.List().size(), 1u);
  EXPECT_FALSE(lister.ByNamespace("default").Get("first"));
  const auto second = lister.ByNamespace("other").Get("second");
  ASSERT_TRUE(second);
  EXPECT_EQ(Must(second->GetInt64("spec.quantity")), 2);
}

TEST_F(DynamicInformerTest, ReadsClusterScopedResources) {
  Must(
      cluster_.Add(Unstructured{.metadata = {.name = "north"}, .apiVersion = "shop.example.com/v1", .kind = "Region"}));
  SharedInformerFactory factory(cluster_.Connection());
  const DynamicInformer regions = factory.ForResource(kRegions);
  factory.Start();
  Must(factory.WaitForCacheSync());
  EXPECT_TRUE(regions.Lister().Get("north"));
  EXPECT_FALSE(regions.Lister().Get("south"));
}

// Contract: informer FA-11.
TEST_F(DynamicInformerTest, IsSharedByAllWhoAskForTheResource) {
  SharedInformerFactory factory(cluster_.Connection());
  const RestMapper mapper(cluster_.Connection());
  const DynamicInformer first = factory.ForResource(kOrders);
  const DynamicInformer second = factory.ForMapping(Must(mapper.ForKind({"shop.example.com", "v1", "Order"})));
  const DynamicInformer other = factory.ForResource(kRegions);
  Must(first.Informer().AddIndex("quantity", [](const Unstructured& order, IndexSink& sink) {
    if (const auto quantity = order.GetInt64("spec.quantity")) sink.Add(std::to_string(*quantity));
  }));
  AddOrder("default", "first", 7);
  factory.Start();
  Must(factory.WaitForCacheSync());
  EXPECT_EQ(factory.status().size(), 2u);
  EXPECT_EQ(second.Informer().Indexer().Snapshot().ByIndex("quantity", "7").size(), 1u);
  EXPECT_TRUE(other.Lister().List().empty());
}

TEST_F(DynamicListsTest, TakesTheKindOfAMappingThatComesAfterTheResourceAlone) {
  Must(cluster_.Add(MinimalPod("default", "web-0")));
  SharedInformerFactory factory(cluster_.Connection());
  const ResourceMapping mapping = Must(RestMapper(cluster_.Connection()).ForKind({"", "v1", "Pod"}));
  const DynamicInformer by_name = factory.ForResource(kPods);
  const DynamicInformer by_mapping = factory.ForMapping(mapping);
  const DynamicInformer again = factory.ForResource(kPods);
  EXPECT_EQ(factory.status().size(), 1u);
  factory.Start();
  Must(factory.WaitForCacheSync());
  for (const DynamicInformer& informer : {by_name, by_mapping, again}) {
    const auto pod = informer.Lister().Get({"default", "web-0"});
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->kind, "Pod");
  }
}

TEST_F(DynamicListsTest, MakesAnInformerOfItsOwnForAMappingThatComesAfterTheStart) {
  Must(cluster_.Add(MinimalPod("default", "web-0")));
  SharedInformerFactory factory(cluster_.Connection());
  const DynamicInformer by_name = factory.ForResource(kPods);
  factory.Start();
  Must(factory.WaitForCacheSync());
  const DynamicInformer by_mapping =
      factory.ForMapping(Must(RestMapper(cluster_.Connection()).ForKind({"", "v1", "Pod"})));
  factory.Start();
  Must(factory.WaitForCacheSync());
  const auto pod = by_mapping.Lister().Get({"default", "web-0"});
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->kind, "Pod");
  EXPECT_EQ(by_name.Lister().List().size(), 1u);
}

TEST_F(DynamicInformerTest, AsksInTheScopeOfTheMappingAfterAGuess) {
  Must(
      cluster_.Add(Unstructured{.metadata = {.name = "north"}, .apiVersion = "shop.example.com/v1", .kind = "Region"}));
  FactoryOptions options;
  options.namespace_ = "other";
  SharedInformerFactory factory(cluster_.Connection(), std::move(options));
  static_cast<void>(factory.ForResource(kRegions));  // taken for namespaced
  const DynamicInformer regions = factory.ForMapping(Must(RestMapper(cluster_.Connection()).ForResource(kRegions)));
  factory.Start();
  static_cast<void>(factory.WaitForCacheSync());  // the informer of the guess cannot sync
  EXPECT_TRUE(regions.Lister().Get("north"));
}

TEST_F(DynamicInformerTest, ListsAResourceWhoseListIsCalledAnything) {
  cluster_.AddResource({.group = "stock.example.com",
                        .version = "v1",
                        .plural = "shelves",
                        .singular = "shelf",
                        .kind = "Shelf",
                        .list_kind = "Shelves"});
  SharedInformerFactory factory(cluster_.Connection(), {.defaults = {.streaming_list = false}});
  static_cast<void>(factory.ForResource({"stock.example.com", "v1", "shelves"}));
  factory.Start();
  EXPECT_TRUE(factory.WaitForCacheSync());
}

TEST_F(DynamicInformerTest, FollowsSeveralScopesOfAResource) {
  AddOrder("default", "first", 1);
  AddOrder("other", "second", 2);
  SharedInformerFactory factory(cluster_.Connection(), {.namespace_ = "other"});
  const RestMapper mapper(cluster_.Connection());
  const DynamicInformer own = factory.ForResource(kOrders);
  const DynamicInformer all = factory.ForResource(kOrders, {});
  const DynamicInformer first = factory.ForMapping(Must(mapper.ForResource(kOrders)),
                                                   {.namespace_ = "default", .field_selector = "metadata.name=first"});
  EXPECT_EQ(factory.ForResource(kOrders, {.namespace_ = "other"}).Informer().informer(), own.Informer().informer());
  factory.Start();
  Must(factory.WaitForCacheSync());
  EXPECT_EQ(factory.status().size(), 3u);
  EXPECT_EQ(own.Lister().List().size(), 1u);
  EXPECT_EQ(all.Lister().List().size(), 2u);
  ASSERT_EQ(first.Lister().List().size(), 1u);
  EXPECT_EQ(first.Lister().List()[0]->kind, "Order") << "the mapping says so";
}

TEST_F(DynamicInformerTest, RefusesANamespaceForAClusterScopedKind) {
  SharedInformerFactory factory(cluster_.Connection());
  const RestMapper mapper(cluster_.Connection());
  static_cast<void>(factory.ForMapping(Must(mapper.ForResource(kRegions)), {.namespace_ = "other"}));
  factory.Start();
  const auto wait = cluster_.simulation().Spawn([&] { return factory.WaitForCacheSync(); });
  cluster_.Advance(std::chrono::minutes(1));
  ASSERT_TRUE(wait.done());
  ASSERT_FALSE(wait.result());
  EXPECT_EQ(wait.result().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(wait.result().error().ToString(),
              HasSubstr("the kind is cluster-scoped, so its scope must not name namespace \"other\""));
}

TEST_F(DynamicInformerTest, StaysInTheNamespaceOfTheFactory) {
  AddOrder("default", "first", 1);
  AddOrder("other", "second", 2);
  Must(
      cluster_.Add(Unstructured{.metadata = {.name = "north"}, .apiVersion = "shop.example.com/v1", .kind = "Region"}));
  FactoryOptions options;
  options.namespace_ = "other";
  SharedInformerFactory factory(cluster_.Connection(), std::move(options));
  const RestMapper mapper(cluster_.Connection());
  const DynamicInformer orders = factory.ForResource(kOrders);
  const DynamicInformer regions = factory.ForMapping(Must(mapper.ForResource(kRegions)));
  factory.Start();
  Must(factory.WaitForCacheSync());
  ASSERT_EQ(orders.Lister().List().size(), 1u);
  EXPECT_TRUE(orders.Lister().ByNamespace("other").Get("second"));
  EXPECT_TRUE(regions.Lister().Get("north")) << "the mapping says that it is of the whole cluster";
}

// As a server of built-in resources does, the cluster leaves the kind of items out of its lists.
TEST_F(DynamicListsTest, NamesObjectsOfListsByTheMapping) {
  Must(cluster_.Add(MinimalPod("default", "web-0")));
  SharedInformerFactory plain(cluster_.Connection()), mapped(cluster_.Connection());
  const DynamicInformer by_name = plain.ForResource(kPods);
  const DynamicInformer by_mapping =
      mapped.ForMapping(Must(RestMapper(cluster_.Connection()).ForKind({"", "v1", "Pod"})));
  for (SharedInformerFactory* factory : {&plain, &mapped}) {
    factory->Start();
    Must(factory->WaitForCacheSync());
  }
  const auto pod = by_mapping.Lister().ByNamespace("default").Get("web-0");
  EXPECT_EQ(pod->apiVersion, "v1");
  EXPECT_EQ(pod->kind, "Pod");
  EXPECT_EQ(by_name.Lister().List()[0].get()->apiVersion, "v1");
}

TEST_F(DynamicInformerTest, RunsTheTransformOfTheFactoryOnNamedObjects) {
  AddOrder("default", "first", 1);
  FactoryOptions options;
  options.defaults.transform = [](AnyRef object) -> Result<AnyRef> {
    Unstructured changed = *object.As<Unstructured>().get();
    Must(changed.Set("spec.seen", changed.kind));
    return MakeRef(std::move(changed));
  };
  SharedInformerFactory factory(cluster_.Connection(), std::move(options));
  const DynamicInformer orders = factory.ForResource(kOrders);
  factory.Start();
  Must(factory.WaitForCacheSync());
  EXPECT_EQ(Must(orders.Lister().List()[0].get()->GetString("spec.seen")), "Order");
}

TEST_F(DynamicInformerTest, ReportsAResourceThatTheServerDoesNotHave) {
  SharedInformerFactory factory(cluster_.Connection());
  static_cast<void>(factory.ForResource({"shop.example.com", "v1", "nothing"}));
  factory.Start();
  EXPECT_EQ(factory.WaitForCacheSync().error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace kgen::testing
