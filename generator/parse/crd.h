// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CustomResourceDefinitions, apiextensions.k8s.io/v1 and v1beta1.
//
// Every name of a CRD that becomes part of a path, a file name or an identifier is checked here against the patterns of
// model/names.h. A name that fails is an error at its value, and the CRD is left out.
#ifndef KGEN_GENERATOR_PARSE_CRD_H_
#define KGEN_GENERATOR_PARSE_CRD_H_

#include <string_view>

#include "generator/model/raw_schema.h"
#include "generator/parse/reader.h"

namespace kgen::generator::parse {

// Adds the CRD to `draft` if it has no errors. A second CRD of the same name is dropped with a note if the content is
// equal; otherwise it is an error that names both positions.
void ParseCrd(const MapReader& map, std::string_view api_version, model::Draft& draft);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_CRD_H_
