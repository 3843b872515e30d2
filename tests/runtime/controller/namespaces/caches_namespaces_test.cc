// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Caches whose namespaces change while they run.
#include "controller/caches/kind_cache.h"
#include "kgen/core/waiter.h"
#include "tests/runtime/controller/caches_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

// What a handler has heard, in order.
class Heard {
 public:
  EventHandler<ConfigMap> Handler() {
    return {.on_add = [this](const Added<ConfigMap>& e) { Note("added", e.key, e.reason); },
            .on_update = [this](const Updated<ConfigMap>& e) { Note("updated", e.key, e.reason); },
            .on_delete = [this](const Deleted<ConfigMap>& e) { Note("deleted", e.key, e.reason); },
            .on_left =
                [this](const Left<ConfigMap>& e) {
                  EXPECT_TRUE(e.before);
                  Note("left", e.key, Reason::kWatch);
                }};
  }
  std::vector<std::string> Take() { return std::exchange(heard_, {}); }

 private:
  void Note(const char* what, const ObjectKey& key, Reason reason) {
    heard_.push_back(std::string(reason == Reason::kInitial ? "initially " : "") + what + " " + key.str());
  }
  std::vector<std::string> heard_;
};

// A gate at which a handler waits.
class Gate {
 public:
  explicit Gate(Executor& executor) : waiter_(executor.MakeWaiter("gate")) {}
  void Pass() {
    waits = true;
    (void)waiter_->Wait();
  }
  void Open() { waiter_->Notify(); }
  bool waits = false;

 private:
  const Shared<Waiter> waiter_;
};

class CachesNamespacesTest : public CachesFixture {
 protected:
  Caches& MakeChanging(const std::vector<std::string>& names = {}) {
    CachesOptions options{.changing_namespaces = true};
    for (const std::string& name : names) options.scopes.push_back({.namespace_ = name});
    return Make(std::move(options));
  }
  Executor& executor() { return *cluster_.simulation().executor(); }
  template <typename F>
  auto Spawn(F function) {
    return cluster_.simulation().Spawn(std::move(function));
  }
};

TEST_P(CachesNamespacesTest, ANamespaceThatIsAddedIsReadAndItsObjectsAreInitialEvents) {
  for (const char* in : {"shop", "billing"}) Must(cluster_.Add(Map("of-" + std::string(in), "", in)));
  Caches& caches = MakeChanging({"shop"});
  const auto maps = Must(caches.Of<ConfigMap>());
  Heard heard;
  CacheRegistration registration = maps.AddEventHandler(heard.Handler());
  Must(maps.WaitForSync());
  cluster_.RunUntilIdle();
  EXPECT_THAT(heard.Take(), ElementsAre("initially added shop/of-shop"));
  EXPECT_EQ(maps.Get({"billing", "of-billing"}).error().code(), Code::kInvalidArgument);
  const std::uint64_t requests = cluster_.census().watches;

  Must(caches.AddNamespace("billing"));
  Must(caches.AddNamespace("billing"));
  EXPECT_THAT(caches.namespaces(), ElementsAre("billing", "shop"));
  EXPECT_EQ(maps.Get({"billing", "of-billing"}).error().code(), Code::kUnavailable);
  EXPECT_TRUE(maps.HasSynced());
  EXPECT_TRUE(Must(maps.Get({"shop", "of-shop"})));
  EXPECT_THAT(Names(maps.List()), ElementsAre("of-shop"));
  Must(caches.WaitForSync({}));
  EXPECT_THAT(Names(maps.List()), ElementsAre("of-billing", "of-shop"));
  Must(registration.WaitForSync());
  EXPECT_THAT(heard.Take(), ElementsAre("initially added billing/of-billing"));
  Must(cluster_.Add(Map("b", "", "billing")));
  cluster_.RunUntilIdle();
  EXPECT_THAT(heard.Take(), ElementsAre("added billing/b"));
  EXPECT_EQ(cluster_.census().watches, requests + 1);
  EXPECT_EQ(caches.status().size(), 2u);
  for (const auto& each : caches.status()) EXPECT_EQ(each.lists, 1u) << each.name;  // nothing was listed again
}

