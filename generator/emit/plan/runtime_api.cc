// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/runtime_api.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "generator/emit/plan/schemas.h"

namespace kgen::generator::emit {
namespace {

using model::TypeId;

// "coordination.k8s.io/v1/Lease"
TypeId Find(const model::Api& api, std::string_view path) {
  const std::size_t name = path.rfind('/');
  if (name == std::string_view::npos) return model::kNoType;
  const std::string_view before = path.substr(0, name);
  const std::size_t version = before.rfind('/');
  if (version == std::string_view::npos) return api.FindType("", before, path.substr(name + 1));
  return api.FindType(before.substr(0, version), before.substr(version + 1), path.substr(name + 1));
}

// Adds the structs that a schema contains.
void AddStructs(const model::Api& api, const model::Schema& unresolved, std::vector<TypeId>& out) {
  const model::Schema& schema = Resolved(api, unresolved);
  if (schema.kind == model::Kind::kRef) out.push_back(schema.ref);
  if (schema.element != nullptr) AddStructs(api, *schema.element, out);
  for (const model::Field& field : schema.fields) AddStructs(api, *field.schema, out);
}

// Returns the roots and all types that they contain. Types of meta/v1 are among them only if a root is one: all others
// get them from the header with that root.
std::set<TypeId> Contained(const model::Api& api, const std::vector<TypeId>& roots) {
  std::set<TypeId> found(roots.begin(), roots.end());
  const bool meta = std::ranges::any_of(roots, [&](TypeId id) { return api.types[id].runtime; });
  std::vector<TypeId> todo = roots;
  while (!todo.empty()) {
    const TypeId id = todo.back();
    todo.pop_back();
    std::vector<TypeId> structs;
    AddStructs(api, api.types[id].schema, structs);
    for (const TypeId inner : structs) {
      if ((meta || !api.types[inner].runtime) && found.insert(inner).second) todo.push_back(inner);
    }
  }
  return found;
}

// Returns whether a type of meta/v1 is a kind: objects of its own, with metadata.
bool IsMetaKind(const model::NamedType& type) {
  return type.schema.Find("apiVersion") != nullptr && type.schema.Find("kind") != nullptr &&
         type.schema.Find("metadata") != nullptr;
}

}  // namespace

std::expected<std::vector<RuntimeHeader>, std::string> ParseRuntimeList(std::string_view text) {
  std::vector<RuntimeHeader> headers;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    RuntimeHeader header;
    if (!(words >> header.header)) continue;
    words >> header.source >> header.name_space;
    for (std::string type; words >> type;) header.types.push_back(std::move(type));
    for (const std::string_view folder : {"include/", "src/"}) {
      if (header.header.starts_with(folder)) header.include = header.header.substr(folder.size());
    }
    if (header.types.empty() || header.include.empty()) {
      return std::unexpected(std::to_string(number) +
                             ": a line needs a header in include/ or src/, a source, a namespace and types such as "
                             "coordination.k8s.io/v1/Lease");
    }
    headers.push_back(std::move(header));
  }
  return headers;
}

OnlyTypes::OnlyTypes(model::Api& api, const RuntimeHeader& header, Diagnostics& diagnostics)
    : api_(api), groups_(std::exchange(api.groups, {})) {
  std::vector<TypeId> roots;
  for (const std::string& path : header.types) {
    const TypeId id = Find(api, path);
    if (id != model::kNoType && api.types[id].schema.kind == model::Kind::kObject) {
      roots.push_back(id);
      continue;
    }
    diagnostics.Error("runtime-type", {},
                      "the list of --runtime names " + Quote(path, 200) + ", which is no object of the input", {},
                      "GROUP/VERSION/NAME, or VERSION/NAME in the core group");
  }
  if (roots.size() != header.types.size()) return;
  const std::set<TypeId> types = Contained(api, roots);
  model::Version version{.name = api.types[roots[0]].version, .kinds = {}, .types = {types.begin(), types.end()}};
  for (const TypeId id : types) {
    model::NamedType& type = api.types[id];
    if (!std::exchange(type.runtime, false)) continue;
    runtime_.push_back(id);
    if (!IsMetaKind(type)) continue;
    type.role = model::Role::kKind;
    model::ApiKind& kind = version.kinds.emplace_back();
    kind.gvk = {"", type.version, type.name};  // the kinds of meta/v1 belong to no group
    kind.type = id;
  }
  for (const model::Group& group : groups_) {
    for (const model::Version& each : group.versions) {
      for (model::ApiKind kind : each.kinds) {
        if (!types.contains(kind.type)) continue;
        kind.list_type = model::kNoType;
        if (kind.resource) kind.resource->verbs = {};
        version.kinds.push_back(std::move(kind));
      }
    }
  }
  api.groups.push_back({.name = api.types[roots[0]].group, .versions = {std::move(version)}});
}

OnlyTypes::~OnlyTypes() {
  api_.groups = std::move(groups_);
  for (const TypeId id : runtime_) {
    api_.types[id].runtime = true;
    api_.types[id].role = model::Role::kPlain;
  }
}

}  // namespace kgen::generator::emit
