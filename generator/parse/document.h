// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reads the sources into the Draft. The kind of a document depends on its content, never on the name of its file.
//
//   Source --ParseSources()--> Draft        (crd.h and openapi.h do the reading)
#ifndef KGEN_GENERATOR_PARSE_DOCUMENT_H_
#define KGEN_GENERATOR_PARSE_DOCUMENT_H_

#include <vector>

#include "generator/diagnostic.h"
#include "generator/model/raw_schema.h"
#include "generator/parse/source.h"

namespace kgen::generator::parse {

// Reads everything that can be read; the errors of all documents go to `diagnostics`. Objects of other kinds are
// skipped with a note; it is an error if nothing is left. Consumes the texts.
model::Draft ParseSources(std::vector<Source> sources, Diagnostics& diagnostics);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_DOCUMENT_H_
