// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Informers against a real kube-apiserver with a real etcd. Waits here use the wall clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <acme/clientset.h>
#include <acme/informers.h>
#include <acme/shop/v1/types.h>
#include <k8s/apiextensions/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kgen/codec/encode.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using acme::shop::v1::Order;
using acme::shop::v1::OrderSpec;
using k8s::core::v1::Pod;
using namespace std::chrono_literals;

// Until the call no longer fails for a reason that passes: the server is being restarted, or has just been.
template <typename F>
auto Persistently(F call) {
  auto result = call();
  Eventually([&] {
    if (result.has_value()) return true;
    const Code code = result.error().code();
    if (code != Code::kUnavailable && code != Code::kServer && code != Code::kTimeout && code != Code::kTooManyRequests)
      return true;
    result = call();
    return false;
  });
  return result;
}

// The state that a handler's events add up to. Checks the order of the versions of each object.
template <typename T>
class Recorder {
 public:
  EventHandler<T> Handler() {
    return {.on_add = [this](const Added<T>& e) { Put(*e.now, true); },
            .on_update = [this](const Updated<T>& e) { Put(*e.now, false); },
            .on_delete =
                [this](const Deleted<T>& e) {
                  const std::lock_guard lock(mutex_);
                  if (seen_.erase(e.key.str()) == 0) ++faults_;
                }};
  }
  std::map<std::string, std::string> Versions() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::string> versions;
    for (const auto& [key, state] : seen_) versions[key] = state.version;
    return versions;
  }
  int faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
  }

 private:
  struct State {
    std::string version, uid;
  };
  void Put(const T& object, bool added) {
    const std::lock_guard lock(mutex_);
    State& state = seen_[ObjectKey{object.metadata.namespace_, object.metadata.name}.str()];
    const bool was_there = !state.uid.empty();
    if (added == was_there) ++faults_;  // an add of what is there, an update of what is not
    if (was_there && (state.uid != object.metadata.uid ||
                      std::stoull(state.version) > std::stoull(object.metadata.resourceVersion.str()))) {
      ++faults_;
    }
    state = {object.metadata.resourceVersion.str(), object.metadata.uid.str()};
  }
  mutable std::mutex mutex_;
  std::map<std::string, State> seen_;
  int faults_ = 0;
};

class InformerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    auto config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = NullObserver();  // these tests kill the server
    connection_.emplace(Must(Connection::Open(config)));
    kubernetes_.emplace(*connection_);
    shop_.emplace(*connection_);
    static std::atomic<int> number{0};
    namespace_ = "t" + std::to_string(++number) + "-" +
                 std::to_string(std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1));
    Must(kubernetes_->CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
    Must(crd::Install(*kubernetes_, acme::Manifests(), {.timeout = 60s}));
  }

  auto Orders() { return shop_->ShopV1().Orders(namespace_); }
  auto Pods() { return kubernetes_->CoreV1().Pods(namespace_); }

  Order NewOrder(const std::string& name, int quantity) {
    return {.metadata = {.name = name, .labels = {{"test", "informer"}}},
            .spec = OrderSpec{.item = "teapot", .quantity = quantity}};
  }
  Pod NewPod(const std::string& name) {
    return {.metadata = {.name = name},
            .spec = k8s::core::v1::PodSpec{.containers = {{.name = "web", .image = "nginx"}}}};
  }

  // Runs `body(i)` for 0 <= i < n on eight threads.
  static void InParallel(int n, const std::function<void(int)>& body) {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = next++; i < n; i = next++) body(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // The cache and a fresh list say the same of every object: version and canonical JSON.
  template <typename T, typename List>
  static std::string Difference(const List& list, const std::vector<Ref<const T>>& cached) {
    std::map<std::string, std::string> left, right;
    for (const T& object : list) left[object.metadata.name.str()] = CanonicalJson(Encode(object));
    for (const Ref<const T>& object : cached) right[object->metadata.name.str()] = CanonicalJson(Encode(*object));
    if (left.size() != right.size())
      return std::to_string(left.size()) + " listed, " + std::to_string(right.size()) + " cached";
    for (const auto& [name, json] : left) {
      if (right[name] != json) return name + "\n  listed " + json + "\n  cached " + right[name];
    }
    return "";
  }

  // Creates, deletes and patches orders in parallel, so many times, and restarts the server at one of them.
  void ChangeOrders(int count, int restart) {
    InParallel(count, [&](int i) {
      if (i == restart) {  // by one of the threads, while the others go on
        RealApiServer::Kill();
        RealApiServer::Start();
      }
      thread_local std::mt19937 random(static_cast<unsigned>(std::hash<std::thread::id>()(std::this_thread::get_id())));
      const std::string name = "order-" + std::to_string(random() % 1200);
      switch (random() % 4) {
        case 0:
          (void)Persistently([&] { return Orders().Create(NewOrder(name, i + 1)); });  // AlreadyExists is fine
          break;
        case 1:
          (void)Persistently([&] { return Orders().Delete(name); });  // so is NotFound
          break;
        default:
          (void)Persistently([&] {
            return Orders().Patch(name, MergePatch("{\"spec\":{\"quantity\":" + std::to_string(i + 1) + "}}"));
          });
      }
    });
  }

  std::optional<Connection> connection_;
  std::optional<k8s::Clientset> kubernetes_;
  std::optional<acme::Clientset> shop_;
  std::string namespace_;
};

