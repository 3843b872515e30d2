// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/projections.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "generator/emit/plan/make_plan.h"
#include "generator/emit/plan/schemas.h"
#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/names.h"
#include "generator/model/protobuf.h"

namespace kgen::generator::emit {
namespace {

using model::Kind;
using parse::Projection;

constexpr std::string_view kObjectMeta = "kgen::meta::v1::ObjectMeta";

// A member of ObjectMeta, as in its table.
struct MetadataMember {
  std::string_view wire_name, identifier, value_kind, flags, detail;
  std::uint16_t number;  // in protobuf
  bool always = false;   // the identity of an object, and whether it is being deleted
};

constexpr MetadataMember kMetadata[] = {
    {"name", "name", "kString", "kgen::kUnique", "nullptr", 1, true},
    {"namespace", "namespace_", "kString", "0", "nullptr", 3, true},
    {"annotations", "annotations", "kMap", "0", "&kgen::kTypeOf<kgen::String>", 12},
    {"creationTimestamp", "creationTimestamp", "kTime", "0", "nullptr", 8},
    {"deletionGracePeriodSeconds", "deletionGracePeriodSeconds", "kInt64", "0", "nullptr", 10},
    {"deletionTimestamp", "deletionTimestamp", "kTime", "0", "nullptr", 9, true},
    {"finalizers", "finalizers", "kList", "0", "&kgen::kTypeOf<kgen::String>", 14, true},
    {"generateName", "generateName", "kString", "0", "nullptr", 2},
    {"generation", "generation", "kInt64", "0", "nullptr", 7},
    {"labels", "labels", "kMap", "0", "&kgen::kTypeOf<kgen::String>", 11},
    {"managedFields", "managedFields", "kList", "kgen::kNoMemo | kgen::kManagedFields",
     "&kgen::kTypeOf<kgen::meta::v1::ManagedFieldsEntry>", 17},
    {"ownerReferences", "ownerReferences", "kList", "0", "&kgen::kTypeOf<kgen::meta::v1::OwnerReference>", 13},
    {"resourceVersion", "resourceVersion", "kString", "kgen::kUnique", "nullptr", 6, true},
    {"selfLink", "selfLink", "kString", "0", "nullptr", 4},
    {"uid", "uid", "kString", "kgen::kUnique", "nullptr", 5, true},
};

// The wanted members of one object: none means the whole.
struct Part {
  std::map<std::string, Part> members;
  bool whole = false;
  const Projection::Path* first = nullptr;  // that leads here
};

std::unique_ptr<model::Schema> Copy(const model::Schema& schema) {
  auto copy = std::make_unique<model::Schema>();
  copy->kind = schema.kind;
  copy->json_shape = schema.json_shape;
  copy->nullable = schema.nullable;
  copy->preserve_unknown = schema.preserve_unknown;
  copy->ref = schema.ref;
  copy->enum_values = schema.enum_values;
  copy->description = schema.description;
  copy->origin = schema.origin;
  if (schema.element != nullptr) copy->element = Copy(*schema.element);
  for (const model::Field& field : schema.fields) {
    copy->fields.push_back({.name = field.name,
                            .required = field.required,
                            .description = field.description,
                            .notes = field.notes,
                            .protobuf = field.protobuf,
                            .schema = Copy(*field.schema),
                            .origin = field.origin});
  }
  return copy;
}

std::vector<std::string_view> NamesOf(const model::Schema& object) {
  std::vector<std::string_view> names;
  for (const model::Field& field : object.fields) names.emplace_back(field.name);
  return names;
}

// Takes the parts of one projection out of the model of the API that has its kind.
class PartTaker {
 public:
  PartTaker(const model::Api& api, const Projection& projection, Diagnostics& diagnostics)
      : api_(api), projection_(projection), diagnostics_(diagnostics) {}

  // Returns the schema of the projected type; null after an error.
  std::unique_ptr<model::Schema> Take(const model::NamedType& type) {
    Part root;
    for (const Projection::Path& path : projection_.members) Add(path, root);
    root.members["metadata"];
    auto schema = TakeObject(type.schema, root, "");
    return schema;
  }

 private:
  void Add(const Projection::Path& path, Part& root) const {
    Part* at = &root;
    for (const Projection::Step& step : path.steps) {
      if (at->whole) break;
      at = &at->members[step.of_element ? step.name + "[]" : step.name];
      if (at->first == nullptr) at->first = &path;
    }
    at->whole = true;
    at->members.clear();
  }

