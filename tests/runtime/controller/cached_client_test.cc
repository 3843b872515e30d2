// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Client: reads from the caches that are never older than its own writes, and writes to the server.
#include "kgen/controller/cached_client.h"

#include <k8s/policy/v1/types.h>

#include "controller/caches/kind_cache.h"
#include "kgen/core/scale.h"
#include "tests/runtime/controller/caches_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using k8s::apps::v1::Deployment;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ObjectKey kA{"default", "a"};

class CachedClientTest : public CachesFixture {
 protected:
  using CachesFixture::CachesFixture;

  // The client, which has cached config maps.
  CachedClient& Ready(CachesOptions options = {}) {
    CachedClient& client = MakeClient(std::move(options));
    Must(client.List<ConfigMap>());
    return client;
  }
  std::size_t Remembered() {
    return Must(caches_->Of(ConfigMap::kTable, *ConfigMap::kTable.kind)).kind_cache()->remembered();
  }
  // What the server has, in a cache of its own.
  static Unstructured Dynamic(std::string_view name, std::string_view value) {
    return Must(
        Decode<Unstructured>(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")" +
                             std::string(name) + R"("},"data":{"value":")" + std::string(value) + "\"}}"));
  }
};

// Contract: controller 118, 120.
TEST_P(CachedClientTest, TheFirstReadOfAKindMakesItsCacheAndWaitsForIt) {
  Must(cluster_.Add(Map("a", "1")));
  CachedClient& client = MakeClient();
  EXPECT_EQ(cluster_.census().watches, 0u);
  EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).data["value"], "1");
  EXPECT_FALSE(Must(client.Get<ConfigMap>({"default", "b"})));
  EXPECT_THAT(Names(CachedClient(client).List<ConfigMap>()), ElementsAre("a"));
  EXPECT_EQ(cluster_.census().watches, 1u);
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 1u);  // the client is a user of it
  ExpectNothingLeft();
}

// Contract: controller 119.
TEST_P(CachedClientTest, RefusesReadsBeforeTheStart) {
  CachedClient& client = MakeClient({}, /*start=*/false);
  const auto got = client.Get<ConfigMap>(kA);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(got.error().ToString(),
              AllOf(HasSubstr("get configmaps default/a"), HasSubstr("the caches have not been started")));
  Must(client.Create(Map("a", "1")));
  EXPECT_EQ(Value(client.Live().Get<ConfigMap>(kA)).data["value"], "1");
}

TEST_P(CachedClientTest, AFirstReadThatFailsLeavesNoCacheBehind) {
  cluster_.Inject({.verb = "list", .times = testing::kAlways, .status = 403, .reason = "Forbidden"});
  cluster_.Inject({.verb = "watch", .times = testing::kAlways, .status = 403, .reason = "Forbidden"});
  CachedClient& client = MakeClient();
  const auto got = client.Get<ConfigMap>(kA);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::kForbidden);
  EXPECT_THAT(got.error().ToString(), HasSubstr("get configmaps default/a"));
  EXPECT_THAT(caches_->status(), IsEmpty());
  cluster_.ClearFaults();
  EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));
}

// Contract: controller 143, 144, 149.
TEST_P(CachedClientTest, ReadsWhatItHasWritten) {
  CachedClient& client = Ready();
  for (int i = 0; i < 20; ++i) {
    const ConfigMap made = Must(client.Create(Map("a", std::to_string(i))));
    ASSERT_TRUE(Must(client.Get<ConfigMap>(kA)));
    EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).metadata.uid, made.metadata.uid);
    ConfigMap changed = made;
    changed.data["value"] = "changed";
    Must(client.Update(changed));
    EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).data["value"], "changed");
    Must(client.Patch(changed, MergePatch(R"({"data":{"value":"patched"}})")));
    EXPECT_EQ(Must(client.List<ConfigMap>()).at(0)->data["value"], "patched");
    Must(client.Apply(Map("a", "applied")));
    EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).data["value"], "applied");
    Must(client.Delete<ConfigMap>(kA));
    EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));
    EXPECT_THAT(Names(client.List<ConfigMap>()), IsEmpty());
  }
  cluster_.RunUntilIdle();
  EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));
  EXPECT_EQ(Remembered(), 0u);
}

