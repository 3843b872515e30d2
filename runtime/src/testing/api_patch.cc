// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// patch: merge patch, strategic merge patch, JSON patch, and a simplified apply. Apply merges the object, and records
// the manager and the fields that it applied last. It makes no other use of these: it never conflicts, and never
// removes fields that a manager no longer applies.
#include <algorithm>

#include "core/json/compact_json.h"
#include "kgen/codec/yaml.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kStrategic[] = "application/strategic-merge-patch+json";
constexpr char kJsonPatch[] = "application/json-patch+json";
constexpr char kApply[] = "application/apply-patch+yaml";

// The limits of kube-apiserver. Without them a small patch that repeatedly copies the whole object could exhaust
// memory.
constexpr std::size_t kMaxJsonPatchOperations = 10'000;
constexpr std::size_t kMaxJsonPatchCopies = std::size_t{3} << 20;  // in bytes, for all copies of one patch together

// Returns the member that identifies the entries of a list of maps, or "" if a patch replaces the whole list. A real
// server knows this from its types; this server guesses it from the name of the list and the members of the entries.
std::string_view MergeKey(std::string_view list, const json& entries) {
  constexpr std::pair<std::string_view, std::string_view> kKeys[] = {{"conditions", "type"},
                                                                     {"ownerReferences", "uid"},
                                                                     {"volumeMounts", "mountPath"},
                                                                     {"volumeDevices", "devicePath"},
                                                                     {"hostAliases", "ip"},
                                                                     {"topologySpreadConstraints", "topologyKey"},
                                                                     {"podIPs", "ip"},
                                                                     {"hostIPs", "ip"},
                                                                     {"addresses", "type"},
                                                                     {"ports", "containerPort"},
                                                                     {"ports", "port"},
                                                                     {"", "name"}};
  for (const auto& [name, key] : kKeys) {
    if (!name.empty() && name != list) continue;
    const auto has_key = [&](const json& entry) { return entry.is_object() && entry.contains(key); };
    if (std::all_of(entries.begin(), entries.end(), has_key)) return key;
  }
  return "";
}

void StrategicMerge(json& target, const json& patch);

// Merges each entry of the patch into the entry with the same key, or appends it. `$patch: delete` removes the entry.
void MergeEntries(json& target, const json& patch, std::string_view key) {
  for (const json& entry : patch) {
    const auto same = std::find_if(target.begin(), target.end(), [&](const json& old) {
      return old.is_object() && old.contains(key) && old[key] == entry[key];
    });
    if (entry.value("$patch", json()) == "delete") {
      if (same != target.end()) target.erase(same);
    } else if (same != target.end()) {
      StrategicMerge(*same, entry);
    } else {
      StrategicMerge(target.emplace_back(json::object()), entry);
    }
  }
}

// Handles a directive: a member of the patch that says how to change the list it names. kubectl sends all of these.
// Returns false if the member is not a directive.
bool FollowDirective(json& target, std::string_view directive, const json& value) {
  constexpr std::string_view kOrder = "$setElementOrder/", kDelete = "$deleteFromPrimitiveList/";
  if (directive.starts_with(kOrder)) return true;  // no client of this server depends on the order
  if (!directive.starts_with(kDelete)) return directive == "$retainKeys" || directive == "$patch";
  const auto list = target.find(directive.substr(kDelete.size()));
  if (list == target.end() || !list->is_array() || !value.is_array()) return true;
  for (const json& gone : value) list->erase(std::remove(list->begin(), list->end(), gone), list->end());
  return true;
}

// Merges maps, merges lists of maps entry by entry if the entries have a key, adds finalizers, and replaces everything
// else. Null removes a member.
void StrategicMerge(json& target, const json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  const bool replaces = patch.value("$patch", json()) == "replace";
  if (!target.is_object() || replaces) target = json::object();
  for (const auto& [key, value] : patch.items()) {
    if (key.starts_with('$') && FollowDirective(target, key, value)) continue;
    const std::string_view merge_key = value.is_array() && !value.empty() ? MergeKey(key, value) : "";
    if (value.is_null()) {
      target.erase(key);
    } else if (value.is_object()) {
      StrategicMerge(target[key], value);
    } else if (!merge_key.empty()) {
      json& list = target[key];
      if (!list.is_array()) list = json::array();
      MergeEntries(list, value, merge_key);
    } else if (key == "finalizers" && value.is_array() && target.contains(key)) {
      for (const json& each : value) {
        json& list = target[key];
        if (std::find(list.begin(), list.end(), each) == list.end()) list.push_back(each);
      }
    } else {
      target[key] = value;
    }
  }
}