  std::unique_ptr<model::Schema> TakeObject(const model::Schema& object, const Part& part, const std::string& path) {
    auto out = std::make_unique<model::Schema>();
    out->kind = Kind::kObject;
    out->projection = true;
    out->origin = object.origin;
    out->description = object.description;
    for (const auto& [written, wanted] : part.members) {
      const bool of_element = written.ends_with("[]");
      const std::string name = of_element ? written.substr(0, written.size() - 2) : written;
      const model::Field* const field = object.Find(name);
      if (field == nullptr) {
        const std::string_view nearest = Nearest(name, NamesOf(object));
        Report(wanted, (path.empty() ? projection_.kind.kind : path) + " has no member " + Quote(name),
               nearest.empty() ? std::string() : "did you mean " + std::string(nearest) + "?");
        continue;
      }
      if (of_element && part.members.contains(name)) continue;  // the member is kept whole
      const std::string below = path.empty() ? name : path + "." + name;
      // The type of the metadata is no part of the schema; see UsePartOfMetadata().
      auto taken = below == "metadata" ? Copy(*field->schema) : TakeValue(*field->schema, wanted, of_element, below);
      if (taken == nullptr) continue;
      taken->nullable = field->schema->nullable;
      out->fields.push_back({.name = field->name,
                             .required = field->required,
                             .description = field->description,
                             .notes = field->notes,
                             .protobuf = field->protobuf,
                             .schema = std::move(taken),
                             .origin = field->origin});
    }
    std::ranges::sort(out->fields, {}, &model::Field::name);
    return out;
  }

  // Returns null after an error.
  std::unique_ptr<model::Schema> TakeValue(const model::Schema& unresolved, const Part& part, bool of_element,
                                           const std::string& path) {
    if (part.whole && !of_element) return Copy(unresolved);
    const model::Schema& schema = Resolved(api_, unresolved);
    if (of_element) {
      if (schema.element == nullptr) {
        Report(part, path + " is neither a list nor a map", "leave out its []");
        return nullptr;
      }
      auto out = std::make_unique<model::Schema>();
      out->kind = schema.kind;
      out->origin = schema.origin;
      out->element = part.whole ? Copy(*schema.element) : TakeValue(*schema.element, part, false, path + "[]");
      return out->element == nullptr ? nullptr : std::move(out);
    }
    const model::Schema& object = schema.kind == Kind::kRef ? api_.types[schema.ref].schema : schema;
    if (object.kind == Kind::kObject && !object.fields.empty()) return TakeObject(object, part, path);
    const bool elements = object.element != nullptr;
    Report(part, path + (elements ? " is a list or a map" : " has no members that are known"),
           elements ? "write [] behind it for its elements" : "name it as a whole");
    return nullptr;
  }

  void Report(const Part& part, const std::string& message, std::string hint) {
    const Projection::Path* const path = part.first;
    diagnostics_.Error("projection-member", path != nullptr ? path->origin : projection_.origin, message,
                       path != nullptr ? path->text : std::string(), std::move(hint));
  }

