// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/object_key.h"

#include <sstream>
#include <unordered_set>

#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using ObjectKeyTest = sample::CoreTest;

// Contract: informer KT-01.
TEST_F(ObjectKeyTest, WritesNamespaceAndNameOrTheNameAlone) {
  EXPECT_EQ(ObjectKey::Namespaced("default", "web-0").str(), "default/web-0");
  EXPECT_EQ(ObjectKey::ClusterWide("node-1").str(), "node-1");
  std::ostringstream out;
  out << ObjectKey::Namespaced("default", "web-0") << ' ' << ObjectKey::ClusterWide("node-1");
  EXPECT_EQ(out.str(), "default/web-0 node-1");
}

// A namespace or a name? Neither, until it is said.
template <typename... Text>
concept MakesAKey = requires(Text... text) { ObjectKey{text...}; };
static_assert(MakesAKey<const char*, const char*> && MakesAKey<String, std::string>);
static_assert(!MakesAKey<const char*> && !MakesAKey<String> && !MakesAKey<std::string>);

TEST_F(ObjectKeyTest, IsNamespacedOrClusterWideByName) {
  const ObjectKey pod = ObjectKey::Namespaced("default", "web-0");
  EXPECT_EQ(pod.namespace_, "default");
  EXPECT_EQ(pod.name, "web-0");
  EXPECT_EQ(pod, (ObjectKey{"default", "web-0"}));
  const ObjectKey node = ObjectKey::ClusterWide("node-1");
  EXPECT_TRUE(node.namespace_.empty());
  EXPECT_EQ(node.name, "node-1");
}

// Contract: informer KT-02.
TEST_F(ObjectKeyTest, SplitsOneAndTwoPartsAndRefusesMore) {
  EXPECT_EQ(Must(ObjectKey::Parse("default/web-0")), (ObjectKey{"default", "web-0"}));
  EXPECT_EQ(Must(ObjectKey::Parse("node-1")), (ObjectKey{"", "node-1"}));
  for (const char* text : {"a/b/c", "a//b", "//"}) {
    const auto key = ObjectKey::Parse(text);
    ASSERT_FALSE(key.has_value()) << text;
    EXPECT_EQ(key.error().code(), Code::kInvalidArgument);
    EXPECT_NE(key.error().message().find("unexpected key format"), std::string::npos);
  }
}

TEST_F(ObjectKeyTest, OrdersByNamespaceAndThenByName) {
  EXPECT_LT((ObjectKey{"a", "z"}), (ObjectKey{"b", "a"}));
  EXPECT_LT((ObjectKey{"a", "a"}), (ObjectKey{"a", "b"}));
  EXPECT_LT((ObjectKey{"", "z"}), (ObjectKey{"a", "a"}));
  EXPECT_EQ((ObjectKey{String(), "a"}), (ObjectKey{"", "a"}));
}

TEST_F(ObjectKeyTest, IsAKeyOfHashTables) {
  const std::unordered_set<ObjectKey> keys{{"a", "b"}, {"b", "a"}, {"", "ab"}};
  EXPECT_TRUE(keys.contains({"b", "a"}));
  EXPECT_FALSE(keys.contains({"a", "a"}));
  EXPECT_EQ(std::hash<ObjectKey>()({String(), "a"}), std::hash<ObjectKey>()({"", "a"}));
}

TEST_F(ObjectKeyTest, WritesGroupsAsTheApiDoes) {
  EXPECT_EQ((GroupVersion{"apps", "v1"}).str(), "apps/v1");
  EXPECT_EQ((GroupVersion{"", "v1"}).str(), "v1");
  EXPECT_EQ((GroupVersionKind{"apps", "v1", "Deployment"}).str(), "apps/v1, Kind=Deployment");
  EXPECT_EQ((GroupVersionResource{"apps", "v1", "deployments"}).str(), "deployments.v1.apps");
  EXPECT_EQ((GroupVersionResource{"", "v1", "pods"}).str(), "pods.v1");
  std::ostringstream out;
  out << GroupVersion{"apps", "v1"} << "; " << GroupVersionKind{"", "v1", "Pod"} << "; "
      << GroupVersionResource{"apps", "v1", "deployments"};
  EXPECT_EQ(out.str(), "apps/v1; v1, Kind=Pod; deployments.v1.apps");
}

TEST_F(ObjectKeyTest, ReadsApiVersions) {
  EXPECT_EQ(Must(GroupVersion::Parse("v1")), (GroupVersion{"", "v1"}));
  EXPECT_EQ(Must(GroupVersion::Parse("apps/v1")), (GroupVersion{"apps", "v1"}));
  EXPECT_FALSE(GroupVersion::Parse("a/b/c").has_value());
}

}  // namespace
}  // namespace kgen
