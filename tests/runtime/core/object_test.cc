// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Structs with KGEN_OBJECT, and Enum, with the tables that kgen-crd would generate for them.
#include "kgen/core/object.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "core/tables/table_builder.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/enum.h"
#include "kgen/core/enum_names.h"
#include "kgen/core/object_meta.h"

namespace kgen::shop {

enum class Priority : std::uint8_t { kLow = 3, kNormal = 1, kHigh = 200 };

struct Line {
  kgen::String item{};
  kgen::Optional<std::int32_t> quantity{};
  KGEN_OBJECT(Line)
};

// A struct that has itself in each place where a struct may stand.
struct Parcel {
  kgen::Optional<Line> first = kgen::kAbsent;
  kgen::List<Line> lines{};
  kgen::Map<Line> by_name{};
  kgen::Enum<Priority> priority{};
  kgen::List<kgen::Enum<Priority>> history{};
  kgen::Map<kgen::Enum<Priority>> wishes{};
  kgen::Optional<Parcel> inner = kgen::kAbsent;
  kgen::List<Parcel> parts{};
  kgen::Map<Parcel> named{};
  KGEN_OBJECT(Parcel)
};

namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;

constexpr Field kLineFields[] = {
    MakeField("item", offsetof(Line, item), ValueKind::kString),
    MakeField("quantity", offsetof(Line, quantity), ValueKind::kInt32),
};
constexpr Field kParcelFields[] = {
    MakeField("first", offsetof(Parcel, first), ValueKind::kBox, &Line::kTable),
    MakeField("lines", offsetof(Parcel, lines), ValueKind::kList, &kTypeOf<Line>),
    MakeField("byName", offsetof(Parcel, by_name), ValueKind::kMap, &kTypeOf<Line>),
    MakeField("priority", offsetof(Parcel, priority), ValueKind::kString),
    MakeField("history", offsetof(Parcel, history), ValueKind::kList, &kTypeOf<Enum<Priority>>),
    MakeField("wishes", offsetof(Parcel, wishes), ValueKind::kMap, &kTypeOf<Enum<Priority>>),
    MakeField("inner", offsetof(Parcel, inner), ValueKind::kBox, &Parcel::kTable),
    MakeField("parts", offsetof(Parcel, parts), ValueKind::kList, &kTypeOf<Parcel>),
    MakeField("named", offsetof(Parcel, named), ValueKind::kMap, &kTypeOf<Parcel>),
};
constexpr detail::NameSlots kLineSlots = FindNameSlots(kLineFields);
constexpr detail::NameSlots kParcelSlots = FindNameSlots(kParcelFields);

}  // namespace

constinit const TypeTable Line::kTable = MakeTable<Line>("shop.Line", kLineFields, kLineSlots);
constinit const TypeTable Parcel::kTable = MakeTable<Parcel>("shop.Parcel", kParcelFields, kParcelSlots);

}  // namespace kgen::shop

template <>
struct kgen::detail::EnumNamesOf<kgen::shop::Priority> {
  static constexpr EnumName kNames[] = {{3, "Low"}, {1, "Normal"}, {200, "High"}};
};
template std::span<const kgen::detail::EnumName> kgen::detail::NamesOf<kgen::shop::Priority>() noexcept;

namespace kgen {
namespace {

using shop::Line;
using shop::Parcel;
using shop::Priority;

static_assert(std::is_aggregate_v<Line> && std::is_aggregate_v<Parcel>);
static_assert(std::is_standard_layout_v<Line> && std::is_standard_layout_v<Parcel>);
static_assert(std::is_standard_layout_v<Enum<Priority>> && sizeof(Enum<Priority>) == sizeof(String));
static_assert(std::is_nothrow_default_constructible_v<Parcel> && std::is_nothrow_move_constructible_v<Parcel>);
static_assert(!std::is_constructible_v<Enum<Priority>, int> && !std::is_constructible_v<Enum<Priority>, const char*>);

// Every block that a test allocates must be freed when it ends.
class ObjectTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(LiveBlocks(), before_) << "blocks leaked or freed twice"; }

