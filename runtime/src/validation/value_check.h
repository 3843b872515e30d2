// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks values against a schema, as pkg/validation/validate of k8s.io/kube-openapi does. What may look like mistakes
// here are the server's: a list passes for a string with a format, and a number such as 1.5 in a member of type integer
// has two errors.
#ifndef KGEN_SRC_VALIDATION_VALUE_CHECK_H_
#define KGEN_SRC_VALIDATION_VALUE_CHECK_H_

#include <nlohmann/json.hpp>
#include <string>

#include "kgen/core/field_errors.h"
#include "validation/node.h"

namespace kgen::validation {

// Adds what is wrong with `value`, whose path is `path` ("" for an object), except for sets, keyed lists, embedded
// resources and rules.
void CheckValue(const nlohmann::json& value, const Node& node, const std::string& path, FieldErrors& errors);

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_VALUE_CHECK_H_
