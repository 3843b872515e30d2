// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The scale subresource: an autoscaling/v1 Scale that is read from a workload or a custom resource and written back to
// it.
#include <cstdint>
#include <limits>
#include <utility>

#include "kgen/codec/decode.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/optional.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

// Returns the member at a dotted path and creates missing objects. Returns null if a value on the path is not an
// object.
json* MakePath(json& object, std::string_view path) {
  json* at = &object;
  while (!path.empty()) {
    const auto dot = path.find('.');
    if (!at->is_object() && !at->is_null()) return nullptr;
    at = &(*at)[std::string(path.substr(0, dot))];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return at;
}

std::int64_t NumberAt(const json& object, std::string_view path) {
  const json* value = path.empty() ? nullptr : FindPath(object, path);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

// Returns the selector as text. Custom resources store it as text, workloads as a LabelSelector, and replication
// controllers as plain labels.
std::string SelectorAt(const json& object, std::string_view path) {
  const json* value = path.empty() ? nullptr : FindPath(object, path);
  if (value == nullptr || !value->is_object()) return path.empty() ? std::string() : TextAt(object, path);
  const auto is_part = [&](const char* key) { return value->contains(key) && !value->at(key).is_string(); };
  const bool whole = value->empty() || is_part("matchLabels") || is_part("matchExpressions");
  auto decoded = Decode<meta::v1::LabelSelector>((whole ? *value : json{{"matchLabels", *value}}).dump());
  if (!decoded) return {};
  const auto selector = Selector::From(Optional<meta::v1::LabelSelector>(*std::move(decoded)));
  return selector ? selector->str() : std::string();
}

}  // namespace

ApiResult<Reply> ApiServer::GetScale(const ApiCall& call, const ObjectRef& object) {
  const std::string& path = call.resource->scales.at(call.version).replicas;
  json room;
  const auto value = InVersion(object->value, *call.resource, call.version, room);
  if (!value) return Refuse(value.error());
  if (call.resource->custom && FindPath(**value, path) == nullptr) {
    return Refuse(InternalError("the spec replicas field \"." + path + "\" does not exist"));
  }
  const auto scale = ScaleOf(call, object);
  if (!scale) return Refuse(scale.error());
  return JsonReply(200, scale->dump());
}

ApiResult<Reply> ApiServer::UpdateScale(const ApiCall& call) {
  auto scale = ParseObject(call);
  if (!scale) return Refuse(scale.error());
  const std::string name = TextAt(*scale, "metadata.name");
  if (name != call.name) {
    return Refuse(BadRequest(
        name.empty()
            ? "the name of the object (" + call.name + " based on URL) was undeterminable: name must be provided"
            : "the name of the object (" + name + ") does not match the name on the URL (" + call.name + ")"));
  }
  const ObjectRef before = store_.Get(*call.resource, call.namespace_, call.name);
  if (!before) return Refuse(NotFound(call.resource->info, call.name));
  if (auto admitted = AdmitScale(call, before, *scale); !admitted) return Refuse(admitted.error());
  auto replicas = DesiredReplicas(call, *scale);
  if (!replicas) return Refuse(replicas.error());
  json room;
  const auto served = InVersion(before->value, *call.resource, call.version, room);
  if (!served) return Refuse(served.error());
  json next = **served;
  json* place = next.is_object() ? MakePath(next, call.resource->scales.at(call.version).replicas) : nullptr;
  if (place == nullptr) return Refuse(BadRequest("the stored object has no field for the number of replicas"));
  *place = *replicas;
  for (const char* key : {"resourceVersion", "uid"}) {
    const std::string condition = TextAt(scale->at("metadata"), key);
    if (!condition.empty()) next["metadata"][key] = condition;
  }
  ApiCall whole = call;
  whole.subresource.clear();
  whole.admitted = true;
  auto stored = Replace(whole, before, std::move(next));
  if (!stored) return Refuse(stored.error());
  const auto answer = ScaleOf(call, *stored);
  if (!answer) return Refuse(answer.error());
  return JsonReply(200, answer->dump());
}

// Webhooks see the Scale before and after.
ApiResult<void> ApiServer::AdmitScale(const ApiCall& call, const ObjectRef& before, json& scale) {
  if (!HasHooks(call)) return {};
  const auto old = ScaleOf(call, before);
  if (!old) return Refuse(old.error());
  if (auto mutated = Mutate(call, "UPDATE", &scale, &*old); !mutated) return mutated;
  return Validate(call, "UPDATE", &scale, &*old);
}

// Returns spec.replicas of a Scale, or 0 if it is absent.
ApiResult<std::int64_t> ApiServer::DesiredReplicas(const ApiCall& call, const json& scale) {
  const json* value = FindPath(scale, "spec.replicas");
  if (value == nullptr || value->is_null()) return 0;
  const bool fits = value->is_number_integer() && *value <= std::numeric_limits<std::int32_t>::max() &&
                    *value >= std::numeric_limits<std::int32_t>::min();
  if (!fits) return Refuse(BadRequest("Scale cannot be handled as a Scale: spec.replicas is not an int32"));
  const auto replicas = value->get<std::int64_t>();
  if (replicas >= 0) return replicas;
  const std::string text = "Invalid value: " + std::to_string(replicas);
  if (call.resource->custom) {
    return Refuse(Invalid(call.resource->info, call.name,
                          {{"FieldValueInvalid", "." + call.resource->scales.at(call.version).replicas,
                            text + ": should be a non-negative integer"}}));
  }
  return Refuse(Invalid({.group = "autoscaling", .kind = "Scale"}, call.name,
                        {{"FieldValueInvalid", "spec.replicas", text + ": must be greater than or equal to 0"}}));
}

ApiResult<Reply> ApiServer::PatchScale(ApiCall call) {
  const ObjectRef before = store_.Get(*call.resource, call.namespace_, call.name);
  if (!before) return Refuse(NotFound(call.resource->info, call.name));
  const auto old = ScaleOf(call, before);
  if (!old) return Refuse(old.error());
  auto scale = PatchValue(call, *old);
  if (!scale) return Refuse(scale.error());
  call.body = scale->dump();
  call.content_type = "application/json";
  return UpdateScale(call);
}

// Like a real server, omits a desired number of 0 and an empty selector.
ApiResult<json> ApiServer::ScaleOf(const ApiCall& call, const ObjectRef& object) {
  const ScalePaths& paths = call.resource->scales.at(call.version);
  json room;
  const auto served = InVersion(object->value, *call.resource, call.version, room);
  if (!served) return Refuse(served.error());
  const json& value = **served;
  json metadata = json::object();
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    const json* member = FindPath(value, std::string("metadata.") + key);
    if (member != nullptr) metadata[key] = *member;
  }
  json scale = {{"kind", "Scale"},
                {"apiVersion", "autoscaling/v1"},
                {"metadata", std::move(metadata)},
                {"spec", json::object()},
                {"status", {{"replicas", NumberAt(value, paths.status_replicas)}}}};
  if (const std::int64_t desired = NumberAt(value, paths.replicas); desired != 0) scale["spec"]["replicas"] = desired;
  if (std::string selector = SelectorAt(value, paths.selector); !selector.empty()) {
    scale["status"]["selector"] = std::move(selector);
  }
  return scale;
}

}  // namespace kgen::testing