TEST_P(CachesNamespacesTest, ObjectsOfARemovedNamespaceLeaveBeforeTheCallReturns) {
  for (const char* in : {"shop", "billing"}) {
    Must(cluster_.Add(Map("a", "", in)));
    Must(cluster_.Add(Map("b", "", in)));
  }
  Caches& caches = MakeChanging({"shop", "billing"});
  const auto maps = Must(caches.Of<ConfigMap>());
  const auto metadata = Must(caches.MetadataOf<ConfigMap>());
  Heard heard;
  int left = 0;
  CacheRegistration registration = maps.AddEventHandler(heard.Handler());
  CacheRegistration other = metadata.AddEventHandler({.on_left = [&](const Left<PartialObjectMetadata>&) { ++left; }});
  Must(caches.WaitForSync({}));
  cluster_.RunUntilIdle();
  heard.Take();

  Must(caches.RemoveNamespace("shop"));
  EXPECT_THAT(heard.Take(), UnorderedElementsAre("left shop/a", "left shop/b"));
  EXPECT_EQ(left, 2);
  EXPECT_THAT(caches.namespaces(), ElementsAre("billing"));
  const auto got = maps.Get({"shop", "a"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(got.error().ToString(), HasSubstr("namespace \"shop\" is not cached, only \"billing\"; see Caches::Add"));
  EXPECT_EQ(maps.List({.namespace_ = "shop"}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Must(maps.List()).size(), 2u);
  Must(cluster_.Add(Map("c", "", "shop")));
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 2u);
  EXPECT_THAT(heard.Take(), IsEmpty());
  EXPECT_EQ(caches.status().size(), 2u);
  Must(caches.RemoveNamespace("shop"));

  Must(caches.SetNamespaces({"shop"}));
  std::vector<std::string> all = heard.Take();  // it may know of the other namespace already
  EXPECT_THAT(all, IsSupersetOf({"left billing/a", "left billing/b"}));
  Must(caches.WaitForSync({}));
  cluster_.RunUntilIdle();
  for (std::string& each : heard.Take()) all.push_back(std::move(each));
  EXPECT_THAT(all, UnorderedElementsAre("left billing/a", "left billing/b", "initially added shop/a",
                                        "initially added shop/b", "initially added shop/c"));
  registration.Remove();
  other.Remove();
}

TEST_P(CachesNamespacesTest, CachesMayBeginWithoutANamespace) {
  Must(cluster_.Add(Map("a", "1", "shop")));
  Caches& caches = MakeChanging();
  CachedClient client(caches, "test");
  EXPECT_THAT(Must(client.List<ConfigMap>()), IsEmpty());
  const auto maps = Must(caches.Of<ConfigMap>());
  Must(maps.AddIndex("value", [](const ConfigMap& map, IndexSink& sink) { sink.Add(map.data["value"]); }));
  Must(maps.AddIndex("name", FieldPath("metadata.name")));
  EXPECT_EQ(maps.AddIndex("wrong", FieldPath("metadata.nonsense")).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(maps.AddIndex("name", FieldPath("metadata.uid")).error().code(), Code::kInvalidArgument);
  EXPECT_THAT(maps.Get({"shop", "a"}).error().ToString(), HasSubstr("is not cached, and no other is"));
  EXPECT_THAT(maps.List({.index = "node", .value = "n1"}).error().ToString(), HasSubstr("there is no index \"node\""));
  Must(caches.AddNamespace("shop"));
  EXPECT_EQ(Value(client.Get<ConfigMap>({"shop", "a"})).data["value"], "1");  // waits for the sync
  EXPECT_THAT(Names(maps.List({.index = "value", .value = "1"})), ElementsAre("a"));
  EXPECT_THAT(Names(client.List<ConfigMap>({.namespace_ = "shop", .index = "name", .value = "a"})), ElementsAre("a"));
}

TEST_P(CachesNamespacesTest, OtherScopesStayAndKindsThatAreReadLaterBeginWithTheCurrentNamespaces) {
  Must(cluster_.Add(testing::MinimalObject("v1", "Node", "", "n1")));
  for (const char* in : {"shop", "billing"}) {
    Must(cluster_.Add(MakePod("web", "web", in)));
    Must(cluster_.Add(MakePod("db", "db", in)));
    Must(cluster_.Add(Map("a", "", in)));
  }
  Caches& caches = Make({.scopes = {{.namespace_ = "shop", .label_selector = "app=web"}},
                         .changing_namespaces = true,
                         .scopes_of = {{&ConfigMap::kTable, {{.namespace_ = "billing"}}}}});
  const auto nodes = Must(caches.Of<Node>());
  const auto maps = Must(caches.Of<ConfigMap>());
  Must(caches.AddNamespace("billing"));
  Must(caches.RemoveNamespace("shop"));
  const auto pods = Must(caches.Of<Pod>());
  Must(caches.WaitForSync({}));
  EXPECT_THAT(Names(nodes.List()), ElementsAre("n1"));
  EXPECT_THAT(Names(maps.List()), ElementsAre("a"));
  EXPECT_THAT(Names(pods.List()), ElementsAre("db", "web"));
  Must(caches.SetNamespaces({"shop"}));
  Must(caches.WaitForSync({}));
  EXPECT_THAT(Names(pods.List()), ElementsAre("web"));  // with the selector of the options
  EXPECT_THAT(Names(maps.List()), ElementsAre("a"));
}

TEST_P(CachesNamespacesTest, AHandlerThatIsBehindHearsEverythingInOrderAndThenOfANamespaceThatCameBack) {
  for (const char* name : {"a", "b", "c"}) Must(cluster_.Add(Map(name, "", "shop")));
  Caches& caches = MakeChanging({"shop"});
  const auto maps = Must(caches.Of<ConfigMap>());
  Gate gate(executor());
  Heard heard;
  EventHandler<ConfigMap> slow = heard.Handler();
  slow.on_add = [&, note = std::move(slow.on_add)](const Added<ConfigMap>& e) mutable {
    if (!gate.waits) gate.Pass();
    note(e);
  };
  CacheRegistration registration = maps.AddEventHandler(std::move(slow));
  Must(maps.WaitForSync());
  cluster_.RunUntilIdle();
  ASSERT_TRUE(gate.waits);
  Must(cluster_.Delete("configmaps", "shop", "b"));
  cluster_.RunUntilIdle();

  auto removed = Spawn([&] { return caches.RemoveNamespace("shop"); });
  cluster_.RunUntilIdle();
  EXPECT_FALSE(removed.done());
  EXPECT_EQ(maps.Get({"shop", "a"}).error().code(), Code::kInvalidArgument);
  Must(caches.AddNamespace("shop"));
  Must(maps.WaitForSync());
  EXPECT_THAT(Names(maps.List()), ElementsAre("a", "c"));  // reads do not wait for the handler
  EXPECT_THAT(heard.Take(), IsEmpty());
  EXPECT_FALSE(registration.HasSynced());
  Must(cluster_.Delete("configmaps", "shop", "c"));
  cluster_.RunUntilIdle();

  gate.Open();
  cluster_.RunUntilIdle();
  ASSERT_TRUE(removed.done());
  Must(removed.result());
  std::vector<std::string> all = heard.Take();
  ASSERT_EQ(all.size(), 7u);
  std::sort(all.begin(), all.begin() + 3);
  std::sort(all.begin() + 4, all.begin() + 6);
  EXPECT_THAT(all, ElementsAre("initially added shop/a", "initially added shop/b", "initially added shop/c",
                               "deleted shop/b", "left shop/a", "left shop/c", "initially added shop/a"));
  EXPECT_TRUE(registration.HasSynced());
}

TEST_P(CachesNamespacesTest, ANamespaceThatGoesAgainWhileAHandlerIsBehindIsNeverHeardOf) {
  Must(cluster_.Add(Map("a", "", "shop")));
  Caches& caches = MakeChanging({"shop"});
  const auto maps = Must(caches.Of<ConfigMap>());
  Gate gate(executor());
  Heard heard;
  EventHandler<ConfigMap> slow = heard.Handler();
  slow.on_add = [&, note = std::move(slow.on_add)](const Added<ConfigMap>& e) mutable {
    if (!gate.waits) gate.Pass();
    note(e);
  };
  CacheRegistration registration = maps.AddEventHandler(std::move(slow));
  Must(maps.WaitForSync());
  cluster_.RunUntilIdle();
  std::vector<decltype(Spawn([&] { return Result<void>(); }))> calls;
  for (int i = 0; i < 3; ++i) {
    calls.push_back(Spawn([&] { return caches.RemoveNamespace("shop"); }));
    cluster_.RunUntilIdle();
    if (i < 2) Must(caches.AddNamespace("shop"));
    cluster_.RunUntilIdle();
  }
  gate.Open();
  cluster_.RunUntilIdle();
  for (auto& call : calls) {
    ASSERT_TRUE(call.done());
    Must(call.result());
  }
  EXPECT_THAT(heard.Take(), ElementsAre("initially added shop/a", "left shop/a"));
  EXPECT_EQ(cluster_.census().watches, 0u);
  registration.Remove();
  EXPECT_EQ(cluster_.simulation().census().blocking, 0u);
}

TEST_P(CachesNamespacesTest, AHandlerMayChangeTheNamespaces) {
  Must(cluster_.Add(Map("a", "", "shop")));
  Must(cluster_.Add(Map("a", "", "billing")));
  Caches& caches = MakeChanging({"shop"});
  const auto maps = Must(caches.Of<ConfigMap>());
  Heard heard;
  EventHandler<ConfigMap> handler = heard.Handler();
  handler.on_add = [&, note = std::move(handler.on_add)](const Added<ConfigMap>& e) mutable {
    note(e);
    if (e.key.namespace_ == "shop") Must(caches.SetNamespaces({"billing"}));
  };
  CacheRegistration registration = maps.AddEventHandler(std::move(handler));
  cluster_.RunUntilIdle();
  EXPECT_THAT(heard.Take(), UnorderedElementsAre("initially added shop/a", "left shop/a", "initially added billing/a"));
  EXPECT_THAT(Names(maps.List()), ElementsAre("a"));
  EXPECT_EQ(cluster_.census().watches, 1u);
}

TEST_P(CachesNamespacesTest, ShortCallsAndHandlersOfLaterAreToldToo) {
  Must(cluster_.Add(Map("a", "", "shop")));
  Caches& caches = MakeChanging({"shop"});
  const auto maps = Must(caches.Of<ConfigMap>());
  Must(maps.WaitForSync());
  Heard early, late;
  CacheRegistration first = maps.AddEventHandler(early.Handler(), {.short_calls = true});
  cluster_.RunUntilIdle();
  CacheRegistration second = maps.AddEventHandler(late.Handler());
  Must(caches.RemoveNamespace("shop"));
  EXPECT_THAT(early.Take(), ElementsAre("initially added shop/a", "left shop/a"));
  EXPECT_THAT(late.Take(), ElementsAre("initially added shop/a", "left shop/a"));
  Heard never;
  CacheRegistration third = maps.AddEventHandler(never.Handler());
  cluster_.RunUntilIdle();
  EXPECT_TRUE(third.status());
  EXPECT_TRUE(third.HasSynced());
  EXPECT_THAT(never.Take(), IsEmpty());
  Must(caches.AddNamespace("shop"));
  Must(third.WaitForSync());
  EXPECT_THAT(never.Take(), ElementsAre("initially added shop/a"));
  EXPECT_THAT(early.Take(), ElementsAre("initially added shop/a"));
}

TEST_P(CachesNamespacesTest, RemovingTheHandlerEndsTheRemovalThatWaitsForIt) {
  Must(cluster_.Add(Map("a", "", "shop")));
  Caches& caches = MakeChanging({"shop"});
  const auto maps = Must(caches.Of<ConfigMap>());
  Gate gate(executor());
  CacheRegistration registration =
      maps.AddEventHandler({.on_add = [&](const Added<ConfigMap>&) { gate.Pass(); },
                            .on_left = [](const Left<ConfigMap>&) { ADD_FAILURE() << "after the removal"; }});
  Must(maps.WaitForSync());
  cluster_.RunUntilIdle();
  auto removed = Spawn([&] { return caches.RemoveNamespace("shop"); });
  auto gone = Spawn([&] {
    registration.Remove();
    return true;
  });
  cluster_.RunUntilIdle();
  EXPECT_FALSE(removed.done());
  EXPECT_FALSE(gone.done());
  gate.Open();
  cluster_.RunUntilIdle();
  ASSERT_TRUE(gone.done() && removed.done());
  Must(removed.result());
}

TEST_P(CachesNamespacesTest, AStopOrAShutdownEndsTheWaitForAHandler) {
  Must(cluster_.Add(Map("a", "", "shop")));
  Must(cluster_.Add(Map("a", "", "billing")));
  Caches& caches = MakeChanging({"shop", "billing"});
  const auto maps = Must(caches.Of<ConfigMap>());
  Gate gates[] = {Gate(executor()), Gate(executor())};
  int left = 0;
  CacheRegistration registration =
      maps.AddEventHandler({.on_add = [&](const Added<ConfigMap>& e) { gates[e.key.namespace_ == "shop"].Pass(); },
                            .on_left = [&](const Left<ConfigMap>&) { ++left; }});
  Must(maps.WaitForSync());
  cluster_.RunUntilIdle();
  std::stop_source stop;
  auto first = Spawn([&] { return caches.RemoveNamespace("shop", stop.get_token()); });
  cluster_.RunUntilIdle();
  stop.request_stop();
  cluster_.RunUntilIdle();
  ASSERT_TRUE(first.done());
  EXPECT_EQ(first.result().error().code(), Code::kCancelled);
  EXPECT_THAT(first.result().error().ToString(),
              HasSubstr("remove namespace \"shop\": wait until the handlers of configmaps know"));
  EXPECT_THAT(caches.namespaces(), ElementsAre("billing"));

  auto second = Spawn([&] { return caches.RemoveNamespace("billing"); });
  cluster_.RunUntilIdle();
  EXPECT_FALSE(second.done());
  auto shut = Spawn([&] {
    caches.Shutdown();
    return true;
  });
  cluster_.RunUntilIdle();
  ASSERT_TRUE(second.done());
  EXPECT_EQ(second.result().error().code(), Code::kStopped);
  EXPECT_FALSE(shut.done());  // calls still run, also of the namespace that has left
  for (Gate& gate : gates) gate.Open();
  cluster_.RunUntilIdle();
  ASSERT_TRUE(shut.done());
  EXPECT_EQ(left, 0);
  EXPECT_EQ(caches.AddNamespace("more").error().code(), Code::kStopped);
}

TEST_P(CachesNamespacesTest, AForbiddenNamespaceHoldsUpNothing) {
  for (const char* in : {"shop", "billing", "secret"}) Must(cluster_.Add(Map("of-" + std::string(in), "", in)));
  const auto forbid = [&](const char* in) {
    for (const char* verb : {"list", "watch"}) {
      cluster_.Inject(
          {.verb = verb, .resource = "configmaps", .namespace_ = in, .times = testing::kAlways, .status = 403});
    }
  };
  forbid("secret");
  Caches& caches = MakeChanging({"shop", "secret"});
  CachedClient client(caches, "test");
  const auto maps = Must(caches.Of<ConfigMap>());
  Heard heard;
  CacheRegistration registration = maps.AddEventHandler(heard.Handler());
  Must(caches.WaitForSync({}));
  Must(registration.WaitForSync());
  EXPECT_TRUE(registration.HasSynced());
  EXPECT_THAT(Names(maps.List()), ElementsAre("of-shop"));
  EXPECT_THAT(Names(client.List<ConfigMap>()), ElementsAre("of-shop"));
  const auto secret = client.Get<ConfigMap>({"secret", "of-secret"});
  ASSERT_FALSE(secret);
  EXPECT_EQ(secret.error().code(), Code::kForbidden);
  EXPECT_EQ(maps.Get({"secret", "of-secret"}).error().code(), Code::kUnavailable);
  int unsynced = 0;
  for (const auto& each : caches.status()) unsynced += each.synced ? 0 : 1;
  EXPECT_EQ(unsynced, 1);
  Must(caches.AddNamespace("billing"));
  EXPECT_TRUE(Must(client.Get<ConfigMap>({"billing", "of-billing"})));

  cluster_.ClearFaults();
  cluster_.Advance(10min);
  EXPECT_TRUE(Must(client.Get<ConfigMap>({"secret", "of-secret"})));
  EXPECT_EQ(Must(maps.List()).size(), 3u);
  EXPECT_EQ(heard.Take().size(), 3u);
}

TEST_P(CachesNamespacesTest, AResourceThatIsNotServedStillFailsTheSync) {
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .status = 404});
  Caches& caches = MakeChanging({"shop", "billing"});
  const auto maps = Must(caches.Of<ConfigMap>());
  EXPECT_EQ(caches.WaitForSync({}).error().code(), Code::kNotFound);
  Must(caches.SetNamespaces({}));
  Must(caches.WaitForSync({}));
}

TEST_P(CachesNamespacesTest, WaitsForARemovedNamespaceFailAtOnce) {
  Must(cluster_.Add(Map("a", "", "shop")));
  Caches& caches = MakeChanging({"shop"});
  CachedClient client(caches, "test");
  const auto maps = Must(caches.Of<ConfigMap>());
  Must(client.Get<ConfigMap>({"shop", "a"}));
  FreezeWatches();
  Must(client.Create(Map("b", "", "shop")));
  auto version = Spawn([&] { return maps.WaitUntil({"shop", "a"}, "1000000", {}, kNoLimit); });
  auto object = Spawn(
      [&] { return maps.any().WaitFor({"shop", "x"}, [](const AnyRef& each) { return bool(each); }, {}, kNoLimit); });
  auto get = Spawn([&] { return client.Get<ConfigMap>({"shop", "b"}); });
  auto in_one = Spawn([&] { return client.List<ConfigMap>({.namespace_ = "shop"}); });
  auto in_all = Spawn([&] { return client.List<ConfigMap>(); });
  cluster_.Advance(1s);
  EXPECT_FALSE(version.done() || object.done() || get.done() || in_one.done() || in_all.done());
  Must(caches.RemoveNamespace("shop"));
  cluster_.Advance(Nanos(0));
  ASSERT_TRUE(version.done() && object.done() && get.done() && in_one.done() && in_all.done());
  EXPECT_EQ(version.result().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(version.result().error().ToString(), HasSubstr("namespace \"shop\" is not cached"));
  EXPECT_EQ(object.result().error().code(), Code::kInvalidArgument);
  EXPECT_EQ(get.result().error().code(), Code::kInvalidArgument);
  EXPECT_EQ(in_one.result().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(Must(in_all.result()), IsEmpty());
}

TEST_P(CachesNamespacesTest, ANamespaceThatIsReadyLaterIsWaitedForByItsReadersAlone) {
  for (const char* in : {"shop", "slow"}) Must(cluster_.Add(Map("a", "", in)));
  Caches& caches = MakeChanging({"shop"});
  CachedClient client(caches, "test");
  Must(client.Get<ConfigMap>({"shop", "a"}));
  cluster_.Inject({.resource = "configmaps", .namespace_ = "slow", .delay = 30s});
  Must(caches.AddNamespace("slow"));
  const TimePoint before = Now();
  EXPECT_TRUE(Must(client.Get<ConfigMap>({"shop", "a"})));
  EXPECT_EQ(Must(client.List<ConfigMap>()).size(), 1u);
  EXPECT_LT(Now() - before, 1s);
  EXPECT_TRUE(Must(client.Get<ConfigMap>({"slow", "a"})));
  EXPECT_GE(Now() - before, 30s);
  EXPECT_EQ(Must(client.List<ConfigMap>()).size(), 2u);
}

TEST_P(CachesNamespacesTest, ANamespaceThatIsAddedShowsWhatTheClientHasWrittenBefore) {
  Must(cluster_.Add(Map("a", "old", "shop")));
  Caches& caches = Make({.defaults = {.streaming_list = false}, .changing_namespaces = true});
  CachedClient client(caches, "test");
  Must(client.List<ConfigMap>());
  Must(client.Update(Map("a", "new", "shop")));
  cluster_.Inject({.verb = "list", .resource = "configmaps", .namespace_ = "shop", .behind = 1});
  cluster_.Inject({.verb = "watch", .resource = "configmaps", .status = 503, .retry_after_seconds = 10});
  Must(caches.AddNamespace("shop"));
  EXPECT_EQ(Value(client.Get<ConfigMap>({"shop", "a"})).data["value"], "new");
  // What was written in a namespace that has left is not waited for any more.
  FreezeWatches();
  Must(client.Update(Map("a", "newer", "shop")));
  const auto maps = Must(caches.Of<ConfigMap>());
  EXPECT_EQ(maps.any().kind_cache()->remembered(), 1u);
  Must(caches.RemoveNamespace("shop"));
  EXPECT_EQ(maps.any().kind_cache()->remembered(), 0u);
}

TEST_P(CachesNamespacesTest, SaysWhatCannotBeChanged) {
  Caches& all = Make();
  EXPECT_EQ(all.AddNamespace("shop").error().code(), Code::kInvalidArgument);
  EXPECT_THAT(all.AddNamespace("shop").error().ToString(),
              HasSubstr("add namespace \"shop\": the namespaces of these caches do not change, because they hold all"));
  Caches some(connection_, {.scopes = {{.namespace_ = "shop"}}});
  EXPECT_THAT(some.SetNamespaces({}).error().ToString(), HasSubstr("see CachesOptions::changing_namespaces"));
  Caches others(connection_, {.scopes = {{.namespace_ = "shop"}, {}}, .changing_namespaces = true});
  EXPECT_EQ(others.Of<Pod>().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(others.AddNamespace("billing").error().ToString(), HasSubstr("a scope without a namespace"));
  Caches& changing = MakeChanging();
  for (const char* wrong : {"", "Shop", "a/b"}) {
    EXPECT_EQ(changing.AddNamespace(wrong).error().code(), Code::kInvalidArgument) << wrong;
  }
  Caches malformed(connection_, {.defaults = {.label_selector = "app in web"}, .changing_namespaces = true});
  EXPECT_EQ(malformed.Of<Pod>().error().code(), Code::kInvalidArgument);
}

TEST_P(CachesNamespacesTest, NothingIsLeftOfARemovedNamespace) {
  Must(cluster_.Add(Map("a", "", "shop")));
  Caches& caches = MakeChanging({"shop"});
  std::optional<Cache<ConfigMap>> maps = Must(caches.Of<ConfigMap>());
  Heard heard;
  CacheRegistration registration = maps->AddEventHandler(heard.Handler());
  Must(maps->WaitForSync());
  Must(caches.RemoveNamespace("shop"));
  cluster_.RunUntilIdle();
  EXPECT_THAT(maps->any().kind_cache()->informers(), IsEmpty());
  EXPECT_EQ(cluster_.census().watches, 0u);
  Must(caches.AddNamespace("shop"));
  cluster_.RunUntilIdle();
  registration.Remove();
  maps.reset();
  ExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(Seeds, CachesNamespacesTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
}  // namespace kgen::controller
