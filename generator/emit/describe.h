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

// The comments of a member: its description, and behind it what the declaration does not show: required, known values,
// default, limits. Where there is neither, none in code from a CRD [GEN DOC-08]; in code from an API document, whose
// prose is left out where it is built in, every name has a comment, so what is not required is called optional.
std::vector<std::string> DescribeField(const model::Field& field, bool from_document);

// A struct. `fallback` is what is said when nobody described it; empty: nothing.
std::vector<std::string> DescribeStruct(const model::Schema& schema, const std::string& fallback);

// How deprecated versions are told in every comment about them. [GEN MV-03]
std::string DescribeDeprecation(const model::ApiKind& kind);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_DESCRIBE_H_
