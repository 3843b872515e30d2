// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/sharing/sharing.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/codec/codec_fixture.h"

namespace kgen {
namespace {

using ::testing::HasSubstr;
using widgets::Widget;
using SharingTest = CodecTest;

std::string Object(int i, std::string_view more = "") {
  return R"({"metadata":{"name":"w-)" + std::to_string(i) +
         R"(","labels":{"app":"a label that is longer than inline"}},"spec":{"name":"text that is longer than inline",)" +
         R"("amount":")" + std::to_string(i) +
         R"(","optional":{"tags":["longer than fifteen bytes"],"limits":{"cpu":"1"}})" + std::string(more) +
         R"(},"status":{"name":"status"}})";
}

TEST_F(SharingTest, ObjectsShareTextAndSubtreesAndStayEqualToUnsharedOnes) {
  ObjectDecoder decoder(Widget::kTable);
  std::vector<Ref<const Widget>> widgets;
  for (int i = 0; i < 100; ++i) {
    auto object = Must(decoder.Decode(Exact(Object(i))));
    widgets.push_back(object.As<Widget>());
    EXPECT_EQ(*widgets.back(), Must(Decode<Widget>(Object(i))));
    EXPECT_EQ(Encode(object), Encode(Must(Decode<Widget>(Object(i)))));
  }
  EXPECT_EQ(widgets[7]->spec->name.data(), widgets[8]->spec->name.data());
  EXPECT_EQ(&*widgets[7]->spec->optional, &*widgets[8]->spec->optional);
  EXPECT_NE(&*widgets[7]->spec, &*widgets[8]->spec);
  EXPECT_GT(decoder.stats().subtree_hits, 150u);
  EXPECT_GT(decoder.stats().string_hits, 90u);
}

TEST_F(SharingTest, ACopySharesNothingThatCanChange) {
  ObjectDecoder decoder(Widget::kTable);
  auto first = Must(decoder.Decode(Object(1))).As<Widget>();
  auto second = Must(decoder.Decode(Object(2))).As<Widget>();
  ASSERT_EQ(&*first->spec->optional, &*second->spec->optional);
  Widget mine = *first;
  mine.spec->optional->tags[0] = "changed";
  mine.metadata.labels["app"] = "changed";
  EXPECT_EQ(*first, Must(Decode<Widget>(Object(1))));
  EXPECT_EQ(*second, Must(Decode<Widget>(Object(2))));
}

TEST_F(SharingTest, AnObjectOfAFirstListSharesLikeAnyOther) {
  ObjectDecoder decoder(Widget::kTable);
  const std::int64_t before = LiveBlocks();
  std::vector<AnyRef> objects;
  for (int i = 0; i < 100; ++i) objects.push_back(Must(decoder.DecodeAdded(Exact(Object(i)))));
  auto first = objects[7].As<Widget>();
  auto second = objects[8].As<Widget>();
  EXPECT_EQ(&*first->spec->optional, &*second->spec->optional);
  EXPECT_EQ(*second, Must(Decode<Widget>(Object(8))));
  first = second = {};
  objects.clear();
  // What it left alone is found later, a little with each object.
  for (int i = 0; i < 400; ++i) objects = {Must(decoder.Decode(Object(i % 2)))};
  EXPECT_LT(decoder.stats().subtrees, 20u);
  objects.clear();
  decoder.Sweep();
  EXPECT_EQ(LiveBlocks(), before);
}

TEST_F(SharingTest, ObjectsOutliveTheirDecoder) {
  AnyRef object;
  {
    ObjectDecoder decoder(Widget::kTable);
    object = Must(decoder.Decode(Object(1)));
    ObjectDecoder moved(std::move(decoder));
    EXPECT_TRUE(moved.Decode(Object(2)).has_value());
  }
  EXPECT_EQ(*object.As<Widget>(), Must(Decode<Widget>(Object(1))));
}

TEST_F(SharingTest, ASweepForgetsUnusedEntries) {
  ObjectDecoder decoder(Widget::kTable);
  const std::int64_t before = LiveBlocks();
  AnyRef kept = Must(decoder.Decode(Object(1)));
  for (int i = 2; i < 50; ++i) {
    (void)Must(decoder.Decode(Object(i, R"(,"note":"only once, number )" + std::to_string(i) + "\"")));
  }
  const std::int64_t full = LiveBlocks();
  decoder.Sweep();
  EXPECT_LT(LiveBlocks(), full);
  EXPECT_GT(decoder.stats().strings, 0u);
  EXPECT_GT(decoder.stats().subtrees, 0u);
  kept = {};
  decoder.Sweep();
  EXPECT_EQ(decoder.stats().strings, 0u);
  EXPECT_EQ(decoder.stats().subtrees, 0u);
  EXPECT_EQ(LiveBlocks(), before);
}

