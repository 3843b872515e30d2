// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/crd.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "generator/model/names.h"
#include "generator/parse/schema.h"

namespace kgen::generator::parse {
namespace {

using model::RawCustomResource;
using model::RawCustomVersion;

// Members that a server adds to metadata; they are not part of the manifest.
constexpr std::array<std::string_view, 6> kServerMetadata = {"managedFields",     "resourceVersion", "uid",
                                                             "creationTimestamp", "generation",      "selfLink"};
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

std::string LowerCase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

void AppendMember(std::string_view key, std::string_view json, std::string& out) {
  if (out.back() != '{') out += ',';
  yaml::AppendJsonString(key, out);
  out += ':';
  out += json;
}

// Labels or annotations, with the keys that kubectl makes of them.
std::string TextsJson(const yaml::Node& texts) {
  std::string out = "{";
  for (const yaml::Entry& entry : texts.entries()) {
    const std::string key = yaml::KubectlKey(entry).value_or("");
    if (key != kLastApplied) AppendMember(key, yaml::ToJson(entry.value), out);
  }
  return out + "}";
}

std::string MetadataJson(const yaml::Node& metadata) {
  std::string out = "{";
  for (const yaml::Entry& entry : metadata.entries()) {
    if (std::find(kServerMetadata.begin(), kServerMetadata.end(), entry.key) != kServerMetadata.end()) continue;
    const bool texts = (entry.key == "annotations" || entry.key == "labels") && entry.value.is_map();
    AppendMember(entry.key, texts ? TextsJson(entry.value) : yaml::ToJson(entry.value), out);
  }
  return out + "}";
}

std::string ManifestJson(const yaml::Node& crd, std::string_view api_version) {
  std::string out = "{";
  AppendMember("apiVersion", "\"" + std::string(api_version) + "\"", out);
  AppendMember("kind", "\"CustomResourceDefinition\"", out);
  for (const yaml::Entry& entry : crd.entries()) {
    if (entry.key == "status" || entry.key == "apiVersion" || entry.key == "kind") continue;
    const bool metadata = entry.key == "metadata" && entry.value.is_map();
    AppendMember(entry.key, metadata ? MetadataJson(entry.value) : yaml::ToJson(entry.value), out);
  }
  return out + "}";
}

class CrdParser {
 public:
  CrdParser(const MapReader& map, std::string_view api_version, model::Draft& draft)
      : map_(map),
        context_(map.context()),
        beta_(api_version.ends_with("/v1beta1")),
        api_version_(api_version),
        draft_(draft) {}

  void Parse() {
    if (api_version_ != "apiextensions.k8s.io/v1" && !beta_) {
      Error("crd-api-version", map_.KeyOrigin("apiVersion"),
            "unknown version of CustomResourceDefinition: " + Quote(api_version_), map_.path().Key("apiVersion"),
            "kgen reads v1 and v1beta1");
      return;
    }
    const yaml::Node* spec_node = map_.Map("spec");
    if (spec_node == nullptr) {
      if (!map_.Has("spec")) Error("missing-key", map_.origin(), "\"spec\" is missing", map_.path());
      return;
    }
    const DocumentPath spec_path = map_.path().Key("spec");
    const MapReader spec(context_, *spec_node, spec_path);
    if (!spec.Has("group") && !spec.Has("names") && !spec.Has("versions") && !spec.Has("version")) {
      Error("crd-patch", map_.origin(), "this CustomResourceDefinition has no group, no names and no versions",
            spec_path, "it looks like a patch; pass the CRD that it is applied to");
      return;
    }
    crd_.origin = map_.origin();
    ParseNames(spec);
    crd_.preserve_unknown = spec.BoolOr("preserveUnknownFields", beta_);
    ParseConversion(spec);
    ParseVersions(spec);
    ParseMetadata();
    if (valid_) Add();
  }

 private:
  void Error(std::string_view id, Origin origin, std::string message, const DocumentPath& path, std::string hint = {}) {
    valid_ = false;
    context_.diagnostics.Error(id, origin, std::move(message), path.Text(), std::move(hint));
  }

  void Warning(std::string_view id, Origin origin, std::string message, const DocumentPath& path,
               std::string hint = {}) {
    context_.diagnostics.Warning(id, origin, std::move(message), path.Text(), std::move(hint));
  }

  Origin ValueOrigin(const MapReader& map, std::string_view key) const {
    const yaml::Node* value = map.Any(key);
    return value == nullptr ? map.origin() : context_.At(value->mark());
  }

