// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Informers that start from the cache of an earlier process, against a real kube-apiserver. Waits here use the wall
// clock; the server sends the first bookmark after about a minute.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/support/private_folder.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using k8s::core::v1::ConfigMap;
using ::testing::UnorderedElementsAre;

class WarmStartTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    auto config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = NullObserver();  // these tests kill the server
    connection_.emplace(Must(Connection::Open(config)));
    kubernetes_.emplace(*connection_);
    namespace_ = "warm-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    Must(kubernetes_->CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
  }

  auto Maps() { return kubernetes_->CoreV1().ConfigMaps(namespace_); }
  void Create(const std::string& name) {
    Must(Maps().Create({.metadata = {.name = name, .labels = {{"test", "warm"}}}}));
  }
  FactoryOptions Options() const {
    return {.namespace_ = namespace_,
            .defaults = {.label_selector = "test=warm",
                         .warm_start = WarmStart{.folder = folder_.path(), .save_every = 500ms}}};
  }
  // A process that has saved the objects of the server.
  void FirstProcess() {
    k8s::SharedInformerFactory factory(*kubernetes_, Options());
    (void)factory.Core().V1().ConfigMaps().Informer();
    factory.Start();
    Must(factory.WaitForCacheSync());
    ASSERT_TRUE(Eventually([&] { return !folder_.Files(".saved").empty(); }));
  }
  // The next process, until its cache is current.
  void NextProcess(std::uint64_t lists) {
    k8s::SharedInformerFactory factory(*kubernetes_, Options());
    const auto maps = factory.Core().V1().ConfigMaps();
    const Registration registration = maps.Informer().AddEventHandler(
        {.on_add = [this](const Added<ConfigMap>& e) { Note("+" + e.key.name.str(), e.reason); },
         .on_update = [this](const Updated<ConfigMap>& e) { Note("~" + e.key.name.str(), e.reason); },
         .on_delete = [this](const Deleted<ConfigMap>& e) { Note("-" + e.key.name.str(), e.reason); }});
    factory.Start();
    Must(factory.WaitForCacheSync({}, {.handlers = {&registration}, .stale = true}));
    EXPECT_THAT(Seen("saved"), UnorderedElementsAre("+a", "+b"));
    Must(factory.WaitForCacheSync({}, {.handlers = {&registration}, .give_up_after = 4min}));
    EXPECT_EQ(factory.status().front().lists, lists);
    std::vector<std::string> cached;
    for (const auto& map : maps.Lister().List()) cached.push_back(map->metadata.name.str());
    EXPECT_THAT(cached, UnorderedElementsAre("b", "c"));
    EXPECT_EQ(factory.status().front().stale, false);
  }
  void Note(const std::string& what, Reason reason) {
    const std::lock_guard lock(mutex_);
    seen_[std::string(ToString(reason))].push_back(what);
  }
  std::vector<std::string> Seen(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    return seen_[reason];
  }
  void ChangeEverything() {
    Must(Maps().Delete("a"));
    Must(Maps().Patch("b", MergePatch(R"({"data":{"changed":"yes"}})")));
    Create("c");
  }

  test_support::PrivateFolder folder_;
  std::optional<Connection> connection_;
  std::optional<k8s::Clientset> kubernetes_;
  std::string namespace_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> seen_;
};

TEST_F(WarmStartTest, ResumesTheWatchWithoutAListAndIsCurrentWithABookmark) {
  Create("a");
  Create("b");
  FirstProcess();
  ChangeEverything();
  NextProcess(0);
  EXPECT_THAT(Seen("watch"), UnorderedElementsAre("-a", "~b", "+c"));
}

TEST_F(WarmStartTest, ListsTheDifferencesIfTheServerHasForgottenTheHistory) {
  Create("a");
  Create("b");
  FirstProcess();
  ChangeEverything();
  RealApiServer::Restart(/*compact=*/true);
  NextProcess(1);
  EXPECT_THAT(Seen("relist"), UnorderedElementsAre("-a", "~b", "+c"));
}

}  // namespace
}  // namespace kgen::integration
