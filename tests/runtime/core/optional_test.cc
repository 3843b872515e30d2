// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/optional.h"

#include <sstream>
#include <utility>

#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::kLong;
using sample::Node;
using sample::Sample;
using sample::Spec;
using OptionalTest = sample::CoreTest;

// ---- Scalars. ----

TEST_F(OptionalTest, ReadsZeroFromAnAbsentScalarAndDoesNotCreateIt) {
  Sample s;
  s.spec.emplace();
  EXPECT_EQ(*s.spec->replicas, 0);
  EXPECT_EQ(*s.spec->suspend, false);
  EXPECT_EQ(*s.spec->ratio, 0.0);
  EXPECT_FALSE(s.spec->replicas.has_value());
  EXPECT_EQ(s.spec->replicas.value_or(7), 7);
}

TEST_F(OptionalTest, CountsZeroAndFalseAsValues) {
  Spec spec;
  spec.replicas = 0;
  spec.suspend = false;
  EXPECT_TRUE(spec.replicas.has_value());
  EXPECT_TRUE(spec.suspend.has_value());
  EXPECT_NE(spec.replicas, Optional<std::int32_t>());
  spec.replicas.reset();
  spec.suspend = kAbsent;
  EXPECT_EQ(spec.replicas, kAbsent);
  EXPECT_EQ(spec.suspend, kAbsent);
}

TEST_F(OptionalTest, ComparesAScalarWithAValueOnlyWhenPresent) {
  Optional<std::int32_t> absent;
  EXPECT_FALSE(absent == 0);
  EXPECT_TRUE(Optional<std::int32_t>(3) == 3);
  std::ostringstream out;
  out << Optional<std::int32_t>(3);
  EXPECT_EQ(out.str(), "3");
}

// ---- Structs. ----

// Contract: design D5.
TEST_F(OptionalTest, ReadsTheEmptyStructThroughAnAbsentOne) {
  const Sample s;
  EXPECT_EQ(s.spec->nodeName, "");
  EXPECT_EQ(s.spec->tree->child->child->name, "");
  EXPECT_TRUE(s.spec->ports.empty());
  EXPECT_EQ(s.spec->ports[3].name, "");
  EXPECT_EQ(s.spec->selector["app"], "");
  EXPECT_FALSE(s.spec.has_value());
  const Sample other;
  EXPECT_EQ(&*s.spec, &*other.spec) << "there is one empty instance";
}

// Contract: design D5.
TEST_F(OptionalTest, CreatesOnWritingThrough) {
  Sample s;
  s.spec->replicas = 3;
  EXPECT_TRUE(s.spec.has_value());
  EXPECT_EQ(std::as_const(s).spec->replicas, 3);
}

// Contract: design D5.
TEST_F(OptionalTest, CountsAStructThatWasOnlyReadAsAbsent) {
  Sample s;
  EXPECT_FALSE(s.spec->suspend.has_value());
  EXPECT_FALSE(s.spec.has_value());
  EXPECT_FALSE(s.spec);
  EXPECT_EQ(s, Sample());
  EXPECT_EQ(Hash(s), Hash(Sample()));
  EXPECT_TRUE(s.spec == kAbsent);
}

// Contract: design D5.
TEST_F(OptionalTest, CountsStructsThatWereOnlyReadAsAbsentAtAnyDepth) {
  Sample s;
  EXPECT_EQ(s.spec->tree->child->child->child->name, "");
  EXPECT_FALSE(s.spec.has_value());
  EXPECT_EQ(s, Sample());
  s.spec->tree->child->child->name = "set";
  EXPECT_TRUE(s.spec.has_value());
  EXPECT_TRUE(s.spec->tree.has_value());
  s.spec->tree->child->child->name.reset();
  EXPECT_FALSE(s.spec.has_value());
}

// Contract: design D5.
TEST_F(OptionalTest, DoesNotCountAStructAsPresentForAMapThatWasOnlyRead) {
  Sample s;
  EXPECT_EQ(s.spec->selector["app"], "");
  EXPECT_EQ(s.spec->nodes["a"].child->name, "");
  EXPECT_FALSE(s.spec->selector.has_value());
  EXPECT_FALSE(s.spec->nodes.has_value());
  EXPECT_FALSE(s.spec.has_value());
  EXPECT_EQ(s, Sample());
  EXPECT_EQ(Sample(s), Sample());
}

// Contract: design D5.
TEST_F(OptionalTest, CountsEmplacedBracedAndDecodedStructsAsPresent) {
  Sample s;
  s.status.emplace();
  EXPECT_TRUE(s.status.has_value());
  s.status.reset();
  EXPECT_FALSE(s.status.has_value());
  s.status = {};
  EXPECT_TRUE(s.status.has_value());
  s.status = kAbsent;
  EXPECT_FALSE(s.status.has_value());
  s.status = Node{};
  EXPECT_TRUE(s.status.has_value());
  EXPECT_TRUE((Node{.child = {}}).child.has_value());
  EXPECT_FALSE((Node{.child = kAbsent}).child.has_value());
  EXPECT_FALSE(Node{}.child.has_value());
  EXPECT_NE(Node{.child = {}}, Node{});
}

// Contract: design D5.
TEST_F(OptionalTest, StaysPresentWhenReadAfterEmplace) {
  Sample s;
  s.status.emplace();
  EXPECT_EQ(s.status->name, "");
  EXPECT_TRUE(s.status.has_value());
  EXPECT_NE(s, Sample());
}

// Contract: design D5.
TEST_F(OptionalTest, CopiesDeeplyAndSharesNothingThatChanges) {
  Sample a;
  a.spec->tree->name = kLong;
  Sample b = a;
  EXPECT_EQ(a, b);
  b.spec->tree->name = "other";
  EXPECT_EQ(a.spec->tree->name, kLong);
  EXPECT_NE(a, b);
}

TEST_F(OptionalTest, DoesNotCopyStructsThatWereOnlyRead) {
  Sample a;
  EXPECT_EQ(a.spec->nodeName, "");
  const std::int64_t before = LiveBlocks();
  const Sample b = a;
  EXPECT_EQ(LiveBlocks(), before);
  EXPECT_FALSE(b.spec.has_value());
}

TEST_F(OptionalTest, CanBeAssignedFromAPartOfItself) {
  Node n{.name = "a"};
  n.child->name = "b";
  n.child->child->name = "c";
  n.child = *n.child->child;
  EXPECT_EQ(n.child->name, "c");
  n.child->child->name = "d";
  n.child = std::move(n.child->child);
  EXPECT_EQ(n.child->name, "d");
  n.child = std::as_const(n).child;
  EXPECT_EQ(n.child->name, "d");
}

TEST_F(OptionalTest, LeavesAMovedFromStructAbsent) {
  Node a;
  a.child->name = kLong;
  const Node b = std::move(a);
  EXPECT_FALSE(a.child.has_value());  // NOLINT(bugprone-use-after-move): the case
  EXPECT_EQ(b.child->name, kLong);
}

TEST_F(OptionalTest, ComparesWithAStruct) {
  Node n;
  EXPECT_FALSE(n.child == Node{}) << "absent is not an empty struct";
  n.child.emplace();
  EXPECT_TRUE(n.child == Node{});
}

TEST_F(OptionalTest, WorksInDesignatedInitializers) {
  const Sample s{.metadata = {.name = "a"}, .spec = Spec{.replicas = 2, .suspend = true}};
  EXPECT_EQ(s.spec->replicas, 2);
  EXPECT_TRUE(*s.spec->suspend);
  EXPECT_FALSE(s.status.has_value());
}

}  // namespace
}  // namespace kgen
