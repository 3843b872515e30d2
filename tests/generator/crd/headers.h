// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Descriptions of headers, built without C++, for tests of what kgen-crd makes of them.
#ifndef KGEN_TESTS_GENERATOR_CRD_HEADERS_H_
#define KGEN_TESTS_GENERATOR_CRD_HEADERS_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "generator/crd/description.h"
#include "generator/crd/resources.h"

namespace kgen::generator::crd {

// Builds descriptions, and reads them.
class Headers {
 public:
  Headers() { file_ = diagnostics_.AddFile("shop.h"); }

  // `lines` is the comment: text, and markers.
  Struct& Add(const std::string& name, const std::vector<std::string>& lines, std::vector<Member> members) {
    Struct described{.name_space = "acme::shop::v1", .path = name, .header = "shop.h", .comment = Of(lines)};
    described.origin = Next();
    described.members = std::move(members);
    return description_.structs[described.Name()] = std::move(described);
  }

  // A struct that another API declares, and whose schema is in documents.
  void Use(const std::string& name) {
    const std::size_t end = name.rfind("::");
    description_.structs[name] = {
        .name_space = name.substr(0, end), .path = name.substr(end + 2), .header = "types.h", .comment = {}};
    description_.structs[name].external = description_.structs[name].documented = true;
  }

  Member Of(const std::string& name, Type type, const std::vector<std::string>& lines = {}) {
    Member member{.name = name, .wire_name = name, .type = std::move(type), .comment = Of(lines), .origin = Next()};
    return member;
  }

  // The kind Order with these members and markers.
  std::string Crd(std::vector<Member> members, std::vector<std::string> lines = {}, const SchemaOptions& options = {}) {
    lines.insert(lines.begin(), "+kgen:resource:group=shop.example.com,version=v1");
    members.insert(members.begin(), Of("metadata", {.kind = TypeKind::kObjectMeta}));
    Add("Order", lines, std::move(members));
    return Yaml(options);
  }

  // using NAME = TYPE, in acme::shop::v1.
  Type Alias(const std::string& name, Type type, const std::vector<std::string>& lines) {
    description_.aliases["acme::shop::v1::" + name] = {.comment = Of(lines)};
    type.aliases.push_back("acme::shop::v1::" + name);
    return type;
  }

  std::string Yaml(const SchemaOptions& options = {}) {
    ReadMarkers(description_, diagnostics_);
    std::string out;
    for (const crd::Crd& crd : MakeCrds(description_, FindKinds(description_, diagnostics_), options, diagnostics_))
      out += crd.yaml;
    return out;
  }

  std::string Said() const { return diagnostics_.Render(); }
  Description& description() { return description_; }

 private:
  Comment Of(const std::vector<std::string>& lines) {
    Comment out;
    for (const std::string& line : lines) (IsMarker(line) ? out.markers : out.text).push_back({line, Next()});
    return out;
  }
  Origin Next() { return {.file = file_, .line = ++line_, .column = 1}; }

  Diagnostics diagnostics_;
  Description description_;
  std::uint32_t file_ = 0, line_ = 0;
};

inline Type Object(const std::string& name) {
  return {.kind = TypeKind::kStruct, .name = "acme::shop::v1::" + name, .boxed = true};
}
inline Type Map(Type element) { return {.kind = TypeKind::kMap, .name = {}, .element = {std::move(element)}}; }
inline Type List(Type element) { return {.kind = TypeKind::kList, .name = {}, .element = {std::move(element)}}; }

inline testing::AssertionResult Has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no\n" << part << "\nin\n" << text;
}

}  // namespace kgen::generator::crd

#endif  // KGEN_TESTS_GENERATOR_CRD_HEADERS_H_
