// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/ref.h"

#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/blocks.h"
#include "kgen/core/memory.h"
#include "kgen/core/shared.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using sample::Full;
using sample::kLong;
using sample::Node;
using sample::Sample;
using sample::SampleList;
using RefTest = sample::CoreTest;
using UnstructuredTest = sample::CoreTest;
using MemoryTest = sample::CoreTest;
using SharedTest = sample::CoreTest;

// `for (auto& c : lister.Get("a")->spec->containers)` would dangle with older compilers.
template <typename T>
concept HasArrowOnTemporaries = requires(T value) { static_cast<T&&>(value).operator->(); };
static_assert(HasArrowOnTemporaries<Ref<const Sample>> == detail::kArrowOnTemporaries);
static_assert(HasArrowOnTemporaries<Optional<sample::Spec>> == detail::kArrowOnTemporaries);
static_assert(HasArrowOnTemporaries<Ref<const Sample>&> && HasArrowOnTemporaries<Optional<sample::Spec>&>);

TEST_F(RefTest, IsEightBytesAndNullByDefault) {
  EXPECT_EQ(sizeof(Ref<const Sample>), 8u);
  const Ref<const Sample> ref;
  EXPECT_FALSE(ref);
  EXPECT_EQ(ref.get(), nullptr);
  EXPECT_FALSE(AnyRef());
  EXPECT_EQ(AnyRef().metadata(), nullptr);
  EXPECT_FALSE(AnyRef().As<Sample>());
}

// Contract: design D7.
TEST_F(RefTest, SharesOneObjectUntilTheLastReferenceIsDropped) {
  Ref<const Sample> a = MakeRef(Full());
  const Ref<const Sample> b = a;
  EXPECT_EQ(a.get(), b.get());
  EXPECT_EQ(a, b);
  a = nullptr;
  EXPECT_EQ(*b, Full());
}

// Contract: design D8.
TEST_F(RefTest, GivesTheTypeBackOnlyToItsOwnType) {
  const AnyRef any = MakeRef(Full());
  EXPECT_EQ(&any.table(), &Sample::kTable);
  EXPECT_TRUE(any.As<Sample>());
  EXPECT_FALSE(any.As<Node>());
  EXPECT_EQ(any.As<Sample>().get()->metadata.name, "full");
}

TEST_F(RefTest, ReadsAsTheObjectInALoop) {
  const std::vector<Ref<const Sample>> all{MakeRef(Full()), MakeRef(Sample{.metadata = {.name = "b"}})};
  std::string names;
  for (const Sample& sample : all) names += sample.metadata.name;
  EXPECT_EQ(names, "fullb");
}

TEST_F(RefTest, ComparesByIdentity) { EXPECT_FALSE(MakeRef(Full()) == MakeRef(Full())); }

TEST_F(RefTest, GivesTheMetadataOfObjectsAndNoneOfLists) {
  EXPECT_EQ(MakeRef(Full()).any().metadata()->name, "full");
  EXPECT_EQ(MakeRef(Unstructured{.metadata = {.name = "u"}}).any().metadata()->name, "u");
  EXPECT_EQ(MakeRef(SampleList()).any().metadata(), nullptr);
  EXPECT_EQ(MakeRef(meta::v1::Status()).any().metadata(), nullptr);
  EXPECT_EQ(MakeRef(Node()).any().metadata(), nullptr);
}

// Contract: design D5.
TEST_F(RefTest, CopiesDeeplyWhatIsBelowIt) {
  const Ref<const Sample> cached = MakeRef(Full());
  Sample mine = *cached;
  EXPECT_EQ(mine, *cached);
  EXPECT_EQ(mine.spec->nodeName.data(), std::as_const(*cached).spec->nodeName.data()) << "immutable text is shared";
  EXPECT_NE(&std::as_const(mine).spec->ports[0], &cached->spec->ports[0]);
  mine.spec->ports[0].name = "changed";
  EXPECT_EQ(*cached, Full());
}

// Contract: design D5.
TEST_F(RefTest, CopiesASharedSubtreeApart) {
  // The decoder of a cache makes such objects: two that share one block.
  Sample a;
  a.spec->tree->name = kLong;
  Sample b;
  detail::BoxBlock* shared = detail::BoxOf(&a.spec);
  detail::AddRef(shared);
  detail::BoxOf(&b.spec) = shared;
  const Ref<const Sample> first = MakeRef(std::move(a));
  Ref<const Sample> second = MakeRef(std::move(b));
  EXPECT_EQ(*first, *second);
  Sample mine = *second;
  mine.spec->tree->name = "mine";
  EXPECT_EQ(first->spec->tree->name, kLong);
  second = nullptr;
  EXPECT_EQ(first->spec->tree->name, kLong);
}

