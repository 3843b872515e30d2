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

// The comment above a member, including the slashes: at most two lines of `width` columns. Facts that the declaration
// does not show stand around the description, in a fixed order: the wire name if `identifier` differs, "Required.", the
// struct with the known values (`values`, may be empty), how elements are told apart; then default, limits, unit, and
// who may change it. A description that is too long is cut.
std::vector<std::string> DescribeMember(const std::vector<const model::Field*>& positions,
                                        const std::string& identifier, const std::string& values, std::size_t width);

// "In seconds", without a full stop; empty if there is no unit or the text has it.
std::string UnitSentence(const model::Notes& notes, const std::vector<std::string>& text);

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