  // A name that is required and must be valid.
  std::string Name(const MapReader& map, std::string_view key, bool (*legal)(std::string_view), std::string_view rule) {
    const std::optional<std::string> name = map.RequiredString(key);
    if (!name) {
      valid_ = false;
      return {};
    }
    if (!legal(*name)) ReportName(*name, ValueOrigin(map, key), map.path().Key(key), rule);
    return *name;
  }

  void ReportName(std::string_view name, Origin origin, const DocumentPath& path, std::string_view rule) {
    Error("illegal-name", origin, Quote(name) + " is not a valid name here", path, std::string(rule));
  }

  static constexpr std::string_view kLabelRule =
      "at most 63 lower-case letters, digits and dashes, beginning with a letter and not ending with a dash";
  static constexpr std::string_view kKindRule =
      "at most 63 letters, digits and dashes, beginning with a letter and not ending with a dash";
  static constexpr std::string_view kGroupRule =
      "lower-case letters, digits and dashes between dots, as in shop.example.com";

  void ParseNames(const MapReader& spec) {
    crd_.group = Name(spec, "group", model::IsGroup, kGroupRule);
    ParseScope(spec);
    const DocumentPath names_path = spec.path().Key("names");
    const yaml::Node* node = spec.Map("names");
    if (node == nullptr) {
      valid_ = false;
      if (!spec.Has("names")) Error("missing-key", spec.origin(), "\"names\" is missing", spec.path());
      return;
    }
    const MapReader names(context_, *node, names_path);
    crd_.kind = Name(names, "kind", model::IsKind, kKindRule);
    crd_.plural = Name(names, "plural", model::IsResourceName, kLabelRule);
    // An empty name counts as absent: the server sets one.
    const auto given = [&](std::string_view key) {
      const yaml::Node* value = names.Any(key);
      return value != nullptr && !(value->is_string() && value->text().empty());
    };
    crd_.list_kind = given("listKind") ? Name(names, "listKind", model::IsKind, kKindRule) : crd_.kind + "List";
    crd_.singular =
        given("singular") ? Name(names, "singular", model::IsResourceName, kLabelRule) : LowerCase(crd_.kind);
    CheckNames(names, "shortNames");
    CheckNames(names, "categories");
    if (!crd_.kind.empty() && crd_.kind == crd_.list_kind) {
      Error("crd-list-kind", ValueOrigin(names, "listKind"), "kind and listKind are both " + Quote(crd_.kind),
            names_path.Key("listKind"), "the server refuses this; leave listKind out");
    }
  }

  void CheckNames(const MapReader& names, std::string_view key) {
    for (const std::string& name : names.Strings(key)) {
      if (!model::IsResourceName(name)) ReportName(name, ValueOrigin(names, key), names.path().Key(key), kLabelRule);
    }
  }

  void ParseScope(const MapReader& spec) {
    // Old generators write `scope: ""`; in v1beta1 that counts as absent.
    const yaml::Node* value = spec.Any("scope");
    const bool absent = value == nullptr || (value->is_string() && value->text().empty());
    const std::optional<std::string> scope = beta_ && absent ? "Namespaced" : spec.RequiredString("scope");
    if (!scope) {
      valid_ = false;
    } else if (*scope == "Cluster") {
      crd_.scope = model::Scope::kCluster;
    } else if (*scope != "Namespaced") {
      Error("crd-scope", ValueOrigin(spec, "scope"), "unknown scope " + Quote(*scope), spec.path().Key("scope"),
            "write Namespaced or Cluster");
    }
  }

  void ParseMetadata() {
    const yaml::Node* node = map_.Map("metadata");
    const DocumentPath path = map_.path().Key("metadata");
    const std::string expected = crd_.plural + "." + crd_.group;
    crd_.name = expected;
    if (node == nullptr) {
      if (!map_.Has("metadata")) Warning("crd-name", map_.origin(), "\"metadata\" is missing", map_.path());
      return;
    }
    const MapReader metadata(context_, *node, path);
    for (const char* key : {"labels", "annotations"}) CheckKeys(node->Find(key), path.Key(key));
    const std::string name = metadata.StringOr("name");
    if (!valid_ || name == expected) return;
    Warning("crd-name", ValueOrigin(metadata, "name"),
            "the name is " + Quote(name) + "; it must be plural.group, " + Quote(expected), path.Key("name"),
            "the server refuses this CRD");
  }

  // The keys that kubectl refuses, and those that are the same for it.
  void CheckKeys(const yaml::Node* texts, const DocumentPath& path) {
    if (texts == nullptr) return;
    std::set<std::string> keys;
    for (const yaml::Entry& entry : texts->entries()) {
      const std::optional<std::string> key = yaml::KubectlKey(entry);
      if (key && keys.insert(*key).second) continue;
      Error("wrong-kind", context_.At(entry.mark),
            "the key " + std::string(entry.key) +
                (key ? " appears again: kubectl reads it as " + Quote(*key) : " is not text"),
            path, "quote it: " + Quote(entry.key));
    }
  }

