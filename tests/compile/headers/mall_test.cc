// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// APIs that are written in C++, as a program uses them: several versions, and types of other APIs.
#include <base/clientset.h>
#include <delivery/delivery/v1/types.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <kgen/client/crd.h>
#include <kgen/codec/decode.h>
#include <kgen/codec/encode.h>
#include <kgen/testing/cluster.h>
#include <mall/clientset.h>
#include <mall/mall/v1/types.h>
#include <mall/mall/v2/types.h>

#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

namespace {

using base::parts::v1::Grade;
using kgen::testing::Cluster;
using mall::mall::v2::Stand;
using mall::mall::v2::StandSpec;
using ::testing::HasSubstr;

static_assert(std::is_standard_layout_v<StandSpec>);
static_assert(std::is_aggregate_v<StandSpec>);

constexpr const char* kSpec =
    R"({"owner":"ada","team":"north","kind":"Butcher","closed":"Sunday","size":{"width":3,"grade":"Fine"},)"
    R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}},"later":[1]})";

StandSpec Decode(const std::string& json) { return kgen::Must(kgen::Decode<StandSpec>(json)); }

TEST(InlinedStruct, HasItsMembersInTheOuterObject) {
  const StandSpec spec = Decode(kSpec);
  EXPECT_EQ(spec.ownership.owner, "ada");
  EXPECT_EQ(spec.ownership.team, "north");
  EXPECT_EQ(spec.unknown_fields.size(), 1u) << "the outer object keeps what no struct knows";
  EXPECT_EQ(kgen::Encode(spec), kSpec) << "in the order of the members";
}

TEST(InlinedStruct, IsComparedCopiedAndDestroyedWithTheOuterObject) {
  const std::string long_name(100, 'x');
  StandSpec one = Decode(R"({"owner":")" + long_name + R"("})");
  StandSpec two = one;
  EXPECT_EQ(one, two);
  two.ownership.team = "south";
  EXPECT_NE(one, two);
  Stand stand;
  stand.spec = std::move(two);
  const Stand copy = stand;
  EXPECT_EQ(copy.spec->ownership.owner, long_name);
  EXPECT_EQ(copy.spec->ownership.team, "south");
}

TEST(ApiOfHeaders, SharesTheTypesOfOtherApis) {
  static_assert(std::is_same_v<decltype(StandSpec::rollout)::value_type, delivery::delivery::v1::Rollout::Spec>);
  static_assert(std::is_same_v<decltype(StandSpec::size)::value_type, base::parts::v1::Size>);
  StandSpec spec = Decode(kSpec);
  const k8s::core::v1::PodTemplateSpec pods = *spec.template_;
  EXPECT_EQ(pods.spec->containers[0].name, "c");
  EXPECT_EQ(spec.size->grade, Grade::kFine);
}

TEST(ApiOfHeaders, HasClientsForEveryVersion) {
  Cluster cluster({.seed = 1});
  const mall::Clientset clientset(cluster.Connection());
  kgen::Must(kgen::crd::Install(clientset, mall::Manifests()));
  kgen::Must(kgen::crd::Install(clientset, base::Manifests()));
  Stand stand{.metadata = {.name = "corner"}, .spec = Decode(kSpec)};
  const Stand created = kgen::Must(clientset.MallV2().Stands("default").Create(stand));
  EXPECT_EQ(created.spec->ownership.owner, "ada");
  const mall::mall::v1::Stand old = kgen::Must(clientset.MallV1().Stands("default").Get("corner"));
  EXPECT_EQ(old.spec->owner, "ada") << "the versions are one object";
}

std::string CrdOfStands() {
  std::stringstream text;
  text << std::ifstream(KGEN_TEST_CRDS "/mall.example.com_stands.yaml").rdbuf();
  return text.str();
}

TEST(ApiOfHeaders, HasOneCrdForAllVersionsInTheBuildFolder) {
  const std::string yaml = CrdOfStands();
  EXPECT_THAT(yaml, HasSubstr("  - deprecated: true\n    deprecationWarning: use v2\n    name: v1\n"));
  EXPECT_THAT(yaml, HasSubstr("    served: true\n    storage: false\n  - name: v2\n"));
  EXPECT_THAT(yaml, HasSubstr("    served: true\n    storage: true\n"));
}

TEST(ApiOfHeaders, HasTheSchemasOfOtherApisInItsCrd) {
  const std::string yaml = CrdOfStands();
  EXPECT_THAT(yaml, HasSubstr("              grade:\n                description: How good a part is.\n"
                              "                enum:\n                - Fine\n                - Rough\n"));
  EXPECT_THAT(yaml, HasSubstr("              kind:\n                description: What it sells.\n"))
      << "cut to 40 bytes";
  EXPECT_THAT(yaml,
              HasSubstr("            x-kubernetes-validations:\n            - message: the team is not the owner\n"));
  EXPECT_THAT(yaml, HasSubstr("            required:\n            - owner\n")) << "of the inlined struct";
  EXPECT_THAT(yaml,
              HasSubstr("                              - containerPort\n                              - protocol\n"
                        "                              x-kubernetes-list-type: map\n"));
  EXPECT_THAT(yaml, HasSubstr("                  metadata:\n"
                              "                    description: Labels, annotations and other metadata...\n"
                              "                    properties:\n                      annotations:\n"));
  EXPECT_THAT(yaml, HasSubstr("              rollout:\n                properties:\n                  canary:\n"));
  EXPECT_THAT(yaml, HasSubstr("                      maxLength: 316\n")) << "of a condition";
  EXPECT_THAT(yaml, HasSubstr("observedGeneration:\n                      description: The metadata.generation"))
      << "a dot within a word ends no sentence";
}

}  // namespace
