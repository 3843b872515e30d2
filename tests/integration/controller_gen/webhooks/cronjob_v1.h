// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The API and the webhooks of cronjob/v1, with the same comments and markers.
#ifndef KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_CRONJOB_V1_H_
#define KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_CRONJOB_V1_H_

#include <cstdint>

#include "kgen/core/enum.h"
#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/time.h"

namespace acme::batch::v1 {

// What happens if a job still runs when the next one is due.
enum class ConcurrencyPolicy { kAllow, kForbid, kReplace };

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
  // When, in the five fields of cron.
  // +required
  // +kubebuilder:validation:MinLength=9
  kgen::String schedule{};
  // How late a job may start, in seconds.
  // +kubebuilder:validation:Minimum=0
  kgen::Optional<std::int64_t> startingDeadlineSeconds{};
  // +kubebuilder:default=Allow
  kgen::Enum<ConcurrencyPolicy> concurrencyPolicy{};
  // Whether no further jobs are started.
  kgen::Optional<bool> suspend{};
  // How many jobs that succeeded are kept.
  // +kubebuilder:validation:Minimum=0
  kgen::Optional<std::int32_t> successfulJobsHistoryLimit{};
  // How many jobs that failed are kept.
  // +kubebuilder:validation:Minimum=0
  kgen::Optional<std::int32_t> failedJobsHistoryLimit{};
  // What each job runs.
  // +required
  kgen::Optional<JobTemplate> jobTemplate = kgen::kAbsent;
  KGEN_OBJECT(CronJobSpec)
};

// What has been started.
struct CronJobStatus {
  // The names of the jobs that run.
  // +listType=atomic
  kgen::List<kgen::String> active{};
  // When the last job was started.
  kgen::Time lastScheduleTime{};
  KGEN_OBJECT(CronJobStatus)
};

// +kubebuilder:webhook:path=/mutate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=mcronjob-v1.kb.io,admissionReviewVersions=v1
// +kubebuilder:webhook:path=/validate-batch-tutorial-kubebuilder-io-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=create;update,versions=v1,name=vcronjob-v1.kb.io,admissionReviewVersions=v1

// A job that is started again and again.
// +kgen:resource:group=batch.tutorial.kubebuilder.io,version=v1,path=cronjobs,scope=Namespaced,shortName=cj
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kgen:hub
struct CronJob {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<CronJobSpec> spec = kgen::kAbsent;
  kgen::Optional<CronJobStatus> status = kgen::kAbsent;
  KGEN_OBJECT(CronJob)
};

}  // namespace acme::batch::v1

#endif  // KGEN_TESTS_INTEGRATION_CONTROLLER_GEN_WEBHOOKS_CRONJOB_V1_H_
