// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Convert() between generated pairs of types, with what the decoder makes of the JSON as the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "core/blocks.h"
#include "kgen/codec/convert.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/memory.h"

namespace kgen {
namespace {

constexpr std::size_t kSlots = 8;

// The memory of every generated struct: one place for each member, whatever its kind.
struct Struct {
  alignas(8) unsigned char members[kSlots][16] = {};
  UnknownFields unknown_fields{};
};
static_assert(std::is_standard_layout_v<Struct>);

// Structs of one side, with members by chance.
class Types {
 public:
  explicit Types(std::mt19937& random) : random_(random) {
    for (TypeTable& table : tables_) {
      std::vector<Field>& fields = fields_.emplace_back();
      for (std::size_t i = 0; i < kSlots; ++i) {
        if (Below(3) != 0) fields.push_back(AnyField(i));
      }
      table = {.version = kTableVersion,
               .size = sizeof(Struct),
               .name = "test.Generated",
               .field_data = fields.data(),
               .field_count = static_cast<std::uint16_t>(fields.size()),
               .unknown_offset = offsetof(Struct, unknown_fields),
               .metadata_offset = TypeTable::kNoMetadata,
               .hash_bits = 0,
               .flags = 0,
               .hash_seed = 0,
               .hash_slots = nullptr,
               .kind = nullptr,
               .empty = detail::kZeros<Struct>};
    }
  }

  const TypeTable& top() const { return tables_[0]; }

 private:
  std::size_t Below(std::size_t n) { return random_() % n; }

  Field AnyField(std::size_t slot) {
    static constexpr std::string_view kNames[kSlots] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    ValueKind kind = static_cast<ValueKind>(Below(static_cast<std::size_t>(ValueKind::kMap) + 1));
    if (kind == ValueKind::kStruct) kind = ValueKind::kBox;
    const void* detail = nullptr;
    if (kind == ValueKind::kBox) detail = &tables_[Below(kTables)];
    if (kind == ValueKind::kList || kind == ValueKind::kMap) detail = &AnyElement();
    return {.name = kNames[slot].data(),
            .name_size = 1,
            .offset = static_cast<std::uint16_t>(16 * slot),
            .kind = kind,
            .flags = static_cast<std::uint8_t>(Below(4) == 0 ? kNullable : 0),
            .reserved = 0,
            .detail = detail};
  }

  const ValueType& AnyElement() {
    switch (Below(6)) {
      case 0:
        return kTypeOf<std::int32_t>;
      case 1:
        return kTypeOf<String>;
      case 2:
        return kTypeOf<Json>;
      case 3:
        return kTypeOf<List<double>>;
      default:
        return elements_.emplace_back(ValueType{ValueKind::kStruct, sizeof(Struct), &tables_[Below(kTables)], nullptr});
    }
  }

  static constexpr std::size_t kTables = 3;
  std::mt19937& random_;
  TypeTable tables_[kTables];
  std::deque<std::vector<Field>> fields_;
  std::deque<ValueType> elements_;
};

// One value of a generated type.
class Value {
 public:
  explicit Value(const TypeTable& table) : table_(table) {}
  Value(const Value& other) : table_(other.table_) {
    detail::DestroyStruct(&memory_, table_);
    detail::CopyStruct(&memory_, &other.memory_, table_);
  }
  Value& operator=(const Value&) = delete;
  ~Value() { detail::ResetStruct(&memory_, table_); }

  void* get() { return &memory_; }
  const TypeTable& table() const { return table_; }
  std::string Json() const {
    std::string out;
    detail::EncodeStruct(&memory_, table_, out);
    return out;
  }
  bool operator==(const Value& other) const { return detail::EqualStruct(&memory_, &other.memory_, table_); }

  // Decodes into an empty value.
  void Read(std::string_view json) { Must(detail::DecodeStruct(json, &memory_, table_, {})); }
  // What becomes of a copy of `from`.
  std::vector<Unplaced> Take(Value from) {
    std::vector<Unplaced> unplaced;
    const ValueType source = TypeOf(from.table_);
    const ValueType target = TypeOf(table_);
    Must(detail::ConvertValue(from.get(), source, &memory_, target, unplaced));
    return unplaced;
  }

 private:
  static ValueType TypeOf(const TypeTable& table) { return {ValueKind::kStruct, sizeof(Struct), &table, nullptr}; }

  const TypeTable& table_;
  Struct memory_;
};

class Text {
 public:
  explicit Text(std::mt19937& random) : random_(random) {}

  std::string Object(int depth) {
    std::string out = "{";
    for (char name = 'a'; name <= 'j'; ++name) {  // two more than there are members
      if (random_() % 2 == 0) continue;
      if (out.size() > 1) out += ',';
      out.append("\"").append(1, name).append("\":").append(Any(depth + 1));
    }
    return out + "}";
  }

 private:
  std::string Any(int depth) {
    static constexpr std::string_view kScalars[] = {"null",
                                                    "true",
                                                    "false",
                                                    "0",
                                                    "7",
                                                    "-1",
                                                    "1.0",
                                                    "1e2",
                                                    "0.5",
                                                    "3000000000",
                                                    "9007199254740993",
                                                    "12345678901234567890",
                                                    "1e400",
                                                    "\"\"",
                                                    "\"text\"",
                                                    "\"a text that does not stand inline\"",
                                                    "\"500m\"",
                                                    "\"aGk=\"",
                                                    "\"7\"",
                                                    "\"1h30m\"",
                                                    "\"2026-11-22T08:00:00Z\"",
                                                    "\"2026-11-22T08:00:00.123456Z\""};
    const std::size_t choice = random_() % (depth < 4 ? 6 : 3);
    if (choice == 3) return Object(depth);
    if (choice == 4) {
      std::string out = "[";
      for (std::size_t n = random_() % 3; n > 0; --n) out.append(Any(depth + 1)).append(n > 1 ? "," : "");
      return out + "]";
    }
    if (choice == 5) {  // of one sort, which lists of numbers need
      const std::string_view one = kScalars[random_() % std::size(kScalars)];
      return "[" + std::string(one) + "," + std::string(one) + "]";
    }
    return std::string(kScalars[random_() % std::size(kScalars)]);
  }

  std::mt19937& random_;
};

class ConvertPropertyTest : public ::testing::TestWithParam<unsigned> {};

TEST_P(ConvertPropertyTest, AConvertedValueIsWhatTheTargetDecodes) {
  const std::int64_t blocks = LiveBlocks();
  for (unsigned i = 0; i < 500; ++i) {
    const unsigned seed = GetParam() * 500 + i;
    std::mt19937 random(seed);
    const Types from(random);
    const Types to(random);
    const std::string json = Text(random).Object(0);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + json);

    Value source(from.top());
    source.Read(json);
    Value decoded(to.top());
    decoded.Read(source.Json());
    Value converted(to.top());
    converted.Take(source);
    EXPECT_EQ(CanonicalJson(converted.Json()), CanonicalJson(json));
    EXPECT_EQ(converted, decoded) << converted.Json() << "\n" << decoded.Json();
    Value back(from.top());
    back.Take(converted);
    EXPECT_EQ(back, source);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(LiveBlocks(), blocks);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConvertPropertyTest, ::testing::Range(0u, 20u));

}  // namespace
}  // namespace kgen
