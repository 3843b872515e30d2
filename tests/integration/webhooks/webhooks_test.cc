// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Admission and conversion webhooks, called by a real kube-apiserver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tutorial/clientset.h>
#include <tutorial/informers.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "examples/cronjob/api/cronjob_v1.h"
#include "examples/cronjob/api/cronjob_v2.h"
#include "examples/cronjob/webhooks.h"
#include "kgen/cache/factory.h"
#include "kgen/core/executor.h"
#include "kgen/core/field_errors.h"
#include "kgen/core/waiter.h"
#include "tests/integration/eventually.h"
#include "tests/integration/real_api_server.h"
#include "tests/integration/webhooks/forwarder.h"
#include "tests/integration/webhooks/load.h"
#include "tests/integration/webhooks/webhook_fixture.h"

namespace kgen::integration {

namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace v1 = tutorial::batch_tutorial::v1;
using Json = nlohmann::json;

constexpr const char* kResource = "cronjobs.v1.batch.tutorial.kubebuilder.io";

class WebhooksTest : public WebhookTest {
 protected:
  void SetUp() override {
    WebhookTest::SetUp();
    if (!IsSkipped()) Serve({});
  }
  void TearDown() override {
    WebhookTest::TearDown();
    replica_.reset();
  }
  // Starts the replica, with the webhooks of the example unless `declare` is given.
  void Serve(const std::function<void(const Manager&)>& declare) {
    replica_ = Start(declare);
    Install(replica_->port(), {authority_});
  }
  static std::string Patch(std::string_view arguments) {
    return RealApiServer::Kubectl("patch " + std::string(kResource) + " first --type=merge " + std::string(arguments));
  }

