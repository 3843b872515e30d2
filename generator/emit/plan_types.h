// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One part of plan.h: structs. Private to generator/emit.
//
// Members have a fixed order that no document can change: metadata, spec and status first for kinds, name and namespace
// first where a struct has them, then byte order of the wire name.
#ifndef KGEN_GENERATOR_EMIT_PLAN_TYPES_H_
#define KGEN_GENERATOR_EMIT_PLAN_TYPES_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/plan.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// The C++ names of a NamedType.
struct TypeName {
  bool emitted = false;   // false: it has no struct, and members of this type are kgen::Json
  bool runtime = false;   // declared by the runtime
  bool used = false;      // declared by another API
  bool open = false;      // only declared so far; defined later in the same header
  std::string name;       // "PodSpec"
  std::string qualified;  // "::k8s::core::v1::PodSpec"
  std::string scope;      // its namespace: "k8s::core::v1"
};

// A type in two spellings: for use inside of the struct, and for the tables at namespace scope.
struct Spelling {
  std::string in_class;
  std::string in_tables;
};

// One member of a struct: a property, at all positions that the struct stands for. Never empty; their names are equal.
using Member = std::vector<const model::Field*>;

class Shapes;
struct Shape;

class StructPlanner {
 public:
  // `names` by TypeId. `scope` is the namespace of all structs that this planner makes.
  StructPlanner(const model::Api& api, const std::vector<TypeName>& names, const Shapes& shapes, std::string scope,
                Diagnostics& diagnostics)
      : api_(api), names_(names), shapes_(shapes), scope_(std::move(scope)), diagnostics_(diagnostics) {}

  // `about` is the comment if the document has no description; `deprecation` is always included. Both may be empty.
  PlannedStruct Plan(const model::NamedType& type, const std::string& name, const std::string& title,
                     const std::string& about, const std::string& deprecation) const;

  // A struct of shapes.h. `group` is the group in the names of tables: "acme.shop".
  PlannedStruct PlanShared(const Shape& shape, const std::string& group) const;

  // The list type of a kind: apiVersion, kind, metadata, items.
  PlannedStruct PlanList(const std::string& name, const std::string& item) const;

 private:
  struct Scope;
  PlannedStruct PlanObject(const Shape& shape, Scope& scope, const std::string& fallback) const;
  void PlanNested(const std::vector<Member>& members, Scope& scope, PlannedStruct& out) const;
  bool IsAliased(const Member& member, const Scope& scope) const;
  bool IsOwnName(const Member& member, const std::string& name) const;
  void PlanInner(const Member& member, const Scope& scope, PlannedStruct& out) const;
  PlannedField PlanField(const Member& member, const Scope& scope) const;
  PlannedEnum PlanEnum(const Member& member, const Scope& scope) const;
  void WarnOfSpelledConstants(const model::Field& field, const std::vector<std::string>& values,
                              const std::vector<std::string>& identifiers, const Scope& scope) const;
  Spelling Spell(const model::Field& field, const model::Schema& schema, const Scope& scope) const;
  Spelling SpellRef(const model::Field& field, const model::Schema& schema, const Scope& scope) const;
  std::string Flags(const Member& member, const Scope& scope) const;
  std::vector<Member> Members(const Shape& shape, model::Role role, const std::string& title) const;

  const model::Api& api_;
  const std::vector<TypeName>& names_;
  const Shapes& shapes_;
  std::string scope_;
  Diagnostics& diagnostics_;
};

// A schema without the aliases in front of it; kRef only when it names a struct.
const model::Schema& Resolved(const model::Api& api, const model::Schema& schema);

// How the type of an anonymous object is called, by the wire name of its property: one of `fields`, the properties of
// the struct around it. `taken` are names that mean something else there.
std::function<std::string(std::string_view)> NameObjects(const model::Api& api,
                                                         const std::vector<const model::Field*>& fields,
                                                         const std::set<std::string, std::less<>>& taken);

// Can a field table hold this name? Only names that JSON needs no escape for qualify, since the encoder writes names of
// a table as they are. Others, and empty or very long ones, get no member; UnknownFields keeps and escapes them.
bool IsTableName(std::string_view wire_name);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_TYPES_H_
