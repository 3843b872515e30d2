// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reduces API documents to facts: the part of an OpenAPI v3 document that the generator needs, without descriptions.
//
//   api__v1.json.gz --ReduceToFacts()--> api__v1.json, still an OpenAPI v3 document, which the generator reads as any
//   other
//
// Kept: all schemas whole but for description, title, example and externalDocs; paths of resources with their verbs
// (x-kubernetes-action), the kind of each body, parameters in paths, `watch` of lists, the query parameters of connect
// operations. Dropped: descriptions, the deprecated /watch/ paths, discovery, tags, operation ids, other query
// parameters (every resource has the same), all responses except the first successful one, security, lists of more than
// one kind at one definition.
//
// Keys are sorted and the layout is a function of the content, so the same server always gives the same bytes, and the
// difference between two versions is readable.
#ifndef KGEN_GENERATOR_PARSE_FACTS_H_
#define KGEN_GENERATOR_PARSE_FACTS_H_

#include <string>

#include "generator/parse/reader.h"

namespace kgen::generator::parse {

// The facts of an OpenAPI v3 document that ParseOpenApi() has read without error. Ends with a newline.
std::string ReduceToFacts(const MapReader& document);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_FACTS_H_
