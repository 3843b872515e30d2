// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One part of resolve.h: resolves a single schema. Private to generator/model.
#ifndef KGEN_GENERATOR_MODEL_RESOLVE_SCHEMA_H_
#define KGEN_GENERATOR_MODEL_RESOLVE_SCHEMA_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "generator/diagnostic.h"
#include "generator/document_path.h"
#include "generator/model/raw_schema.h"
#include "generator/model/schema.h"

namespace kgen::generator::model {

// Definitions that become a value of their own Kind (a time, a quantity) wherever they are referenced.
std::optional<Schema> WellKnownValue(std::string_view definition);

using Definitions = std::map<std::string, RawDefinition, std::less<>>;

// Whether a definition becomes a NamedType. Others are copied in place of each reference to them.
bool IsNamedDefinition(const RawDefinition& definition, const Definitions& definitions);

class SchemaResolver {
 public:
  struct Rules {
    bool custom = false;            // a CRD's schema: structural rules apply, an object keeps only declared members
    bool preserve_unknown = false;  // spec.preserveUnknownFields
  };

  SchemaResolver(const Draft& draft, const std::map<std::string, TypeId, std::less<>>& named, TypeId object_meta,
                 Diagnostics& diagnostics, bool quantity_by_pattern)
      : draft_(draft),
        named_(named),
        object_meta_(object_meta),
        diagnostics_(diagnostics),
        quantity_by_pattern_(quantity_by_pattern) {}

  // Any schema.
  Schema Resolve(const RawSchema& raw, const Rules& rules, const DocumentPath& path);

  // The root of a kind: an object with apiVersion, kind and metadata, whatever `raw` says. `raw` is null for a version
  // without a schema.
  Schema ResolveKind(const RawSchema* raw, const Rules& rules, const DocumentPath& path);

 private:
  Schema Decide(const RawSchema& raw, const Rules& rules, const DocumentPath& path);
  std::optional<Schema> DecideReference(const RawSchema& raw, const Rules& rules, const DocumentPath& path);
  Schema FollowReference(const std::string& name, Origin origin, const DocumentPath& path);
  bool MayFollow(std::string_view name, Origin origin, const DocumentPath& path);
  Schema DecideObject(const RawSchema& raw, const Rules& rules, const DocumentPath& path);
  Schema DecideArray(const RawSchema& raw, const Rules& rules, const DocumentPath& path);
  Schema DecideString(const RawSchema& raw);
  Schema DecideUntyped(const RawSchema& raw, const Rules& rules, const DocumentPath& path);
  Schema DecideIntOrString(const RawSchema& raw) const;
  bool IsIntOrString(const RawSchema& raw) const;
  void AddFields(const RawSchema& raw, const Rules& rules, const DocumentPath& path, Schema& schema);
  void AddBranchFields(const RawSchema& raw, const DocumentPath& path, std::set<std::string_view>& merged,
                       Schema& schema);
  void AddMember(Field field, const DocumentPath& path, Schema& schema);
  void AddStandardFields(Schema& schema);
  void MarkRequired(const RawSchema& raw, const Rules& rules, const DocumentPath& path, bool standard_fields,
                    Schema& schema);
  void AddEnum(const RawSchema& raw, const DocumentPath& path, Schema& schema);
  void CheckStructure(const RawSchema& raw, const DocumentPath& path);
  void WarnOfNoType(const RawSchema& raw, const Schema& schema, const DocumentPath& path);
  void Warn(std::string_view id, Origin origin, std::string message, const DocumentPath& path, std::string hint = {});

  const Draft& draft_;
  const std::map<std::string, TypeId, std::less<>>& named_;
  const TypeId object_meta_;
  Diagnostics& diagnostics_;
  const bool quantity_by_pattern_;           // as in ResolveOptions
  std::vector<std::string_view> following_;  // definitions without a struct of their own that are being expanded
  std::size_t followed_ = 0;                 // values created for such definitions so far
  bool told_of_size_ = false;
};

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_RESOLVE_SCHEMA_H_
