// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Typed access to the maps of a document. A key that is absent or null reads as nothing. So does a value of the wrong
// type, which is also reported at its position, with the expected and the actual type.
#ifndef KGEN_GENERATOR_PARSE_READER_H_
#define KGEN_GENERATOR_PARSE_READER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/diagnostic.h"
#include "generator/document_path.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::parse {

// The document that is being read, and where its errors are reported.
struct Context {
  Diagnostics& diagnostics;
  std::uint32_t file = 0;
  std::uint32_t document = 0;  // 0 when the file holds one only
  bool found = false;          // the file was found in a folder, so what is no CRD is left out instead of refused

  bool has_lines = true;  // false: the document was made in memory, so its positions are in no text

  Origin At(yaml::Mark mark) const {
    return has_lines ? Origin{file, mark.line, mark.column, document} : Origin{.file = file};
  }
};

// One map. A view: node, path and context must outlive it.
class MapReader {
 public:
  MapReader(const Context& context, const yaml::Node& node, const DocumentPath& path)
      : context_(context), node_(node), path_(path) {}

  const Context& context() const { return context_; }
  const yaml::Node& node() const { return node_; }
  const DocumentPath& path() const { return path_; }
  Origin origin() const { return context_.At(node_.mark()); }
  Origin KeyOrigin(std::string_view key) const;  // of the key; of the map when absent

  bool Has(std::string_view key) const { return Any(key) != nullptr; }

  // The value of any kind; null for absent and for null.
  const yaml::Node* Any(std::string_view key) const;

  const yaml::Node* Map(std::string_view key) const { return Expect(key, yaml::Kind::kMap); }
  const yaml::Node* List(std::string_view key) const { return Expect(key, yaml::Kind::kList); }
  std::optional<std::string> String(std::string_view key) const;
  std::string StringOr(std::string_view key, std::string_view otherwise = {}) const;
  bool BoolOr(std::string_view key, bool otherwise) const;
  std::optional<bool> Bool(std::string_view key) const;
  std::vector<std::string> Strings(std::string_view key) const;  // elements of another kind are reported and left out

  // As String(), and reports an absent key at the map. Empty text counts as absent.
  std::optional<std::string> RequiredString(std::string_view key) const;

 private:
  const yaml::Node* Expect(std::string_view key, yaml::Kind kind) const;

  const Context& context_;
  const yaml::Node& node_;
  const DocumentPath& path_;
};

// Reports that `node` should have been `expected` ("a list").
void ReportKind(const Context& context, const yaml::Node& node, std::string_view expected, const DocumentPath& path);

// A description in lines, without CR, without white space at line ends and without empty lines at either end. A scalar
// that is not a string counts as its source text.
std::vector<std::string> DescriptionLines(const yaml::Node* node);

}  // namespace kgen::generator::parse

#endif  // KGEN_GENERATOR_PARSE_READER_H_
