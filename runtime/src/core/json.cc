// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/json.h"

#include <nlohmann/json.hpp>

#include "core/json/compact_json.h"
#include "core/json/json_depth.h"
#include "core/json/json_value.h"

namespace kgen {

template <typename Value>
Json Json::From(const Value& value) {
  // Invalid UTF-8 becomes U+FFFD, because a server could not read it.
  return Json(std::string_view(detail::CompactJson(value)));
}

template <typename Value>
Value Json::Parse() const {
  if (detail::NestsTooDeep(text())) return Value(Value::value_t::discarded);
  return Value::parse(text(), /*cb=*/nullptr, /*allow_exceptions=*/false);
}

bool operator==(const Json& a, const Json& b) noexcept {
  return a.has_value() == b.has_value() && detail::SameJson(a.text(), b.text());
}

template Json Json::From(const nlohmann::json&);
template Json Json::From(const nlohmann::ordered_json&);
template nlohmann::json Json::Parse() const;
template nlohmann::ordered_json Json::Parse() const;

}  // namespace kgen
