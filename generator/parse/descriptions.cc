// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/descriptions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "generator/document_path.h"
#include "generator/parse/reader.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::parse {
namespace {

using model::RawProperty;
using model::RawSchema;

constexpr std::string_view kShared = "shared";

// Returns "apps.v1" for "io.k8s.api.apps.v1.Deployment", and the name of the type.
std::pair<std::string_view, std::string_view> SplitDefinition(std::string_view definition) {
  const std::size_t name = definition.rfind('.');
  if (name == std::string_view::npos) return {{}, definition};
  const std::string_view package = definition.substr(0, name);
  const std::size_t last = package.rfind('.');
  const std::size_t before = last == 0 || last == std::string_view::npos ? last : package.rfind('.', last - 1);
  return {before == std::string_view::npos ? package : package.substr(before + 1), definition.substr(name + 1)};
}

// Returns "apps.v1" for "openapi/descriptions/apps.v1.yaml".
std::string_view StemOf(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path.substr(0, path.rfind('.'));
}

RawProperty* FindProperty(RawSchema& schema, std::string_view name) {
  const auto found = std::ranges::find(schema.properties, name, &RawProperty::name);
  return found == schema.properties.end() ? nullptr : &*found;
}

bool IsKind(RawSchema& schema) {
  return FindProperty(schema, "kind") != nullptr && FindProperty(schema, "metadata") != nullptr;
}

bool IsList(RawSchema& schema, std::string_view name) {
  return name.ends_with("List") && IsKind(schema) && FindProperty(schema, "items") != nullptr;
}

bool HasListMeta(RawSchema& kind) {
  const auto refers = [](const RawSchema& schema) { return schema.ref.ends_with(".ListMeta"); };
  const RawSchema& metadata = *FindProperty(kind, "metadata")->schema;
  return refers(metadata) || std::ranges::any_of(metadata.all_of, [&](const auto& part) { return refers(*part); });
}

void Describe(std::string text, RawSchema& schema) {
  if (schema.description.empty()) schema.description = {std::move(text)};
}

class Joiner {
 public:
  Joiner(DescribedApi which, model::Draft& draft, Diagnostics& diagnostics) : which_(which), diagnostics_(diagnostics) {
    for (auto& [name, definition] : draft.definitions) types_[SplitDefinition(name)] = definition.schema.get();
  }

  void Join(const std::vector<Source>& files) {
    for (const bool shared : {true, false}) {
      for (const Source& file : files) {
        if ((StemOf(file.name) == kShared) == shared) ReadFile(file);
      }
    }
    for (auto& [name, schema] : types_) DescribeByRule(name.second, *schema);
  }

 private:
  struct Entry {
    std::string text;
    model::Notes notes;
  };

  void ReadFile(const Source& file) {
    auto stream = yaml::Parse(file.text);
    if (!stream) {
      const yaml::SyntaxError& error = stream.error();
      diagnostics_.Error("syntax", {file.file, error.mark.line, error.mark.column, 0}, error.message, {}, error.hint);
      return;
    }
    const Context context{diagnostics_, file.file};
    const DocumentPath root{};
    for (const yaml::Node& document : stream->documents()) {
      if (document.is_null()) continue;
      if (!document.is_map()) {
        ReportKind(context, document, "a map of types", root);
        continue;
      }
      for (const yaml::Entry& entry : document.entries()) {
        const DocumentPath path = root.Key(entry.key);
        if (StemOf(file.name) == kShared) {
          shared_[std::string(entry.key)] = ReadEntry(MapReader(context, entry.value, path));
        } else {
          JoinType(context, {StemOf(file.name), entry.key}, entry, path);
        }
      }
    }
  }

  void JoinType(const Context& context, std::pair<std::string_view, std::string_view> name, const yaml::Entry& entry,
                const DocumentPath& path) {
    const auto found = types_.find(name);
    if (found == types_.end()) {
      Unknown(context.At(entry.mark),
              "there is no type " + Quote(name.second) + " in " + Visible(name.first) + " of the API", path);
      return;
    }
    RawSchema& schema = *found->second;
    const MapReader type(context, entry.value, path);
    CheckKeys(type, {"text", "members"});
    if (IsList(schema, name.second)) {
      Refuse(context.At(entry.mark), "lists are described by rule", path);
      return;
    }
    if (std::optional<std::string> text = type.String("text")) Describe(std::move(*text), schema);
    const yaml::Node* members = type.Map("members");
    if (members == nullptr) return;
    const DocumentPath members_path = path.Key("members");
    for (const yaml::Entry& member : members->entries())
      JoinMember(context, schema, member, members_path.Key(member.key));
  }

