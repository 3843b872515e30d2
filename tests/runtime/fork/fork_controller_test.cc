// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Every use of a handle in a forked child, while the threads of its parent are busy: watches, informers, queues and
// controllers. None hangs, each that can fails with the same error, and the parent goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kgen/cache/dynamic_informer.h"
#include "kgen/cache/factory.h"
#include "kgen/client/async_client.h"
#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/client/dynamic_client.h"
#include "kgen/client/log_stream.h"
#include "kgen/client/pages.h"
#include "kgen/client/rest_mapper.h"
#include "kgen/client/retry.h"
#include "kgen/client/watcher.h"
#include "kgen/controller/endpoint.h"
#include "kgen/controller/event_recorder.h"
#include "kgen/controller/leader_election.h"
#include "kgen/controller/manager.h"
#include "kgen/controller/wait.h"
#include "kgen/controller/work_queue.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/fork/forked.h"
#include "tests/support/signal.h"

namespace kgen::test_support {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const GroupVersionResource kPods{"", "v1", "pods"};
const GroupVersionKind kPod{"", "v1", "Pod"};

rest::Config ConfigOf(testing::Cluster& cluster) {
  const std::string path = ::testing::TempDir() + "/fork_kubeconfig_" + std::to_string(::getpid());
  std::ofstream(path) << Must(cluster.Serve());
  rest::Config config = Must(rest::LoadConfig({.kubeconfig = path}));
  std::remove(path.c_str());
  config.observer = NullObserver();
  return config;
}

// One of each handle, in use.
struct World {
  World() {
    Must(cluster.Add(testing::MinimalPod("default", "first")));
    config = ConfigOf(cluster);
    connection.emplace(Must(Connection::Open(config)));
    client.emplace(*connection);
    pods.emplace(client->ForResource(kPods, "default"));
    watcher.emplace(Must(pods->Watch()));
    (void)Must(watcher->Next());
    informer.emplace(factory.emplace(*connection).ForResource(kPods));
    EventHandler<Unstructured> handler;
    handler.on_add = [](const Added<Unstructured>&) {};
    registration = informer->Informer().AddEventHandler(std::move(handler));
    factory->Start();
    Must(factory->WaitForCacheSync());
    queue.emplace();
    queue->Add(1);
    queue->AddAfter(2, 1h);
    elector.emplace(Must(LeaderElector::New(*connection, {.name = "lease", .namespace_ = "default"})));
    Must(elector->Acquire());
    recorder.emplace(*connection, EventRecorderOptions{.controller = "fork.example.com/test"});
    endpoint.emplace(Must(Endpoint::Listen({.address = "127.0.0.1:0"})));
    Must(endpoint->Start());
    manager.emplace(Must(Manager::New(*connection)));
    controller.emplace(Must(manager->Control(kPod, "pods").Reconcile([this](Request&) -> Result<void> {
      signal.Change([&] { reconciled = true; });
      return {};
    })));
    running.emplace([this](const std::stop_token& stop) { ran = manager->Run(stop); });
    cache.emplace(Must(manager->caches().Of(Must(RestMapper(*connection).ForKind(kPod)))));
    EXPECT_TRUE(signal.WaitFor([&] { return reconciled; }));
    mapper.emplace(*connection);
  }
  ~World() {
    running->request_stop();
    running->join();
    elector->Abandon();
    EXPECT_TRUE(ran) << ran;
  }

