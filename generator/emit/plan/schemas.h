// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What shapes.h and plan_types.h both need to know of the types and schemas of a model. Private to generator/emit.
#ifndef KGEN_GENERATOR_EMIT_PLAN_SCHEMAS_H_
#define KGEN_GENERATOR_EMIT_PLAN_SCHEMAS_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

#endif  // KGEN_GENERATOR_EMIT_PLAN_SCHEMAS_H_
