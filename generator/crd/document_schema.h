// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Schemas of API documents and CRDs as schemas for a CRD.
//
// An API document describes what a server sends; a CRD lets a server refuse objects. Enums of a document are left out:
// a newer Kubernetes may know more values. So are the zero values that a document calls the defaults of required
// members, and empty objects as defaults. kubebuilder does the same.
#ifndef KGEN_GENERATOR_CRD_DOCUMENT_SCHEMA_H_
#define KGEN_GENERATOR_CRD_DOCUMENT_SCHEMA_H_

#include <optional>
#include <string_view>

#include "generator/crd/leaf_schema.h"
#include "generator/crd/tree.h"
#include "generator/model/raw_schema.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {

// A definition. References to others stay: {"$ref": "LONG NAME"}.
Tree CopySchema(const model::RawSchema& raw);

// A value of a document as it is.
Tree CopyNode(const yaml::Node& node);

// The schema of a definition that a document does not describe as a CRD has to: Quantity, ObjectMeta and others.
std::optional<Tree> KnownDefinition(std::string_view name, const SchemaOptions& options);

// Adds what Kubernetes' Go types say of a definition and its documents do not: the limits of Condition, and which
// objects are atomic. Removes defaults that are none in Go.
void AddValidation(std::string_view name, Tree& schema);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_DOCUMENT_SCHEMA_H_
