// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CustomResourceDefinitions: checks the definitions and serves the resources that they define, whose objects the room
// validation checks.
#include <algorithm>

#include "core/json/compact_json.h"
#include "testing/api_server.h"
#include "validation/compiled_schema.h"
#include "validation/metadata_check.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

// Objects may still be stored in these versions, so the definition must know them.
void CheckStoredVersions(const json& crd, std::vector<FieldFault>& faults) {
  const json* stored = FindPath(crd, "status.storedVersions");
  if (stored == nullptr || !stored->is_array()) return;
  const json& versions = crd["spec"]["versions"];
  for (std::size_t i = 0; i < stored->size(); ++i) {
    const json& name = (*stored)[i];
    const bool known = std::any_of(versions.begin(), versions.end(),
                                   [&](const json& version) { return json(TextAt(version, "name")) == name; });
    if (known) continue;
    faults.push_back({"FieldValueInvalid", "status.storedVersions[" + std::to_string(i) + "]",
                      "Invalid value: " + name.dump() + ": missing from spec.versions; must appear in spec.versions"});
  }
}

void CheckConversion(const json& crd, std::vector<FieldFault>& faults) {
  const std::string strategy = TextAt(crd, "spec.conversion.strategy"), at = "spec.conversion";
  if (!strategy.empty() && strategy != "None" && strategy != "Webhook") {
    faults.push_back({"FieldValueNotSupported", at + ".strategy",
                      "Unsupported value: " + json(strategy).dump() + ": supported values: \"None\", \"Webhook\""});
  }
  if (strategy != "Webhook") return;
  const json* config = FindPath(crd, "spec.conversion.webhook.clientConfig");
  const bool url = config != nullptr && !TextAt(*config, "url").empty();
  const bool service = config != nullptr && !TextAt(*config, "service.name").empty();
  if (url == service) {
    faults.push_back({"FieldValueRequired", at + ".webhook.clientConfig",
                      "Required value: exactly one of url or service is required"});
  }
  const json* versions = FindPath(crd, "spec.conversion.webhook.conversionReviewVersions");
  if (versions == nullptr || !versions->is_array() || versions->empty()) {
    faults.push_back({"FieldValueRequired", at + ".webhook.conversionReviewVersions", "Required value"});
  } else if (std::find(versions->begin(), versions->end(), "v1") == versions->end()) {
    faults.push_back({"FieldValueInvalid", at + ".webhook.conversionReviewVersions",
                      "Invalid value: " + versions->dump() + ": must include at least one of v1"});
  }
}

// Checks the parts of a definition that must be well-formed before it can be served.
void CheckCrd(const json& crd, std::vector<FieldFault>& faults) {
  const auto text = [&](const json& object, const char* path, const std::string& field) {
    if (TextAt(object, path).empty()) faults.push_back({"FieldValueRequired", field, "Required value"});
  };
  for (const char* path : {"spec.group", "spec.names.plural", "spec.names.kind"}) text(crd, path, path);
  const json* versions = FindPath(crd, "spec.versions");
  if (versions == nullptr || !versions->is_array() || versions->empty()) {
    faults.push_back({"FieldValueRequired", "spec.versions", "Required value: must have at least one version"});
    return;
  }
  for (std::size_t i = 0; i < versions->size(); ++i) {
    const json& version = (*versions)[i];
    const std::string field = "spec.versions[" + std::to_string(i) + "]";
    text(version, "name", field + ".name");
    for (const char* key : {"served", "storage"}) {
      const json* said = FindPath(version, key);
      if (said == nullptr || !said->is_boolean())
        faults.push_back({"FieldValueRequired", field + '.' + key, "Required value"});
    }
    const json* schema = FindPath(version, "schema.openAPIV3Schema");
    if (schema == nullptr || !schema->is_object()) {
      faults.push_back(
          {"FieldValueRequired", field + ".schema.openAPIV3Schema", "Required value: schemas are required"});
    } else if (auto compiled = validation::CompiledSchema::FromVersion(crd, i); !compiled) {
      faults.push_back({"FieldValueInvalid", field + ".schema.openAPIV3Schema",
                        "Invalid value: \"object\": " + compiled.error().message()});
    }
  }
  CheckStoredVersions(crd, faults);
  CheckConversion(crd, faults);
}

