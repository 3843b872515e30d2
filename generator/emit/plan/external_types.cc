// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/external_types.h"

#include <algorithm>
#include <utility>

#include "generator/emit/plan/make_plan.h"
#include "generator/model/anchors.h"

namespace kgen::generator::emit {
namespace {

using model::Kind;
using model::NamedType;
using model::Schema;
using model::TypeId;

constexpr std::string_view kOwn = "own";

// The position of an object: "orders.shop.example.com:spec.template".
struct Place {
  std::string resource, wire;
  bool own = false;  // a kind or a direct child of one

  std::string Text() const { return resource + ":" + wire; }
  Place Below(const std::string& field) const {
    return {resource, wire.empty() ? field : wire + "." + field, wire.empty()};
  }
};

class UsedTypes {
 public:
  UsedTypes(model::Api& api, const UseOptions& options, Diagnostics& diagnostics)
      : api_(api), options_(options), diagnostics_(diagnostics) {
    for (const auto& [path, type] : options.types) unknown_.insert(path);
  }

  void Use(const UsedApi& used) {
    Diagnostics its;  // dropped: its positions are not in the files of diagnostics_, and warnings belong to its own run
    std::vector<CppType> types =
        CppTypes(used.api, {.name_space = used.name_space, .group_naming = used.group_naming}, its);
    for (const Diagnostic& each : its.Sorted()) {
      if (each.severity != Severity::kError) continue;
      diagnostics_.Error(each.id, {}, "--use " + used.name_space + ": " + each.message, each.path, each.hint);
    }
    if (its.has_errors()) return;
    used_.push_back({&used.api, std::move(types), model::Anchors(used.api)});
    UseDefinitions(used_.back());
  }

  // Returns the positions in options.types that do not exist.
  std::set<std::string> MapCustomResources() {
    for (const model::Group& group : api_.groups) {
      for (const model::Version& version : group.versions) {
        for (const model::ApiKind& kind : version.kinds) {
          if (!kind.custom || !kind.resource) continue;
          Map(kind.type, kind.resource->plural + "." + kind.gvk.group);
        }
      }
    }
    return std::move(unknown_);
  }

 private:
  struct Used {
    const model::Api* api;
    std::vector<CppType> types;  // by TypeId of `api`
    model::Anchors anchors;
  };

  std::set<TypeId> Generated() const {
    std::set<TypeId> types;
    for (const model::Group& group : api_.groups) {
      for (const model::Version& version : group.versions) {
        for (const model::ApiKind& kind : version.kinds) {
          if (!kind.IsGenerated()) continue;
          types.insert(kind.type);
          types.insert(kind.list_type);
        }
      }
    }
    return types;
  }

  void UseDefinitions(const Used& used) {
    const std::set<TypeId> generated = Generated();
    for (TypeId id = 0; id < api_.types.size(); ++id) {
      NamedType& type = api_.types[id];
      const bool candidate = !type.runtime && type.declared.empty() && !type.definition.empty() &&
                             type.schema.kind == Kind::kObject && !generated.contains(id);
      if (!candidate) continue;
      const TypeId same = used.api->FindType(type.group, type.version, type.name);
      if (same == model::kNoType || used.api->types[same].runtime || used.types[same].name.empty()) continue;
      type.declared = used.types[same].name;
      type.declared_in = used.types[same].header;
      type.schema.fields.clear();
    }
  }

  // Adds a type of a used API to api_.
  TypeId Import(const Used& used, TypeId id) {
    const NamedType& type = used.api->types[id];
    for (TypeId own = 0; own < api_.types.size(); ++own) {
      const NamedType& known = api_.types[own];
      const bool same = known.group == type.group && known.version == type.version && known.name == type.name;
      if (same && (known.runtime || known.declared == used.types[id].name)) return own;
    }
    NamedType& added = api_.types.emplace_back();
    added.group = type.group;
    added.version = type.version;
    added.name = type.name;
    added.definition = type.definition;
    added.schema.kind = Kind::kObject;
    added.runtime = type.runtime;
    if (!type.runtime) {
      added.declared = used.types[id].name;
      added.declared_in = used.types[id].header;
    }
    return static_cast<TypeId>(api_.types.size() - 1);
  }

  void Map(TypeId kind, const std::string& resource) {
    Schema schema = std::move(api_.types[kind].schema);  // moved out, because adding types reallocates the vector
    MapBelow(schema, {.resource = resource, .wire = {}, .own = true});
    api_.types[kind].schema = std::move(schema);
  }

  void MapBelow(Schema& object, const Place& place) {
    for (model::Field& field : object.fields) {
      Schema* inner = field.schema.get();
      while (inner->element != nullptr) inner = inner->element.get();
      const Place below = place.Below(field.name);
      if (inner->kind != Kind::kObject || (!below.own && Replace(*inner, below))) continue;
      MapBelow(*inner, below);
    }
  }

