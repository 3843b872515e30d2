// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The permissions that a manager derives from declarations, and their roles as YAML.
#include "kgen/controller/access_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <ostream>
#include <string>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/controller/manager.h"

namespace kgen {

void PrintTo(const AccessRule& rule, std::ostream* os) {
  *os << rule.namespace_ << "|" << rule.group << "|" << rule.resource << "|" << rule.name;
  for (const std::string& verb : rule.verbs) *os << "|" << verb;
}

namespace {

using k8s::apps::v1::Deployment;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::Node;
using k8s::core::v1::Secret;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const std::vector<std::string> kRead = {"get", "list", "watch"};
const std::vector<std::string> kEvents = {"create", "patch"};

// Nothing listens at this address.
Connection Nowhere() { return Must(Connection::Open(rest::Config{.host = "https://127.0.0.1:1"})); }
Result<void> Nothing(Request& /*request*/) { return {}; }

TEST(AccessRulesTest, AControllerReadsWhatItDeclares) {
  const Manager manager = Must(Manager::New(Nowhere()));
  EXPECT_THAT(manager.Rules(), IsEmpty());
  Must(manager.Control<Deployment>("deployments")
           .Owns<ConfigMap>()
           .Watches<Node>([](const Node& /*node*/, Requests& /*requests*/) {})
           .Reconcile(Nothing));
  EXPECT_THAT(manager.Rules(), UnorderedElementsAre(AccessRule{"", "apps", "deployments", "", kRead},
                                                    AccessRule{"", "apps", "deployments/finalizers", "", {"update"}},
                                                    AccessRule{"", "events.k8s.io", "events", "", kEvents},
                                                    AccessRule{"", "", "configmaps", "", kRead},
                                                    AccessRule{"", "", "nodes", "", kRead}));
}

TEST(AccessRulesTest, RulesNameTheNamespacesOfTheCaches) {
  const Manager manager = Must(Manager::New(
      Nowhere(), {.caches = {.scopes = {{.namespace_ = "shop"}, {.namespace_ = "billing"}},
                             .scopes_of = {{&Secret::kTable, {{.namespace_ = "vault"}}},
                                           {&ConfigMap::kTable, {{.namespace_ = "shop"}, {.label_selector = "a"}}}}}}));
  Must(manager.Control<Deployment>("deployments")
           .Watches<Secret>([](const Secret& /*secret*/, Requests& /*requests*/) {})
           .Watches<ConfigMap>([](const ConfigMap& /*map*/, Requests& /*requests*/) {})
           .Watches<Node>([](const Node& /*node*/, Requests& /*requests*/) {})
           .Reconcile(Nothing));
  EXPECT_THAT(manager.Rules(), UnorderedElementsAre(AccessRule{"shop", "apps", "deployments", "", kRead},
                                                    AccessRule{"shop", "events.k8s.io", "events", "", kEvents},
                                                    AccessRule{"billing", "apps", "deployments", "", kRead},
                                                    AccessRule{"billing", "events.k8s.io", "events", "", kEvents},
                                                    AccessRule{"vault", "", "secrets", "", kRead},
                                                    AccessRule{"", "", "configmaps", "", kRead},
                                                    AccessRule{"", "", "nodes", "", kRead}));
}

TEST(AccessRulesTest, ElectionAndReviewsNeedRulesOfTheirOwn) {
  const Manager manager = Must(Manager::New(Nowhere(), {.leader_election = {.name = "shop", .namespace_ = "system"},
                                                        .endpoint = {.address = "", .authorize = Nowhere()}}));
  EXPECT_THAT(manager.Rules(),
              UnorderedElementsAre(AccessRule{"system", "coordination.k8s.io", "leases", "", {"create"}},
                                   AccessRule{"system", "coordination.k8s.io", "leases", "shop", {"get", "update"}},
                                   AccessRule{"", "authentication.k8s.io", "tokenreviews", "", {"create"}},
                                   AccessRule{"", "authorization.k8s.io", "subjectaccessreviews", "", {"create"}}));
}

TEST(AccessRulesTest, AControllerThatWasRefusedAddsNothing) {
  const Manager manager = Must(Manager::New(Nowhere()));
  EXPECT_FALSE(manager.Control<Node>("nodes").MaxConcurrentReconciles(0).Reconcile(Nothing));
  EXPECT_THAT(manager.Rules(), IsEmpty());
}

TEST(AccessRulesTest, RolesJoinWhatBelongsTogether) {
  EXPECT_EQ(RolesAsYaml("shop", {}), "");
  const std::string expected = R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "shop"
rules:
- apiGroups:
  - ""
  resources:
  - "configmaps"
  - "pods"
  verbs:
  - "get"
  - "list"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: "shop"
  namespace: "system"
rules:
- apiGroups:
  - "coordination.k8s.io"
  resources:
  - "leases"
  resourceNames:
  - "shop"
  verbs:
  - "get"
)";
  EXPECT_EQ(RolesAsYaml("shop", {{"system", "coordination.k8s.io", "leases", "shop", {"get"}},
                                 {"", "", "pods", "", {"list"}},
                                 {"", "", "configmaps", "", {"get", "list"}},
                                 {"", "", "pods", "", {"get", "list"}}}),
            expected);
}

}  // namespace
}  // namespace kgen
