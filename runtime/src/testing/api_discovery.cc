// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Discovery of groups, versions and resources: one document for each version or, for clients that request it, one
// aggregated document.
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

json VerbsOf(const ResourceInfo& info) {
  if (IsNamespace(info)) return {"create", "delete", "get", "list", "patch", "update", "watch"};
  return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
}

json VerbsOfSubresource() { return {"get", "patch", "update"}; }

bool Serves(const Resource& resource, std::string_view version) {
  return std::find(resource.versions.begin(), resource.versions.end(), version) != resource.versions.end();
}

json Kind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

// This server has no Git commit and no Go toolchain, but clients expect strings in these members.
json Version() {
  return {{"major", "1"},
          {"minor", "36"},
          {"emulationMajor", "1"},
          {"emulationMinor", "36"},
          {"minCompatibilityMajor", "1"},
          {"minCompatibilityMinor", "35"},
          {"gitVersion", "v1.36.1+kgen"},
          {"gitCommit", "none"},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"},
          {"compiler", "c++"},
          {"platform", "linux/amd64"}};
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
  if (path == "/version") return Document(Version());
  if ((path == "/api" || path == "/apis") && WantsAggregatedDiscovery(call)) {
    json items = json::array();
    for (const auto& [name, versions] : groups) {
      if (name.empty() == (path == "/api")) items.push_back(AggregatedGroup(name, versions));
    }
    Reply reply = Document({{"kind", "APIGroupDiscoveryList"},
                            {"apiVersion", "apidiscovery.k8s.io/v2"},
                            {"metadata", json::object()},
                            {"items", std::move(items)}});
    reply.headers = {{"content-type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}};
    return reply;
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
    if (key.first != group || !Serves(*resource, version)) continue;
    const ResourceInfo& info = resource->info;
    const json whole = {
        {"name", info.plural}, {"singularName", info.singular}, {"namespaced", info.namespaced}, {"kind", info.kind}};
    list.push_back(whole);
    list.back()["verbs"] = VerbsOf(info);
    if (!info.short_names.empty()) list.back()["shortNames"] = info.short_names;
    if (!info.categories.empty()) list.back()["categories"] = info.categories;
    if (info.has_status) {
      list.push_back(whole);
      list.back()["name"] = info.plural + "/status";
      list.back()["verbs"] = VerbsOfSubresource();
    }
    for (const auto& [name, subresource] : resource->subresources) {
      json entry = Kind(subresource.group, subresource.version, subresource.kind);
      if (subresource.group == group) {  // do not repeat what the resource already says
        entry.erase("group");
        entry.erase("version");
      }
      entry.update({{"name", info.plural + "/" + name},
                    {"singularName", ""},
                    {"namespaced", info.namespaced},
                    {"verbs", subresource.verbs}});
      list.push_back(std::move(entry));
    }
    if (resource->scales.contains(std::string(version))) {
      list.push_back({{"name", info.plural + "/scale"},
                      {"singularName", ""},
                      {"namespaced", info.namespaced},
                      {"kind", "Scale"},
                      {"group", "autoscaling"},
                      {"version", "v1"},
                      {"verbs", VerbsOfSubresource()}});
    }
  }
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", Joined(group, version)},
          {"resources", std::move(list)}};
}

// Lists the preferred version first.
json ApiServer::AggregatedGroup(const std::string& group, const std::set<std::string>& versions) const {
  json list = json::array();
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    json resources = json::array();
    for (const auto& [key, resource] : store_.resources()) {
      if (key.first != group || !Serves(*resource, *version)) continue;
      const ResourceInfo& info = resource->info;
      json entry = {{"resource", info.plural},
                    {"responseKind", Kind(group, *version, info.kind)},
                    {"scope", info.namespaced ? "Namespaced" : "Cluster"},
                    {"singularResource", info.singular},
                    {"verbs", VerbsOf(info)}};
      if (!info.short_names.empty()) entry["shortNames"] = info.short_names;
      if (!info.categories.empty()) entry["categories"] = info.categories;
      for (const auto& [name, subresource] : resource->subresources) {
        entry["subresources"].push_back(
            {{"subresource", name},
             {"responseKind", Kind(subresource.group, subresource.version, subresource.kind)},
             {"verbs", subresource.verbs}});
      }
      if (resource->scales.contains(*version)) {
        entry["subresources"].push_back({{"subresource", "scale"},
                                         {"responseKind", Kind("autoscaling", "v1", "Scale")},
                                         {"verbs", VerbsOfSubresource()}});
      }
      if (info.has_status) {
        entry["subresources"].push_back({{"subresource", "status"},
                                         {"responseKind", Kind(group, *version, info.kind)},
                                         {"verbs", VerbsOfSubresource()}});
      }
      resources.push_back(std::move(entry));
    }
    list.push_back({{"version", *version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  json metadata = json::object();
  if (!group.empty()) metadata["name"] = group;
  return {{"metadata", std::move(metadata)}, {"versions", std::move(list)}};
}

// The smallest document that tells a client that the server validates fields, so that the client need not.
json ApiServer::OpenApi(std::string_view group, std::string_view version) const {
  json paths = json::object();
  for (const auto& [key, resource] : store_.resources()) {
    if (key.first != group || !Serves(*resource, version)) continue;
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
