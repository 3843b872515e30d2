// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The objects of every built-in kind from a real kube-apiserver, in protobuf and as JSON: informers list and watch each
// kind in both encodings, and their caches must be equal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <k8s/scheme.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cache/informer.h"
#include "cache/reflector/list_watch.h"
#include "client/request/accept.h"
#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/client/discovery.h"
#include "kgen/client/raw_resource.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/yaml.h"
#include "kgen/core/unstructured.h"
#include "tests/integration/eventually.h"
#include "tests/integration/kind_key.h"
#include "tests/integration/real_api_server.h"
#include "tests/integration/same_object.h"
#include "tests/support/owned_informer.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

constexpr std::string_view kProtobufNamespace = "every-kind-in-protobuf";

struct ProtobufFailures : Observer {
  void OnListOrWatchFailed(const ListOrWatchFailed& e) override { Add(e.error->ToString()); }
  void OnObjectRefused(const ObjectRefused& e) override { Add(e.error->ToString()); }
  void Add(std::string failure) {
    const std::lock_guard lock(mutex);
    failures.push_back(std::move(failure));
  }
  std::mutex mutex;
  std::vector<std::string> failures;
};

// The informers of a kind. The first two are of whole objects and of metadata as JSON.
struct Watched {
  const TypeTable* table;
  std::vector<testing::OwnedInformer> informers;

  // Keys and versions in the cache of an informer.
  static std::map<std::string, std::string> Versions(const testing::OwnedInformer& informer) {
    std::map<std::string, std::string> versions;
    const cache::AnySnapshot view = informer->store()->Snapshot();
    for (const ObjectKey& key : view.Keys()) versions[key.str()] = view.Get(key).metadata()->resourceVersion.str();
    return versions;
  }
  bool AgreesOn(const std::string& label) const {
    const auto expected = Versions(informers[0]);
    const cache::AnySnapshot view = informers[0]->store()->Snapshot();
    const std::vector<ObjectKey> keys = view.Keys();
    const bool labelled = std::ranges::any_of(
        keys, [&](const ObjectKey& key) { return view.Get(key).metadata()->labels.contains(label); });
    return labelled &&
           std::ranges::all_of(informers, [&](const auto& informer) { return Versions(informer) == expected; });
  }
};

class EveryKindInProtobufTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    rest::Config config = Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()}));
    config.observer = failures_;
    protobuf_.emplace(Must(Connection::Open(config)));
    config.protobuf = false;
    json_.emplace(Must(Connection::Open(config)));
    for (const TypeTable* table : k8s::Kinds()) {
      tables_[KindKey(table->kind->group, table->kind->version, table->kind->kind)] = table;
    }
    RealApiServer::Kubectl("create namespace " + std::string(kProtobufNamespace));
  }

  static testing::OwnedInformer Start(const Connection& connection, const KindInfo& kind, const TypeTable& table,
                                      bool streaming) {
    testing::OwnedInformer informer(
        MakeShared<cache::Informer>(connection, cache::MakeListWatch(connection, kind, {}, cache::FormOf(table)), table,
                                    cache::InformerSettings{.page_size = 2, .streaming_list = streaming}));
    informer->Start({});
    return informer;
  }

  // Starts informers of every kind that the server lists and watches.
  void WatchEveryKind() {
    for (const ApiResource& resource : Must(Discover(*json_)).resources) {
      const auto has = [&](const char* verb) {
        return std::ranges::find(resource.verbs, verb) != resource.verbs.end();
      };
      const auto found = tables_.find(KindKey(resource.kind.group, resource.kind.version, resource.kind.kind));
      if (found == tables_.end() || !has("list") || !has("watch")) continue;
      const TypeTable& table = *found->second;
      Watched& watched = watched_.emplace(found->first, Watched{&table, {}}).first->second;
      watched.informers.push_back(Start(*json_, *table.kind, table, true));
      watched.informers.push_back(Start(*json_, *table.kind, PartialObjectMetadata::kTable, true));
      watched.informers.push_back(Start(*protobuf_, *table.kind, table, true));
      watched.informers.push_back(Start(*protobuf_, *table.kind, PartialObjectMetadata::kTable, true));
    }
  }

  // Starts informers whose first objects come in pages.
  void ListEveryKind() {
    for (auto& [key, watched] : watched_) {
      watched.informers.push_back(Start(*protobuf_, *watched.table->kind, *watched.table, false));
      watched.informers.push_back(Start(*protobuf_, *watched.table->kind, PartialObjectMetadata::kTable, false));
    }
  }

  // Creates one object of each kind that can be watched, and changes it, so that there are events of two types.
  void CreateAndLabel() {
    std::string text = test_support::ReadFile(test_support::SourcePath("tests/integration/every_kind.yaml"));
    for (std::size_t at; (at = text.find("{ns}")) != std::string::npos;) text.replace(at, 4, kProtobufNamespace);
    // Only a controller that does not run here could delete a namespace, so no other test may use this one.
    for (std::size_t at; (at = text.find("every-namespace")) != std::string::npos;) {
      text.replace(at, 15, "namespace-in-protobuf");
    }
    const auto objects = yaml::Parse(text);
    ASSERT_TRUE(objects.has_value()) << objects.error().message;
    for (const yaml::Node& object : objects->documents()) {
      const std::string key =
          std::string(object.Find("apiVersion")->text()) + ' ' + std::string(object.Find("kind")->text());
      if (!watched_.contains(key)) continue;  // a review or a binding, which the server does not store
      SCOPED_TRACE(key);
      const KindInfo& kind = *watched_.at(key).table->kind;
      const bool namespaced = kind.scope == Scope::kNamespaced;
      const RawResource resource(*json_, kind, namespaced ? kProtobufNamespace : "");
      const std::string name(object.Find("metadata")->Find("name")->text());
      const auto created = json_->Call(Must(resource.Create("", yaml::ToJson(object), {})));
      ASSERT_TRUE(created.has_value()) << created.error();
      created_.emplace_back(&kind, name);
      const auto labelled =
          json_->Call(Must(resource.Patch(name, "", MergePatch(R"({"metadata":{"labels":{"seen":"yes"}}})"), {})));
      ASSERT_TRUE(labelled.has_value()) << labelled.error();
    }
  }

  // Removes finalizers too, whose controllers do not run here. Waits for what the server deletes later, such as a
  // definition of custom resources, because other tests create objects of the same names.
  void DeleteAll() {
    for (const auto& [kind, name] : created_) {
      const RawResource resource(*json_, *kind, kind->scope == Scope::kNamespaced ? kProtobufNamespace : "");
      const auto without_finalizers = MergePatch(R"({"metadata":{"finalizers":null}})");
      EXPECT_TRUE(json_->Call(Must(resource.Patch(name, "", without_finalizers, {}))).has_value()) << kind->kind;
      const auto deleted = json_->Call(Must(resource.Delete(name, {})));
      EXPECT_TRUE(deleted.has_value()) << kind->kind << ": " << deleted.error();
    }
    for (const auto& [kind, name] : created_) {
      // Namespaces stay, and have names of their own; and no other test uses the namespace of this one.
      if (kind->scope == Scope::kNamespaced || kind->kind == "Namespace") continue;
      const RawResource resource(*json_, *kind, "");
      EXPECT_TRUE(Eventually([&] {
        const auto read = json_->Call(Must(resource.Get(name, "", {})));
        return !read && read.error().code() == Code::kNotFound;
      })) << kind->kind
          << ' ' << name << " is not gone";
    }
  }

  // An object that the server sends whole may have other metadata: the conversion to the requested version adds
  // annotations to some kinds.
  static void ExpectEqualCaches(const Watched& watched) {
    const cache::AnySnapshot whole = watched.informers[0]->store()->Snapshot();
    const cache::AnySnapshot metadata = watched.informers[1]->store()->Snapshot();
    for (std::size_t i = 2; i < watched.informers.size(); ++i) {
      const cache::AnySnapshot view = watched.informers[i]->store()->Snapshot();
      for (const ObjectKey& key : view.Keys()) {
        const AnyRef object = view.Get(key);
        const AnyRef expected = &object.table() == watched.table ? whole.Get(key) : metadata.Get(key);
        // A controller of the server may have changed it meanwhile.
        if (!expected || object.metadata()->resourceVersion != expected.metadata()->resourceVersion) continue;
        ExpectEqual(expected, object, key.str());
      }
    }
  }

  // The media type in which the server lists a kind.
  std::string TypeOfList(const KindInfo& kind, const char* accept) const {
    ApiRequest request = Must(RawResource(*protobuf_, kind, "").List({}));
    request.accept = accept;
    return Must(protobuf_->Call(std::move(request))).content_type;
  }

  const Shared<ProtobufFailures> failures_ = MakeShared<ProtobufFailures>();
  std::optional<Connection> protobuf_, json_;
  std::map<std::string, const TypeTable*> tables_;
  std::map<std::string, Watched> watched_;
  std::vector<std::pair<const KindInfo*, std::string>> created_;
};

