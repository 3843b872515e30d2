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

// The comment above a member: its description, followed by facts that the declaration does not show: default, limits,
// the keys of elements. Empty if there is neither.
std::vector<std::string> DescribeField(const model::Field& field, bool from_document);

// The comment after a member: its wire name if `identifier` differs, "required", and the struct with its known values
// (`values`, may be empty).
std::string DescribeMember(const model::Field& field, const std::string& identifier, const std::string& values);

// The comment of a struct. `fallback` is used if the document has no description; may be empty.
std::vector<std::string> DescribeStruct(const model::Schema& schema, const std::string& fallback);

// The sentence about deprecation in the comments of a deprecated version.
std::string DescribeDeprecation(const model::ApiKind& kind);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_DESCRIBE_H_
