// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/make_plan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "generator/document_path.h"
#include "generator/emit/plan/plan_metadata.h"
#include "generator/emit/plan/plan_types.h"
#include "generator/emit/plan/shapes.h"
#include "generator/emit/plan/share_constants.h"
#include "generator/emit/spelling/describe.h"
#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/group_names.h"
#include "generator/emit/spelling/names.h"
#include "generator/model/anchors.h"

namespace kgen::generator::emit {
namespace {

using model::Role;
using model::TypeId;
using model::Verb;

std::string Replace(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Collects each type that a schema refers to, once, in the order of the members.
void CollectRefs(const model::Schema& schema, std::vector<TypeId>& refs) {
  if (schema.kind == model::Kind::kRef) refs.push_back(schema.ref);
  if (schema.element != nullptr) CollectRefs(*schema.element, refs);
  for (const model::Field& field : schema.fields) CollectRefs(*field.schema, refs);
}

// A verb and the names of its bits in kgen::Verbs: for the resource itself, for its status, for its scale, for any
// other subresource, and for a subresource whose response is text.
struct VerbName {
  Verb verb;
  std::string_view own, status, scale, other, text;
};
constexpr std::array<VerbName, 8> kVerbNames = {{
    {Verb::kCreate, "kCreate", "", "", "kCreate", ""},
    {Verb::kGet, "kGet", "", "kGetScale", "kGet", "kGet"},
    {Verb::kList, "kList", "", "", "", ""},
    {Verb::kWatch, "kWatch", "", "", "", ""},
    {Verb::kUpdate, "kUpdate", "kUpdateStatus", "kUpdateScale", "kUpdate", ""},
    {Verb::kPatch, "kPatch", "kPatchStatus", "", "kPatch", ""},
    {Verb::kDelete, "kDelete", "", "", "", ""},
    {Verb::kDeleteCollection, "kDeleteCollection", "", "", "", ""},
}};

// Adds the verbs of one column of VerbName. If none is missing and `all` is not empty, adds only `all`.
void AddVerbs(const model::Verbs& verbs, std::string_view VerbName::* name, std::string_view all, std::string& out) {
  std::vector<std::string_view> names;
  bool whole = true;
  for (const VerbName& verb : kVerbNames) {
    if ((verb.*name).empty()) continue;
    if (verbs.Has(verb.verb)) names.push_back(verb.*name);
    whole = whole && verbs.Has(verb.verb);
  }
  if (whole && !all.empty()) names = {all};
  for (std::string_view one : names) out.append(out.empty() ? "kgen::Verbs::" : " | kgen::Verbs::").append(one);
}

bool HasUsualScale(const model::Subresource& scale) {
  return scale.body_gvk == model::GroupVersionKind{"autoscaling", "v1", "Scale"};
}

// Returns whether the client of the resource sends or receives a body whose type the document describes.
bool HasTypedBody(const model::Subresource& subresource) {
  const bool named = subresource.name == "status" || (subresource.name == "scale" && HasUsualScale(subresource));
  if (named || subresource.text) return false;
  return std::any_of(kVerbNames.begin(), kVerbNames.end(),
                     [&](const VerbName& verb) { return !verb.other.empty() && subresource.verbs.Has(verb.verb); });
}

bool HasProse(const model::Schema& schema) {
  if (!schema.description.empty()) return true;
  if (schema.element != nullptr && HasProse(*schema.element)) return true;
  return std::any_of(schema.fields.begin(), schema.fields.end(),
                     [](const model::Field& field) { return !field.description.empty() || HasProse(*field.schema); });
}

class Planner {
 public:
  Planner(const model::Api& api, const PlanOptions& options, Diagnostics& diagnostics)
      : api_(api), options_(options), diagnostics_(diagnostics), names_(api.types.size()) {
    plan_.name_space = options.name_space;
    plan_.folder = Replace(options.name_space, "::", "/");
    plan_.runtime = options.runtime;
    plan_.stem = plan_.folder.substr(plan_.folder.rfind('/') + 1);
  }

  std::vector<CppType> Types() {
    std::vector<CppType> types(api_.types.size());
    if (!Name()) return types;
    for (TypeId id = 0; id < names_.size(); ++id) types[id] = {names_[id].qualified, names_[id].header};
    return types;
  }

  Plan Make() {
    if (!Name()) return std::move(plan_);
    FindShapes();
    for (std::size_t i = 0; i < sources_.size(); ++i) PlanVersion(i);
    // Projections are in no namespace of a version, whose name an alias could begin with.
    if (!options_.projections) ShareConstants(plan_);
    CheckIncludes();
    PlanManifests();
    return std::move(plan_);
  }

 private:
  // A version of the model and the part of it that is emitted.
  struct Source {
    const model::Group* group;
    const model::Version* version;
    std::vector<const model::ApiKind*> kinds;
    std::vector<TypeId> types;
    std::map<TypeId, std::string> made_lists;  // kind -> the list that no document defines
  };

  // Finds and names everything that is emitted. Returns false after an error: two groups may have the same name, but
  // all that follows needs unique names.
  bool Name() {
    FindReachable();
    NameVersions();
    if (diagnostics_.has_errors()) return false;
    for (std::size_t i = 0; i < sources_.size(); ++i) NameTypes(i);
    NameDeclared();
    if (!options_.only_types()) FindCommon();
    return true;
  }

  // Finds the kinds that have no collection but are the body of a subresource, such as Eviction and TokenRequest.
  void FindBodies() {
    for (const model::Group& group : api_.groups) {
      for (const model::Version& version : group.versions) {
        for (const model::ApiKind& kind : version.kinds) {
          if (!kind.resource || !kind.has_object_meta) continue;
          for (const model::Subresource& subresource : kind.resource->subresources) {
            const model::ApiKind* body = HasTypedBody(subresource) ? api_.FindKind(subresource.body_gvk) : nullptr;
            if (body != nullptr) bodies_.insert(body);
          }
        }
      }
    }
  }

  // Marks the kinds that a server serves and all types that they need.
  void FindReachable() {
    reachable_.resize(api_.types.size(), options_.only_types());
    if (options_.only_types()) return;
    FindBodies();
    std::vector<TypeId> todo;
    for (const model::Group& group : api_.groups) {
      for (const model::Version& version : group.versions) {
        for (const model::ApiKind& kind : version.kinds) {
          if (kind.resource && !kind.has_object_meta) {
            diagnostics_.Warning(
                "no-object-meta", kind.origin,
                Quote(kind.gvk.kind) + " is served but has no object metadata; no code is generated for it",
                DocumentPath().Key("components").Key("schemas").Key(api_.types[kind.type].definition).Text(),
                "an object has a property `metadata` that refers to meta/v1 ObjectMeta");
          }
          if (!IsPlanned(kind)) continue;
          todo.push_back(kind.type);
          if (kind.list_type != model::kNoType) todo.push_back(kind.list_type);
          if (!kind.custom) plan_.built_in = true;
        }
      }
    }
    while (!todo.empty()) {
      const TypeId id = todo.back();
      todo.pop_back();
      if (reachable_[id]) continue;
      reachable_[id] = true;
      if (!api_.types[id].runtime) CollectRefs(api_.types[id].schema, todo);
    }
  }

  bool IsPlanned(const model::ApiKind& kind) const {
    return options_.only_types() || kind.IsGenerated() || (kind.has_object_meta && bodies_.contains(&kind));
  }

  // Returns whether the type gets its own struct.
  bool IsEmitted(TypeId id) const {
    const model::NamedType& type = api_.types[id];
    return reachable_[id] && !type.runtime && type.declared.empty() &&
           (options_.only_types() || type.group != model::kMetaGroup) && !type.version.empty() &&
           type.schema.kind == model::Kind::kObject;
  }

  void NameVersions() {
    std::vector<GroupSource> groups;
    for (const model::Group& group : api_.groups) {
      const std::size_t before = sources_.size();
      for (const model::Version& version : group.versions) {
        Source source{&group, &version, {}, {}, {}};
        for (const model::ApiKind& kind : version.kinds) {
          if (IsPlanned(kind)) source.kinds.push_back(&kind);
        }
        for (TypeId id : version.types) {
          if (IsEmitted(id)) source.types.push_back(id);
        }
        if (!source.types.empty()) sources_.push_back(std::move(source));
      }
      if (sources_.size() != before) {
        const Source& first = sources_[before];
        groups.push_back({group.name, api_.types[first.types[0]].origin});
      }
    }
    const GroupNames group_names = NameGroups(groups, options_.group_naming, diagnostics_);
    std::map<const model::Group*, std::vector<std::string>> versions;
    for (const Source& source : sources_) versions[source.group].push_back(source.version->name);
    for (const Source& source : sources_) {
      const std::vector<std::string>& all = versions[source.group];
      const std::size_t at =
          static_cast<std::size_t>(std::find(all.begin(), all.end(), source.version->name) - all.begin());
      const GroupName& group = group_names.find(source.group->name)->second;
      PlannedVersion out;
      out.group = source.group->name;
      out.version = source.version->name;
      out.group_space = group.name_space;
      out.space = DistinctIdentifiers(all, NamespaceIdentifier, {})[at];
      // Members of SharedInformerFactory.
      static constexpr std::array<std::string_view, 4> kTaken = {"SharedInformerFactory", "Shutdown", "Start",
                                                                 "WaitForCacheSync"};
      const bool taken = std::find(kTaken.begin(), kTaken.end(), group.accessor) != kTaken.end();
      out.group_accessor = group.accessor + (taken ? "_" : "");
      out.accessor = DistinctIdentifiers(all, VersionAccessor, {"GroupInformers"})[at];
      out.folder = plan_.folder + "/" + out.group_space + "/" + out.space;
      out.header = out.folder + "/types.h";
      out.name_space = plan_.name_space;
      if (!options_.only_types()) out.name_space += "::" + out.group_space + "::" + out.space;
      out.title = (out.group.empty() ? "" : out.group + "/") + out.version;
      plan_.versions.push_back(std::move(out));
    }
  }

  void NameTypes(std::size_t index) {
    Source& source = sources_[index];
    const PlannedVersion& version = plan_.versions[index];
    std::vector<std::string> names;
    names.reserve(source.types.size());
    for (TypeId id : source.types) names.push_back(api_.types[id].name);
    std::vector<TypeId> listed;
    for (const model::ApiKind* kind : source.kinds) {
      if (kind->list_type != model::kNoType) continue;
      if (!kind->custom && !(kind->resource && kind->resource->verbs.Has(Verb::kList))) continue;
      listed.push_back(kind->type);
      names.push_back(kind->list_kind);
    }
    const std::vector<std::string> identifiers = DistinctIdentifiers(names, TypeIdentifier, {});
    for (std::size_t i = 0; i < source.types.size(); ++i) {
      names_[source.types[i]] = {.emitted = true,
                                 .runtime = false,
                                 .used = false,
                                 .open = true,
                                 .name = identifiers[i],
                                 .qualified = "::" + version.name_space + "::" + identifiers[i],
                                 .scope = version.name_space,
                                 .header = version.header};
    }
    for (std::size_t i = 0; i < listed.size(); ++i) source.made_lists[listed[i]] = identifiers[source.types.size() + i];
  }

  // Names the types that the runtime or another API declares.
  void NameDeclared() {
    for (TypeId id = 0; id < names_.size(); ++id) {
      const model::NamedType& type = api_.types[id];
      if (!type.runtime && type.declared.empty()) continue;
      const std::size_t end = type.declared.rfind("::");
      names_[id] = {.emitted = true,
                    .runtime = type.runtime,
                    .used = !type.runtime,
                    .open = false,
                    .name = type.runtime ? type.name : type.declared.substr(end + 2),
                    .qualified = type.runtime ? "kgen::meta::v1::" + type.name : type.declared,
                    .scope = type.runtime ? "kgen::meta::v1" : type.declared.substr(2, end - 2),
                    .header = type.declared_in};
    }
  }

  // Moves the types that objects of other APIs contain to common_types.h: the anchors, and all that these contain.
  void FindCommon() {
    std::vector<TypeId> todo = model::Anchors(api_).Types();
    std::set<TypeId> seen;
    while (!todo.empty()) {
      const TypeId id = todo.back();
      todo.pop_back();
      if (!IsEmitted(id) || !seen.insert(id).second) continue;
      names_[id].header = Replace(names_[id].scope, "::", "/") + "/common_types.h";
      CollectRefs(api_.types[id].schema, todo);
    }
  }

  // Finds and plans the structs that the versions of each group share.
  void FindShapes() {
    std::set<std::string, std::less<>> unknown = options_.distinct;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      Shapes& shapes = shapes_.try_emplace(sources_[i].group, api_, names_, options_.distinct).first->second;
      if (Own(plan_.versions[i]) != nullptr) continue;
      for (TypeId id : sources_[i].types) {
        const model::ApiKind* kind = KindOf(sources_[i], id);
        const std::string resource =
            kind == nullptr || !kind->resource
                ? std::string()
                : kind->resource->plural + (kind->gvk.group.empty() ? "" : ".") + kind->gvk.group;
        shapes.Add(api_.types[id], plan_.versions[i].space + "::" + names_[id].name, resource);
      }
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (i != 0 && sources_[i].group == sources_[i - 1].group) continue;
      Shapes& shapes = shapes_.find(sources_[i].group)->second;
      // The structs of a projection are all its own.
      if (!options_.projections) shapes.Finish();
      for (const std::string& path : shapes.found_distinct()) unknown.erase(path);
      PlanShared(shapes, plan_.versions[i]);
    }
    for (const std::string& path : unknown) {
      diagnostics_.Error(
          "distinct-unknown", {}, "--distinct " + Quote(path, 200) + " names no object of the input", {},
          "RESOURCE.GROUP:FIELD.FIELD, as in orders.shop.example.com:spec.template; the elements of a list or "
          "map go by its name");
    }
  }

  void PlanShared(const Shapes& shapes, const PlannedVersion& version) {
    if (shapes.shared().empty()) return;
    PlannedGroup group;
    group.folder = plan_.folder + "/" + version.group_space;
    group.name_space = plan_.name_space + "::" + version.group_space;
    group.title = version.group.empty() ? "the core group" : version.group;
    const StructPlanner structs(api_, names_, shapes, group.name_space, diagnostics_);
    const std::string prefix = Replace(group.name_space, "::", ".");
    for (const Shape* shape : shapes.shared()) {
      group.structs.push_back(structs.PlanShared(*shape, prefix));
      std::vector<TypeId> refs;
      CollectRefs(*shape->positions[0], refs);
      for (TypeId ref : refs) {
        if (names_[ref].used) group.includes.insert(names_[ref].header);
      }
    }
    plan_.groups[version.group] = std::move(group);
  }

  // Shared types end with an underscore and a hash, so no type of the namespace is called like one of these functions.
  void PlanManifests() {
    std::map<std::string, std::vector<const model::Manifest*>> groups;
    for (const model::Manifest& manifest : api_.manifests) groups[manifest.group].push_back(&manifest);
    const auto function = [](std::string_view kind) { return TypeIdentifier(kind) + "Manifest"; };
    for (const auto& [group, manifests] : groups) {
      const auto version = std::ranges::find(plan_.versions, group, &PlannedVersion::group);
      const std::string space =
          version != plan_.versions.end() ? version->group_space : NameGroup(group, options_.group_naming).name_space;
      std::vector<std::string> kinds;
      for (const model::Manifest* manifest : manifests) kinds.push_back(manifest->kind);
      const std::vector<std::string> functions = DistinctIdentifiers(kinds, function, {});
      for (std::size_t i = 0; i < manifests.size(); ++i) {
        plan_.manifests.push_back(
            {.name = manifests[i]->name,
             .header = plan_.folder + "/" + space + "/" + Replace(manifests[i]->plural, "-", "_") + "_manifest.h",
             .name_space = plan_.name_space + "::" + space,
             .function = functions[i],
             .json = manifests[i]->json,
             .types = TypesOf(*manifests[i])});
      }
    }
    std::ranges::sort(plan_.manifests, {}, &PlannedManifest::name);
  }

  // The types of a CRD, except for what another API has declared.
  std::vector<PlannedKindType> TypesOf(const model::Manifest& manifest) const {
    std::vector<PlannedKindType> types;
    for (const Source& source : sources_) {
      for (const model::ApiKind* kind : source.kinds) {
        const TypeName& name = names_[kind->type];
        const bool same = kind->custom && kind->gvk.group == manifest.group && kind->gvk.kind == manifest.kind &&
                          (!kind->resource || kind->resource->plural == manifest.plural);
        if (same && name.emitted && !name.used && !name.runtime)
          types.push_back({.name_space = name.scope, .name = name.name});
      }
    }
    return types;
  }

  static bool UsesShapes(const PlannedStruct& planned) {
    return std::any_of(planned.aliases.begin(), planned.aliases.end(),
                       [](const auto& alias) { return alias.shared; }) ||
           std::any_of(planned.nested.begin(), planned.nested.end(), UsesShapes);
  }

  void PlanVersion(std::size_t index) {
    const Source& source = sources_[index];
    PlannedVersion& version = plan_.versions[index];
    const StructPlanner structs(api_, names_, shapes_.find(source.group)->second, version.name_space, diagnostics_);
    if (const OwnTypes* own = Own(version); own != nullptr) {
      PlanOwnTypes(source, *own, structs, version);
      return;
    }
    const std::string common_header = version.folder + "/common_types.h";
    std::set<TypeId> defined, open;
    const std::function<void(TypeId)> define = [&](TypeId id) {
      if (defined.contains(id) || !open.insert(id).second) return;
      const bool common = names_[id].header == common_header;
      PlannedHeader& header = common ? version.common : version.types;
      std::vector<TypeId> refs;
      CollectRefs(api_.types[id].schema, refs);
      for (TypeId ref : refs) {
        const TypeName& name = names_[ref];
        if (!name.emitted || name.runtime) continue;
        if (name.scope != version.name_space) {
          header.includes.insert(name.header);
          needs_[index].emplace(name.scope, id);
        } else if (open.contains(ref) && !defined.contains(ref)) {
          if (ref != id) header.declared.insert(name.name);
        } else {
          define(ref);
        }
      }
      defined.insert(id);
      names_[id].open = false;
      const std::size_t planned = version.structs.size();
      PlanStruct(source, id, structs, version);
      version.structs[planned].common = common;
      version.has_common = version.has_common || common;
    };
    for (TypeId id : source.types) define(id);
    version.has_shared = std::any_of(version.structs.begin(), version.structs.end(), UsesShapes);
    // A CRD is complete, but descriptions may have been removed from an API document.
    const bool custom =
        std::any_of(source.kinds.begin(), source.kinds.end(), [](const model::ApiKind* kind) { return kind->custom; });
    const bool described = std::any_of(source.types.begin(), source.types.end(),
                                       [&](TypeId id) { return HasProse(api_.types[id].schema); });
    if (!custom && !described) version.documentation = WhereDescriptionsAre(version);
    PlanAliases(source, version);
    PlanKinds(source, version);
    if (!options_.only_types()) PlanResources(source, version);
  }

  const OwnTypes* Own(const PlannedVersion& version) const {
    const auto found = std::find_if(options_.own.begin(), options_.own.end(), [&](const OwnTypes& own) {
      return own.group == version.group && own.version == version.version;
    });
    return found == options_.own.end() ? nullptr : &*found;
  }

  // Plans a version whose structs the user wrote: the lists, the clients, and the tables of all.
  void PlanOwnTypes(const Source& source, const OwnTypes& own, const StructPlanner& structs, PlannedVersion& version) {
    if (own.name_space != version.name_space) {
      diagnostics_.Error("own-namespace", {},
                         "the structs of " + version.title + " are in namespace " + Quote(own.name_space, 200) +
                             ", and kgen generates their clients and lists in " + version.name_space,
                         {}, "move them to that namespace, or choose it with --namespace and --group-names");
      return;
    }
    version.structs = own.structs;
    version.types.includes.insert(own.headers.begin(), own.headers.end());
    version.enum_names = own.enums;
    for (TypeId id : source.types) {
      const std::string& name = names_[id].name;
      if (FindStruct(version, name) == nullptr) {
        diagnostics_.Error("own-name", {}, "the kind " + Quote(api_.types[id].name) + " has the C++ name " + name, {},
                           "rename the struct; its name is taken in generated code");
        continue;
      }
      const auto list = source.made_lists.find(id);
      if (list == source.made_lists.end()) continue;
      version.structs.push_back(structs.PlanList(list->second, name));
      version.structs.back().table_name = Replace(version.name_space, "::", ".") + "." + list->second;
    }
    PlanKinds(source, version);
    for (PlannedStruct& planned : version.structs) {
      planned.columns.clear();  // members of the declaration, which is the user's
      planned.enums.clear();
    }
    PlanResources(source, version);
  }

  static Comment WhereDescriptionsAre(const PlannedVersion& version) {
    const std::string path = version.group.empty() ? "api/" : "apis/" + version.group + "/";
    Comment lines = CommentLines({"There are no descriptions here, because the input has none. For types with "
                                  "descriptions, generate from a server's own document, which `kubectl get --raw "
                                  "/openapi/v3/" +
                                  path + version.version + "` prints."},
                                 kColumns);
    lines.insert(lines.begin(), "//");
    return lines;
  }

  // Reports headers that include each other in a cycle.
  void CheckIncludes() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      std::set<std::size_t> seen = {i};  // the sources that i needs, directly or indirectly
      std::vector<std::size_t> todo = {i};
      while (!todo.empty()) {
        const std::size_t at = todo.back();
        todo.pop_back();
        for (std::size_t j = 0; j < sources_.size(); ++j) {
          const auto need = needs_[at].find(plan_.versions[j].name_space);
          if (need == needs_[at].end()) continue;
          if (j == i) {
            diagnostics_.Error("version-cycle", api_.types[need->second].origin,
                               Quote(api_.types[need->second].name) + " of " + plan_.versions[at].title +
                                   " needs a type of " + plan_.versions[i].title + ", which needs types of " +
                                   plan_.versions[at].title,
                               {}, "types that need each other must be of one version");
          } else if (seen.insert(j).second) {
            todo.push_back(j);
          }
        }
      }
    }
  }

