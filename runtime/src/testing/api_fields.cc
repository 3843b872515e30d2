// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Unknown fields and defaults. The server drops unknown fields, and fieldValidation decides whether it tells the
// client. It knows the fields that the schema of a CRD declares, and the fields of metadata in every kind. It has no
// schemas for the rest of a built-in kind.
#include <set>

#include "core/json/compact_json.h"
#include "core/json/json_depth.h"
#include "testing/api_server.h"
#include "validation/compiled_schema.h"
#include "validation/complete.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

using Paths = std::vector<std::string>;

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

const validation::CompiledSchema* SchemaOf(const Resource& resource, std::string_view version) {
  const auto schema = resource.schemas.find(std::string(version));
  return schema != resource.schemas.end() ? schema->second.get() : nullptr;
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
std::vector<std::string> ApiServer::DropUnknown(const Resource& resource, std::string_view version, json& object) {
  Paths dropped;
  if (!object.is_object()) return dropped;
  validation::PruneMetadata(object, "", dropped);
  if (const auto* schema = SchemaOf(resource, version); schema != nullptr) schema->Prune(object, dropped);
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
      warnings_.push_back("299 - " + detail::CompactJson(json(text)));
    }
  };
  for (const std::string& path : duplicates) note("duplicate", path);
  for (const std::string& path : unknown) note("unknown", path);
  return complaint;
}

void ApiServer::Complete(const Resource& resource, std::string_view version, json& object) {
  DropUnknown(resource, version, object);
  if (const auto* schema = SchemaOf(resource, version); schema != nullptr) schema->SetDefaults(object);
  if (const auto spec = object.find("spec"); !resource.custom && spec != object.end()) SetProtocols(*spec);
}

}  // namespace kgen::testing
