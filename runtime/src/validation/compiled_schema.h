// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The schema of one version of a CRD, and what else a server checks objects of that version against.
#ifndef KGEN_SRC_VALIDATION_COMPILED_SCHEMA_H_
#define KGEN_SRC_VALIDATION_COMPILED_SCHEMA_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/validation/validate.h"
#include "validation/node.h"

namespace kgen::validation {

// Immutable: any thread.
class CompiledSchema final : public SharedObject {
 public:
  // Compiles version number `index` of a CRD.
  //
  // Errors: kInvalidArgument  the version has no schema, or Compile() refuses it
  static Result<Shared<const CompiledSchema>> FromVersion(const nlohmann::json& crd, std::size_t index);

  // Drops the members that a server does not know, except in the metadata, and adds their paths to `dropped`.
  void Prune(nlohmann::json& object, std::vector<std::string>& dropped) const;
  // Drops nulls that the schema does not allow, and sets the defaults of absent members.
  void SetDefaults(nlohmann::json& object) const;
  // Adds the errors of a completed object, except for its metadata, apiVersion and kind.
  void Check(const nlohmann::json& object, FieldErrors& errors) const;
  // Does everything that kgen::Schema::Validate() promises.
  Validation Validate(nlohmann::json object) const;

 private:
  CompiledSchema() = default;
  bool CheckTypeMeta(const nlohmann::json& object, FieldErrors& errors) const;
  void CheckScale(const nlohmann::json& object, FieldErrors& errors) const;

  std::string api_version_{}, kind_{};
  std::unique_ptr<const Node> node_{};
  // The paths of a scale subresource as the CRD spells them; "" if there is none.
  std::string spec_replicas_{}, status_replicas_{}, label_selector_{};
};

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_COMPILED_SCHEMA_H_
