// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The typed model, part two: named types, kinds, resources, and the Api that an emitter starts from.
//
//   Api
//    |- types      every NamedType: kinds, their lists, and the definitions that they refer to     (TypeId = index)
//    `- groups -> versions -> kinds; a Kind has a type, perhaps a list type, perhaps a Resource (what the server
//    serves)
//
// How an emitter walks it:
//
//   for (const Group& group : api.groups)
//     for (const Version& version : group.versions) {
//       for (TypeId id : version.types) EmitType(api.types[id]);      // all types of this group version, by name
//       for (const ApiKind& kind : version.kinds)
//         if (kind.resource && kind.served) EmitClient(kind);         // verbs decide which methods; list + watch:
//         informer
//     }
//
// Order everywhere: groups by byte order of the full name, versions newest first by Kubernetes rules (v1 before
// v1beta1), kinds and types by name. It depends on the content only, never on the order of files.
//
// Validated: group, version, kind, list kind, plural, singular, subresource names and type names match the patterns of
// names.h; they can be part of file names and identifiers as they are (C++ keywords and clashes are the emitter's).
// Field names, enum values, descriptions, defaults and patterns are arbitrary text.
#ifndef KGEN_GENERATOR_MODEL_API_H_
#define KGEN_GENERATOR_MODEL_API_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/model/schema.h"

namespace kgen::generator::model {

struct GroupVersionKind {
  std::string group;  // "" is the legacy group (core)
  std::string version;
  std::string kind;

  friend auto operator<=>(const GroupVersionKind&, const GroupVersionKind&) = default;
};

// The role of a NamedType.
enum class Role : std::uint8_t {
  kPlain,  // PodSpec
  kKind,   // Pod: `fields` has apiVersion, kind (kString) and metadata (kRef), whatever a CRD says
  kList,   // PodList: apiVersion, kind, metadata (ListMeta), items; `item` is Pod. Every kind has the same template
};

// A named type: a definition of an API document, or a version of a custom resource's kind.
struct NamedType {
  // Its group and version. Types of apimachinery's meta/v1 have group "meta.k8s.io" and version "v1"; a definition
  // outside of any API group (io.k8s.apimachinery.pkg.version.Info) has version "" and its package's last segment as
  // group.
  std::string group;
  std::string version;
  std::string name;  // "PodSpec"; unique within group and version

  std::string definition;  // the document's name ("io.k8s.api.core.v1.PodSpec"); empty for types from CRDs
  Role role = Role::kPlain;
  Schema schema;  // kObject for kinds; for a definition that only names a value (an alias) any other kind

  // The runtime declares this type itself (kgen::meta::v1 ObjectMeta, ListMeta, Status, LabelSelector, ...; names.h,
  // IsRuntimeType): nothing is emitted, and `schema` is empty when no document described it.
  bool runtime = false;

  // Another generated API declares this type, under this C++ name ("::k8s::core::v1::PodSpec") and in this header:
  // nothing is emitted, and `schema` is an object without fields. Both are empty for all others. See
  // emit/plan/external_types.h.
  std::string declared = {};
  std::string declared_in = {};

  bool protobuf = false;  // can be decoded from protobuf (protobuf.h)

  std::optional<GroupVersionKind> gvk;  // kKind, kList
  TypeId item = kNoType;                // kList
  Origin origin;
};

enum class Scope : std::uint8_t { kNamespaced, kCluster };

// The operations on a resource or subresource.
enum class Verb : std::uint16_t {
  kGet = 1,
  kList = 2,
  kWatch = 4,
  kCreate = 8,
  kUpdate = 16,
  kPatch = 32,
  kDelete = 64,
  kDeleteCollection = 128,
  kConnect = 256,
};

class Verbs {
 public:
  constexpr Verbs() = default;
  constexpr bool Has(Verb verb) const { return (bits_ & static_cast<std::uint16_t>(verb)) != 0; }
  constexpr void Add(Verb verb) { bits_ = static_cast<std::uint16_t>(bits_ | static_cast<std::uint16_t>(verb)); }
  constexpr bool empty() const { return bits_ == 0; }

