// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Unknown fields and defaults. The server drops unknown fields, and fieldValidation decides whether it tells the
// client. It knows the fields that the schema of a CRD declares, and the fields of metadata in every kind. It has no
// schemas for the rest of a built-in kind.
#include <algorithm>
#include <set>

#include "core/json/json_depth.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

bool Says(const json& schema, const char* key) {
  const auto said = schema.find(key);
  return said != schema.end() && *said == true;
}

bool IsMetadataField(std::string_view name) {
  constexpr std::string_view kFields[] = {
      "name",          "generateName",      "namespace",         "uid",
      "selfLink",      "generation",        "creationTimestamp", "deletionGracePeriodSeconds",
      "labels",        "annotations",       "ownerReferences",   "resourceVersion",
      "managedFields", "deletionTimestamp", "finalizers"};
  return std::find(std::begin(kFields), std::end(kFields), name) != std::end(kFields);
}

using Paths = std::vector<std::string>;

void PruneMetadata(json& object, const std::string& prefix, Paths& dropped) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return;
  for (auto member = metadata->begin(); member != metadata->end();) {
    if (IsMetadataField(member.key())) {
      ++member;
    } else {
      dropped.push_back(prefix + "metadata." + member.key());
      member = metadata->erase(member);
    }
  }
}

// Returns the schema of a member, or null if the member is unknown.
const json* SchemaOf(const json& schema, const std::string& key) {
  const auto properties = schema.find("properties");
  if (properties != schema.end() && properties->contains(key)) return &(*properties)[key];
  const auto additional = schema.find("additionalProperties");
  return additional != schema.end() && *additional != false ? &*additional : nullptr;
}

bool IsTypeMeta(const std::string& key) { return key == "metadata" || key == "apiVersion" || key == "kind"; }

// `prefix` is "" or ends in a dot.
void Prune(json& value, const json& schema, bool is_resource, const std::string& path, Paths& dropped) {
  if (!schema.is_object()) return;
  if (value.is_array() && schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i)
      Prune(value[i], schema["items"], false, path + "[" + std::to_string(i) + "]", dropped);
  }
  if (!value.is_object()) return;
  const std::string prefix = path.empty() ? "" : path + ".";
  const bool keeps = Says(schema, "x-kubernetes-preserve-unknown-fields");
  const bool embedded = Says(schema, "x-kubernetes-embedded-resource");
  if (embedded) PruneMetadata(value, prefix, dropped);
  for (auto member = value.begin(); member != value.end();) {
    const std::string& key = member.key();
    const bool type_meta = (is_resource || embedded) && IsTypeMeta(key);
    const json* known = type_meta ? nullptr : SchemaOf(schema, key);
    if (known == nullptr && !keeps && !type_meta) {
      dropped.push_back(prefix + key);
      member = value.erase(member);
      continue;
    }
    if (known != nullptr) Prune(*member, *known, false, prefix + key, dropped);
    ++member;
  }
}

// Drops nulls that the schema does not allow, and sets the defaults of absent members.
void SetDefaults(json& value, const json& schema, bool is_resource) {
  if (!schema.is_object()) return;
  if (value.is_array() && schema.contains("items")) {
    for (json& item : value) SetDefaults(item, schema["items"], false);
  }
  if (!value.is_object()) return;
  is_resource = is_resource || Says(schema, "x-kubernetes-embedded-resource");
  for (auto member = value.begin(); member != value.end();) {
    const json* known = is_resource && IsTypeMeta(member.key()) ? nullptr : SchemaOf(schema, member.key());
    if (known != nullptr && known->is_object() && member->is_null() && !Says(*known, "nullable")) {
      member = value.erase(member);
      continue;
    }
    if (known != nullptr) SetDefaults(*member, *known, false);
    ++member;
  }
  const auto properties = schema.find("properties");
  if (properties == schema.end()) return;
  for (const auto& [key, member] : properties->items()) {
    if (!member.is_object() || !member.contains("default") || value.contains(key)) continue;
    value[key] = member["default"];
    SetDefaults(value[key], member, false);
  }
}