  static const model::ApiKind* KindOf(const Source& source, TypeId id) {
    for (const model::ApiKind* kind : source.kinds) {
      if (kind->type == id) return kind;
    }
    return nullptr;
  }

  // Returns the comment of a struct without a description: the resource of a kind, otherwise the name in the API
  // document if it differs.
  static std::string About(const model::NamedType& type, const std::string& name, const model::ApiKind* kind,
                           const std::string& version) {
    if (kind == nullptr || !kind->resource) {
      const bool same = type.definition.empty() || type.definition.ends_with("." + name);
      return same ? std::string() : "In the API document: " + InComment(type.definition, 250) + ".";
    }
    const bool namespaced = kind->resource->scope == model::Scope::kNamespaced;
    return InComment(kind->resource->plural) + " of " + version + ", " +
           (!kind->served ? "not served"
            : namespaced  ? "namespaced"
                          : "cluster-scoped") +
           ".";
  }

  void PlanStruct(const Source& source, TypeId id, const StructPlanner& structs, PlannedVersion& version) {
    const std::string prefix = Replace(version.name_space, "::", ".") + ".";
    const std::string& name = names_[id].name;
    const model::NamedType& type = api_.types[id];
    if (type.role == Role::kList && type.item != model::kNoType && names_[type.item].emitted) {
      version.structs.push_back(structs.PlanList(name, names_[type.item].name));
      version.structs.back().table_name = prefix + name;
      return;
    }
    const model::ApiKind* kind = KindOf(source, id);
    version.structs.push_back(structs.Plan(type, name, prefix + name, About(type, name, kind, version.title),
                                           kind == nullptr ? std::string() : DescribeDeprecation(*kind)));
    const auto list = source.made_lists.find(id);
    if (list == source.made_lists.end()) return;
    version.structs.push_back(structs.PlanList(list->second, name));
    version.structs.back().table_name = prefix + list->second;
  }

