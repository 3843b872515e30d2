// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Informers that receive protobuf, over the in-memory cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cache/informer.h"
#include "cache/reflector/list_watch.h"
#include "client/request/accept.h"
#include "kgen/core/unstructured.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/core/sample.h"
#include "tests/support/owned_informer.h"

namespace kgen::cache {
namespace {

using sample::Sample;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kUrl = "/apis/test.kgen.dev/v1/samples";

struct Failures : Observer {
  void OnListOrWatchFailed(const ListOrWatchFailed& e) override { failures.push_back(e.error->ToString()); }
  void OnObjectRefused(const ObjectRefused& e) override { failures.push_back(e.error->ToString()); }
  void OnRelisted(const Relisted&) override { ++lists; }
  std::vector<std::string> failures;
  int lists = 0;
};

// Passes everything on, and records the content types of the answers.
class Spy final : public ListWatch {
 public:
  explicit Spy(Shared<ListWatch> source) : source_(std::move(source)) {}
  Shared<StreamCall> List(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return source_->List(options, std::move(strand), MakeShared<Sink>(types, std::move(sink)));
  }
  Shared<StreamCall> Watch(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return source_->Watch(options, std::move(strand), MakeShared<Sink>(types, std::move(sink)));
  }
  void UseJson() noexcept override { source_->UseJson(); }
  std::string Describe() const override { return source_->Describe(); }

  std::vector<std::string> types;

 private:
  class Sink final : public StreamSink {
   public:
    Sink(std::vector<std::string>& types, Shared<StreamSink> sink) : types_(types), sink_(std::move(sink)) {}
    void OnContentType(std::string_view type) override {
      types_.emplace_back(type);
      sink_->OnContentType(type);
    }
    void OnOpen() override { sink_->OnOpen(); }
    void OnBytes(std::string_view bytes) override { sink_->OnBytes(bytes); }
    void OnEnd(Result<void> end) override { sink_->OnEnd(std::move(end)); }

   private:
    std::vector<std::string>& types_;
    const Shared<StreamSink> sink_;
  };
  const Shared<ListWatch> source_;
};

class ProtobufInformerTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ProtobufInformerTest() : cluster_({.seed = GetParam(), .observer = told_, .kinds = sample::kKinds}) {
    const KindInfo& kind = *Sample::kTable.kind;
    cluster_.AddResource({.group = std::string(kind.group),
                          .version = std::string(kind.version),
                          .plural = std::string(kind.resource),
                          .singular = std::string(kind.singular),
                          .kind = std::string(kind.kind),
                          .list_kind = std::string(kind.list_kind)});
    connection_.emplace(cluster_.Connection());
  }

  void Start(InformerSettings settings = {}) {
    spy_ = MakeShared<Spy>(MakeListWatch(*connection_, *Sample::kTable.kind, {}, FormOf(Sample::kTable)));
    informer_ = MakeShared<Informer>(*connection_, spy_, Sample::kTable, settings);
    informer_.get()->Start({});
    cluster_.RunUntilIdle();
  }
  static Sample Named(std::string_view name, std::int32_t replicas) {
    Sample sample{.metadata = {.name = name, .namespace_ = "default"}};
    sample.spec->replicas = replicas;
    sample.spec->nodeName = "a node with a name that is longer than inline";
    sample.spec->limits = {{"cpu", "500m"}};
    sample.status->named["x"].name = "text";
    return sample;
  }
  // The objects of the cache, as the server has them: "a=1".
  std::vector<std::string> Cached() {
    const AnySnapshot view = informer_.get()->store()->Snapshot();
    std::vector<std::string> cached;
    for (const ObjectKey& key : view.Keys()) {
      const auto object = view.Get(key).As<Sample>();
      EXPECT_EQ(*object, Must(Decode<Sample>(Must(cluster_.Get("samples", "default", key.name.view())))));
      cached.push_back(key.name.str() + "=" + std::to_string(object->spec->replicas.value_or(-1)));
    }
    std::ranges::sort(cached);
    return cached;
  }
  // Stores an object that protobuf cannot express.
  void AddUnknownMember(std::string_view name, int replicas) {
    std::string json = Encode(Named(name, replicas));
    json.insert(json.find("\"spec\":{") + 8, R"("fromTheFuture":[1],)");
    Must(cluster_.Update(json));
  }

