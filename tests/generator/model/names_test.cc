// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kgen::generator::model {
namespace {

std::string Place(std::string_view definition) {
  const auto name = ParseDefinitionName(definition);
  return name ? name->group + "|" + name->version + "|" + name->name : "refused";
}

// Contract: generator NAM-12, NAM-13.
TEST(Names, DeriveGroupAndVersionFromThePackageOfADefinition) {
  EXPECT_EQ(Place("io.k8s.api.core.v1.PodSpec"), "|v1|PodSpec");
  EXPECT_EQ(Place("io.k8s.api.apps.v1beta2.Scale"), "apps|v1beta2|Scale");
  EXPECT_EQ(Place("io.k8s.api.rbac.v1.Role"), "rbac.authorization.k8s.io|v1|Role");
  EXPECT_EQ(Place("io.k8s.api.apiserverinternal.v1alpha1.StorageVersion"),
            "internal.apiserver.k8s.io|v1alpha1|StorageVersion");
  EXPECT_EQ(Place("io.k8s.api.flowcontrol.v1.FlowSchema"), "flowcontrol.apiserver.k8s.io|v1|FlowSchema");
  EXPECT_EQ(Place("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"), "meta.k8s.io|v1|ObjectMeta");
  EXPECT_EQ(Place("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"),
            "apiextensions.k8s.io|v1|JSONSchemaProps");
  EXPECT_EQ(Place("io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService"),
            "apiregistration.k8s.io|v1|APIService");
  EXPECT_EQ(Place("io.k8s.apimachinery.pkg.version.Info"), "version||Info");
  EXPECT_EQ(Place("com.example.shop.v1.Order"), "shop.example.com|v1|Order");
  EXPECT_EQ(Place("io.cert-manager.v1alpha2.Certificate"), "cert-manager.io|v1alpha2|Certificate");
}

// Contract: generator SEC-01.
TEST(Names, RefusesDefinitionNamesThatAreNotNames) {
  for (const char* bad : {"", "a.b.", "io.k8s.api.core.v1.Pod\"", "io.k8s.api.core.v1.Pod Spec", "../x",
                          "com.Example.v1.Kind", "a..v1.Kind"}) {
    EXPECT_EQ(Place(bad), "refused") << bad;
  }
}

// Contract: generator SEC-05.
TEST(Names, AcceptsWhatTheServerAccepts) {
  for (const char* label : {"pods", "phase0obj", "a", "a-b", "x9"}) EXPECT_TRUE(IsResourceName(label)) << label;
  for (const char* label : {"", "Pods", "-a", "a-", "9a", "a.b", "a_b", "a/b", "..", "a\n", "é"})
    EXPECT_FALSE(IsResourceName(label)) << label;
  EXPECT_TRUE(IsResourceName(std::string(63, 'a')));
  EXPECT_FALSE(IsResourceName(std::string(64, 'a')));
  for (const char* group : {"apps", "shop.example.com", "3scale.net", "a-b.c"}) EXPECT_TRUE(IsGroup(group)) << group;
  for (const char* group : {"", ".", "a.", ".a", "a..b", "A.b", "a/b", "a b", "-a.b", "x\\.y"})
    EXPECT_FALSE(IsGroup(group)) << group;
  EXPECT_FALSE(IsGroup(std::string(254, 'a')));
  for (const char* kind : {"Pod", "widget", "HTTPRoute", "Foo-Bar", "Phase0Obj"}) EXPECT_TRUE(IsKind(kind)) << kind;
  for (const char* kind : {"", "0Pod", "Pod_", "Pod ", "Pod-", "Pod;", "Pod\\u0022"})
    EXPECT_FALSE(IsKind(kind)) << kind;
  for (const char* version : {"v1", "v1-2-3", "preview"}) EXPECT_TRUE(IsVersion(version)) << version;
  for (const char* version : {"../../x", "V1", "1", "v1.", "v 1"}) EXPECT_FALSE(IsVersion(version)) << version;
}

// Contract: generator MV-04.
TEST(Names, OrdersVersionsByStabilityThenNumber) {
  const std::vector<std::string> wanted = {"v10",      "v9",      "v2",      "v1",       "v12beta1", "v11beta2",
                                           "v2beta10", "v2beta9", "v1beta1", "v3alpha1", "v1alpha2", "v1alpha1",
                                           "foo10",    "preview", "v01",     "v1-2-3",   "v2018x"};
  std::vector<std::string> versions = wanted;
  for (int round = 0; round < 20; ++round) {
    std::next_permutation(versions.begin(), versions.end());
    std::rotate(versions.begin(), versions.begin() + 5, versions.end());
    std::vector<std::string> sorted = versions;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return VersionBefore(a, b); });
    EXPECT_EQ(sorted, wanted);
  }
}

}  // namespace
}  // namespace kgen::generator::model