TEST_F(RefTest, IsReleasedFromManyThreadsAtOnce) {
  for (int round = 0; round < 50; ++round) {
    Ref<const Sample> ref = MakeRef(Full());
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([copy = ref] {
        for (int k = 0; k < 100; ++k) Ref<const Sample> another = copy;
      });
    }
    ref = nullptr;
  }
}

// ---- Counting. ----

TEST_F(MemoryTest, CountsBlocksAcrossThreadsThatHaveEnded) {
  const std::int64_t before = LiveBlocks();
  String text;
  std::jthread([&] { text = kLong; }).join();
  EXPECT_EQ(LiveBlocks() - before, 1);
  std::jthread([&] { text.reset(); }).join();
  EXPECT_EQ(LiveBlocks(), before);
}

TEST_F(MemoryTest, CountsWhatThreadLocalValuesFreeWhileTheirThreadEnds) {
  const std::int64_t before = LiveBlocks();
  std::jthread([] {
    thread_local String made_first;  // destroyed after the count of the thread has left
    made_first = kLong;
  }).join();
  EXPECT_EQ(LiveBlocks(), before);
}

// ---- Shared. ----

struct Base : SharedObject {
  explicit Base(int* alive) : alive_(alive) { ++*alive_; }
  ~Base() override { --*alive_; }
  int* alive_;
};
struct Derived : Base {
  using Base::Base;
};

TEST_F(SharedTest, DestroysTheObjectWithTheLastHandle) {
  int alive = 0;
  Shared<Base> a = MakeShared<Derived>(&alive);
  Shared<const Base> b = a;
  EXPECT_EQ(alive, 1);
  a = nullptr;
  EXPECT_EQ(alive, 1);
  Shared<const Base>& same = b;
  b = same;
  EXPECT_EQ(alive, 1);
  b = nullptr;
  EXPECT_EQ(alive, 0);
}

// ---- Unstructured. ----

// Contract: design D7.
TEST_F(UnstructuredTest, GivesTheWholeObjectAsJson) {
  Unstructured object{.metadata = {.name = "web",
                                   .creationTimestamp = Time::Parse("2026-11-21T08:33:00Z").value(),
                                   .finalizers = {"a", "b"},
                                   .generation = 4,
                                   .labels = {{"app", "web"}},
                                   .ownerReferences = {meta::v1::OwnerReference{.name = "rs", .controller = true}}},
                      .apiVersion = "example.com/v1",
                      .kind = "Order"};
  object.metadata.unknown_fields.Append("future", Json("[1]"));
  object.unknown_fields.Append("spec", Json(R"({"n":1})"));
  object.unknown_fields.Append("broken", Json("{"));
  EXPECT_EQ(object.json(), nlohmann::json::parse(R"({
    "apiVersion": "example.com/v1", "kind": "Order",
    "metadata": {"name": "web", "creationTimestamp": "2026-11-21T08:33:00Z", "finalizers": ["a", "b"], "generation": 4,
                 "labels": {"app": "web"}, "ownerReferences": [{"name": "rs", "controller": true}], "future": [1]},
    "spec": {"n": 1}, "broken": null})"));
  EXPECT_EQ(Unstructured().json(), nlohmann::json::object());
}

TEST_F(UnstructuredTest, OmitsAbsentMembersFromItsJson) {
  Unstructured object;
  EXPECT_EQ(object.metadata.labels["looked"], "");
  EXPECT_EQ(object.json(), nlohmann::json::object());
  object.metadata.labels["a"] = "1";
  EXPECT_EQ(object.json(), nlohmann::json::parse(R"({"metadata":{"labels":{"a":"1"}}})"));
}

TEST_F(UnstructuredTest, IsAnOrdinaryTypeOfTheTables) {
  EXPECT_EQ(Unstructured::kTable.Find("apiVersion")->kind, ValueKind::kString);
  EXPECT_EQ(Unstructured::kTable.kind, nullptr);
  EXPECT_EQ(Unstructured::kTable.metadata_offset, offsetof(Unstructured, metadata));
  EXPECT_EQ(PartialObjectMetadata::kTable.field_count, 3);
  UnstructuredList list{.items = {Unstructured{.kind = "A"}, Unstructured{.kind = "B"}}};
  std::string kinds;
  for (const Unstructured& item : list) kinds += item.kind;
  EXPECT_EQ(kinds, "AB");
  EXPECT_EQ(Unstructured{.kind = "A"}, list.items[0]);
}

}  // namespace
}  // namespace kgen
