// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/used_apis.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "generator/crd/document_schema.h"
#include "generator/emit/plan/make_plan.h"
#include "generator/emit/render/emitter.h"
#include "generator/emit/spelling/names.h"
#include "generator/model/fixups.h"
#include "generator/model/resolve.h"
#include "generator/parse/descriptions.h"
#include "generator/parse/document.h"
#include "generator/parse/source.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {
namespace {

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr std::string_view kMetaSpace = "kgen::meta::v1::";

// Copies a schema of a document: writes out references, and cuts descriptions.
class Copy {
 public:
  Copy(const UsedApis& apis, const SchemaOptions& options, std::size_t& nodes)
      : apis_(apis), options_(options), nodes_(nodes) {}

  Tree Definition(const std::string& name) {
    ++nodes_;
    if (std::optional<Tree> known = KnownDefinition(name, options_)) return std::move(*known);
    const auto found = apis_.definitions.find(name);
    if (found == apis_.definitions.end() || !open_.insert(name).second) {
      Tree schema = LeafSchema(TypeKind::kJson);
      schema["type"] = Tree::Text("object");
      return schema;
    }
    Tree schema = Schema(found->second);
    open_.erase(name);
    AddValidation(name, schema);
    return schema;
  }

  Tree Schema(const Tree& from) {
    if (const Tree* reference = from.Find("$ref"); reference != nullptr) {
      Tree schema = Definition(reference->ToText());
      for (const auto& [key, value] : from.members()) {
        if (key != "$ref") Member(key, value, schema);
      }
      return schema;
    }
    ++nodes_;
    Tree schema;
    for (const auto& [key, value] : from.members()) Member(key, value, schema);
    if (!HasKeys(schema)) {
      schema.Erase("x-kubernetes-list-map-keys");
      schema["x-kubernetes-list-type"] = Tree::Text("atomic");
    }
    return schema;
  }

 private:
  // Whether each key of a list is in all of its elements. In a few lists of Kubernetes it may be absent, which a CRD
  // cannot say: a server refuses the CRD.
  static bool HasKeys(const Tree& schema) {
    const Tree* keys = schema.Find("x-kubernetes-list-map-keys");
    const Tree* items = schema.Find("items");
    if (keys == nullptr || items == nullptr) return true;
    const Tree* properties = items->Find("properties");
    const Tree* required = items->Find("required");
    return std::all_of(keys->elements().begin(), keys->elements().end(), [&](const Tree& key) {
      const Tree* property = properties == nullptr ? nullptr : properties->Find(key.ToText());
      if (property != nullptr && property->Find("default") != nullptr) return true;
      return required != nullptr && std::any_of(required->elements().begin(), required->elements().end(),
                                                [&](const Tree& name) { return name.ToText() == key.ToText(); });
    });
  }

  void Member(const std::string& key, const Tree& value, Tree& schema) {
    if (key == "description") {
      AddDescription({value.ToText()}, DescriptionOf::kUsedType, options_, schema);
    } else if (key == "properties") {
      for (const auto& [name, property] : value.members()) schema[key][name] = Schema(property);
    } else if (key == "items" || (key == "additionalProperties" && !value.members().empty())) {
      schema[key] = Schema(value);
    } else {
      schema[key] = value;
    }
  }

  const UsedApis& apis_;
  const SchemaOptions& options_;
  std::size_t& nodes_;
  std::set<std::string> open_;
};

using Position = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // file, line, column

// The maps of a document that begin at one of the wanted positions.
void FindMaps(const yaml::Node& node, std::uint32_t file, const std::map<Position, std::string>& wanted,
              std::map<std::string, Tree, std::less<>>& out) {
  for (const yaml::Node& item : node.items()) FindMaps(item, file, wanted, out);
  for (const yaml::Entry& entry : node.entries()) FindMaps(entry.value, file, wanted, out);
  if (!node.is_map()) return;
  const auto found = wanted.find({file, node.mark().line, node.mark().column});
  if (found != wanted.end()) out.emplace(found->second, CopyNode(node));
}

// Finds the schemas of CRDs by the positions of the structs that are generated from them.
void ReadCustom(const std::vector<parse::Source>& sources, const model::Api& api, const UsedApi& use,
                Diagnostics& diagnostics, UsedApis& out) {
  std::map<Position, std::string> wanted;
  const auto origins =
      emit::StructOrigins(api, {.name_space = use.name_space, .group_naming = use.group_naming}, diagnostics);
  for (const auto& [name, origin] : origins) wanted[{origin.file, origin.line, origin.column}] = name;
  for (const parse::Source& source : sources) {
    const auto stream = yaml::Parse(source.text);
    if (!stream) continue;  // reported by the reader
    for (const yaml::Node& document : stream->documents()) FindMaps(document, source.file, wanted, out.custom);
  }
}

void Load(const UsedApi& use, UsedApis& out, std::vector<std::string>& files, Diagnostics& diagnostics) {
  Diagnostics its;  // warnings belong to the run that generated the API
  std::vector<parse::Source> sources = parse::LoadSources(use.inputs, its);
  for (const parse::Source& source : sources) files.push_back(source.name);
  model::Draft draft = parse::ParseSources(sources, its);
  if (const std::string documents = KubernetesDocuments(); !documents.empty()) {
    const std::vector<parse::Source> descriptions = parse::LoadSources({documents + "/descriptions"}, its);
    for (const parse::Source& source : descriptions) files.push_back(source.name);
    parse::JoinDescriptions(descriptions, parse::DescribedApi::kPart, draft, its);
  }
  model::ApplyFixups(draft, its);
  for (const auto& [name, definition] : draft.definitions)
    out.definitions.emplace(name, CopySchema(*definition.schema));
  const model::Api api = model::Resolve(std::move(draft), its, {});
  if (!its.has_errors()) {
    const std::vector<emit::CppType> types =
        emit::CppTypes(api, {.name_space = use.name_space, .group_naming = use.group_naming}, its);
    bool custom = false;
    for (std::size_t id = 0; id < types.size(); ++id) {
      const model::NamedType& type = api.types[id];
      custom = custom || type.definition.empty();
      const std::string& name = types[id].name;
      if (name.starts_with("::") && !type.definition.empty()) out.names.emplace(name.substr(2), type.definition);
    }
    if (custom) ReadCustom(sources, api, use, its, out);
  }
  for (const Diagnostic& each : its.Sorted()) {
    if (each.severity != Severity::kError) continue;
    diagnostics.Error(each.id, {}, "--use " + use.name_space + ": " + its.Describe(each.origin) + ": " + each.message,
                      each.path, each.hint);
  }
}

}  // namespace

