// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "validation/report.h"

#include <cstdint>
#include <limits>

#include "core/json/compact_json.h"
#include "kgen/core/json.h"

namespace kgen::validation {
namespace {

using nlohmann::json;

// Calls `add` with the value as the type that a server holds it in.
template <typename Add>
void WithValue(const json& value, const Add& add) {
  if (value.is_string()) return add(std::string_view(value.get_ref<const std::string&>()));
  if (value.is_boolean()) return add(value.get<bool>());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    return add(value.get<double>());
  if (value.is_number_integer()) return add(value.get<std::int64_t>());
  if (value.is_number_float()) return add(value.get<double>());
  add(Json(detail::CompactJson(value)));
}

}  // namespace

void AddInvalid(FieldErrors& errors, std::string_view field, const json& value, std::string_view why) {
  WithValue(value, [&](const auto& shown) { errors.Invalid(field, shown, why); });
}

void AddDuplicate(FieldErrors& errors, std::string_view field, const json& value) {
  WithValue(value, [&](const auto& shown) { errors.Duplicate(field, shown); });
}

void AddNotSupported(FieldErrors& errors, std::string_view field, const json& value,
                     const std::vector<json>& supported) {
  std::vector<std::string> texts;
  for (const json& each : supported)
    texts.push_back(each.is_string() ? each.get<std::string>() : detail::CompactJson(each));
  WithValue(value, [&](const auto& shown) { errors.NotSupported(field, shown, texts); });
}

std::string NumberText(double value) {
  FieldErrors errors;  // which print numbers as Go does
  errors.Invalid("", value, "");
  return errors.begin()->message.substr(sizeof("Invalid value: ") - 1);
}

std::string ChildPath(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : std::string(path) + "." + std::string(name);
}

std::string KeyPath(std::string_view path, std::string_view key) {
  return std::string(path) + "[" + std::string(key) + "]";
}

std::string IndexPath(std::string_view path, std::size_t index) { return KeyPath(path, std::to_string(index)); }

}  // namespace kgen::validation