  // In the fixed order create, update, delete, deletecollection, get, list, watch, patch, connect.
  std::vector<std::string_view> Names() const;

  friend bool operator==(Verbs, Verbs) = default;

 private:
  std::uint16_t bits_ = 0;
};

struct Subresource {
  std::string name;  // "status"; "proxy"
  Verbs verbs;
  GroupVersionKind body_gvk;  // of the body, as the document names it; may name a kind that no document defines
  bool text = false;          // a get answers with plain text (a log), whatever body_gvk says
};

// The JSON paths of a custom resource's scale subresource.
struct ScalePaths {
  std::string spec_replicas, status_replicas, label_selector;
};

struct PrinterColumn {
  std::string name, type, format, description;
  std::int32_t priority = 0;
  std::string json_path;  // exactly as written
};

// A resource: the path under which the server serves a kind.
struct Resource {
  std::string plural;    // the path segment; taken literally
  std::string singular;  // may be empty (API documents do not say)
  Scope scope = Scope::kNamespaced;
  Verbs verbs;
  std::vector<Subresource> subresources;  // by name
  std::vector<PrinterColumn> printer_columns;
  std::vector<std::string> selectable_fields;  // JSON paths, for CRDs
  std::optional<ScalePaths> scale;
  Origin origin;

  const Subresource* Find(std::string_view subresource) const;
  bool HasInformer() const { return verbs.Has(Verb::kList) && verbs.Has(Verb::kWatch); }
  bool HasLister() const { return HasInformer() && verbs.Has(Verb::kGet); }
};

// One (group, version, kind).
struct ApiKind {
  GroupVersionKind gvk;
  std::string list_kind;  // "PodList"; for kinds without a list verb too
  TypeId type = kNoType;  // always a type with role kKind
  TypeId list_type =
      kNoType;  // only when a document defines it; CRDs have none, their list is the template over `type`
  std::optional<Resource> resource;  // absent: a type only (Eviction, DeleteOptions)

  // `metadata` is ObjectMeta; false for the few kinds without one (DeleteOptions, WatchEvent).
  bool has_object_meta = true;

  bool custom = false;  // from a CRD
  bool served = true;   // false: a type, no client
  bool deprecated = false;
  std::string deprecation_warning;  // arbitrary text; may be empty although deprecated
  Origin origin;

  // Whether code is generated for it, and not only a type where others refer to it.
  bool IsGenerated() const { return has_object_meta && (custom || resource.has_value()); }
};

struct Version {
  std::string name;            // "v1"
  std::vector<ApiKind> kinds;  // by kind
  std::vector<TypeId> types;   // all NamedTypes of this group version, by name
};

struct Group {
  std::string name;               // full; "" is the legacy group; "meta.k8s.io" holds what the runtime has
  std::vector<Version> versions;  // newest first
};

// A CRD of the input, for installing it: Manifests() of the generated code. CRDs of v1beta1 are left out, because
// servers since 1.22 do not accept them.
struct Manifest {
  std::string name;  // metadata.name
  std::string group, kind, plural;
  std::string json;  // compact; without status and without what a server adds to metadata
};

struct Api {
  // By group, version, name; never reordered once resolved. Types that emit/plan/external_types.h adds stand at the
  // end.
  std::vector<NamedType> types;
  std::vector<Group> groups;
  std::vector<Manifest> manifests;  // by name

  const ApiKind* FindKind(const GroupVersionKind& gvk) const;
  TypeId FindType(std::string_view group, std::string_view version,
                  std::string_view name) const;  // kNoType when absent

  // Follows aliases (types whose schema is a kRef) to the end.
  const NamedType& Target(TypeId id) const;
};

// "shop.example.com/v1 Order", "v1 Pod": for messages; invisible characters are escaped.
std::string Describe(const GroupVersionKind& gvk);

// Types of the runtime's kgen::meta::v1 that a Ref may name.
inline constexpr std::string_view kMetaGroup = "meta.k8s.io";

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_API_H_