std::optional<Tree> UsedApis::SchemaOf(std::string_view cpp_name, const SchemaOptions& options,
                                       std::size_t& nodes) const {
  Copy copy(*this, options, nodes);
  if (const auto found = custom.find(cpp_name); found != custom.end()) {
    Tree schema = copy.Schema(found->second);
    for (const std::string_view of_the_place : {"default", "description", "nullable"}) schema.Erase(of_the_place);
    return schema;
  }
  std::string definition;
  if (cpp_name.starts_with(kMetaSpace)) {
    definition = std::string(kMeta).append(cpp_name.substr(kMetaSpace.size()));
  } else if (const auto found = names.find(cpp_name); found != names.end()) {
    definition = found->second;
  }
  if (!definitions.contains(definition)) return std::nullopt;
  return copy.Definition(definition);
}

std::expected<std::vector<UsedApi>, std::string> ParseUses(const std::vector<std::string>& uses,
                                                           const std::vector<std::string>& group_names) {
  std::vector<UsedApi> out;
  const auto find = [&](const std::string& space) {
    return std::find_if(out.begin(), out.end(), [&](const UsedApi& api) { return api.name_space == space; });
  };
  for (const std::string& value : uses) {
    const std::size_t equals = value.find('=');
    const std::string space = value.substr(0, equals);
    std::string input = equals == std::string::npos ? "" : value.substr(equals + 1);
    if (!emit::IsNamespace(space) || (equals != std::string::npos && input.empty()))
      return std::unexpected("--use needs NS=PATH, or NS for an API of headers and for k8s; got " + Quote(value, 200));
    if (space == "k8s" && input.empty()) {
      input = KubernetesDocuments();
      if (input.empty())
        return std::unexpected("--use k8s: the OpenAPI documents of Kubernetes are not beside kgen-crd, in " +
                               std::string("share/kgen/openapi; name them, as in --use k8s=DIR"));
    }
    auto api = find(space);
    if (api == out.end()) api = out.insert(out.end(), {.name_space = space});
    if (!input.empty()) api->inputs.push_back(std::move(input));
  }
  std::map<std::string, std::vector<std::string>> naming;
  for (const std::string& value : group_names) {
    const std::size_t equals = value.find('=');
    if (equals == std::string::npos || find(value.substr(0, equals)) == out.end())
      return std::unexpected("--use-group-names needs NS=full or NS=GROUP=NAME with the NS of a --use, got " +
                             Quote(value, 200));
    naming[value.substr(0, equals)].push_back(value.substr(equals + 1));
  }
  for (const auto& [space, values] : naming) {
    auto parsed = emit::ParseGroupNaming(values);
    if (!parsed) return std::unexpected("--use-group-names " + space + ": " + parsed.error());
    find(space)->group_naming = std::move(*parsed);
  }
  return out;
}

UsedApis LoadUsedApis(const std::vector<UsedApi>& uses, std::vector<std::string>& files, Diagnostics& diagnostics) {
  UsedApis out;
  for (const UsedApi& use : uses) {
    if (!use.inputs.empty()) Load(use, out, files, diagnostics);
  }
  const bool has_meta = out.definitions.contains(std::string(kMeta) + "LabelSelector");
  if (const std::string documents = KubernetesDocuments(); !has_meta && !documents.empty())
    Load({.name_space = "k8s", .inputs = {documents + "/api__v1.json"}}, out, files, diagnostics);
  return out;
}

std::string KubernetesDocuments() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const std::filesystem::path& folder :
       {program.parent_path() / KGEN_OPENAPI_INSTALLED, std::filesystem::path(KGEN_OPENAPI_BUILT)}) {
    if (std::filesystem::is_directory(folder, error)) return folder.lexically_normal().native();
  }
  return {};
}

}  // namespace kgen::generator::crd
