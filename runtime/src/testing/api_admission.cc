// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Admission webhooks. A pass looks up the answers that its run has; where one is missing it leaves a question and ends
// (request_run.h).
//
//   Mutate(): one webhook after the other, and once more those that IfNeeded asks for
//   Validate(): all at once
#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "core/json/compact_json.h"
#include "core/quoted.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using detail::Quoted;
using nlohmann::json;

std::pair<std::string, std::string> SplitVersion(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string::npos) return {"", api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

// Whether objects of the request are of the kind of the resource, so that they exist in each of its versions.
bool HasOwnKind(const ApiCall& call) { return KindOfBody(call).second == call.resource->info.kind; }

// The options of the request, as their kind of meta.k8s.io/v1.
json OptionsOf(const ApiCall& call, std::string_view operation) {
  json options = json::object();
  if (operation == "DELETE" && !call.body.empty()) options = ParseJson(call.body);
  if (!options.is_object()) options = json::object();
  options["apiVersion"] = "meta.k8s.io/v1";
  options["kind"] = operation == "CREATE" ? "CreateOptions" : operation == "UPDATE" ? "UpdateOptions" : "DeleteOptions";
  if (call.Query("dryRun") == "All") options["dryRun"] = {"All"};
  if (operation == "DELETE") return options;
  for (const char* key : {"fieldManager", "fieldValidation"}) {
    if (const std::string_view value = call.Query(key); !value.empty()) options[key] = value;
  }
  return options;
}

ApiError ErrorOf(const json& status) {
  ApiError error{
      .code = status["code"].get<int>(), .reason = TextAt(status, "reason"), .message = TextAt(status, "message")};
  if (const json* details = FindPath(status, "details"); details != nullptr && details->is_object()) {
    error.details = *details;
  }
  return error;
}

}  // namespace

// The configurations themselves are never sent to webhooks, so that a broken one can be mended.
bool ApiServer::HasHooks(const ApiCall& call) {
  if (std::exchange(hooks_changed_, false)) {
    for (const bool mutating : {true, false}) {
      std::vector<Hook>& hooks = mutating ? mutating_ : validating_;
      hooks.clear();
      const Resource* configurations =
          store_.Find("admissionregistration.k8s.io",
                      mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations");
      for (const auto& [key, object] : configurations->objects) {
        for (Hook& hook : ReadHooks(object->value, mutating)) hooks.push_back(std::move(hook));
      }
    }
  }
  if (mutating_.empty() && validating_.empty()) return false;
  return run_ != nullptr && !call.admitted && call.resource->info.group != "admissionregistration.k8s.io";
}

ApiResult<void> ApiServer::CheckConfiguration(const ApiCall& call, const json& object) const {
  const bool mutating = call.resource->info.plural == "mutatingwebhookconfigurations";
  std::vector<FieldFault> faults;
  for (HookFault& fault : CheckHooks(object, mutating, static_cast<bool>(options_.match_condition))) {
    faults.push_back({std::move(fault.reason), std::move(fault.field), std::move(fault.message)});
  }
  if (faults.empty()) return {};
  return Refuse(Invalid(call.resource->info, call.name, faults));
}

void ApiServer::Warn(const std::string& text) {
  std::string warning = "299 - " + detail::CompactJson(json(text));
  if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end()) {
    warnings_.push_back(std::move(warning));
  }
}

// --- What webhooks see

const json* ApiServer::NamespaceLabels(const ApiCall& call, std::string_view operation, const json* object) const {
  static const json& none = *new json(json::object());
  const bool itself = IsNamespace(call.resource->info);
  if (!itself && !call.resource->info.namespaced) return nullptr;
  const json* labels = nullptr;
  if (itself && call.subresource.empty() && operation != "DELETE") {
    labels = FindPath(*object, "metadata.labels");
  } else if (const ObjectRef found =
                 store_.Get(*store_.resources().at({"", "namespaces"}), "", itself ? call.name : call.namespace_)) {
    labels = FindPath(found->value, "metadata.labels");
  }
  return labels == nullptr ? &none : labels;
}

AdmissionTarget ApiServer::TargetOf(const ApiCall& call, std::string_view operation, const json* object,
                                    const json* old) const {
  return {.operation = operation,
          .group = call.resource->info.group,
          .version = call.version,
          .plural = call.resource->info.plural,
          .subresource = call.subresource,
          .namespace_ = IsNamespace(call.resource->info) ? call.name : call.namespace_,
          .versions = call.resource->versions,
          .object = object,
          .old_object = old,
          .namespace_labels = NamespaceLabels(call, operation, object)};
}

