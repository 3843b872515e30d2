// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/rbac.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/generator/crd/headers.h"

namespace kgen::generator::crd {
namespace {

// The roles of these markers, or the errors.
std::string Roles(const std::vector<std::string>& lines) {
  Headers headers;
  headers.Crd({}, lines);
  return headers.Said().empty() ? MakeRoles(headers.description().rules, "shop") : headers.Said();
}

std::string Role(const std::string& metadata, const std::string& rules, const std::string& kind = "ClusterRole") {
  return "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata:\n  name: " + metadata + "\nrules:\n" +
         rules;
}

TEST(Roles, HaveTheRulesOfTheMarkers) {
  EXPECT_EQ(
      Roles({"+kgen:rbac:groups=core,resources=pods,verbs=get;list", "+kubebuilder:rbac:urls=/metrics,verbs=get"}),
      Role("shop",
           "- nonResourceURLs:\n  - /metrics\n  verbs:\n  - get\n"
           "- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - get\n  - list\n"));
}

// A Role in one namespace that became a ClusterRole would be a right over all of them.
TEST(Roles, StayInTheirNamespace) {
  EXPECT_EQ(Roles({"+kgen:rbac:groups=\"\",resources=secrets,verbs=get,namespace=vault",
                   "+kgen:rbac:groups=apps,resources=deployments,verbs=get",
                   "+kgen:rbac:groups=\"\",resources=configmaps,verbs=get,namespace=attic"}),
            Role("shop", "- apiGroups:\n  - apps\n  resources:\n  - deployments\n  verbs:\n  - get\n") + "---\n" +
                Role("shop\n  namespace: attic",
                     "- apiGroups:\n  - \"\"\n  resources:\n  - configmaps\n  verbs:\n  - get\n", "Role") +
                "---\n" +
                Role("shop\n  namespace: vault",
                     "- apiGroups:\n  - \"\"\n  resources:\n  - secrets\n  verbs:\n  - get\n", "Role"));
  const std::string alone = Roles({"+kgen:rbac:groups=\"\",resources=secrets,verbs=get,namespace=vault"});
  EXPECT_EQ(alone.find("ClusterRole"), std::string::npos) << alone;
}

TEST(Roles, HaveTheNamesOfTheirMarkers) {
  const std::string yaml = Roles({"+kgen:rbac:groups=\"\",resources=secrets,verbs=get,namespace=vault,roleName=reader",
                                  "+kgen:rbac:groups=apps,resources=deployments,verbs=get,roleName=deployer"});
  EXPECT_TRUE(Has(yaml, "kind: ClusterRole\nmetadata:\n  name: deployer\n"));
  EXPECT_TRUE(Has(yaml, "kind: Role\nmetadata:\n  name: reader\n  namespace: vault\n"));
  EXPECT_EQ(yaml.find("name: shop"), std::string::npos);
}

TEST(Roles, MergeRulesThatDifferInOnePart) {
  EXPECT_EQ(Roles({"+kgen:rbac:groups=apps,resources=deployments,verbs=get;list",
                   "+kgen:rbac:groups=apps,resources=deployments;daemonsets,verbs=watch",
                   "+kgen:rbac:groups=apps,resources=daemonsets,verbs=list;get"}),
            Role("shop",
                 "- apiGroups:\n  - apps\n  resources:\n  - daemonsets\n  - deployments\n"
                 "  verbs:\n  - get\n  - list\n  - watch\n"))
      << "verbs, then resources";
  EXPECT_EQ(
      Roles({"+kgen:rbac:groups=a.io,resources=things,verbs=get", "+kgen:rbac:groups=b.io,resources=things,verbs=get",
             "+kgen:rbac:urls=/a,verbs=get", "+kgen:rbac:urls=/b,verbs=get"}),
      Role("shop",
           "- nonResourceURLs:\n  - /a\n  - /b\n  verbs:\n  - get\n"
           "- apiGroups:\n  - a.io\n  - b.io\n  resources:\n  - things\n  verbs:\n  - get\n"))
      << "groups, and URLs";
}

TEST(Roles, DoNotMergeWhatIsAboutNamedObjectsWithTheRest) {
  const std::string yaml = Roles({"+kgen:rbac:groups=\"\",resources=secrets,resourceNames=one,verbs=get",
                                  "+kgen:rbac:groups=\"\",resources=configmaps,verbs=get",
                                  "+kgen:rbac:groups=\"\",resources=secrets,resourceNames=two,verbs=delete"});
  EXPECT_TRUE(Has(yaml,
                  "  resourceNames:\n  - one\n  resources:\n  - secrets\n  verbs:\n  - get\n"
                  "- apiGroups:\n  - \"\"\n  resourceNames:\n  - two\n  resources:\n  - secrets\n"
                  "  verbs:\n  - delete\n"));
}

TEST(Roles, SayAllVerbsWithAnAsteriskAlone) {
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=apps,resources=deployments,verbs=get;*"}), "  verbs:\n  - '*'\n"));
}

// These are spellings of real projects.
TEST(Roles, TakeTheSpellingsOfKubebuilder) {
  EXPECT_TRUE(Has(Roles({"+kubebuilder:rbac:groups=\"\",resources=events,verbs=create;patch;"}),
                  "- apiGroups:\n  - \"\"\n  resources:\n  - events\n  verbs:\n  - create\n  - patch\n"));
  EXPECT_TRUE(Has(Roles({"+kubebuilder:rbac:groups=\"\";\"apps\",resources={pods,\"nodes\"},verbs=get"}),
                  "- apiGroups:\n  - \"\"\n  - apps\n  resources:\n  - nodes\n  - pods\n"));
}

// The markers of a larger program: two markers of one resource, wildcards, named objects, and groups with and without
// quotes. controller-gen 0.21.0 makes the same 13 rules of them.
TEST(Roles, OfALargerProgramAreThoseOfControllerGen) {
  const std::string yaml = Roles({
      "+kubebuilder:rbac:groups=\"\",resources=events,verbs=create;patch;",
      "+kubebuilder:rbac:groups=\"\",resources=pods,verbs=get;list;watch",
      "+kubebuilder:rbac:groups=core,resources=pods,verbs=delete",
      "+kubebuilder:rbac:groups=\"\",resources=nodes;namespaces,verbs=get;list;watch",
      "+kubebuilder:rbac:groups=\"\",resources=limitranges,verbs=watch;get;list",
      "+kubebuilder:rbac:groups=shop.io,resources=orders,verbs=get;list;watch;create;update;patch;delete",
      "+kubebuilder:rbac:groups=shop.io,resources=orders/status;baskets/status,verbs=get;update;patch",
      "+kubebuilder:rbac:groups=shop.io,resources=baskets,verbs=get;list;watch",
      "+kubebuilder:rbac:groups=shop.io,resources=baskets,verbs=create;update;patch;delete",
      "+kubebuilder:rbac:groups=shop.io,resources=orders/finalizers,verbs=update",
      "+kubebuilder:rbac:groups=\"apps\",resources=deployments,verbs=get;list;watch",
      "+kubebuilder:rbac:groups=\"apps\",resources=statefulsets,verbs=get;list;watch",
      "+kubebuilder:rbac:groups=stock.io;mail.io,resources=*,verbs=get;list;watch",
      "+kubebuilder:rbac:groups=mail.io,resources=*,verbs=delete",
      "+kubebuilder:rbac:groups=stock.io,resources=shelves,verbs=get",
      "+kubebuilder:rbac:groups=\"crd.io\",resources=definitions,resourceNames=orders,verbs=get",
      "+kubebuilder:rbac:groups=\"crd.io\",resources=definitions,verbs=get,resourceNames=baskets;orders",
      "+kubebuilder:rbac:groups=\"crd.io\",resources=definitions,verbs=list;watch",
  });
  std::size_t rules = 0;
  for (std::size_t at = yaml.find("\n- "); at != std::string::npos; at = yaml.find("\n- ", at + 1)) ++rules;
  EXPECT_EQ(rules, 13u) << yaml;
  for (const char* rule : {
           "- apiGroups:\n  - \"\"\n  resources:\n  - limitranges\n  - namespaces\n  - nodes\n"
           "  verbs:\n  - get\n  - list\n  - watch\n",
           "- apiGroups:\n  - \"\"\n  resources:\n  - pods\n  verbs:\n  - delete\n  - get\n  - list\n  - watch\n",
           "- apiGroups:\n  - mail.io\n  resources:\n  - '*'\n  verbs:\n  - delete\n",
           "- apiGroups:\n  - mail.io\n  - stock.io\n  resources:\n  - '*'\n  verbs:\n  - get\n  - list\n  - watch\n",
           "- apiGroups:\n  - shop.io\n  resources:\n  - baskets/status\n  - orders/status\n"
           "  verbs:\n  - get\n  - patch\n  - update\n",
       })
    EXPECT_TRUE(Has(yaml, rule));
}

TEST(Roles, AreRefusedIfAServerWouldRefuseThem) {
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=apps,verbs=get"}), "it names neither resources nor urls"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:resources=pods,verbs=get"}), "it names no API group"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=a,resources=pods,urls=/a,verbs=get"}), "resources or urls, not both"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:urls=/a,verbs=get,namespace=x"}), "urls are not in a namespace"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=a,resources=pods,verbs=get,namespace=\"\""}), "\"\" is no namespace"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=a,resources=pods,verbs=get,namespace=-a"}), "\"-a\" is no namespace"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=a,resources=pods,verbs=get,namespace=9a"}), "namespace: 9a"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=a,resources=pods,verbs=get,roleName=\"\""}), "roleName is empty"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=a,resources=pods,verbs=\"get;list\""}), "write several as in verbs=get"));
  EXPECT_TRUE(Has(Roles({"+kgen:rbac:groups=a,resources=\"\",verbs=get"}), "one of the resources is empty"));
}

TEST(Roles, MayBeMarkedOnMembersEnumsAndElsewhere) {
  Headers headers;
  headers.description().elsewhere = {{"+kgen:rbac:groups=a.io,resources=as,verbs=get", {}}};
  headers.description().namespaces["acme"] = {
      .comment = {.text = {}, .markers = {{"+kgen:rbac:groups=b.io,resources=bs,verbs=get", {}}}}};
  headers.Crd({headers.Of("item", {.kind = TypeKind::kString}, {"+kgen:rbac:groups=c.io,resources=cs,verbs=get"})});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_EQ(headers.description().rules.size(), 3u);
}

}  // namespace
}  // namespace kgen::generator::crd