  const model::Api& api_;
  const Projection& projection_;
  Diagnostics& diagnostics_;
};

// The members of the metadata that a projection names; nothing if it names them as a whole.
std::optional<std::set<std::string_view>> MetadataOf(const Projection& projection, Diagnostics& diagnostics) {
  std::set<std::string_view> names;
  bool whole = false;
  for (const Projection::Path& path : projection.members) {
    if (path.steps.front().name != "metadata") continue;
    if (path.steps.size() == 1) {
      whole = true;
      continue;
    }
    const Projection::Step& step = path.steps[1];
    const auto known = std::ranges::find(kMetadata, step.name, &MetadataMember::wire_name);
    if (known == std::end(kMetadata)) {
      std::vector<std::string_view> all;
      for (const MetadataMember& each : kMetadata) all.push_back(each.wire_name);
      const std::string_view nearest = Nearest(step.name, all);
      diagnostics.Error("projection-member", path.origin, "metadata has no member " + Quote(step.name), path.text,
                        nearest.empty() ? std::string() : "did you mean " + std::string(nearest) + "?");
    } else if (path.steps.size() > 2 || step.of_element) {
      diagnostics.Error("projection-member", path.origin, "members of the metadata are kept as a whole", path.text,
                        "write metadata." + step.name);
    } else {
      names.insert(known->wire_name);
    }
  }
  if (whole) return std::nullopt;
  return names;
}

// Gives a planned kind metadata that have only some members.
void UsePartOfMetadata(const std::set<std::string_view>& names, PlannedStruct& planned) {
  PlannedStruct part;
  part.name = "Metadata";
  const auto taken = [&](const auto& each) { return each.name == part.name; };
  while (std::ranges::any_of(planned.nested, taken) || std::ranges::any_of(planned.aliases, taken) ||
         std::ranges::any_of(planned.enums, taken)) {
    part.name += '_';
  }
  part.path = planned.path + "::" + part.name;
  part.table_name = planned.table_name + "." + part.name;
  part.projection = true;
  part.protobuf = planned.protobuf;
  part.layout = kObjectMeta;
  part.comment =
      CommentLines({"The metadata that are kept. Other members of ObjectMeta are not accessible."}, kColumns - 2);
  for (const MetadataMember& each : kMetadata) {
    if (!each.always && !names.contains(each.wire_name)) continue;
    part.fields.push_back(
        {.wire_name = std::string(each.wire_name),
         .identifier = std::string(each.identifier),
         .type = {},
         .initializer = {},
         .value_kind = std::string(each.value_kind),
         .flags = std::string(each.flags),
         .detail = std::string(each.detail),
         .protobuf = {.numbers = {each.number},
                      .zero_is_absent = each.value_kind == "kString" || each.wire_name == "generation"},
         .comment = {}});
  }
  for (PlannedField& field : planned.fields) {
    if (field.identifier != planned.metadata) continue;
    field.type = part.name;
    field.detail = "&" + part.path + "::kTable";
  }
  planned.nested.insert(planned.nested.begin(), std::move(part));
}

// The used API with a kind, and the kind.
std::pair<UsedApi*, const model::ApiKind*> FindKind(const Projection& projection, std::vector<UsedApi>& apis) {
  for (UsedApi& used : apis) {
    const model::ApiKind* const kind = used.api.FindKind(projection.kind);
    if (kind != nullptr && kind->has_object_meta && kind->resource) return {&used, kind};
  }
  return {nullptr, nullptr};
}

// From here on, the types of the API are those that its own run has generated.
void Declare(UsedApi& used) {
  Diagnostics its;
  const std::vector<CppType> names =
      CppTypes(used.api, {.name_space = used.name_space, .group_naming = used.group_naming}, its);
  for (model::TypeId id = 0; id < names.size(); ++id) {
    model::NamedType& type = used.api.types[id];
    if (type.runtime || names[id].name.empty()) continue;
    type.declared = names[id].name;
    type.declared_in = names[id].header;
  }
}

// Plans the type of one projection.
PlannedVersion PlanOne(const Projection& projection, UsedApi& used, const model::ApiKind& of,
                       const std::string& name_space, Diagnostics& diagnostics) {
  const auto metadata = MetadataOf(projection, diagnostics);
  model::Api& api = used.api;
  auto schema = PartTaker(api, projection, diagnostics).Take(api.types[of.type]);
  if (diagnostics.has_errors()) return {};
  model::ApiKind kind = of;
  kind.type = static_cast<model::TypeId>(api.types.size());
  kind.list_type = model::kNoType;
  kind.resource->verbs = {};  // so that it gets no list
  kind.custom = false;
  model::NamedType& type = api.types.emplace_back();
  type.group = kind.gvk.group;
  type.version = kind.gvk.version;
  type.name = projection.name;
  type.role = model::Role::kKind;
  type.schema = std::move(*schema);
  type.gvk = kind.gvk;
  type.origin = projection.origin;
  type.protobuf = model::CanDecodeMembers(api, type);
  std::string about = "A part of the kind " + kind.gvk.kind + ":";
  for (const Projection::Path& path : projection.members) {
    about.append(&path == projection.members.data() ? " " : ", ").append(path.text);
  }
  type.schema.description = {about + "."};
  std::vector<model::Group> groups = std::exchange(api.groups, {});
  model::Version version{.name = kind.gvk.version, .kinds = {kind}, .types = {kind.type}};
  api.groups.push_back({.name = kind.gvk.group, .versions = {}});
  api.groups.back().versions.push_back(std::move(version));
  Plan plan = MakePlan(api, {.name_space = name_space, .projections = true}, diagnostics);
  api.groups = std::move(groups);
  if (diagnostics.has_errors() || plan.versions.empty()) return {};
  PlannedStruct& planned = plan.versions[0].structs.back();
  if (metadata) UsePartOfMetadata(*metadata, planned);
  return std::move(plan.versions[0]);
}

}  // namespace

Plan PlanProjections(const std::vector<Projection>& projections, std::vector<UsedApi>& apis,
                     const std::string& name_space, Diagnostics& diagnostics) {
  Plan plan;
  plan.name_space = plan.folder = name_space;
  for (std::size_t at = plan.folder.find("::"); at != std::string::npos; at = plan.folder.find("::")) {
    plan.folder.replace(at, 2, "/");
  }
  plan.stem = "projections";
  for (UsedApi& used : apis) Declare(used);
  std::set<std::string_view> names;
  for (const Projection& projection : projections) {
    if (TypeIdentifier(projection.name) != projection.name) {
      diagnostics.Error("projection-name", projection.origin, Quote(projection.name) + " is no name of a C++ type", {},
                        "write a name such as PodAddress");
    } else if (!names.insert(projection.name).second) {
      diagnostics.Error("projection-name", projection.origin,
                        "there are two projections with the name " + Quote(projection.name), {}, "rename one of them");
    }
    const auto [used, kind] = FindKind(projection, apis);
    if (kind == nullptr) {
      diagnostics.Error("projection-kind", projection.origin,
                        "no API of --use has the kind " + model::Describe(projection.kind), {},
                        "correct apiVersion and kind, or name the API that has it with --use");
      continue;
    }
    plan.versions.push_back(PlanOne(projection, *used, *kind, name_space, diagnostics));
  }
  return plan;
}

}  // namespace kgen::generator::emit