  bool Replace(Schema& object, const Place& place) {
    if (const auto chosen = options_.types.find(place.Text()); chosen != options_.types.end()) {
      unknown_.erase(chosen->first);
      return chosen->second != kOwn && ReplaceBy(object, place, chosen->second);
    }
    if (IsDecidedBelow(place)) return false;
    for (const Used& used : used_) {
      const auto fit = used.anchors.Find(api_, object);
      if (fit && !used.types[fit->type].name.empty()) {
        Refer(object, place, used, *fit);
        return true;
      }
      if (fit || fit.error().empty()) continue;
      diagnostics_.Note("own-type", object.origin,
                        Visible(place.Text(), 200) + " has a type of its own: " + fit.error());
    }
    return false;
  }

  // Returns whether --distinct or --type names this position or one below it.
  bool IsDecidedBelow(const Place& place) const {
    const std::string text = place.Text();
    const auto is_inside = [&](const std::string& path) { return path == text || path.starts_with(text + "."); };
    return std::any_of(options_.distinct.begin(), options_.distinct.end(), is_inside) ||
           std::any_of(options_.types.begin(), options_.types.end(),
                       [&](const auto& chosen) { return is_inside(chosen.first); });
  }

  bool ReplaceBy(Schema& object, const Place& place, std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    for (const Used& used : used_) {
      const auto found = std::find_if(used.types.begin(), used.types.end(), [&](const CppType& type) {
        std::string_view candidate = type.name;
        if (candidate.starts_with("::")) candidate.remove_prefix(2);
        return candidate == name;
      });
      if (found == used.types.end()) continue;
      const auto type = static_cast<TypeId>(found - used.types.begin());
      const auto fit = used.anchors.Check(api_, object, type);
      if (fit) {
        Refer(object, place, used, *fit);
        return true;
      }
      diagnostics_.Error("type-mismatch", object.origin,
                         Visible(place.Text(), 200) + " cannot be " + std::string(name) + ": " + fit.error(), {},
                         "leave out its --type; kgen::Convert reads one type as another");
      return false;
    }
    diagnostics_.Error("type-unknown", {},
                       "--type " + Quote(place.Text(), 200) + ": no used API has a type " + Quote(name, 200), {},
                       "a C++ name such as k8s::core::v1::PodTemplateSpec, or own");
    return false;
  }

  // Replaces the object by a reference. Keeps nullability and the default, which belong to the position.
  void Refer(Schema& object, const Place& place, const Used& used, const model::Fit& fit) {
    object.kind = Kind::kRef;
    object.ref = Import(used, fit.type);
    object.fields.clear();
    object.preserve_unknown = false;
    std::string lacks;
    std::size_t count = 0;
    for (const auto& [type, fields] : fit.lacks) {
      lacks += (lacks.empty() ? "" : "; ") + type;
      std::string_view separator = " without ";
      for (const std::string& field : fields) lacks.append(std::exchange(separator, ", ")).append(Visible(field));
      count += fields.size();
    }
    diagnostics_.Note("built-in-type", object.origin,
                      Visible(place.Text(), 200) + " is " + used.types[fit.type].name + ", without " +
                          std::to_string(count) + " of the fields there and below");
    if (count != 0) object.description.push_back("This CRD has a part of it: " + lacks + ".");
  }

  model::Api& api_;
  const UseOptions& options_;
  Diagnostics& diagnostics_;
  std::vector<Used> used_;
  std::set<std::string> unknown_;  // positions in options_.types that have not been found yet
};

}  // namespace

std::expected<std::map<std::string, std::string, std::less<>>, std::string> ParseTypes(
    const std::vector<std::string>& values) {
  std::map<std::string, std::string, std::less<>> types;
  for (const std::string& value : values) {
    const std::size_t equals = value.rfind('=');
    const std::size_t colon = value.find(':');
    if (equals == std::string::npos || equals + 1 == value.size() || colon == std::string::npos || colon > equals) {
      return std::unexpected(
          "--type needs RESOURCE.GROUP:FIELD.FIELD=TYPE, as in "
          "orders.shop.example.com:spec.template=k8s::core::v1::PodTemplateSpec, or own as TYPE; got " +
          Quote(value, 200));
    }
    const auto [known, added] = types.emplace(value.substr(0, equals), value.substr(equals + 1));
    if (!added && known->second != value.substr(equals + 1)) {
      return std::unexpected("--type names two types for " + Quote(known->first, 200) + ": " +
                             Quote(known->second, 200) + " and " + Quote(value.substr(equals + 1), 200));
    }
  }
  return types;
}

std::set<std::string> UseTypes(model::Api& api, const std::vector<UsedApi>& uses, const UseOptions& options,
                               Diagnostics& diagnostics) {
  UsedTypes types(api, options, diagnostics);
  for (const UsedApi& used : uses) types.Use(used);
  return diagnostics.has_errors() ? std::set<std::string>() : types.MapCustomResources();
}

void ReportUnknownPositions(const std::set<std::string>& positions, Diagnostics& diagnostics) {
  for (const std::string& position : positions) {
    diagnostics.Error("type-unknown", {}, "--type " + Quote(position, 200) + " names no object of the input", {},
                      "RESOURCE.GROUP:FIELD.FIELD=TYPE, as in "
                      "orders.shop.example.com:spec.template=k8s::core::v1::PodTemplateSpec; the elements of a list or "
                      "map go by its name, and a kind's own fields, such as spec, cannot be named");
  }
}

}  // namespace kgen::generator::emit
