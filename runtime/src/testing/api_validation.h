// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The check of an object against the schema of a CRD, with the messages of a real server. Checked: types, required
// members, enumerations, bounds, lengths, patterns, counts, sets and keyed lists, formats, allOf, anyOf, oneOf and not.
// Not checked: x-kubernetes-validations (CEL), the formats that IsOfFormat() does not name, and patterns that
// Boost.Regex cannot read; they are RE2 on a real server.
#ifndef KGEN_SRC_TESTING_API_VALIDATION_H_
#define KGEN_SRC_TESTING_API_VALIDATION_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "testing/api_error.h"

namespace kgen::testing {

// What is wrong with an object; nothing if it fits. Without metadata, apiVersion and kind.
std::vector<FieldFault> ValidateObject(const nlohmann::json& object, const nlohmann::json& schema);

// True for a format that is not known, as on a real server.
bool IsOfFormat(const std::string& text, std::string_view format);
// An unanchored search. True if the pattern cannot be read.
bool MatchesPattern(const std::string& text, const std::string& pattern);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_API_VALIDATION_H_
