// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The CRD of api/ as a resource of a real kube-apiserver: accepted, served in several versions, with subresources,
// columns and selectable fields; and its objects, which stay what they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apiextensions/v1/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "kgen/core/conditions.h"
#include "kgen/core/scale.h"
#include "tests/integration/cpp_first/cluster.h"
#include "tests/integration/eventually.h"

namespace kgen::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class ResourceTest : public GadgetTest {};

TEST_F(ResourceTest, TheCrdIsStructuralEstablishedAndKeepsItsNames) {
  const auto crds = k8s::Clientset(*connection_).ApiextensionsV1().CustomResourceDefinitions();
  const auto crd = Must(crds.Get("gadgets.gadgets.example.com"));
  EXPECT_TRUE(IsConditionTrue(crd.status->conditions, "Established"));
  EXPECT_TRUE(IsConditionTrue(crd.status->conditions, "NamesAccepted"));
  EXPECT_EQ(FindCondition(crd.status->conditions, "NonStructuralSchema"), nullptr);
  EXPECT_EQ(FindCondition(crd.status->conditions, "KubernetesAPIApprovalPolicyConformant"), nullptr);
  EXPECT_EQ(crd.status->storedVersions, (List<String>{"v1"}));
  EXPECT_EQ(crd.metadata.labels.find("team")->second, "parts");
  EXPECT_EQ(crd.metadata.annotations.find("example.com/owner")->second, "parts");
  // The server found nothing to add or to remove in what was sent.
  EXPECT_THAT(RealApiServer::Kubectl("diff -f " KGEN_GADGET_CRD), "");
  EXPECT_THAT(RealApiServer::Kubectl("explain gadget.spec.objects.part"),
              HasSubstr("A part with a comment of its own"));
}

TEST_F(ResourceTest, AnObjectWithEveryMemberIsTheSameAfterDecodingAndEncoding) {
  Must(gadgets_->Create(Make("full", R"("replicas":2,
      "numbers":{"minimum":3,"maximum":5,"exclusiveMinimum":0.25,"exclusiveMaximum":0,"multipleOf":5,"enumerated":1},
      "texts":{"minLength":"ab","maxLength":"a","pattern":"a","format":"a@b.c","enumerated":"low","size":"Small"},
      "lists":{"minItems":["a"],"maxItems":[9007199254740993],"items":["a"],"set":["b","a"],"atomic":["a","a"],
               "parts":[{"name":"p","count":0}],"nested":[{"cpu":"0.5","memory":2}]},
      "objects":{"minProperties":{"a":""},"maxProperties":{"a":{"name":"x"}},"granular":{"k":"v"},"point":{"x":0,"y":-1},
                 "part":{"name":"n"},"open":{"known":"k","more":null},"any":[1,2.50,"x"],
                 "embedded":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}}},
                 "metadata":{}},
      "rules":{"low":1,"high":1,"immutable":"x","even":2,"growing":1},
      "types":{"flag":false,"big":-9223372036854775808,"fraction":1e-7,"quantity":"1.50Gi","time":"2026-11-22T10:00:00+02:00",
               "microTime":"2026-11-22T10:00:00.000001Z","duration":"90m","intOrString":"10%","bytes":"AAH/",
               "map":{"a":["b"],"c":[]}},
      "selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]})")));
  Gadget stored = Must(gadgets_->Get("full"));
  EXPECT_EQ(CanonicalJson(Encode(stored)), CanonicalJson(Raw("full")));
  const Gadget updated = Must(gadgets_->Update(stored));
  EXPECT_EQ(updated.metadata.resourceVersion, stored.metadata.resourceVersion) << "nothing has changed";
  EXPECT_EQ(warnings_->Take(), std::vector<std::string>());
}