  void ParseConversion(const MapReader& spec) {
    const yaml::Node* node = spec.Map("conversion");
    if (node == nullptr) return;
    const std::string strategy = MapReader(context_, *node, spec.path().Key("conversion")).StringOr("strategy");
    crd_.converts = !strategy.empty() && strategy != "None";
  }

  void ParseVersions(const MapReader& spec) {
    const yaml::Node* list = spec.List("versions");
    const bool none = list == nullptr || list->items().empty();
    if (none && beta_ && spec.Has("version")) {
      RawCustomVersion version;
      version.name = Name(spec, "version", model::IsVersion, kLabelRule);
      version.origin = ValueOrigin(spec, "version");
      version.storage = true;
      ReadShape(spec, spec, version);
      crd_.versions.push_back(std::move(version));
      return;
    }
    const DocumentPath path = spec.path().Key("versions");
    if (none) {
      if (list != nullptr || !spec.Has("versions")) {
        Error("crd-versions", spec.KeyOrigin("versions"), "the CRD has no versions",
              list == nullptr ? spec.path() : path);
      }
      valid_ = false;
      return;
    }
    std::size_t index = 0;
    for (const yaml::Node& node : list->items()) {
      const DocumentPath version_path = path.Index(index++);
      if (!node.is_map()) {
        ReportKind(context_, node, "a map", version_path);
        valid_ = false;
        continue;
      }
      ParseVersion(spec, MapReader(context_, node, version_path));
    }
    CheckVersions(spec);
  }

  void ParseVersion(const MapReader& spec, const MapReader& map) {
    RawCustomVersion version;
    version.origin = map.origin();
    version.name = Name(map, "name", model::IsVersion, kLabelRule);
    version.served = map.BoolOr("served", true);
    version.storage = map.BoolOr("storage", false);
    version.deprecated = map.BoolOr("deprecated", false);
    version.deprecation_warning = map.StringOr("deprecationWarning");
    for (const RawCustomVersion& other : crd_.versions) {
      if (other.name == version.name && !version.name.empty()) {
        Error("crd-versions", ValueOrigin(map, "name"),
              "version " + Quote(version.name) + " appears twice, first at " +
                  context_.diagnostics.Describe(other.origin),
              map.path().Key("name"));
      }
    }
    ReadShape(spec, map, version);
    crd_.versions.push_back(std::move(version));
  }

  void CheckVersions(const MapReader& spec) {
    const auto served = [](const RawCustomVersion& version) { return version.served; };
    if (std::none_of(crd_.versions.begin(), crd_.versions.end(), served)) {
      Warning("crd-versions", spec.KeyOrigin("versions"), "no version is served, so there will be no client",
              spec.path().Key("versions"));
    }
    if (std::count_if(crd_.versions.begin(), crd_.versions.end(), [](const auto& v) { return v.storage; }) > 1) {
      Warning("crd-versions", spec.KeyOrigin("versions"), "more than one version is the storage version",
              spec.path().Key("versions"));
    }
  }

  // Schema, subresources, columns and selectable fields. They belong to the version; v1beta1 also has them in the spec,
  // for all versions.
  void ReadShape(const MapReader& spec, const MapReader& map, RawCustomVersion& version) {
    ReadSchemaOf(spec, map, version);
    const auto source = [&](std::string_view key) -> const MapReader& { return beta_ && !map.Has(key) ? spec : map; };
    ReadSubresources(source("subresources"), version);
    ReadColumns(source("additionalPrinterColumns"), version);
    const MapReader& selectable = source("selectableFields");
    if (const yaml::Node* fields = selectable.List("selectableFields"); fields != nullptr) {
      const DocumentPath path = selectable.path().Key("selectableFields");
      std::size_t index = 0;
      for (const yaml::Node& field : fields->items()) {
        const DocumentPath field_path = path.Index(index++);
        if (!field.is_map()) {
          ReportKind(context_, field, "a map", field_path);
          continue;
        }
        const MapReader reader(context_, field, field_path);
        if (std::optional<std::string> json_path = reader.RequiredString("jsonPath")) {
          version.selectable_fields.push_back(std::move(*json_path));
        }
      }
    }
  }