 private:
  std::int64_t before_ = LiveBlocks();
};

using EnumTest = ObjectTest;

// An Encode() of what was decoded.
template <typename T = Parcel>
std::string Back(const std::string& json) {
  const Result<T> object = Decode<T>(json);
  return object ? Encode(*object) : object.error().ToString();
}

Parcel FullParcel() {
  return {.first = Line{.item = "pen", .quantity = 2},
          .lines = {{.item = "ink"}, {.quantity = 0}},
          .by_name = {{"a", {.item = "ruler"}}},
          .priority = Priority::kHigh,
          .history = {Priority::kLow, Priority::kNormal},
          .wishes = {{"anna", Priority::kHigh}},
          .inner = Parcel{.priority = Priority::kLow},
          .parts = {{.first = Line{.item = "cap"}}},
          .named = {{"x", {.parts = {{.priority = Priority::kNormal}}}}}};
}

constexpr const char* kFull =
    R"({"first":{"item":"pen","quantity":2},"lines":[{"item":"ink"},{"quantity":0}],"byName":{"a":{"item":"ruler"}},)"
    R"("priority":"High","history":["Low","Normal"],"wishes":{"anna":"High"},"inner":{"priority":"Low"},)"
    R"("parts":[{"first":{"item":"cap"}}],"named":{"x":{"parts":[{"priority":"Normal"}]}}})";

TEST_F(ObjectTest, IsEmptyByDefault) {
  EXPECT_EQ(Encode(Parcel()), "{}");
  EXPECT_EQ(Encode(Parcel{}), "{}");
  EXPECT_EQ(Parcel(), Parcel{});
  const Parcel empty{};
  EXPECT_FALSE(empty.inner.has_value() || empty.first.has_value());
}

TEST_F(ObjectTest, HasDesignatedInitializersOfAllMembers) { EXPECT_EQ(Encode(FullParcel()), kFull); }

TEST_F(ObjectTest, IsTheSameAfterItWasWrittenAndRead) {
  const Result<Parcel> back = Decode<Parcel>(kFull);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(*back, FullParcel());
  EXPECT_EQ(Encode(*back), kFull);
}

TEST_F(ObjectTest, ComparesEachMemberAndTheUnknownFields) {
  const auto differs = [](auto change) {
    Parcel other = FullParcel();
    change(other);
    return other != FullParcel();
  };
  EXPECT_EQ(FullParcel(), FullParcel());
  EXPECT_TRUE(differs([](Parcel& p) { p.first->item = "pencil"; }));
  EXPECT_TRUE(differs([](Parcel& p) { p.lines.push_back({}); }));
  EXPECT_TRUE(differs([](Parcel& p) { p.by_name["b"].quantity = 1; }));
  EXPECT_TRUE(differs([](Parcel& p) { p.priority.reset(); }));
  EXPECT_TRUE(differs([](Parcel& p) { p.history[1] = Priority::kHigh; }));
  EXPECT_TRUE(differs([](Parcel& p) { p.wishes["anna"] = Priority::kLow; }));
  EXPECT_TRUE(differs([](Parcel& p) { p.inner = kAbsent; }));
  EXPECT_TRUE(differs([](Parcel& p) { p.parts[0].first->quantity = 1; }));
  EXPECT_TRUE(differs([](Parcel& p) { p.named["x"].parts[0].priority = Priority::kLow; }));
  EXPECT_TRUE(differs([](Parcel& p) { p.unknown_fields.Set("new", Json("1")); }));
}

TEST_F(ObjectTest, KeepsUnknownFieldsOfEachLevel) {
  const std::string json =
      R"({"lines":[{"item":"ink","colour":{"rgb":[1,2.50]}}],"parts":[{"named":{"x":{"extra":null}}}],"later":true})";
  EXPECT_EQ(Back(json), json);
}