// The path element of an entry of a list in fieldsV1. As on a server, the key of a port includes its protocol.
std::string EntryPath(std::string_view list, std::string_view key, const json& entry) {
  json keys = {{key, entry[key]}};
  if (list == "ports") keys["protocol"] = entry.value("protocol", json("TCP"));
  return "k:" + detail::CompactJson(keys);
}

// The fields of an applied value in the form of fieldsV1. Lists that are merged by a key have an entry for each
// element, other lists are owned as a whole.
json FieldsOf(std::string_view name, const json& value) {
  json fields = json::object();
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (!member.is_null()) fields["f:" + key] = FieldsOf(key, member);
    }
  } else if (value.is_array() && name == "finalizers") {
    for (const json& each : value) fields["v:" + detail::CompactJson(each)] = json::object();
  } else if (value.is_array() && !value.empty()) {
    const std::string_view key = MergeKey(name, value);
    for (std::size_t i = 0; i < value.size() && !key.empty(); ++i) {
      json& entry = fields[EntryPath(name, key, value[i])];
      entry = FieldsOf("", value[i]);
      entry["."] = json::object();
    }
  }
  return fields;
}

// What identifies an object has no owner, and the status only if its subresource is applied, if there is one.
json OwnedFields(json applied, bool has_status, std::string_view subresource) {
  for (const char* key : {"apiVersion", "kind"}) applied.erase(key);
  json& metadata = applied["metadata"];
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp"}) {
    metadata.erase(key);
  }
  if (has_status && subresource.empty()) applied.erase("status");
  if (subresource == "status") applied = {{"status", applied.value("status", json())}};
  if (const auto left = applied.find("metadata"); left != applied.end() && left->empty()) applied.erase(left);
  return FieldsOf("", applied);
}

// Notes in `object` that the manager has applied these fields.
void NoteManager(json& object, std::string_view manager, std::string_view time, std::string_view subresource,
                 json fields) {
  json entry = {{"manager", manager},
                {"operation", "Apply"},
                {"apiVersion", object["apiVersion"]},
                {"fieldsType", "FieldsV1"},
                {"fieldsV1", std::move(fields)}};
  if (!subresource.empty()) entry["subresource"] = subresource;
  json& entries = object["metadata"]["managedFields"];
  if (!entries.is_array()) entries = json::array();
  const auto known = std::find_if(entries.begin(), entries.end(), [&](const json& each) {
    return each.is_object() && each.value("manager", "") == manager && each.value("operation", "") == "Apply" &&
           each.value("subresource", "") == subresource;
  });
  if (known != entries.end()) {
    json bare = *known;
    bare.erase("time");
    if (bare == entry) return;  // unchanged: a repeated apply does not write
  }
  entry["time"] = time;
  if (known != entries.end()) {
    *known = std::move(entry);
  } else {
    entries.push_back(std::move(entry));
  }
}

// Returns the number of bytes that a "copy" operation adds to the object.
std::size_t CopiedBytes(const json& object, const json& operation) {
  if (operation.value("op", json()) != "copy" || !operation.contains("from")) return 0;
  return object.at(json::json_pointer(operation["from"].get<std::string>())).dump().size();
}

ApiResult<json> ApplyJsonPatch(json object, const json& patch, const ApiCall& call) {
  const auto refuse = [&](std::string why) {
    return Refuse(Invalid(call.resource->info, call.name, {{"FieldValueInvalid", "patch", std::move(why)}}));
  };
  if (patch.size() > kMaxJsonPatchOperations) {
    return Refuse({.code = 413,
                   .reason = "RequestEntityTooLarge",
                   .message = "The allowed maximum operations in a JSON patch is " +
                              std::to_string(kMaxJsonPatchOperations) + ", got " + std::to_string(patch.size())});
  }
  std::size_t copied = 0;
  try {
    if (!patch.is_array()) return object.patch(patch);  // throws the error for this
    for (const json& operation : patch) {
      if (operation.is_object()) copied += CopiedBytes(object, operation);
      if (copied > kMaxJsonPatchCopies) {
        return refuse("the copies of the patch exceed the limit of " + std::to_string(kMaxJsonPatchCopies) + " bytes");
      }
      object = object.patch(json::array({operation}));
      if (NestsTooDeep(object)) return Refuse(BadRequest("the patched object is nested deeper than 256 levels"));
    }
  } catch (const json::exception& error) {
    return refuse(error.what());
  }
  return object;
}

}  // namespace

