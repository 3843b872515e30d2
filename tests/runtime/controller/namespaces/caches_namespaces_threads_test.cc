// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Caches whose namespaces change, over the network, on threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/client/config.h"
#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"
#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using k8s::core::v1::ConfigMap;

constexpr const char* kNamespaces[] = {"a", "b", "c"};

// The keys that a handler knows.
struct Known {
  EventHandler<ConfigMap> Handler() {
    return {.on_add = [this](const Added<ConfigMap>& e) { Change(e.key, true); },
            .on_delete = [this](const Deleted<ConfigMap>& e) { Change(e.key, false); },
            .on_left = [this](const Left<ConfigMap>& e) { Change(e.key, false); }};
  }
  void Change(const ObjectKey& key, bool comes) {
    const MutexLock lock(mutex);
    EXPECT_EQ(comes ? keys.insert(key.str()).second : keys.erase(key.str()) == 1, true) << key;
  }
  std::set<std::string> Keys() {
    const MutexLock lock(mutex);
    return keys;
  }
  Mutex mutex;
  std::set<std::string> keys;
};

// Each of several threads has a namespace of its own, which it adds, reads and removes, while others read, write, and
// add and remove handlers.
TEST(CachesNamespacesThreadsTest, ChangeWhileThreadsReadWriteAndListen) {
  testing::Cluster cluster({.simulated = false});
  for (const char* in : kNamespaces) {
    for (int i = 0; i < 20; ++i) {
      ConfigMap map;
      map.metadata.namespace_ = in;
      map.metadata.name = "m" + std::to_string(i);
      Must(cluster.Add(map));
    }
  }
  const std::string kubeconfig = ::testing::TempDir() + "/caches_namespaces_threads.kubeconfig";
  std::ofstream(kubeconfig) << Must(cluster.Serve());
  rest::Config config = Must(rest::LoadConfig({.kubeconfig = kubeconfig}));
  std::remove(kubeconfig.c_str());
  config.observer = NullObserver();
  const auto connection = Must(Connection::Open(config));
  const Caches caches(connection, {.changing_namespaces = true});
  std::stop_source stop;
  caches.Start(stop.get_token());
  const CachedClient client(caches, "test");
  const auto maps = Must(caches.Of<ConfigMap>());
  Must(maps.AddIndex("name", FieldPath("metadata.name")));
  Known known;
  CacheRegistration registration = maps.AddEventHandler(known.Handler());

  std::atomic<bool> done{false};
  std::vector<std::thread> threads, others;
  for (const char* in : kNamespaces) {
    threads.emplace_back([&, in] {
      const std::string prefix = std::string(in) + "/";
      for (int i = 0; i < 60; ++i) {
        Must(caches.AddNamespace(in));
        EXPECT_TRUE(Must(client.Get<ConfigMap>({in, "m0"})));
        EXPECT_EQ(Must(client.List<ConfigMap>({.namespace_ = in, .index = "name", .value = "m1"})).size(), 1u);
        Must(caches.RemoveNamespace(in));
        EXPECT_EQ(client.Get<ConfigMap>({in, "m0"}).error().code(), Code::kInvalidArgument);
        for (const std::string& key : known.Keys()) EXPECT_FALSE(key.starts_with(prefix)) << key;
      }
    });
  }
  others.emplace_back([&] {
    while (!done) (void)Must(client.List<ConfigMap>());
  });
  others.emplace_back([&] {
    for (int i = 0; !done; ++i) {
      ConfigMap map;
      map.metadata.namespace_ = kNamespaces[i % 3];
      map.metadata.name = "m5";
      map.data["value"] = std::to_string(i);
      Must(client.Update(map));
    }
  });
  others.emplace_back([&] {
    while (!done) {
      Known own;
      CacheRegistration temporary = maps.AddEventHandler(own.Handler());
      (void)temporary.HasSynced();
      (void)temporary.Backlog();
      (void)caches.status();
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  for (std::thread& thread : others) thread.join();
  EXPECT_TRUE(known.Keys().empty());
  Must(caches.SetNamespaces({"a", "c"}));
  Must(caches.WaitForSync({}));
  Must(registration.WaitForSync());
  EXPECT_EQ(known.Keys().size(), 40u);
  registration.Remove();
  caches.Shutdown();
}

}  // namespace
}  // namespace kgen
