// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// get and list, with paging, old versions and selectors.
#include <algorithm>
#include <charconv>
#include <limits>

#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

// Returns whether a field selector may use the field.
bool IsSelectable(const Resource& resource, std::string_view version, std::string_view field) {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return resource.info.namespaced;
  if (const auto declared = resource.selectable_fields.find(std::string(version));
      declared != resource.selectable_fields.end()) {
    return std::find(declared->second.begin(), declared->second.end(), field) != declared->second.end();
  }
  if (!resource.info.group.empty()) return false;
  const std::string& plural = resource.info.plural;
  if (plural == "pods") {
    return field == "spec.nodeName" || field == "status.phase" || field == "spec.restartPolicy" ||
           field == "spec.schedulerName" || field == "spec.serviceAccountName" || field == "status.podIP";
  }
  if (plural == "secrets") return field == "type";
  if (plural == "namespaces") return field == "status.phase";
  if (plural == "nodes") return field == "spec.unschedulable";
  if (plural == "events") return field.starts_with("involvedObject.") || field == "reason" || field == "type";
  return false;
}

// Makes a continue token from the version of the first page and the last key returned. Tokens are opaque to clients, so
// hexadecimal is good enough.
std::string MakeToken(std::uint64_t version, const StoredObject& last) {
  const std::string text = json{{"rv", version}, {"ns", last.namespace_}, {"name", last.name}}.dump();
  std::string token;
  for (const char c : text) {
    constexpr char kDigits[] = "0123456789abcdef";
    token += kDigits[static_cast<unsigned char>(c) >> 4];
    token += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return token;
}

json ReadToken(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i + 1 < token.size(); i += 2) {
    int value = 0;
    if (std::from_chars(token.data() + i, token.data() + i + 2, value, 16).ptr != token.data() + i + 2) return {};
    text += static_cast<char>(value);
  }
  json read = ParseJson(text);
  const bool whole = read.is_object() && read.value("rv", json()).is_number_unsigned() &&
                     read.value("ns", json()).is_string() && read.value("name", json()).is_string();
  return whole ? read : json();
}

}  // namespace

ApiResult<FieldSelector> FieldSelector::Parse(std::string_view text, const Resource& resource,
                                              std::string_view version) {
  FieldSelector selector;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (part.empty()) continue;
    const auto equal = part.find('=');
    if (equal == std::string_view::npos || equal == 0) {
      return Refuse(
          BadRequest("invalid selector: '" + std::string(part) + "'; can't understand '" + std::string(part) + "'"));
    }
    Requirement requirement;
    requirement.equal = part[equal - 1] != '!';
    requirement.path = part.substr(0, requirement.equal ? equal : equal - 1);
    const bool twice = equal + 1 < part.size() && part[equal + 1] == '=' && requirement.equal;
    requirement.value = part.substr(equal + (twice ? 2 : 1));
    if (!IsSelectable(resource, version, requirement.path)) {
      return Refuse(BadRequest("field label not supported: " + requirement.path));
    }
    const bool node = resource.info.group.empty() && resource.info.plural == "nodes";
    if (node && requirement.path == "spec.unschedulable") requirement.absent = "false";
    selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

bool FieldSelector::Matches(const StoredObject& object) const {
  return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
    std::string value;
    if (requirement.path == "metadata.name") {
      value = object.name;
    } else if (requirement.path == "metadata.namespace") {
      value = object.namespace_;
    } else if (const json* found = FindPath(object.value, requirement.path); found != nullptr) {
      value = found->is_string() ? found->get<std::string>() : found->dump();
    } else {
      value = requirement.absent;
    }
    return (value == requirement.value) == requirement.equal;
  });
}

bool Scope::Matches(const StoredObject& object) const {
  return (namespace_.empty() || object.namespace_ == namespace_) && labels.Matches(object.labels) &&
         fields.Matches(object) && shard.Matches(object);
}

ApiResult<Scope> ApiServer::ParseScope(const ApiCall& call) const {
  Scope scope;
  scope.namespace_ = call.namespace_;
  auto labels = Selector::Parse(call.Query("labelSelector"));
  if (!labels) return Refuse(BadRequest("unable to parse requirement: " + labels.error().message()));
  scope.labels = *std::move(labels);
  auto fields = FieldSelector::Parse(call.Query("fieldSelector"), *call.resource, call.version);
  if (!fields) return Refuse(fields.error());
  scope.fields = *std::move(fields);
  if (!options_.sharded_lists) return scope;
  auto shard = ShardScope::Parse(call.Query("shardSelector"));
  if (!shard) return Refuse(shard.error());
  scope.shard = *std::move(shard);
  return scope;
}

// Returns nullopt for "", which requests the newest version. Returns an error for a future version unless `future` is
// true.
ApiResult<std::optional<std::uint64_t>> ApiServer::ParseVersion(std::string_view text, bool future) const {
  if (text.empty()) return std::optional<std::uint64_t>();
  std::uint64_t version = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), version);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) {
    return Refuse(BadRequest("Invalid value: \"" + std::string(text) + "\": resourceVersion must be a number"));
  }
  if (!future && version > store_.resource_version()) {
    return Refuse(TooLargeResourceVersion(version, store_.resource_version()));
  }
  return version;
}

