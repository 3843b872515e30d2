// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The comments of generated declarations: the document's own words, and the facts that the C++ type does not show.
// [GEN DOC-08, DOC-10, DOC-13]
#ifndef KGEN_GENERATOR_EMIT_DESCRIBE_H_
#define KGEN_GENERATOR_EMIT_DESCRIBE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "generator/model/api.h"

namespace kgen::generator::emit {

// Never empty: where there is no description, a line of facts.
std::vector<std::string> DescribeField(const model::Api& api, const model::Field& field);

// A struct. `fallback` says what it is when nobody described it.
std::vector<std::string> DescribeStruct(const model::Schema& schema, const std::string& fallback);

// The value of an element or alias, in words: "list of string", "Container".
std::string DescribeType(const model::Api& api, const model::Schema& schema);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_DESCRIBE_H_
