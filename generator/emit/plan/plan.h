// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Plan: the content of the generated files with all C++ names chosen: structs in the order of their definition, members
// in their fixed order (plan_types.h), accessors and includes. All text from the input has become an identifier, a
// literal or a comment.
//
//   model::Api --MakePlan()--> Plan --view--> templates
#ifndef KGEN_GENERATOR_EMIT_PLAN_PLAN_H_
#define KGEN_GENERATOR_EMIT_PLAN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/emit/spelling/group_names.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// The lines of a comment, including the slashes.
using Comment = std::vector<std::string>;

// A data member and its row in the field table.
struct PlannedField {
  std::string wire_name;
  std::string identifier;
  std::string type;         // "kgen::Optional<Spec>"
  std::string initializer;  // "{}", " = kgen::kAbsent", "{kgen::kAbsent}"
  std::string value_kind;   // of kgen::ValueKind: "kBox"
  std::string flags;        // "kgen::kNullable | kgen::kUnique", "0"
  std::string detail;       // "&Order::Spec::kTable", "nullptr"
  model::ProtobufField protobuf = {};
  Comment comment;
};

// A nested struct of constants: the known values of an open enum, or the properties that a CRD declares for a kind.
struct PlannedEnum {
  struct Constant {
    std::string identifier;
    std::string value;  // a literal
  };
  std::string name;  // "PhaseValues"
  std::string type;  // "std::string_view", "std::int64_t"
  std::vector<Constant> constants;
  Comment comment;
  std::string same_as = {};  // an earlier struct with the same constants, of which this is another name; empty: none
};

// A kgen::PrinterColumn. The values are C++ literals.
struct PlannedColumn {
  std::string name, type, format, json_path, priority, description;
};

struct PlannedAlias {
  std::string name, target;
  Comment comment = {};
  bool shared = false;  // the target is in shapes.h
  bool after = false;   // stands after the members, which do not use it
};

struct PlannedStruct {
  std::string name;        // "Spec"
  bool common = false;     // of the version's common_types.h
  std::string path;        // inside its namespace: "Order::Spec"
  std::string table_name;  // for messages: "acme.shop.v1.Order.Spec"
  Origin origin = {};      // of its schema
  Comment comment;
  std::vector<PlannedAlias> aliases;  // for types in shapes.h and named types; named like nested structs
  std::vector<PlannedStruct> nested;
  std::vector<PlannedEnum> enums;
  std::vector<PlannedField> fields;
  std::vector<PlannedColumn> columns;  // for a kind from a CRD
  std::string metadata;                // the ObjectMeta or ListMeta member; empty: none
  std::string item;                    // for a list: the type of its elements
  std::string kind_symbol;             // the KindInfo of its table: "kOrderKind"; empty: none
  bool preserve_unknown = false;       // the schema allows members that it does not declare
  bool own = false;                    // the user declared it; only its table is emitted
  bool projection = false;             // has a part of the members (projections.h)
  bool protobuf = false;               // can be decoded from protobuf
  std::string layout = {};             // the type that it has the layout of, for a part of ObjectMeta; empty: its own
};

// The names of the values of an enum class that a user wrote.
struct PlannedEnumNames {
  std::string type;  // "::acme::shop::v1::Priority"
  std::vector<std::pair<std::string, std::string>>
      constants;  // in C++, and a literal of the text: {"kHigh", "\"High\""}
};

// The structs that a user wrote for one group version, in place of generated ones. They are in the namespace that
// generated ones would be in.
struct OwnTypes {
  std::string group, version;
  std::string name_space;
  std::vector<std::string> headers;  // as code includes them
  std::vector<PlannedStruct> structs;
  std::vector<PlannedEnumNames> enums;
};

