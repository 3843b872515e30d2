// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The API and the webhooks of cronjob/v2, with the same comments and markers.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_CRONJOB_V2_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_CRONJOB_V2_H_

#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"

namespace acme::batch::v2 {

// One field of a schedule.
// +kubebuilder:validation:MinLength=1
using CronField = kgen::String;

// When to start. What is left out is every minute, hour and so on.
struct CronSchedule {
  CronField minute{};
  CronField hour{};
  CronField dayOfMonth{};
  CronField month{};
  CronField dayOfWeek{};
  KGEN_OBJECT(CronSchedule)
};

// What a job runs.
struct JobTemplate {
  // The image of its container.
  // +required
  // +kubebuilder:validation:MinLength=1
  kgen::String image{};
  // Its command, if the image has another one.
  kgen::List<kgen::String> command{};
  KGEN_OBJECT(JobTemplate)
};

// When and what to start.
struct CronJobSpec {
  // When to start a job.
  // +required
  kgen::Optional<CronSchedule> schedule = kgen::kAbsent;
  // Whether no further jobs are started.
  kgen::Optional<bool> suspend{};
  // What each job runs.
  // +required
  kgen::Optional<JobTemplate> jobTemplate = kgen::kAbsent;
  KGEN_OBJECT(CronJobSpec)
};

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v2-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v2,name=mcronjob-v2.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v2-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v2,name=vcronjob-v2.kb.io,admissionReviewVersions=v1

// A job that is started again and again.
// +kgen:resource:group=batch.tutorial.kubebuilder.io,version=v2,path=cronjobs,scope=Namespaced,shortName=cj
struct CronJob {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<CronJobSpec> spec = kgen::kAbsent;
  KGEN_OBJECT(CronJob)
};

}  // namespace acme::batch::v2

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_CRONJOB_V2_H_
