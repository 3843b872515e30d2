// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks apiVersion, kind and metadata, of an object and of the resources that are embedded in one.
#ifndef KGEN_SRC_VALIDATION_METADATA_CHECK_H_
#define KGEN_SRC_VALIDATION_METADATA_CHECK_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kgen/core/field_errors.h"

namespace kgen::validation {

// Gives an object with a generateName, and without a name, a name such as a server would. Adds metadata if there is
// none.
void NameObject(nlohmann::json& object);

// Checks the metadata of an object, in which the namespace may be absent.
void CheckMetadata(const nlohmann::json& object, FieldErrors& errors);

// Checks a resource in an object, which needs apiVersion and kind, but no metadata.
void CheckEmbeddedResource(const nlohmann::json& resource, const std::string& path, FieldErrors& errors);

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_METADATA_CHECK_H_
