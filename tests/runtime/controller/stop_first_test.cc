// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Every blocking call that takes a stop token looks at it before it looks at what is ready, so a loop over such a call
// ends even if there is always more. Reads that need not wait are not among them: what was begun may be finished.
#include <k8s/core/v1/types.h>

#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "kgen/cache/dynamic_informer.h"
#include "kgen/cache/factory.h"
#include "kgen/client/crd.h"
#include "kgen/client/discovery.h"
#include "kgen/client/resource_client.h"
#include "kgen/client/subresources.h"
#include "kgen/controller/leader_election.h"
#include "kgen/controller/work_queue.h"
#include "tests/runtime/controller/caches_fixture.h"

namespace kgen::controller {
namespace {

using k8s::core::v1::ConfigMapList;
using k8s::core::v1::PodList;
using namespace std::chrono_literals;
using Maps = ResourceClient<ConfigMap, ConfigMapList>;
using Pods = ResourceClient<Pod, PodList, Verbs::kStandard, Subresource<"log", std::string, Verbs::kGet>>;

// What the calls use: a server with objects, synced caches, and a token that is requested already.
struct World {
  testing::Cluster& cluster;
  kgen::Connection connection;
  std::stop_token stop;
  Caches& caches;
  Cache<ConfigMap> maps;
  CachedClient& client;

