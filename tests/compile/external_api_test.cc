// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An API that uses the types of another one, generated in another run and namespace: as a user writes it.
#include <delivery/delivery/v1/types.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <jobs/batch/v1/types.h>
#include <k8s/apps/v1/types.h>
#include <k8s/batch/v1/types.h>
#include <single/delivery/v1/types.h>

#include <string>
#include <type_traits>
#include <utility>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/conditions.h"

namespace {

using delivery::delivery::v1::Rollout;
using k8s::apps::v1::Deployment;

// The positions keep the names that they have without USES.
using Template = Rollout::Spec::Template;
static_assert(std::is_same_v<Template, k8s::core::v1::PodTemplateSpec>);
static_assert(std::is_same_v<Template::Metadata, kgen::meta::v1::ObjectMeta>);
static_assert(std::is_same_v<Template::Spec, k8s::core::v1::PodSpec>);
static_assert(std::is_same_v<Template::Spec::Container, k8s::core::v1::Container>);
static_assert(std::is_same_v<Template::Spec::Container::Env::ValueFrom, k8s::core::v1::EnvVarSource>);
static_assert(std::is_same_v<Template::Spec::Container::Resources, k8s::core::v1::ResourceRequirements>);
static_assert(std::is_same_v<Rollout::Spec::Selector::MatchExpression, kgen::meta::v1::LabelSelectorRequirement>);
static_assert(std::is_same_v<Rollout::Status::Condition, kgen::meta::v1::Condition>);
static_assert(std::is_same_v<Rollout::Spec::Canary::Toleration, k8s::core::v1::Toleration>);
static_assert(!std::is_same_v<Rollout::Spec::Canary::Resources, k8s::core::v1::ResourceRequirements>);

// What the CRD has no field for, what has no place in the C++ type, a null where one is allowed.
constexpr const char* kRollout =
    R"({"apiVersion":"delivery.example.com/v1","kind":"Rollout","metadata":{"name":"r"},"spec":{"canary":{)"
    R"("resources":{"limits":null},"tolerations":[{"key":"a","tolerationSeconds":5}],"weight":1},"replicas":2,)"
    R"("selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"},"more":[1]},"spec":{)"
    R"("containers":[{"name":"web","env":[{"name":"A","value":"b","note":1}],"image":"nginx","resources":{"limits":{)"
    R"("cpu":2,"memory":"1Gi"}},"tty":"yes"}],"priority":99999999999}}},"status":{"conditions":[{)"
    R"("lastTransitionTime":"2026-01-02T03:04:05Z","message":"","reason":"Up","status":"True","type":"Ready"}]}})";

TEST(UsedTypes, AreAssignedBothWays) {
  Rollout rollout = kgen::Must(kgen::Decode<Rollout>(kRollout));
  Deployment deployment;
  deployment.spec->template_ = rollout.spec->template_;
  deployment.spec->selector = rollout.spec->selector;
  EXPECT_EQ(deployment.spec->template_->spec->containers[0].image, "nginx");
  deployment.spec->template_->spec->containers[0].image = "httpd";
  rollout.spec->template_ = std::move(deployment.spec->template_);
  EXPECT_EQ(rollout.spec->template_->spec->containers[0].image, "httpd");
  rollout.spec->canary->tolerations = rollout.spec->template_->spec->tolerations;
  EXPECT_FALSE(kgen::SetCondition(rollout.status->conditions,
                                  {.message = "", .reason = "Up", .status = "True", .type = "Ready"}));
}

TEST(UsedTypes, LoseNothing) {
  const Rollout rollout = kgen::Must(kgen::Decode<Rollout>(kRollout));
  EXPECT_EQ(kgen::CanonicalJson(kgen::Encode(rollout)), kgen::CanonicalJson(kRollout));
  const std::string without = R"({"apiVersion":"delivery.example.com/v1","kind":"Rollout","metadata":{"name":"r"},)"
                              R"("spec":{"template":null}})";
  EXPECT_EQ(kgen::CanonicalJson(kgen::Encode(kgen::Must(kgen::Decode<Rollout>(without)))),
            kgen::CanonicalJson(without));
}

// The kinds of the documents are this API's, everything that they are made of is the used API's.
TEST(UsedTypes, OfDocumentsAreTheOnesOfTheUsedApi) {
  static_assert(!std::is_same_v<jobs::batch::v1::CronJob, k8s::batch::v1::CronJob>);
  static_assert(std::is_same_v<jobs::batch::v1::CronJob::Spec, k8s::batch::v1::CronJobSpec>);
  jobs::batch::v1::Job job{.metadata = {.name = "j"}};
  Deployment deployment;
  deployment.spec->template_->spec->restartPolicy = "Never";
  job.spec->template_ = deployment.spec->template_;
  EXPECT_EQ(kgen::Encode(job), R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"template":{)"
                               R"("spec":{"restartPolicy":"Never"}}}})");
}

// An API that uses one group of the built-in API has the types of that group and what they are made of.
TEST(UsedTypes, OfASingleGroupAreTheOnesOfAllGroups) {
  static_assert(std::is_same_v<single::delivery::v1::Rollout::Spec::Template, k8s::core::v1::PodTemplateSpec>);
  single::delivery::v1::Rollout rollout;
  rollout.spec->template_->spec->restartPolicy = "Never";
  k8s::batch::v1::Job job;
  job.spec->template_ = rollout.spec->template_;
  EXPECT_EQ(job.spec->template_->spec->restartPolicy, "Never");
}

}  // namespace