  void ReadSchemaOf(const MapReader& spec, const MapReader& map, RawCustomVersion& version) {
    const MapReader* holder = &map;
    std::string_view key = "schema";
    if (beta_ && !map.Has("schema")) {
      holder = &spec;
      key = "validation";
    } else if (beta_ && spec.Has("validation") && &spec != &map) {
      Warning("crd-v1beta1", spec.KeyOrigin("validation"), "versions have schemas of their own, so this one is ignored",
              spec.path().Key("validation"));
    }
    const yaml::Node* node = holder->Map(key);
    if (node == nullptr) return;
    const DocumentPath holder_path = holder->path().Key(key);
    const DocumentPath path = holder_path.Key("openAPIV3Schema");
    const MapReader schema(context_, *node, holder_path);
    if (const yaml::Node* root = schema.Map("openAPIV3Schema"); root != nullptr) {
      version.schema = ReadSchema(context_, *root, path);
      version.path = path.Text();
    }
  }

  void ReadSubresources(const MapReader& map, RawCustomVersion& version) {
    const yaml::Node* node = map.Map("subresources");
    if (node == nullptr) return;
    const DocumentPath path = map.path().Key("subresources");
    const MapReader subresources(context_, *node, path);
    version.has_status = subresources.Map("status") != nullptr;
    if (const yaml::Node* scale_node = subresources.Map("scale"); scale_node != nullptr) {
      const DocumentPath scale_path = path.Key("scale");
      const MapReader scale(context_, *scale_node, scale_path);
      version.scale = model::ScalePaths{scale.StringOr("specReplicasPath"), scale.StringOr("statusReplicasPath"),
                                        scale.StringOr("labelSelectorPath")};
      if (version.scale->spec_replicas.empty() || version.scale->status_replicas.empty()) {
        Warning("crd-scale", subresources.KeyOrigin("scale"), "scale needs specReplicasPath and statusReplicasPath",
                scale_path);
      }
    }
  }

  void ReadColumns(const MapReader& map, RawCustomVersion& version) {
    const yaml::Node* list = map.List("additionalPrinterColumns");
    if (list == nullptr) return;
    const DocumentPath path = map.path().Key("additionalPrinterColumns");
    std::size_t index = 0;
    for (const yaml::Node& node : list->items()) {
      const DocumentPath column_path = path.Index(index++);
      if (!node.is_map()) {
        ReportKind(context_, node, "a map", column_path);
        continue;
      }
      const MapReader column(context_, node, column_path);
      model::PrinterColumn out;
      out.name = column.StringOr("name");
      out.type = column.StringOr("type");
      out.format = column.StringOr("format");
      out.description = column.StringOr("description");
      out.json_path = column.StringOr(column.Has("jsonPath") ? "jsonPath" : "JSONPath");
      if (const yaml::Node* priority = column.Any("priority"); priority != nullptr) {
        const std::optional<std::int64_t> value = priority->AsInt64();
        constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
        if (value && *value >= -kMax && *value <= kMax) {
          out.priority = static_cast<std::int32_t>(*value);
        } else {
          ReportKind(context_, *priority, "a 32-bit integer", column_path.Key("priority"));
        }
      }
      version.printer_columns.push_back(std::move(out));
    }
  }

  void Add() {
    crd_.manifest_json = ManifestJson(map_.node(), api_version_);
    crd_.installable = !beta_;
    if (beta_) {
      context_.diagnostics.Note(
          "crd-v1beta1", map_.KeyOrigin("apiVersion"),
          "servers since Kubernetes 1.22 do not accept v1beta1, so this CRD is left out of the manifests",
          map_.path().Text());
    }
    for (const RawCustomResource& other : draft_.custom_resources) {
      if (other.group != crd_.group || (other.plural != crd_.plural && other.kind != crd_.kind)) continue;
      const std::string first = context_.diagnostics.Describe(other.origin);
      if (other.manifest_json == crd_.manifest_json) {
        context_.diagnostics.Note("crd-twice", crd_.origin,
                                  Quote(crd_.name) + " appears again with the same content, first at " + first);
      } else if (other.plural != crd_.plural) {
        Error("crd-twice", crd_.origin,
              "the kind " + Quote(crd_.kind) + " of " + Quote(crd_.group) + " is declared by " + Quote(crd_.name) +
                  " and by " + Quote(other.name) + " at " + first,
              map_.path(), "a kind has one CRD; rename the kind in one of them, or leave one out");
      } else {
        Error("crd-twice", crd_.origin, Quote(crd_.name) + " appears again with different content, first at " + first,
              map_.path(), "keep only one of the two");
      }
      return;
    }
    draft_.custom_resources.push_back(std::move(crd_));
  }

  const MapReader& map_;
  const Context& context_;
  const bool beta_;
  const std::string api_version_;
  model::Draft& draft_;
  RawCustomResource crd_;
  bool valid_ = true;
};

}  // namespace

void ParseCrd(const MapReader& map, std::string_view api_version, model::Draft& draft) {
  CrdParser(map, api_version, draft).Parse();
}

}  // namespace kgen::generator::parse