// Returns the request of a review, with the objects in a version of the resource.
ApiResult<json> ApiServer::AdmissionRequestOf(const ApiCall& call, std::string_view operation,
                                              const std::string& version, const json* object, const json* old) {
  const Resource& resource = *call.resource;
  const auto [api_version, kind_name] = KindOfBody(call);
  const auto kind_of = [&](const std::string& in) {
    const auto [group, kind_version] = SplitVersion(HasOwnKind(call) ? ApiVersionOf(resource, in) : api_version);
    return json{{"group", group}, {"version", kind_version}, {"kind", kind_name}};
  };
  const auto resource_of = [&](const std::string& in) {
    return json{{"group", resource.info.group}, {"version", in}, {"resource", resource.info.plural}};
  };
  const std::string namespace_ = IsNamespace(resource.info) ? call.name : call.namespace_;
  const json options = OptionsOf(call, operation);
  json request = {{"kind", kind_of(version)},
                  {"resource", resource_of(version)},
                  {"requestKind", kind_of(call.version)},
                  {"requestResource", resource_of(call.version)},
                  {"operation", operation},
                  {"userInfo", {{"username", "tester"}, {"groups", {"system:masters", "system:authenticated"}}}},
                  {"object", nullptr},
                  {"oldObject", nullptr},
                  {"dryRun", IsDryRun(call, options)},
                  {"options", options}};
  if (!call.subresource.empty()) request["subResource"] = request["requestSubResource"] = call.subresource;
  if (!call.name.empty()) request["name"] = call.name;
  if (!namespace_.empty()) request["namespace"] = namespace_;
  for (const auto& [key, value] : {std::pair("object", object), std::pair("oldObject", old)}) {
    if (value == nullptr) continue;
    json room;
    const auto served = HasOwnKind(call) ? InVersion(*value, resource, version, room) : ApiResult<const json*>(value);
    if (!served && run_->waits()) return Refuse(served.error());
    if (!served) return Refuse(InternalError(served.error().message));
    request[key] = **served;
  }
  return request;
}

// --- Calls

// Returns whether all matchConditions are true. An error counts as the failure of the webhook, unless one is false.
ApiResult<bool> ApiServer::MeetsConditions(const Hook& hook, const json& request) {
  if (hook.conditions.empty()) return true;
  const std::string text = detail::CompactJson(request);
  bool all = true, missing = false;
  std::string failure;
  for (const auto& [name, expression] : hook.conditions) {
    const std::string key = "condition " + expression + '\n' + text;
    const auto known = run_->answers.find(key);
    if (known == run_->answers.end()) {
      missing = true;
      run_->questions.push_back(
          {.key = key, .call = {.name = hook.name, .client_config = {}, .review = text}, .condition = expression});
    } else if (!known->second.failure.empty()) {
      failure = "matchCondition " + Quoted(name) + ": " + known->second.failure;
    } else {
      all = all && known->second.answer == "true";
    }
  }
  if (missing) return Refuse(Suspended());
  if (!all || failure.empty()) return all;
  if (hook.ignores_failures) return false;
  return Refuse({.code = 403,
                 .reason = "Forbidden",
                 .message = "admission webhook " + Quoted(hook.name) + " cannot be matched: " + failure});
}

