// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Content negotiation by the Accept header: whole objects or only their metadata, and the form of discovery documents.
#include <algorithm>

#include "net/trim.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

// Removes the part before the separator, and the separator, from `text`. Returns the part.
std::string_view Next(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return net::Trim(part);
}

struct Clause {
  std::string_view type{}, as{}, group{}, version{};
};

// Parses a header such as "application/json;as=Table;g=meta.k8s.io;v=v1, application/json". Keeps the order of the
// clauses and ignores weights.
std::vector<Clause> ParseAccept(std::string_view text) {
  std::vector<Clause> clauses;
  while (!text.empty()) {
    std::string_view part = Next(text, ',');
    Clause clause{.type = Next(part, ';')};
    while (!part.empty()) {
      std::string_view parameter = Next(part, ';');
      const std::string_view key = Next(parameter, '=');
      if (key == "as") clause.as = parameter;
      if (key == "g") clause.group = parameter;
      if (key == "v") clause.version = parameter;
    }
    if (!clause.type.empty()) clauses.push_back(clause);
  }
  return clauses;
}

bool IsJson(const Clause& clause) {
  return clause.type == "application/json" || clause.type == "application/*" || clause.type == "*/*";
}

// The type name in messages, such as "*core.ConfigMapList".
std::string GoType(const ApiCall& call, bool list) {
  const ResourceInfo& info = call.resource->info;
  if (call.resource->custom) return list ? "*unstructured.UnstructuredList" : "*unstructured.Unstructured";
  const std::string package = info.group.empty() ? "core" : info.group.substr(0, info.group.find('.'));
  return "*" + package + "." + (list ? info.list_kind : info.kind);
}

json MetadataOf(const json& object, const std::string& api_version) {
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", api_version},
          {"metadata", object.value("metadata", json::object())}};
}

}  // namespace

// Sets call.metadata_form and call.protobuf from the first clause that this server supports.
ApiResult<void> ApiServer::Negotiate(ApiCall& call) const {
  const std::vector<Clause> clauses = ParseAccept(call.accept);
  const bool is_list = call.verb == "list" || call.verb == "deletecollection";
  for (const Clause& clause : clauses) {
    const bool protobuf = clause.type == "application/vnd.kubernetes.protobuf" &&
                          (clause.as.starts_with("PartialObjectMetadata") || TableOf(call) != nullptr);
    if (!IsJson(clause) && !protobuf) continue;
    call.protobuf = protobuf;
    if (clause.as.empty()) return {};
    if (clause.group != "meta.k8s.io" || (clause.version != "v1" && clause.version != "v1beta1")) continue;
    const bool for_list = clause.as == "PartialObjectMetadataList";
    if (!for_list && clause.as != "PartialObjectMetadata") continue;
    if (for_list != is_list && call.verb != "watch") {
      return Refuse(NotAcceptable("you requested " + std::string(clause.as) + ", but the requested object is " +
                                  (is_list ? "a list (" : "not a list (") + GoType(call, is_list) + ")"));
    }
    call.metadata_form = "meta.k8s.io/" + std::string(clause.version);
    return {};
  }
  if (clauses.empty()) return {};
  return Refuse(NotAcceptable("only the following media types are accepted: application/json"));
}

bool ApiServer::WantsAggregatedDiscovery(const ApiCall& call) {
  for (const Clause& clause : ParseAccept(call.accept)) {
    if (!IsJson(clause)) continue;
    if (clause.as.empty()) return false;
    if (clause.as == "APIGroupDiscoveryList" && clause.group == "apidiscovery.k8s.io" && clause.version == "v2") {
      return true;
    }
  }
  return false;
}

// Returns an object in the requested form; `form` is "" for the whole object.
std::string ApiServer::Bytes(const ObjectRef& object, const Resource& resource, std::string_view version,
                             const std::string& form) {
  if (!object->value.is_object()) return object->bytes;
  json room;
  const auto value = InVersion(object->value, resource, version, room);
  if (!value) {  // the request waits, or its reply becomes this error
    if (run_ != nullptr && !run_->waits()) run_->failure = value.error();
    return "null";
  }
  if (!form.empty()) return MetadataOf(**value, form).dump();
  return *value == &object->value ? object->bytes : room.dump();
}

std::string ApiServer::Bytes(const ObjectRef& object, const ApiCall& call) {
  return Bytes(object, *call.resource, call.version, call.metadata_form);
}

}  // namespace kgen::testing
