// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventRecorder on a real kube-apiserver: what it writes passes the server's validation.
#include "kgen/controller/event_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/events/v1/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/memory/mutex.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::Namespace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Drops : public Observer {
 public:
  void OnEventDropped(const EventDropped& e) override {
    const MutexLock lock(mutex_);
    told_.emplace_back(e.why);
  }
  std::vector<std::string> told() {
    const MutexLock lock(mutex_);
    return told_;
  }

 private:
  Mutex mutex_;
  std::vector<std::string> told_ KGEN_GUARDED_BY(mutex_);
};

class EventRecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    auto config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = drops_;
    clientset_.emplace(Must(Connection::Open(config)));
    namespace_ = "events-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    owner_ = Must(clientset_->CoreV1().Namespaces().Create({.metadata = {.name = namespace_}}));
    object_ = Must(clientset_->CoreV1().ConfigMaps(namespace_).Create({.metadata = {.name = "settings"}}));
    recorder_.emplace(clientset_->connection(), EventRecorderOptions{.controller = "shop.example.com/orders"});
  }
  auto Events() { return Must(clientset_->EventsV1().Events(namespace_).List()); }
  bool Written(std::uint64_t count) {
    return Eventually([&] { return recorder_->counts().written >= count; });
  }

  const Shared<Drops> drops_ = MakeShared<Drops>();
  std::optional<k8s::Clientset> clientset_;
  std::string namespace_;
  Namespace owner_;
  ConfigMap object_;
  std::optional<EventRecorder> recorder_;
};

// Contract: controller 206, 207.
TEST_F(EventRecorderTest, WritesEventsAndSeriesThatTheServerAccepts) {
  const auto loaded = [&] {
    recorder_->Event(object_, owner_, {.reason = "Loaded", .action = "Load", .note = "3 entries \xE2\x82\xAC"});
  };
  loaded();
  ASSERT_TRUE(Written(1)) << ::testing::PrintToString(drops_->told());
  loaded();
  ASSERT_TRUE(Written(2)) << ::testing::PrintToString(drops_->told());
  loaded();
  const auto stopped = recorder_->Stop();  // writes the last count
  EXPECT_TRUE(stopped) << stopped;
  EXPECT_THAT(drops_->told(), IsEmpty());

  const auto events = Events();
  ASSERT_THAT(events, SizeIs(1));
  const auto& event = events[0];
  EXPECT_EQ(event.series->count, 3);
  EXPECT_GE(event.series->lastObservedTime, event.eventTime);
  EXPECT_EQ(event.reason, "Loaded");
  EXPECT_EQ(event.action, "Load");
  EXPECT_EQ(event.note, "3 entries \xE2\x82\xAC");
  EXPECT_EQ(event.type, "Normal");
  EXPECT_EQ(event.regarding->kind, "ConfigMap");
  EXPECT_EQ(event.regarding->uid, object_.metadata.uid);
  EXPECT_EQ(event.regarding->resourceVersion, object_.metadata.resourceVersion);
  EXPECT_EQ(event.related->kind, "Namespace");
  EXPECT_EQ(event.related->name, namespace_);
  EXPECT_EQ(event.reportingController, "shop.example.com/orders");
  EXPECT_THAT(RealApiServer::Kubectl("-n " + namespace_ + " describe configmap settings"), HasSubstr("3 entries"));
}

TEST_F(EventRecorderTest, KeepsToTheLimitsOfTheServer) {
  // The longest text that the recorder leaves alone; it shortens notes and names.
  const std::string word(128, 'W');
  recorder_->Event(object_,
                   {.type = EventType::kWarning, .reason = word, .action = word, .note = std::string(5000, 'n')});
  recorder_->Event(object_, {.reason = "Binary", .action = "Read", .note = std::string(2000, '\xFF')});
  ConfigMap longest =
      Must(clientset_->CoreV1().ConfigMaps(namespace_).Create({.metadata = {.name = std::string(253, 'a')}}));
  recorder_->Event(longest, {.reason = "Loaded", .action = "Load"});
  recorder_->Event(owner_, {.reason = "Checked", .action = "Check"});  // into "default"
  EXPECT_TRUE(recorder_->Stop());
  EXPECT_THAT(drops_->told(), IsEmpty());
  EXPECT_EQ(recorder_->counts().written, 4u);
  EXPECT_THAT(Events(), SizeIs(3));
}

TEST_F(EventRecorderTest, CreatesASeriesAgainThatSomebodyDeleted) {
  recorder_->Event(object_, {.reason = "Loaded", .action = "Load"});
  ASSERT_TRUE(Written(1)) << ::testing::PrintToString(drops_->told());
  Must(clientset_->EventsV1().Events(namespace_).Delete(Events()[0].metadata.name));
  recorder_->Event(object_, {.reason = "Loaded", .action = "Load"});
  ASSERT_TRUE(Written(2)) << ::testing::PrintToString(drops_->told());
  ASSERT_THAT(Events(), SizeIs(1));
  EXPECT_EQ(Events()[0].series->count, 2);
}

TEST_F(EventRecorderTest, DropsWhatAUserWithoutRightsRecords) {
  auto config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig(), .context = "reader"}));
  config.observer = drops_;
  const EventRecorder reader(Must(Connection::Open(config)), {.controller = "shop.example.com/orders"});
  reader.Event(object_, {.reason = "Loaded", .action = "Load"});
  EXPECT_TRUE(reader.Stop());
  EXPECT_EQ(reader.counts().refused, 1u);
  EXPECT_THAT(drops_->told(), ElementsAre(HasSubstr("grant create and patch on events")));
}

TEST_F(EventRecorderTest, WritesWhatWasRecordedWhileTheServerWasDown) {
  recorder_->Event(object_, {.reason = "Loaded", .action = "Load"});
  ASSERT_TRUE(Written(1)) << ::testing::PrintToString(drops_->told());
  RealApiServer::Kill();
  recorder_->Event(object_, {.reason = "Loaded", .action = "Load"});
  recorder_->Event(object_, {.reason = "Changed", .action = "Load"});
  RealApiServer::Start();
  ASSERT_TRUE(Written(3)) << ::testing::PrintToString(drops_->told());
  EXPECT_THAT(Events(), SizeIs(2));
  EXPECT_THAT(drops_->told(), IsEmpty());
}

}  // namespace
}  // namespace kgen::integration
