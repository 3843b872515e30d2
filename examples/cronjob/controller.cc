// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <k8s/batch/v1/types.h>
#include <k8s/core/v1/types.h>
#include <kgen/client/options.h>
#include <kgen/controller/owners.h>
#include <kgen/core/executor.h>
#include <kgen/core/ref.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/cronjob_v1.h"
#include "schedule.h"

using k8s::batch::v1::Job;
using tutorial::batch_tutorial::v1::ConcurrencyPolicy;
using tutorial::batch_tutorial::v1::CronJob;

// What the manager cannot know: the writes of the function below.
// +kgen:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/status,verbs=update
// +kgen:rbac:groups=batch,resources=jobs,verbs=create;delete

namespace {

constexpr std::string_view kScheduledAt = "batch.tutorial.kubebuilder.io/scheduled-at";
constexpr int kMostMissed = 100;

using Time = Schedule::Time;
using Jobs = std::vector<kgen::Ref<const Job>>;

struct JobsByState {
  Jobs active, successful, failed;
};

Time TimeOf(const kgen::Time& time) { return std::chrono::floor<std::chrono::seconds>(time.value()); }

// When the run of a Job was due; nothing if it is not one of this controller's.
std::optional<Time> ScheduledAt(const Job& job) {
  const auto time = kgen::Time::Parse(job.metadata.annotations[kScheduledAt]);
  return time ? std::optional<Time>(TimeOf(*time)) : std::nullopt;
}

JobsByState Sort(Jobs jobs) {
  JobsByState sorted;
  for (auto& job : jobs) {
    Jobs* state = &sorted.active;
    for (const auto& condition : job->status->conditions) {
      if (condition.status != "True") continue;
      if (condition.type == "Complete") state = &sorted.successful;
      if (condition.type == "Failed") state = &sorted.failed;
    }
    state->push_back(std::move(job));
  }
  const auto oldest_first = [](const auto& a, const auto& b) {
    return std::pair(a->status->startTime, a->metadata.name) < std::pair(b->status->startTime, b->metadata.name);
  };
  for (Jobs* jobs_of_state : {&sorted.active, &sorted.successful, &sorted.failed}) {
    std::ranges::sort(*jobs_of_state, oldest_first);
  }
  return sorted;
}

// A Job that is gone already needs no deletion.
kgen::Result<void> Delete(const kgen::Request& request, const Job& job) {
  const auto deleted = request.client().Delete(job, {.propagation_policy = kgen::Propagation::kBackground});
  if (deleted || deleted.error().code() == kgen::Code::kNotFound) return {};
  return deleted.error();
}

kgen::Result<void> DeleteOldest(const kgen::Request& request, const Jobs& jobs,
                                const kgen::Optional<std::int32_t>& limit) {
  if (!limit.has_value()) return {};
  for (std::size_t i = 0; i + static_cast<std::size_t>(*limit) < jobs.size(); ++i) {
    if (auto deleted = Delete(request, *jobs[i]); !deleted) return deleted;
  }
  return {};
}

kgen::Result<void> WriteStatus(const kgen::Request& request, const CronJob& cron_job, const JobsByState& jobs,
                               std::optional<Time> last) {
  CronJob changed = cron_job;
  changed.status->active.clear();
  for (const auto& job : jobs.active) {
    changed.status->active.push_back({.name = job->metadata.name,
                                      .namespace_ = job->metadata.namespace_,
                                      .apiVersion = "batch/v1",
                                      .kind = "Job",
                                      .uid = job->metadata.uid});
  }
  if (last) changed.status->lastScheduleTime = kgen::Time(*last);
  if (changed.status == cron_job.status) return {};
  return kgen::Discard(request.client().UpdateStatus(changed));
}

// The Job of a run. Its name follows from the run, so that a second attempt does not start it twice.
kgen::Result<Job> JobFor(const CronJob& cron_job, Time run) {
  Job job{.metadata = *cron_job.spec->jobTemplate->metadata, .spec = cron_job.spec->jobTemplate->spec};
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(run.time_since_epoch()).count();
  job.metadata.name = std::string(cron_job.metadata.name) + "-" + std::to_string(minutes);
  job.metadata.namespace_ = cron_job.metadata.namespace_;
  job.metadata.annotations[kScheduledAt] = kgen::Time(run).str();
  if (auto owned = kgen::SetControllerReference(job, cron_job); !owned) return owned.error();
  return job;
}

// The last run that is due and has not been started, and the next one.
struct Due {
  std::optional<Time> missed{}, next{};
};

Due DueRuns(const kgen::Request& request, const CronJob& cron_job, const Schedule& schedule, std::optional<Time> last,
            Time now) {
  Time since = last.value_or(TimeOf(cron_job.metadata.creationTimestamp));
  if (cron_job.spec->startingDeadlineSeconds.has_value()) {
    since = std::max(since, now - std::chrono::seconds(*cron_job.spec->startingDeadlineSeconds));
  }
  Due due{.next = schedule.After(since)};
  int missed = 0;
  while (due.next && *due.next <= now) {
    due.missed = due.next;
    // After a long pause, for example of this controller, the runs before now are not worth counting.
    if (++missed == kMostMissed) {
      request.Log(kgen::LogLevel::kWarning, "more than 100 runs were missed; set startingDeadlineSeconds");
      return {.next = schedule.After(now)};
    }
    due.next = schedule.After(*due.next);
  }
  return due;
}

kgen::Result<void> StartRun(const kgen::Request& request, const CronJob& cron_job, const Jobs& active, Time run) {
  const auto policy = cron_job.spec->concurrencyPolicy;
  if (policy == ConcurrencyPolicy::kForbid && !active.empty()) {
    request.Log("skipped a run, because an earlier one is active", {{"run", kgen::Time(run).str()}});
    return {};
  }
  if (policy == ConcurrencyPolicy::kReplace) {
    for (const auto& job : active) {
      if (auto deleted = Delete(request, *job); !deleted) return deleted;
    }
  }
  KGEN_TRY(const Job job, JobFor(cron_job, run));
  const auto created = request.client().Create(job);
  if (created || created.error().code() == kgen::Code::kAlreadyExists) return {};
  return created.error();
}

kgen::Result<kgen::Requeue> Reconcile(const kgen::Request& request, kgen::Clock& clock) {
  KGEN_TRY(const auto cron_job, request.Get<CronJob>());
  if (!cron_job || cron_job->metadata.deletionTimestamp.has_value()) return kgen::Requeue::Done();
  KGEN_TRY(Jobs owned, request.client().List<Job>({.namespace_ = std::string(cron_job->metadata.namespace_),
                                                   .index = "owner",
                                                   .value = std::string(cron_job->metadata.uid)}));
  const JobsByState jobs = Sort(std::move(owned));
  std::optional<Time> last;
  for (const Jobs* state : {&jobs.active, &jobs.successful, &jobs.failed}) {
    for (const auto& job : *state) last = std::max(last, ScheduledAt(*job));
  }
  if (auto written = WriteStatus(request, *cron_job, jobs, last); !written) return written.error();
  for (const auto& [ended, limit] : {std::pair(&jobs.successful, cron_job->spec->successfulJobsHistoryLimit),
                                     std::pair(&jobs.failed, cron_job->spec->failedJobsHistoryLimit)}) {
    if (auto deleted = DeleteOldest(request, *ended, limit); !deleted) return deleted.error();
  }
  if (cron_job->spec->suspend.value_or(false)) return kgen::Requeue::Done();
  const auto schedule = Schedule::Parse(cron_job->spec->schedule);
  if (!schedule) {
    request.Log(kgen::LogLevel::kWarning, "the schedule is malformed", {{"error", schedule.error().message()}});
    return kgen::Requeue::Done();  // the next change of the object comes back
  }
  if (cron_job->status->lastScheduleTime.has_value()) {
    last = std::max(last, std::optional(TimeOf(cron_job->status->lastScheduleTime)));
  }
  const Time now = std::chrono::floor<std::chrono::seconds>(clock.WallNow());
  const Due due = DueRuns(request, *cron_job, *schedule, last, now);
  if (due.missed) {
    if (auto started = StartRun(request, *cron_job, jobs.active, *due.missed); !started) return started.error();
  }
  if (!due.next) return kgen::Requeue::Done();
  return kgen::Requeue::After(*due.next - now);
}

}  // namespace

kgen::Result<void> AddCronJobController(const kgen::Manager& manager) {
  KGEN_TRY(const auto jobs, manager.caches().Of<Job>());
  auto indexed = jobs.AddIndex("owner", [](const Job& job, kgen::IndexSink& sink) {
    for (const auto& owner : job.metadata.ownerReferences) {
      if (owner.controller.value_or(false)) sink.Add(owner.uid);
    }
  });
  if (!indexed) return indexed.error();
  const auto executor = manager.connection().shared_executor();
  return kgen::Discard(manager.Control<CronJob>("cronjobs").Owns<Job>().Reconcile([executor](kgen::Request& request) {
    return Reconcile(request, *executor->clock());
  }));
}