// The one default of built-in kinds that is part of an identity: of the entries of a list of ports.
void SetProtocols(json& value) {
  for (json& member : value) {
    if (member.is_structured()) SetProtocols(member);
  }
  const auto ports = value.is_object() ? value.find("ports") : value.end();
  if (ports == value.end() || !ports->is_array()) return;
  for (json& port : *ports) {
    if (!port.is_object() || port.contains("protocol")) continue;
    if (port.contains("port") || port.contains("containerPort")) port["protocol"] = "TCP";
  }
}

const json* SchemaOf(const ApiCall& call) {
  const auto schema = call.resource->schemas.find(call.version);
  return schema != call.resource->schemas.end() ? &schema->second : nullptr;
}

// Receives the events of a JSON parser and collects duplicate members.
class DuplicateFinder {
 public:
  explicit DuplicateFinder(Paths& found) : found_(found) {}

  bool operator()(int, json::parse_event_t event, json& parsed) {
    using Event = json::parse_event_t;
    if (event == Event::object_end || event == Event::array_end) {
      frames_.pop_back();
      return true;
    }
    if (event == Event::key) {
      frames_.back().key = parsed.get<std::string>();
      if (!frames_.back().keys.insert(frames_.back().key).second) found_.push_back(Path());
      return true;
    }
    if (!frames_.empty() && frames_.back().is_array) ++frames_.back().count;
    if (event != Event::value) frames_.push_back({.is_array = event == Event::array_start});
    return true;
  }

 private:
  struct Frame {
    bool is_array = false;
    std::size_t count = 0;
    std::string key{};
    std::set<std::string> keys{};
  };

  std::string Path() const {
    std::string path;
    for (const Frame& frame : frames_) {
      path += frame.is_array ? "[" + std::to_string(frame.count - 1) + "]" : (path.empty() ? "" : ".") + frame.key;
    }
    return path;
  }

  Paths& found_;
  std::vector<Frame> frames_;
};

}  // namespace

json ParseStrictly(std::string_view text, std::vector<std::string>& duplicates) {
  if (detail::NestsTooDeep(text)) return json(json::value_t::discarded);
  DuplicateFinder finder(duplicates);
  return json::parse(text, std::ref(finder), /*allow_exceptions=*/false);
}

// Drops unknown members and returns their paths.
std::vector<std::string> ApiServer::DropUnknown(const ApiCall& call, json& object) {
  Paths dropped;
  if (!object.is_object()) return dropped;
  PruneMetadata(object, "", dropped);
  if (const json* schema = SchemaOf(call); schema != nullptr) Prune(object, *schema, /*is_resource=*/true, "", dropped);
  return dropped;
}

// Applies the request's fieldValidation. Returns the message of a strict decoder, or "" if the request may proceed.
std::string ApiServer::StrictComplaint(const ApiCall& call, const std::vector<std::string>& duplicates,
                                       const std::vector<std::string>& unknown) {
  const std::string_view mode = call.Query("fieldValidation");
  if (mode == "Ignore") return {};
  std::string complaint;
  const auto note = [&](const char* what, const std::string& path) KGEN_REQUIRES(mutex_) {
    const std::string text = std::string(what) + " field \"" + path + "\"";
    if (mode == "Strict") {
      complaint += (complaint.empty() ? "strict decoding error: " : ", ") + text;
    } else {
      warnings_.push_back("299 - " + json(text).dump(-1, ' ', false, json::error_handler_t::replace));
    }
  };
  for (const std::string& path : duplicates) note("duplicate", path);
  for (const std::string& path : unknown) note("unknown", path);
  return complaint;
}

void ApiServer::Admit(const ApiCall& call, json& object) {
  DropUnknown(call, object);
  if (const json* schema = SchemaOf(call); schema != nullptr) SetDefaults(object, *schema, /*is_resource=*/true);
  if (const auto spec = object.find("spec"); !call.resource->custom && spec != object.end()) SetProtocols(*spec);
}

}  // namespace kgen::testing
