// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Subresources of built-in resources other than status and scale: parts of an object that have their own path, and
// requests with a body of another kind.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

void Move(json& to, json& from, const char* key) {
  if (!to.is_object() && !to.is_null()) return;  // an object of a CRD may have any shape
  if (from.is_object() && from.contains(key)) {
    to[key] = std::move(from[key]);
  } else if (to.is_object()) {
    to.erase(key);
  }
}

// Sets the resources and resizePolicy of the containers in `to` from the containers of the same name in `from`.
void MoveResources(json& to, const json& from) {
  for (const char* list : {"containers", "initContainers"}) {
    const json* wanted = FindPath(from, std::string("spec.") + list);
    const json* own = FindPath(to, std::string("spec.") + list);
    if (wanted == nullptr || own == nullptr || !wanted->is_array() || !own->is_array()) continue;
    for (json& container : to["spec"][list]) {
      for (json other : *wanted) {
        if (!container.is_object() || TextAt(other, "name") != TextAt(container, "name")) continue;
        Move(container, other, "resources");
        Move(container, other, "resizePolicy");
      }
    }
  }
}

// Returns a number in the query of a log request, or nullopt if it is absent.
ApiResult<std::optional<std::int64_t>> ReadCount(const ApiCall& call, const char* key) {
  const std::string text(call.Query(key));
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Refuse(BadRequest("the value " + text + " of " + std::string(key) + " in the query is not a whole number"));
  }
  if (value < 0) {
    return Refuse(
        Invalid({.kind = "PodLogOptions"}, call.name,
                {{"FieldValueInvalid", key, "Invalid value: " + text + ": must be greater than or equal to 0"}}));
  }
  return value;
}

Reply Success() {
  const json status = {
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::object()}, {"status", "Success"}, {"code", 201}};
  return JsonReply(201, status.dump());
}

// Checks that the body has the name in the URL. A TokenRequest may omit the name.
ApiResult<void> CheckName(const ApiCall& call, const json& body) {
  const std::string name = TextAt(body, "metadata.name");
  if (name == call.name || (name.empty() && call.subresource == "token")) return {};
  return Refuse(BadRequest("name in URL does not match name in " + TextAt(body, "kind") + " object"));
}

// Returns the last `count` lines.
std::string_view Tail(std::string_view text, std::int64_t count) {
  std::size_t at = text.size();
  if (count > 0 && text.ends_with('\n')) --at;
  for (; count > 0 && at > 0; --count) {
    const std::size_t end = text.rfind('\n', at - 1);
    if (end == std::string_view::npos) return text;
    at = end;
    if (count == 1) return text.substr(end + 1);
  }
  return count > 0 ? text : std::string_view();
}

}  // namespace

void ApiServer::AddSubresources() {
  const std::vector<std::string> create = {"create"}, whole = {"get", "patch", "update"};
  auto& pods = store_.Find("", "pods")->subresources;
  pods["binding"] = {"", "v1", "Binding", create};
  pods["ephemeralcontainers"] = {"", "v1", "Pod", whole};
  pods["eviction"] = {"policy", "v1", "Eviction", create};
  pods["log"] = {"", "v1", "Pod", {"get"}};
  pods["resize"] = {"", "v1", "Pod", whole};
  store_.Find("", "serviceaccounts")->subresources["token"] = {"authentication.k8s.io", "v1", "TokenRequest", create};
  store_.Find("certificates.k8s.io", "certificatesigningrequests")->subresources["approval"] = {
      "certificates.k8s.io", "v1", "CertificateSigningRequest", whole};
}

ApiResult<Reply> ApiServer::ServeSubresource(const ApiCall& call) {
  const std::vector<std::string>& verbs = call.resource->subresources.at(call.subresource).verbs;
  if (std::find(verbs.begin(), verbs.end(), call.verb) == verbs.end()) return Refuse(MethodNotAllowed());
  if (call.subresource == "log") return GetLog(call);
  if (call.verb == "get") return GetObject(call);
  if (call.verb == "update") return Update(call);
  if (call.verb == "patch") return Patch(call);
  const ObjectRef object = store_.Get(*call.resource, call.namespace_, call.name);
  if (!object) return Refuse(NotFound(call.resource->info, call.name));
  auto body = ParseObject(call);
  if (!body) return Refuse(body.error());
  if (auto named = CheckName(call, *body); !named) return Refuse(named.error());
  if (auto mutated = Mutate(call, "CREATE", &*body, nullptr); !mutated) return Refuse(mutated.error());
  if (auto valid = Validate(call, "CREATE", &*body, nullptr); !valid) return Refuse(valid.error());
  if (call.subresource == "binding") return Bind(call, object, *body);
  if (call.subresource == "eviction") return Evict(call, *body);
  return CreateToken(call, *std::move(body));
}

json ApiServer::OnlyPart(std::string_view subresource, const json& before, json next) {
  json whole = before;
  if (subresource == "status") {
    Move(whole, next, "status");
  } else if (subresource == "approval") {
    Move(whole["status"], next["status"], "conditions");
    whole["metadata"] = next["metadata"];
  } else if (subresource == "ephemeralcontainers") {
    Move(whole["spec"], next["spec"], "ephemeralContainers");
  } else {
    MoveResources(whole, next);
  }
  // Apply() records the manager in managedFields. An object without managedFields leaves them unchanged, because a
  // client may have dropped them in its cache.
  if (FindPath(next, "metadata.managedFields") != nullptr) Move(whole["metadata"], next["metadata"], "managedFields");
  return whole;
}

