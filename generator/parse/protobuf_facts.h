// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How the types of an API are encoded in protobuf, which its documents do not say: openapi/README.md has the format.
//
//   protobuf: 1
//   types:
//     io.k8s.api.core.v1.Volume: {name: 1 value, hostPath: 2.1}    --> ProtobufField of each property
#ifndef KGEN_GENERATOR_PARSE_PROTOBUF_FACTS_H_
#define KGEN_GENERATOR_PARSE_PROTOBUF_FACTS_H_

#include <map>
#include <string>

#include "generator/model/raw_schema.h"
#include "generator/parse/reader.h"

namespace kgen::generator::parse {

// The encoding of each member: definition -> member -> field.
using ProtobufFacts = std::map<std::string, std::map<std::string, model::ProtobufField>, std::less<>>;

// Returns whether a document says how types are encoded.
bool IsProtobufFacts(const MapReader& map);

// Adds the facts of a document. What is malformed is reported and left out.
void ReadProtobufFacts(const MapReader& map, ProtobufFacts& facts);

// Gives the members of definitions their facts. Facts of types and members that the Draft lacks are left out, because
// they may be of a larger API.
void JoinProtobufFacts(const ProtobufFacts& facts, model::Draft& draft);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_PROTOBUF_FACTS_H_
