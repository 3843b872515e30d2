// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a client remembers of its writes: how much work that makes for its reads, and how much memory it takes.
#include "controller/caches/own_writes.h"

#include "controller/caches/kind_cache.h"
#include "tests/runtime/controller/caches_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Warnings final : Observer {
  void OnLogged(const Logged& e) override {
    if (e.level == LogLevel::kWarning) texts.push_back(std::string(e.source) + ": " + std::string(e.message));
  }
  std::vector<std::string> texts;
};

class OwnWritesTest : public CachesFixture {
 protected:
  OwnWritesTest() : OwnWritesTest(MakeShared<Warnings>()) {}

  // A client whose cache has the config maps of one app.
  CachedClient& Ready(std::size_t limit = CachesOptions().max_remembered_writes) {
    CachedClient& client = MakeClient({.defaults = {.label_selector = "app=web"}, .max_remembered_writes = limit});
    Must(client.List<ConfigMap>());
    cache_ = Must(caches_->Of(ConfigMap::kTable, *ConfigMap::kTable.kind)).kind_cache();
    return client;
  }
  static ConfigMap Web(std::string_view name, std::string_view in = "default") {
    ConfigMap map = Map(name, "", in);
    map.metadata.labels["app"] = "web";
    return map;
  }
  // What Show() has looked at during the next read.
  template <typename F>
  std::uint64_t VisitsOf(F read) {
    const std::uint64_t before = cache_->visited();
    read();
    return cache_->visited() - before;
  }

  Shared<Warnings> warnings_;
  Shared<KindCache> cache_;

 private:
  explicit OwnWritesTest(const Shared<Warnings>& warnings)
      : CachesFixture({.observer = warnings}), warnings_(warnings) {}
};
INSTANTIATE_TEST_SUITE_P(Seeds, OwnWritesTest, ::testing::Range<std::uint64_t>(0, 5));

TEST_P(OwnWritesTest, AListVisitsNoMoreWritesThanItReturnsObjects) {
  CachedClient& client = Ready();
  for (int i = 0; i < 500; ++i) {
    const ConfigMap made = Must(client.Create(Map("m" + std::to_string(i))));
    if (i % 2 == 0) Must(client.Delete(made));
    if (i % 2 != 0) Must(client.Delete<ConfigMap>({"default", "m" + std::to_string(i)}));
  }
  EXPECT_EQ(cache_->remembered(), 500u);
  EXPECT_EQ(VisitsOf([&] { EXPECT_THAT(Names(client.List<ConfigMap>()), IsEmpty()); }), 0u);
  Must(client.Create(Web("a")));
  Must(client.Create(Web("b")));
  // The list visits an object once when it begins to wait, and once for each event.
  EXPECT_LE(VisitsOf([&] { EXPECT_THAT(Names(client.List<ConfigMap>()), ElementsAre("a", "b")); }), 4u);
  EXPECT_LE(VisitsOf([&] { EXPECT_THAT(Names(client.List<ConfigMap>()), ElementsAre("a", "b")); }), 2u);
}

TEST_P(OwnWritesTest, AListOfANamespaceDoesNotWaitForAnother) {
  Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", "shop")));
  CachedClient& client = Ready();
  Must(client.Create(Web("a")));
  Must(client.List<ConfigMap>());
  FreezeWatches();
  Must(client.Create(Web("b", "shop")));
  const TimePoint start = Now();
  EXPECT_THAT(Names(client.List<ConfigMap>({.namespace_ = "default"})), ElementsAre("a"));
  EXPECT_EQ(Now(), start);
  EXPECT_EQ(client.List<ConfigMap>({.namespace_ = "shop"}).error().code(), Code::kTimeout);
  EXPECT_EQ(client.List<ConfigMap>().error().code(), Code::kTimeout);
}

TEST_P(OwnWritesTest, AListWaitsForAnObjectThatLeavesTheSelectionOrEnds) {
  CachedClient& client = Ready();
  ConfigMap leaves = Must(client.Create(Web("leaves")));
  Must(client.Create(Web("ends")));
  Must(client.Create(Web("stays")));
  Must(client.List<ConfigMap>());
  FreezeWatches();
  leaves.metadata.labels["app"] = "db";
  Must(client.Update(leaves));
  const auto late = client.List<ConfigMap>();
  EXPECT_THAT(Names(late).front(), AllOf(HasSubstr("has written: default/leaves"), HasSubstr("the cache is at")));
  Must(client.Delete<ConfigMap>({"default", "ends"}));
  cluster_.ClearFaults();
  EXPECT_THAT(Names(client.List<ConfigMap>()), ElementsAre("stays"));
}

TEST_P(OwnWritesTest, RemembersNoMoreWritesThanTheLimitAndSaysSoOnce) {
  CachedClient& client = Ready(20);
  for (int i = 0; i < 100; ++i) Must(client.Create(Map("m" + std::to_string(i))));
  EXPECT_EQ(cache_->remembered(), 20u);
  ASSERT_THAT(warnings_->texts, SizeIs(1));
  EXPECT_THAT(warnings_->texts[0], AllOf(HasSubstr("cache of configmaps: more than 20 writes"),
                                         HasSubstr("CachesOptions::max_remembered_writes")));
  Must(client.Create(Web("a")));  // now the cache passes all of them
  EXPECT_THAT(Names(client.List<ConfigMap>()), ElementsAre("a"));
  EXPECT_EQ(cache_->remembered(), 0u);
  for (int i = 0; i < 30; ++i) Must(client.Create(Map("n" + std::to_string(i))));
  EXPECT_THAT(warnings_->texts, SizeIs(2));
}

TEST_P(OwnWritesTest, AListWaitsForNewObjectsWhoseWriteIsForgotten) {
  CachedClient& client = Ready(2);
  FreezeWatches();
  for (int i = 0; i < 5; ++i) Must(client.Create(Web("m" + std::to_string(i))));
  EXPECT_EQ(client.List<ConfigMap>().error().code(), Code::kTimeout);
  cluster_.ClearFaults();
  EXPECT_THAT(Names(client.List<ConfigMap>()), SizeIs(5));
}

}  // namespace
}  // namespace kgen::controller
