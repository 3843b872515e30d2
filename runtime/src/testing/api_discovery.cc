// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a client asks before it knows anything: which groups, versions and resources there are. In the old form of one
// document per version, which every client understands; the aggregated form is not offered.
#include <algorithm>
#include <set>

#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

constexpr std::string_view kOpenApi = "/openapi/v3";

std::string Joined(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

Reply Document(const json& document) { return JsonReply(200, document.dump()); }

Reply Text(std::string text) {
  Reply reply;
  reply.headers = {{"content-type", "text/plain; charset=utf-8"}};
  reply.body = std::move(text);
  return reply;
}

json Verbs(bool whole_resource) {
  if (!whole_resource) return {"get", "patch", "update"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

json Group(const std::string& name, const std::set<std::string>& versions) {
  json list = json::array();
  for (const std::string& version : versions)
    list.push_back({{"groupVersion", Joined(name, version)}, {"version", version}});
  return {{"name", name}, {"versions", list}, {"preferredVersion", list.back()}};
}

}  // namespace

std::optional<Reply> ApiServer::Discover(const ApiCall& call) const {
  std::map<std::string, std::set<std::string>> groups;
  for (const auto& [key, resource] : store_.resources()) {
    groups[key.first].insert(resource->versions.begin(), resource->versions.end());
  }
  std::string_view path = call.path;
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/readyz" || path == "/livez" || path == "/healthz") return Text("ok");
  if (path == "/version") {
    return Document({{"major", "1"}, {"minor", "36"}, {"gitVersion", "v1.36.1+kgen"}, {"platform", "memory"}});
  }
  if (path == "/api") {
    return Document({{"kind", "APIVersions"}, {"versions", {"v1"}}, {"serverAddressByClientCIDRs", json::array()}});
  }
  if (path == "/apis") {
    json list = json::array();
    for (const auto& [name, versions] : groups) {
      if (!name.empty()) list.push_back(Group(name, versions));
    }
    return Document({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(list)}});
  }
  if (path == kOpenApi) {
    json paths = json::object();
    for (const auto& [name, versions] : groups) {
      for (const std::string& version : versions) {
        const std::string part = (name.empty() ? "api/" : "apis/") + Joined(name, version);
        paths[part]["serverRelativeURL"] = std::string(kOpenApi) + "/" + part;
      }
    }
    return Document({{"paths", std::move(paths)}});
  }
  const bool open_api = path.starts_with(kOpenApi);
  if (open_api) path.remove_prefix(kOpenApi.size());
  for (const auto& [name, versions] : groups) {
    if (!name.empty() && path == "/apis/" + name) return Document(Group(name, versions));
    for (const std::string& version : versions) {
      if (path != (name.empty() ? "/api/" : "/apis/") + Joined(name, version)) continue;
      return Document(open_api ? OpenApi(name, version) : ResourceList(name, version));
    }
  }
  return std::nullopt;
}

json ApiServer::ResourceList(std::string_view group, std::string_view version) const {
  json list = json::array();
  for (const auto& [key, resource] : store_.resources()) {
    const auto& versions = resource->versions;
    if (key.first != group || std::find(versions.begin(), versions.end(), version) == versions.end()) continue;
    const ResourceInfo& info = resource->info;
    const json whole = {
        {"name", info.plural}, {"singularName", info.singular}, {"namespaced", info.namespaced}, {"kind", info.kind}};
    list.push_back(whole);
    list.back()["verbs"] = Verbs(true);
    if (!info.short_names.empty()) list.back()["shortNames"] = info.short_names;
    if (info.has_status) {
      list.push_back(whole);
      list.back()["name"] = info.plural + "/status";
      list.back()["verbs"] = Verbs(false);
    }
    if (resource->scales.contains(std::string(version))) {
      list.push_back({{"name", info.plural + "/scale"},
                      {"singularName", ""},
                      {"namespaced", info.namespaced},
                      {"kind", "Scale"},
                      {"group", "autoscaling"},
                      {"version", "v1"},
                      {"verbs", Verbs(false)}});
    }
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", Joined(group, version)},
          {"resources", std::move(list)}};
}

// The least of a document from which a client sees that the server itself checks fields, so that it need not.
json ApiServer::OpenApi(std::string_view group, std::string_view version) const {
  json paths = json::object();
  for (const auto& [key, resource] : store_.resources()) {
    const auto& versions = resource->versions;
    if (key.first != group || std::find(versions.begin(), versions.end(), version) == versions.end()) continue;
    const ResourceInfo& info = resource->info;
    const std::string path = (group.empty() ? "/api/" : "/apis/") + Joined(group, version) +
                             (info.namespaced ? "/namespaces/{namespace}/" : "/") + info.plural + "/{name}";
    json& patch = paths[path]["patch"];
    patch["x-kubernetes-action"] = "patch";
    patch["x-kubernetes-group-version-kind"] = {{"group", group}, {"version", version}, {"kind", info.kind}};
    for (const char* name : {"dryRun", "fieldManager", "fieldValidation", "force"}) {
      patch["parameters"].push_back({{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}});
    }
    patch["responses"]["200"]["description"] = "OK";
  }
  return {{"openapi", "3.0.0"}, {"info", {{"title", "kgen"}, {"version", "v1.36.1"}}}, {"paths", std::move(paths)}};
}

}  // namespace kgen::testing
