// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Clusters from kubeconfigs in Secrets, on a real kube-apiserver: it checks their tokens, and refuses one whose bound
// object is gone. All clusters of the test are that server, under different names and credentials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "core/memory/mutex.h"
#include "kgen/client/config.h"
#include "kgen/controller/clusters.h"
#include "kgen/controller/manager.h"
#include "kgen/core/try.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::Secret;

// How often the caches of each cluster were filled, and which codes the failures of its calls had.
class Listener final : public Observer {
 public:
  void OnRelisted(const Relisted& e) override {
    const MutexLock lock(mutex_);
    ++lists_[std::string(e.cluster)];
  }
  void OnReconcileFailed(const ReconcileFailed& e) override {
    const MutexLock lock(mutex_);
    if (e.error != nullptr) failures_[std::string(e.cluster)].insert(e.error->code());
  }
  int lists(const std::string& cluster) {
    const MutexLock lock(mutex_);
    return lists_[cluster];
  }
  bool failed(const std::string& cluster, Code code) {
    const MutexLock lock(mutex_);
    return failures_[cluster].contains(code);
  }

 private:
  Mutex mutex_;
  std::map<std::string, int> lists_;
  std::map<std::string, std::set<Code>> failures_;
};

class ClustersOnAServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    for (const char* each : {"create namespace ", "create serviceaccount worker -n "})
      RealApiServer::Kubectl(each + id_);
    RealApiServer::Kubectl("create clusterrole " + id_ + " --verb=get,list,watch,patch --resource=configmaps");
    RealApiServer::Kubectl("create clusterrolebinding " + id_ + " --clusterrole=" + id_ + " --serviceaccount=" + id_ +
                           ":worker");
    rest::Config config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = listener_;
    home_.emplace(Must(Manager::New(Must(Connection::Open(config)), {.name = "fleet"})));
    clients_.emplace(home_->connection());
    clusters_.emplace(Must(Clusters::New(*home_, {.secrets = {{.namespace_ = id_}}})));
    Must(clusters_->Each([this](const Manager& cluster) -> Result<void> {
      auto added = cluster.Control<ConfigMap>("marks").Reconcile([this](Request& request) { return Mark(request); });
      return added ? Result<void>() : Fail(added.error());
    }));
    thread_ = std::jthread([this](const std::stop_token& stop) { ended_ = home_->Run(stop); });
  }
  void TearDown() override {
    if (!RealApiServer::Present()) return;
    thread_.request_stop();
    thread_.join();
    EXPECT_TRUE(ended_) << ended_;
    RealApiServer::Kubectl("delete clusterrolebinding,clusterrole " + id_);
    RealApiServer::Kubectl("delete secrets,configmaps --all -n " + id_);
    RealApiServer::Kubectl("delete namespace --wait=false " + id_);
  }

  // Writes the name of the cluster to each ConfigMap of the test that names it.
  Result<void> Mark(Request& request) const {
    if (request.key().namespace_ != id_) return {};
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    if (!map) return {};
    const auto wanted = map->data.find("for");
    if (wanted == map->data.end() || wanted->second != request.cluster()) return {};
    ConfigMap mark{.metadata = {.name = map->metadata.name, .namespace_ = map->metadata.namespace_}};
    mark.metadata.annotations["marked"] = String(request.cluster());
    KGEN_TRY(const auto applied, request.client().Apply(mark));
    return {};
  }
  // Creates an object for a cluster, and returns its name.
  std::string Create(const std::string& cluster) {
    std::string name = "map-" + std::to_string(++objects_);
    Must(clients_->CoreV1().ConfigMaps(id_).Create(
        {.metadata = {.name = String(name)}, .data = {{"for", String(cluster)}}}));
    return name;
  }
  bool IsMarked(const std::string& name) const {
    return Must(clients_->CoreV1().ConfigMaps(id_).Get(name)).metadata.annotations.contains("marked");
  }
  // Creates an object for a cluster, and waits until that has seen and written it.
  bool Serves(const std::string& cluster) {
    return Eventually([&, name = Create(cluster)] { return IsMarked(name); }, 90s);
  }
  // A token of the ServiceAccount that ends with the Secret `bound`.
  std::string Token(const std::string& bound) const {
    RealApiServer::Kubectl("create secret generic " + bound + " -n " + id_);
    std::string token = RealApiServer::Kubectl("create token worker -n " + id_ +
                                               " --bound-object-kind=Secret --bound-object-name=" + bound);
    return token.substr(0, token.find('\n'));
  }
  void Unbind(const std::string& bound) const { RealApiServer::Kubectl("delete secret " + bound + " -n " + id_); }

  // A kubeconfig of one context, with another token if there is one.
  static std::string KubeconfigOf(const std::string& context, const std::string& token = "") {
    std::string text = RealApiServer::Kubectl("config view --raw --minify --flatten --context=" + context);
    const std::size_t at = text.find("token: ");
    if (!token.empty()) text.replace(at + 7, text.find('\n', at) - at - 7, token);
    return text;
  }
  void Put(const std::string& cluster, const std::string& kubeconfig) const {
    Secret secret{.metadata = {.name = String(cluster)}, .stringData = {{"kubeconfig", String(kubeconfig)}}};
    secret.metadata.labels["sigs.k8s.io/multicluster-runtime-kubeconfig"] = "true";
    Must(clients_->CoreV1().Secrets(id_).Apply(secret, {.field_manager = "test", .force = true}));
  }
  std::string StateOf(const std::string& name) const {
    for (const ClusterStatus& each : clusters_->status()) {
      if (each.name == name) return std::string(ToString(each.state));
    }
    return "none";
  }

  const std::string id_ = "fleet-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
  const Shared<Listener> listener_ = MakeShared<Listener>();
  int objects_ = 0;
  std::optional<Manager> home_;
  std::optional<k8s::Clientset> clients_;
  std::optional<Clusters> clusters_;
  Result<void> ended_;
  std::jthread thread_;
};

