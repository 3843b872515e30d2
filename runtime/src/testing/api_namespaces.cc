// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Namespaces: the initial objects of every cluster, the check that a namespace accepts new objects, and the deletion of
// a namespace with its contents, which the namespace controller does in a real cluster.
#include <algorithm>

#include "testing/api_server.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

bool IsTerminating(const StoredObject& object) { return TextAt(object.value, "status.phase") == "Terminating"; }

}  // namespace

bool IsNamespace(const ResourceInfo& info) { return info.group.empty() && info.plural == "namespaces"; }

bool IsImmortalNamespace(std::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public";
}

void CompleteNamespace(json& object) {
  json &labels = object["metadata"]["labels"], &spec = object["spec"];
  if (!labels.is_object()) labels = json::object();
  if (!spec.is_object()) spec = json::object();
  labels["kubernetes.io/metadata.name"] = object["metadata"]["name"];
  spec["finalizers"] = {"kubernetes"};
}

// Clients cannot watch or list from a version before these objects, as on a server that has run for a while.
void ApiServer::AddInitialObjects() {
  for (const char* name : {"kube-system", "kube-public", "kube-node-lease", "default"}) CreateNamespace(name);
  ApiCall call;
  call.resource = store_.Find("", "services");
  call.namespace_ = "default";
  (void)CreateObject(
      call,
      {{"apiVersion", "v1"},
       {"kind", "Service"},
       {"metadata", {{"name", "kubernetes"}, {"labels", {{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
       {"spec",
        {{"type", "ClusterIP"},
         {"clusterIP", "10.0.0.1"},
         {"clusterIPs", {"10.0.0.1"}},
         {"internalTrafficPolicy", "Cluster"},
         {"ipFamilies", {"IPv4"}},
         {"ipFamilyPolicy", "SingleStack"},
         {"ports", json::array({{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", 6443}}})},
         {"sessionAffinity", "None"}}},
       {"status", {{"loadBalancer", json::object()}}}},
      /*keep_status=*/true);
  store_.Compact();
  copy_ = store_.MakeCopy();
}

// Creates a namespace. Does nothing if the name is "" or the namespace exists.
void ApiServer::CreateNamespace(std::string_view name) {
  ApiCall call;
  call.admitted = true;
  call.resource = store_.Find("", "namespaces");
  if (name.empty() || store_.Get(*call.resource, "", name)) return;
  (void)CreateObject(call, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}},
                     /*keep_status=*/false);
}

// Checks that an object may be created in the call's namespace.
ApiResult<void> ApiServer::CheckNamespace(const ApiCall& call) const {
  if (call.namespace_.empty()) return {};
  const Resource& namespaces = *store_.resources().at({"", "namespaces"});
  const ObjectRef found = store_.Get(namespaces, "", call.namespace_);
  if (!found) return Refuse(NotFound(namespaces.info, call.namespace_));
  if (!IsTerminating(*found)) return {};
  ApiError error =
      Forbidden(call.resource->info, call.name,
                "unable to create new content in namespace " + call.namespace_ + " because it is being terminated");
  error.details["causes"] = json::array({{{"reason", "NamespaceTerminating"},
                                          {"message", "namespace " + call.namespace_ + " is being terminated"},
                                          {"field", "metadata.namespace"}}});
  return Refuse(std::move(error));
}

// Returns the namespace as the response shows it: terminating, even if it was empty and is already removed.
ObjectRef ApiServer::DeleteNamespace(Resource& namespaces, const ObjectRef& object) {
  ObjectRef marked = object;
  if (object->value.is_object() && FindPath(object->value, "metadata.deletionTimestamp") == nullptr) {
    json value = object->value;
    value["metadata"]["deletionTimestamp"] = Now();
    value["status"]["phase"] = "Terminating";
    marked = store_.Put(namespaces, std::move(value));
  }
  for (const auto& [key, resource] : store_.resources()) {
    if (!resource->info.namespaced) continue;
    ApiCall call;
    call.resource = resource.get();
    for (const ObjectRef& each : store_.List(*resource, object->name, store_.resource_version())) {
      (void)DeleteObject(call, each, json::object());
    }
  }
  if (!object->value.is_object()) return store_.Remove(namespaces, object);  // stored by Cluster::Corrupt()
  FinishNamespace(object->name);
  return marked;
}

// Removes a terminating namespace if it is empty and has no finalizers.
void ApiServer::FinishNamespace(std::string_view name) {
  if (name.empty()) return;
  Resource& namespaces = *store_.Find("", "namespaces");
  const ObjectRef found = store_.Get(namespaces, "", name);
  if (!found || FindPath(found->value, "metadata.deletionTimestamp") == nullptr || HasFinalizers(found->value)) return;
  const auto& resources = store_.resources();
  const bool empty = std::none_of(resources.begin(), resources.end(), [&](const auto& each) {
    const auto& objects = each.second->objects;
    const auto first = objects.lower_bound({std::string(name), ""});
    return first != objects.end() && first->first.first == name;
  });
  if (empty) store_.Remove(namespaces, found);
}

}  // namespace kgen::testing