  void JoinMember(const Context& context, RawSchema& schema, const yaml::Entry& entry, const DocumentPath& path) {
    const bool by_rule = entry.key == "apiVersion" || entry.key == "kind" || entry.key == "metadata";
    if (by_rule && IsKind(schema)) {
      Refuse(context.At(entry.mark), "the member " + Quote(entry.key) + " of a kind is described by rule", path);
      return;
    }
    RawProperty* property = FindProperty(schema, entry.key);
    if (property == nullptr) {
      Unknown(context.At(entry.mark), "the type has no member " + Quote(entry.key), path);
      return;
    }
    Entry described = ReadEntry(MapReader(context, entry.value, path));
    Describe(std::move(described.text), *property->schema);
    property->schema->notes = std::move(described.notes);
  }

  Entry ReadEntry(const MapReader& map) {
    Entry out;
    if (!map.node().is_map()) {
      ReportKind(map.context(), map.node(), "a map with a text", map.path());
      return out;
    }
    CheckKeys(map, {"text", "shared", "default", "unit", "set_by", "immutable"});
    if (const std::optional<std::string> shared = map.String("shared")) {
      const auto found = shared_.find(*shared);
      if (found == shared_.end()) {
        Refuse(map.KeyOrigin("shared"), "there is no text " + Quote(*shared) + " in shared.yaml", map.path());
        return out;
      }
      out = found->second;
    } else if (std::optional<std::string> text = map.RequiredString("text")) {
      out.text = std::move(*text);
    }
    if (const yaml::Node* value = map.Any("default")) out.notes.default_json = yaml::ToJson(*value);
    if (map.Has("unit")) out.notes.unit = map.StringOr("unit");
    if (map.Has("set_by")) out.notes.set_by = map.StringOr("set_by");
    out.notes.immutable = map.BoolOr("immutable", out.notes.immutable);
    return out;
  }

  void CheckKeys(const MapReader& map, const std::vector<std::string_view>& known) {
    for (const yaml::Entry& entry : map.node().entries()) {
      if (std::ranges::find(known, entry.key) != known.end()) continue;
      const std::string_view nearest = Nearest(entry.key, known);
      Refuse(map.context().At(entry.mark),
             "unknown key " + Quote(entry.key) +
                 (nearest.empty() ? std::string() : ", did you mean " + std::string(nearest) + "?"),
             map.path());
    }
  }

  void Unknown(Origin origin, std::string message, const DocumentPath& path) {
    if (which_ == DescribedApi::kWhole) Refuse(origin, std::move(message), path);
  }

  void Refuse(Origin origin, std::string message, const DocumentPath& path) {
    diagnostics_.Error("description", origin, std::move(message), path.Text());
  }

  // Describes the members that every kind has with the texts kind.* of shared.yaml.
  void DescribeByRule(std::string_view name, RawSchema& schema) const {
    if (!IsKind(schema) || IsList(schema, name)) return;
    const auto describe = [&](std::string_view member, std::string_view text) {
      RawProperty* property = FindProperty(schema, member);
      const auto found = shared_.find(text);
      if (property != nullptr && found != shared_.end()) Describe(found->second.text, *property->schema);
    };
    describe("apiVersion", "kind.apiVersion");
    describe("kind", "kind.kind");
    describe("metadata", HasListMeta(schema) ? "kind.listMetadata" : "kind.metadata");
  }

  DescribedApi which_;
  Diagnostics& diagnostics_;
  std::map<std::pair<std::string_view, std::string_view>, RawSchema*> types_;  // by {"apps.v1", "Deployment"}
  std::map<std::string, Entry, std::less<>> shared_;
};

}  // namespace

void JoinDescriptions(const std::vector<Source>& files, DescribedApi which, model::Draft& draft,
                      Diagnostics& diagnostics) {
  Joiner(which, draft, diagnostics).Join(files);
}

}  // namespace kgen::generator::parse
