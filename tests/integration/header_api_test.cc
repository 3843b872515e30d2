// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The CRD of an API that is written in C++ (tests/compile/headers) on a real kube-apiserver, which checks that it is
// structural: built-in types, types of other APIs, an inlined struct, two versions.
#ifdef KGEN_HAVE_HEADER_API
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <kgen/client/crd.h>
#include <mall/clientset.h>
#include <mall/mall/v1/types.h>
#include <mall/mall/v2/types.h>

#include <chrono>
#include <string>

#include "kgen/codec/decode.h"
#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using mall::mall::v2::Stand;
using mall::mall::v2::StandSpec;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string UniqueName() {
  static int count = 0;
  return "stand-" + std::to_string(++count) + "-" +
         std::to_string(std::chrono::system_clock::now().time_since_epoch() / 1ms);
}

class HeaderApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    clientset_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    Must(crd::Install(*clientset_, mall::Manifests()));
  }

  Result<Stand> Create(const std::string& json) {
    Stand stand{.metadata = {.name = UniqueName()}, .spec = Must(Decode<StandSpec>(json))};
    return clientset_->MallV2().Stands("default").Create(stand);
  }

  std::optional<mall::Clientset> clientset_;
};

TEST_F(HeaderApiTest, StoresAPodTemplateWithItsLabelsAndDefaults) {
  const Stand created =
      Must(Create(R"({"owner":"ada","template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":)"
                  R"([{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":2}}}]}}})"));
  EXPECT_EQ(created.spec->ownership.owner, "ada");
  const k8s::core::v1::PodTemplateSpec& pods = *created.spec->template_;
  EXPECT_EQ(pods.metadata->labels["a"], "b");
  EXPECT_EQ(pods.spec->containers[0].ports[0].protocol, "TCP");
  const auto old = Must(clientset_->MallV1().Stands("default").Get(created.metadata.name.str()));
  EXPECT_EQ(old.spec->owner, "ada");
}

TEST_F(HeaderApiTest, RefusesOtherValuesOfAnEnumClassAndTakesThoseOfATextWithConstants) {
  EXPECT_TRUE(Create(R"({"owner":"ada","kind":"Butcher","grade":"Fine"})"));
  EXPECT_THAT(Create(R"({"owner":"ada","grade":"Odd"})").error().message(), HasSubstr("Unsupported value: \"Odd\""));
}

TEST_F(HeaderApiTest, AppliesTheRulesOfInlinedAndUsedStructs) {
  EXPECT_THAT(Create(R"({"team":"north"})").error().message(), HasSubstr("owner: Required value"));
  EXPECT_THAT(Create(R"({"owner":"ada","team":"ada"})").error().message(), HasSubstr("the team is not the owner"));
  EXPECT_THAT(Create(R"({"owner":"ada","size":{"width":0}})").error().message(), HasSubstr("spec.size.width"));
  EXPECT_THAT(Create(R"({"owner":"ada","template":{"spec":{}}})").error().message(),
              HasSubstr("spec.template.spec.containers"));
}

TEST_F(HeaderApiTest, KeepsWhatARecursiveStructHasBelowItself) {
  const Stand created =
      Must(Create(R"({"owner":"ada","supplier":{"name":"a","suppliers":[{"name":"b","suppliers":[{"name":"c"}]}]}})"));
  EXPECT_EQ(created.spec->supplier->suppliers[0].suppliers[0].name, "c");
}

}  // namespace
}  // namespace kgen::integration
#endif