TEST_F(InformerTest, AgreesWithAListObjectByObjectThroughTenThousandChangesAndARestartOfTheServer) {
  InParallel(1000, [&](int i) {
    Must(Orders().Create(NewOrder("order-" + std::to_string(i), i + 1)));
    Must(Pods().Create(NewPod("pod-" + std::to_string(i))));
  });

  k8s::SharedInformerFactory builtin(*kubernetes_, {.namespace_ = namespace_});
  acme::SharedInformerFactory own(*shop_, {.namespace_ = namespace_});
  auto pods = builtin.Core().V1().Pods();
  auto orders = own.Shop().V1().Orders();
  Recorder<Order> recorder;
  auto registration = orders.Informer().AddEventHandler(recorder.Handler());
  builtin.Start();
  own.Start();
  pods.Informer();
  builtin.Start();
  Must(builtin.WaitForCacheSync({}, {.give_up_after = 60s}));
  Must(own.WaitForCacheSync({}, {.handlers = {&registration}, .give_up_after = 60s}));
  EXPECT_EQ(Difference<Order>(Must(Orders().List()), orders.Lister().Orders(namespace_).List()), "");
  EXPECT_EQ(Difference<Pod>(Must(Pods().List()), pods.Lister().Pods(namespace_).List()), "");

  ChangeOrders(10'000, 4'000);

  std::string difference = "never compared";
  EXPECT_TRUE(Eventually([&] {
    difference = Difference<Order>(Must(Persistently([&] { return Orders().List(); })),
                                   orders.Lister().Orders(namespace_).List());
    return difference.empty();
  })) << difference;
  EXPECT_TRUE(Eventually([&] {
    difference =
        Difference<Pod>(Must(Persistently([&] { return Pods().List(); })), pods.Lister().Pods(namespace_).List());
    return difference.empty();
  })) << difference;
  EXPECT_TRUE(Eventually([&] {
    std::map<std::string, std::string> cached;
    for (const auto& order : orders.Lister().Orders(namespace_).List()) {
      cached[namespace_ + "/" + order->metadata.name.str()] = order->metadata.resourceVersion;
    }
    return cached == recorder.Versions();
  })) << "what the handler was told, folded, is not the cache";
  EXPECT_EQ(recorder.faults(), 0);
}

