// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Schemas that do not depend on the structs of a header: those of single values, and of metadata.
#ifndef KGEN_GENERATOR_CRD_LEAF_SCHEMA_H_
#define KGEN_GENERATOR_CRD_LEAF_SCHEMA_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "generator/crd/description.h"
#include "generator/crd/tree.h"

namespace kgen::generator::crd {

class UsedApis;

struct SchemaOptions {
  std::size_t max_description = std::string_view::npos;  // bytes; 0: no descriptions
  bool embedded_metadata = false;  // the schema of metadata inside a kind has its labels, annotations and so on
  const UsedApis* apis = nullptr;  // null: no struct of another generated API is used
};

// A value without members: every kind but structs, enums, lists and maps.
Tree LeafSchema(TypeKind kind);

// Metadata inside of a kind, as in a pod template. A server drops the members that a schema does not have.
Tree EmbeddedMetadata(const SchemaOptions& options);

// Adds a description, cut to the length that the options allow: behind a sentence or else a word, if there is one.
void AddDescription(const std::vector<std::string>& lines, const SchemaOptions& options, Tree& schema);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_LEAF_SCHEMA_H_
