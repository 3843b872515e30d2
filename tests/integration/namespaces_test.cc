// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Caches that follow the namespaces with a label, on a real kube-apiserver with roles in each namespace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <chrono>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/client/config.h"
#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using k8s::core::v1::ConfigMap;
using ::testing::HasSubstr;

class NamespacesOnAServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    Kubectl("create clusterrole " + id_ + "-all --verb=list,watch --resource=namespaces");
    Kubectl("create clusterrolebinding " + id_ + "-all --clusterrole=" + id_ + "-all --user=kgen-reader");
    Kubectl("create clusterrole " + id_ + " --verb=get,list,watch --resource=configmaps");
    for (const std::string& name : {one_, two_}) {
      Kubectl("create namespace " + name);
      Kubectl("create configmap " + id_ + " -n " + name);
    }
  }
  void TearDown() override {
    if (!RealApiServer::Present()) return;
    Kubectl("delete clusterrole " + id_ + " " + id_ + "-all");
    Kubectl("delete clusterrolebinding " + id_ + "-all");
    Kubectl("delete namespace --wait=false " + one_ + " " + two_ + " --ignore-not-found");
  }
  static void Kubectl(const std::string& arguments) { RealApiServer::Kubectl(arguments); }
  void Label(const std::string& name, bool with) {
    Kubectl("label namespace " + name + " " + id_ + (with ? "=yes" : "-"));
  }
  void Grant(const std::string& name) {
    Kubectl("create rolebinding reader -n " + name + " --clusterrole=" + id_ + " --user=kgen-reader");
  }
  // The namespaces in which the handler knows the object of this test.
  std::set<std::string> Known() {
    const MutexLock lock(mutex_);
    return known_;
  }
  void Change(const ObjectKey& key, bool comes) {
    if (key.name != id_) return;
    const MutexLock lock(mutex_);
    comes ? (void)known_.insert(key.namespace_.str()) : (void)known_.erase(key.namespace_.str());
  }

  const std::string id_ = "ns-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
  const std::string one_ = id_ + "-one";
  const std::string two_ = id_ + "-two";
  Mutex mutex_;
  std::set<std::string> known_;
};

TEST_F(NamespacesOnAServerTest, FollowsALabelUnderRolesOfEachNamespace) {
  Label(one_, true);
  Grant(one_);
  Label(two_, true);  // and no rights there
  const auto connection =
      Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig(), .context = "reader"}))));
  const Caches caches(connection, {.namespaces_by_label = id_ + "=yes"});
  std::stop_source stop;
  caches.Start(stop.get_token());
  const CachedClient client(caches, "test");
  const auto maps = Must(caches.Of<ConfigMap>());
  CacheRegistration registration =
      maps.AddEventHandler({.on_add = [this](const Added<ConfigMap>& e) { Change(e.key, true); },
                            .on_delete = [this](const Deleted<ConfigMap>& e) { Change(e.key, false); },
                            .on_left = [this](const Left<ConfigMap>& e) { Change(e.key, false); }});
  Must(caches.WaitForSync({}));
  Must(registration.WaitForSync());
  EXPECT_EQ(caches.namespaces(), (std::vector{one_, two_}));
  EXPECT_EQ(Known(), std::set{one_});
  EXPECT_TRUE(Must(client.Get<ConfigMap>({one_, id_})));
  EXPECT_EQ(client.Get<ConfigMap>({two_, id_}).error().code(), Code::kForbidden);

  Grant(two_);
  EXPECT_TRUE(Eventually([&] { return Known().size() == 2; }, 120s));
  EXPECT_TRUE(Must(client.Get<ConfigMap>({two_, id_})));
  Label(one_, false);
  EXPECT_TRUE(Eventually([&] { return Known() == std::set{two_}; }));
  EXPECT_EQ(client.Get<ConfigMap>({one_, id_}).error().code(), Code::kInvalidArgument);
  Label(one_, true);
  EXPECT_TRUE(Eventually([&] { return Known().size() == 2; }));
  Kubectl("delete namespace --wait=false " + two_);  // which no controller will finish on this server
  Kubectl("delete configmap " + id_ + " -n " + two_);
  EXPECT_TRUE(Eventually([&] { return Known() == std::set{one_}; }));
  EXPECT_EQ(caches.namespaces().size(), 2u);  // until it is gone, its objects are seen
  registration.Remove();
  caches.Shutdown();
}

}  // namespace
}  // namespace kgen::integration
