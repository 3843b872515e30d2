// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks numbers as servers do, which hold an integer of 64 bits as such and every other number as a double.
#ifndef KGEN_SRC_VALIDATION_NUMBER_CHECK_H_
#define KGEN_SRC_VALIDATION_NUMBER_CHECK_H_

#include <nlohmann/json.hpp>
#include <string>

#include "kgen/core/field_errors.h"
#include "validation/node.h"

namespace kgen::validation {

// Whether a server holds a value as an integer.
bool IsInt64(const nlohmann::json& value) noexcept;
// Whether a server takes a number for an integer, as it does 4.0.
bool IsWhole(const nlohmann::json& number) noexcept;

// Adds what is wrong with the range, the bounds and the divisor of a number.
void CheckNumber(const nlohmann::json& number, const Node& node, const std::string& path, FieldErrors& errors);

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_NUMBER_CHECK_H_
