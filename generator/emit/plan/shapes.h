// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Decides which anonymous objects of a group become the same struct. Private to generator/emit.
//
//   types of a group, all versions --Add()--> Shapes --> StructPlanner: types.h, and shapes.h for shared types
//
// The shape of an object consists of the properties that determine its field table and its constants: wire names, kinds
// of value, nullability, values of enums, and the shapes of its members. Descriptions, defaults, limits and `required`
// are not part of it.
//
// Objects of equal shape become one struct. If only one struct uses it, it is nested there. If several do, it is
// defined in the group's shapes.h, and each use is an alias. Two kinds of object never share a struct: the direct
// children of a kind (`Spec`), because users overload on them, and objects that refer to named types of an API
// document, because types.h includes shapes.h.
#ifndef KGEN_GENERATOR_EMIT_PLAN_SHAPES_H_
#define KGEN_GENERATOR_EMIT_PLAN_SHAPES_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "generator/emit/plan/schemas.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// The objects that become one struct.
struct Shape {
  std::vector<const model::Schema*> positions;  // never empty; newest version first
  std::string name;                             // in shapes.h: "Template_5f0c21d7"; empty: a nested struct
  std::string first;                            // the C++ path of the first position: "v1::Order::Spec::Template"
  std::string shortest;                         // the position with the shortest name, for comments
  bool from_document = false;                   // the first position is not from a CRD
};

class Shapes {
 public:
  // Positions in `distinct` ("orders.shop.example.com:spec.template") share their type with no other position. `names`
  // is indexed by TypeId and must be complete before the first Add(). All arguments must outlive this object.
  Shapes(const model::Api& api, const std::vector<TypeName>& names, const std::set<std::string, std::less<>>& distinct)
      : api_(api), names_(names), distinct_(distinct) {}

  // Adds a type. `path` is its C++ name without the group: "v1::Order". `resource` is "orders.shop.example.com", or
  // empty.
  void Add(const model::NamedType& type, const std::string& path, const std::string& resource);

  // Chooses the shared structs and their names. Call once, after the last Add() and before the functions below.
  void Finish();

  // Returns the shape of an object that was added: the schema of a type, or an anonymous object inside one.
  const Shape& Of(const model::Schema& object) const { return nodes_[ids_.find(&object)->second].shape; }

  // The structs of shapes.h; each comes after the ones that it uses.
  const std::vector<const Shape*>& shared() const { return shared_; }

  // The elements of `distinct` that are positions in the added types.
  const std::set<std::string, std::less<>>& found_distinct() const { return found_distinct_; }

 private:
  using Id = std::size_t;
  struct Use {
    Id shape;
    std::string word;  // its name there
  };
  // A shape and the shapes of its members.
  struct Node {
    Shape shape;
    std::string hash;                          // of the shape; does not depend on the run
    std::vector<Use> uses;                     // in order of the members
    std::set<std::string, std::less<>> names;  // used by its members and by the structs nested in it
    bool own = false;                          // shares its type with no other position
    bool refers = false;                       // refers to a named type that is generated
    bool visited = false;
    std::size_t used = 0;                      // by how many members of how many shapes
    std::map<std::string, std::size_t> words;  // how often each name is used for it
  };
  // The position of an object.
  struct Place {
    std::string path;      // the C++ path: "v1::Order::Spec"
    std::string wire;      // the path of wire names below the type: "spec.template"
    std::string resource;  // may be empty
    bool from_document = false;
    bool own = false;               // the object is a type, or the direct child of a kind
    bool children_are_own = false;  // the object is a kind
  };
  // Identifies a value. `key` refers to other shapes by their numbers in this run, `lasting` by their hashes, which are
  // the same in all runs.
  struct Text {
    std::string key, lasting;
  };
  Id Intern(const model::Schema& object, const Place& place);
  Text AddValue(const model::Schema& schema, const Place& place, const std::string& word, Node& node);
  bool IsDistinct(const Place& place);
  void Name(Node& node, std::set<std::string>& taken) const;
  void Visit(Id id);

  const model::Api& api_;
  const std::vector<TypeName>& names_;
  const std::set<std::string, std::less<>>& distinct_;
  std::set<std::string, std::less<>> found_distinct_;
  std::vector<Node> nodes_;
  std::map<std::string, Id> by_text_;
  std::unordered_map<const model::Schema*, Id> ids_;
  std::vector<const Shape*> shared_;
};

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_PLAN_SHAPES_H_
