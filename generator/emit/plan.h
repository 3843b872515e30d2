// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Plan: the content of the files, with every C++ name decided: structs in the order of their definition, members in
// their fixed order (plan_types.h), accessors, includes. All text from the input is an identifier, a literal or a
// comment.
//
//   model::Api --MakePlan()--> Plan --view--> templates
#ifndef KGEN_GENERATOR_EMIT_PLAN_H_
#define KGEN_GENERATOR_EMIT_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/group_names.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// Comment lines, complete with their slashes.
using Comment = std::vector<std::string>;

// A data member, and its row in the field table.
struct PlannedField {
  std::string wire_name;
  std::string identifier;
  std::string type;         // "kgen::Optional<Spec>"
  std::string initializer;  // "{}", " = kgen::kAbsent", "{kgen::kAbsent}"
  std::string value_kind;   // of kgen::ValueKind: "kBox"
  std::string flags;        // "kgen::kNullable | kgen::kUnique", "0"
  std::string detail;       // "&Order::Spec::kTable", "nullptr"
  Comment comment;
  std::string note;  // to stand behind the declaration: "`operator`, required"; may be empty
};

// A nested struct of constants: the known values of an open enum, or what a CRD declares about a kind.
struct PlannedEnum {
  struct Constant {
    std::string identifier;
    std::string value;  // a literal
  };
  std::string name;  // "PhaseValues"
  std::string type;  // "std::string_view", "std::int64_t"
  std::vector<Constant> constants;
  Comment comment;
};

// A kgen::PrinterColumn. Literals are complete.
struct PlannedColumn {
  std::string name, type, format, json_path, priority, description;
};

struct PlannedAlias {
  std::string name, target;
  Comment comment = {};
  bool shared = false;  // the target is in shapes.h
};

struct PlannedStruct {
  std::string name;        // "Spec"
  std::string path;        // inside its namespace: "Order::Spec"
  std::string table_name;  // for messages: "acme.shop.v1.Order.Spec"
  Comment comment;
  std::vector<PlannedAlias> aliases;  // of types in shapes.h, and of named types: by the name of a nested struct
  std::vector<PlannedStruct> nested;
  std::vector<PlannedEnum> enums;
  std::vector<PlannedField> fields;
  std::vector<PlannedColumn> columns;  // of a kind from a CRD
  std::string metadata;                // the member that is its ObjectMeta or ListMeta; empty: none
  std::string item;                    // of a list: the type of its elements
  std::string kind_symbol;             // the KindInfo of its table: "kOrderKind"; empty: none
  bool preserve_unknown = false;       // the schema allows members that it does not name
};

// One KindInfo. Literals are complete.
struct PlannedKindInfo {
  std::string symbol;  // "kOrderKind"
  std::string group, version, kind, list_kind, resource, singular;
  bool namespaced = false;
  std::string list;  // the list's C++ type, empty: none
};

// A kgen::Subresource.
struct PlannedSubresource {
  std::string name;   // a literal
  std::string body;   // "Pod", "::k8s::policy::v1::Eviction", "std::string"
  std::string verbs;  // "kgen::Verbs::kGet | kgen::Verbs::kUpdate"
};

// A resource with its client, lister and informer.
struct PlannedResource {
  std::string accessor;                          // "Orders"
  std::string type;                              // "Order"
  std::string list_type;                         // "OrderList"; "void" when it cannot be listed
  std::string client_class;                      // "OrdersClient"
  std::string verbs;                             // of its client: "kgen::Verbs::kStandard | kgen::Verbs::kStatus"
  std::vector<PlannedSubresource> subresources;  // but status and scale
  std::string lister_class;                      // "OrderLister"
  std::string informer_name;                     // "OrderInformer"
  std::string title;                             // for comments: "orders.shop.example.com"
  std::string accessor_type;                     // `type`, qualified where the accessor would hide it
  bool namespaced = false;
  bool has_informer = false;
  Comment deprecation;  // empty: not deprecated
};

struct PlannedVersion {
  std::string group, version;         // as on the wire
  std::string group_space, space;     // "shop", "v1"
  std::string group_accessor;         // "Shop"
  std::string accessor;               // "V1"
  std::string folder;                 // "acme/shop/v1"
  std::string name_space;             // "acme::shop::v1"
  std::string title;                  // for comments: "shop.example.com/v1"
  std::vector<std::string> includes;  // types.h of other group versions
  bool has_shared = false;            // of its members' types, some are in the group's shapes.h
  std::vector<std::string> declared;  // types that are used before they are defined
  std::vector<PlannedStruct> structs;
  std::vector<PlannedAlias> aliases;
  std::vector<PlannedKindInfo> kinds;
  std::vector<std::string> kind_types;  // the C++ types of the kinds, for the scheme
  std::vector<PlannedResource> resources;
  std::string client_class, informers_class;  // "Client", "Informers"
  // What clients use of other group versions, by namespace.
  std::map<std::string, std::set<std::string>, std::less<>> foreign;
  Comment documentation;  // where to find the descriptions, if the input has none
};

// Types that several structs of a group use: its shapes.h.
struct PlannedGroup {
  std::string folder;                 // "acme/shop"
  std::string name_space;             // "acme::shop"
  std::string title;                  // for comments: "shop.example.com"
  std::vector<std::string> includes;  // types.h of other APIs
  std::vector<PlannedStruct> structs;
};

struct PlannedManifest {
  std::string name;  // for a comment
  std::string json;  // not yet a literal
};

struct PlanOptions {
  std::string name_space;  // "acme", "acme::shop"
  GroupNaming group_naming = {};
  std::set<std::string, std::less<>> distinct = {};  // positions whose types are shared with no other: see shapes.h
};

struct Plan {
  std::string name_space;
  std::string folder;                          // "acme", "acme/shop"
  std::string stem;                            // of the source file: "acme", "shop"
  bool built_in = false;                       // from API documents, not from CRDs: has the alias of meta
  std::map<std::string, PlannedGroup> groups;  // by the name of the group; those that have such types
  std::vector<PlannedVersion> versions;        // by group, newest first
  std::vector<PlannedManifest> manifests;
};

// Reports what cannot be emitted (a struct with more members than a table can have) to `diagnostics`; the plan is only
// whole without errors.
Plan MakePlan(const model::Api& api, const PlanOptions& options, Diagnostics& diagnostics);

// The C++ names of the structs that MakePlan() plans for named types, by TypeId: "::k8s::core::v1::PodSpec". Empty for
// types without one.
std::vector<std::string> TypeNames(const model::Api& api, const PlanOptions& options, Diagnostics& diagnostics);

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_H_