  static PlannedStruct* FindStruct(PlannedVersion& version, std::string_view name) {
    for (PlannedStruct& candidate : version.structs) {
      if (candidate.name == name) return &candidate;
    }
    return nullptr;
  }

  static std::set<std::string, std::less<>> UsedNames(const PlannedVersion& version) {
    std::set<std::string, std::less<>> used;
    for (const PlannedStruct& planned : version.structs) used.insert(planned.name);
    for (const PlannedAlias& alias : version.aliases) used.insert(alias.name);
    return used;
  }

  // Plans aliases such as OrderSpec for Order::Spec, which is the name that such a type has in API documents.
  void PlanAliases(const Source& source, PlannedVersion& version) {
    std::set<std::string, std::less<>> used = UsedNames(version);
    for (const model::ApiKind* kind : source.kinds) {
      const PlannedStruct* type = kind->custom ? FindStruct(version, names_[kind->type].name) : nullptr;
      if (type == nullptr) continue;
      for (const PlannedStruct& nested : type->nested) {
        std::string name = type->name + nested.name;
        if (!used.insert(name).second) continue;
        version.aliases.push_back({name, nested.path});
      }
    }
  }

  std::string ListType(const Source& source, const model::ApiKind& kind) const {
    const auto made = source.made_lists.find(kind.type);
    if (made != source.made_lists.end()) return made->second;
    return kind.list_type != model::kNoType && names_[kind.list_type].emitted ? names_[kind.list_type].name
                                                                              : std::string();
  }