TEST_F(ResourceTest, StatusIsWrittenThroughItsSubresourceOnly) {
  Gadget gadget = Make("first", "");
  gadget.status->replicas = 3;
  gadget = Must(gadgets_->Create(gadget));
  EXPECT_FALSE(gadget.status.has_value());
  gadget.status->replicas = 2;
  gadget.status->selector = "app=gadget";
  SetCondition(gadget.status->conditions, {.reason = "Test", .status = "True", .type = "Ready"});
  gadget.spec->color = "blue";
  const Gadget written = Must(gadgets_->UpdateStatus(gadget));
  EXPECT_EQ(written.status->replicas, 2);
  EXPECT_EQ(written.spec->color, "red");
  gadget = written;
  gadget.status->conditions.push_back(gadget.status->conditions[0]);
  EXPECT_THAT(gadgets_->UpdateStatus(gadget).error().ToString(), HasSubstr("Duplicate value"));
}

TEST_F(ResourceTest, ScaleIsASubresource) {
  Gadget gadget = Must(gadgets_->Create(Make("first", "")));
  gadget.status->replicas = 4;
  gadget.status->selector = "app=gadget";
  Must(gadgets_->UpdateStatus(gadget));
  auto scale = Must(gadgets_->GetScale("first"));
  EXPECT_EQ(scale.spec->replicas, 1);
  EXPECT_EQ(scale.status->replicas, 4);
  EXPECT_EQ(scale.status->selector, "app=gadget");
  scale.spec->replicas = 5;
  Must(gadgets_->UpdateScale("first", scale));
  gadget = Must(gadgets_->Get("first"));
  EXPECT_EQ(gadget.spec->replicas, 5);
  EXPECT_THAT(RealApiServer::Kubectl("scale gadget first --replicas=0 -n " + namespace_), HasSubstr("scaled"));
}

TEST_F(ResourceTest, ColumnsShortNamesAndCategoriesAreThoseOfTheMarkers) {
  Must(gadgets_->Create(Make("first", R"("replicas":2)")));
  EXPECT_THAT(RealApiServer::Kubectl("get gdg -n " + namespace_),
              MatchesRegex("NAME +COLOR +WANTED *\nfirst +red +2 *\n"));
  EXPECT_THAT(RealApiServer::Kubectl("get gg -o wide -n " + namespace_), HasSubstr("AGE"));
  EXPECT_THAT(RealApiServer::Kubectl("get all -n " + namespace_), HasSubstr("gadget.gadgets.example.com/first"));
}

TEST_F(ResourceTest, AFieldSelectorReadsSelectableFields) {
  Must(gadgets_->Create(Make("first", "")));
  Gadget blue = Make("second", "");
  blue.spec->color = "blue";
  Must(gadgets_->Create(blue));
  const auto found = Must(gadgets_->List({.field_selector = "spec.color=blue"}));
  ASSERT_EQ(found.items.size(), 1u);
  EXPECT_EQ(found.items[0].metadata.name, "second");
  EXPECT_FALSE(gadgets_->List({.field_selector = "spec.replicas=1"}).has_value());
}

TEST_F(ResourceTest, VersionsAreOneObjectAndADeprecatedOneWarns) {
  Must(gadgets_->Create(Make("first", "")));
  EXPECT_EQ(warnings_->Take(), std::vector<std::string>());
  // A connection tells its observer once of the same warning.
  const auto fresh = MakeShared<Warnings>();
  const auto older = parts::Clientset(Connect(fresh)).GadgetsV1beta1().Gadgets(namespace_);
  const parts::gadgets::v1beta1::Gadget gadget = Must(older.Get("first"));
  EXPECT_EQ(gadget.spec->color, "red");
  EXPECT_THAT(fresh->Take(), ElementsAre("gadgets.example.com/v1beta1 Gadget is deprecated; use v1"));
  const parts::gadgets::v1beta1::Gadget second = Must(
      older.Create({.metadata = {.name = "second"}, .spec = parts::gadgets::v1beta1::GadgetSpec{.color = "blue"}}));
  EXPECT_THAT(Raw("second"), HasSubstr(R"("color":"blue")"));
  EXPECT_THAT(RealApiServer::Kubectl("get --raw /apis/gadgets.example.com"), Not(HasSubstr("v1alpha1")));
}

}  // namespace
}  // namespace kgen::integration