ApiResult<Reply> ApiServer::GetObject(const ApiCall& call) {
  if (auto version = ParseVersion(call.Query("resourceVersion")); !version) return Refuse(version.error());
  const ObjectRef object = store_.Get(*call.resource, call.namespace_, call.name);
  if (!object) return Refuse(NotFound(call.resource->info, call.name));
  if (call.subresource == "scale") return GetScale(call, object);
  return JsonReply(200, Bytes(object, call));
}

// Returns the version of the response to a request that a cache may serve. It is not older than `least`.
std::uint64_t ApiServer::VersionOfCache(const Resource& resource, std::uint64_t least, const Fault* fault) const {
  const std::uint64_t newest = store_.resource_version();
  const std::uint64_t behind = std::max(options_.behind, fault != nullptr ? fault->behind : 0);
  return std::max({newest - std::min(behind, newest - 1), least, resource.compacted});
}

ApiResult<Reply> ApiServer::ListObjects(const ApiCall& call, const Fault* fault) {
  auto scope = ParseScope(call);
  if (!scope) return Refuse(scope.error());
  std::uint64_t limit = 0;
  const std::string_view limit_text = call.Query("limit"), token = call.Query("continue");
  const std::string_view match = call.Query("resourceVersionMatch"), version_text = call.Query("resourceVersion");
  std::from_chars(limit_text.data(), limit_text.data() + limit_text.size(), limit);
  if (!match.empty() && (version_text.empty() || !token.empty())) {
    return Refuse(
        BadRequest("resourceVersionMatch is forbidden unless resourceVersion is provided, and with continue"));
  }
  auto version = ParseVersion(version_text);
  if (!version) return Refuse(version.error());

  std::uint64_t at = store_.resource_version();
  std::pair<std::string, std::string> after;
  if (!token.empty()) {
    if (version->has_value() && **version != 0)
      return Refuse(BadRequest("specifying resource version is not allowed when using continue"));
    const json read = ReadToken(token);
    if (read.is_null()) return Refuse(BadRequest("continue key is not valid"));
    at = std::min(read["rv"].get<std::uint64_t>(), at);
    after = {read["ns"], read["name"]};
    if (at < call.resource->compacted) {
      return Refuse(
          Expired("the continue token is too old: its resource version has been compacted; list again from the start"));
    }
  } else if (match == "Exact") {
    if (!version->has_value() || **version == 0)
      return Refuse(BadRequest("resourceVersionMatch Exact needs a resource version other than 0"));
    at = **version;
    if (at < call.resource->compacted) return Refuse(Expired("The resourceVersion for the provided list is too old."));
  } else if (version->has_value()) {
    at = VersionOfCache(*call.resource, **version, fault);
    if (version_text == "0") limit = 0;  // the watch cache of a real server ignores the limit too
  }

  std::vector<ObjectRef> objects = store_.List(*call.resource, call.namespace_, at);
  std::erase_if(objects, [&](const ObjectRef& object) {
    return (!token.empty() && std::pair(object->namespace_, object->name) <= after) || !scope->Matches(*object);
  });
  json metadata = {{"resourceVersion", std::to_string(at)}};
  if (!scope->shard.is_everything() && !call.resource->custom) {  // as real servers
    metadata["shardInfo"] = {{"selector", call.Query("shardSelector")}};
  }
  if (limit > 0 && objects.size() > limit) {
    metadata["continue"] = MakeToken(at, *objects[limit - 1]);
    if (scope->is_everything()) metadata["remainingItemCount"] = objects.size() - limit;
    objects.resize(limit);
  }
  return JsonReply(200, ListBody(call, objects, metadata));
}

// Like a real server, omits apiVersion and kind from the items of built-in lists and includes them for custom
// resources.
std::string ApiServer::ListBody(const ApiCall& call, const std::vector<ObjectRef>& objects, const json& metadata) {
  const ResourceInfo& info = call.resource->info;
  const std::string api_version = info.group.empty() ? call.version : info.group + "/" + call.version;
  const bool metadata_only = !call.metadata_form.empty();
  std::string body = R"({"kind":")" + (metadata_only ? "PartialObjectMetadataList" : info.list_kind) +
                     R"(","apiVersion":")" + (metadata_only ? call.metadata_form : api_version) + R"(","metadata":)" +
                     metadata.dump();
  body += R"(,"items":[)";
  bool first = true;
  for (const ObjectRef& object : objects) {
    if (!std::exchange(first, false)) body += ',';
    if (metadata_only || call.resource->custom || !object->value.is_object()) {
      body += Bytes(object, call);
      continue;
    }
    json item = object->value;
    item.erase("kind");
    item.erase("apiVersion");
    body += item.dump();
  }
  return body + "]}\n";
}

}  // namespace kgen::testing
