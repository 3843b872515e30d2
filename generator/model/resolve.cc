// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/resolve.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "generator/document_path.h"
#include "generator/model/names.h"
#include "generator/model/protobuf.h"
#include "generator/model/resolve_operations.h"
#include "generator/model/resolve_schema.h"
#include "generator/model/versions.h"

namespace kgen::generator::model {
namespace {

constexpr std::string_view kMetaPackage = "io.k8s.apimachinery.pkg.apis.meta.v1.";

// A future NamedType, before its schema is resolved.
struct Candidate {
  std::string group, version, name;
  const RawDefinition* definition = nullptr;
  const RawCustomResource* custom = nullptr;
  const RawCustomVersion* custom_version = nullptr;
  Origin origin;

  auto Key() const { return std::tie(group, version, name); }
};

class Resolver {
 public:
  Resolver(Draft draft, Diagnostics& diagnostics, const ResolveOptions& options)
      : draft_(std::move(draft)), diagnostics_(diagnostics), options_(options) {}

  Api Run() {
    std::sort(draft_.custom_resources.begin(), draft_.custom_resources.end(), [](const auto& a, const auto& b) {
      return std::tie(a.group, a.plural, a.kind) < std::tie(b.group, b.plural, b.kind);
    });
    CollectCandidates();
    AssignIds();
    ResolveTypes();
    CheckAliases();
    FindLists();
    CollectKinds();
    AttachResources();
    CheckServed();
    CheckListKinds();
    MarkProtobuf(api_);
    BuildGroups();
    for (const RawCustomResource& crd : draft_.custom_resources) CheckVersions(crd, api_, diagnostics_);
    BuildManifests();
    return std::move(api_);
  }

 private:
  // ---- types

  void CollectCandidates() {
    candidates_.push_back({std::string(kMetaGroup), "v1", "ObjectMeta", nullptr, nullptr, nullptr, {}});
    std::set<GroupVersionKind> custom;
    for (const RawCustomResource& crd : draft_.custom_resources) {
      for (const RawCustomVersion& version : crd.versions) {
        candidates_.push_back({crd.group, version.name, crd.kind, nullptr, &crd, &version, version.origin});
        custom.insert({crd.group, version.name, crd.kind});
      }
    }
    for (const auto& [name, definition] : draft_.definitions) {
      if (!IsNamedDefinition(definition, draft_.definitions)) continue;
      std::optional<DefinitionName> place = PlaceOf(definition);
      if (!place) {
        diagnostics_.Error("illegal-name", definition.origin,
                           "the definition's name " + Quote(name, 200) + " cannot be the name of a type",
                           definition.schema->path);
        continue;
      }
      const bool superseded = custom.contains({place->group, place->version, place->name});
      if (superseded) superseded_.emplace(name, *place);  // the CRD is the better source
      if (superseded || (place->group == kMetaGroup && place->version == "v1" && place->name == "ObjectMeta")) {
        if (!superseded) object_meta_definition_ = &definition;
        continue;
      }
      candidates_.push_back(
          {place->group, place->version, place->name, &definition, nullptr, nullptr, definition.origin});
    }
    candidates_[0].definition = object_meta_definition_;
  }

  // By the list of kinds if it has exactly one entry, else by the definition's name; types of apimachinery always by
  // name.
  std::optional<DefinitionName> PlaceOf(const RawDefinition& definition) const {
    std::optional<DefinitionName> place = ParseDefinitionName(definition.name);
    if (!place || definition.name.starts_with(kMetaPackage) || definition.schema->gvks.size() != 1) return place;
    const GroupVersionKind& gvk = definition.schema->gvks[0];
    if ((!gvk.group.empty() && !IsGroup(gvk.group)) || !IsVersion(gvk.version)) return std::nullopt;
    place->group = gvk.group;
    place->version = gvk.version;
    return place;
  }