// Contract: informer ER-06.
TEST_F(InformerTest, RecoversFromAnExpiredVersionWithoutLosingADeletion) {
  Must(Orders().Create(NewOrder("stays", 1)));
  acme::SharedInformerFactory own(*shop_, {.namespace_ = namespace_});
  auto orders = own.Shop().V1().Orders();
  Recorder<Order> recorder;
  auto registration = orders.Informer().AddEventHandler(recorder.Handler());
  own.Start();
  Must(own.WaitForCacheSync({}, {.handlers = {&registration}, .give_up_after = 60s}));

  // While the watch is broken, objects change and history is compacted: resuming gives 410, and the informer lists
  // again. One that is back on its watch before that gets everything from there, so there is more than one try.
  const std::uint64_t lists = orders.Informer().status().lists;
  int quantity = 10;
  for (int round = 0; round < 5 && orders.Informer().status().lists == lists; ++round) {
    Must(Persistently([&] { return Orders().Create(NewOrder("goes-" + std::to_string(round), 1)); }));
    ASSERT_TRUE(
        Eventually([&] { return orders.Lister().Orders(namespace_).Get("goes-" + std::to_string(round)) != nullptr; }));
    RealApiServer::Kill();
    RealApiServer::Start();
    Must(Persistently([&] { return Orders().Delete("goes-" + std::to_string(round)); }));
    for (int i = 0; i < 3; ++i) {
      Must(Persistently([&] {
        return Orders().Patch("stays", MergePatch("{\"spec\":{\"quantity\":" + std::to_string(++quantity) + "}}"));
      }));
    }
    RealApiServer::Restart(/*compact=*/true);
    EXPECT_TRUE(Eventually([&] {
      auto stays = orders.Lister().Orders(namespace_).Get("stays");
      return stays && stays->spec->quantity == quantity && orders.Lister().Orders(namespace_).List().size() == 1;
    }));
  }
  EXPECT_GT(orders.Informer().status().lists, lists) << "never a 410";
  EXPECT_TRUE(Eventually([&] { return recorder.Versions().size() == 1; }));
  EXPECT_EQ(recorder.faults(), 0);
}

TEST_F(InformerTest, KeepsAFieldThatOurSchemaDoesNotKnowInAnUpdate) {
  const std::string crd = RealApiServer::Kubectl("get crd orders.shop.example.com -o name");
  ASSERT_THAT(crd, ::testing::HasSubstr("orders.shop.example.com"));
  RealApiServer::Kubectl(
      "patch crd orders.shop.example.com --type=json -p "
      "'[{\"op\":\"add\",\"path\":\"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/brandNew\","
      "\"value\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}]'");
  const std::string document =
      R"({"apiVersion":"shop.example.com/v1","kind":"Order","metadata":{"name":"newer","namespace":")" + namespace_ +
      R"("},"spec":{"item":"teapot","quantity":1,"brandNew":{"deep":[1,{"big":12345678901234567890}]}}})";
  const std::string file = ::testing::TempDir() + "kgen-newer.json";
  std::ofstream(file) << document;
  std::string stored;
  ASSERT_TRUE(Eventually([&] {  // until the server serves the new schema
    RealApiServer::Kubectl("delete order newer --ignore-not-found -n " + namespace_);
    RealApiServer::Kubectl("create -f " + file);
    stored = RealApiServer::Kubectl("get order newer -o jsonpath={.spec.brandNew} -n " + namespace_);
    return stored.find("deep") != std::string::npos;
  })) << stored;

  Order order = Must(Orders().Get("newer"));
  EXPECT_TRUE(order.spec->unknown_fields.contains("brandNew"));
  order.spec->quantity = 2;
  Must(Orders().Update(order));

  EXPECT_EQ(RealApiServer::Kubectl("get order newer -o jsonpath={.spec.brandNew} -n " + namespace_), stored);
  EXPECT_EQ(RealApiServer::Kubectl("get order newer -o jsonpath={.spec.quantity} -n " + namespace_), "2");
}

}  // namespace
}  // namespace kgen::integration
