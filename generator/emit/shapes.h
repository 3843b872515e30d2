// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One shape, one type: which anonymous objects of a group become the same struct. Private to generator/emit.
//
//   types of a group, all versions --Add()--> Shapes --> StructPlanner: types.h, and shapes.h for what is shared
//
// The shape of an object is what its field table depends on: wire names, kinds of value, nullability, and the shapes
// inside. Descriptions, defaults, limits, the values of enums and `required` are not part of it.
//
// Objects of equal shape are one struct. If one struct uses it, it is nested there; if several do, it stands in the
// group's shapes.h, and each use is an alias. Always structs of their own are the direct children of a kind (`Spec`),
// since users overload on them, and what refers to named types of an API document, since shapes.h comes before types.h.
#ifndef KGEN_GENERATOR_EMIT_SHAPES_H_
#define KGEN_GENERATOR_EMIT_SHAPES_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "generator/emit/plan_types.h"
#include "generator/model/api.h"

namespace kgen::generator::emit {

// The objects that become one struct.
struct Shape {
  std::vector<const model::Schema*> positions;  // never empty; newest version first
  std::string name;                             // in shapes.h: "Template_5f0c21d7"; empty: nested where it is used
  std::string first;                            // the first position in C++: "v1::Order::Spec::Template"
  std::string shortest;                         // the position with the shortest name: for comments
  bool from_document = false;                   // the first position is not from a CRD
};

class Shapes {
 public:
  // Positions in `distinct` ("orders.shop.example.com:spec.template") share with no other position.
  // `names` by TypeId, complete before the first Add(). All arguments outlive this.
  Shapes(const model::Api& api, const std::vector<TypeName>& names, const std::set<std::string, std::less<>>& distinct)
      : api_(api), names_(names), distinct_(distinct) {}

  // `path` is the type in C++ without the group: "v1::Order". `resource` is "orders.shop.example.com", or empty.
  void Add(const model::NamedType& type, const std::string& path, const std::string& resource);

  // Decides what is shared, and names it. Call once, after the last Add() and before what follows.
  void Finish();

  // Of an object that was added: the schema of a type, or an anonymous object inside.
  const Shape& Of(const model::Schema& object) const { return nodes_[ids_.find(&object)->second].shape; }

  // What stands in shapes.h, each after the ones that it uses.
  const std::vector<const Shape*>& shared() const { return shared_; }

  // The elements of `distinct` that are positions of the added types.
  const std::set<std::string, std::less<>>& found_distinct() const { return found_distinct_; }

 private:
  using Id = std::size_t;
  struct Use {
    Id shape;
    std::string word;  // what it is called there
  };
  // A shape, and which others it is made of.
  struct Node {
    Shape shape;
    std::string hash;                          // of the shape: the same in every run that has it
    std::vector<Use> uses;                     // in order of the members
    std::set<std::string, std::less<>> names;  // that its members have, and want for the structs inside
    bool own = false;                          // shares with no other position
    bool refers = false;                       // to a named type that is generated
    bool visited = false;
    std::size_t used = 0;                      // by how many members of how many shapes
    std::map<std::string, std::size_t> words;  // how often it is called so
  };
  // Where an object stands.
  struct Place {
    std::string path;      // in C++: "v1::Order::Spec"
    std::string wire;      // below the type: "spec.template"
    std::string resource;  // may be empty
    bool from_document = false;
    bool own = false;               // the object is a type, or the direct child of a kind
    bool children_are_own = false;  // the object is a kind
  };
  // What tells a value from others: in this run by numbers of shapes, in all runs by their hashes.
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

#endif  // KGEN_GENERATOR_EMIT_SHAPES_H_
