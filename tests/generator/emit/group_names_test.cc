// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/spelling/group_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kgen::generator::emit {
namespace {

using ::testing::HasSubstr;

std::string Space(const std::string& group, const GroupNaming& naming = {}) {
  return NameGroup(group, naming).name_space;
}

// What is said of a run with these groups; each is first met in a file of its own.
std::string Said(const std::vector<std::string>& groups, const GroupNaming& naming = {}) {
  Diagnostics diagnostics;
  std::vector<GroupSource> sources;
  for (const std::string& group : groups) {
    sources.push_back({group, Origin{diagnostics.AddFile(group + ".yaml"), 3, 1, 0}});
  }
  (void)NameGroups(sources, naming, diagnostics);
  return diagnostics.Render();
}

// Contract: generator GRP-01, GRP-03.
TEST(NameGroup, TakesTheFirstLabel) {
  EXPECT_EQ(Space("shop.example.com"), "shop");
  EXPECT_EQ(Space("cert-manager.io"), "cert_manager");
  EXPECT_EQ(NameGroup("cert-manager.io", {}).accessor, "CertManager");
  EXPECT_EQ(Space(""), "core");
  EXPECT_EQ(Space("rbac.authorization.k8s.io"), "rbac");
}

// Contract: generator GRP-02.
TEST(NameGroup, TakesTwoLabelsWhereAGroupOfKubernetesOwnsTheFirst) {
  EXPECT_EQ(Space("core.strimzi.io"), "core_strimzi");
  EXPECT_EQ(Space("networking.internal.knative.dev"), "networking_internal");
  EXPECT_EQ(Space("networking.k8s.io"), "networking");
}

TEST(NameGroup, TakesAllLabelsOnRequest) {
  const GroupNaming full = {.full = true, .chosen = {}};
  EXPECT_EQ(Space("gateway.networking.x-k8s.io", full), "gateway_networking_x_k8s_io");
  EXPECT_EQ(NameGroup("shop.example.com", full).accessor, "ShopExampleCom");
  EXPECT_EQ(Space("apps", full), "apps");
  EXPECT_EQ(Space("", full), "core");
}

TEST(NameGroup, IsWhatTheUserChose) {
  const GroupNaming naming = {.full = true, .chosen = {{"gateway.envoyproxy.io", "envoy_gateway"}}};
  EXPECT_EQ(NameGroup("gateway.envoyproxy.io", naming), (GroupName{"envoy_gateway", "EnvoyGateway"}));
}

// Contract: generator GRP-02, ERR-11.
TEST(NameGroups, ReportAllClashesAndALineThatResolvesThem) {
  EXPECT_EQ(
      Said({"gateway.networking.k8s.io", "shop.example.com", "gateway.networking.x-k8s.io", "apps.a.com",
            "gateway.envoyproxy.io", "apps.a.org", "apps"}),
      "kgen: error: \"apps.a.com\" at apps.a.com.yaml:3:1 and \"apps.a.org\" at apps.a.org.yaml:3:1 share the C++ name "
      "apps_a; \"gateway.envoyproxy.io\" at gateway.envoyproxy.io.yaml:3:1 and \"gateway.networking.k8s.io\" at "
      "gateway.networking.k8s.io.yaml:3:1 and \"gateway.networking.x-k8s.io\" at "
      "gateway.networking.x-k8s.io.yaml:3:1 share the C++ name gateway [group-names]\n"
      "    hint: choose names, in kgen_add_api: GROUP_NAMES apps.a.com=apps_a_com apps.a.org=apps_a_org "
      "gateway.envoyproxy.io=gateway_envoyproxy gateway.networking.k8s.io=gateway_networking_k8s "
      "gateway.networking.x-k8s.io=gateway_networking_x_k8s (for kgen generate, --group-names before each pair), "
      "or use whole names: GROUP_NAMES full\n");
}

TEST(NameGroups, TakeTheLineThatTheyPropose) {
  const std::vector<std::string> groups = {"gateway.networking.k8s.io", "gateway.networking.x-k8s.io",
                                           "gateway.envoyproxy.io"};
  EXPECT_EQ(Said(groups, {.full = false,
                          .chosen = {{"gateway.envoyproxy.io", "gateway_envoyproxy"},
                                     {"gateway.networking.k8s.io", "gateway_networking_k8s"},
                                     {"gateway.networking.x-k8s.io", "gateway_networking_x_k8s"}}}),
            "");
  EXPECT_EQ(Said(groups, {.full = true, .chosen = {}}), "");
}

// Contract: generator GRP-04.
TEST(NameGroups, NeverGiveTwoGroupsOneNamespace) {
  const GroupNaming full = {.full = true, .chosen = {}};
  EXPECT_THAT(Said({"a-b.c", "a.b-c", "x.y"}, full), HasSubstr("GROUP_NAMES a-b.c=a_b_c_2 a.b-c=a_b_c_3 ("));
}

TEST(NameGroups, ReportGroupsThatShareAnAccessorOnly) {
  EXPECT_THAT(Said({"a-1.example.com", "a1.example.com"}),
              HasSubstr("\"a-1.example.com\" at a-1.example.com.yaml:3:1 and \"a1.example.com\" at"));
}

TEST(NameGroups, ReportAChosenNameThatIsTaken) {
  EXPECT_THAT(Said({"apps", "batch"}, {.full = false, .chosen = {{"apps", "batch"}}}),
              HasSubstr("share the C++ name batch"));
}

// Contract: generator ERR-10.
TEST(NameGroups, ReportANameForAGroupThatIsNotThere) {
  const std::string said = Said({"shop.example.com"}, {.full = false, .chosen = {{"shop.exampel.com", "store"}}});
  EXPECT_THAT(said, HasSubstr("the input has no group \"shop.exampel.com\", which is to be called store"));
  EXPECT_THAT(said, HasSubstr("did you mean \"shop.example.com\"?"));
}

}  // namespace
}  // namespace kgen::generator::emit
