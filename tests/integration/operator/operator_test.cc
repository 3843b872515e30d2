// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// examples/operator on a real kube-apiserver, as a user who has exactly the roles of examples/operator/deploy. The
// audit log shows that no call was refused. Nothing runs beside the API server: StatefulSets plays the StatefulSet
// controller, the scheduler, the kubelet and the garbage collector of the stores, and the tests start a replica again
// that has ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/client.h>
#include <k8s/core/v1/types.h>
#include <signal.h>
#include <stdlib.h>
#include <storage/clientset.h>
#include <storage/kv/v1/types.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "examples/operator/api/store_v1.h"
#include "examples/operator/stateful_sets.h"
#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/time.h"
#include "kgen/core/waiter.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/programs/program.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using storage::kv::v1::Store;
using storage::kv::v1::StoreSpec;
using storage::kv::v1::VolumePolicy;
using test_support::Program;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// Each request when it is answered, without bodies.
constexpr const char* kPolicy = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted, Panic]
rules:
- level: Metadata
)";
constexpr const char* kUser = "kgen-reader";

// A container of the operator: a process, which may be started again. Destroying it kills the process.
class Operator {
 public:
  Operator(std::string kubeconfig, std::string log) : kubeconfig_(std::move(kubeconfig)), log_(std::move(log)) {
    Start();
  }
  // Starts the process, after it has ended. Its output goes into a file, because a full pipe would stop it.
  void Start() {
    const std::string command = "KUBECONFIG=" + kubeconfig_ + " exec " + KGEN_PROGRAMS_DIR +
                                "/store_operator --namespace=store-system --metrics=127.0.0.1:0 " +
                                "--health=127.0.0.1:0 >>" + log_ + " 2>&1";
    program_ =
        std::make_unique<Program>("/bin/sh", std::vector<std::string>{"-c", command}, std::vector<std::string>{});
  }
  void Signal(int number) { program_->Signal(number); }
  int Wait() { return program_->Wait(); }

 private:
  const std::string kubeconfig_, log_;
  std::unique_ptr<Program> program_;
};

// A server that has just started refuses calls until it has read the roles. Calls from `from` to `to`, when it is
// ready, are not the operator's fault.
struct Outage {
  std::string from{}, to{};
};
std::string Now() {
  const MicroTime now = SystemClock()->WallNow();
  return now.str();
}

// The calls of the operator in the audit log, without the calls of an outage, such as "patch statefulsets.apps", with
// how often the server sent each status.
std::map<std::string, std::map<int, int>> Calls(const Outage& outage = {}) {
  std::map<std::string, std::map<int, int>> calls;
  std::ifstream log(std::getenv("KGEN_TEST_AUDIT_LOG"));
  for (std::string line; std::getline(log, line);) {
    const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object() || entry["user"].value("username", "") != kUser) continue;
    const std::string time = entry.value("requestReceivedTimestamp", "");
    if (time >= outage.from && time < outage.to) continue;
    std::string call = entry.value("verb", "") + " ";
    if (const Json object = entry.value("objectRef", Json::object()); object.contains("resource")) {
      call += object.value("resource", "");
      if (object.contains("subresource")) call += "/" + object.value("subresource", "");
      if (object.contains("apiGroup")) call += "." + object.value("apiGroup", "");
    } else {
      call += entry.value("requestURI", "");
    }
    ++calls[call][entry.value("responseStatus", Json::object()).value("code", 0)];
  }
  return calls;
}

class OperatorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!RealApiServer::Present()) return;
    std::string folder = std::filesystem::temp_directory_path() / "operator_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    std::ofstream(std::filesystem::path(std::getenv("KGEN_TEST_AUDIT_LOG")).parent_path() / "audit.yaml") << kPolicy;
    RealApiServer::Restart();
    const std::string deploy = test_support::SourcePath("examples/operator/deploy/");
    Kubectl("create namespace store-system");
    for (const char* file : {"crd.yaml", "role.yaml", "role_writes.yaml"}) Kubectl("apply -f " + deploy + file);
    for (const char* role : {"store-operator", "store-operator-writes"}) {
      Kubectl(std::string("create clusterrolebinding ") + role + " --clusterrole=" + role + " --user=" + kUser);
    }
    Kubectl(std::string("-n store-system create rolebinding store-operator --role=store-operator --user=") + kUser);
    Kubectl("wait --for=condition=Established crd/stores.kv.example.com");
    std::string kubeconfig = test_support::ReadFile(RealApiServer::Kubeconfig());
    const std::string admin = "current-context: token";
    kubeconfig.replace(kubeconfig.find(admin), admin.size(), "current-context: reader");
    std::ofstream(folder_ / "kubeconfig") << kubeconfig;
  }
  static void TearDownTestSuite() {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    static int tests = 0;
    namespace_ = "stores-" + std::to_string(++tests);
    Must(k8s::core::v1::Client(*connection_).Namespaces().Create({.metadata = {.name = namespace_}}));
    stores_.emplace(storage::Clientset(*connection_).KvV1().Stores(namespace_));
    players_.emplace(*connection_, namespace_);
  }
  // No test may end with a refused call, nor with an empty log.
  void TearDown() override {
    if (!RealApiServer::Present()) return;
    const auto calls = Calls(outage_);
    EXPECT_TRUE(calls.contains("update leases.coordination.k8s.io")) << "the audit log lacks the operator";
    for (const auto& [call, statuses] : calls) {
      EXPECT_FALSE(statuses.contains(403)) << call << " was refused " << statuses.at(403) << " times";
    }
    if (HasFailure()) ADD_FAILURE() << "the first replica: " << test_support::ReadFile(folder_ / "first.log");
  }

  static std::string Kubectl(const std::string& arguments) {
    std::string output = RealApiServer::Kubectl(arguments);
    EXPECT_THAT(output, Not(HasSubstr("rror"))) << arguments;
    return output;
  }
  static std::unique_ptr<Operator> Start(const std::string& name) {
    return std::make_unique<Operator>(folder_ / "kubeconfig", folder_ / (name + ".log"));
  }
  static std::string Leader() {
    return RealApiServer::Kubectl(
        "-n store-system get lease store-operator --ignore-not-found -o jsonpath={.spec.holderIdentity}");
  }
  void Create(const std::string& name, const StoreSpec& spec) {
    Must(stores_->Create(Store{.metadata = {.name = name}, .spec = spec}));
  }
  void Patch(const std::string& name, std::string_view spec) {
    Must(stores_->Patch(name, MergePatch(R"({"spec":)" + std::string(spec) + "}")));
  }
  // Lets the players act until every store of the namespace is as its spec says.
  bool Settle(std::chrono::seconds limit = 60s) {
    return Eventually(
        [this] {
          players_->Act();
          const auto stores = Must(stores_->List());
          for (const Store& store : stores) {
            if (store.status->observedGeneration != store.metadata.generation) return false;
            if (store.status->updatedReplicas != store.spec->replicas) return false;
            if (store.status->readyReplicas != store.spec->replicas) return false;
            if (store.status->replicas != store.spec->replicas) return false;
          }
          return true;
        },
        limit);
  }

  static inline std::filesystem::path folder_;
  static inline Outage outage_;
  std::string namespace_;
  std::optional<Connection> connection_;
  std::optional<storage::kv::v1::StoresClient> stores_;
  std::optional<StatefulSets> players_;
};

TEST_F(OperatorTest, DoesAllItsWorkUnderExactlyItsRole) {
  const auto first = Start("first");
  Create("web", {.settings = {{"cache", "10Mi"}}, .volumePolicy = VolumePolicy::kDelete});
  ASSERT_TRUE(Settle());
  Patch("web", R"({"settings":{"cache":"20Mi"},"replicas":5})");
  ASSERT_TRUE(Settle());
  Patch("web", R"({"replicas":1})");
  ASSERT_TRUE(Settle());
  EXPECT_THAT(
      RealApiServer::Kubectl("-n " + namespace_ + " patch store web --type=merge -p '{\"spec\":{\"replicas\":2}}'"),
      HasSubstr("the number of members must be odd"));
  EXPECT_THAT(RealApiServer::Kubectl("-n " + namespace_ +
                                     " patch store web --type=merge -p '{\"spec\":{\"volumeSize\":\"2Gi\"}}'"),
              HasSubstr("the size of the volumes cannot change"));
  Must(stores_->Delete("web"));
  EXPECT_TRUE(Eventually([&] {
    players_->Act();
    return Must(stores_->List()).items.empty();
  }));
  // The server protects volumes by a finalizer, whose controller does not run here.
  const auto volumes = Must(k8s::core::v1::Client(*connection_).PersistentVolumeClaims(namespace_).List());
  EXPECT_EQ(volumes.items.size(), 5U);
  for (const auto& volume : volumes) EXPECT_TRUE(volume.metadata.deletionTimestamp.has_value());
  EXPECT_TRUE(Eventually([&] { return Calls().contains("create events.events.k8s.io"); }));
  first->Signal(SIGTERM);
  EXPECT_EQ(first->Wait(), 0);
}

