// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The comments of generated declarations: the document's description, and the facts that the C++ type does not show.
#ifndef KGEN_GENERATOR_EMIT_DESCRIBE_H_
#define KGEN_GENERATOR_EMIT_DESCRIBE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "generator/model/api.h"

namespace kgen::generator::emit {

// The comment of a member: its description, followed by what the declaration does not show: required, known values,
// default, limits. Code from a CRD has no comment where there is neither. In code from an API document every name has
// one (the built-in API comes without descriptions), so an optional member says "Optional.".
std::vector<std::string> DescribeField(const model::Field& field, bool from_document);

// The comment of a struct. `fallback` is used if the document has no description; may be empty.
std::vector<std::string> DescribeStruct(const model::Schema& schema, const std::string& fallback);

// The sentence about deprecation in the comments of a deprecated version.
std::string DescribeDeprecation(const model::ApiKind& kind);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_DESCRIBE_H_
