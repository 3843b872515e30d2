// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tests the webhooks and the conversion on the in-memory API server of the library, in virtual time.
#include "webhooks.h"

#include <gtest/gtest.h>
#include <kgen/client/crd.h>
#include <kgen/testing/cluster.h>
#include <kgen/testing/round_trips.h>
#include <kgen/testing/webhooks.h>
#include <tutorial/clientset.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/cronjob_v1.h"
#include "api/cronjob_v2.h"

namespace v1 = tutorial::batch_tutorial::v1;
namespace v2 = tutorial::batch_tutorial::v2;

namespace {

constexpr std::string_view kDefaultPath = "/mutate-batch-tutorial-kubebuilder-io-v1-cronjob";

// As `kgen-crd --webhooks` writes them, but shorter.
std::string Configuration(std::string_view kind, std::string_view path) {
  return R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": ")" + std::string(kind) +
         R"(", "metadata": {"name": "cronjobs"}, "webhooks": [{"name": "cronjobs.example.com",
         "admissionReviewVersions": ["v1"], "sideEffects": "None",
         "clientConfig": {"service": {"namespace": "cronjobs", "name": "webhooks", "path": ")" +
         std::string(path) + R"("}},
         "rules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": ["batch.tutorial.kubebuilder.io"],
                    "apiVersions": ["v1"], "resources": ["cronjobs"]}]}]})";
}

class CronJobWebhooksTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  CronJobWebhooksTest() {
    AddCronJobWebhooks(manager_);
    kgen::Must(kgen::crd::Install(cluster_.Connection(), tutorial::Manifests()));
    kgen::Must(cluster_.Add(Configuration("MutatingWebhookConfiguration", kDefaultPath)));
    kgen::Must(cluster_.Add(
        Configuration("ValidatingWebhookConfiguration", "/validate-batch-tutorial-kubebuilder-io-v1-cronjob")));
    cluster_.ServeWebhooks(manager_);
  }

  static v1::CronJob Job(std::string_view name, std::string_view schedule) {
    v1::CronJob job{.metadata = {.name = name, .namespace_ = "default"}, .spec = v1::CronJobSpec{.schedule = schedule}};
    job.spec->jobTemplate->spec->template_->spec->restartPolicy = "Never";
    job.spec->jobTemplate->spec->template_->spec->containers = {{.name = "main", .image = "busybox"}};
    return job;
  }
  template <typename Call>
  auto Run(Call call) {
    auto task = cluster_.simulation().Spawn(call);
    cluster_.RunUntilIdle();
    return task.result();
  }

  kgen::testing::Cluster cluster_{{.seed = GetParam(), .observer = kgen::NullObserver()}};
  const kgen::Manager manager_ = kgen::Must(kgen::Manager::New(cluster_.Connection(), {.name = "cronjobs"}));
  const tutorial::Clientset clients_{cluster_.Connection()};
};

TEST_P(CronJobWebhooksTest, SetsDefaultsWhereNothingIsSaid) {
  v1::CronJob job = Job("report", "*/5 * * * *");
  job.spec->failedJobsHistoryLimit = 7;
  const auto created = Run([&] { return clients_.BatchTutorialV1().CronJobs("default").Create(job); });
  ASSERT_TRUE(created) << created.error();
  EXPECT_EQ(created->spec->concurrencyPolicy, v1::ConcurrencyPolicy::kAllow);
  EXPECT_EQ(created->spec->suspend, false);
  EXPECT_EQ(created->spec->successfulJobsHistoryLimit, 3);
  EXPECT_EQ(created->spec->failedJobsHistoryLimit, 7);
}

TEST_P(CronJobWebhooksTest, RefusesAMalformedScheduleAndALongNameAtOnce) {
  const std::string name(53, 'x');
  const auto created =
      Run([&] { return clients_.BatchTutorialV1().CronJobs("default").Create(Job(name, "every day")); });
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), kgen::Code::kInvalid);
  ASSERT_EQ(created.error().status()->details->causes.size(), 2U);
  EXPECT_EQ(created.error().status()->details->causes[0].field, "metadata.name");
  EXPECT_EQ(created.error().status()->details->causes[1].field, "spec.schedule");
}

TEST_P(CronJobWebhooksTest, ReadsAnObjectInBothVersions) {
  const auto created =
      Run([&] { return clients_.BatchTutorialV1().CronJobs("default").Create(Job("report", "*/5 3 * * 1-5")); });
  ASSERT_TRUE(created) << created.error();
  const auto read = Run([&] { return clients_.BatchTutorialV2().CronJobs("default").Get("report"); });
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->spec->schedule->minute, "*/5");
  EXPECT_EQ(read->spec->schedule->hour, "3");
  EXPECT_FALSE(read->spec->schedule->month.has_value());
  EXPECT_EQ(read->spec->schedule->dayOfWeek, "1-5");
}

INSTANTIATE_TEST_SUITE_P(Seeds, CronJobWebhooksTest, ::testing::Range<std::uint64_t>(1, 4));

TEST(CronJobVersions, SurviveConversion) {
  kgen::testing::Cluster cluster;
  const kgen::Manager manager = kgen::Must(kgen::Manager::New(cluster.Connection(), {.name = "cronjobs"}));
  AddCronJobWebhooks(manager);
  // Five fields with one blank between them, which validation asks for; "*" is an absent field of v2.
  const auto result = kgen::testing::RoundTrips<v2::CronJob, v1::CronJob>(
      manager, {.seeds = 50,
                .old =
                    [](v2::CronJob& job) {
                      for (kgen::String* field :
                           {&job.spec->schedule->minute, &job.spec->schedule->hour, &job.spec->schedule->dayOfMonth,
                            &job.spec->schedule->month, &job.spec->schedule->dayOfWeek}) {
                        if (field->has_value()) *field = "1";
                      }
                    },
                .hub = [](v1::CronJob& job) { job.spec->schedule = "*/5 0 1 * *"; }});
  EXPECT_TRUE(result) << result.error().message();
}

TEST(CronJobDefaults, AreIdempotent) {
  kgen::testing::Cluster cluster;
  const kgen::Manager manager = kgen::Must(kgen::Manager::New(cluster.Connection(), {.name = "cronjobs"}));
  AddCronJobWebhooks(manager);
  EXPECT_TRUE(kgen::testing::DefaultsAreIdempotent(
      manager, kDefaultPath,
      R"({"apiVersion": "batch.tutorial.kubebuilder.io/v1", "kind": "CronJob", "metadata": {"name": "report"},
          "spec": {"schedule": "* * * * *"}})"));
}

}  // namespace