// Contract: controller 146.
TEST_P(CachedClientTest, FailsAfterFiveSecondsInsteadOfReturningAnOlderState) {
  CachedClient& client = Ready();
  FreezeWatches();
  const ConfigMap made = Must(client.Create(Map("a", "1")));
  const TimePoint start = Now();
  const auto got = client.Get<ConfigMap>(kA);
  EXPECT_EQ(Now() - start, 5s);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::kTimeout);
  const std::string version = made.metadata.resourceVersion.str();
  EXPECT_THAT(got.error().ToString(), AllOf(HasSubstr("get configmaps default/a"),
                                            HasSubstr("has written: default/a at resource version " + version),
                                            HasSubstr("the cache is at \"")));
  EXPECT_EQ(client.List<ConfigMap>().error().code(), Code::kTimeout);
  EXPECT_FALSE(Must(client.Get<ConfigMap>({"default", "b"})));  // this key has not been written
  EXPECT_FALSE(Must(Must(caches_->Of<ConfigMap>()).Get(kA)));   // nor does a read of the cache itself wait
  EXPECT_EQ(Value(client.Live().Get<ConfigMap>(kA)).data["value"], "1");
  cluster_.ClearFaults();
  EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).data["value"], "1");
  EXPECT_EQ(Remembered(), 0u);
}

TEST_P(CachedClientTest, WaitsUntilAnObjectThatItHasDeletedIsGone) {
  CachedClient& client = Ready();
  const ConfigMap made = Must(client.Create(Map("a", "1")));
  Must(client.Get<ConfigMap>(kA));
  FreezeWatches();
  Must(client.Delete(made));
  const auto got = client.Get<ConfigMap>(kA);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::kTimeout);
  EXPECT_THAT(got.error().ToString(), HasSubstr("has deleted: default/a"));
  EXPECT_THAT(got.error().ToString(), HasSubstr(made.metadata.uid.str()));
  cluster_.ClearFaults();
  EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));
}

// Contract: controller 145.
TEST_P(CachedClientTest, FollowsADeletionThroughItsFinalizers) {
  CachedClient& client = Ready();
  ConfigMap map = Map("a", "1");
  map.metadata.finalizers = {"test/hold"};
  Must(client.Create(map));
  Must(client.Delete<ConfigMap>(kA));
  const Ref<const ConfigMap> held = Must(client.Get<ConfigMap>(kA));
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->metadata.deletionTimestamp.has_value());
  ConfigMap released = *held;
  released.metadata.finalizers = {};
  Must(client.Update(released));
  EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));
  const ConfigMap again = Must(client.Create(Map("a", "2")));
  EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).metadata.uid, again.metadata.uid);
}

// Contract: controller 147.
TEST_P(CachedClientTest, DoesNotWaitForWhatTheCacheDoesNotSelect) {
  CachedClient& client =
      MakeClient({.of = {{&Pod::kTable, {.label_selector = "app=web", .field_selector = "spec.nodeName!=n1"}}}});
  Must(client.List<Pod>());
  const TimePoint start = Now();
  Must(client.Create(MakePod("db", "db")));
  Pod placed = MakePod("placed", "web");
  placed.spec->nodeName = "n1";
  Must(client.Create(placed));
  EXPECT_FALSE(Must(client.Get<Pod>({"default", "db"})));
  EXPECT_FALSE(Must(client.Get<Pod>({"default", "placed"})));
  EXPECT_THAT(Names(client.List<Pod>()), IsEmpty());
  Pod web = Must(client.Create(MakePod("web", "web")));
  EXPECT_THAT(Names(client.List<Pod>()), ElementsAre("web"));
  FreezeWatches();
  web.metadata.labels["app"] = "db";  // leaves the cache, which has to hear of it
  Must(client.Update(web));
  EXPECT_EQ(client.Get<Pod>({"default", "web"}).error().code(), Code::kTimeout);
  cluster_.ClearFaults();
  EXPECT_FALSE(Must(client.Get<Pod>({"default", "web"})));
  EXPECT_LT(Now() - start, 10s);
}

TEST_P(CachedClientTest, DoesNotWaitForTheDeletionOfWhatTheCacheDoesNotSelect) {
  CachedClient& client = MakeClient({.defaults = {.label_selector = "app=web"}});
  Must(client.List<ConfigMap>());
  const TimePoint start = Now();
  const ConfigMap made = Must(client.Create(Map("a")));
  Must(client.Delete(made));
  EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));
  EXPECT_THAT(Names(client.List<ConfigMap>()), IsEmpty());
  EXPECT_EQ(Now(), start);
}