  void AssignIds() {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.Key() < b.Key(); });
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (i != 0 && candidates_[i - 1].Key() == candidates_[i].Key()) {
        diagnostics_.Error("type-twice", candidates_[i].origin,
                           "the type " + Quote(candidates_[i].name) +
                               " of this group version has a second definition, first at " +
                               diagnostics_.Describe(candidates_[i - 1].origin),
                           PathOf(candidates_[i]), "keep only one of the two");
      }
      const auto id = static_cast<TypeId>(i);
      if (candidates_[i].definition != nullptr) named_.emplace(candidates_[i].definition->name, id);
      if (candidates_[i].group == kMetaGroup && candidates_[i].name == "ObjectMeta") object_meta_ = id;
    }
    for (const auto& [name, place] : superseded_) {
      const auto key = std::tie(place.group, place.version, place.name);
      const auto found =
          std::find_if(candidates_.begin(), candidates_.end(), [&](const Candidate& c) { return c.Key() == key; });
      named_.emplace(name, static_cast<TypeId>(found - candidates_.begin()));
    }
  }

  void ResolveTypes() {
    SchemaResolver schemas(draft_, named_, object_meta_, diagnostics_, options_.quantity_by_pattern);
    api_.types.reserve(candidates_.size());
    for (const Candidate& candidate : candidates_) {
      NamedType type;
      type.group = candidate.group;
      type.version = candidate.version;
      type.name = candidate.name;
      type.origin = candidate.origin;
      type.runtime = IsRuntimeType(type.group, type.version, type.name);
      if (candidate.custom != nullptr) {
        ResolveCustom(candidate, schemas, type);
      } else if (candidate.definition != nullptr) {
        ResolveDefinition(*candidate.definition, schemas, type);
      } else {
        type.schema.kind = Kind::kObject;
      }
      api_.types.push_back(std::move(type));
    }
  }

  void ResolveCustom(const Candidate& candidate, SchemaResolver& schemas, NamedType& type) {
    const SchemaResolver::Rules rules{.custom = true, .preserve_unknown = candidate.custom->preserve_unknown};
    type.role = Role::kKind;
    type.gvk = GroupVersionKind{type.group, type.version, type.name};
    type.schema = schemas.ResolveKind(candidate.custom_version->schema.get(), rules,
                                      DocumentPath(candidate.custom_version->path));
  }

  void ResolveDefinition(const RawDefinition& definition, SchemaResolver& schemas, NamedType& type) {
    const RawSchema& raw = *definition.schema;
    const DocumentPath path(raw.path);
    type.definition = definition.name;
    const bool has_gvk = raw.gvks.size() == 1 && !type.runtime && !definition.name.starts_with(kMetaPackage);
    if (has_gvk) {
      type.gvk = raw.gvks[0];
      type.role = Role::kKind;  // FindLists() may correct this
      if (!IsKind(type.gvk->kind)) {
        diagnostics_.Error("illegal-name", raw.origin, Quote(type.gvk->kind) + " cannot be the name of a kind",
                           raw.path);
      }
    }
    const bool free_form = has_gvk && raw.properties.empty() && raw.ref.empty() && raw.all_of.empty();
    type.schema = free_form ? schemas.ResolveKind(nullptr, {}, path) : schemas.Resolve(raw, {}, path);
    // An object definition without properties keeps only its presence.
    if (!has_gvk && type.schema.kind == Kind::kJson) type.schema.kind = Kind::kObject;
    type.schema.description = raw.description;
  }

  void CheckAliases() {
    for (NamedType& type : api_.types) {
      TypeId next = type.schema.kind == Kind::kRef ? type.schema.ref : kNoType;
      for (std::size_t steps = 0; next != kNoType; ++steps) {
        if (steps > api_.types.size()) {
          diagnostics_.Error("reference-cycle", type.origin,
                             "the definition " + Quote(type.definition, 200) + " refers only to itself", PathOf(type),
                             "give it a type or properties");
          type.schema.kind = Kind::kJson;
          break;
        }
        next = api_.types[next].schema.kind == Kind::kRef ? api_.types[next].schema.ref : kNoType;
      }
    }
  }

  static std::string PathOf(const Candidate& candidate) {
    if (candidate.custom_version != nullptr) return candidate.custom_version->path;
    return candidate.definition == nullptr ? std::string() : candidate.definition->schema->path;
  }

  // The position of the definition of a type from an API document.
  std::string PathOf(const NamedType& type) const {
    const auto found = draft_.definitions.find(type.definition);
    return found == draft_.definitions.end() ? std::string() : found->second.schema->path;
  }

  // <Kind>List with ListMeta and items.
  void FindLists() {
    for (NamedType& type : api_.types) {
      if (type.role != Role::kKind || type.definition.empty() || type.schema.kind != Kind::kObject) continue;
      const Field* metadata = type.schema.Find("metadata");
      const Field* items = type.schema.Find("items");
      if (metadata == nullptr || items == nullptr || metadata->schema->kind != Kind::kRef ||
          items->schema->kind != Kind::kList)
        continue;
      if (api_.types[metadata->schema->ref].name != "ListMeta" || items->schema->element->kind != Kind::kRef) continue;
      type.role = Role::kList;
      type.item = items->schema->element->ref;
    }
  }

  // ---- kinds and resources

  void CollectKinds() {
    for (std::size_t i = 0; i < api_.types.size(); ++i) {
      const NamedType& type = api_.types[i];
      if (type.role != Role::kKind || type.runtime) continue;
      ApiKind kind;
      kind.gvk = *type.gvk;
      kind.list_kind = kind.gvk.kind + "List";
      kind.type = static_cast<TypeId>(i);
      const Field* metadata = type.schema.Find("metadata");
      kind.has_object_meta =
          metadata != nullptr && metadata->schema->kind == Kind::kRef && metadata->schema->ref == object_meta_;
      kind.origin = type.origin;
      const Candidate& candidate = candidates_[i];
      if (candidate.custom != nullptr) FillCustom(*candidate.custom, *candidate.custom_version, kind);
      kinds_.emplace(kind.gvk, std::move(kind));
    }
    for (std::size_t i = 0; i < api_.types.size(); ++i) {
      const NamedType& type = api_.types[i];
      if (type.role != Role::kList || !api_.types[type.item].gvk) continue;
      const auto kind = kinds_.find(*api_.types[type.item].gvk);
      if (kind == kinds_.end()) continue;
      kind->second.list_type = static_cast<TypeId>(i);
      if (!kind->second.custom) kind->second.list_kind = type.gvk->kind;
    }
  }

  // Reports kinds that have the name of another kind's list: on the wire, the two look the same.
  void CheckListKinds() {
    for (const auto& [gvk, kind] : kinds_) {
      const auto clash = kinds_.find({gvk.group, gvk.version, kind.list_kind});
      if (clash == kinds_.end() || !kind.resource) continue;
      diagnostics_.Error("kind-is-list", clash->second.origin,
                         "the kind " + Describe(clash->first) + " has the name of the list of " + Quote(gvk.kind) +
                             " at " + diagnostics_.Describe(kind.origin),
                         PathOf(candidates_[clash->second.type]),
                         "rename one of the two; a CRD names its list by spec.names.listKind");
    }
  }

  void FillCustom(const RawCustomResource& crd, const RawCustomVersion& version, ApiKind& kind) {
    kind.custom = true;
    kind.list_kind = crd.list_kind;
    kind.served = version.served;
    kind.deprecated = version.deprecated;
    kind.deprecation_warning = version.deprecation_warning;
    Resource resource;
    resource.plural = crd.plural;
    resource.singular = crd.singular;
    resource.scope = crd.scope;
    resource.printer_columns = version.printer_columns;
    resource.selectable_fields = version.selectable_fields;
    resource.scale = version.scale;
    resource.origin = crd.origin;
    for (const Verb verb : {Verb::kCreate, Verb::kUpdate, Verb::kDelete, Verb::kDeleteCollection, Verb::kGet,
                            Verb::kList, Verb::kWatch, Verb::kPatch}) {
      resource.verbs.Add(verb);
    }
    Verbs verbs;
    for (const Verb verb : {Verb::kGet, Verb::kUpdate, Verb::kPatch}) verbs.Add(verb);
    if (version.scale) resource.subresources.push_back({"scale", verbs, {"autoscaling", "v1", "Scale"}});
    if (version.has_status) resource.subresources.push_back({"status", verbs, kind.gvk});
    kind.resource = std::move(resource);
  }

  void AttachResources() {
    for (ServedResource& served : GatherResources(draft_, diagnostics_)) {
      const auto found = kinds_.find(served.gvk);
      if (found == kinds_.end()) {
        diagnostics_.Error("operation-kind", served.resource.origin,
                           "the operations of " + Quote(served.resource.plural) + " serve " + Describe(served.gvk) +
                               ", which no document defines",
                           PathOf(served.resource),
                           "also pass the complete document of that group version: a definition names its kind by "
                           "x-kubernetes-group-version-kind");
        continue;
      }
      ApiKind& kind = found->second;
      if (kind.custom || (kind.resource && !IsBetter(served.resource, kind))) continue;
      kind.resource = std::move(served.resource);
    }
  }

  // A kind that is served under two names, as OpenShift's Template: one can be read, the other only accepts POST.
  bool IsBetter(const Resource& other, const ApiKind& kind) {
    const auto readable = [](const Resource& resource) {
      return (resource.verbs.Has(Verb::kList) ? 1 : 0) + (resource.verbs.Has(Verb::kGet) ? 1 : 0);
    };
    const bool better = readable(other) > readable(*kind.resource);
    const Resource& kept = better ? other : *kind.resource;
    const Resource& dropped = better ? *kind.resource : other;
    diagnostics_.Warning("kind-twice", dropped.origin,
                         Describe(kind.gvk) + " is served as " + Quote(kept.plural) + " and as " +
                             Quote(dropped.plural) + "; only " + Quote(kept.plural) + " gets a client",
                         PathOf(dropped), "a kind has one accessor; the one is taken that can be listed and read");
    return better;
  }

  // The first path of a resource from an API document.
  std::string PathOf(const Resource& resource) const {
    for (const RawOperation& operation : draft_.operations) {
      if (operation.origin == resource.origin) return DocumentPath().Key("paths").Key(operation.path).Text();
    }
    return {};
  }

  // Input that has only definitions generates no clients, which is easily mistaken for a bug of kgen.
  void CheckServed() {
    const auto served = [](const auto& kind) { return kind.second.resource.has_value(); };
    if (diagnostics_.has_errors() || std::any_of(kinds_.begin(), kinds_.end(), served)) return;
    std::set<std::string_view> paths;
    for (const RawOperation& operation : draft_.operations) paths.insert(operation.path);
    diagnostics_.Info(
        "no-kind", Origin{},
        "no kind is served by the input (" + std::to_string(draft_.definitions.size()) + " schemas, " +
            std::to_string(paths.size()) + " paths), so the clientset is empty",
        {}, "pass complete API documents, as a server publishes them at /openapi/v3 and /openapi/v2, or CRDs");
  }

  // ---- order

  void BuildGroups() {
    struct VersionOrder {
      bool operator()(const std::string& a, const std::string& b) const { return VersionBefore(a, b); }
    };
    std::map<std::string, std::map<std::string, Version, VersionOrder>> groups;
    for (std::size_t i = 0; i < api_.types.size(); ++i) {
      const NamedType& type = api_.types[i];
      groups[type.group][type.version].types.push_back(static_cast<TypeId>(i));
    }
    for (auto& [gvk, kind] : kinds_) groups[gvk.group][gvk.version].kinds.push_back(std::move(kind));
    for (auto& [group_name, versions] : groups) {
      Group group{group_name, {}};
      for (auto& [version_name, version] : versions) {
        version.name = version_name;
        group.versions.push_back(std::move(version));
      }
      api_.groups.push_back(std::move(group));
    }
  }

  void BuildManifests() {
    for (RawCustomResource& crd : draft_.custom_resources) {
      if (crd.installable)
        api_.manifests.push_back({crd.name, crd.group, crd.kind, crd.plural, std::move(crd.manifest_json)});
    }
    std::sort(api_.manifests.begin(), api_.manifests.end(),
              [](const Manifest& a, const Manifest& b) { return a.name < b.name; });
  }

  Draft draft_;
  Diagnostics& diagnostics_;
  const ResolveOptions& options_;
  Api api_;
  std::vector<Candidate> candidates_;  // same order as api_.types once sorted
  std::map<std::string, TypeId, std::less<>> named_;
  std::map<std::string, DefinitionName> superseded_;
  const RawDefinition* object_meta_definition_ = nullptr;
  TypeId object_meta_ = kNoType;
  std::map<GroupVersionKind, ApiKind> kinds_;
};

}  // namespace

Api Resolve(Draft draft, Diagnostics& diagnostics, const ResolveOptions& options) {
  return Resolver(std::move(draft), diagnostics, options).Run();
}

}  // namespace kgen::generator::model
