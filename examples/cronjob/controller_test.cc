// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tests the controller on the in-memory API server of the library, in virtual time. The tests play the Job controller.
#include "controller.h"

#include <gtest/gtest.h>
#include <k8s/batch/v1/types.h>
#include <kgen/client/crd.h>
#include <kgen/core/executor.h>
#include <kgen/testing/cluster.h>
#include <tutorial/clientset.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/cronjob_v1.h"

using k8s::batch::v1::Job;
using tutorial::batch_tutorial::v1::ConcurrencyPolicy;
using tutorial::batch_tutorial::v1::CronJob;
using tutorial::batch_tutorial::v1::CronJobSpec;
using namespace std::chrono_literals;

namespace {

class CronJobControllerTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  CronJobControllerTest() {
    // Only what tests need of the API of Jobs.
    cluster_.AddResource({.group = "batch",
                          .version = "v1",
                          .plural = "jobs",
                          .singular = "job",
                          .kind = "Job",
                          .list_kind = "JobList",
                          .has_status = true});
    kgen::Must(kgen::crd::Install(cluster_.Connection(), tutorial::Manifests()));
    kgen::Must(AddCronJobController(manager_));
    running_ = cluster_.simulation().Spawn([this] { return manager_.Run(stop_.get_token()); });
    cluster_.Advance(1s);
  }
  ~CronJobControllerTest() override {
    stop_.request_stop();
    cluster_.RunUntilIdle();
    EXPECT_TRUE(running_.done() && running_.result());
  }

  // A CronJob that runs every ten minutes.
  static CronJob EveryTenMinutes(std::string_view name) {
    CronJob job{.metadata = {.name = name, .namespace_ = "default"}, .spec = CronJobSpec{.schedule = "*/10 * * * *"}};
    job.spec->jobTemplate->metadata->labels["app"] = "report";
    job.spec->jobTemplate->spec->template_->spec->restartPolicy = "Never";
    job.spec->jobTemplate->spec->template_->spec->containers = {{.name = "main", .image = "busybox"}};
    return job;
  }
  std::vector<Job> JobsNow() const {
    std::vector<Job> jobs;
    for (const std::string& text : cluster_.List("jobs")) jobs.push_back(kgen::Must(kgen::Decode<Job>(text)));
    return jobs;
  }
  // Plays the Job controller.
  void End(const Job& job, std::string_view how) {
    Job ended = job;
    ended.status->startTime = ended.metadata.creationTimestamp;
    ended.status->conditions.push_back({.status = "True", .type = how});
    kgen::Must(cluster_.Update(ended));
    cluster_.Advance(1s);
  }
  CronJob Get(std::string_view name) const {
    return kgen::Must(kgen::Decode<CronJob>(kgen::Must(cluster_.Get("cronjobs", "default", name))));
  }

  kgen::testing::Cluster cluster_{{.seed = GetParam()}};
  const kgen::Manager manager_ = kgen::Must(kgen::Manager::New(cluster_.Connection(), {.name = "cronjobs"}));
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};

TEST_P(CronJobControllerTest, StartsAJobWheneverOneIsDue) {
  kgen::Must(cluster_.Add(EveryTenMinutes("report")));
  cluster_.Advance(30min);
  const std::vector<Job> jobs = JobsNow();
  ASSERT_EQ(jobs.size(), 3U);
  for (const Job& job : jobs) {
    EXPECT_EQ(job.metadata.labels["app"], "report");
    EXPECT_EQ(job.metadata.ownerReferences[0].name, "report");
    EXPECT_EQ(job.spec->template_->spec->restartPolicy, "Never");
  }
  const CronJob now = Get("report");
  EXPECT_EQ(now.status->active.size(), 3U);
  EXPECT_EQ(now.status->lastScheduleTime.value().time_since_epoch() % 10min, 0min);
}

TEST_P(CronJobControllerTest, SkipsARunBesideAnActiveOneIfItsPolicyForbidsIt) {
  CronJob job = EveryTenMinutes("report");
  job.spec->concurrencyPolicy = ConcurrencyPolicy::kForbid;
  kgen::Must(cluster_.Add(job));
  cluster_.Advance(30min);
  ASSERT_EQ(JobsNow().size(), 1U);
  End(JobsNow()[0], "Complete");
  cluster_.Advance(10min);
  EXPECT_EQ(JobsNow().size(), 2U);
}

TEST_P(CronJobControllerTest, ReplacesTheActiveJobIfItsPolicySaysSo) {
  CronJob job = EveryTenMinutes("report");
  job.spec->concurrencyPolicy = ConcurrencyPolicy::kReplace;
  kgen::Must(cluster_.Add(job));
  cluster_.Advance(10min);
  const std::vector<Job> first = JobsNow();
  cluster_.Advance(10min);
  const std::vector<Job> second = JobsNow();
  ASSERT_EQ(first.size(), 1U);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_NE(first[0].metadata.name, second[0].metadata.name);
}

TEST_P(CronJobControllerTest, KeepsAsManyEndedJobsAsTheLimitsSay) {
  CronJob job = EveryTenMinutes("report");
  job.spec->successfulJobsHistoryLimit = 2;
  job.spec->failedJobsHistoryLimit = 0;
  kgen::Must(cluster_.Add(job));
  for (int run = 0; run < 5; ++run) {
    cluster_.Advance(10min);
    for (const Job& each : JobsNow()) {
      if (each.status->conditions.empty()) End(each, run == 2 ? "Failed" : "Complete");
    }
  }
  const std::vector<Job> kept = JobsNow();
  ASSERT_EQ(kept.size(), 2U);
  for (const Job& each : kept) EXPECT_EQ(each.status->conditions[0].type, "Complete");
}

TEST_P(CronJobControllerTest, StartsNothingWhileItIsSuspended) {
  CronJob job = EveryTenMinutes("report");
  job.spec->suspend = true;
  kgen::Must(cluster_.Add(job));
  cluster_.Advance(1h + 5min);
  EXPECT_TRUE(JobsNow().empty());
  CronJob resumed = Get("report");
  resumed.spec->suspend = false;
  resumed.spec->startingDeadlineSeconds = 30;
  kgen::Must(cluster_.Update(resumed));
  cluster_.Advance(10min);
  EXPECT_EQ(JobsNow().size(), 1U) << "the runs before are too late to start";
}

TEST_P(CronJobControllerTest, AControllerThatStartsAgainStartsNoRunTwice) {
  kgen::Must(cluster_.Add(EveryTenMinutes("report")));
  cluster_.Advance(10min + 1s);
  ASSERT_EQ(JobsNow().size(), 1U);
  stop_.request_stop();
  cluster_.RunUntilIdle();
  const kgen::Manager next = kgen::Must(kgen::Manager::New(cluster_.Connection(), {.name = "cronjobs"}));
  kgen::Must(AddCronJobController(next));
  std::stop_source stop;
  auto running = cluster_.simulation().Spawn([&] { return next.Run(stop.get_token()); });
  cluster_.Advance(1min);
  EXPECT_EQ(JobsNow().size(), 1U);
  stop.request_stop();
  cluster_.RunUntilIdle();
  EXPECT_TRUE(running.done() && running.result());
}

INSTANTIATE_TEST_SUITE_P(Seeds, CronJobControllerTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