// Generated types do this too: what a member cannot hold is sent back as it came.
TEST_F(ObjectTest, KeepsAValueOfAnotherType) {
  const std::string json = R"({"inner":{"first":{"quantity":2147483648}},"lines":{},"priority":{"high":true}})";
  const Result<Parcel> parcel = Decode<Parcel>(json);
  ASSERT_TRUE(parcel) << parcel.error();
  EXPECT_TRUE(parcel->lines.empty());
  EXPECT_FALSE(parcel->priority.has_value());
  EXPECT_FALSE(parcel->inner->first->quantity.has_value());
  EXPECT_EQ(Encode(*parcel), json);
}

TEST_F(ObjectTest, IsPrintedAsYaml) {
  std::ostringstream out;
  out << Line{.item = "ink", .quantity = 2};
  EXPECT_EQ(out.str(), "item: ink\nquantity: 2");
}

TEST_F(ObjectTest, CanContainItselfAHundredTimes) {
  Parcel parcel;
  for (int i = 0; i < 100; ++i) parcel = {.inner = std::move(parcel), .parts = {{.priority = Priority::kLow}}};
  const Result<Parcel> back = Decode<Parcel>(Encode(parcel));
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(*back, parcel);
}

TEST_F(EnumTest, IsAbsentByDefault) {
  const Enum<Priority> absent;
  EXPECT_FALSE(absent.has_value());
  EXPECT_EQ(absent.value(), std::nullopt);
  EXPECT_EQ(absent.value_or(Priority::kNormal), Priority::kNormal);
  EXPECT_EQ(absent, Enum<Priority>());
  EXPECT_NE(absent, Priority::kNormal);
}

TEST_F(EnumTest, HasTheTextOfItsValue) {
  Enum<Priority> priority = Priority::kHigh;
  EXPECT_TRUE(priority.has_value());
  EXPECT_EQ(priority.text(), "High");
  EXPECT_EQ(priority, Priority::kHigh);
  EXPECT_NE(priority, Priority::kLow);
  EXPECT_EQ(priority.value(), Priority::kHigh);
  priority = Priority::kLow;
  EXPECT_EQ(priority.text(), "Low");
  priority.reset();
  EXPECT_FALSE(priority.has_value());
}

// A newer server may send a value that this program does not know.
TEST_F(EnumTest, KeepsAValueThatItDoesNotKnow) {
  const std::string json = R"({"priority":"Urgent","history":["Low","urgent"],"wishes":{"anna":"Never"}})";
  const Result<Parcel> parcel = Decode<Parcel>(json);
  ASSERT_TRUE(parcel) << parcel.error();
  EXPECT_TRUE(parcel->priority.has_value());
  EXPECT_EQ(parcel->priority.value(), std::nullopt);
  EXPECT_EQ(parcel->priority.value_or(Priority::kLow), Priority::kLow);
  EXPECT_EQ(parcel->priority.text(), "Urgent");
  EXPECT_NE(parcel->priority, Priority::kHigh);
  EXPECT_EQ(parcel->history[0], Priority::kLow);
  EXPECT_EQ(parcel->history[1].value(), std::nullopt);
  EXPECT_EQ(Encode(*parcel), json);
}

TEST_F(EnumTest, IsAbsentForANumberThatHasNoName) {
  const Enum<Priority> odd = static_cast<Priority>(77);
  EXPECT_FALSE(odd.has_value());
  EXPECT_EQ(Encode(Parcel{.priority = odd}), "{}");
}

// The text "" is a value on the wire, and no value of the enum.
TEST_F(EnumTest, TellsAnEmptyTextFromAnAbsentOne) {
  const Result<Parcel> parcel = Decode<Parcel>(R"({"priority":""})");
  ASSERT_TRUE(parcel) << parcel.error();
  EXPECT_TRUE(parcel->priority.has_value());
  EXPECT_EQ(parcel->priority.value(), std::nullopt);
  EXPECT_EQ(Encode(*parcel), R"({"priority":""})");
}

TEST_F(EnumTest, IsPrintedAsItsText) {
  std::ostringstream out;
  out << Enum<Priority>(Priority::kNormal);
  EXPECT_EQ(out.str(), "Normal");
}

}  // namespace
}  // namespace kgen
