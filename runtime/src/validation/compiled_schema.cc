// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "validation/compiled_schema.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/json/compact_json.h"
#include "validation/complete.h"
#include "validation/metadata_check.h"
#include "validation/number_check.h"
#include "validation/report.h"
#include "validation/structure_check.h"
#include "validation/value_check.h"

namespace kgen::validation {
namespace {

using nlohmann::json;

// A value as Go prints it with %v.
std::string GoText(const json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() && !IsInt64(value)) return NumberText(value.get<double>());
  if (!value.is_structured()) return detail::CompactJson(value);
  std::string text;
  for (const auto& [name, member] : value.items())
    text += (text.empty() ? "" : " ") + (value.is_object() ? name + ":" : "") + GoText(member);
  return value.is_object() ? "map[" + text + "]" : "[" + text + "]";
}

// Returns the value at a path such as ".spec.replicas", or null.
const json* FindAt(const json& object, std::string_view path) {
  const json* at = &object;
  while (!path.empty()) {
    if (path[0] == '.') path.remove_prefix(1);
    const std::string name(path.substr(0, path.find('.')));
    path.remove_prefix(name.size());
    const auto found = at->find(name);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::string TextAt(const json& object, std::string_view path) {
  const json* found = FindAt(object, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

// How Go calls the type of a value.
std::string_view GoType(const json& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_number()) return IsInt64(value) ? "int64" : "float64";
  return value.is_array() ? "[]interface {}" : "map[string]interface {}";
}

std::string AccessorFault(std::string_view path, const json& found, std::string_view expected) {
  return "." + std::string(path) + " accessor error: " + GoText(found) + " is of the type " +
         std::string(GoType(found)) + ", expected " + std::string(expected);
}

// Follows the path of a scale subresource, which may begin with a dot. Returns the value, or null if it is absent or
// `fault` says why it cannot be found.
const json* Access(const json& object, std::string_view path, std::string& fault) {
  if (path.starts_with('.')) path.remove_prefix(1);
  const json* at = &object;
  for (std::size_t end = 0; end < path.size(); ++end) {
    const std::size_t start = end;
    end = std::min(path.find('.', start), path.size());
    if (at->is_null()) return nullptr;
    if (!at->is_object()) {
      fault = AccessorFault(path.substr(0, end), *at, "map[string]interface{}");
      return nullptr;
    }
    const auto found = at->find(std::string(path.substr(start, end - start)));
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::string_view WithoutDot(std::string_view path) { return path.substr(path.starts_with('.') ? 1 : 0); }

void CheckReplicas(const json& object, const std::string& path, FieldErrors& errors) {
  std::string fault;
  const json* found = path.empty() ? nullptr : Access(object, path, fault);
  if (found != nullptr && !IsInt64(*found)) fault = AccessorFault(WithoutDot(path), *found, "int64");
  if (!fault.empty()) return errors.Invalid(path, 0, fault);
  if (found == nullptr) return;
  const auto replicas = found->get<std::int64_t>();
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  if (replicas < 0) errors.Invalid(path, replicas, "should be a non-negative integer");
  if (replicas > kMost) errors.Invalid(path, replicas, "should be less than or equal to " + std::to_string(kMost));
}

void CheckSelector(const json& object, const std::string& path, FieldErrors& errors) {
  std::string fault;
  const json* found = path.empty() ? nullptr : Access(object, path, fault);
  if (found != nullptr && !found->is_string()) fault = AccessorFault(WithoutDot(path), *found, "string");
  if (!fault.empty()) errors.Invalid(path, "", fault);
}

}  // namespace

Result<Shared<const CompiledSchema>> CompiledSchema::FromVersion(const json& crd, std::size_t index) {
  const json& version = crd["spec"]["versions"][index];
  const std::string path = "spec.versions[" + std::to_string(index) + "].schema.openAPIV3Schema";
  const json* schema = FindAt(version, "schema.openAPIV3Schema");
  if (schema == nullptr) return Fail(Code::kInvalidArgument, path + " is missing");
  auto node = Compile(*schema, path);
  if (!node) return Fail(std::move(node).error());
  auto* compiled = new CompiledSchema;
  Shared<const CompiledSchema> shared(compiled);
  compiled->api_version_ = TextAt(crd, "spec.group") + "/" + TextAt(version, "name");
  compiled->kind_ = TextAt(crd, "spec.names.kind");
  compiled->node_ = *std::move(node);
  compiled->spec_replicas_ = TextAt(version, "subresources.scale.specReplicasPath");
  compiled->status_replicas_ = TextAt(version, "subresources.scale.statusReplicasPath");
  compiled->label_selector_ = TextAt(version, "subresources.scale.labelSelectorPath");
  return shared;
}

void CompiledSchema::Prune(json& object, std::vector<std::string>& dropped) const {
  validation::Prune(object, *node_, dropped);
}

void CompiledSchema::SetDefaults(json& object) const { validation::SetDefaults(object, *node_); }

void CompiledSchema::Check(const json& object, FieldErrors& errors) const {
  CheckValue(object, *node_, "", errors);
  CheckScale(object, errors);
  CheckEmbedded(object, *node_, "", errors);
  CheckLists(object, *node_, "", errors);
}

bool CompiledSchema::CheckTypeMeta(const json& object, FieldErrors& errors) const {
  for (const auto& [key, expected] : {std::pair("kind", &kind_), std::pair("apiVersion", &api_version_)}) {
    const auto found = object.find(key);
    if (found != object.end() && *found == *expected) continue;
    AddInvalid(errors, key, found == object.end() ? json("") : *found, "must be " + *expected);
  }
  return errors.empty();
}

void CompiledSchema::CheckScale(const json& object, FieldErrors& errors) const {
  CheckReplicas(object, spec_replicas_, errors);
  CheckReplicas(object, status_replicas_, errors);
  CheckSelector(object, label_selector_, errors);
}

Validation CompiledSchema::Validate(json object) const {
  Validation result;
  if (!object.is_object()) {
    result.errors.Invalid(kNowhere, "", "must be an object");
    return result;
  }
  if (!CheckTypeMeta(object, result.errors)) return result;
  std::vector<std::string> dropped;
  PruneMetadata(object, "", dropped);
  Prune(object, dropped);
  SetDefaults(object);
  NameObject(object);
  CheckMetadata(object, result.errors);
  Check(object, result.errors);
  CollectRules(object, *node_, "", result.unchecked);
  return result;
}

}  // namespace kgen::validation
