// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Caches: one for each kind and scope, with as many informers as namespaces, as long as it has users.
#include "kgen/controller/caches.h"

#include "kgen/cache/resource_version.h"
#include "tests/runtime/controller/caches_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using CachesTest = CachesFixture;

// Contract: controller 117.
TEST_P(CachesTest, AllUsersOfAKindShareOneInformer) {
  Must(cluster_.Add(Map("a")));
  Caches& caches = Make();
  const auto first = Must(caches.Of<ConfigMap>());
  const Caches copy = caches;
  const auto second = Must(copy.Of<ConfigMap>());
  Must(first.WaitForSync());
  EXPECT_TRUE(second.HasSynced());
  EXPECT_EQ(Value(second.Get({"default", "a"})).metadata.name, "a");
  EXPECT_EQ(cluster_.census().watches, 1u);
  EXPECT_EQ(caches.status().size(), 1u);
  EXPECT_EQ(caches.status().front().name, "configmaps");
}

// Contract: controller 121, 262.
TEST_P(CachesTest, EveryReadReturnsTheOneObjectThatNobodyCanChange) {
  Must(cluster_.Add(Map("a", "1")));
  const auto cache = Must(Make().Of<ConfigMap>());
  Must(cache.WaitForSync());
  const Ref<const ConfigMap> first = Must(cache.Get({"default", "a"}));
  EXPECT_EQ(first.get(), Must(cache.Get({"default", "a"})).get());
  EXPECT_EQ(first.get(), Must(cache.List()).at(0).get());
  static_assert(std::is_same_v<decltype(*first), const ConfigMap&>);
  ConfigMap copy = *first;
  copy.data["value"] = "2";
  EXPECT_EQ(first->data["value"], "1");
  Must(cluster_.Update(copy));
  cluster_.RunUntilIdle();
  EXPECT_EQ(first->data["value"], "1");  // a newer state is another object
  EXPECT_EQ(Value(cache.Get({"default", "a"})).data["value"], "2");
}

// Contract: controller 135, 272.
TEST_P(CachesTest, InformersStopWithTheLastUserAndStartAnewWithTheNext) {
  Must(cluster_.Add(Map("a")));
  Caches& caches = Make();
  std::optional<Cache<ConfigMap>> cache = Must(caches.Of<ConfigMap>());
  std::optional<Cache<ConfigMap>> copy = cache;
  int added = 0;
  CacheRegistration registration = cache->AddEventHandler({.on_add = [&](const Added<ConfigMap>&) { ++added; }});
  Must(cache->AddIndex("name", FieldPath("metadata.name")));
  Must(cache->WaitForSync());
  cache.reset();
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 1u);
  copy.reset();
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 1u);  // the registration is a user, too
  EXPECT_EQ(added, 1);
  registration.Remove();
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 0u);
  EXPECT_THAT(caches.status(), IsEmpty());

  Must(cluster_.Add(Map("b")));
  cache = Must(caches.Of<ConfigMap>());
  EXPECT_FALSE(cache->HasSynced());
  Must(cache->WaitForSync());
  EXPECT_THAT(Names(cache->List()), ElementsAre("a", "b"));
  EXPECT_THAT(Names(cache->List({.index = "name", .value = "a"})), ElementsAre("a"));
  EXPECT_EQ(added, 1);
  cache.reset();
  ExpectNothingLeft();
}

TEST_P(CachesTest, AUserMayOutliveTheCachesAndReadsTheLastState) {
  Must(cluster_.Add(Map("a")));
  const auto cache = Must(Make().Of<ConfigMap>());
  Must(cache.WaitForSync());
  caches_->Shutdown();
  caches_.reset();
  Must(cluster_.Add(Map("b")));
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 0u);
  EXPECT_THAT(Names(cache.List()), ElementsAre("a"));
}

