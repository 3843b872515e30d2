// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/api.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "generator/diagnostic.h"
#include "generator/model/names.h"

namespace kgen::generator::model {

const Field* Schema::Find(std::string_view name) const {
  const auto found = std::lower_bound(fields.begin(), fields.end(), name,
                                      [](const Field& f, std::string_view n) { return f.name < n; });
  return found != fields.end() && found->name == name ? &*found : nullptr;
}

std::string_view Describe(Kind kind) {
  switch (kind) {
    case Kind::kObject:
      return "object";
    case Kind::kList:
      return "list";
    case Kind::kMap:
      return "map";
    case Kind::kString:
      return "string";
    case Kind::kBool:
      return "boolean";
    case Kind::kInt32:
      return "32-bit integer";
    case Kind::kInt64:
      return "64-bit integer";
    case Kind::kDouble:
      return "number";
    case Kind::kBytes:
      return "bytes";
    case Kind::kTime:
      return "time";
    case Kind::kMicroTime:
      return "time with microseconds";
    case Kind::kDuration:
      return "duration";
    case Kind::kQuantity:
      return "quantity";
    case Kind::kIntOrString:
      return "integer or string";
    case Kind::kJson:
      return "any JSON";
    case Kind::kRef:
      return "reference";
  }
  return "value";
}

std::vector<std::string_view> Verbs::Names() const {
  constexpr std::array<std::pair<Verb, std::string_view>, 9> kNames = {{{Verb::kCreate, "create"},
                                                                        {Verb::kUpdate, "update"},
                                                                        {Verb::kDelete, "delete"},
                                                                        {Verb::kDeleteCollection, "deletecollection"},
                                                                        {Verb::kGet, "get"},
                                                                        {Verb::kList, "list"},
                                                                        {Verb::kWatch, "watch"},
                                                                        {Verb::kPatch, "patch"},
                                                                        {Verb::kConnect, "connect"}}};
  std::vector<std::string_view> out;
  for (const auto& [verb, name] : kNames) {
    if (Has(verb)) out.push_back(name);
  }
  return out;
}

const Subresource* Resource::Find(std::string_view subresource) const {
  const auto found = std::find_if(subresources.begin(), subresources.end(),
                                  [&](const Subresource& s) { return s.name == subresource; });
  return found == subresources.end() ? nullptr : &*found;
}

const ApiKind* Api::FindKind(const GroupVersionKind& gvk) const {
  for (const Group& group : groups) {
    if (group.name != gvk.group) continue;
    for (const Version& version : group.versions) {
      if (version.name != gvk.version) continue;
      for (const ApiKind& kind : version.kinds) {
        if (kind.gvk.kind == gvk.kind) return &kind;
      }
    }
  }
  return nullptr;
}

TypeId Api::FindType(std::string_view group, std::string_view version, std::string_view name) const {
  const auto key = std::tie(group, version, name);
  const auto found = std::lower_bound(types.begin(), types.end(), key, [](const NamedType& type, const auto& wanted) {
    const std::string_view g = type.group, v = type.version, n = type.name;
    return std::tie(g, v, n) < wanted;
  });
  if (found == types.end() || found->group != group || found->version != version || found->name != name) return kNoType;
  return static_cast<TypeId>(found - types.begin());
}

const NamedType& Api::Target(TypeId id) const {
  // Chains of aliases are short and without cycles, because Resolve() refuses cycles.
  while (types[id].schema.kind == Kind::kRef) id = types[id].schema.ref;
  return types[id];
}

std::string Describe(const GroupVersionKind& gvk) {
  return Visible((gvk.group.empty() ? std::string() : gvk.group + "/") + gvk.version + " " + gvk.kind, 200);
}

}  // namespace kgen::generator::model
