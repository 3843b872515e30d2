// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/list_watch.h"
#include "client/request/accept.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/core/unstructured.h"
#include "kgen/testing/simulation.h"
#include "tests/runtime/core/sample.h"
#include "tests/support/fake_transport.h"

namespace kgen::cache {
namespace {

using namespace kgen::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr KindInfo kPods = {"", "v1", "Pod", "PodList", "pods", "pod", Scope::kNamespaced, nullptr};
constexpr KindInfo kNodes = {"", "v1", "Node", "NodeList", "nodes", "node", Scope::kCluster, nullptr};

struct Sink : StreamSink {
  void OnOpen() override { received.push_back("open"); }
  void OnBytes(std::string_view bytes) override { received.push_back(std::string(bytes)); }
  void OnEnd(Result<void> end) override { received.push_back(end ? "end" : end.error().ToString()); }
  std::vector<std::string> received;
};

class ListWatchTest : public ::testing::Test {
 protected:
  Shared<ListWatch> Make(const KindInfo& kind, std::string namespace_ = "") {
    return MakeListWatch(connection_, kind, {.namespace_ = std::move(namespace_)});
  }
  std::string PathOf(std::size_t i) { return transport_->request(i).path; }
  void Run() { Must(simulation_.RunUntilIdle()); }

