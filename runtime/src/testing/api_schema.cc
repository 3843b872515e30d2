// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CustomResourceDefinitions, and what their schemas do to objects: unknown members are pruned and defaults set, then
// types, required members and enumerations are checked. Not checked: bounds, patterns, formats, rules.
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

bool Says(const json& schema, const char* key) {
  const auto said = schema.find(key);
  return said != schema.end() && *said == true;
}

class Checker {
 public:
  std::vector<FieldFault> faults;

  void Check(const json& value, const json& schema, const std::string& path) {
    if (!schema.is_object()) return;
    if (value.is_null()) return;  // what is left of them is allowed, or stands in a list
    if (Says(schema, "x-kubernetes-int-or-string")) {
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

// What a real server does to a custom object before it validates it: it drops members that the schema does not know,
// and nulls that are not allowed; what is absent gets its default.
void PruneAndDefault(json& value, const json& schema, bool is_resource);

void PruneObject(json& object, const json& schema, bool is_resource) {
  const auto properties = schema.find("properties");
  const auto additional = schema.find("additionalProperties");
  const bool keeps = Says(schema, "x-kubernetes-preserve-unknown-fields");
  for (auto member = object.begin(); member != object.end();) {
    const std::string& key = member.key();
    if (is_resource && (key == "metadata" || key == "apiVersion" || key == "kind")) {
      ++member;
      continue;
    }
    const json* known = nullptr;
    if (properties != schema.end() && properties->contains(key)) {
      known = &(*properties)[key];
    } else if (additional != schema.end() && *additional != false) {
      known = &*additional;
    }
    const bool null = known != nullptr && known->is_object() && member->is_null() && !Says(*known, "nullable");
    if (null || (known == nullptr && !keeps)) {
      member = object.erase(member);
      continue;
    }
    if (known != nullptr) PruneAndDefault(*member, *known, false);
    ++member;
  }
  if (properties == schema.end()) return;
  for (const auto& [key, member] : properties->items()) {
    if (!member.is_object() || !member.contains("default") || object.contains(key)) continue;
    object[key] = member["default"];
    PruneAndDefault(object[key], member, false);
  }
}

void PruneAndDefault(json& value, const json& schema, bool is_resource) {
  if (!schema.is_object()) return;
  if (value.is_object()) PruneObject(value, schema, is_resource || Says(schema, "x-kubernetes-embedded-resource"));
  if (value.is_array() && schema.contains("items")) {
    for (json& item : value) PruneAndDefault(item, schema["items"], false);
  }
}

// What has to have its shape before a definition can be served.
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
    if (schema == nullptr || !schema->is_object())
      faults.push_back(
          {"FieldValueRequired", field + ".schema.openAPIV3Schema", "Required value: schemas are required"});
  }
}

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
  if (const json* fields = FindPath(version, "selectableFields"); fields != nullptr && fields->is_array()) {
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

void ApiServer::Admit(const ApiCall& call, json& object) {
  const auto schema = call.resource->schemas.find(call.version);
  if (schema != call.resource->schemas.end()) PruneAndDefault(object, schema->second, /*is_resource=*/true);
}

ApiResult<void> ApiServer::CheckObject(const ApiCall& call, const json& object) const {
  if (call.resource->info.kind == "CustomResourceDefinition") {
    std::vector<FieldFault> faults;
    CheckCrd(object, faults);
    if (!faults.empty()) return Refuse(Invalid(call.resource->info, call.name, faults));
  }
  const auto schema = call.resource->schemas.find(call.version);
  if (schema == call.resource->schemas.end()) return {};
  Checker checker;
  checker.Check(object, schema->second, "");
  if (checker.faults.empty()) return {};
  return Refuse(Invalid(call.resource->info, call.name, checker.faults));
}

// Serves what the definition describes, and says so in its status. A changed definition changes what is served.
void ApiServer::InstallCrd(const ObjectRef& crd) {
  std::vector<FieldFault> faults;
  CheckCrd(crd->value, faults);
  if (!faults.empty()) return;  // put there by Cluster::Corrupt() and touched since
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
  if (const json* names = FindPath(spec, "names.shortNames"); names != nullptr && names->is_array()) {
    for (const json& name : *names) info.short_names.push_back(name.is_string() ? name.get<std::string>() : "");
  }
  for (const json& version : spec["versions"]) ReadVersion(version, described);
  if (described.versions.empty()) return;
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
