// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Adds errors about JSON values to FieldErrors, in the words of servers.
#ifndef KGEN_SRC_VALIDATION_REPORT_H_
#define KGEN_SRC_VALIDATION_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/field_errors.h"

namespace kgen::validation {

// How servers call the place of an error that has no path: the object itself, or several members.
inline constexpr std::string_view kNowhere = "<nil>";

void AddInvalid(FieldErrors& errors, std::string_view field, const nlohmann::json& value, std::string_view why);
void AddDuplicate(FieldErrors& errors, std::string_view field, const nlohmann::json& value);
void AddNotSupported(FieldErrors& errors, std::string_view field, const nlohmann::json& value,
                     const std::vector<nlohmann::json>& supported);

// Returns a number as Go prints it with %v: 2.5, 1e+06.
std::string NumberText(double value);

// Returns the path of a member of an object, and of a member that stands for any name: spec.item, spec.options[size].
std::string ChildPath(std::string_view path, std::string_view name);
std::string KeyPath(std::string_view path, std::string_view key);
std::string IndexPath(std::string_view path, std::size_t index);

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_REPORT_H_
