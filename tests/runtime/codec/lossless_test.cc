// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Thousands of random documents, generated from the tables, with wrong, unknown and null values and unusual spellings
// of numbers: all of them are written back as the same JSON value, with each number spelled as before.
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

#include <nlohmann/json.hpp>

#include "kgen/core/value_type.h"
#include "tests/runtime/codec/codec_fixture.h"
#include "tests/runtime/codec/exactly.h"

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
  json Pick(std::initializer_list<const char*> from) { return from.begin()[Below(static_cast<int>(from.size()))]; }

  json Any(int depth) {
    static const json kScalars[] = {nullptr,
                                    true,
                                    false,
                                    -7,
                                    2147483648,
                                    9223372036854775807,
                                    0.125,
                                    "",
                                    "500m",
                                    "1h30m",
                                    "AA==",
                                    "2026-11-21T08:33:00.5+02:00",
                                    "short",
                                    "text that is longer than fifteen bytes",
                                    "\"\\\n\xC3\xA9",
                                    "#1.0",
                                    "#-0",
                                    "#1E5",
                                    "#1e-7",
                                    "#0.10",
                                    "#1e400",
                                    "#12345678901234567890123"};
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

  // Returns a value that is mostly of that kind.
  json Value(ValueKind kind, const void* detail, int depth) {
    if (OneIn(12)) return Any(2);
    switch (kind) {
      case ValueKind::kBool:
        return OneIn(2);
      case ValueKind::kInt32:
        if (OneIn(4)) return Pick({"#1.0", "#-0", "#2e2", "#30e-1", "#-7.00"});
        return Below(1000);
      case ValueKind::kInt64:
        if (OneIn(4)) return Pick({"#1E18", "#-0.0", "#9007199254740993.0", "#5"});
        return static_cast<std::int64_t>(random_() * random_());
      case ValueKind::kDouble:
        if (OneIn(2)) {
          return Pick({"#1.0", "#-0", "#1e-7", "#1e-07", "#1E5", "#100000", "#0.10", "#1e300", "#1e-400", "#3",
                       "#12345678901234567890123", "#0.1000000000000000055511151231257827"});
        }
        return Below(100) / 4.0;
      case ValueKind::kString:
        return std::string(static_cast<std::size_t>(Below(30)), 'q');
      case ValueKind::kTime:
      case ValueKind::kMicroTime:
        return OneIn(2) ? "2026-11-21T08:33:00Z" : "2026-11-21T08:33:00.123456+01:00";
      case ValueKind::kDuration:
        return "90s";
      case ValueKind::kQuantity:
        if (OneIn(4)) return Pick({"#1.50", "#1e3", "#1234567890123456789", "#0.33333333333333333"});
        return OneIn(2) ? json("1500m") : json(Below(9));
      case ValueKind::kIntOrString:
        if (OneIn(4)) return Pick({"#8e1", "#80.0", "#-0"});
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

// Numbers that nlohmann_json would spell in its own way are strings in a document, marked.
constexpr char kMark = '#';

std::string WithNumbers(const json& document) {
  std::string text = document.dump();
  for (std::size_t at = 0; (at = text.find(std::string("\"") + kMark, at)) != text.npos;) {
    const std::size_t end = text.find('"', at + 1);
    text = text.substr(0, at) + text.substr(at + 2, end - at - 2) + text.substr(end + 1);
  }
  return text;
}

TEST(Lossless, EveryDocumentIsWrittenBackAsItWasSpelled) {
  Maker maker(20261121);
  ObjectDecoder decoder(Widget::kTable);
  int decoded = 0;
  for (int i = 0; i < 4000; ++i) {
    json document = maker.Struct(Widget::kTable, 5);
    const std::string text = WithNumbers(document);
    const auto widget = Decode<Widget>(text);
    if (!widget) continue;  // a name that is no text
    ++decoded;
    document["apiVersion"] = "test.kgen.dev/v1";
    document["kind"] = "Widget";
    const std::string back = Encode(*widget);
    ASSERT_EQ(Exactly(back), Exactly(WithNumbers(document))) << text;
    ASSERT_EQ(Encode(Must(decoder.Decode(text))), back) << text;
    Widget copy = *widget;
    ASSERT_EQ(Encode(copy), back) << text;
    const Widget again = Must(Decode<Widget>(back));
    ASSERT_EQ(again, *widget) << text;
    ASSERT_EQ(Hash(again), Hash(*widget)) << text;
    ASSERT_EQ(Encode(again), back) << text;
  }
  EXPECT_GT(decoded, 3500);
}

}  // namespace
}  // namespace kgen