  std::unique_ptr<Replica> replica_;
};

// Tests that serve webhooks of their own.
class OwnWebhooksTest : public WebhooksTest {
 protected:
  void SetUp() override { WebhookTest::SetUp(); }  // NOLINT(bugprone-parent-virtual-call): no replica of the example
};

TEST_P(WebhooksTest, SetsDefaultsOnCreateAndUpdate) {
  EXPECT_THAT(KubectlFile("create", CronJob("first")), HasSubstr("created"));
  Json stored = Get("v1", "first");
  EXPECT_EQ(stored["spec"]["concurrencyPolicy"], "Allow");
  EXPECT_EQ(stored["spec"]["suspend"], false);
  EXPECT_EQ(stored["spec"]["successfulJobsHistoryLimit"], 3);
  EXPECT_EQ(stored["spec"]["failedJobsHistoryLimit"], 1);
  EXPECT_EQ(stored["spec"].size(), 6U) << "nothing but the defaults: " << stored["spec"];

  Patch(R"(-p '{"spec":{"suspend":null,"failedJobsHistoryLimit":7}}')");
  stored = Get("v1", "first");
  EXPECT_EQ(stored["spec"]["suspend"], false);
  EXPECT_EQ(stored["spec"]["failedJobsHistoryLimit"], 7);
}

TEST_P(WebhooksTest, KubectlPrintsADenialAsItPrintsThoseOfTheServer) {
  const std::string denied = KubectlFile("create", CronJob("first", "every day"));
  EXPECT_THAT(denied, AllOf(HasSubstr("The CronJob \"first\" is invalid"),
                            HasSubstr("spec.schedule: Invalid value: \"every day\": the minute is \"every\"")));
  std::string name(53, 'x');
  EXPECT_THAT(KubectlFile("create", CronJob(name, "61 * * * *")),
              AllOf(HasSubstr("metadata.name: Invalid value"), HasSubstr("the minute is \"61\"")))
      << "all errors at once";
}

TEST_P(WebhooksTest, RefusesAnUpdateInEitherVersion) {
  KubectlFile("create", CronJob("first"));
  EXPECT_THAT(Patch(R"(-p '{"spec":{"schedule":"x"}}')"), HasSubstr("spec.schedule: Invalid value: \"x\""));
  EXPECT_THAT(RealApiServer::Kubectl("patch cronjobs.v2.batch.tutorial.kubebuilder.io first --type=merge "
                                     R"(-p '{"spec":{"schedule":{"minute":"99"}}}')"),
              HasSubstr("the minute is \"99\""))
      << "the server converts the object for the webhook";
  EXPECT_EQ(Get("v1", "first")["spec"]["schedule"], "*/5 * * * *");
}

TEST_P(OwnWebhooksTest, RefusesADeletionUntilTheFunctionAllowsIt) {
  Serve([](const Manager& manager) {
    AddCronJobWebhooks(manager);
    manager.Webhook<v1::CronJob>().ValidateDelete([](const v1::CronJob& before, const Admission&) {
      FieldErrors errors;
      if (before.spec->suspend != true) errors.Forbidden("spec.suspend", "suspend it first");
      return Result<FieldErrors>(errors);
    });
  });
  EXPECT_THAT(KubectlFile("create", CronJob("first")), HasSubstr("created"));
  const std::string name = std::string(kResource) + " first";
  EXPECT_THAT(RealApiServer::Kubectl("delete " + name), HasSubstr("spec.suspend: Forbidden: suspend it first"));
  EXPECT_EQ(Get("v1", "first")["spec"]["suspend"], false) << "it is still there";
  EXPECT_THAT(Patch(R"(-p '{"spec":{"suspend":true}}')"), HasSubstr("patched"));
  EXPECT_THAT(RealApiServer::Kubectl("delete " + name), HasSubstr("deleted"));
  EXPECT_THAT(RealApiServer::Kubectl("get " + name), HasSubstr("not found"));
}

TEST_P(OwnWebhooksTest, AStatusIsCheckedOnlyIfARuleNamesIt) {
  std::atomic<int> statuses = 0, others = 0;
  Serve([&](const Manager& manager) {
    AddCronJobWebhooks(manager);
    manager.Webhook<v1::CronJob>().ValidateUpdate(
        [&](const v1::CronJob&, const v1::CronJob& now, const Admission& request) {
          FieldErrors errors;
          ++(request.subresource() == "status" ? statuses : others);
          if (now.status->active.size() > 1) errors.Forbidden("status.active", "one at a time");
          return Result<FieldErrors>(errors);
        });
  });
  EXPECT_THAT(KubectlFile("create", CronJob("first")), HasSubstr("created"));
  const auto write = [](std::string_view active) {
    return Patch("--subresource=status -p '{\"status\":{\"active\":" + std::string(active) + "}}'");
  };
  EXPECT_THAT(write(R"([{"name":"a"},{"name":"b"}])"), HasSubstr("status.active: Forbidden: one at a time"));
  EXPECT_FALSE(Get("v1", "first").contains("status"));
  EXPECT_THAT(write(R"([{"name":"a"}])"), HasSubstr("patched"));
  EXPECT_EQ(Get("v1", "first")["status"]["active"].size(), 1U);
  EXPECT_EQ(statuses, 2);
  EXPECT_EQ(others, 0);

  Configure([](Json& webhook) { webhook["rules"][0]["resources"] = {"cronjobs"}; });
  EXPECT_TRUE(Eventually([&] { return write(R"([{"name":"a"},{"name":"b"}])").find("patched") != std::string::npos; }));
  EXPECT_EQ(Get("v1", "first")["status"]["active"].size(), 2U);
  const int before = statuses;
  EXPECT_THAT(write("[]"), HasSubstr("patched"));
  EXPECT_EQ(statuses, before) << "the rule does not name the subresource";
  EXPECT_THAT(Patch(R"(-p '{"spec":{"schedule":"x"}}')"), HasSubstr("spec.schedule: Invalid value"));
  EXPECT_EQ(others, 1) << "but the object itself";
}

TEST_P(WebhooksTest, ADryRunIsAnsweredAndStoresNothing) {
  EXPECT_THAT(KubectlFile("create --dry-run=server -o json", CronJob("first")), HasSubstr("\"concurrencyPolicy\""));
  EXPECT_THAT(RealApiServer::Kubectl(std::string("get ") + kResource + " first"), HasSubstr("not found"));
}

TEST_P(WebhooksTest, AWarningReachesKubectl) {
  EXPECT_THAT(KubectlFile("create", CronJob("never", "0 0 30 2 *")),
              AllOf(HasSubstr("Warning: spec.schedule: no such day exists"), HasSubstr("created")));
}

TEST_P(WebhooksTest, ReadsEachVersionWhicheverIsStored) {
  KubectlFile("create", CronJob("old", "1 2 3 4 5"));
  SetStorageVersion("v2");
  EXPECT_TRUE(Eventually([this] {
    const Json crd = Read("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + std::string(kCrd));
    return crd["status"]["storedVersions"] == Json{"v1", "v2"};
  }));
  Json next = CronJob("new");
  next["apiVersion"] = "batch.tutorial.kubebuilder.io/v2";
  next["spec"]["schedule"] = {{"minute", "7"}};
  EXPECT_THAT(KubectlFile("create", next), HasSubstr("created"));
  EXPECT_EQ(Get("v1", "new")["spec"]["schedule"], "7 * * * *");
  EXPECT_EQ(Get("v2", "old")["spec"]["schedule"],
            (Json{{"minute", "1"}, {"hour", "2"}, {"dayOfMonth", "3"}, {"month", "4"}, {"dayOfWeek", "5"}}));
  EXPECT_EQ(Get("v1", "old")["spec"]["schedule"], "1 2 3 4 5");
  EXPECT_EQ(Get("v1", "new")["metadata"]["uid"], Get("v2", "new")["metadata"]["uid"]);
}

TEST_P(WebhooksTest, InformersOfBothVersionsStayRightWhileTheStorageVersionChanges) {
  const tutorial::Clientset clients(*connection_);
  const auto jobs = clients.BatchTutorialV1().CronJobs("default");
  tutorial::SharedInformerFactory factory(clients);
  const auto old = factory.BatchTutorial().V1().CronJobs();
  const auto now = factory.BatchTutorial().V2().CronJobs();
  const auto of_old = old.Lister();
  const auto of_now = now.Lister();
  factory.Start({});
  Must(factory.WaitForCacheSync({}, {.give_up_after = 60s}));
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 10; ++i) {
      const std::string name = "job-" + std::to_string(round) + "-" + std::to_string(i);
      const auto created = jobs.Create(Must(Decode<v1::CronJob>(CronJob(name, std::to_string(i) + " * * * *").dump())));
      EXPECT_TRUE(created) << created.error().ToString();
      if (i == 5) SetStorageVersion(round % 2 == 0 ? "v2" : "v1");
    }
  }
  const auto complete = [&] { return of_old.List().size() == 60 && of_now.List().size() == 60; };
  EXPECT_TRUE(Eventually(complete));
  for (const auto& each : of_old.List()) {
    const std::string minute = std::to_string(each->metadata.name.back() - '0');
    EXPECT_EQ(each->spec->schedule, minute + " * * * *");
    const auto other = of_now.CronJobs("default").Get(each->metadata.name);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->spec->schedule->minute, minute);
    EXPECT_EQ(other->metadata.resourceVersion, each->metadata.resourceVersion);
  }
  factory.Shutdown();
}