  const Shared<Failures> told_ = MakeShared<Failures>();
  testing::Cluster cluster_;
  std::optional<Connection> connection_;
  Shared<Spy> spy_;
  testing::OwnedInformer informer_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, ProtobufInformerTest, ::testing::Range<std::uint64_t>(1, 6));

TEST_P(ProtobufInformerTest, ListsAndWatchesInProtobuf) {
  Must(cluster_.Add(Named("a", 1)));
  for (const bool streaming : {true, false}) {
    Start({.page_size = 2, .streaming_list = streaming});
    Must(cluster_.Add(Named(streaming ? "b" : "c", 2)));
    Must(cluster_.Update(Named("a", 3)));
    cluster_.RunUntilIdle();
    EXPECT_THAT(spy_->types, Each(StartsWith(client::kProtobufType)));
    EXPECT_EQ(spy_->types.size(), streaming ? 1u : 2u);
    EXPECT_THAT(Cached(), Contains("a=3"));
  }
  Must(cluster_.Delete("samples", "default", "b"));
  cluster_.RunUntilIdle();
  EXPECT_THAT(Cached(), ElementsAre("a=3", "c=2"));
  EXPECT_THAT(told_->failures, IsEmpty());
}

TEST_P(ProtobufInformerTest, ARelistAfter410AndALostConnectionStayInProtobuf) {
  Must(cluster_.Add(Named("a", 1)));
  Start();
  cluster_.CutWatches();
  Must(cluster_.Add(Named("b", 2)));
  cluster_.Compact();
  cluster_.Advance(std::chrono::minutes(1));
  EXPECT_THAT(Cached(), ElementsAre("a=1", "b=2"));
  EXPECT_THAT(told_->failures, Each(HasSubstr("Expired")));
  EXPECT_THAT(spy_->types, Each(StartsWith(client::kProtobufType)));
}

TEST_P(ProtobufInformerTest, AServerThatWasRestoredIsNoticed) {
  Must(cluster_.Add(Named("a", 1)));
  cluster_.SaveCopy();
  Start();
  for (const char* name : {"lost", "lost-too", "lost-as-well"}) Must(cluster_.Add(Named(name, 2)));
  cluster_.RunUntilIdle();
  cluster_.RestoreCopy();
  Must(cluster_.Add(Named("b", 3)));  // with the version of an object that is lost
  cluster_.Advance(std::chrono::minutes(1));
  EXPECT_THAT(Cached(), ElementsAre("a=1", "b=3"));
  EXPECT_THAT(spy_->types, Each(StartsWith(client::kProtobufType)));
}

TEST_P(ProtobufInformerTest, AnEventThatTheTableDoesNotKnowComesAgainAsJson) {
  Must(cluster_.Add(Named("a", 1)));
  Start();
  Must(cluster_.Add(Named("b", 2)));
  AddUnknownMember("a", 3);
  Must(cluster_.Add(Named("c", 4)));
  cluster_.RunUntilIdle();
  EXPECT_THAT(Cached(), ElementsAre("a=3", "b=2", "c=4"));
  const auto object = informer_.get()->store()->Snapshot().Get({"default", "a"}).As<Sample>();
  EXPECT_EQ(object->spec->unknown_fields.size(), 1u);
  EXPECT_THAT(spy_->types, ElementsAre(StartsWith(client::kProtobufType), "application/json"));
  ASSERT_EQ(told_->failures.size(), 1u);
  EXPECT_THAT(told_->failures[0], HasSubstr("samples.test.kgen.dev/v1 come as JSON from now on"));
  EXPECT_THAT(told_->failures[0], HasSubstr("which this program does not know"));
  EXPECT_EQ(told_->lists, 1);  // the watch has continued where it was
  AddUnknownMember("b", 5);
  cluster_.RunUntilIdle();
  EXPECT_THAT(Cached(), Contains("b=5"));
  EXPECT_EQ(told_->failures.size(), 1u);
}

TEST_P(ProtobufInformerTest, AStreamingListThatTheTableDoesNotKnowComesAgainAsJson) {
  Must(cluster_.Add(Named("a", 1)));
  Must(cluster_.Add(Named("b", 2)));
  AddUnknownMember("b", 3);
  Start();
  EXPECT_THAT(Cached(), ElementsAre("a=1", "b=3"));
  EXPECT_THAT(spy_->types, ElementsAre(StartsWith(client::kProtobufType), "application/json"));
  EXPECT_EQ(told_->failures.size(), 1u);
}

TEST_P(ProtobufInformerTest, MetadataAloneComesInProtobufForCustomResourcesToo) {
  Must(cluster_.Add(R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "gauges.shop.example"}, "spec": {"group": "shop.example", "scope": "Namespaced",
      "names": {"plural": "gauges", "kind": "Gauge"}, "versions": [{"name": "v1", "served": true, "storage": true,
      "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})"));
  static constexpr KindInfo kGauge = {"shop.example",     "v1",   "Gauge", "GaugeList", "gauges", "gauge",
                                      Scope::kNamespaced, nullptr};
  const auto gauge = [](std::string_view name, std::string_view label) {
    return R"({"apiVersion":"shop.example/v1","kind":"Gauge","metadata":{"name":")" + std::string(name) +
           R"(","namespace":"default","labels":{"x":")" + std::string(label) + R"("}},"spec":{"a":1}})";
  };
  Must(cluster_.Add(gauge("a", "1")));
  for (const bool streaming : {true, false}) {
    spy_ = MakeShared<Spy>(MakeListWatch(*connection_, kGauge, {}, FormOf(PartialObjectMetadata::kTable)));
    informer_ = MakeShared<Informer>(*connection_, spy_, PartialObjectMetadata::kTable,
                                     InformerSettings{.streaming_list = streaming});
    informer_.get()->Start({});
    cluster_.RunUntilIdle();
    Must(cluster_.Add(gauge(streaming ? "b" : "c", "2")));
    cluster_.RunUntilIdle();
    EXPECT_THAT(spy_->types, Each(StartsWith(client::kProtobufType)));
    const AnySnapshot view = informer_.get()->store()->Snapshot();
    EXPECT_EQ(view.Keys().size(), streaming ? 2u : 3u);
    for (const ObjectKey& key : view.Keys()) {
      const auto stored = Must(Decode<Unstructured>(Must(cluster_.Get("gauges", "default", key.name.view()))));
      const auto part = view.Get(key).As<PartialObjectMetadata>();
      EXPECT_EQ(part->metadata, stored.metadata);
    }
  }
  EXPECT_THAT(told_->failures, IsEmpty());
}

TEST_P(ProtobufInformerTest, ARefusalInProtobufIsReadAsOneInJson) {
  struct Sink final : StreamSink {
    void OnOpen() override {}
    void OnBytes(std::string_view) override {}
    void OnEnd(Result<void> end) override { ended = std::move(end); }
    Result<void> ended;
  };
  const auto refused = [&](const char* accept) {
    const auto sink = MakeShared<Sink>();
    const auto call = connection_->Stream(
        {.method = "GET", .path = kUrl, .query = "resourceVersion=99999", .what = "list samples", .accept = accept},
        connection_->executor().MakeStrand("test"), sink);
    cluster_.RunUntilIdle();
    EXPECT_FALSE(sink->ended);
    return sink->ended ? std::string() : sink->ended.error().ToString();
  };
  EXPECT_THAT(refused(client::kAcceptProtobuf), HasSubstr("Too large resource version"));
  EXPECT_EQ(refused(client::kAcceptProtobuf), refused("application/json"));
}

}  // namespace
}  // namespace kgen::cache