TEST_F(EveryKindInProtobufTest, ListsAndEventsOfEveryKindEqualThoseInJson) {
  WatchEveryKind();
  CreateAndLabel();
  ListEveryKind();
  std::set<std::string> without;
  for (const auto& [key, table] : tables_) {
    if (!watched_.contains(key)) without.insert(key.substr(key.find(' ') + 1));
  }
  // The server stores no objects of these, but of ComponentStatus, which it makes up for each list.
  EXPECT_THAT(without,
              ::testing::UnorderedElementsAre("Binding", "ComponentStatus", "Eviction", "LocalSubjectAccessReview",
                                              "SelfSubjectAccessReview", "SelfSubjectReview", "SelfSubjectRulesReview",
                                              "SubjectAccessReview", "TokenRequest", "TokenReview"));
  EXPECT_GE(watched_.size(), 50u);
  for (const auto& [key, watched] : watched_) {
    SCOPED_TRACE(key);
    EXPECT_TRUE(Eventually([&] { return watched.AgreesOn("seen"); })) << "the caches differ";
    ExpectEqualCaches(watched);
    const bool has_table = watched.table->wire != nullptr;
    EXPECT_EQ(has_table, !key.starts_with("apiextensions.k8s.io/") && !key.starts_with("apiregistration.k8s.io/"));
    EXPECT_TRUE(client::IsProtobuf(TypeOfList(*watched.table->kind, client::kAcceptProtobuf)));
    EXPECT_TRUE(client::IsProtobuf(TypeOfList(*watched.table->kind, client::kAcceptProtobufMetadataList)));
  }
  DeleteAll();
  const std::lock_guard lock(failures_->mutex);
  EXPECT_THAT(failures_->failures, ::testing::IsEmpty());
}

constexpr char kGauges[] = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"gauges.gauges.example.com"},"spec":{"group":"gauges.example.com","scope":"Namespaced",
  "names":{"plural":"gauges","kind":"Gauge"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{
  "openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

TEST_F(EveryKindInProtobufTest, TheMetadataOfCustomResourcesComesInProtobuf) {
  static constexpr KindInfo kGauge = {"gauges.example.com", "v1",   "Gauge", "GaugeList", "gauges", "gauge",
                                      Scope::kNamespaced,   nullptr};
  const KindInfo& definition = *tables_.at("apiextensions.k8s.io/v1 CustomResourceDefinition")->kind;
  Must(json_->Call(Must(RawResource(*json_, definition, "").Create("", kGauges, {}))));
  const auto create = [&](std::string_view name) {
    std::string gauge = R"({"apiVersion":"gauges.example.com/v1","kind":"Gauge","spec":{"bars":1},"metadata":)";
    gauge.append(R"({"labels":{"seen":"yes"},"name":")").append(name).append("\"}}");
    return json_->Call(Must(RawResource(*json_, kGauge, kProtobufNamespace).Create("", std::move(gauge), {})));
  };
  ASSERT_TRUE(Eventually([&] { return create("listed").has_value(); })) << "the server does not serve the resource";
  EXPECT_TRUE(client::IsProtobuf(TypeOfList(kGauge, client::kAcceptProtobufMetadataList)));
  Watched watched{&Unstructured::kTable, {}};
  watched.informers.push_back(Start(*json_, kGauge, Unstructured::kTable, true));
  for (const Connection* connection : {&*json_, &*protobuf_, &*protobuf_}) {
    const bool streaming = watched.informers.size() < 3;
    watched.informers.push_back(Start(*connection, kGauge, PartialObjectMetadata::kTable, streaming));
  }
  for (const auto& informer : watched.informers) {
    EXPECT_TRUE(Eventually([&] { return informer->HasSynced(); }));
  }
  Must(create("watched"));
  EXPECT_TRUE(Eventually([&] {
    return watched.informers[0]->store()->Snapshot().Keys().size() == 2 && watched.AgreesOn("seen");
  })) << "the caches differ";
  ExpectEqualCaches(watched);
  const std::string name(Must(Decode<Unstructured>(kGauges)).metadata.name);
  Must(json_->Call(Must(RawResource(*json_, definition, "").Delete(name, {}))));
  const std::lock_guard lock(failures_->mutex);
  EXPECT_THAT(failures_->failures, ::testing::IsEmpty());
}

}  // namespace
}  // namespace kgen::integration