// Contract: controller 127.
TEST_P(CachesTest, ReadsSeveralNamespacesAsOneAndRefusesOthers) {
  for (const char* in : {"shop", "billing", "other"}) Must(cluster_.Add(Map("of-" + std::string(in), "", in)));
  Caches& caches = Make({.scopes_of = {{&ConfigMap::kTable, {{.namespace_ = "shop"}, {.namespace_ = "billing"}}}}});
  const auto cache = Must(caches.Of<ConfigMap>());
  Must(cache.WaitForSync());
  EXPECT_EQ(cluster_.census().watches, 2u);
  EXPECT_THAT(Names(cache.List()), ElementsAre("of-billing", "of-shop"));
  EXPECT_THAT(Names(cache.List({.namespace_ = "shop"})), ElementsAre("of-shop"));
  EXPECT_TRUE(Must(cache.Get({"billing", "of-billing"})));
  EXPECT_FALSE(Must(cache.Get({"billing", "of-shop"})));

  const auto got = cache.Get({"other", "of-other"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(got.error().ToString(), HasSubstr("namespace \"other\" is not cached, only \"billing\", \"shop\""));
  EXPECT_EQ(cache.List({.namespace_ = "other"}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(cache.Get({"", "of-other"}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(cache.WaitUntil({"other", "x"}, "1").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(cache.WaitUntil({"shop", "of-shop"}, "1", {}, -1s).error().code(), Code::kInvalidArgument);
}

// Contract: controller 125.
TEST_P(CachesTest, SelectsInSomeNamespacesOtherObjectsThanInAllOthers) {
  for (const char* in : {"shop", "billing"}) Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", in)));
  for (const char* in : {"shop", "billing", "default"}) {
    Must(cluster_.Add(MakePod("web", "web", in)));
    Must(cluster_.Add(MakePod("db", "db", in)));
  }
  CachedClient& client = MakeClient({.of = {{&Pod::kTable, {.label_selector = "app=web"}}},
                                     .scopes_of = {{&Pod::kTable,
                                                    {{},
                                                     {.namespace_ = "shop", .label_selector = "app=db"},
                                                     {.namespace_ = "billing", .label_selector = ""}}}}});
  const auto keys = [&](const ListFilter& filter) {
    std::vector<std::string> keys;
    for (const auto& pod : Must(client.List<Pod>(filter))) {
      keys.push_back(pod->metadata.namespace_.str() + "/" + pod->metadata.name.str());
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  EXPECT_THAT(keys({}), ElementsAre("billing/db", "billing/web", "default/web", "shop/db"));
  EXPECT_THAT(keys({.namespace_ = "shop"}), ElementsAre("shop/db"));
  EXPECT_EQ(cluster_.census().watches, 3u);
  Must(client.Create(MakePod("more", "db", "shop")));
  Must(client.Create(MakePod("more", "db")));
  Must(client.Create(MakePod("other", "web")));
  EXPECT_THAT(keys({}),
              ElementsAre("billing/db", "billing/web", "default/other", "default/web", "shop/db", "shop/more"));
  EXPECT_FALSE(Must(client.Get<Pod>({"default", "db"})));
  EXPECT_TRUE(Must(client.Get<Pod>({"shop", "more"})));
  const auto twice = Caches(connection_, {.scopes = {{.namespace_ = "a"}, {.namespace_ = "a"}}}).Of<Pod>();
  EXPECT_THAT(twice.error().ToString(), HasSubstr("two scopes for namespace \"a\""));
}

TEST_P(CachesTest, OneRegistrationHearsOfAllNamespaces) {
  Must(cluster_.Add(Map("a", "", "shop")));
  const auto cache = Must(
      Make({.scopes_of = {{&ConfigMap::kTable, {{.namespace_ = "shop"}, {.namespace_ = "billing"}}}}}).Of<ConfigMap>());
  std::vector<std::string> heard;
  CacheRegistration registration = cache.AddEventHandler(
      {.on_add = [&](const Added<ConfigMap>& e) { heard.push_back("added " + e.key.str()); },
       .on_delete = [&](const Deleted<ConfigMap>& e) { heard.push_back("deleted " + e.key.str()); }});
  EXPECT_FALSE(registration.HasSynced());
  Must(cache.WaitForSync());
  cluster_.RunUntilIdle();
  EXPECT_TRUE(registration.HasSynced());
  EXPECT_TRUE(registration.status());
  Must(cluster_.Add(Map("b", "", "billing")));
  cluster_.RunUntilIdle();
  Must(cluster_.Delete("configmaps", "shop", "a"));
  cluster_.RunUntilIdle();
  EXPECT_THAT(heard, ElementsAre("added shop/a", "added billing/b", "deleted shop/a"));
  EXPECT_EQ(registration.Backlog(), 0u);
  registration.Remove();
  Must(cluster_.Delete("configmaps", "billing", "b"));
  cluster_.RunUntilIdle();
  EXPECT_EQ(heard.size(), 3u);
}

// Contract: controller 126.
TEST_P(CachesTest, ClusterScopedKindsIgnoreDefaultNamespacesAndRefuseTheirOwn) {
  Must(cluster_.Add(testing::MinimalObject("v1", "Node", "", "n1")));
  const auto nodes = Must(Make({.scopes = {{.namespace_ = "shop"}}}).Of<Node>());
  Must(nodes.WaitForSync());
  EXPECT_THAT(Names(nodes.List()), ElementsAre("n1"));
  EXPECT_EQ(nodes.Get({"shop", "n1"}).error().code(), Code::kInvalidArgument);

  const auto refused = Make({.scopes_of = {{&Node::kTable, {{.namespace_ = "shop"}}}}}).Of<Node>();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("cache of nodes: the kind is cluster-scoped"));
}

// Contract: controller 123, 124.
TEST_P(CachesTest, OptionsOfAKindReplaceTheDefaults) {
  Must(cluster_.Add(MakePod("web", "web")));
  Must(cluster_.Add(MakePod("db", "db")));
  Must(cluster_.Add(Map("a")));
  ConfigMap labelled = Map("b");
  labelled.metadata.labels["app"] = "db";
  Must(cluster_.Add(labelled));
  Caches& caches = Make({.defaults = {.label_selector = "app=db"},
                         .of = {{&Pod::kTable, {.label_selector = "app", .field_selector = "metadata.name!=db"}}}});
  const auto pods = Must(caches.Of<Pod>());
  const auto maps = Must(caches.Of<ConfigMap>());
  const auto meta = Must(caches.MetadataOf<Pod>());
  Must(caches.WaitForSync({}));
  EXPECT_THAT(Names(pods.List()), ElementsAre("web"));
  EXPECT_THAT(Names(maps.List()), ElementsAre("b"));
  EXPECT_THAT(Names(meta.List()), ElementsAre("web"));
}

TEST_P(CachesTest, RefusesMalformedSelectors) {
  Caches& caches = Make({.of = {{&Pod::kTable, {.label_selector = "app in web"}},
                                {&ConfigMap::kTable, {.field_selector = "metadata.name"}},
                                {&Node::kTable, {.field_selector = "=x"}}}});
  EXPECT_EQ(caches.Of<Pod>().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(caches.Of<Pod>().error().ToString(), HasSubstr("cache of pods: label selector \"app in web\""));
  EXPECT_EQ(caches.Of<ConfigMap>().error().code(), Code::kInvalidArgument);
  EXPECT_EQ(caches.Of<Node>().error().code(), Code::kInvalidArgument);
}

// Contract: controller 122, 152.
TEST_P(CachesTest, HoldsTheMetadataAlone) {
  ConfigMap map = Map("a", "large");
  map.metadata.labels["x"] = "y";
  Must(cluster_.Add(map));
  const auto cache = Must(Make().MetadataOf<ConfigMap>());
  Must(cache.WaitForSync());
  Must(cluster_.Add(Map("b", "large")));
  cluster_.RunUntilIdle();
  for (const char* name : {"a", "b"}) {  // from the list, and from the watch
    const Ref<const PartialObjectMetadata> object = Must(cache.Get({"default", name}));
    ASSERT_TRUE(object);
    EXPECT_EQ(object->kind, "ConfigMap");
    EXPECT_EQ(object->apiVersion, "v1");
    EXPECT_TRUE(object->unknown_fields.empty());
  }
  EXPECT_EQ(Must(cache.List({.labels = Must(Selector::Parse("x=y"))})).size(), 1u);
  EXPECT_EQ(caches_->status().front().name, "configmaps (metadata)");
}

// Contract: controller 117, 140.
TEST_P(CachesTest, CachesAnyKindAsUnstructured) {
  Must(cluster_.Add(Map("a", "1")));
  Caches& caches = Make();
  const ResourceMapping mapping = Must(RestMapper(connection_).ForKind({"", "v1", "ConfigMap"}));
  const auto cache = Must(caches.Of(mapping));
  const auto same = Must(caches.Of(mapping));
  const auto typed = Must(caches.Of<ConfigMap>());
  const auto metadata = Must(caches.MetadataOf(mapping));
  Must(cache.AddIndex("value", [](const Unstructured& object, IndexSink& sink) {
    if (const auto value = object.GetString("data.value")) sink.Add(*value);
  }));
  Must(caches.WaitForSync({}));
  EXPECT_EQ(cluster_.census().watches, 3u);  // one for each form
  const auto object = Must(same.Get({"default", "a"}));
  EXPECT_EQ(object->apiVersion, "v1");
  EXPECT_EQ(object->kind, "ConfigMap");
  EXPECT_EQ(Must(same.List({.index = "value", .value = "1"})).size(), 1u);
  EXPECT_EQ(Value(metadata.Get({"default", "a"})).kind, "ConfigMap");
}

// Contract: controller 130, 132.
TEST_P(CachesTest, IndexesEveryNamespaceEvenWhileItRuns) {
  for (const char* in : {"shop", "billing"}) Must(cluster_.Add(MakePod("web", "web", in)));
  const auto cache =
      Must(Make({.scopes_of = {{&Pod::kTable, {{.namespace_ = "shop"}, {.namespace_ = "billing"}}}}}).Of<Pod>());
  Must(cache.AddIndex("name", FieldPath("metadata.name")));
  Must(cache.WaitForSync());
  Must(cache.AddIndex("app", [](const Pod& pod, IndexSink& sink) { sink.Add(pod.metadata.labels["app"]); }));
  EXPECT_THAT(Names(cache.List({.index = "name", .value = "web"})), ElementsAre("web", "web"));
  EXPECT_THAT(Names(cache.List({.namespace_ = "shop", .index = "app", .value = "web"})), ElementsAre("web"));
  EXPECT_THAT(Names(cache.List({.labels = Must(Selector::Parse("app!=web")), .index = "app", .value = "web"})),
              IsEmpty());
  const auto none = cache.List({.index = "node", .value = "n1"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(none.error().ToString(), HasSubstr("list pods: there is no index \"node\""));
  EXPECT_EQ(cache.List({.value = "n1"}).error().code(), Code::kInvalidArgument);
}

TEST_P(CachesTest, AnIndexMayBeAddedAgainWithTheSamePathOnly) {
  Caches& caches = Make();
  const auto cache = Must(caches.Of<Pod>());
  const auto by_name = [](const Pod& pod, IndexSink& sink) { sink.Add(pod.metadata.name); };
  Must(cache.AddIndex("name", FieldPath("metadata.name")));
  Must(Must(caches.Of<Pod>()).AddIndex("name", FieldPath("metadata.name")));
  const auto other = cache.AddIndex("name", FieldPath("metadata.uid"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(other.error().ToString(),
              HasSubstr("cache of pods: index \"name\" exists, by the path \"metadata.name\""));
  EXPECT_FALSE(cache.AddIndex("name", by_name));
  Must(cache.AddIndex("function", by_name));
  EXPECT_FALSE(cache.AddIndex("function", by_name));
  EXPECT_FALSE(cache.AddIndex("wrong", FieldPath("metadata.nonsense")));
  Must(cache.AddIndex("wrong", FieldPath("metadata.uid")));  // the failure has not taken the name
}

TEST_P(CachesTest, SaysWhichVersionItHasReached) {
  for (const char* in : {"shop", "billing"}) Must(cluster_.Add(MakePod("web", "web", in)));
  Caches& caches = Make({.scopes_of = {{&Pod::kTable, {{.namespace_ = "shop"}, {.namespace_ = "billing"}}}}});
  const auto maps = Must(caches.Of<ConfigMap>());
  EXPECT_EQ(maps.ResourceVersion().error().code(), Code::kUnavailable);
  Must(maps.WaitForSync());
  const std::string before = Must(maps.ResourceVersion());
  Must(cluster_.Add(Map("a")));
  cluster_.RunUntilIdle();
  EXPECT_EQ(CompareResourceVersions(before, Must(maps.ResourceVersion())), std::strong_ordering::less);
  EXPECT_EQ(Value(maps.Get({"default", "a"})).metadata.resourceVersion, Must(maps.ResourceVersion()));

  const auto pods = Must(caches.Of<Pod>());
  Must(pods.WaitForSync());
  EXPECT_TRUE(pods.ResourceVersion("shop"));
  EXPECT_EQ(pods.ResourceVersion().error().code(), Code::kInvalidArgument);
  EXPECT_EQ(pods.ResourceVersion("other").error().code(), Code::kInvalidArgument);
}

TEST(CompareResourceVersionsTest, OrdersNumbersOfAnyLengthAndRefusesOtherTexts) {
  using Order = std::strong_ordering;
  EXPECT_EQ(CompareResourceVersions("9", "10"), Order::less);
  EXPECT_EQ(CompareResourceVersions("10", "10"), Order::equal);
  EXPECT_EQ(CompareResourceVersions("100000000000000000000000002", "100000000000000000000000001"), Order::greater);
  for (const char* wrong : {"", "0", "01", "-1", "a", "1 "}) {
    EXPECT_EQ(CompareResourceVersions("1", wrong).error().code(), Code::kInvalidArgument) << wrong;
    EXPECT_EQ(CompareResourceVersions(wrong, "1").error().code(), Code::kInvalidArgument) << wrong;
  }
}

TEST_P(CachesTest, AnIndexThatATemporaryUserAddsIsThereForLaterOnes) {
  Must(cluster_.Add(MakePod("web", "web")));
  Caches& caches = Make({}, false);
  Must(Must(caches.Of<Pod>()).AddIndex("name", FieldPath("metadata.name")));
  Must(Must(caches.Of<Pod>()).AddIndex("app", [](const Pod& pod, IndexSink& sink) {
    sink.Add(pod.metadata.labels["app"]);
  }));
  caches.Start(stop_.get_token());
  const auto pods = Must(caches.Of<Pod>());
  Must(pods.WaitForSync());
  EXPECT_THAT(Names(pods.List({.index = "name", .value = "web"})), ElementsAre("web"));
  EXPECT_THAT(Names(pods.List({.index = "app", .value = "web"})), ElementsAre("web"));
  EXPECT_FALSE(pods.AddIndex("name", FieldPath("metadata.uid")));
  // Another form has another cache.
  const auto metadata = Must(caches.MetadataOf<Pod>());
  Must(metadata.WaitForSync());
  EXPECT_THAT(Names(metadata.List({.index = "name", .value = "web"})),
              ElementsAre(AllOf(HasSubstr("there is no index \"name\""), HasSubstr("PartialObjectMetadata"),
                                HasSubstr("which has none"))));
  EXPECT_THAT(Names(pods.List({.index = "node", .value = "n1"})),
              ElementsAre(HasSubstr("which has \"app\", \"name\"")));
}

// Contract: controller 119, 134, 267.
TEST_P(CachesTest, StartsEarlierUsersAtTheStartAndLaterOnesAtOnce) {
  Caches& caches = Make({}, /*start=*/false);
  const auto pods = Must(caches.Of<Pod>());
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 0u);
  EXPECT_EQ(pods.WaitForSync().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(caches.WaitForSync({}).error().ToString(), HasSubstr("the caches have not been started"));
  EXPECT_EQ(pods.Get({"default", "a"}).error().code(), Code::kUnavailable);
  EXPECT_EQ(pods.List().error().code(), Code::kUnavailable);
  caches.Start(stop_.get_token());
  caches.Start({});  // does nothing
  Must(caches.WaitForSync({}));
  const auto maps = Must(caches.Of<ConfigMap>());
  Must(caches.WaitForSync({}));
  EXPECT_TRUE(pods.HasSynced() && maps.HasSynced());
  EXPECT_EQ(cluster_.census().watches, 2u);
  stop_.request_stop();
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 0u);
}

// Contract: controller 134, 139.
TEST_P(CachesTest, WaitingForTheSyncCoversLaterUsersAndCanBeStopped) {
  cluster_.Inject({.verb = "list", .delay = 2s});
  cluster_.Inject({.verb = "watch", .delay = 2s});
  Caches& caches = Make({.defaults = {.streaming_list = false}});
  const auto pods = Must(caches.Of<Pod>());
  std::optional<Cache<ConfigMap>> maps;
  const auto wait = cluster_.simulation().Spawn([&] { return caches.WaitForSync({}); });
  std::stop_source stop;
  const auto stopped = cluster_.simulation().Spawn([&] { return caches.WaitForSync(stop.get_token()); });
  cluster_.Advance(1s);
  cluster_.Inject({.verb = "list", .resource = "configmaps", .delay = 5s});
  maps = Must(caches.Of<ConfigMap>());
  stop.request_stop();
  cluster_.Advance(Nanos(0));
  ASSERT_TRUE(stopped.done());
  EXPECT_EQ(stopped.result().error().code(), Code::kCancelled);
  cluster_.Advance(3s);
  EXPECT_TRUE(pods.HasSynced());
  EXPECT_FALSE(wait.done());
  cluster_.Advance(3s);
  EXPECT_TRUE(maps->HasSynced());
  ASSERT_TRUE(wait.done());
  EXPECT_TRUE(wait.result());
}

TEST_P(CachesTest, GivesUpTheSyncAfterItsTime) {
  cluster_.Inject({.verb = "list", .times = testing::kAlways, .status = 500});
  const auto cache = Must(Make({.defaults = {.streaming_list = false}, .sync_timeout = 20s}).Of<Pod>());
  const TimePoint start = Now();
  const auto synced = caches_->WaitForSync({});
  ASSERT_FALSE(synced);
  EXPECT_EQ(synced.error().code(), Code::kTimeout);
  EXPECT_EQ(Now() - start, 20s);
}

TEST_P(CachesTest, RefusesATimeoutAndANumberOfWritesThatAreNotPositive) {
  for (const Nanos timeout : {Nanos(0s), Nanos(-1s)}) {
    const auto cache = Make({.sync_timeout = timeout}).Of<Pod>();
    ASSERT_FALSE(cache);
    EXPECT_EQ(cache.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(cache.error().ToString(), HasSubstr("CachesOptions::sync_timeout is "));
  }
  const auto cache = Make({.max_remembered_writes = 0}).Of<Pod>();
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(cache.error().ToString(), HasSubstr("cache of pods: CachesOptions::max_remembered_writes is 0"));
}

TEST_P(CachesTest, WaitsForTheSyncWithoutATimeout) {
  cluster_.Inject({.verb = "list", .times = testing::kAlways, .status = 500});
  const auto cache =
      Must(Make({.defaults = {.streaming_list = false}, .sync_timeout = kNoLimit, .max_remembered_writes = kUnlimited})
               .Of<Pod>());
  auto wait = cluster_.simulation().Spawn([&] { return caches_->WaitForSync({}); });
  cluster_.Advance(1h);
  EXPECT_FALSE(wait.done());
  cluster_.ClearFaults();
  cluster_.Advance(1h);
  ASSERT_TRUE(wait.done());
  EXPECT_TRUE(wait.result());
}

TEST_P(CachesTest, ShutdownStopsEverythingForGood) {
  Must(cluster_.Add(Map("a")));
  Caches& caches = Make();
  const auto cache = Must(caches.Of<ConfigMap>());
  int calls = 0;
  const CacheRegistration registration = cache.AddEventHandler({.on_add = [&](const Added<ConfigMap>&) { ++calls; }});
  Must(cache.WaitForSync());
  caches.Shutdown();
  const int before = calls;
  EXPECT_EQ(caches.Of<Pod>().error().code(), Code::kStopped);
  EXPECT_EQ(cache.AddEventHandler({.on_add = [&](const Added<ConfigMap>&) { ++calls; }}).status().error().code(),
            Code::kStopped);
  Must(cluster_.Add(Map("b")));
  cluster_.RunUntilIdle();
  EXPECT_EQ(calls, before);
  EXPECT_EQ(cluster_.census().watches, 0u);
}

// Contract: controller 129.
TEST_P(CachesTest, TransformsObjectsBeforeTheyAreStored) {
  Must(cluster_.Add(Map("a", "1")));
  const auto drop_data = [](AnyRef object) -> Result<AnyRef> {
    const Ref<const ConfigMap> map = object.As<ConfigMap>();
    if (!map) return object;
    ConfigMap changed = *map;
    changed.data = {};
    return AnyRef(MakeRef(std::move(changed)));
  };
  const auto cache = Must(Make({.defaults = {.transform = drop_data}}).Of<ConfigMap>());
  Must(cache.WaitForSync());
  EXPECT_TRUE(Value(cache.Get({"default", "a"})).data.empty());
}

// Contract: controller 136.
TEST_P(CachesTest, ResyncsWithinATenthOfThePeriod) {
  Must(cluster_.Add(Map("a")));
  const auto cache = Must(Make({.defaults = {.resync = 1h}}).Of<ConfigMap>());
  std::vector<TimePoint> times;
  const CacheRegistration registration = cache.AddEventHandler({.on_update = [&](const Updated<ConfigMap>& e) {
    if (e.reason == Reason::kResync) times.push_back(Now());
  }});
  Must(cache.WaitForSync());
  const TimePoint start = Now();
  cluster_.Advance(67min);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_GE(times[0] - start, 53min);
  EXPECT_LE(times[0] - start, 67min);
}

TEST_P(CachesTest, WaitForEndsWithTheStateThatThePredicateWants) {
  const auto cache = Must(Make().Of<ConfigMap>());
  const auto has_two = [](const Ref<const ConfigMap>& map) { return map && map->data["value"] == "2"; };
  const auto wait = cluster_.simulation().Spawn([&] { return WaitFor(cache, {"default", "a"}, has_two, {}, 10min); });
  Must(cluster_.Add(Map("a", "1")));
  cluster_.Advance(1min);
  EXPECT_FALSE(wait.done());
  Must(cluster_.Update(Map("a", "2")));
  cluster_.RunUntilIdle();
  ASSERT_TRUE(wait.done());
  EXPECT_EQ((*wait.result())->data["value"], "2");

  const auto is_gone = [](const Ref<const ConfigMap>& map) { return !map; };
  const TimePoint start = Now();
  const auto late = WaitFor(cache, {"default", "a"}, is_gone, {}, 3s);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kTimeout);
  EXPECT_THAT(late.error().ToString(), HasSubstr("wait for configmaps default/a"));
  EXPECT_EQ(Now() - start, 3s);
  Must(cluster_.Delete("configmaps", "default", "a"));
  EXPECT_FALSE(Must(WaitFor(cache, {"default", "a"}, is_gone, {}, 3s)));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(WaitFor(cache, {"default", "a"}, has_two, stop.get_token(), 3s).error().code(), Code::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CachesTest, ::testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace kgen::controller