TEST_F(OperatorTest, KeepsTheFieldsOfANewerCrd) {
  const auto first = Start("first");
  Create("before", {.replicas = 1});
  ASSERT_TRUE(Settle());
  Kubectl(
      "patch crd stores.kv.example.com --type=json -p '[{\"op\":\"add\",\"path\":\"/spec/versions/0/schema/"
      "openAPIV3Schema/properties/spec/properties/note\",\"value\":{\"type\":\"string\"}}]'");
  const auto with_note = [this](const std::string& name) {
    return "-n " + namespace_ + " patch store " + name + " --type=merge -p '{\"spec\":{\"note\":\"kept\"}}'";
  };
  ASSERT_TRUE(Eventually([&] { return !RealApiServer::Kubectl(with_note("before")).contains("unknown field"); }));
  Patch("before", R"({"settings":{"cache":"30Mi"}})");
  ASSERT_TRUE(Settle());
  Must(stores_->Delete("before"));  // the operator then patches the store, to remove its finalizer
  const auto apply = folder_ / "after.json";
  std::ofstream(apply) << R"({"apiVersion":"kv.example.com/v1","kind":"Store","metadata":{"name":"after"},)"
                       << R"("spec":{"replicas":1,"note":"kept"}})";
  Kubectl("-n " + namespace_ + " create -f " + apply.string());
  ASSERT_TRUE(Settle());
  const std::string after = "-n " + namespace_ + " get store after -o jsonpath=";
  EXPECT_EQ(Kubectl(after + "{.spec.note}"), "kept");
  EXPECT_EQ(Kubectl(after + "{.metadata.finalizers[0]}"), "kv.example.com/volumes") << "so the operator wrote it";
}

TEST_F(OperatorTest, AnotherReplicaGoesOnWhenTheLeaderIsKilled) {
  const auto first = Start("first");
  ASSERT_TRUE(Eventually([] { return !Leader().empty(); }));
  const std::string before = Leader();
  const auto second = Start("second");
  Create("one", {.replicas = 1});
  ASSERT_TRUE(Settle());
  first->Signal(SIGKILL);
  EXPECT_EQ(first->Wait(), -SIGKILL);
  Create("two", {.replicas = 1});
  ASSERT_TRUE(Settle(90s));
  EXPECT_NE(Leader(), before);
}

TEST_F(OperatorTest, GoesOnAfterTheServerWasAwayForAMinute) {
  const auto first = Start("first");
  Create("one", {.replicas = 1});
  ASSERT_TRUE(Settle());
  outage_.from = Now();
  RealApiServer::Kill();
  EXPECT_EQ(first->Wait(), 1) << "it cannot renew its lease";
  first->Start();
  const auto waiter = DefaultExecutor()->MakeWaiter("a minute without a server");
  (void)waiter->Wait({}, DefaultExecutor()->clock()->Now() + 60s);
  RealApiServer::Start();
  outage_.to = Now();
  Patch("one", R"({"settings":{"cache":"40Mi"}})");
  Create("two", {.replicas = 1});
  EXPECT_TRUE(Settle(120s));
}

TEST_F(OperatorTest, KeepsAThousandStores) {
  const auto first = Start("first");
  for (int i = 0; i < 1000; ++i) Create("store-" + std::to_string(i), {.replicas = 1});
  EXPECT_TRUE(Settle(600s));
  EXPECT_EQ(Must(stores_->List()).items.size(), 1000U);
}

}  // namespace
}  // namespace kgen::integration
