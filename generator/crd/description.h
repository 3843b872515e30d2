// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The structs of an API header, without any C++ that is not about the API, and with the position of everything. The
// only thing that the parser of C++ and the rest of kgen-crd share, so that the rest needs no Clang.
//
//   header --clang/header_reader--> Description --ReadMarkers()--> with markers --MakeCrds()--> manifests
//                                                                               --MakeOwnTypes()--> tables
#ifndef KGEN_GENERATOR_CRD_DESCRIPTION_H_
#define KGEN_GENERATOR_CRD_DESCRIPTION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/crd/markers.h"
#include "generator/crd/webhook_markers.h"
#include "generator/diagnostic.h"

namespace kgen::generator::crd {

enum class TypeKind : std::uint8_t {
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kString,
  kBytes,
  kTime,
  kMicroTime,
  kDuration,
  kQuantity,
  kIntOrString,
  kJson,
  kObjectMeta,
  kStruct,  // Type::name
  kEnum,    // Type::name
  kList,
  kMap,
};

struct Type {
  TypeKind kind = TypeKind::kJson;
  std::string name = {};           // kStruct, kEnum: the C++ name, "acme::shop::v1::OrderSpec"
  std::vector<Type> element = {};  // kList, kMap: one
  bool boxed = false;              // an Optional of a struct, not the struct itself
  // The names of `using Name = ...` that lead to the type, from the innermost on: keys of Description::aliases.
  std::vector<std::string> aliases = {};
};

// A comment above a declaration, or behind it on the same line.
struct Comment {
  std::vector<CommentLine> text;     // the description
  std::vector<CommentLine> markers;  // the lines that begin with +
};

struct Member {
  std::string name;       // in C++
  std::string wire_name;  // in JSON; ReadMarkers() applies +kgen:name
  Type type;
  Comment comment;
  Origin origin = {};
  std::vector<Marker> markers = {};  // of ReadMarkers()
};

struct Struct {
  std::string name_space;  // "acme::shop::v1"
  std::string path;        // inside of it: "Order", "Order::Spec"
  std::string header;      // as code includes it: "api/shop_v1.h"
  Comment comment;
  Origin origin = {};
  std::vector<Member> members = {};
  bool external = false;    // another API or the runtime has its table
  bool documented = false;  // external, and generated: documents have its schema, and `members` is empty
  std::vector<Marker> markers = {};

  std::string Name() const { return name_space.empty() ? path : name_space + "::" + path; }
};

// An enum class: the values of a text that may be nothing else.
struct Enum {
  struct Value {
    std::string name;  // in C++: "kHigh"
    std::string text;  // in JSON: "High"
    Comment comment;
    Origin origin = {};
  };
  std::string name;  // "acme::shop::v1::Priority"
  Comment comment;
  Origin origin = {};
  std::vector<Value> values;
  std::vector<Marker> markers = {};
  bool external = false;  // another API has its names
};

// A type with a name of its own, `using Name = kgen::String;`, or a namespace. Its markers hold wherever it is named,
// or for the kinds in it.
struct Named {
  Comment comment;
  std::vector<Marker> markers = {};
};

struct Description {
  std::map<std::string, Struct, std::less<>> structs;  // by C++ name
  std::map<std::string, Enum, std::less<>> enums;
  std::map<std::string, Named, std::less<>> aliases = {};
  std::map<std::string, Named, std::less<>> namespaces = {};
  // +kgen:rbac and +kgen:webhook on what is no type: functions, and the sources that are named for this.
  std::vector<CommentLine> elsewhere = {};
  // Every such marker of this API, from ReadMarkers(); of the webhooks, those without an error.
  std::vector<Marker> rules = {};
  std::vector<Webhook> webhooks = {};
  std::vector<WebhookConfiguration> webhook_configurations = {};
  std::vector<std::string> files;  // everything that was read, for a depfile
};

// Reads the markers of all comments, and sets the names that they choose. Reports markers that are unknown, malformed
// or without effect where they are, and two members of one name.
void ReadMarkers(Description& description, Diagnostics& diagnostics);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_DESCRIPTION_H_