// Contract: controller 147.
TEST_P(CachedClientTest, WaitsInEachNamespaceForItsOwnWrites) {
  CachedClient& client =
      Ready({.scopes_of = {{&ConfigMap::kTable, {{.namespace_ = "shop"}, {.namespace_ = "default"}}}}});
  Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", "shop")));
  Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", "other")));
  Must(client.Create(Map("a", "", "other")));  // not cached
  EXPECT_EQ(client.Get<ConfigMap>({"other", "a"}).error().code(), Code::kInvalidArgument);
  Must(client.Create(Map("b", "", "shop")));
  EXPECT_THAT(Names(client.List<ConfigMap>({.namespace_ = "default"})), IsEmpty());
  EXPECT_THAT(Names(client.List<ConfigMap>()), ElementsAre("b"));
  FreezeWatches();
  Must(client.Create(Map("c", "", "shop")));
  EXPECT_THAT(Names(client.List<ConfigMap>({.namespace_ = "default"})), IsEmpty());
  EXPECT_EQ(client.List<ConfigMap>({.namespace_ = "shop"}).error().code(), Code::kTimeout);
  EXPECT_EQ(client.List<ConfigMap>().error().code(), Code::kTimeout);
}

// Contract: controller 150.
TEST_P(CachedClientTest, EveryFormOfAKindShowsTheWrite) {
  CachedClient& client = Ready();
  const GroupVersionKind kind{"", "v1", "ConfigMap"};
  Must(client.List(kind));
  Must(client.ListMetadata<ConfigMap>());
  for (int i = 0; i < 5; ++i) {
    const std::string value = std::to_string(i);
    const ConfigMap made = Must(client.Apply(Map("a", value)));
    EXPECT_EQ(Must(Value(client.Get(kind, kA)).GetString("data.value")), value);
    EXPECT_EQ(Value(client.GetMetadata<ConfigMap>(kA)).metadata.resourceVersion, made.metadata.resourceVersion);
    const Unstructured second = Must(client.Update(Dynamic("a", "dynamic")));
    EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).data["value"], "dynamic");
    EXPECT_EQ(Must(second.GetString("data.value")), "dynamic");
  }
}

// Contract: controller 152, 155.
TEST_P(CachedClientTest, WritesUnstructuredObjectsAndMetadataAlone) {
  CachedClient& client = Ready();
  const Unstructured made = Must(client.Create(Dynamic("a", "1")));
  EXPECT_FALSE(made.metadata.uid.empty());
  const Ref<const PartialObjectMetadata> metadata = Must(client.GetMetadata<ConfigMap>(kA));
  const PartialObjectMetadata patched =
      Must(client.Patch(*metadata, MergePatch(R"({"metadata":{"labels":{"x":"y"}}})")));
  EXPECT_EQ(patched.metadata.labels["x"], "y");
  EXPECT_EQ(patched.kind, "ConfigMap");
  EXPECT_EQ(patched.apiVersion, "v1");
  EXPECT_TRUE(patched.unknown_fields.empty());
  EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).metadata.labels["x"], "y");
  Must(client.Delete(patched));
  EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));

  Unstructured nameless = Dynamic("b", "1");
  nameless.kind = {};
  const auto refused = client.Create(nameless);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("the object needs its apiVersion and kind"));
  Unstructured unknown = Dynamic("b", "1");
  unknown.kind = "Gadget";
  EXPECT_EQ(client.Create(unknown).error().code(), Code::kNotFound);
}

// Contract: controller 149, 153.
TEST_P(CachedClientTest, WritesTheStatusAlone) {
  CachedClient& client = MakeClient();
  Deployment deployment;
  deployment.metadata.namespace_ = "default";
  deployment.metadata.name = "web";
  deployment.spec->selector->matchLabels["app"] = "web";
  Deployment made = Must(client.Create(deployment));
  const auto replicas = [&] {
    const Deployment now = Value(client.Get<Deployment>({"default", "web"}));
    EXPECT_FALSE(now.spec->replicas.has_value());
    return now.status->replicas.value_or(0);
  };
  made.status->replicas = 1;
  made.spec->replicas = 7;  // ignored
  Must(client.UpdateStatus(made));
  EXPECT_EQ(replicas(), 1);
  Must(client.PatchStatus(made, MergePatch(R"({"status":{"replicas":2}})")));
  EXPECT_EQ(replicas(), 2);
  Deployment status;
  status.metadata.namespace_ = "default";
  status.metadata.name = "web";
  status.status->replicas = 3;
  Must(client.ApplyStatus(status));
  EXPECT_EQ(replicas(), 3);
}

