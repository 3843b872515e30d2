// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// etcd is restored from an older copy of its data, as after a disaster. Resource versions that informers have seen then
// belong to a lost history: the server accepts a watch that resumes from one of them, and sends nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <acme/clientset.h>
#include <acme/informers.h>
#include <acme/shop/v1/types.h>
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/coordination/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kgen/client/crd.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;

// Name to resource version, of the objects of one kind in the namespace of the test.
using Versions = std::map<std::string, std::string>;

// One kind: how the test writes it, and how the server, the cache and the handlers show it.
struct Kind {
  std::string name;
  std::function<void(const std::string& object)> create, touch, remove;
  std::function<Versions()> listed, cached, received;
};

class RestoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    auto config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = NullObserver();  // these tests kill the server
    connection_.emplace(Must(Connection::Open(config)));
    kubernetes_.emplace(*connection_);
    shop_.emplace(*connection_);
    namespace_ = "restore-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    Must(kubernetes_->CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
    Must(crd::Install(*kubernetes_, acme::Manifests(), {.timeout = 60s}));
    core_.emplace(*kubernetes_, FactoryOptions{.namespace_ = namespace_});
    own_.emplace(*shop_, FactoryOptions{.namespace_ = namespace_});
    AddKinds();
  }

  // `minimal` is an object that the server takes once it has a name.
  template <typename T, typename Client>
  void Add(const std::string& name, Client client, SharedInformer<T> informer, T minimal) {
    auto& received = received_.emplace_back();
    const auto put = [this, &received](const Ref<const T>& object) {
      const std::lock_guard lock(mutex_);
      received[object->metadata.name.str()] = object->metadata.resourceVersion.str();
    };
    registrations_.push_back(informer.AddEventHandler({.on_add = [put](const Added<T>& e) { put(e.now); },
                                                       .on_update = [put](const Updated<T>& e) { put(e.now); },
                                                       .on_delete =
                                                           [this, &received](const Deleted<T>& e) {
                                                             const std::lock_guard lock(mutex_);
                                                             received.erase(e.key.name.str());
                                                           }}));
    kinds_.push_back({.name = name,
                      .create =
                          [client, minimal](const std::string& object) mutable {
                            minimal.metadata.name = object;
                            Must(client.Create(minimal));
                          },
                      .touch =
                          [this, client](const std::string& object) {
                            const std::string number = std::to_string(++touches_);
                            const auto patch =
                                MergePatch(R"({"metadata":{"annotations":{"touched":")" + number + R"("}}})");
                            // More than once: a server that has just started may not serve this kind yet.
                            EXPECT_TRUE(Eventually([&] { return client.Patch(object, patch).has_value(); })) << object;
                          },
                      .remove = [client](const std::string& object) { Must(client.Delete(object)); },
                      .listed =
                          [client] {
                            Versions versions;
                            for (const T& object : Must(client.List())) {
                              versions[object.metadata.name.str()] = object.metadata.resourceVersion.str();
                            }
                            return versions;
                          },
                      .cached =
                          [informer] {
                            Versions versions;
                            const auto snapshot = informer.Indexer().Snapshot();
                            for (const Ref<const T>& object : snapshot.List()) {
                              versions[object->metadata.name.str()] = object->metadata.resourceVersion.str();
                            }
                            return versions;
                          },
                      .received =
                          [this, &received] {
                            const std::lock_guard lock(mutex_);
                            return received;
                          }});
  }

  void AddKinds() {
    const k8s::core::v1::PodSpec pod{.containers = {{.name = "web", .image = "nginx"}}};
    k8s::apps::v1::Deployment deployment;
    deployment.spec->selector->matchLabels = {{"app", "web"}};
    deployment.spec->template_->metadata->labels = {{"app", "web"}};
    deployment.spec->template_->spec = pod;
    const auto client = kubernetes_->CoreV1();
    const auto core = core_->Core().V1();
    Add<k8s::core::v1::ConfigMap>("configmaps", client.ConfigMaps(namespace_), core.ConfigMaps().Informer(), {});
    Add<k8s::core::v1::Secret>("secrets", client.Secrets(namespace_), core.Secrets().Informer(), {});
    Add<k8s::core::v1::Pod>("pods", client.Pods(namespace_), core.Pods().Informer(), {.spec = pod});
    Add<k8s::core::v1::ServiceAccount>("serviceaccounts", client.ServiceAccounts(namespace_),
                                       core.ServiceAccounts().Informer(), {});
    Add<k8s::apps::v1::Deployment>("deployments", kubernetes_->AppsV1().Deployments(namespace_),
                                   core_->Apps().V1().Deployments().Informer(), deployment);
    Add<k8s::coordination::v1::Lease>("leases", kubernetes_->CoordinationV1().Leases(namespace_),
                                      core_->Coordination().V1().Leases().Informer(), {});
    Add<acme::shop::v1::Order>("orders", shop_->ShopV1().Orders(namespace_), own_->Shop().V1().Orders().Informer(),
                               {.spec = acme::shop::v1::OrderSpec{.item = "teapot", .quantity = 1}});
  }

  // Which caches or handlers of the first `count` kinds differ from what the server lists; "" when all agree.
  std::string Different(const std::vector<Versions>& listed, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      if (kinds_[i].cached() != listed[i]) text += " the cache of " + kinds_[i].name;
      if (kinds_[i].received() != listed[i]) text += " the handler of " + kinds_[i].name;
    }
    return text;
  }
  std::vector<Versions> List() {
    std::vector<Versions> listed;
    for (const Kind& kind : kinds_) listed.push_back(kind.listed());
    return listed;
  }
  // The custom resource, which is the last kind, may take longer: a server that has just started answers its readers
  // with 429 and asks them to wait, which informers do. A busy machine takes longer for the lists here and for what the
  // informers read, so the time of the lists extends the limit.
  void ExpectCurrentWithin(std::chrono::seconds limit) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Versions> listed = List();
    const auto allowed =
        std::chrono::floor<std::chrono::seconds>(limit + 5 * (std::chrono::steady_clock::now() - begin));
    const std::size_t built_in = kinds_.size() - 1;
    EXPECT_TRUE(Eventually([&] { return Different(listed, built_in).empty(); }, allowed))
        << "after " << allowed.count() << " s these do not show what the server has:" << Different(listed, built_in);
    EXPECT_TRUE(Eventually([&] { return Different(listed, kinds_.size()).empty(); }))
        << "these do not show what the server has:" << Different(listed, kinds_.size());
  }

  std::optional<Connection> connection_;
  std::optional<k8s::Clientset> kubernetes_;
  std::optional<acme::Clientset> shop_;
  std::string namespace_;
  std::mutex mutex_;              // guards what is in received_
  std::list<Versions> received_;  // the state that the events of each handler add up to
  int touches_ = 0;
  std::vector<Kind> kinds_;
  std::optional<k8s::SharedInformerFactory> core_;
  std::optional<acme::SharedInformerFactory> own_;
  std::list<Registration> registrations_;
};