TEST_F(ClustersOnAServerTest, GoOnWithTheTokensThatTheirSecretsGet) {
  Put("rotates", KubeconfigOf("token", Token("first")));
  Put("certified", KubeconfigOf("certificate"));
  ASSERT_TRUE(Serves("rotates"));
  ASSERT_TRUE(Serves("certified"));
  EXPECT_EQ(listener_->lists("rotates"), 1);

  // In time: the old token ends after the new one has come.
  Put("rotates", KubeconfigOf("token", Token("second")));
  EXPECT_TRUE(Serves("rotates"));
  Unbind("first");
  EXPECT_TRUE(Serves("rotates"));

  // Too late: the server refuses writes with the old token first, some seconds after it has ended.
  Unbind("second");
  std::string refused;
  EXPECT_TRUE(Eventually(
      [&] {
        refused = Create("rotates");
        return listener_->failed("rotates", Code::kUnauthorized);
      },
      90s, 1s));
  EXPECT_TRUE(Serves("certified")) << "which has no part in it";
  EXPECT_FALSE(IsMarked(refused));
  Put("rotates", KubeconfigOf("token", Token("third")));
  EXPECT_TRUE(Eventually([&] { return IsMarked(refused); }, 90s)) << "the call is repeated";
  EXPECT_TRUE(Serves("rotates"));
  EXPECT_EQ(StateOf("rotates"), "running");
  EXPECT_EQ(listener_->lists("rotates"), 1) << "no cache is filled again";
}

TEST_F(ClustersOnAServerTest, GoOnWithTheClientCertificatesThatTheirSecretsGet) {
  Put("renewed", KubeconfigOf("certificate"));
  ASSERT_TRUE(Serves("renewed"));
  EXPECT_EQ(listener_->lists("renewed"), 1);

  // The server refuses the user of the second certificate until it is granted the role: so it is this one that is used.
  Put("renewed", KubeconfigOf("reader-certificate"));
  std::string refused;
  EXPECT_TRUE(Eventually(
      [&] {
        refused = Create("renewed");
        return listener_->failed("renewed", Code::kForbidden);
      },
      90s, 1s));
  EXPECT_FALSE(IsMarked(refused));
  RealApiServer::Kubectl("create clusterrolebinding " + id_ + "-reader --clusterrole=" + id_ + " --user=kgen-reader");
  EXPECT_TRUE(Eventually([&] { return IsMarked(refused); }, 90s)) << "the call is repeated";
  EXPECT_TRUE(Serves("renewed"));
  EXPECT_EQ(StateOf("renewed"), "running");
  EXPECT_EQ(listener_->lists("renewed"), 1) << "no cache is filled again";
  RealApiServer::Kubectl("delete clusterrolebinding " + id_ + "-reader");
}

TEST_F(ClustersOnAServerTest, ComeAndGoWithTheirSecretsAlone) {
  Put("stays", KubeconfigOf("certificate"));
  Put("goes", KubeconfigOf("token", Token("first")));
  ASSERT_TRUE(Serves("stays"));
  ASSERT_TRUE(Serves("goes"));
  Put("stays", "apiVersion: v1\nkind: Config\nclusters: 3\n");
  Unbind("goes");
  EXPECT_TRUE(Eventually([&] { return StateOf("goes") == "none"; }));
  EXPECT_TRUE(Serves("stays")) << "with the config that it had";
  Put("broken", "apiVersion: v1\nkind: Config\nclusters: 3\n");
  EXPECT_TRUE(Eventually([&] { return StateOf("broken") == "refused"; }));
  Put("broken", KubeconfigOf("certificate"));
  EXPECT_TRUE(Serves("broken"));
  EXPECT_EQ(listener_->lists("stays"), 1);
}

}  // namespace
}  // namespace kgen::integration
