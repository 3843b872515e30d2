// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// D6 as a whole: of thousands of random documents, made along the tables with wrong, unknown and null values strewn in,
// everything comes back. What may be missing is told by the tables alone: a `null` where the schema does not say
// nullable.
#include <cstdint>
#include <random>
#include <string>

#include <nlohmann/json.hpp>

#include "kgen/core/value_type.h"
#include "tests/runtime/codec/codec_fixture.h"

namespace kgen {
namespace {

using nlohmann::json;
using widgets::Widget;

const void* DetailOf(const ValueType& type) {
  return type.table != nullptr ? static_cast<const void*>(type.table) : type.element;
}

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  json Struct(const TypeTable& table, int depth) {
    json object = json::object();
    if (depth < 0) return object;
    for (const Field& field : table) {
      if (!OneIn(3)) continue;
      object[std::string(field.wire_name())] = OneIn(12) ? json() : Value(field.kind, field.detail, depth);
    }
    for (int i = Below(3); i > 0; --i) object["new" + std::to_string(Below(4))] = Any(2);
    return object;
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }

  json Any(int depth) {
    static const json kScalars[] = {nullptr,         true,
                                    false,           -7,
                                    2147483648,      9223372036854775807,
                                    0.125,           "",
                                    "500m",          "1h30m",
                                    "AA==",          "2026-11-21T08:33:00.5+02:00",
                                    "short",         "text that is longer than fifteen bytes",
                                    "\"\\\n\xC3\xA9"};
    if (depth == 0 || !OneIn(3)) return kScalars[Below(std::size(kScalars))];
    json value = OneIn(2) ? json::array() : json::object();
    for (int i = Below(4); i > 0; --i) {
      if (value.is_array()) {
        value.push_back(Any(depth - 1));
      } else {
        value["u" + std::to_string(Below(6))] = Any(depth - 1);
      }
    }
    return value;
  }

  // Of that kind, mostly.
  json Value(ValueKind kind, const void* detail, int depth) {
    if (OneIn(12)) return Any(2);
    switch (kind) {
      case ValueKind::kBool:
        return OneIn(2);
      case ValueKind::kInt32:
        return Below(1000);
      case ValueKind::kInt64:
        return static_cast<std::int64_t>(random_() * random_());
      case ValueKind::kDouble:
        return Below(100) / 4.0;
      case ValueKind::kString:
        return std::string(static_cast<std::size_t>(Below(30)), 'q');
      case ValueKind::kTime:
      case ValueKind::kMicroTime:
        return OneIn(2) ? "2026-11-21T08:33:00Z" : "2026-11-21T08:33:00.123456+01:00";
      case ValueKind::kDuration:
        return "90s";
      case ValueKind::kQuantity:
        return OneIn(2) ? json("1500m") : json(Below(9));
      case ValueKind::kIntOrString:
        return OneIn(2) ? json("http") : json(Below(99));
      case ValueKind::kBytes:
        return "aHVudGVyMg==";
      case ValueKind::kJson:
        return Any(2);
      case ValueKind::kStruct:
      case ValueKind::kBox:
        return Struct(*static_cast<const TypeTable*>(detail), depth - 1);
      case ValueKind::kList:
      case ValueKind::kMap:
        return Container(kind, *static_cast<const ValueType*>(detail), depth);
    }
    return nullptr;
  }

  json Container(ValueKind kind, const ValueType& element, int depth) {
    json value = kind == ValueKind::kList ? json::array() : json::object();
    for (int i = Below(4); i > 0; --i) {
      json inner = OneIn(10) ? json() : Value(element.kind, DetailOf(element), depth - 1);
      if (kind == ValueKind::kList) {
        value.push_back(std::move(inner));
      } else {
        value["k" + std::to_string(Below(9))] = std::move(inner);
      }
    }
    return value;
  }

  std::mt19937_64 random_;
};

// Takes away what reads as absent and is not sent back.
void DropNulls(json& value, ValueKind kind, const void* detail) {
  const bool is_struct = kind == ValueKind::kStruct || kind == ValueKind::kBox;
  if (is_struct && value.is_object()) {
    for (const Field& field : *static_cast<const TypeTable*>(detail)) {
      const auto member = value.find(std::string(field.wire_name()));
      if (member == value.end()) continue;
      if (member->is_null() && field.kind != ValueKind::kJson && (field.flags & kNullable) == 0) {
        value.erase(member);
      } else {
        DropNulls(*member, field.kind, field.detail);
      }
    }
  } else if ((kind == ValueKind::kList && value.is_array()) || (kind == ValueKind::kMap && value.is_object())) {
    const auto& element = *static_cast<const ValueType*>(detail);
    for (json& inner : value) DropNulls(inner, element.kind, DetailOf(element));
  }
}

// Quantities of more than fifteen digits come back in quotes; no other value here is so long a number.
std::string WithoutLongNumbers(std::string text) {
  const std::string number = "9223372036854775807";
  for (std::size_t at; (at = text.find("\"" + number + "\"")) != text.npos;)
    text.replace(at, number.size() + 2, number);
  return text;
}

TEST(Lossless, WhateverADocumentHoldsComesBack_D6) {
  Maker maker(20261121);
  ObjectDecoder decoder(Widget::kTable);
  int decoded = 0;
  for (int i = 0; i < 4000; ++i) {
    json document = maker.Struct(Widget::kTable, 5);
    const std::string text = document.dump();
    const auto widget = Decode<Widget>(text);
    if (!widget) continue;  // a name that is no text
    ++decoded;
    DropNulls(document, ValueKind::kStruct, &Widget::kTable);
    document["apiVersion"] = "test.kgen.dev/v1";
    document["kind"] = "Widget";
    const std::string back = Encode(*widget);
    ASSERT_EQ(WithoutLongNumbers(CanonicalJson(back)), WithoutLongNumbers(CanonicalJson(document.dump()))) << text;
    ASSERT_EQ(Encode(Must(decoder.Decode(text))), back) << text;
    const Widget again = Must(Decode<Widget>(back));
    ASSERT_EQ(again, *widget) << text;
    ASSERT_EQ(Hash(again), Hash(*widget)) << text;
    ASSERT_EQ(Encode(again), back) << text;
  }
  EXPECT_GT(decoded, 3500);
}

}  // namespace
}  // namespace kgen
