// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CustomResourceDefinitions, and the check of objects against their schemas: types, required members, enumerations.
#include <algorithm>

#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

std::string_view TypeOf(const json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return "null";
}

std::string Shown(const json& value) {
  return value.is_structured() ? '"' + std::string(TypeOf(value)) + '"'
                               : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

class Checker {
 public:
  std::vector<FieldFault> faults;

  void Check(const json& value, const json& schema, const std::string& path) {
    if (!schema.is_object()) return;
    if (value.is_null()) {
      // A null where it is not allowed is dropped by a real server before it looks.
      return;
    }
    if (schema.value("x-kubernetes-int-or-string", false)) {
      if (!value.is_string() && !value.is_number_integer()) WrongType(value, "integer,string", path);
      return;
    }
    const std::string type = TextAt(schema, "type");
    if (!type.empty() && TypeOf(value) != type && !(type == "number" && value.is_number()))
      return WrongType(value, type, path);
    CheckEnum(value, schema, path);
    if (value.is_object()) CheckObject(value, schema, path);
    if (value.is_array() && schema.contains("items")) {
      for (std::size_t i = 0; i < value.size(); ++i)
        Check(value[i], schema["items"], path + "[" + std::to_string(i) + "]");
    }
  }

 private:
  void WrongType(const json& value, const std::string& type, const std::string& path) {
    const std::string was = Shown(value.is_string() ? json("string") : json(std::string(TypeOf(value))));
    faults.push_back({"FieldValueTypeInvalid", path,
                      "Invalid value: " + was + ": " + path + " in body must be of type " + type + ": " + was});
  }

  void CheckEnum(const json& value, const json& schema, const std::string& path) {
    const auto allowed = schema.find("enum");
    if (allowed == schema.end() || !allowed->is_array()) return;
    if (std::find(allowed->begin(), allowed->end(), value) != allowed->end()) return;
    std::string list;
    for (const json& each : *allowed) list += (list.empty() ? "" : ", ") + Shown(each);
    faults.push_back(
        {"FieldValueNotSupported", path, "Unsupported value: " + Shown(value) + ": supported values: " + list});
  }

  void CheckObject(const json& value, const json& schema, const std::string& path) {
    const std::string prefix = path.empty() ? "" : path + ".";
    if (const auto required = schema.find("required"); required != schema.end() && required->is_array()) {
      for (const json& name : *required) {
        if (name.is_string() && !value.contains(name.get<std::string>())) {
          faults.push_back({"FieldValueRequired", prefix + name.get<std::string>(), "Required value"});
        }
      }
    }
    const auto properties = schema.find("properties");
    const auto additional = schema.find("additionalProperties");
    for (const auto& [key, member] : value.items()) {
      if (path.empty() && (key == "metadata" || key == "apiVersion" || key == "kind")) continue;
      if (properties != schema.end() && properties->contains(key)) {
        Check(member, (*properties)[key], prefix + key);
      } else if (additional != schema.end()) {
        Check(member, *additional, prefix + key);
      }
    }
  }
};

// ".spec.replicas" -> "spec.replicas"
std::string PlainPath(const json& object, const char* key) {
  std::string path = TextAt(object, key);
  if (path.starts_with('.')) path.erase(0, 1);
  return path;
}

// What a definition says of one of its versions.
void ReadVersion(const json& version, Resource& out) {
  const std::string name = TextAt(version, "name");
  if (version.value("storage", false)) out.info.version = name;
  if (!version.value("served", false)) return;
  out.versions.push_back(name);
  if (const json* schema = FindPath(version, "schema.openAPIV3Schema"); schema != nullptr) out.schemas[name] = *schema;
  if (FindPath(version, "subresources.status") != nullptr) out.info.has_status = true;
  const json* scale = FindPath(version, "subresources.scale");
  if (scale != nullptr && !TextAt(*scale, "specReplicasPath").empty()) {
    out.scales[name] = {PlainPath(*scale, "specReplicasPath"), PlainPath(*scale, "statusReplicasPath"),
                        PlainPath(*scale, "labelSelectorPath")};
  }
  if (const json* fields = FindPath(version, "selectableFields"); fields != nullptr) {
    for (const json& field : *fields) out.selectable_fields[name].push_back(PlainPath(field, "jsonPath"));
  }
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
  const auto schema = call.resource->schemas.find(call.version);
  if (schema == call.resource->schemas.end()) return {};
  Checker checker;
  checker.Check(object, schema->second, "");
  if (checker.faults.empty()) return {};
  return Refuse(Invalid(call.resource->info, call.name, checker.faults));
}

// Serves what the definition describes, and says so in its status. A changed definition changes what is served.
void ApiServer::InstallCrd(const ObjectRef& crd) {
  const json& spec = crd->value["spec"];
  const json* versions = FindPath(crd->value, "spec.versions");
  if (!spec.is_object() || versions == nullptr || !versions->is_array()) return;
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
  if (const json* names = FindPath(spec, "names.shortNames"); names != nullptr && names->is_array()) {
    for (const json& name : *names) info.short_names.push_back(name.is_string() ? name.get<std::string>() : "");
  }
  for (const json& version : *versions) ReadVersion(version, described);
  if (info.plural.empty() || info.kind.empty() || described.versions.empty()) return;
  if (info.version.empty()) info.version = described.versions.front();
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

  if (FindPath(crd->value, "status.conditions") != nullptr) return;
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
  for (const ObjectRef& object : store_.List(*resource, "", store_.resource_version()))
    store_.Remove(*resource, object);
  for (const Shared<WatchStream>& watch : std::vector(watches_)) {
    if (watch->resource != resource) continue;
    EndWatch(*watch, /*cut=*/false);
  }
  store_.RemoveResource(resource->info.group, resource->info.plural);
}

}  // namespace kgen::testing