// Each object brings text and subtrees that no other has.
std::string UniqueObject(int i) {
  return Object(i, R"(,"note":"only once, number )" + std::to_string(i) + R"(","templates":[{"metadata":{"name":"t)" +
                       std::to_string(i) + R"("}}])");
}

TEST_F(SharingTest, UpdatesLeaveAtMostHalfAsManyUnusedEntriesAsLiveOnes) {
  constexpr int kAlive = 2000;
  ObjectDecoder decoder(Widget::kTable);
  std::vector<AnyRef> alive(kAlive);
  for (int i = 0; i < kAlive; ++i) alive[i] = Must(decoder.Decode(UniqueObject(i)));
  const ObjectDecoder::Stats full = decoder.stats();
  const std::int64_t blocks = LiveBlocks();
  for (int i = kAlive; i < 30 * kAlive; ++i) {
    alive[i % kAlive] = Must(decoder.Decode(UniqueObject(i)));
    ASSERT_LT(decoder.stats().strings, full.strings * 3 / 2) << i;
    ASSERT_LT(decoder.stats().subtrees, full.subtrees * 3 / 2 + 100) << i;
    ASSERT_LT(decoder.stats().bytes, full.bytes * 5 / 2) << i;
  }
  EXPECT_LT(LiveBlocks(), blocks * 3 / 2);
}

TEST_F(SharingTest, ASweepInStepsForgetsTheSameWithObjectsInBetween) {
  ObjectDecoder decoder(Widget::kTable);
  std::vector<AnyRef> alive;
  for (int i = 0; i < 3000; ++i) alive.push_back(Must(decoder.Decode(UniqueObject(i))));
  AnyRef kept = alive[5];
  alive.clear();
  decoder.StartSweep();
  int steps = 0;
  while (decoder.SweepStep()) {
    if (++steps < 10) alive.push_back(Must(decoder.Decode(Object(-steps))));
    ASSERT_LT(steps, 1000);
  }
  EXPECT_GT(steps, 3);
  EXPECT_LT(decoder.stats().strings, 30u);
  EXPECT_LT(decoder.stats().subtrees, 30u);
  EXPECT_EQ(*kept.As<Widget>(), Must(Decode<Widget>(UniqueObject(5))));
}

TEST_F(SharingTest, FreesAFewEntriesAtATimeAndNoneThatObjectsUse) {
  ObjectDecoder decoder(Widget::kTable);
  const std::int64_t before = LiveBlocks();
  std::vector<AnyRef> alive;
  for (int i = 0; i < 3000; ++i) alive.push_back(Must(decoder.Decode(UniqueObject(i))));
  AnyRef kept = alive[5];
  alive.clear();
  std::int64_t most = 0;
  int steps = 0;
  const std::size_t bytes = decoder.stats().bytes;
  for (bool more = true; more; ++steps) {
    const std::int64_t blocks = LiveBlocks();
    more = decoder.FreeStep(16);
    most = std::max(most, blocks - LiveBlocks());
    ASSERT_LT(steps, 100'000);
  }
  EXPECT_LT(decoder.stats().bytes, bytes / 4);
  EXPECT_LT(most, 16 * 4);
  EXPECT_EQ(decoder.stats().strings, 0u);
  EXPECT_EQ(decoder.stats().subtrees, 0u);
  EXPECT_EQ(*kept.As<Widget>(), Must(Decode<Widget>(UniqueObject(5))));
  kept = {};
  EXPECT_EQ(LiveBlocks(), before);
}

TEST_F(SharingTest, RawJsonIsSharedAndSweptLikeOtherSubtrees) {
  ObjectDecoder decoder(Widget::kTable);
  const std::int64_t before = LiveBlocks();
  const std::string json = R"({"spec":{"anything":{"f:metadata":{"f:labels":{}}}}})";
  auto first = Must(decoder.Decode(json)).As<Widget>();
  auto second = Must(decoder.Decode(json)).As<Widget>();
  EXPECT_EQ(first->spec->anything.text(), R"({"f:metadata":{"f:labels":{}}})");
  EXPECT_EQ(first->spec->anything.text().data(), second->spec->anything.text().data());
  first = nullptr;
  second = nullptr;
  decoder.Sweep();
  EXPECT_EQ(decoder.stats().subtrees, 0u);
  EXPECT_EQ(LiveBlocks(), before);
}

TEST_F(SharingTest, SharesNothingThatTheTableMarksUniqueOrUnrepeated) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string json =
      R"({"metadata":{"name":"w","uid":"0123456789-0123456789"},"status":{"token":"0123456789-0123456789"}})";
  auto first = Must(decoder.Decode(json)).As<Widget>();
  auto second = Must(decoder.Decode(json)).As<Widget>();
  EXPECT_NE(first->metadata.uid.data(), second->metadata.uid.data());
  EXPECT_NE(first->status->token.data(), second->status->token.data());
  EXPECT_NE(&*first->status, &*second->status);
}