TEST_P(OwnWebhooksTest, ATimeoutFollowsTheFailurePolicy) {
  std::atomic<bool> release = false;
  Serve([&](const Manager& manager) {
    AddCronJobWebhooks(manager);
    manager.Webhook<v1::CronJob>().MutatingPath("/slow").Default([&](v1::CronJob&, const Admission& request) {
      auto pause = DefaultExecutor()->MakeWaiter("slow webhook");
      while (!release && !request.stop().stop_requested()) {
        (void)pause->Wait(request.stop(), DefaultExecutor()->clock()->Now() + 50ms);
      }
      return Result<void>();
    });
  });
  // Only the slow webhook gets a short timeout, because the machine may be busy.
  const auto slow = [](std::string_view policy) {
    return [policy](Json& webhook) {
      if (!webhook["name"].get<std::string>().starts_with("mutate")) return;
      Json& client = webhook["clientConfig"];
      Json& target = client.contains("url") ? client["url"] : client["service"]["path"];
      const std::string text = target;
      target = text.substr(0, text.rfind('/')) + "/slow";
      webhook["timeoutSeconds"] = 1;
      webhook["failurePolicy"] = policy;
    };
  };
  const auto create = [this] { return KubectlFile("create --dry-run=server", CronJob("first")); };
  std::string answer;
  Configure(slow("Fail"));
  EXPECT_TRUE(Eventually([&] { return (answer = create()).find("failed calling webhook") != std::string::npos; }))
      << answer;
  EXPECT_THAT(answer, AllOf(HasSubstr("mutate.cronjobs.example.com"), HasSubstr("deadline exceeded")));
  Configure(slow("Ignore"));
  EXPECT_TRUE(Eventually([&] { return (answer = create()).find("created") != std::string::npos; })) << answer;
  release = true;
}

