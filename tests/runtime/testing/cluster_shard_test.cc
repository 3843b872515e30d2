// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The in-memory cluster with the gate ShardedListAndWatch, and without it.
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/shard_ranges.h"
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kAllPods[] = "/api/v1/pods";

class ShardedClusterTest : public ClusterTest {
 protected:
  explicit ShardedClusterTest(bool gate = true) : ClusterTest({.seed = 1, .sharded_lists = gate}) {
    for (const char* in : {"x", "y"}) {
      for (const char* name : {"a", "b"}) Must(cluster_.Add(MinimalPod(in, name)));
    }
  }
  static std::string Encoded(std::string_view text) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string encoded;
    for (const char c : text) {
      encoded += '%';
      encoded += kDigits[static_cast<unsigned char>(c) >> 4];
      encoded += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return encoded;
  }
  static std::string Query(std::string_view selector) { return "shardSelector=" + Encoded(selector); }
  static std::string Select(ShardBy by, const ShardRanges& ranges) { return Query(Must(ranges.Selector(by))); }
  static ShardRanges Of(std::string_view key) { return ShardRanges{{ShardHash(key), ShardHash(key)}}; }
  std::vector<std::string> Names(const json& list) {
    std::vector<std::string> names;
    for (const json& item : list["items"]) {
      const json& metadata = item["metadata"];
      names.push_back(metadata["namespace"].get<std::string>() + "/" + metadata["name"].get<std::string>());
    }
    return names;
  }
};

TEST_F(ShardedClusterTest, ListsWhatTheSelectorSelectsAndSaysSo) {
  const json of_namespace = Get(kAllPods, Select(ShardBy::kNamespace, Of("y")));
  EXPECT_THAT(Names(of_namespace), ElementsAre("y/a", "y/b"));
  EXPECT_EQ(of_namespace["metadata"]["shardInfo"]["selector"], Must(Of("y").Selector(ShardBy::kNamespace)));
  const std::string uid = json::parse(Must(cluster_.Get("pods", "x", "b")))["metadata"]["uid"];
  EXPECT_THAT(Names(Get(kAllPods, Select(ShardBy::kUid, Of(uid)))), ElementsAre("x/b"));
  EXPECT_EQ(Names(Get(kAllPods, Select(ShardBy::kUid, ShardRanges::All()))).size(), 4u);
  EXPECT_FALSE(Get(kAllPods)["metadata"].contains("shardInfo"));
}

TEST_F(ShardedClusterTest, CountsPagesByWhatTheSelectorSelects) {
  const std::string query = Select(ShardBy::kNamespace, Of("y"));
  const json first = Get(kAllPods, query + "&limit=1");
  EXPECT_THAT(Names(first), ElementsAre("y/a"));
  EXPECT_FALSE(first["metadata"].contains("remainingItemCount"));
  const json second = Get(kAllPods, query + "&limit=1&continue=" + first["metadata"]["continue"].get<std::string>());
  EXPECT_THAT(Names(second), ElementsAre("y/b"));
  EXPECT_FALSE(second["metadata"].contains("continue"));
}

TEST_F(ShardedClusterTest, SendsAWatchOnlyWhatItSelects) {
  const auto watch = Watch(kAllPods, Select(ShardBy::kNamespace, Of("y")));
  EXPECT_THAT(watch->lines, ElementsAre("ADDED a", "ADDED b"));
  Must(cluster_.Delete("pods", "x", "a"));
  Must(cluster_.Add(MinimalPod("x", "c")));
  Must(cluster_.Delete("pods", "y", "a"));
  cluster_.RunUntilIdle();
  EXPECT_THAT(watch->lines, ElementsAre("ADDED a", "ADDED b", "DELETED a"));
}

TEST_F(ShardedClusterTest, RefusesASelectorThatServersDoNotTake) {
  const char* const kNone[] = {"shardRange(object.metadata.uid, '0x0', '0x8000000000000000')",
                               "shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')",
                               "shardRange(object.metadata.uid, '0x8000000000000000', '0x8000000000000000')",
                               "shardRange(object.metadata.uid, '0x000000000000000A', '0x8000000000000000')",
                               "shardRange(object.metadata.uid, '0x10000000000000000', '0x10000000000000000')",
                               "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000') ||",
                               ("shardRange(object.metadata.uid, '0x0000000000000000', '0x1000000000000000') || "
                                "shardRange(object.metadata.namespace, '0x1000000000000000', '0x8000000000000000')"),
                               "object.metadata.uid"};
  for (const char* selector : kNone) {
    Get(kAllPods, Query(selector));
    EXPECT_EQ(last_status_, 500) << selector;
    EXPECT_THAT(last_error_, HasSubstr("invalid shard selector"));
  }
}

class UnshardedClusterTest : public ShardedClusterTest {
 protected:
  UnshardedClusterTest() : ShardedClusterTest(false) {}
};

TEST_F(UnshardedClusterTest, IgnoresTheSelector) {
  const json list = Get(kAllPods, Select(ShardBy::kNamespace, Of("y")));
  EXPECT_EQ(Names(list).size(), 4u);
  EXPECT_FALSE(list["metadata"].contains("shardInfo"));
  EXPECT_EQ(Watch(kAllPods, Query("nonsense"))->lines.size(), 4u);
}

}  // namespace
}  // namespace kgen::testing