// A kgen::KindInfo. The values are C++ literals.
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
  std::string verbs;                             // of the client: "kgen::Verbs::kStandard | kgen::Verbs::kStatus"
  std::vector<PlannedSubresource> subresources;  // other than status and scale
  std::string lister_class;                      // "OrderLister"
  std::string informer_name;                     // "OrderInformer"
  std::string title;                             // for comments: "orders.shop.example.com"
  std::string accessor_type;                     // `type`, qualified if the accessor would hide it
  bool namespaced = false;
  bool has_informer = false;
  Comment deprecation;  // empty: not deprecated
};

// A header with types.
struct PlannedHeader {
  std::set<std::string> includes;  // the headers with the types of other group versions
  std::set<std::string> declared;  // types that are used before they are defined
};

struct PlannedVersion {
  std::string group, version;      // as in the API
  std::string group_space, space;  // "shop", "v1"
  std::string group_accessor;      // "Shop"
  std::string accessor;            // "V1"
  std::string folder;              // "acme/shop/v1"
  std::string header;              // with the types, as code includes it: "acme/shop/v1/types.h"
  std::string name_space;          // "acme::shop::v1"
  std::string title;               // for comments: "shop.example.com/v1"
  PlannedHeader types;             // types.h
  // common_types.h, which exists if there are structs for it. It has the types that objects of other APIs contain,
  // so that these do not pay for all types of the version: half of the core group, and none of its kinds.
  PlannedHeader common;
  bool has_common = false;
  bool has_shared = false;  // uses types in the group's shapes.h
  std::vector<PlannedStruct> structs;
  std::vector<PlannedAlias> aliases;
  std::vector<PlannedEnumNames> enum_names;
  std::vector<PlannedKindInfo> kinds;
  std::vector<std::string> kind_types;  // the C++ types of the kinds, for the scheme
  std::vector<PlannedResource> resources;
  std::string client_class, informers_class;  // "Client", "Informers"
  // The types of other group versions that clients use, by namespace.
  std::map<std::string, std::set<std::string>, std::less<>> foreign;
  Comment documentation;  // where to find the descriptions, if the input has none
};

// The types that several structs of a group share, in the group's shapes.h.
struct PlannedGroup {
  std::string folder;              // "acme/shop"
  std::string name_space;          // "acme::shop"
  std::string title;               // for comments: "shop.example.com"
  std::set<std::string> includes;  // the headers with the types of other APIs
  std::vector<PlannedStruct> structs;
};

// The type of one version of a kind.
struct PlannedKindType {
  std::string name_space;  // "acme::shop::v1"
  std::string name;        // "Order"
};

// A CRD of the input, which has a header of its own.
struct PlannedManifest {
  std::string name;                    // for a comment: "orders.shop.example.com"
  std::string header;                  // "acme/shop/orders_manifest.h"
  std::string name_space;              // "acme::shop"
  std::string function;                // "OrderManifest"
  std::string json;                    // plain text, not a C++ literal
  std::vector<PlannedKindType> types;  // of its versions
};

struct PlanOptions {
  std::string name_space;  // "acme", "acme::shop"
  GroupNaming group_naming = {};
  std::set<std::string, std::less<>> distinct = {};  // positions that share their type with no other (shapes.h)
  std::vector<OwnTypes> own = {};
  // Every type of the API, for the runtime itself: in `name_space` without a namespace for the group version, and
  // without lists and clients. See runtime_api.h.
  bool runtime = false;
  // Every type of the API, for a header of projections: in `name_space`, without lists and clients. See projections.h.
  bool projections = false;

  bool only_types() const { return runtime || projections; }
};

struct Plan {
  std::string name_space;
  std::string folder;                          // "acme", "acme/shop"
  std::string stem;                            // of the source file: "acme", "shop"
  bool runtime = false;                        // PlanOptions::runtime
  bool built_in = false;                       // from API documents, not from CRDs; has the alias of meta
  std::map<std::string, PlannedGroup> groups;  // by group name; only groups with shared types
  std::vector<PlannedVersion> versions;        // by group, newest first
  std::vector<PlannedManifest> manifests;
};

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_PLAN_H_