// Returns the verdict of a webhook that allows the request, or nullopt if it is not to be asked or its failure is to be
// ignored. Errors: the denial; the failure of the call; Suspended()
ApiResult<std::optional<AdmissionVerdict>> ApiServer::AskHook(const Hook& hook, const json& request,
                                                              const std::string& round) {
  const auto meets = MeetsConditions(hook, request);
  if (!meets) return Refuse(meets.error());
  if (!*meets) return std::nullopt;
  if (request["dryRun"] == true && !hook.safe_in_dry_run) {
    return Refuse(BadRequest("admission webhook " + Quoted(hook.name) + " does not support dry run"));
  }
  const std::string key = hook.configuration + '/' + hook.name + ' ' + round + '\n' + detail::CompactJson(request);
  auto known = run_->answers.find(key);
  if (known == run_->answers.end() && hook.speaks_v1) {
    // The answer must have the uid of the question, which the review has.
    const std::string uid = ReviewUid(key);
    run_->uids[key] = uid;
    run_->questions.push_back({.key = key,
                               .call = {.name = hook.name,
                                        .client_config = hook.client_config,
                                        .review = AdmissionReviewOf(request, uid),
                                        .timeout = hook.timeout},
                               .condition = {}});
    return Refuse(Suspended());
  }
  std::string failure = "webhook does not accept known AdmissionReview versions (v1)";
  if (known != run_->answers.end()) {
    failure = "failed to call webhook: " + known->second.failure;
    if (known->second.failure.empty()) {
      auto verdict = ReadAdmissionReview(known->second.answer, run_->uids[key], hook.mutating);
      if (verdict) {
        for (const std::string& warning : verdict->warnings) Warn(warning);
        if (verdict->allowed) return *std::move(verdict);
        return Refuse(ErrorOf(DenialOf(hook.name, verdict->status)));
      }
      failure = "received invalid webhook response: " + verdict.error();
    }
  }
  if (hook.ignores_failures) return std::nullopt;
  return Refuse(InternalError("failed calling webhook " + Quoted(hook.name) + ": " + failure));
}

// --- Mutating

// Returns whether the webhook has changed the object.
ApiResult<bool> ApiServer::MutateOnce(const Hook& hook, const std::string& version, const ApiCall& call,
                                      std::string_view operation, json* object, const json* old, int round) {
  const auto request = AdmissionRequestOf(call, operation, version, object, old);
  if (!request) return Refuse(request.error());
  auto verdict = AskHook(hook, *request, std::to_string(round));
  if (!verdict) return Refuse(verdict.error());
  if (!*verdict || (*verdict)->patch.is_null() || (*verdict)->patch == json::array()) return false;
  if (object == nullptr) {
    return Refuse(InternalError("admission webhook " + Quoted(hook.name) +
                                " attempted to modify the object, which is not supported for this operation"));
  }
  json patched;
  try {
    patched = (*request)["object"].patch((*verdict)->patch);
  } catch (const json::exception& error) {
    return Refuse(InternalError(error.what()));
  }
  if (patched == (*request)["object"]) return false;
  if (!patched.is_object() || !patched["metadata"].is_object() || NestsTooDeep(patched)) {
    return Refuse(InternalError("admission webhook " + Quoted(hook.name) + " made of the object what is none"));
  }
  if (HasOwnKind(call)) {
    Complete(*call.resource, version, patched);
    json room;
    const auto served = InVersion(patched, *call.resource, call.version, room);
    if (!served && run_->waits()) return Refuse(served.error());
    if (!served) return Refuse(InternalError(served.error().message));
    if (*served == &room) patched = std::move(room);
  }
  *object = std::move(patched);
  return true;
}

ApiResult<void> ApiServer::Mutate(const ApiCall& call, std::string_view operation, json* object, const json* old) {
  if (!HasHooks(call)) return {};
  std::set<std::size_t> again;        // what the second round calls
  std::set<std::size_t> reinvocable;  // was called before the last change
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < mutating_.size(); ++i) {
      const Hook& hook = mutating_[i];
      if (round == 1 && !again.contains(i)) continue;
      const auto version = Concerns(hook, TargetOf(call, operation, object, old));
      if (!version) continue;
      const auto changed = MutateOnce(hook, *version, call, operation, object, old, round);
      if (!changed) return Refuse(changed.error());
      if (*changed) again.merge(std::exchange(reinvocable, {}));
      if (hook.reinvoked) reinvocable.insert(i);
    }
    if (again.empty()) break;
  }
  return {};
}

// --- Validating

ApiResult<void> ApiServer::Validate(const ApiCall& call, std::string_view operation, const json* object,
                                    const json* old) {
  if (!HasHooks(call)) return {};
  std::optional<ApiError> first;
  for (const Hook& hook : validating_) {
    const auto version = Concerns(hook, TargetOf(call, operation, object, old));
    if (!version) continue;
    const auto request = AdmissionRequestOf(call, operation, *version, object, old);
    const auto verdict = request ? AskHook(hook, *request, "") : Refuse(request.error());
    if (!verdict && !first && !run_->waits()) first = verdict.error();
  }
  if (run_->waits()) return Refuse(Suspended());
  if (first) return Refuse(*std::move(first));
  return {};
}

}  // namespace kgen::testing
