// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/leaf_schema.h"

namespace kgen::generator::crd {
namespace {

constexpr std::string_view kQuantityPattern =
    R"(^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$)";

// `text` in at most `most` bytes, and no half characters. The dots of a cut word are not counted, as in kubebuilder.
std::string Cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  // A dot within a word, as in metadata.generation, ends no sentence.
  for (std::size_t sentence = end; sentence-- > 1;) {
    const bool ends = std::string_view(" \n\t").contains(text[sentence + 1]);
    if (ends && std::string_view(".!?").contains(text[sentence])) return text.substr(0, sentence + 1);
  }
  text.resize(end);
  if (const std::size_t word = text.find_last_of(" \n\t"); word != std::string::npos && word > 0) text.resize(word);
  return text + "...";
}

}  // namespace

Tree LeafSchema(TypeKind kind) {
  Tree schema;
  const auto typed = [&](std::string_view type, std::string_view format) {
    schema["type"] = Tree::Text(type);
    if (!format.empty()) schema["format"] = Tree::Text(format);
  };
  if (kind == TypeKind::kString) typed("string", "");
  if (kind == TypeKind::kBool) typed("boolean", "");
  if (kind == TypeKind::kInt32) typed("integer", "int32");
  if (kind == TypeKind::kInt64) typed("integer", "int64");
  if (kind == TypeKind::kDouble) typed("number", "");
  if (kind == TypeKind::kBytes) typed("string", "byte");
  if (kind == TypeKind::kTime || kind == TypeKind::kMicroTime) typed("string", "date-time");
  if (kind == TypeKind::kDuration) typed("string", "duration");
  if (kind == TypeKind::kObjectMeta) typed("object", "");
  if (kind == TypeKind::kJson) schema["x-kubernetes-preserve-unknown-fields"] = Tree::Bool(true);
  if (kind != TypeKind::kIntOrString && kind != TypeKind::kQuantity) return schema;
  schema["anyOf"] = Tree::Json(R"([{"type":"integer"},{"type":"string"}])");
  schema["x-kubernetes-int-or-string"] = Tree::Bool(true);
  if (kind == TypeKind::kQuantity) schema["pattern"] = Tree::Text(kQuantityPattern);
  return schema;
}

Tree EmbeddedMetadata(const SchemaOptions& options) {
  Tree schema = LeafSchema(TypeKind::kObjectMeta);
  if (!options.embedded_metadata) return schema;
  Tree& properties = schema["properties"];
  for (const std::string_view texts : {"annotations", "labels"}) {
    properties[texts]["type"] = Tree::Text("object");
    properties[texts]["additionalProperties"] = LeafSchema(TypeKind::kString);
  }
  properties["finalizers"]["type"] = Tree::Text("array");
  properties["finalizers"]["items"] = LeafSchema(TypeKind::kString);
  for (const std::string_view text : {"name", "namespace"}) properties[text] = LeafSchema(TypeKind::kString);
  return schema;
}

void AddDescription(const std::vector<std::string>& lines, DescriptionOf which, const SchemaOptions& options,
                    Tree& schema) {
  const std::size_t most =
      options.max_description.value_or(which == DescriptionOf::kOwnType ? std::string::npos : kUsedDescription);
  if (lines.empty() || most == 0) return;
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  schema["description"] = Tree::Text(Cut(std::move(text), most));
}

}  // namespace kgen::generator::crd