  Simulation simulation_{1};
  Shared<FakeTransport> transport_ = MakeShared<FakeTransport>();
  Connection connection_ = Connection::Over({.transport = transport_, .executor = simulation_.executor()});
  Shared<Strand> strand_ = simulation_.executor()->MakeStrand("test");
  Shared<Sink> sink_ = MakeShared<Sink>();
};

// Contract: informer LW-01.
TEST_F(ListWatchTest, ListsAndWatchesTheSameResourceOnTheStrand) {
  transport_->Reply({.body = "{}"});
  transport_->Hold();
  const auto source = Make(kPods, "default");
  EXPECT_EQ(source->Describe(), "pods in default");
  const auto list = source->List({.limit = 500, .resource_version = "0"}, strand_, sink_);
  Run();
  EXPECT_THAT(sink_->received, ElementsAre("open", "{}", "end"));
  EXPECT_THAT(PathOf(0), AllOf(StartsWith("/api/v1/namespaces/default/pods?"), HasSubstr("limit=500"),
                               HasSubstr("resourceVersion=0"), Not(HasSubstr("watch"))));
  const auto watch = source->Watch({.resource_version = "5", .allow_watch_bookmarks = true}, strand_, sink_);
  Run();
  EXPECT_THAT(PathOf(1), AllOf(HasSubstr("watch=true"), HasSubstr("allowWatchBookmarks=true")));
  EXPECT_TRUE(transport_->request(1).long_lived);
  watch->Cancel();
  Run();
  EXPECT_TRUE(transport_->at(1).cancelled());
  EXPECT_THAT(sink_->received.back(), HasSubstr("pods"));
}

TEST_F(ListWatchTest, AsksForTheNamespaceThatTellsClustersApart) {
  transport_->Reply({.body = "{}"});
  const auto call = Make(kPods, "default")->Cluster(strand_, sink_);
  Run();
  EXPECT_THAT(sink_->received, ElementsAre("open", "{}", "end"));
  EXPECT_EQ(PathOf(0), "/api/v1/namespaces/kube-system");
}

TEST_F(ListWatchTest, AsksForTheMetadataAloneIfThatIsItsForm) {
  transport_->Reply({.body = "{}"});
  transport_->Hold();
  transport_->Hold();
  const auto source =
      MakeListWatch(connection_, kPods, {.namespace_ = "default"}, FormOf(PartialObjectMetadata::kTable));
  EXPECT_EQ(source->Describe(), "pods (metadata) in default");
  const auto list = source->List({}, strand_, sink_);
  Run();
  EXPECT_EQ(HeaderOf(transport_->request(0), "accept"), client::kAcceptProtobufMetadataList);
  const auto watch = source->Watch({}, strand_, sink_);
  Run();
  EXPECT_EQ(HeaderOf(transport_->request(1), "accept"), client::kAcceptProtobufMetadata);
  watch->Cancel();
  source->UseJson();
  const auto again = source->Watch({}, strand_, sink_);
  Run();
  EXPECT_EQ(HeaderOf(transport_->request(2), "accept"), client::kAcceptMetadata);
  again->Cancel();
  Run();
}

TEST_F(ListWatchTest, AsksForProtobufIfTheTableHasItUntilJsonIsNeeded) {
  for (int i = 0; i < 4; ++i) transport_->Reply({.body = "{}"});
  const auto source = MakeListWatch(connection_, kPods, {}, FormOf(sample::Sample::kTable));
  const auto list = source->List({}, strand_, sink_);
  const auto watch = source->Watch({}, strand_, sink_);
  Run();
  for (const std::size_t i : {0, 1}) {
    EXPECT_EQ(HeaderOf(transport_->request(i), "accept"), "application/vnd.kubernetes.protobuf,application/json");
  }
  source->UseJson();
  const auto again = source->List({}, strand_, sink_);
  Run();
  EXPECT_EQ(HeaderOf(transport_->request(2), "accept"), "application/json");
  const auto other = Make(kPods)->List({}, strand_, sink_);
  Run();
  EXPECT_EQ(HeaderOf(transport_->request(3), "accept"), "application/json");
}

TEST_F(ListWatchTest, AsksForJsonAloneIfTheConfigSaysSo) {
  transport_->Reply({.body = "{}"});
  rest::Config config;
  config.host = "http://localhost";
  config.protobuf = false;
  config.executor = simulation_.executor();
  const Connection connection = Must(Connection::Over(config, transport_));
  const auto list = MakeListWatch(connection, kPods, {}, FormOf(sample::Sample::kTable))->List({}, strand_, sink_);
  Run();
  EXPECT_EQ(HeaderOf(transport_->request(0), "accept"), "application/json");
}

// Contract: informer FA-12, LW-02.
TEST_F(ListWatchTest, SelectsForListAndWatchAlike) {
  transport_->Hold();
  transport_->Hold();
  const auto source =
      MakeListWatch(connection_, kPods, {.label_selector = "app=web", .field_selector = "spec.nodeName=n1"});
  EXPECT_EQ(source->Describe(), "pods with app=web,spec.nodeName=n1");
  const auto list = source->List({.resource_version = "7"}, strand_, sink_);
  const auto watch = source->Watch({.resource_version = "7"}, strand_, sink_);
  Run();
  for (const std::size_t i : {0, 1}) {
    EXPECT_THAT(PathOf(i), AllOf(HasSubstr("labelSelector=app%3Dweb"), HasSubstr("fieldSelector=spec.nodeName%3Dn1")));
  }
  EXPECT_THAT(PathOf(1), HasSubstr("watch=true"));
  list->Cancel();
  watch->Cancel();
  Run();
}

TEST_F(ListWatchTest, IgnoresTheNamespaceForAClusterScopedKind) {
  transport_->Hold();
  const auto source = Make(kNodes, "default");
  EXPECT_EQ(source->Describe(), "nodes");
  const auto list = source->List({}, strand_, sink_);
  Run();
  EXPECT_EQ(PathOf(0), "/api/v1/nodes");
  list->Cancel();
  Run();
}

TEST_F(ListWatchTest, ReportsARequestThatCannotBeBuiltToTheSink) {
  const auto bad = Make(kPods, "a/b")->List({}, strand_, sink_);
  EXPECT_TRUE(sink_->received.empty());  // later, on the strand
  Run();
  EXPECT_EQ(transport_->size(), 0u);
  EXPECT_THAT(sink_->received, ElementsAre(HasSubstr("a/b")));
  bad->Cancel();
}

}  // namespace
}  // namespace kgen::cache
