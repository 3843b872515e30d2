// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an input of the generator: parsed, made into a model and into a plan of what would be emitted.
//
//   * What is said about it is printable text, whatever it holds.
//   * What a plan passes on to the templates is identifiers, types made of them, literals and comments: no text of the
//     input becomes code, and no folder leaves the output folder.
//   * The facts of an API document are an API document, and their facts are the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "generator/commands/load_api.h"
#include "generator/diagnostic.h"
#include "generator/emit/plan/make_plan.h"
#include "generator/model/raw_schema.h"
#include "generator/parse/facts.h"
#include "generator/parse/openapi.h"
#include "generator/parse/source.h"
#include "kgen/codec/yaml.h"

namespace {

using namespace kgen::generator;

constexpr std::size_t kLimit = std::size_t{1} << 20;
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

void Require(bool condition, const char* what, std::string_view detail = {}) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s: %.*s\n", what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

bool IsMadeOf(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text, [&](char c) {
    return kLetters.find(c) != std::string_view::npos || kDigits.find(c) != std::string_view::npos ||
           more.find(c) != std::string_view::npos;
  });
}

void RequireIdentifier(std::string_view text) {
  Require(!text.empty() && IsMadeOf(text, "") && kDigits.find(text[0]) == std::string_view::npos &&
              text.find("__") == std::string_view::npos,
          "no identifier", text);
}

// Types, names of types with their namespaces, values of the runtime.
void RequireName(std::string_view text) { Require(IsMadeOf(text, ":<>,&| ="), "no name of C++", text); }

// One whole literal in quotes, with nothing behind it.
void RequireText(std::string_view text) {
  bool good = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  for (std::size_t i = 1; good && i + 1 < text.size(); ++i) {
    good = text[i] >= ' ' && text[i] <= '~' && text[i] != '"';
    if (text[i] == '\\') good = ++i + 1 < text.size();
  }
  Require(good, "no text literal", text);
}

// The initializer of a string_view: a literal, or one with its length, in braces.
void RequireView(std::string_view text) {
  if (text.starts_with('{')) {
    const std::size_t comma = text.rfind(", ");
    Require(comma != std::string_view::npos && text.ends_with('}') && comma + 3 < text.size(), "no sized literal",
            text);
    const std::string_view size = text.substr(comma + 2, text.size() - comma - 3);
    Require(std::ranges::all_of(size, [](char c) { return c >= '0' && c <= '9'; }), "no size", text);
    text = text.substr(1, comma - 1);
  }
  RequireText(text);
}

void RequireComment(const emit::Comment& comment) {
  for (const std::string& line : comment) {
    Require(line.starts_with("//") && line.back() != '\\' && line.find_first_of("\n\r\f\v") == std::string::npos,
            "no comment", line);
  }
}

// Relative, of plain names: below the output folder.
void RequireFolder(std::string_view folder) {
  Require(!folder.empty() && folder.front() != '/' && IsMadeOf(folder, "/"), "no folder", folder);
}

void Check(const emit::PlannedStruct& type) {
  RequireIdentifier(type.name);
  RequireName(type.path);
  RequireComment(type.comment);
  for (const emit::PlannedField& field : type.fields) {
    RequireIdentifier(field.identifier);
    RequireName(field.type);
    RequireName(field.value_kind);
    RequireName(field.flags);
    RequireName(field.detail);
    Require(IsMadeOf(field.initializer, ":{} ="), "no initializer", field.initializer);
    RequireComment(field.comment);
  }
  for (const emit::PlannedEnum& values : type.enums) {
    RequireIdentifier(values.name);
    RequireComment(values.comment);
    for (const auto& constant : values.constants) {
      RequireIdentifier(constant.identifier);
      if (values.type.ends_with("string_view")) {
        RequireView(constant.value);
      } else {
        Require(IsMadeOf(constant.value, "-:() "), "no number", constant.value);
      }
    }
  }
  for (const emit::PlannedColumn& column : type.columns) {
    for (const auto* text : {&column.name, &column.type, &column.format, &column.json_path, &column.description}) {
      RequireView(*text);
    }
    Require(IsMadeOf(column.priority, "-"), "no number", column.priority);
  }
  for (const emit::PlannedStruct& nested : type.nested) Check(nested);
}

void Check(const emit::PlannedVersion& version) {
  for (const auto* name : {&version.group_space, &version.space, &version.group_accessor, &version.accessor}) {
    RequireIdentifier(*name);
  }
  RequireName(version.name_space);
  RequireFolder(version.folder);
  for (const emit::PlannedStruct& type : version.structs) Check(type);
  for (const emit::PlannedAlias& alias : version.aliases) {
    RequireIdentifier(alias.name);
    RequireName(alias.target);
  }
  for (const emit::PlannedKindInfo& kind : version.kinds) {
    RequireIdentifier(kind.symbol);
    for (const auto* text : {&kind.group, &kind.version, &kind.kind, &kind.list_kind, &kind.resource, &kind.singular}) {
      RequireText(*text);
    }
  }
  for (const emit::PlannedResource& resource : version.resources) {
    RequireIdentifier(resource.accessor);
    RequireIdentifier(resource.client_class);
  }
}

void RequirePrintable(const Diagnostics& diagnostics) {
  const std::string said = diagnostics.Render(1000, /*notes=*/true);
  Require(std::ranges::none_of(said, [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7F'; }),
          "a control character is shown", said);
}

void Plan(const std::string& text) {
  Diagnostics diagnostics;
  const std::uint32_t file = diagnostics.AddFile("input");
  const model::Api api = commands::LoadApi({parse::Source{"input", text, file}}, diagnostics);
  if (!diagnostics.has_errors()) {
    const emit::Plan plan = emit::MakePlan(api, {.name_space = "fuzz"}, diagnostics);
    if (!diagnostics.has_errors()) {
      for (const emit::PlannedVersion& version : plan.versions) Check(version);
    }
  }
  RequirePrintable(diagnostics);
}

// Does what the command does: returns nothing for a faulty document, or one that is not of an API.
std::optional<std::string> Facts(const std::string& text) {
  const auto stream = kgen::yaml::Parse(text);
  if (!stream) return std::nullopt;
  const auto documents = stream->documents();
  if (documents.size() != 1 || !documents[0].is_map()) return std::nullopt;
  Diagnostics diagnostics;
  const parse::Context context{diagnostics, 0, 0};
  const DocumentPath path;
  const parse::MapReader document(context, documents[0], path);
  if (!document.Has("openapi")) return std::nullopt;
  model::Draft draft;
  parse::ParseOpenApi(document, draft);
  if (diagnostics.has_errors()) return std::nullopt;
  return parse::ReduceToFacts(document);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (parse::IsGzip(text)) {
    std::string error;
    std::optional<std::string> whole = parse::Gunzip(text, kLimit, error);
    Require(whole.has_value() != !error.empty(), "neither a text nor an error", error);
    if (!whole) return 0;
    text = std::move(*whole);
  }
  Plan(text);
  if (const std::optional<std::string> facts = Facts(text)) {
    const std::optional<std::string> again = Facts(*facts);
    Require(again.has_value(), "facts are no API document", *facts);
    Require(*again == *facts, "facts of facts differ", *again);
  }
  return 0;
}