// Contract: controller 156, 160.
TEST_P(CachedClientTest, ReadsAndWritesAnySubresource) {
  using autoscaling::v1::Scale;
  CachedClient& client = MakeClient();
  Deployment deployment{.metadata = {.name = "web", .namespace_ = "default"}};
  deployment.spec->replicas = 2;
  Must(client.Create(deployment));
  Scale scale = Must(client.GetSubresource<Scale>(deployment, "scale"));
  EXPECT_EQ(scale.spec->replicas, 2);
  scale.spec->replicas = 3;
  scale = Must(client.UpdateSubresource<Scale>(deployment, "scale", scale));
  EXPECT_EQ(scale.spec->replicas, 3);
  const auto patched =
      client.PatchSubresource<Unstructured>(deployment, "scale", MergePatch(R"({"spec":{"replicas":4}})"));
  EXPECT_EQ(Must(Must(patched).GetInt64("spec.replicas")), 4);
  Must(client.Create(MakePod("a")));
  k8s::policy::v1::Eviction eviction{.metadata = {.name = "a", .namespace_ = "default"}};
  Must(client.CreateSubresource<Unstructured>(MakePod("a"), "eviction", eviction));
  EXPECT_FALSE(Must(client.Live().Get<Pod>(kA)));
  EXPECT_EQ(client.GetSubresource<Scale>(MakePod("b"), "scale").error().code(), Code::kNotFound);
}

TEST_P(CachedClientTest, NamesItsFieldManagerUnlessTheCallDoes) {
  CachedClient& client = MakeClient();
  const auto manager = [](const ConfigMap& map) { return map.metadata.managedFields.at(0).manager; };
  EXPECT_EQ(manager(Must(client.Apply(Map("a")))), "test");
  EXPECT_EQ(manager(Must(client.WithFieldManager("other").Apply(Map("b")))), "other");
  EXPECT_EQ(manager(Must(client.Apply(Map("c"), {.field_manager = "call", .force = true}))), "call");
}

TEST_P(CachedClientTest, DoesNotWaitForADryRun) {
  CachedClient& client = Ready();
  FreezeWatches();
  Must(client.Create(Map("a"), {.dry_run = true}));
  EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));
}

// Contract: controller 157.
TEST_P(CachedClientTest, AMergePatchFailsForAnOldObjectIfItHasTheResourceVersion) {
  CachedClient& client = Ready();
  const ConfigMap made = Must(client.Create(Map("a", "1")));
  ConfigMap unlocked = made;
  unlocked.metadata.resourceVersion = {};
  ConfigMap changed = made;
  changed.data["value"] = "2";
  const Patch locked = Must(MergePatch(unlocked, changed));
  EXPECT_THAT(locked.body, HasSubstr("\"resourceVersion\":\"" + made.metadata.resourceVersion.str() + "\""));
  Must(client.Patch(changed, locked));
  const auto late = client.Patch(changed, locked);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kConflict);
  changed.data["value"] = "3";
  EXPECT_EQ(Must(client.Patch(changed, Must(MergePatch(made, changed)))).data["value"], "3");  // whatever the version
}

// Contract: controller 266.
TEST_P(CachedClientTest, APatchOfATransformedObjectKeepsWhatTheTransformDropped) {
  Must(cluster_.Add(Map("a", "large")));
  const auto drop_data = [](AnyRef object) -> Result<AnyRef> {
    ConfigMap changed = *object.As<ConfigMap>();
    changed.data = {};
    return AnyRef(MakeRef(std::move(changed)));
  };
  CachedClient& client = Ready({.of = {{&ConfigMap::kTable, {.transform = drop_data}}}});
  const ConfigMap cached = Value(client.Get<ConfigMap>(kA));
  EXPECT_TRUE(cached.data.empty());
  ConfigMap changed = cached;
  changed.metadata.labels["x"] = "y";
  const ConfigMap patched = Must(client.Patch(changed, Must(MergePatch(cached, changed))));
  EXPECT_EQ(patched.metadata.labels["x"], "y");
  EXPECT_EQ(patched.data["value"], "large");
}

