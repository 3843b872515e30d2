// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The part of plan.h that plans structs. Private to generator/emit.
//
// The order of members does not depend on the order in the input: metadata, spec and status come first in kinds, name
// and namespace in structs that have them, and the others follow in byte order of their wire names.
#ifndef KGEN_GENERATOR_EMIT_PLAN_PLAN_TYPES_H_
#define KGEN_GENERATOR_EMIT_PLAN_PLAN_TYPES_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/plan/plan.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// The C++ names of a NamedType.
struct TypeName {
  bool emitted = false;   // false: the type has no struct, and members of this type are kgen::Json
  bool runtime = false;   // declared by the runtime
  bool used = false;      // declared by another API
  bool open = false;      // only declared at this point; defined later in the same header
  std::string name;       // "PodSpec"
  std::string qualified;  // "::k8s::core::v1::PodSpec"
  std::string scope;      // the namespace: "k8s::core::v1"
  std::string header;     // with the definition, unless the runtime has it: "k8s/core/v1/common_types.h"
};

// The two spellings of a type: inside the struct, and in the tables at namespace scope.
struct Spelling {
  std::string in_class;
  std::string in_tables;
};

// A member of a struct: its property at each position of the struct. Never empty; all have the same name.
using Member = std::vector<const model::Field*>;

class Shapes;
struct Shape;

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

  // Plans the list type of a kind.
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

// Follows the references of a schema through aliases. The result is a kRef only if it refers to a struct.
const model::Schema& Resolved(const model::Api& api, const model::Schema& schema);

// The values of an enum in byte order, whatever the order of the document.
std::vector<std::string> SortedValues(const model::Schema& schema);

// Returns a function that maps the wire name of a property to the name of its type, for properties that are anonymous
// objects. `fields` are all properties of the enclosing struct; `taken` are names that already have a meaning there.
std::function<std::string(std::string_view)> NameObjects(const model::Api& api,
                                                         const std::vector<const model::Field*>& fields,
                                                         const std::set<std::string, std::less<>>& taken);

// Returns whether a field table can hold this name. The encoder writes the names of a table without escaping them, so a
// name that JSON has to escape gets no member, nor does an empty or very long one. UnknownFields keeps such fields.
bool IsTableName(std::string_view wire_name);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_PLAN_TYPES_H_
