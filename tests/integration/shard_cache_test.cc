// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The cache of a shard on a real API server, with and without the gate ShardedListAndWatch: it has the same objects,
// and only a server with the gate sends no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/informer.h"
#include "cache/reflector/list_watch.h"
#include "kgen/client/config.h"
#include "kgen/client/dynamic_client.h"
#include "kgen/core/unstructured.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/support/owned_informer.h"

namespace kgen::integration {
namespace {

using namespace std::chrono_literals;
using Names = std::set<std::string>;

constexpr KindInfo kConfigMap = {.group = "",
                                 .version = "v1",
                                 .kind = "ConfigMap",
                                 .list_kind = "ConfigMapList",
                                 .resource = "configmaps",
                                 .singular = "configmap",
                                 .scope = Scope::kNamespaced,
                                 .list = nullptr};

// Counts the bytes of all answers.
class CountingListWatch final : public cache::ListWatch {
 public:
  explicit CountingListWatch(Shared<cache::ListWatch> source) : source_(std::move(source)) {}
  Shared<StreamCall> List(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    ++lists;
    return source_->List(options, std::move(strand), Count(std::move(sink)));
  }
  Shared<StreamCall> Watch(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return source_->Watch(options, std::move(strand), Count(std::move(sink)));
  }
  Shared<client::ReconnectGate> gate() const override { return source_->gate(); }
  std::string Describe() const override { return source_->Describe(); }

  std::atomic<std::size_t> bytes = 0, lists = 0;

 private:
  class Sink final : public StreamSink {
   public:
    Sink(std::atomic<std::size_t>& bytes, Shared<StreamSink> sink) : bytes_(bytes), sink_(std::move(sink)) {}
    void OnContentType(std::string_view type) override { sink_->OnContentType(type); }
    void OnOpen() override { sink_->OnOpen(); }
    void OnBytes(std::string_view bytes) override {
      bytes_ += bytes.size();
      sink_->OnBytes(bytes);
    }
    void OnEnd(Result<void> end) override { sink_->OnEnd(std::move(end)); }

   private:
    std::atomic<std::size_t>& bytes_;
    const Shared<StreamSink> sink_;
  };
  Shared<StreamSink> Count(Shared<StreamSink> sink) { return MakeShared<Sink>(bytes, std::move(sink)); }

  const Shared<cache::ListWatch> source_;
};

struct Form {
  bool gate, streaming;
};

class ShardCacheTest : public ::testing::TestWithParam<Form> {
 protected:
  static constexpr int kObjects = 40;

  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    RealApiServer::RestartWithFlags(GetParam().gate ? "--feature-gates=ShardedListAndWatch=true" : "");
    connection_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    namespace_ = "shard-cache-" + std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
    RealApiServer::Kubectl("create namespace " + namespace_);
    maps_.emplace(DynamicClient(*connection_).ForResource({"", "v1", "configmaps"}, namespace_));
    for (int i = 0; i < kObjects; ++i) Create("map-" + std::to_string(i));
    std::vector<std::uint64_t> hashes;
    for (const auto& [name, hash] : hashes_) hashes.push_back(hash);
    std::ranges::sort(hashes);
    middle_ = hashes[hashes.size() / 2];
  }
  void TearDown() override {
    if (!RealApiServer::Present()) return;
    if (informer_) {
      informer_->Stop();
      Must(informer_->Join({}));
    }
    RealApiServer::Kubectl("delete namespace --wait=false " + namespace_);
    if (GetParam().gate) RealApiServer::RestartWithFlags("");
  }

  void Create(const std::string& name) {
    Unstructured map = Must(Decode<Unstructured>(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" +
                                                 name + R"("},"data":{"text":")" + std::string(2000, 'x') + "\"}}"));
    hashes_[name] = ShardHash(Must(maps_->Create(map)).metadata.uid);
  }
  void Delete(const std::string& name) {
    Must(maps_->Delete(name));
    hashes_.erase(name);
  }
  Names Of(const ShardRanges& ranges) const {
    Names names;
    for (const auto& [name, hash] : hashes_) {
      if (ranges.Contains(hash)) names.insert(name);
    }
    return names;
  }
  Names Cached() const {
    Names names;
    for (const ObjectKey& key : informer_->store()->Snapshot().Keys()) names.insert(key.name.str());
    return names;
  }
  void Start() {
    source_ = MakeShared<CountingListWatch>(cache::MakeListWatch(*connection_, kConfigMap, {.namespace_ = namespace_}));
    informer_ = MakeShared<cache::Informer>(
        *connection_, source_, Unstructured::kTable,
        cache::InformerSettings{.streaming_list = GetParam().streaming, .shard_by = ShardBy::kUid});
    informer_->Start({});
  }
  // The first list may lack the objects that were created last: the server answers it from its watch cache.
  void Hold(const ShardRanges& ranges) {
    const std::uint64_t number = informer_->Hold(ranges);
    Must(informer_->WaitUntilHeld(number, {}, DefaultExecutor()->clock()->Now() + 30s));
    const Names expected = Of(ranges);
    const Names others = Without(Cached(), expected);
    EXPECT_TRUE(others.empty()) << ::testing::PrintToString(others);
    EXPECT_TRUE(Eventually([&] { return Cached() == expected; }))
        << "missing: " << ::testing::PrintToString(Without(expected, Cached()));
  }
  static Names Without(const Names& all, const Names& some) {
    Names rest;
    std::ranges::set_difference(all, some, std::inserter(rest, rest.end()));
    return rest;
  }

  std::optional<Connection> connection_;
  std::optional<DynamicResource> maps_;
  std::string namespace_;
  std::map<std::string, std::uint64_t> hashes_;
  std::uint64_t middle_ = 0;  // half of the objects are before it
  Shared<CountingListWatch> source_;
  testing::OwnedInformer informer_;
};

TEST_P(ShardCacheTest, HasTheObjectsOfItsRangesWhetherTheServerFiltersOrNot) {
  const ShardRanges lower{{0, middle_ - 1}}, upper{{middle_, UINT64_MAX}};
  Start();
  Hold(lower);
  const std::size_t bytes = source_->bytes;
  const std::size_t all = kObjects * 2000;
  EXPECT_TRUE(GetParam().gate ? bytes < all * 3 / 4 : bytes > all) << bytes;
  EXPECT_EQ(source_->lists, GetParam().streaming ? 0u : 1u);

  for (int i = 0; i < 20; ++i) Create("later-" + std::to_string(i));
  for (int i = 0; i < 20; ++i) Delete("map-" + std::to_string(i));
  EXPECT_TRUE(Eventually([&] { return Cached() == Of(lower); }));
  // The cache may not know the last writes to the other half yet, and a list for new ranges is only as new as what the
  // cache knows.
  Must(informer_->WaitUntilHeld(informer_->ListAnew(), {}, DefaultExecutor()->clock()->Now() + 30s));
  Hold(upper);
  Hold(ShardRanges::All());
  Hold(lower);
  Hold({});
  EXPECT_EQ(informer_->status().state, cache::InformerState::kIdle);
  Hold(upper);
  EXPECT_EQ(informer_->status().refused, 0u);
}

INSTANTIATE_TEST_SUITE_P(Servers, ShardCacheTest,
                         ::testing::Values(Form{false, false}, Form{false, true}, Form{true, false}, Form{true, true}),
                         [](const auto& info) {
                           return std::string(info.param.gate ? "WithTheGate" : "WithoutTheGate") +
                                  (info.param.streaming ? "Streaming" : "Listing");
                         });

}  // namespace
}  // namespace kgen::integration