  void PlanKinds(const Source& source, PlannedVersion& version) {
    for (const model::ApiKind* kind : source.kinds) {
      PlannedStruct* type = FindStruct(version, names_[kind->type].name);
      if (type == nullptr) continue;
      type->kind_symbol = "k" + type->name + "Kind";
      if (kind->resource && !options_.projections) PlanMetadata(*kind->resource, *type);
      std::string singular = kind->gvk.kind;
      std::transform(singular.begin(), singular.end(), singular.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
      PlannedKindInfo info;
      info.symbol = type->kind_symbol;
      info.group = StringLiteral(kind->gvk.group);
      info.version = StringLiteral(kind->gvk.version);
      info.kind = StringLiteral(kind->gvk.kind);
      info.list_kind = StringLiteral(kind->resource ? kind->list_kind : "");
      info.list = ListType(source, *kind);
      info.resource = StringLiteral(kind->resource ? kind->resource->plural : "");
      info.singular =
          StringLiteral(kind->resource && !kind->resource->singular.empty() ? kind->resource->singular : singular);
      info.namespaced = kind->resource && kind->resource->scope == model::Scope::kNamespaced;
      version.kind_types.push_back(type->name);
      if (PlannedStruct* list = FindStruct(version, info.list); list != nullptr && !info.list.empty()) {
        list->kind_symbol = "k" + list->name + "Kind";
        PlannedKindInfo list_info = info;
        list_info.symbol = list->kind_symbol;
        list_info.kind = info.list_kind;
        list_info.list_kind = StringLiteral("");
        list_info.list.clear();
        version.kinds.push_back(std::move(list_info));
      }
      version.kinds.push_back(std::move(info));
    }
  }

  static std::string VerbsOf(const model::Resource& resource) {
    std::string out;
    AddVerbs(resource.verbs, &VerbName::own, "kStandard", out);
    if (const model::Subresource* status = resource.Find("status"); status != nullptr) {
      AddVerbs(status->verbs, &VerbName::status, "kStatus", out);
    }
    // The scale of an old or aggregated API may have its own type. It is then treated like any other subresource.
    const model::Subresource* scale = resource.Find("scale");
    if (scale != nullptr && HasUsualScale(*scale)) AddVerbs(scale->verbs, &VerbName::scale, "kScale", out);
    return out.empty() ? "kgen::Verbs::kNone" : out;
  }

  // Omits subresources whose body no document describes, and those that are byte streams (exec, proxy).
  void PlanSubresources(const model::Resource& resource, PlannedVersion& version, PlannedResource& out) const {
    for (const model::Subresource& subresource : resource.subresources) {
      PlannedSubresource planned{StringLiteral(subresource.name), "", ""};
      if (subresource.text) {
        planned.body = "std::string";
        AddVerbs(subresource.verbs, &VerbName::text, "", planned.verbs);
      } else if (HasTypedBody(subresource)) {
        const model::ApiKind* kind = api_.FindKind(subresource.body_gvk);
        if (kind == nullptr || !IsPlanned(*kind) || !IsEmitted(kind->type)) continue;
        const TypeName& type = names_[kind->type];
        const bool own = type.scope == version.name_space;
        planned.body = own ? type.name : type.qualified;
        if (!own) version.foreign[type.scope].insert(type.name);
        AddVerbs(subresource.verbs, &VerbName::other, "", planned.verbs);
      } else {
        continue;
      }
      out.subresources.push_back(std::move(planned));
    }
  }

  void PlanResources(const Source& source, PlannedVersion& version) {
    std::set<std::string, std::less<>> used = UsedNames(version);
    const auto unique = [&](std::string name) {
      while (!used.insert(name).second) name += name.back() == '_' ? "2_" : "_";
      return name;
    };
    std::vector<const model::ApiKind*> served;
    std::vector<std::string> accessors;
    for (const model::ApiKind* kind : source.kinds) {
      if (!kind->served || !kind->resource || FindStruct(version, names_[kind->type].name) == nullptr) continue;
      served.push_back(kind);
      accessors.push_back(ResourceAccessor(kind->resource->plural, kind->gvk.kind));
    }
    // An accessor must not have the name of the class that declares it or of another member.
    const std::vector<std::string> distinct = DistinctIdentifiers(
        accessors, TypeIdentifier, {"Client", "Client_", "Informers", "Informers_", "List", "Get", "In", "GetByName"});
    version.client_class = unique("Client");
    version.informers_class = unique("Informers");
    for (std::size_t i = 0; i < served.size(); ++i) {
      const model::Resource& resource = *served[i]->resource;
      PlannedResource out;
      out.accessor = distinct[i];
      out.type = names_[served[i]->type].name;
      out.list_type = ListType(source, *served[i]);
      if (out.list_type.empty()) out.list_type = "void";
      out.client_class = unique(out.accessor + "Client");
      out.lister_class = unique(out.type + "Lister");
      out.informer_name = unique(out.type + "Informer");
      out.title = resource.plural + (version.group.empty() ? "" : "." + version.group);
      // The accessor, or a member of the base class, may have the same name as the type and would hide it.
      static constexpr std::array<std::string_view, 5> kOfLister = {"Get", "GetByName", "In", "List", "Lister"};
      const bool hidden = out.accessor == out.type || out.type == out.lister_class ||
                          std::find(kOfLister.begin(), kOfLister.end(), out.type) != kOfLister.end();
      out.accessor_type = hidden ? names_[served[i]->type].qualified : out.type;
      out.namespaced = resource.scope == model::Scope::kNamespaced;
      out.has_informer = resource.HasLister();
      out.deprecation = CommentLines({DescribeDeprecation(*served[i])}, kColumns - 2);
      out.verbs = VerbsOf(resource);
      PlanSubresources(resource, version, out);
      version.resources.push_back(std::move(out));
    }
    std::sort(version.resources.begin(), version.resources.end(),
              [](const PlannedResource& a, const PlannedResource& b) { return a.accessor < b.accessor; });
  }

  const model::Api& api_;
  const PlanOptions& options_;
  Diagnostics& diagnostics_;
  Plan plan_;
  std::vector<TypeName> names_;  // by TypeId
  std::vector<bool> reachable_;  // by TypeId
  std::set<const model::ApiKind*> bodies_;
  std::vector<Source> sources_;  // parallel to plan_.versions
  std::map<const model::Group*, Shapes> shapes_;
  // By version: the namespaces of other versions that it needs, each with a type that needs it.
  std::map<std::size_t, std::map<std::string, TypeId, std::less<>>> needs_;
};

}  // namespace

std::vector<CppType> CppTypes(const model::Api& api, const PlanOptions& options, Diagnostics& diagnostics) {
  return Planner(api, options, diagnostics).Types();
}

Plan MakePlan(const model::Api& api, const PlanOptions& options, Diagnostics& diagnostics) {
  return Planner(api, options, diagnostics).Make();
}

std::map<std::string, Origin> StructOrigins(const model::Api& api, const PlanOptions& options,
                                            Diagnostics& diagnostics) {
  std::map<std::string, Origin> out;
  const std::function<void(const std::string&, const PlannedStruct&)> add = [&](const std::string& space,
                                                                                const PlannedStruct& planned) {
    out.emplace(space + "::" + planned.path, planned.origin);
    for (const PlannedStruct& nested : planned.nested) add(space, nested);
  };
  const Plan plan = MakePlan(api, options, diagnostics);
  for (const PlannedVersion& version : plan.versions) {
    for (const PlannedStruct& planned : version.structs) add(version.name_space, planned);
  }
  for (const auto& [name, group] : plan.groups) {
    for (const PlannedStruct& planned : group.structs) add(group.name_space, planned);
  }
  return out;
}

}  // namespace kgen::generator::emit
