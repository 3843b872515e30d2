// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: finds and replaces a value in JSON text by its path, without parsing the rest into memory. Keeps all other
// bytes: the order of members, the spelling of numbers, white space.
#ifndef KGEN_SRC_CORE_JSON_PATH_H_
#define KGEN_SRC_CORE_JSON_PATH_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"

namespace kgen::detail {

// A member's name, or the index of an element.
struct JsonStep {
  std::string name{};
  std::optional<std::size_t> index{};
};

// "spec.lines[0].item", "data['tls.crt']". Errors: kInvalidArgument, with the position.
Result<std::vector<JsonStep>> ParseJsonPath(std::string_view path);

// All of these fail with kDecode if `json` cannot be read, or if a value on the path is neither an object nor a list.
using JsonSteps = std::span<const JsonStep>;
// Returns the text of the value; kNotFound if there is none.
Result<std::string_view> FindJson(std::string_view json, JsonSteps steps);
// Returns `json` with `value` at the path; a `json` of "" is an absent value. kInvalidArgument for an index that is too
// large.
Result<std::string> SetJson(std::string_view json, JsonSteps steps, std::string_view value);
// Returns `json` without the value at the path, or nullopt if there is none.
Result<std::optional<std::string>> RemoveJson(std::string_view json, JsonSteps steps);

// Calls `visit` for each element of a list (with an empty name) or member of an object (with its name, unescaped).
Result<void> ForEachJson(std::string_view json,
                         const std::function<void(std::string_view name, std::string_view value)>& visit);

// "an object", "a list", "a string", "a number", "a boolean", "null": for messages.
std::string_view KindOfJson(std::string_view json) noexcept;
// Returns what a JSON string, with its quotes, stands for. Errors: kDecode.
Result<std::string> StringOfJson(std::string_view json);

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_PATH_H_
