// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The CronJob of the Kubebuilder book, version v2: the schedule has a member for each field of the Cron format.
#ifndef KGEN_EXAMPLES_CRONJOB_API_CRONJOB_V2_H_
#define KGEN_EXAMPLES_CRONJOB_API_CRONJOB_V2_H_

#include <k8s/batch/v1/types.h>
#include <k8s/core/v1/types.h>
#include <kgen/core/enum.h>
#include <kgen/core/object.h>
#include <kgen/core/object_meta.h>
#include <kgen/core/time.h>

namespace tutorial::batch_tutorial::v2 {

// What to do when a run is due while an earlier one is still running.
enum class ConcurrencyPolicy {
  kAllow,    // start it beside the others
  kForbid,   // skip it
  kReplace,  // stop the others
};

// The fields of the Cron format, in UTC. An absent one is "*".
struct CronSchedule {
  // 0 to 59
  kgen::String minute{};
  // 0 to 23
  kgen::String hour{};
  // 1 to 31
  kgen::String dayOfMonth{};
  // 1 to 12
  kgen::String month{};
  // 0 to 6; 0 is Sunday
  kgen::String dayOfWeek{};
  KGEN_OBJECT(CronSchedule)
};

// What to run, and when.
struct CronJobSpec {
  // When runs are due.
  // +required
  kgen::Optional<CronSchedule> schedule = kgen::kAbsent;
  // How late a run may start, in seconds. One that is later counts as missed. Absent: any time.
  // +kgen:minimum=0
  kgen::Optional<std::int64_t> startingDeadlineSeconds{};
  // What to do when a run is due while an earlier one is still running. The webhook sets Allow.
  kgen::Enum<ConcurrencyPolicy> concurrencyPolicy{};
  // Whether no runs start for now. Those that run go on.
  kgen::Optional<bool> suspend{};
  // The Job that a run creates.
  // +required
  kgen::Optional<k8s::batch::v1::JobTemplateSpec> jobTemplate = kgen::kAbsent;
  // How many successful Jobs to keep. The webhook sets 3.
  // +kgen:minimum=0
  kgen::Optional<std::int32_t> successfulJobsHistoryLimit{};
  // How many failed Jobs to keep. The webhook sets 1.
  // +kgen:minimum=0
  kgen::Optional<std::int32_t> failedJobsHistoryLimit{};
  KGEN_OBJECT(CronJobSpec)
};

// What runs.
struct CronJobStatus {
  // The Jobs that run now.
  // +listType=atomic
  kgen::List<k8s::core::v1::ObjectReference> active{};
  // When the last run was due.
  kgen::Time lastScheduleTime{};
  KGEN_OBJECT(CronJobStatus)
};

// Runs Jobs on a schedule.
// +kgen:resource:group=batch.tutorial.kubebuilder.io,version=v2
// +kgen:subresource:status
// +kgen:printcolumn:name=Last run,type=date,jsonPath=.status.lastScheduleTime
struct CronJob {
  kgen::meta::v1::ObjectMeta metadata{};
  kgen::Optional<CronJobSpec> spec = kgen::kAbsent;
  kgen::Optional<CronJobStatus> status = kgen::kAbsent;
  KGEN_OBJECT(CronJob)
};

}  // namespace tutorial::batch_tutorial::v2

#endif  // KGEN_EXAMPLES_CRONJOB_API_CRONJOB_V2_H_
