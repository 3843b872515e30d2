// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Descriptions of an API whose documents have none: openapi/README.md has the format.
//
//   descriptions/apps.v1.yaml --JoinDescriptions()--> the schemas of the Draft, as if the document had them
#ifndef KGEN_GENERATOR_PARSE_DESCRIPTIONS_H_
#define KGEN_GENERATOR_PARSE_DESCRIPTIONS_H_

#include <cstdint>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/model/raw_schema.h"
#include "generator/parse/source.h"

namespace kgen::generator::parse {

// How much of the API that the files describe is in the Draft.
enum class DescribedApi : std::uint8_t {
  kWhole,  // an entry without a type or member in the Draft is an error
  kPart,   // such entries are left out
};

// Adds the texts and facts of the files to definitions without a description. The members apiVersion, kind and metadata
// of every kind get the texts kind.* of shared.yaml. No file describes lists, which have comments from the emitter.
void JoinDescriptions(const std::vector<Source>& files, DescribedApi which, model::Draft& draft,
                      Diagnostics& diagnostics);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_DESCRIPTIONS_H_
