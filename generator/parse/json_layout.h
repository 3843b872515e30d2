// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Writes JSON for people to read and compare: sorted keys, one space of indentation, and values that fit on one line
// are written on one line.
#ifndef KGEN_GENERATOR_PARSE_JSON_LAYOUT_H_
#define KGEN_GENERATOR_PARSE_JSON_LAYOUT_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/codec/yaml.h"

namespace kgen::generator::parse {

// A JSON value under construction. Scalars are kept as JSON text.
class JsonValue {
 public:
  static JsonValue Scalar(std::string json);
  static JsonValue String(std::string_view text);
  static JsonValue List() { return JsonValue(Kind::kList); }
  static JsonValue Map() { return JsonValue(Kind::kMap); }
  static JsonValue Copy(const yaml::Node& node);

  void Add(JsonValue item) { items_.push_back(std::move(item)); }  // to a list
  void Set(std::string_view key, JsonValue value) {
    members_.insert_or_assign(std::string(key), std::move(value));
  }  // in a map
  bool empty() const { return items_.empty() && members_.empty() && text_.empty(); }

  // Ends with a newline.
  std::string Layout(std::size_t width = 120) const;

 private:
  enum class Kind { kScalar, kList, kMap };
  explicit JsonValue(Kind kind) : kind_(kind) {}

  std::size_t CompactSize() const;
  void WriteCompact(std::string& out) const;
  void Write(std::size_t width, std::size_t indent, std::size_t used, std::string& out) const;

  Kind kind_;
  std::string text_;
  std::vector<JsonValue> items_;
  std::map<std::string, JsonValue, std::less<>> members_;
};

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_JSON_LAYOUT_H_
