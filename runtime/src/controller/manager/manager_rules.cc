// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The permissions that a manager and its controllers need: ManagerState::Rules().
#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "controller/caches/kind_cache.h"
#include "controller/manager/manager_state.h"
#include "core/memory/mutex.h"
#include "kgen/cache/informer_options.h"
#include "kgen/controller/access_rules.h"
#include "kgen/core/type_table.h"

namespace kgen::controller {
namespace {

AccessRule RuleFor(const KindInfo& kind, const std::string& subresource, const std::string& in_namespace,
                   std::vector<std::string> verbs) {
  return {.namespace_ = in_namespace,
          .group = std::string(kind.group),
          .resource = std::string(kind.resource) + subresource,
          .verbs = std::move(verbs)};
}

}  // namespace

// The namespaces whose objects of the kind are cached; "" is all of them, or those that may be.
std::vector<std::string> ManagerState::NamespacesOf(const KindInfo& kind) const {
  if (kind.scope == Scope::kCluster) return {""};
  const std::vector<InformerScope>* scopes = OwnScopes(kind, options_.caches);
  if (scopes == nullptr && MayChange(options_.caches)) return {""};
  if (scopes == nullptr) scopes = &options_.caches.scopes;
  std::vector<std::string> namespaces;
  for (const InformerScope& scope : *scopes) namespaces.push_back(scope.namespace_);
  if (namespaces.empty() || std::ranges::find(namespaces, "") != namespaces.end()) return {""};
  return namespaces;
}

std::vector<AccessRule> ManagerState::RulesOf(const std::vector<ControllerRunner::Watch>& watches) const {
  using Role = detail::WatchSpec::Role;
  const bool owns = std::ranges::any_of(watches, [](const auto& watch) { return watch.spec.role == Role::kOwns; });
  std::vector<AccessRule> rules;
  for (const ControllerRunner::Watch& watch : watches) {
    const KindInfo& kind = *watch.spec.kind;
    for (const std::string& in_namespace : NamespacesOf(kind)) {
      rules.push_back(RuleFor(kind, "", in_namespace, {"get", "list", "watch"}));
      if (&watch != &watches.front()) continue;  // the first one has the kind of the controller
      if (owns) rules.push_back(RuleFor(kind, "/finalizers", in_namespace, {"update"}));
      rules.push_back({in_namespace, "events.k8s.io", "events", "", {"create", "patch"}});
    }
  }
  return rules;
}

void ManagerState::AddRule(AccessRule rule) {
  const MutexLock lock(mutex_);
  rules_.push_back(std::move(rule));
}

std::vector<AccessRule> ManagerState::Rules() const {
  std::vector<AccessRule> rules;
  {
    const MutexLock lock(mutex_);
    rules = rules_;
  }
  if (!options_.caches.namespaces_by_label.empty()) rules.push_back({"", "", "namespaces", "", {"list", "watch"}});
  if (elector_) {
    const std::string lease = elector_->lease();
    const std::size_t slash = lease.find('/');
    const std::string in_namespace = lease.substr(0, slash);
    // A rule with a name cannot allow to create the object.
    rules.push_back({in_namespace, "coordination.k8s.io", "leases", "", {"create"}});
    rules.push_back({in_namespace, "coordination.k8s.io", "leases", lease.substr(slash + 1), {"get", "update"}});
    if (options_.leader_election.coordinated) {
      rules.push_back({in_namespace, "coordination.k8s.io", "leasecandidates", "", {"create", "get", "update"}});
    }
  }
  AddShardRules(rules);
  if (keeper_) {
    for (AccessRule& rule : keeper_->Rules()) rules.push_back(std::move(rule));
  }
  if (options_.endpoint.authorize) {
    rules.push_back({"", "authentication.k8s.io", "tokenreviews", "", {"create"}});
    rules.push_back({"", "authorization.k8s.io", "subjectaccessreviews", "", {"create"}});
  }
  return rules;
}

}  // namespace kgen::controller
