// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Validates an object against the schema of a CRD, with the messages of a real server. It checks types, required
// members, enumerations, bounds, lengths, patterns, counts, sets and keyed lists, formats, allOf, anyOf, oneOf and not.
// It does not check x-kubernetes-validations (CEL), formats that IsOfFormat() does not know, and patterns that
// Boost.Regex cannot parse; a real server uses RE2.
#ifndef KGEN_SRC_TESTING_API_VALIDATION_H_
#define KGEN_SRC_TESTING_API_VALIDATION_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "testing/api_error.h"

namespace kgen::testing {

// Returns the validation errors of an object; empty if it is valid. Ignores metadata, apiVersion and kind.
std::vector<FieldFault> ValidateObject(const nlohmann::json& object, const nlohmann::json& schema);

// Returns true for an unknown format, as a real server does.
bool IsOfFormat(const std::string& text, std::string_view format);
// Searches without anchors. Returns true if the pattern cannot be parsed.
bool MatchesPattern(const std::string& text, const std::string& pattern);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_API_VALIDATION_H_