// Contract: controller 150, 151.
TEST_P(CachedClientTest, ReadsTheServerLive) {
  Must(cluster_.Add(Map("a", "1")));
  ConfigMap labelled = Map("b", "2");
  labelled.metadata.labels["x"] = "y";
  Must(cluster_.Add(labelled));
  const CachedClient live = MakeClient({}, /*start=*/false).Live();
  EXPECT_EQ(Value(live.Get<ConfigMap>(kA)).data["value"], "1");
  EXPECT_FALSE(Must(live.Get<ConfigMap>({"default", "missing"})));
  EXPECT_THAT(Names(live.List<ConfigMap>({.namespace_ = "default"})), ElementsAre("a", "b"));
  EXPECT_THAT(Names(live.List<ConfigMap>({.labels = Must(Selector::Parse("x=y"))})), ElementsAre("b"));
  EXPECT_THAT(Names(live.List<ConfigMap>({.labels = Selector::Nothing()})), IsEmpty());
  const auto metadata = Must(live.GetMetadata<ConfigMap>(kA));
  EXPECT_EQ(metadata->kind, "ConfigMap");
  EXPECT_TRUE(metadata->unknown_fields.empty());
  EXPECT_THAT(Names(live.ListMetadata<ConfigMap>({.namespace_ = "default"})), ElementsAre("a", "b"));
  const auto dynamic = Must(live.List({"", "v1", "ConfigMap"}, {.namespace_ = "default"}));
  ASSERT_EQ(dynamic.size(), 2u);
  EXPECT_EQ(dynamic[0]->kind, "ConfigMap");
  EXPECT_EQ(live.List<ConfigMap>({.index = "x", .value = "y"}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(live.Get({"", "v1", "Gadget"}, kA).error().code(), Code::kNotFound);
  EXPECT_EQ(cluster_.census().watches, 0u);
}

TEST_P(CachedClientTest, EndsWithTheStopOfItsCopy) {
  CachedClient& client = Ready();
  FreezeWatches();
  Must(client.Create(Map("a", "1")));
  std::stop_source stop;
  const auto get = cluster_.simulation().Spawn([&] { return client.With(stop.get_token()).Get<ConfigMap>(kA); });
  cluster_.Advance(1s);
  EXPECT_FALSE(get.done());
  stop.request_stop();
  cluster_.Advance(Nanos(0));
  ASSERT_TRUE(get.done());
  EXPECT_EQ(get.result().error().code(), Code::kCancelled);
}

class Closed final : public SendGuard {
 public:
  Result<void> MaySend() noexcept override { return Fail(error_); }

 private:
  const Error error_{Code::kForbidden, "no longer the leader"};
};

TEST_P(CachedClientTest, AsksAGuardBeforeWritesAndNotBeforeReads) {
  Must(cluster_.Add(Map("a", "1")));
  const CachedClient guarded = MakeClient().With(Shared<SendGuard>(MakeShared<Closed>()));
  EXPECT_THAT(guarded.Create(Map("b")).error().ToString(), HasSubstr("no longer the leader"));
  EXPECT_FALSE(guarded.Delete<ConfigMap>(kA));
  EXPECT_TRUE(Must(guarded.Get<ConfigMap>(kA)));
  EXPECT_TRUE(Must(guarded.Live().Get<ConfigMap>(kA)));
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
}

// A list that the server answers from its cache may be older than a write from before the cache was made.
TEST_P(CachedClientTest, ACacheThatIsMadeAfterAWriteIsNotOlderThanIt) {
  cluster_.Inject({.verb = "list", .times = testing::kAlways, .behind = 1000});
  cluster_.Inject({.verb = "watch", .times = testing::kAlways, .behind = 1000});
  for (const bool streaming : {false, true}) {
    CachedClient& client = MakeClient({.defaults = {.streaming_list = streaming}});
    Must(client.Apply(Map("a", "1")));
    Must(client.Apply(Map("b", "1")));
    Must(client.Delete<ConfigMap>({"default", "b"}));
    EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).data["value"], "1");
    EXPECT_THAT(Names(client.List<ConfigMap>()), ElementsAre("a"));
    caches_->Shutdown();
  }
}