// Files are read every ten seconds.
class RotationTest : public WebhooksTest {
 protected:
  // Waits until new connections get the certificate in the files.
  void AwaitCertificate() const {
    EXPECT_TRUE(Eventually([this] { return CertificateAt(replica_->port()) == IssuedCertificate(); }, 120s));
  }
};

TEST_P(RotationTest, ACertificateIsReplacedUnderLoadWithoutAFailedRequest) {
  const auto failed = FailedCalls();
  Load load(*connection_);
  IssueFiles(authority_);
  AwaitCertificate();
  EXPECT_TRUE(load.Passes(3));
  Install(replica_->port(), {authority_, Must(testing::CertificateAuthority::Make("other"))});
  EXPECT_TRUE(load.Passes(3)) << "with new connections";
  EXPECT_THAT(load.End(), IsEmpty());
  EXPECT_EQ(FailedCalls(), failed);
}

TEST_P(RotationTest, AnAuthorityIsReplacedInThreeStepsUnderLoadWithoutAFailedRequest) {
  const auto failed = FailedCalls();
  const Authority next = Must(testing::CertificateAuthority::Make("next"));
  Load load(*connection_);
  Install(replica_->port(), {authority_, next});
  // Nothing shows when the server has noticed, so it gets ten times what it needs on a busy machine.
  (void)DefaultExecutor()->MakeWaiter("settle")->Wait({}, DefaultExecutor()->clock()->Now() + 10s);
  IssueFiles(next);
  AwaitCertificate();
  EXPECT_TRUE(load.Passes(3));
  Install(replica_->port(), {next});
  EXPECT_TRUE(load.Passes(3));
  EXPECT_THAT(load.End(), IsEmpty());
  EXPECT_EQ(FailedCalls(), failed);
}

INSTANTIATE_TEST_SUITE_P(Url, WebhooksTest, ::testing::Values(Route::kUrl));
INSTANTIATE_TEST_SUITE_P(Service, WebhooksTest, ::testing::Values(Route::kService));
INSTANTIATE_TEST_SUITE_P(Url, OwnWebhooksTest, ::testing::Values(Route::kUrl));
INSTANTIATE_TEST_SUITE_P(Service, OwnWebhooksTest, ::testing::Values(Route::kService));
INSTANTIATE_TEST_SUITE_P(Service, RotationTest, ::testing::Values(Route::kService));

}  // namespace
}  // namespace kgen::integration