TEST_F(RestoreTest, InformersAreCurrentThreeSecondsAfterAKilledServerAnswersAgain) {
  for (const Kind& kind : kinds_) kind.create("changes");
  core_->Start();
  own_->Start();
  Must(core_->WaitForCacheSync({}, {.give_up_after = 60s}));
  Must(own_->WaitForCacheSync({}, {.give_up_after = 60s}));
  for (const bool compact : {false, true}) {
    for (const Kind& kind : kinds_) kind.touch("changes");
    RealApiServer::Restart(compact);
    for (const Kind& kind : kinds_) kind.touch("changes");
    ExpectCurrentWithin(3s);
  }
}

TEST_F(RestoreTest, InformersShowTheStateOfARestoredServerWithinThreeSeconds) {
  for (const Kind& kind : kinds_) {
    for (const char* object : {"stays", "changes", "goes"}) kind.create(object);
  }
  RealApiServer::Save();
  core_->Start();
  own_->Start();
  Must(core_->WaitForCacheSync({}, {.give_up_after = 60s}));
  Must(own_->WaitForCacheSync({}, {.give_up_after = 60s}));

  // The future that will be lost. Long, so that the restored server does not reach its versions on its own.
  for (const Kind& kind : kinds_) {
    kind.create("new");
    kind.remove("goes");
    for (int i = 0; i < 20; ++i) kind.touch("changes");
  }
  ExpectCurrentWithin(30s);

  RealApiServer::Restore();
  RealApiServer::Start();
  ExpectCurrentWithin(3s);

  // The informers go on from there.
  for (const Kind& kind : kinds_) {
    kind.create("new");
    kind.touch("stays");
  }
  ExpectCurrentWithin(3s);
}

}  // namespace
}  // namespace kgen::integration