// The cache was made, and the server answers its list from an older state than a write that came afterwards.
TEST_P(CachedClientTest, WaitsForTheWatchAfterAListThatIsOlderThanTheWrite) {
  Must(cluster_.Add(Map("old")));
  cluster_.Inject({.verb = "list", .times = testing::kAlways, .behind = 1000});
  CachedClient& client = MakeClient({.defaults = {.streaming_list = false}}, /*start=*/false);
  const auto cache = Must(caches_->Of<ConfigMap>());
  Must(client.Create(Map("a", "1")));
  caches_->Start(stop_.get_token());
  EXPECT_EQ(Value(client.Get<ConfigMap>(kA)).data["value"], "1");
}

TEST_P(CachedClientTest, WaitForLooksOnceIfItsLimitIsZeroAndRefusesANegativeOne) {
  CachedClient& client = Ready();
  Must(client.Apply(Map("a", "1")));
  const auto is_there = [](const Ref<const ConfigMap>& map) { return static_cast<bool>(map); };
  const auto is_gone = [](const Ref<const ConfigMap>& map) { return !map; };
  Must(WaitFor<ConfigMap>(client, kA, is_there, {}, 0s));
  EXPECT_EQ(WaitFor<ConfigMap>(client, kA, is_gone, {}, 0s).error().code(), Code::kTimeout);
  EXPECT_THAT(WaitFor<ConfigMap>(client, kA, is_there, {}, -1s).error().ToString(), HasSubstr("`limit` is -1s"));
  const auto cache = Must(client.caches().Of<ConfigMap>());
  EXPECT_THAT(WaitFor(cache, kA, is_there, {}, -1s).error().ToString(), HasSubstr("`limit` is -1s"));
}

// As when etcd is restored from a backup: versions are used again, and what was written after the backup is lost.
TEST_P(CachedClientTest, GivesUpWritesThatTheServerHasLost) {
  CachedClient& client = Ready();
  cluster_.SaveCopy();
  for (int i = 0; i < 10; ++i) Must(client.Apply(Map("a", std::to_string(i))));
  ASSERT_TRUE(Must(client.Get<ConfigMap>(kA)));
  FreezeWatches();
  Must(client.Apply(Map("a", "lost")));
  cluster_.ClearFaults();
  cluster_.RestoreCopy();
  cluster_.Advance(2min);
  EXPECT_FALSE(Must(client.Get<ConfigMap>(kA)));
  EXPECT_EQ(Remembered(), 0u);
}

TEST_P(CachedClientTest, ForgetsWhatTheCacheHasSeen) {
  CachedClient& client = Ready();
  for (int i = 0; i < 300; ++i) {
    Must(client.Create(Map("m" + std::to_string(i))));
    if (i % 10 == 0) cluster_.RunUntilIdle();
  }
  cluster_.RunUntilIdle();
  Must(client.Create(Map("last")));
  EXPECT_LT(Remembered(), 150u);
  EXPECT_EQ(Must(client.List<ConfigMap>()).size(), 301u);
  EXPECT_EQ(Remembered(), 0u);
}

TEST_P(CachedClientTest, WaitForBeginsWithAStateThatIsNotOlderThanTheWrite) {
  CachedClient& client = Ready();
  std::vector<std::string> seen;
  const auto has = [&](std::string_view value) {
    return [&, value](const Ref<const ConfigMap>& map) {
      seen.push_back(map ? map->data["value"].str() : "none");
      return map && map->data["value"] == value;
    };
  };
  Must(client.Apply(Map("a", "1")));
  Must(WaitFor<ConfigMap>(client, kA, has("1"), {}, 10s));
  EXPECT_THAT(seen, ElementsAre("1"));
  const auto wait = cluster_.simulation().Spawn([&] { return WaitFor<ConfigMap>(client, kA, has("2"), {}, 10s); });
  cluster_.Advance(1s);
  Must(cluster_.Update(Map("a", "2")));
  cluster_.Advance(1s);
  ASSERT_TRUE(wait.done());
  EXPECT_EQ((*wait.result())->data["value"], "2");
}

INSTANTIATE_TEST_SUITE_P(Seeds, CachedClientTest, ::testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace kgen::controller