// ".spec.replicas" -> "spec.replicas"
std::string PlainPath(const json& object, const char* key) {
  std::string path = TextAt(object, key);
  if (path.starts_with('.')) path.erase(0, 1);
  return path;
}

std::vector<std::string> TextsAt(const json& object, const char* path) {
  std::vector<std::string> texts;
  const json* list = FindPath(object, path);
  if (list == nullptr || !list->is_array()) return texts;
  for (const json& each : *list) {
    if (each.is_string()) texts.push_back(each.get<std::string>());
  }
  return texts;
}

// Reads version number `index` of a definition into `out`.
void ReadVersion(const json& crd, std::size_t index, Resource& out) {
  const json& version = crd["spec"]["versions"][index];
  const std::string name = TextAt(version, "name");
  if (version.value("storage", false)) out.info.version = name;
  if (!version.value("served", false)) return;
  out.versions.push_back(name);
  if (auto schema = validation::CompiledSchema::FromVersion(crd, index)) out.schemas[name] = *std::move(schema);
  if (FindPath(version, "subresources.status") != nullptr) out.info.has_status = true;
  const json* scale = FindPath(version, "subresources.scale");
  if (scale != nullptr && !TextAt(*scale, "specReplicasPath").empty()) {
    out.scales[name] = {PlainPath(*scale, "specReplicasPath"), PlainPath(*scale, "statusReplicasPath"),
                        PlainPath(*scale, "labelSelectorPath")};
  }
  if (const json* fields = FindPath(version, "selectableFields"); fields != nullptr && fields->is_array()) {
    for (const json& field : *fields) out.selectable_fields[name].push_back(PlainPath(field, "jsonPath"));
  }
}

// How many rules of CEL are in a schema, at any depth.
std::size_t CountRules(const json& schema) {
  std::size_t count = 0;
  for (const auto& [key, value] : schema.items()) {
    if (key == "x-kubernetes-validations" && value.is_array()) {
      count += value.size();
    } else if (value.is_structured()) {
      count += CountRules(value);
    }
  }
  return count;
}

json Condition(const char* type, const char* reason, const std::string& now) {
  return {{"type", type},
          {"status", "True"},
          {"reason", reason},
          {"message", "by the in-memory server"},
          {"lastTransitionTime", now}};
}

}  // namespace

ApiResult<void> ApiServer::CheckObject(const ApiCall& call, const json& object) const {
  if (call.resource->info.kind == "CustomResourceDefinition") {
    std::vector<FieldFault> faults;
    CheckCrd(object, faults);
    if (!faults.empty()) return Refuse(Invalid(call.resource->info, call.name, faults));
  }
  if (call.resource->info.group == "admissionregistration.k8s.io") return CheckConfiguration(call, object);
  const auto schema = call.resource->schemas.find(call.version);
  if (schema == call.resource->schemas.end()) return {};
  FieldErrors errors;
  validation::CheckMetadata(object, errors);
  schema->second->Check(object, errors);
  if (errors.empty()) return {};
  std::vector<FieldFault> faults;
  for (const FieldError& error : errors) faults.push_back({std::string(error.reason()), error.field, error.message});
  return Refuse(Invalid(call.resource->info, call.name, faults));
}

// A test that expects a rule to refuse an object would wonder why it is accepted.
void ApiServer::WarnOfRules(const json& crd) {
  const std::size_t rules = CountRules(crd["spec"]["versions"]);
  if (rules == 0) return;
  const std::string text = "the in-memory cluster does not evaluate the " + std::to_string(rules) +
                           " rules (x-kubernetes-validations) of " + TextAt(crd, "metadata.name") +
                           ": it accepts objects that break them";
  warnings_.push_back("299 - " + detail::CompactJson(json(text)));
}

