// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The comments of generated declarations: the document's description, and the facts that the C++ type does not show.
#ifndef KGEN_GENERATOR_EMIT_SPELLING_DESCRIBE_H_
#define KGEN_GENERATOR_EMIT_SPELLING_DESCRIBE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "generator/model/api.h"

namespace kgen::generator::emit {

// Each speaks of a declaration that stands for one or more positions in the input, and says what is true of all.

// The comment above a member: its description, followed by what the declaration does not show: default, limits, how
// elements are told apart. None where there is neither.
std::vector<std::string> DescribeField(const std::vector<const model::Field*>& positions);

// The comment after a member: its wire name if `identifier` differs, "required", and the struct with its known values
// (`values`, may be empty).
std::string DescribeMember(const std::vector<const model::Field*>& positions, const std::string& identifier,
                           const std::string& values);

// The comment of a struct. `fallback` is used if no document has a description; may be empty.
std::vector<std::string> DescribeStruct(const std::vector<const model::Schema*>& positions,
                                        const std::string& fallback);

// The description of a property that all its positions share; those without one do not count. Empty if they differ.
std::vector<std::string> CommonProse(const std::vector<const model::Field*>& positions);

bool IsRequired(const std::vector<const model::Field*>& positions);

// The sentence about deprecation in the comments of a deprecated version.
std::string DescribeDeprecation(const model::ApiKind& kind);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_SPELLING_DESCRIBE_H_