  Signal signal;
  bool reconciled = false;
  testing::Cluster cluster{testing::ClusterOptions{.simulated = false}};
  rest::Config config;
  std::optional<Connection> connection;
  std::optional<DynamicClient> client;
  std::optional<DynamicResource> pods;
  std::optional<Watcher<Unstructured>> watcher;
  std::optional<SharedInformerFactory> factory;
  std::optional<DynamicInformer> informer;
  std::optional<Registration> registration;
  std::optional<WorkQueue<int>> queue;
  std::optional<LeaderElector> elector;
  std::optional<EventRecorder> recorder;
  std::optional<Endpoint> endpoint;
  std::optional<Manager> manager;
  std::optional<Controller> controller;
  std::optional<Cache<Unstructured>> cache;
  std::optional<RestMapper> mapper;
  Result<void> ran;
  std::optional<std::jthread> running;
};

struct Use {
  const char* name;
  std::function<std::string(World&)> run;
};

// Each must fail with the error of a forked child.
const Use kFailing[] = {
    {"get", [](World& w) { return Text(w.pods->Get("first")); }},
    {"list", [](World& w) { return Text(w.pods->List({.timeout = 1h})); }},
    {"pages",
     [](World& w) {
       std::string said = "no page";
       for (const auto& page : w.pods->Pages({.limit = 1})) said = Text(page);
       return said;
     }},
    {"Async().Get",
     [](World& w) {
       std::string said = "not called";
       w.pods->Async().Get("first", [&](Result<Unstructured> result) { said = Text(result); });
       return said;
     }},
    {"Async().Get of a wrong name",
     [](World& w) {
       std::string said = "not called";
       w.pods->Async().Get("", [&](Result<Unstructured> result) { said = Text(result); });
       return said;
     }},
    {"Async().List",
     [](World& w) {
       std::string said = "not called";
       w.pods->Async().List([&](Result<UnstructuredList> result) { said = Text(result); });
       return said;
     }},
    {"watch", [](World& w) { return Text(w.pods->Watch()); }},
    {"Async().Watch",
     [](World& w) {
       std::string said = "not called";
       w.pods->Async().Watch([&](Result<Watcher<Unstructured>> result) { said = Text(result); });
       return said;
     }},
    {"next event", [](World& w) { return Text(w.watcher->Next()); }},
    {"discovery", [](World& w) { return Text(RestMapper(*w.connection).ForKind(kPod)); }},
    {"discovery with a cache",
     [](World& w) {
       w.mapper->Invalidate();
       return Text(w.mapper->ForKind(kPod));
     }},
    {"retry",
     [](World&) {
       return Text(RetryOnConflict([] { return Result<void>(Fail(Code::kConflict, "a conflict")); }, {.base = 1h}));
     }},
    {"new connection", [](World& w) { return Text(Connection::Open(w.config)); }},
    {"new factory",
     [](World& w) {
       SharedInformerFactory made(*w.connection);
       (void)made.ForResource(kPods);
       made.Start();
       return Text(made.WaitForCacheSync());
     }},
    {"WaitForCacheSync", [](World& w) { return Text(w.factory->WaitForCacheSync()); }},
    {"WaitForCacheSync of an informer", [](World& w) { return Text(WaitForCacheSync({}, w.informer->Informer())); }},
    {"WaitUntil", [](World& w) { return Text(w.informer->Informer().WaitUntil("999999999", {}, 1h)); }},
    {"AddIndex",
     [](World& w) { return Text(w.informer->Informer().AddIndex("none", [](const Unstructured&, IndexSink&) {})); }},
    {"new handler",
     [](World& w) { return Text(w.informer->Informer().AddEventHandler(EventHandler<Unstructured>()).status()); }},
    {"queue: get", [](World& w) { return Text(w.queue->Get()); }},
    {"queue: process", [](World& w) { return Text(w.queue->Process(1, {}, [](int) { return Result<void>(); })); }},
    {"queue: drain", [](World& w) { return Text(w.queue->ShutDownWithDrain()); }},
    {"new queue",
     [](World&) {
       const WorkQueue<int> made;
       made.Add(1);
       return Text(made.Get());
     }},
    {"elector: wait", [](World& w) { return Text(w.elector->WaitUntilLost()); }},
    {"elector: release", [](World& w) { return Text(w.elector->Release()); }},
    {"new elector", [](World& w) { return Text(LeaderElector::New(*w.connection, {.name = "x", .namespace_ = "y"})); }},
    {"recorder: stop", [](World& w) { return Text(w.recorder->Stop()); }},
    {"endpoint: stop", [](World& w) { return Text(w.endpoint->Stop(1h)); }},
    {"new endpoint", [](World&) { return Text(Endpoint::Listen({.address = "127.0.0.1:0"})); }},
    {"manager: run", [](World& w) { return Text(w.manager->Run({})); }},
    {"manager: add",
     [](World& w) { return Text(w.manager->Add("x", [](const std::stop_token&) { return Result<void>(); })); }},
    {"new manager", [](World& w) { return Text(Manager::New(w.config)); }},
    {"another new manager", [](World& w) { return Text(Manager::New(*w.connection)); }},
    {"cache: wait", [](World& w) { return Text(w.cache->WaitUntil({"default", "first"}, "999999999", {}, 1h)); }},
    {"client: get", [](World& w) { return Text(w.manager->client().Get(kPod, {"default", "first"})); }},
    {"client: list", [](World& w) { return Text(w.manager->client().List(kPod)); }},
    {"cache: WaitFor",
     [](World& w) {
       const auto pod = [](const Ref<const Unstructured>& found) { return !found; };
       return Text(WaitFor(*w.cache, {"default", "first"}, pod, {}, 1h));
     }},
};

// Each must end, and says so.
const Use kEnding[] = {
    {"values and references",
     [](World& w) {
       const Ref<const Unstructured> pod = w.informer->Lister().ByNamespace("default").Get("first");
       const Unstructured copy = *pod;
       return copy.metadata.name == "first" ? "done" : "another name";
     }},
    {"queue: add",
     [](World& w) {
       w.queue->Add(3);
       w.queue->AddRateLimited(4);
       w.queue->Forget(4);
       w.queue->Done(3);
       w.queue->ShutDown();
       return w.queue->TryGet() ? "an item" : "done";
     }},
    {"controller: enqueue",
     [](World& w) {
       w.controller->Enqueue({"default", "first"});
       return "done";
     }},
    {"recorder: event",
     [](World& w) {
       w.recorder->Event(*w.informer->Lister().ByNamespace("default").Get("first"),
                         {.reason = "Forked", .action = "Fork", .note = "in a child"});
       return "done";
     }},
    {"status",
     [](World& w) {
       const bool empty = w.factory->status().empty() && w.manager->caches().status().empty() &&
                          w.queue->metrics().adds == 0 && w.elector->leader().empty();
       return empty && w.informer->Informer().status().name == "pods" ? "done" : w.informer->Informer().status().name;
     }},
    {"leads no more", [](World& w) { return w.elector->IsLeader() ? "leads" : "done"; }},
    {"factory: shutdown",
     [](World& w) {
       w.factory->Shutdown();
       return "done";
     }},
    {"destroy the watcher", [](World& w) { return w.watcher.reset(), "done"; }},
    {"destroy the registration", [](World& w) { return w.registration.reset(), "done"; }},
    {"destroy the factory", [](World& w) { return w.factory.reset(), w.informer.reset(), "done"; }},
    {"destroy the queue", [](World& w) { return w.queue.reset(), "done"; }},
    {"destroy the elector", [](World& w) { return w.elector.reset(), "done"; }},
    {"destroy the recorder", [](World& w) { return w.recorder.reset(), "done"; }},
    {"destroy the endpoint", [](World& w) { return w.endpoint.reset(), "done"; }},
    {"destroy the manager", [](World& w) { return w.controller.reset(), w.manager.reset(), w.cache.reset(), "done"; }},
    {"destroy the connection",
     [](World& w) {
       w.pods.reset();
       w.client.reset();
       w.mapper.reset();
       w.connection.reset();
       return "done";
     }},
};

// Keeps threads of its own in every part of the parent, so that a fork finds locks held.
class Busy {
 public:
  explicit Busy(World& world) {
    const auto repeat = [this](auto work) {
      threads_.emplace_back([this, work] {
        while (!stop_.load()) work();
      });
    };
    repeat([&world] { (void)world.pods->Get("first"); });
    repeat([&world] { (void)world.queue->metrics(), world.queue->AddAfter(2, 1h); });
    repeat([&world] {
      const Timer timer = SystemClock()->After(1h, TimerKind::kProgress, [] {});
      DefaultExecutor()->Blocking("nothing", [] {});
      (void)world.factory->status();
    });
  }
  ~Busy() { stop_ = true; }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::jthread> threads_;
};

TEST(ForkedProcess, FailsOrDoesNothingAndTheParentGoesOn) {
  World world;
  {
    const Busy busy(world);
    for (const Use& use : kFailing) {
      const Ending child = InChild([&] { return use.run(world); });
      EXPECT_THAT(child.said, HasSubstr(kForked)) << use.name << ", signal " << child.signal;
    }
    for (const Use& use : kEnding) {
      const Ending child = InChild([&] { return use.run(world); });
      EXPECT_EQ(child.said, "done") << use.name << ", signal " << child.signal;
    }
    const Ending child = InChild([]() -> std::string { std::exit(3); });
    EXPECT_EQ(child.exit_code, 3) << "signal " << child.signal;
  }
  // The parent's watch, informer, queue, controller and lease.
  Must(world.cluster.Add(testing::MinimalPod("default", "second")));
  const auto event = world.watcher->Next();
  ASSERT_TRUE(event) << event;
  EXPECT_EQ(event->object->metadata.name, "second");
  const auto seen = [](const Ref<const Unstructured>& pod) { return static_cast<bool>(pod); };
  EXPECT_TRUE(WaitFor(*world.cache, {"default", "second"}, seen, {}, 30s));
  EXPECT_TRUE(world.pods->Get("second"));
  const auto item = world.queue->Get();
  ASSERT_TRUE(item) << item;
  EXPECT_EQ(item->key, 1);
  EXPECT_TRUE(world.elector->IsLeader());
  EXPECT_TRUE(world.recorder->Stop());
  EXPECT_EQ(world.recorder->counts().recorded, 0u);
  EXPECT_TRUE(world.elector->Release());
}

}  // namespace
}  // namespace kgen::test_support