  kgen::Connection stopped() const { return connection.With(stop); }
  Executor& executor() const { return connection.executor(); }
};

struct BlockingCall {
  std::string name;
  std::function<Result<void>(World&)> call;
};
void PrintTo(const BlockingCall& call, std::ostream* os) { *os << call.name; }

const ObjectKey kA{"default", "a"};

// Something waits for the call, so that it would succeed without the stop.
template <typename T>
Result<void> AfterOne(World& world, Result<T> opened, const std::function<Result<void>(T&)>& next) {
  if (!opened) return Fail(Code::kInternal, "cannot be opened: " + opened.error().ToString());
  for (int i = 0; i < 3; ++i) {
    ConfigMap map = Must(Maps(world.connection, "default").Get("a"));
    map.data["round"] = std::to_string(i);
    Must(world.cluster.Update(map));
  }
  world.cluster.Advance(1s);
  return next(*opened);
}

const BlockingCall kCalls[] = {
    {"WatcherNext",
     [](World& w) {
       return AfterOne<Watcher<ConfigMap>>(w, Maps(w.connection, "default").Watch(),
                                           [&](auto& watcher) { return Discard(watcher.Next(w.stop)); });
     }},
    {"WatcherNextOfAStoppedConnection",
     [](World& w) {
       std::stop_source stop;
       return AfterOne<Watcher<ConfigMap>>(w, Maps(w.connection.With(stop.get_token()), "default").Watch(),
                                           [&](auto& watcher) {
                                             stop.request_stop();
                                             return Discard(watcher.Next());
                                           });
     }},
    {"WatcherOpen", [](World& w) { return Discard(Maps(w.stopped(), "default").Watch()); }},
    {"LogStreamNext",
     [](World& w) {
       return AfterOne<LogStream>(w, StreamLogs(Pods(w.connection, "default"), "pod"),
                                  [&](auto& log) { return Discard(log.Next(w.stop)); });
     }},
    {"LogStreamOpen", [](World& w) { return Discard(StreamLogs(Pods(w.stopped(), "default"), "pod")); }},
    {"Get", [](World& w) { return Discard(Maps(w.stopped(), "default").Get("a")); }},
    {"List", [](World& w) { return Discard(Maps(w.stopped(), "default").List()); }},
    {"Pages",
     [](World& w) {
       auto pages = Maps(w.stopped(), "default").Pages({.limit = 1});
       return Discard(*pages.begin());
     }},
    {"PagesBetweenTwo",
     [](World& w) {
       std::stop_source stop;
       auto pages = Maps(w.connection.With(stop.get_token()), "default").Pages({.limit = 1});
       auto page = pages.begin();
       if (!*page) return Discard(*page);
       stop.request_stop();
       return Discard(*++page);
     }},
    {"ConnectionCall", [](World& w) { return Discard(w.connection.Call({.method = "GET", .path = "/api"}, w.stop)); }},
    {"Discover", [](World& w) { return Discard(Discover(w.stopped())); }},
    {"RestMapper", [](World& w) { return Discard(RestMapper(w.stopped()).ForKind({"", "v1", "Pod"})); }},
    {"CrdInstall", [](World& w) { return Discard(crd::Install(w.connection, {}, {.stop = w.stop})); }},
    {"FactoryWaitForCacheSync",
     [](World& w) {
       SharedInformerFactory factory(w.connection);
       const DynamicInformer pods = factory.ForResource({"", "v1", "pods"});
       pods.Informer();
       factory.Start();
       if (Result<void> synced = factory.WaitForCacheSync(); !synced) return synced;
       const Result<void> free_function = WaitForCacheSync(w.stop, pods.Informer());
       if (free_function || free_function.error().code() != Code::kCancelled) return free_function;
       return factory.WaitForCacheSync(w.stop);
     }},
    {"InformerWaitUntil",
     [](World& w) {
       SharedInformerFactory factory(w.connection);
       const DynamicInformer pods = factory.ForResource({"", "v1", "pods"});
       pods.Informer();
       factory.Start();
       if (Result<void> synced = factory.WaitForCacheSync(); !synced) return synced;
       return pods.Informer().WaitUntil("1", w.stop);
     }},
    {"CachesWaitForSync", [](World& w) { return w.caches.WaitForSync(w.stop); }},
    {"CacheWaitForSync", [](World& w) { return w.maps.WaitForSync(w.stop); }},
    {"CacheWaitUntil", [](World& w) { return w.maps.WaitUntil(kA, "1", w.stop); }},
    {"WaitForInACache",
     [](World& w) { return Discard(WaitFor(w.maps, kA, [](const auto&) { return true; }, w.stop, 1s)); }},
    {"WaitForThroughAClient",
     [](World& w) { return Discard(WaitFor<ConfigMap>(w.client, kA, [](const auto&) { return true; }, w.stop, 1s)); }},
    {"ClientGetOfAKindThatIsNotCached", [](World& w) { return Discard(w.client.With(w.stop).Get<Node>({"", "a"})); }},
    {"WorkQueueGet",
     [](World& w) {
       const WorkQueue<ObjectKey> queue({.executor = w.connection.shared_executor()});
       queue.Add(kA);
       return Discard(queue.Get(w.stop));
     }},
    {"WorkQueueShutDownWithDrain",
     [](World& w) {
       const WorkQueue<ObjectKey> queue({.executor = w.connection.shared_executor()});
       queue.Add(kA);
       return queue.ShutDownWithDrain(w.stop);
     }},
    {"LeaderElectorAcquire",
     [](World& w) -> Result<void> {
       const LeaderElector elector =
           Must(LeaderElector::New(w.connection, {.name = "shop", .namespace_ = "default", .identity = "a"}));
       w.cluster.ClearWrites();
       const Result<void> acquired = elector.Acquire(w.stop);
       w.cluster.Advance(1min);
       if (!w.cluster.Writes().empty()) return Fail(Code::kInternal, "it wrote " + w.cluster.Writes().front().str());
       return acquired;
     }},
    {"WaiterWait",
     [](World& w) {
       const Shared<Waiter> waiter = w.executor().MakeWaiter("the test");
       waiter->Notify();
       return waiter->Wait(w.stop);
     }},
};

class StopFirstTest : public ::testing::TestWithParam<BlockingCall> {};

TEST_P(StopFirstTest, ReturnsCancelledThoughThereIsMore) {
  testing::Cluster cluster;
  Must(cluster.Add(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"a"}})"));
  Must(cluster.Add(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"b"}})"));
  Must(cluster.Add(testing::MinimalPod("default", "pod")));
  cluster.SetLog("default", "pod", "one\ntwo\nthree\n");
  const kgen::Connection connection = cluster.Connection();
  Caches caches(connection, CachesOptions());
  const Cache<ConfigMap> maps = Must(caches.Of<ConfigMap>());
  caches.Start({});
  Must(caches.WaitForSync({}));
  CachedClient client(caches, "test");
  std::stop_source stop;
  stop.request_stop();
  World world{cluster, connection, stop.get_token(), caches, maps, client};
  const Result<void> result = GetParam().call(world);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), Code::kCancelled) << result.error();
}

INSTANTIATE_TEST_SUITE_P(Calls, StopFirstTest, ::testing::ValuesIn(kCalls),
                         [](const auto& call) { return call.param.name; });

// A server that always has more does not keep a call beyond its deadline, either.
TEST(DeadlineFirst, HoldsThoughTheCacheChangesAllTheTime) {
  testing::Cluster cluster;
  Must(cluster.Add(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"a"}})"));
  Caches caches(cluster.Connection(), CachesOptions());
  const Cache<ConfigMap> maps = Must(caches.Of<ConfigMap>());
  caches.Start({});
  Must(caches.WaitForSync({}));
  int looks = 0;
  const auto found = WaitFor(
      maps, kA,
      [&](const Ref<const ConfigMap>& map) {
        ConfigMap next = *map;
        next.data["round"] = std::to_string(++looks);
        Must(cluster.Update(next));
        cluster.Advance(3s);
        return looks == 100;
      },
      {}, 10s);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), Code::kTimeout) << found.error();
  EXPECT_LT(looks, 10);
}

}  // namespace
}  // namespace kgen::controller
