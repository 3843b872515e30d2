// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// patch: merge, JSON patch, and apply in a simple form: what is applied is merged, and the manager is noted; there is
// no ownership of fields, so apply never conflicts and never removes what a manager no longer applies.
#include "kgen/codec/yaml.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";
constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kApply[] = "application/apply-patch+yaml";

// Maps are merged, lists of maps with names entry by entry, everything else is replaced. Null removes.
void StrategicMerge(json& target, const json& patch) {
  const auto is_named_list = [](const json& list) {
    if (!list.is_array() || list.empty()) return false;
    for (const json& item : list) {
      if (!item.is_object() || !item.contains("name")) return false;
    }
    return true;
  };
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = json::object();
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null()) {
      target.erase(key);
    } else if (value.is_object()) {
      StrategicMerge(target[key], value);
    } else if (is_named_list(value) && target.contains(key) && is_named_list(target[key])) {
      for (const json& item : value) {
        json* same = nullptr;
        for (json& old : target[key]) {
          if (old["name"] == item["name"]) same = &old;
        }
        if (same != nullptr) {
          StrategicMerge(*same, item);
        } else {
          target[key].push_back(item);
        }
      }
    } else {
      target[key] = value;
    }
  }
}

void NoteManager(json& object, std::string_view manager, std::string_view time, std::string_view subresource) {
  json entry = {{"manager", manager},
                {"operation", "Apply"},
                {"apiVersion", object["apiVersion"]},
                {"fieldsType", "FieldsV1"},
                {"fieldsV1", json::object()}};
  if (!subresource.empty()) entry["subresource"] = subresource;
  json& fields = object["metadata"]["managedFields"];
  if (!fields.is_array()) fields = json::array();
  for (json& each : fields) {
    json bare = each;
    bare.erase("time");
    if (bare == entry) return;  // nothing new: applying twice changes nothing
  }
  entry["time"] = time;
  fields.push_back(std::move(entry));
}

}  // namespace

ApiResult<json> ApiServer::PatchValue(const ApiCall& call, const json& before) const {
  const json patch = json::parse(call.body, nullptr, /*allow_exceptions=*/false);
  if (patch.is_discarded()) return Refuse(BadRequest("error decoding patch: not JSON"));
  json next = before;
  if (call.content_type == kMerge || (call.content_type == kStrategic && !call.resource->custom)) {
    if (!patch.is_object()) return Refuse(BadRequest("a merge patch must be an object"));
    if (call.content_type == kMerge) {
      next.merge_patch(patch);
    } else {
      StrategicMerge(next, patch);
    }
  } else if (call.content_type == kJsonPatch) {
    try {
      next = next.patch(patch);
    } catch (const json::exception& error) {
      return Refuse(Invalid(call.resource->info, call.name, {{"FieldValueInvalid", "patch", error.what()}}));
    }
  } else {
    return Refuse(UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: " + std::string(kJsonPatch) +
        ", " + kMerge + ", " + kApply));
  }
  if (!next.is_object() || !next["metadata"].is_object()) return Refuse(BadRequest("the patched object is no object"));
  return next;
}

ApiResult<Reply> ApiServer::Patch(const ApiCall& call) {
  const ObjectRef before = store_.Get(*call.resource, call.namespace_, call.name);
  if (call.content_type == kApply) return Apply(call, before);
  if (!before) return Refuse(NotFound(call.resource->info, call.name));
  json start = ToVersion(before, *call.resource, call.version);
  if (!start.is_object()) return Refuse(BadRequest("the stored object is no JSON object"));
  auto next = PatchValue(call, start);
  if (!next) return Refuse(next.error());
  if (TextAt(*next, "metadata.name") != call.name) return Refuse(BadRequest("a patch cannot change the name"));
  auto stored = Replace(call, before, *std::move(next));
  if (!stored) return Refuse(stored.error());
  return JsonReply(200, Bytes(*stored, *call.resource, call.version));
}

ApiResult<Reply> ApiServer::Apply(ApiCall call, const ObjectRef& before) {
  const std::string manager(call.Query("fieldManager"));
  if (manager.empty()) {
    return Refuse(BadRequest(
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"));
  }
  call.content_type = "application/yaml";
  auto wish = ParseObject(call);
  if (!wish) return Refuse(wish.error());
  if (wish->at("metadata").contains("managedFields")) return Refuse(BadRequest("metadata.managedFields must be nil"));
  if (!before) {
    NoteManager(*wish, manager, Now(), call.subresource);
    (*wish)["metadata"]["name"] = call.name;
    auto created = CreateObject(call, *std::move(wish), /*keep_status=*/false);
    if (!created) return Refuse(created.error());
    return JsonReply(201, Bytes(*created, *call.resource, call.version));
  }
  json next = ToVersion(before, *call.resource, call.version);
  StrategicMerge(next, *wish);
  NoteManager(next, manager, Now(), call.subresource);
  if (TextAt(*wish, "metadata.resourceVersion").empty()) next["metadata"].erase("resourceVersion");
  auto stored = Replace(call, before, std::move(next));
  if (!stored) return Refuse(stored.error());
  return JsonReply(200, Bytes(*stored, *call.resource, call.version));
}

}  // namespace kgen::testing