ApiResult<json> ApiServer::PatchValue(const ApiCall& call, const json& before) const {
  const json patch = ParseJson(call.body);
  if (patch.is_discarded()) return Refuse(BadRequest("error decoding patch: not JSON of at most 256 levels"));
  json next = before;
  if (call.content_type == kMerge || (call.content_type == kStrategic && !call.resource->custom)) {
    if (!patch.is_object()) return Refuse(BadRequest("a merge patch must be an object"));
    if (call.content_type == kMerge) {
      next.merge_patch(patch);
    } else {
      StrategicMerge(next, patch);
    }
  } else if (call.content_type == kJsonPatch) {
    auto patched = ApplyJsonPatch(std::move(next), patch, call);
    if (!patched) return Refuse(patched.error());
    next = *std::move(patched);
  } else {
    return Refuse(UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: " + std::string(kJsonPatch) +
        ", " + kMerge + ", " + kApply));
  }
  if (!next.is_object() || !next["metadata"].is_object())
    return Refuse(BadRequest("the patched object is not a JSON object"));
  return next;
}

ApiResult<Reply> ApiServer::Patch(const ApiCall& call) {
  const ObjectRef before = store_.Get(*call.resource, call.namespace_, call.name);
  if (call.content_type == kApply) return Apply(call, before);
  if (!before) return Refuse(NotFound(call.resource->info, call.name));
  json room;
  const auto served = InVersion(before->value, *call.resource, call.version, room);
  if (!served) return Refuse(served.error());
  json start = **served;
  if (!start.is_object()) return Refuse(BadRequest("the stored object is not a JSON object"));
  DropUnknown(call, start);
  auto next = PatchValue(call, start);
  if (!next) return Refuse(next.error());
  const std::string patched = detail::CompactJson(*next);
  const std::string complaint = StrictComplaint(call, {}, DropUnknown(call, *next));
  if (!complaint.empty()) {
    return Refuse(
        Invalid({}, "", {{"FieldValueInvalid", "patch", "Invalid value: " + json(patched).dump() + ": " + complaint}}));
  }
  if (TextAt(*next, "metadata.name") != call.name) return Refuse(BadRequest("a patch cannot change the name"));
  auto stored = Replace(call, before, *std::move(next));
  if (!stored) return Refuse(stored.error());
  return JsonReply(200, Bytes(*stored, call));
}

ApiResult<Reply> ApiServer::Apply(ApiCall call, const ObjectRef& before) {
  const std::string manager(call.Query("fieldManager"));
  if (manager.empty()) {
    return Refuse(BadRequest(
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch"));
  }
  call.content_type = "application/yaml";
  auto desired = ParseObject(call);
  if (!desired) return Refuse(desired.error());
  if (desired->at("metadata").contains("managedFields"))
    return Refuse(BadRequest("metadata.managedFields must be nil"));
  const std::string named = TextAt(*desired, "metadata.name");
  if (!named.empty() && named != call.name) {
    return Refuse(
        BadRequest("the name of the object (" + named + ") does not match the name on the URL (" + call.name + ")"));
  }
  if (!before && !call.subresource.empty()) return Refuse(NotFound(call.resource->info, call.name));
  // Regardless of fieldValidation, because a field without a schema cannot have an owner.
  if (const std::vector<std::string> unknown = DropUnknown(call, *desired); !unknown.empty()) {
    return Refuse({.code = 500,
                   .message = "failed to create typed patch object (" + TextAt(*desired, "metadata.namespace") + "/" +
                              call.name + "; " + TextAt(*desired, "apiVersion") + ", Kind=" + TextAt(*desired, "kind") +
                              "): ." + unknown.front() + ": field not declared in schema"});
  }
  json fields = OwnedFields(*desired, call.resource->info.has_status, call.subresource);
  if (!before) {
    NoteManager(*desired, manager, Now(), call.subresource, std::move(fields));
    (*desired)["metadata"]["name"] = call.name;
    auto created = CreateObject(call, *std::move(desired), /*keep_status=*/false);
    if (!created) return Refuse(created.error());
    return JsonReply(201, Bytes(*created, call));
  }
  json room;
  const auto served = InVersion(before->value, *call.resource, call.version, room);
  if (!served) return Refuse(served.error());
  json next = **served;
  StrategicMerge(next, *desired);
  NoteManager(next, manager, Now(), call.subresource, std::move(fields));
  if (TextAt(*desired, "metadata.resourceVersion").empty()) next["metadata"].erase("resourceVersion");
  auto stored = Replace(call, before, std::move(next));
  if (!stored) return Refuse(stored.error());
  return JsonReply(200, Bytes(*stored, call));
}

}  // namespace kgen::testing
