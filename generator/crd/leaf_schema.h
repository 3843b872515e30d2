// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Schemas that do not depend on the structs of a header: of single values, and of metadata.
#ifndef KGEN_GENERATOR_CRD_LEAF_SCHEMA_H_
#define KGEN_GENERATOR_CRD_LEAF_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/crd/description.h"
#include "generator/crd/tree.h"
#include "generator/crd/webhook_markers.h"

namespace kgen::generator::crd {

class UsedApis;

// The bytes of a description of a type that another API declares. A CRD with a pod template, which has a thousand of
// them, must stay below the 256 KiB that `kubectl apply` can put into an annotation.
inline constexpr std::size_t kUsedDescription = 150;

enum class DescriptionOf : std::uint8_t { kOwnType, kUsedType };

struct SchemaOptions {
  std::optional<std::size_t> max_description = {};  // bytes; 0: no descriptions; by default whole, or kUsedDescription
  bool embedded_metadata = false;  // the schema of metadata inside a kind has its labels, annotations and so on
  const UsedApis* apis = nullptr;  // null: no struct of another generated API is used
  // The Service that converts the kinds with +kgen:hub; none: their CRDs have no conversion.
  std::optional<WebhookService> conversion = {};
};

// A value without members: every kind but structs, enums, lists and maps.
Tree LeafSchema(TypeKind kind);

// Metadata inside of a kind, as in a pod template. A server drops the members that a schema does not have.
Tree EmbeddedMetadata(const SchemaOptions& options);

// Adds a description, cut to the length that the options allow: behind a sentence or else a word, if there is one.
void AddDescription(const std::vector<std::string>& lines, DescriptionOf which, const SchemaOptions& options,
                    Tree& schema);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_LEAF_SCHEMA_H_