ApiResult<Reply> ApiServer::Bind(const ApiCall& call, const ObjectRef& pod, const json& binding) {
  const std::string node = TextAt(binding, "target.name"), kind = TextAt(binding, "target.kind");
  const ResourceInfo body = {.kind = "Binding"};
  if (node.empty()) {
    return Refuse(Invalid(body, call.name, {{"FieldValueRequired", "target.name", "Required value"}}));
  }
  if (!kind.empty() && kind != "Node") {
    return Refuse(Invalid(body, call.name,
                          {{"FieldValueNotSupported", "target.kind",
                            "Unsupported value: " + json(kind).dump() + ": supported values: \"Node\", \"<empty>\""}}));
  }
  if (const std::string assigned = TextAt(pod->value, "spec.nodeName"); !assigned.empty()) {
    return Refuse(Conflict(call.resource->info, call.name,
                           "pod " + call.name + " is already assigned to node \"" + assigned + '"'));
  }
  json next = pod->value;
  if (!next["spec"].is_object()) return Refuse(BadRequest("spec is not a JSON object"));
  next["spec"]["nodeName"] = node;
  if (const std::string uid = TextAt(binding, "metadata.uid"); !uid.empty()) next["metadata"]["uid"] = uid;
  ApiCall whole = call;
  whole.subresource.clear();
  whole.admitted = true;
  if (auto stored = Replace(whole, pod, std::move(next)); !stored) return Refuse(stored.error());
  return Success();
}

ApiResult<Reply> ApiServer::Evict(const ApiCall& call, const json& eviction) {
  ApiCall deletion = call;
  deletion.verb = "delete";
  deletion.subresource.clear();
  deletion.admitted = true;  // webhooks have seen the Eviction
  const json* options = FindPath(eviction, "deleteOptions");
  deletion.body = options == nullptr || options->is_null() ? "" : options->dump();
  if (auto deleted = Delete(deletion); !deleted) return Refuse(deleted.error());
  return Success();
}

ApiResult<Reply> ApiServer::CreateToken(const ApiCall& call, json request) {
  constexpr std::int64_t kShortest = 600, kDefault = 3600, kLongest = std::int64_t{1} << 32;
  if (!request["spec"].is_object()) request["spec"] = json::object();
  json& spec = request["spec"];
  const json* given = FindPath(spec, "expirationSeconds");
  const std::int64_t seconds = given != nullptr && given->is_number_integer() ? given->get<std::int64_t>() : kDefault;
  if (seconds < kShortest || seconds > kLongest) {
    return Refuse(Invalid({.group = "authentication.k8s.io", .kind = "TokenRequest"}, call.name,
                          {{"FieldValueInvalid", "spec.expirationSeconds",
                            "Invalid value: " + std::to_string(seconds) + ": may not specify a duration " +
                                (seconds < kShortest ? "less than 10 minutes" : "larger than 2^32 seconds")}}));
  }
  spec["expirationSeconds"] = seconds;
  if (!spec.contains("audiences") || spec["audiences"].empty()) {
    spec["audiences"] = {"https://kubernetes.default.svc.cluster.local"};
  }
  request["metadata"] = {{"name", call.name}, {"namespace", call.namespace_}, {"creationTimestamp", Now()}};
  request["status"] = {{"token", "made-up-token-" + NewUid()}, {"expirationTimestamp", Now(seconds)}};
  return JsonReply(201, request.dump());
}

void ApiServer::SetLog(std::string_view namespace_, std::string_view pod, std::string text) {
  const MutexLock lock(mutex_);
  logs_[{std::string(namespace_), std::string(pod)}] = std::move(text);
}

ApiResult<Reply> ApiServer::GetLog(const ApiCall& call) {
  const ObjectRef pod = store_.Get(*call.resource, call.namespace_, call.name);
  if (!pod) return Refuse(NotFound(call.resource->info, call.name));
  std::vector<std::string> containers;
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
    const json* own = FindPath(pod->value, std::string("spec.") + list);
    if (own == nullptr || !own->is_array()) continue;
    for (const json& container : *own) containers.push_back(TextAt(container, "name"));
  }
  const std::string container(call.Query("container"));
  if (container.empty() && containers.size() > 1) {
    std::string names;
    for (const std::string& name : containers) names += (names.empty() ? "" : " ") + name;
    return Refuse(
        BadRequest("a container name must be specified for pod " + call.name + ", choose one of: [" + names + "]"));
  }
  if (!container.empty() && std::find(containers.begin(), containers.end(), container) == containers.end()) {
    return Refuse(BadRequest("container " + container + " is not valid for pod " + call.name));
  }
  const auto found = logs_.find({call.namespace_, call.name});
  std::string_view text = found == logs_.end() ? std::string_view() : std::string_view(found->second);
  const auto tail = ReadCount(call, "tailLines");
  if (!tail) return Refuse(tail.error());
  const auto limit = ReadCount(call, "limitBytes");
  if (!limit) return Refuse(limit.error());
  if (*tail) text = Tail(text, **tail);
  if (*limit) text = text.substr(0, static_cast<std::size_t>(**limit));
  Reply reply;
  reply.headers = {{"content-type", "text/plain"}};
  reply.body = text;
  return reply;
}

}  // namespace kgen::testing
