// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/json_layout.h"

#include <utility>

namespace kgen::generator::parse {
namespace {

std::string Literal(std::string_view text) {
  std::string out;
  yaml::AppendJsonString(text, out);
  return out;
}

}  // namespace

JsonValue JsonValue::Scalar(std::string json) {
  JsonValue value(Kind::kScalar);
  value.text_ = std::move(json);
  return value;
}

JsonValue JsonValue::String(std::string_view text) { return Scalar(Literal(text)); }

JsonValue JsonValue::Copy(const yaml::Node& node) {
  if (node.is_list()) {
    JsonValue list = List();
    for (const yaml::Node& item : node.items()) list.Add(Copy(item));
    return list;
  }
  if (node.is_map()) {
    JsonValue map = Map();
    for (const yaml::Entry& entry : node.entries()) map.Set(entry.key, Copy(entry.value));
    return map;
  }
  return Scalar(yaml::ToJson(node));
}

std::size_t JsonValue::CompactSize() const {
  std::size_t size = kind_ == Kind::kScalar ? text_.size() : 2;
  for (const JsonValue& item : items_) size += item.CompactSize() + 2;
  for (const auto& [key, value] : members_) size += Literal(key).size() + value.CompactSize() + 4;
  return size;
}

void JsonValue::WriteCompact(std::string& out) const {
  if (kind_ == Kind::kScalar) {
    out += text_;
    return;
  }
  const char* separator = "";
  out += kind_ == Kind::kList ? '[' : '{';
  for (const JsonValue& item : items_) {
    out += std::exchange(separator, ", ");
    item.WriteCompact(out);
  }
  for (const auto& [key, value] : members_) {
    out += std::exchange(separator, ", ") + Literal(key) + ": ";
    value.WriteCompact(out);
  }
  out += kind_ == Kind::kList ? ']' : '}';
}

void JsonValue::Write(std::size_t width, std::size_t indent, std::size_t used, std::string& out) const {
  if (empty() || kind_ == Kind::kScalar || used + CompactSize() <= width) {
    WriteCompact(out);
    return;
  }
  const std::string margin(indent + 1, ' ');
  const char* separator = "\n";
  out += kind_ == Kind::kList ? '[' : '{';
  for (const JsonValue& item : items_) {
    out += std::exchange(separator, ",\n") + margin;
    item.Write(width, indent + 1, margin.size(), out);
  }
  for (const auto& [key, value] : members_) {
    const std::string start = Literal(key) + ": ";
    out += std::exchange(separator, ",\n") + margin + start;
    value.Write(width, indent + 1, margin.size() + start.size(), out);
  }
  out += '\n' + std::string(indent, ' ') + (kind_ == Kind::kList ? ']' : '}');
}

std::string JsonValue::Layout(std::size_t width) const {
  std::string out;
  Write(width, 0, 0, out);
  return out + '\n';
}

}  // namespace kgen::generator::parse
