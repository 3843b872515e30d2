// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/plan/shapes.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "generator/emit/spelling/escaping.h"
#include "generator/emit/spelling/names.h"

namespace kgen::generator::emit {
namespace {

using model::Kind;

constexpr std::size_t kHashDigits = 8;

// Returns the last words that both names share: "SecretRef" for PasswordSecretRef and TokenSecretRef. May be empty.
std::string CommonEnding(std::string_view a, std::string_view b) {
  std::size_t size = 0, words = 0;
  while (size < a.size() && size < b.size() && a[a.size() - size - 1] == b[b.size() - size - 1]) {
    ++size;
    const char start = a[a.size() - size];
    if (start >= 'A' && start <= 'Z') words = size;
  }
  return std::string(a.substr(a.size() - words));
}

// Terminates each name in a text. No name contains it, because a table cannot hold such names.
constexpr char kEndOfName = '\n';

}  // namespace

void Shapes::Add(const model::NamedType& type, const std::string& path, const std::string& resource) {
  const Place place{.path = path,
                    .wire = {},
                    .resource = resource,
                    .from_document = !type.definition.empty(),
                    .own = true,
                    .children_are_own = type.role == model::Role::kKind};
  Intern(type.schema, place);
}

bool Shapes::IsDistinct(const Place& place) {
  if (place.resource.empty()) return false;
  const auto found = distinct_.find(place.resource + ":" + place.wire);
  if (found == distinct_.end()) return false;
  found_distinct_.insert(*found);
  return true;
}

Shapes::Id Shapes::Intern(const model::Schema& object, const Place& place) {
  Node node;
  Text text;
  std::vector<const model::Field*> fields;
  for (const model::Field& field : object.fields) {
    if (!IsTableName(field.name)) continue;
    fields.push_back(&field);
    node.names.insert(MemberIdentifier(field.name));
  }
  const auto name = NameObjects(api_, fields, node.names);
  for (const model::Field* each : fields) {
    const model::Field& field = *each;
    const std::string word = name(field.name);
    const Place below{.path = place.path + "::" + word,
                      .wire = place.wire + (place.wire.empty() ? "" : ".") + field.name,
                      .resource = place.resource,
                      .from_document = place.from_document,
                      .own = place.children_are_own,
                      .children_are_own = false};
    const Text value = AddValue(*field.schema, below, word, node);
    text.key += field.name + kEndOfName + value.key + kEndOfName;
    text.lasting += field.name + kEndOfName + value.lasting + kEndOfName;
  }
  for (const Use& use : node.uses) node.names.insert(use.word);
  std::string flags = object.preserve_unknown ? "!" : "";
  if (IsDistinct(place)) flags += "only " + place.resource + ":" + place.wire;
  node.own = place.own || node.refers;
  node.hash = Hash(text.lasting + flags);
  if (node.own) flags += "own " + std::to_string(nodes_.size());
  const auto [known, added] = by_text_.emplace(text.key + flags, nodes_.size());
  if (added) {
    node.shape.first = node.shape.shortest = place.path;
    node.shape.from_document = place.from_document;
    nodes_.push_back(std::move(node));
  }
  Shape& shape = nodes_[known->second].shape;
  if (place.path.size() < shape.shortest.size()) shape.shortest = place.path;
  shape.positions.push_back(&object);
  ids_[&object] = known->second;
  return known->second;
}

// Adds the shapes in a member to the uses of `node`.
Shapes::Text Shapes::AddValue(const model::Schema& unresolved, const Place& place, const std::string& word,
                              Node& node) {
  const model::Schema& schema = Resolved(api_, unresolved);
  Text text;
  if (schema.kind == Kind::kObject) {
    const Id id = Intern(schema, place);
    node.uses.push_back({id, word});
    node.refers = node.refers || nodes_[id].refers;
    text = {"#" + std::to_string(id), "#" + nodes_[id].hash};
  } else if (schema.kind == Kind::kList || schema.kind == Kind::kMap) {
    const Text element = AddValue(*schema.element, place, word, node);
    const char* container = schema.kind == Kind::kList ? "list of " : "map of ";
    text = {container + element.key, container + element.lasting};
  } else if (schema.kind == Kind::kRef && names_[schema.ref].emitted) {
    const TypeName& type = names_[schema.ref];
    node.refers = node.refers || !(type.runtime || type.used);
    text = {type.qualified, type.qualified};
  } else {
    const Kind kind = schema.kind == Kind::kRef ? Kind::kJson : schema.kind;
    text.key = model::Describe(kind);
    for (const std::string& value : SortedValues(schema)) text.key += "=" + std::to_string(value.size()) + ":" + value;
    text.lasting = text.key;
  }
  if (unresolved.nullable) {
    text.key += '?';
    text.lasting += '?';
  }
  return text;
}

// Names a struct that several structs use, or that has a member with its own name: C++ does not allow `Items` inside
// `Items`. The name is the common ending of all uses or, if there is none, the most frequent name.
void Shapes::Name(Node& node, std::set<std::string>& taken) const {
  const auto clashes = [&](const auto& word) { return node.names.contains(word.first); };
  const bool shared = node.used > 1 || std::any_of(node.words.begin(), node.words.end(), clashes);
  if (node.own || !shared) return;
  std::string word = node.words.begin()->first;
  for (const auto& [other, count] : node.words) word = CommonEnding(word, other);
  if (word.empty()) {
    word = std::max_element(node.words.begin(), node.words.end(), [](const auto& a, const auto& b) {
             return a.second < b.second;
           })->first;
  }
  while (word.ends_with('_')) word.pop_back();
  node.shape.name = word + "_" + node.hash.substr(0, kHashDigits);
  if (taken.contains(node.shape.name)) node.shape.name = word + "_" + node.hash;
  while (!taken.insert(node.shape.name).second) node.shape.name += 'x';
}

void Shapes::Finish() {
  for (const Node& node : nodes_) {
    for (const Use& use : node.uses) {
      ++nodes_[use.shape].used;
      ++nodes_[use.shape].words[use.word];
    }
  }
  std::set<std::string> taken;
  std::map<std::string_view, Id> by_name;
  for (Node& node : nodes_) Name(node, taken);
  for (Id id = 0; id < nodes_.size(); ++id) {
    if (!nodes_[id].shape.name.empty()) by_name[nodes_[id].shape.name] = id;
  }
  for (const auto& [name, id] : by_name) Visit(id);
}

void Shapes::Visit(Id id) {
  Node& node = nodes_[id];
  if (std::exchange(node.visited, true)) return;
  for (const Use& use : node.uses) Visit(use.shape);
  if (!node.shape.name.empty()) shared_.push_back(&node.shape);
}

}  // namespace kgen::generator::emit
