// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// AccessRule: a permission of a program, as a rule of a Role. Manager::Rules() returns the ones that the declarations
// of controllers imply, and RolesAsYaml() writes them as manifests:
//
//   std::cout << kgen::RolesAsYaml("shop-operator", manager.Rules());
//
// A manager cannot see what a reconcile function writes. Markers `+kgen:rbac` above that function say it, and
// `kgen-crd --rbac` writes the roles of markers (docs/cpp-first.md).
#ifndef KGEN_CONTROLLER_ACCESS_RULES_H_
#define KGEN_CONTROLLER_ACCESS_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace kgen {

// A value. Thread safety: as a standard container.
struct AccessRule {
  std::string namespace_{};  // "": in every namespace, and of cluster-scoped resources
  std::string group{};       // "" is the core group
  std::string resource{};    // "pods", "orders/status"
  std::string name{};        // of the only object; "": all of them
  std::vector<std::string> verbs{};

  friend bool operator==(const AccessRule&, const AccessRule&) = default;
};

// Returns a ClusterRole with the rules of every namespace, and a Role in each namespace that a rule names, as documents
// of one YAML stream; "" if there are no rules. All have the name `name`. Rules come in an order that does not depend
// on the order of `rules`, equal ones once, and resources of a group with equal verbs share a rule. Any thread; never
// blocks.
[[nodiscard]] std::string RolesAsYaml(std::string_view name, const std::vector<AccessRule>& rules);

}  // namespace kgen

#endif  // KGEN_CONTROLLER_ACCESS_RULES_H_
