// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a server checks of an object beside its values: sets, keyed lists, embedded resources, and rules in CEL, which
// are only listed here.
#ifndef KGEN_SRC_VALIDATION_STRUCTURE_CHECK_H_
#define KGEN_SRC_VALIDATION_STRUCTURE_CHECK_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kgen/core/field_errors.h"
#include "kgen/validation/validate.h"
#include "validation/node.h"

namespace kgen::validation {

// Adds the errors of apiVersion, kind and metadata of the resources in a value.
void CheckEmbedded(const nlohmann::json& value, const Node& node, const std::string& path, FieldErrors& errors);

// Adds the entries of sets that are equal to an earlier one, and the entries of keyed lists with the keys of one.
void CheckLists(const nlohmann::json& value, const Node& node, const std::string& path, FieldErrors& errors);

// Adds the rules that apply to the value and to what is in it.
void CollectRules(const nlohmann::json& value, const Node& node, const std::string& path,
                  std::vector<UncheckedRule>& rules);

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_STRUCTURE_CHECK_H_
