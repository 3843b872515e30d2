// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The part of plan.h that plans structs. Private to generator/emit.
//
// The order of members does not depend on the order in the input: metadata, spec and status come first in kinds, name
// and namespace in structs that have them, and the others follow in byte order of their wire names.
#ifndef KGEN_GENERATOR_EMIT_PLAN_PLAN_TYPES_H_
#define KGEN_GENERATOR_EMIT_PLAN_PLAN_TYPES_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/plan/plan.h"
#include "generator/emit/plan/schemas.h"
#include "generator/emit/plan/shapes.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// The two spellings of a type: inside the struct, and in the tables at namespace scope.
struct Spelling {
  std::string in_class;
  std::string in_tables;
};

// A member of a struct: its property at each position of the struct. Never empty; all have the same name.
using Member = std::vector<const model::Field*>;

class StructPlanner {
 public:
  // `names` is indexed by TypeId. `scope` is the namespace of all structs that this planner makes.
  StructPlanner(const model::Api& api, const std::vector<TypeName>& names, const Shapes& shapes, std::string scope,
                Diagnostics& diagnostics)
      : api_(api), names_(names), shapes_(shapes), scope_(std::move(scope)), diagnostics_(diagnostics) {}

  // `about` is the comment if the document has no description; `deprecation` is always added. Both may be empty.
  PlannedStruct Plan(const model::NamedType& type, const std::string& name, const std::string& title,
                     const std::string& about, const std::string& deprecation) const;

  // Plans a struct of shapes.h. `group` is the name of the group in table names: "acme.shop".
  PlannedStruct PlanShared(const Shape& shape, const std::string& group) const;

  // Plans the list type of a kind, which has the same description for every kind.
  PlannedStruct PlanList(const std::string& name, const std::string& item) const;

 private:
  struct Scope;
  PlannedStruct PlanObject(const Shape& shape, Scope& scope, const std::string& fallback) const;
  void PlanNested(const std::vector<Member>& members, Scope& scope, PlannedStruct& out) const;
  bool HasConstants(const model::Field& field, const model::Schema& inner, const Scope& scope) const;
  bool IsAliased(const Member& member, const Scope& scope) const;
  void PlanInner(const Member& member, const Scope& scope, PlannedStruct& out) const;
  PlannedField PlanField(const Member& member, const Scope& scope) const;
  void AddOwnProse(const std::vector<const model::Schema*>& own, const std::vector<const model::Schema*>& around,
                   const std::string& path, std::vector<std::string>& lines) const;
  bool HasDifferingProse(const model::Schema& object) const;
  const std::set<std::string_view>& DifferingProse(const Shape& shape) const;
  PlannedEnum PlanEnum(const Member& member, const Scope& scope) const;
  Spelling Spell(const model::Field& field, const model::Schema& schema, const Scope& scope) const;
  Spelling SpellRef(const model::Field& field, const model::Schema& schema, const Scope& scope) const;
  std::string Flags(const Member& member, const Scope& scope) const;
  std::vector<Member> Members(const Shape& shape, model::Role role, const std::string& title) const;

  const model::Api& api_;
  const std::vector<TypeName>& names_;
  const Shapes& shapes_;
  std::string scope_;
  Diagnostics& diagnostics_;
  mutable std::map<const Shape*, std::set<std::string_view>> differing_;  // results of DifferingProse()
  mutable std::map<const Shape*, bool> differing_inside_;                 // results of HasDifferingProse()
};

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_PLAN_TYPES_H_