// From now on objects are stored in this version too.
void ApiServer::NoteStoredVersion(json& crd) {
  if (FindPath(crd, "status.storedVersions") == nullptr || !crd["status"]["storedVersions"].is_array()) return;
  json& stored = crd["status"]["storedVersions"];
  for (const json& version : crd["spec"]["versions"]) {
    if (!version.value("storage", false)) continue;
    const json name = TextAt(version, "name");
    if (std::find(stored.begin(), stored.end(), name) == stored.end()) stored.push_back(name);
  }
}

// Serves the resource that the definition describes and sets the status of the definition. Replaces an earlier state of
// the definition.
void ApiServer::InstallCrd(const ObjectRef& crd) {
  std::vector<FieldFault> faults;
  CheckCrd(crd->value, faults);
  if (!faults.empty()) return;  // stored by Cluster::Corrupt() and modified since
  const json& spec = crd->value["spec"];
  Resource described;
  ResourceInfo& info = described.info;
  info.group = TextAt(spec, "group");
  info.plural = TextAt(spec, "names.plural");
  info.kind = TextAt(spec, "names.kind");
  info.singular = TextAt(spec, "names.singular");
  info.list_kind = TextAt(spec, "names.listKind");
  info.namespaced = TextAt(spec, "scope") != "Cluster";
  if (info.singular.empty()) {
    info.singular = info.kind;
    for (char& c : info.singular) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  if (info.list_kind.empty()) info.list_kind = info.kind + "List";
  info.short_names = TextsAt(spec, "names.shortNames");
  info.categories = TextsAt(spec, "names.categories");
  for (std::size_t i = 0; i < spec["versions"].size(); ++i) ReadVersion(crd->value, i, described);
  if (described.versions.empty()) return;
  if (info.version.empty()) info.version = described.versions.front();
  if (TextAt(spec, "conversion.strategy") == "Webhook") {
    described.conversion = {.crd = TextAt(crd->value, "metadata.name"),
                            .client_config = *FindPath(spec, "conversion.webhook.clientConfig")};
  }
  const std::string accepted_version = info.version;
  Resource* resource = store_.Find(info.group, info.plural);
  if (resource == nullptr) {
    resource = &store_.AddResource(info);
    resource->compacted = store_.resource_version();
  }
  resource->info = std::move(info);
  resource->custom = true;
  resource->versions = std::move(described.versions);
  resource->schemas = std::move(described.schemas);
  resource->scales = std::move(described.scales);
  resource->selectable_fields = std::move(described.selectable_fields);
  resource->conversion = std::move(described.conversion);

  if (FindPath(crd->value, "status.conditions") != nullptr) return;
  WarnOfRules(crd->value);
  json established = crd->value;
  json& status = established["status"];
  status["acceptedNames"] = spec["names"];
  status["storedVersions"] = {accepted_version};
  status["conditions"] = {Condition("NamesAccepted", "NoConflicts", Now()),
                          Condition("Established", "InitialNamesAccepted", Now())};
  store_.Put(*store_.Find("apiextensions.k8s.io", "customresourcedefinitions"), std::move(established));
}

void ApiServer::RemoveCrd(const ObjectRef& crd) {
  Resource* resource = store_.Find(TextAt(crd->value, "spec.group"), TextAt(crd->value, "spec.names.plural"));
  if (resource == nullptr || !resource->custom) return;
  for (const ObjectRef& object : store_.List(*resource, "", store_.resource_version())) {
    store_.Remove(*resource, object);
    FinishNamespace(object->namespace_);
  }
  for (const Shared<WatchStream>& watch : std::vector(watches_)) {
    if (watch->resource != resource) continue;
    EndWatch(*watch, /*cut=*/false);
  }
  store_.RemoveResource(resource->info.group, resource->info.plural);
}

}  // namespace kgen::testing
