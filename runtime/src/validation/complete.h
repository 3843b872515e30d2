// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a server makes of an object before it checks it: it drops unknown members and nulls, and sets defaults.
#ifndef KGEN_SRC_VALIDATION_COMPLETE_H_
#define KGEN_SRC_VALIDATION_COMPLETE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "validation/node.h"

namespace kgen::validation {

// Drops the members that a server does not know from the metadata of an object, and adds their paths to `dropped`.
// Drops nulls too. `path` is the path of the object.
void PruneMetadata(nlohmann::json& object, const std::string& path, std::vector<std::string>& dropped);

// Drops the unknown members of an object, except in its metadata, and adds their paths to `dropped`.
void Prune(nlohmann::json& object, const Node& schema, std::vector<std::string>& dropped);

// Drops nulls that the schema does not allow, and sets the defaults of absent members.
void SetDefaults(nlohmann::json& object, const Node& schema);

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_COMPLETE_H_