TEST_F(SharingTest, CanBeSwitchedOff) {
  ObjectDecoder decoder(Widget::kTable, {.strings = false, .subtrees = false});
  auto first = Must(decoder.Decode(Object(1))).As<Widget>();
  auto second = Must(decoder.Decode(Object(1))).As<Widget>();
  EXPECT_NE(first->spec->name.data(), second->spec->name.data());
  EXPECT_NE(&*first->spec->optional, &*second->spec->optional);
  EXPECT_EQ(decoder.stats().strings, 0u);
}

TEST_F(SharingTest, AFieldOfTheWrongTypeInARepeatedSubtreeIsReportedForEachObject) {
  ObjectDecoder decoder(Widget::kTable);
  for (int i = 0; i < 5; ++i) {
    std::vector<FieldMismatch> mismatches;
    (void)Must(decoder.Decode(Object(i, R"(,"parts":[{"count":"x"}])"), {.mismatches = &mismatches}));
    ASSERT_EQ(mismatches.size(), 1u);
    EXPECT_EQ(mismatches[0].path, "spec.parts[0].count");
  }
}

TEST_F(SharingTest, DecodesUnderOtherOptionsAreNotConfused) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string json =
      R"({"spec":{"templates":[{"metadata":{"name":"t","managedFields":[{}]}}],"optional":{"new":1}}})";
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Encode(Must(decoder.Decode(json))), HasSubstr("managedFields"));
    EXPECT_THAT(Encode(Must(decoder.Decode(json, {.drop_managed_fields = true}))),
                ::testing::Not(HasSubstr("managedFields")));
    EXPECT_FALSE(decoder.Decode(json, {.strict = true}).has_value());
  }
}

TEST_F(SharingTest, LimitsApplyToKnownSubtrees) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string json = R"({"spec":{"optional":{"env":{"a":"1","b":"2","c":"3"}}}})";
  (void)Must(decoder.Decode(json));
  ASSERT_TRUE(decoder.Decode(json).has_value());
  EXPECT_FALSE(decoder.Decode(json, {.max_fields = 5}).has_value());
  EXPECT_TRUE(decoder.Decode(json, {.max_fields = 6}).has_value());
  EXPECT_FALSE(decoder.Decode(json, {.max_depth = 3}).has_value());
  EXPECT_TRUE(decoder.Decode(json, {.max_depth = 4}).has_value());
}

TEST_F(SharingTest, AFailedDecodeLeavesOnlyWhatIsShared) {
  ObjectDecoder decoder(Widget::kTable);
  const std::int64_t before = LiveBlocks();
  const std::string json = Object(1);
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_FALSE(decoder.Decode(Exact(std::string_view(json).substr(0, size))).has_value());
  }
  decoder.Sweep();
  EXPECT_EQ(LiveBlocks(), before);
  EXPECT_EQ(Encode(Must(decoder.Decode(json))), Encode(Must(Decode<Widget>(json))));
}

TEST(SubtreeMemo, StopsTryingAFieldThatRarelyHitsAndSamplesItAgain) {
  codec::SubtreeMemo memo;
  const Field& field = *widgets::Spec::kTable.Find("parts");
  int tries = 0;
  for (int i = 0; i < 16 + 10 * 128; ++i) {
    if (auto* stats = memo.Try(field)) {
      ++tries;
      stats->Count(false);
    }
  }
  EXPECT_EQ(tries, 16 + 10);
  for (int i = 0; i < 128 * 40; ++i) {
    if (auto* stats = memo.Try(field)) stats->Count(true);
  }
  auto* stats = memo.Try(field);
  ASSERT_NE(stats, nullptr);
  EXPECT_FALSE(stats->off);
}

TEST(KeyedHash, DependsOnEveryByteOnTheLengthAndOnTheSeed) {
  const codec::KeyedHash hash;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::size_t count = 0;
  const auto add = [&](std::string_view text, std::uint64_t seed) {
    const codec::Hash128 h = hash(text, seed);
    seen.insert({h.a, h.b});
    ++count;
  };
  for (std::size_t size = 0; size < 70; ++size) {
    std::string text(size, '\0');
    add(text, 1);
    add(text, 2);
    for (std::size_t i = 0; i < size; ++i) {
      text[i] = 1;
      add(text, 1);
      text[i] = 0;
    }
  }
  EXPECT_EQ(seen.size(), count);
}

}  // namespace
}  // namespace kgen
