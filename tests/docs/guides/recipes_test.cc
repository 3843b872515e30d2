// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/batch/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>
#include <site/clientset.h>
#include <site/web/v1/types.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kgen/client/crd.h"
#include "kgen/controller/predicates.h"
#include "kgen/controller/terminal_error.h"
#include "kgen/controller/wait.h"
#include "kgen/core/conditions.h"
#include "kgen/core/executor.h"
#include "tests/docs/guides/guide.h"

using k8s::batch::v1::Job;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::Pod;
using site::web::v1::Website;
using site::web::v1::WebsiteSpec;
using namespace std::chrono_literals;

namespace guides {
namespace {

// begin wait
// Blocks until the job has ended, for ten minutes at most. Returns whether it succeeded.
kgen::Result<bool> WaitForJob(const kgen::CachedClient& client, const kgen::ObjectKey& key, std::stop_token stop) {
  const auto ended = [](const kgen::Ref<const Job>& job) {
    return !job || kgen::IsConditionTrue(job->status->conditions, "Complete") ||
           kgen::IsConditionTrue(job->status->conditions, "Failed");
  };
  KGEN_TRY(const auto job, kgen::WaitFor<Job>(client, key, ended, std::move(stop), 10min));
  return job && kgen::IsConditionTrue(job->status->conditions, "Complete");
}
// end wait

// begin one
// Calls `changed` with the settings now, and whenever somebody edits them. Only this one ConfigMap is in memory.
kgen::Registration WatchSettings(const k8s::SharedInformerFactory& factory,
                                 const std::function<void(const ConfigMap&)>& changed) {
  const auto maps =
      factory.Core().V1().ConfigMaps().In({.namespace_ = "default", .field_selector = "metadata.name=settings"});
  return maps.Informer().AddEventHandler({
      .on_add = [changed](const kgen::Added<ConfigMap>& e) { changed(*e.now); },
      .on_update = [changed](const kgen::Updated<ConfigMap>& e) { changed(*e.now); },
  });
}
// end one

// begin many
// A change of the ConfigMap `theme` reconciles every site of its namespace.
kgen::Result<void> AddThemeController(const kgen::Manager& manager,
                                      std::function<kgen::Result<void>(kgen::Request&)> reconcile) {
  KGEN_TRY(const auto sites, manager.caches().Of<Website>());  // a cache, because the function must not block
  return kgen::Discard(manager.Control<Website>("themes")
                           .Watches<ConfigMap>(
                               [sites](const ConfigMap& map, kgen::Requests& requests) {
                                 const auto all = sites.List({.namespace_ = map.metadata.namespace_.str()});
                                 if (!all) return;  // not synced yet; every site is reconciled at the start anyway
                                 for (const auto& site : *all)
                                   requests.Add(site->metadata.namespace_, site->metadata.name);
                               },
                               kgen::MatchesMetadata(
                                   [](const kgen::meta::v1::ObjectMeta& metadata) { return metadata.name == "theme"; }))
                           .Reconcile(std::move(reconcile)));
}
// end many

// begin periodic
// Looks at each site once an hour, and when something happens to it.
kgen::Result<kgen::Requeue> CheckHourly(kgen::Request& request) {
  KGEN_TRY(const auto site, request.Get<Website>());
  if (!site) return kgen::Requeue::Done();  // nothing is left to check
  request.Log("checked");
  return kgen::Requeue::After(1h);
}

// Does something once a minute, as long as the manager runs and leads.
kgen::Result<void> AddEachMinute(const kgen::Manager& manager, std::function<void()> work) {
  kgen::Executor* executor = &manager.connection().executor();
  return manager.Add("each minute", [executor, work = std::move(work)](const std::stop_token& stop) {
    const auto pause = executor->MakeWaiter("each minute");
    while (!stop.stop_requested()) {
      work();
      (void)pause->Wait(stop, executor->clock()->Now() + 1min);  // ends early with the stop
    }
    return kgen::Result<void>();
  });
}
// end periodic

// begin backoff
kgen::Result<void> AddPatientController(const kgen::Manager& manager,
                                        std::function<kgen::Result<std::string>(const Website&)> publish) {
  KGEN_TRY(const auto limiter, kgen::ExponentialRateLimiter(1s, 5min));  // by default 5 ms to 1000 s
  return kgen::Discard(manager.Control<Website>("publisher")
                           .RateLimiter(limiter)
                           .Reconcile([publish](kgen::Request& request) -> kgen::Result<kgen::Requeue> {
                             KGEN_TRY(const auto site, request.Get<Website>());
                             if (!site) return kgen::Requeue::Done();
                             const auto state = publish(*site);
                             if (!state && state.error().code() == kgen::Code::kInvalid) {
                               return kgen::TerminalError(state.error());  // only an edit can help
                             }
                             if (!state) return state.error();                          // 1 s, 2 s, 4 s, ...
                             if (*state == "pending") return kgen::Requeue::BackOff();  // as long, but no failure
                             return kgen::Requeue::Done();
                           }));
}
// end backoff

class RecipesGuide : public Guide {
 protected:
  void InstallSites() { kgen::Must(kgen::crd::Install(cluster_.Connection(), site::Manifests())); }
  void AddSite(std::string_view name) {
    kgen::Must(cluster_.Add(
        Website{.metadata = {.name = name, .namespace_ = "default"}, .spec = WebsiteSpec{.html = "Hello"}}));
  }
};

TEST_F(RecipesGuide, WaitsForTheEndOfAJob) {
  cluster_.AddResource({.group = "batch",
                        .version = "v1",
                        .plural = "jobs",
                        .singular = "job",
                        .kind = "Job",
                        .list_kind = "JobList",
                        .has_status = true});
  kgen::Must(cluster_.Add(kgen::testing::MinimalObject("batch/v1", "Job", "default", "report")));
  Run();
  const auto waiting =
      cluster_.simulation().Spawn([&] { return WaitForJob(manager_.client(), {"default", "report"}, {}); });
  cluster_.RunUntilIdle();
  EXPECT_FALSE(waiting.done());

  Job done = kgen::testing::MinimalObject("batch/v1", "Job", "default", "report");
  kgen::SetCondition(done.status->conditions, {.status = "True", .type = "Complete"});
  kgen::Must(cluster_.Update(done));
  cluster_.RunUntilIdle();
  ASSERT_TRUE(waiting.done() && waiting.result());
  EXPECT_TRUE(*waiting.result());
}

TEST_F(RecipesGuide, FollowsOneObject) {
  kgen::Must(cluster_.Add(R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"level": "1"},
      "metadata": {"namespace": "default", "name": "settings"}})"));
  kgen::Must(cluster_.Add(kgen::testing::MinimalObject("v1", "ConfigMap", "default", "other")));
  k8s::SharedInformerFactory factory(cluster_.Connection());
  std::vector<std::string> levels;
  const auto registration =
      WatchSettings(factory, [&](const ConfigMap& map) { levels.push_back(map.data["level"].str()); });
  factory.Start();
  kgen::Must(factory.WaitForCacheSync({}, {.handlers = {&registration}}));
  kgen::Must(cluster_.Update(R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"level": "2"},
      "metadata": {"namespace": "default", "name": "settings"}})"));
  cluster_.RunUntilIdle();
  EXPECT_THAT(levels, ::testing::ElementsAre("1", "2"));
}

TEST_F(RecipesGuide, OneEventReconcilesManyObjects) {
  InstallSites();
  AddSite("a");
  AddSite("b");
  std::vector<std::string> calls;
  kgen::Must(AddThemeController(manager_, [&](kgen::Request& request) -> kgen::Result<void> {
    calls.push_back(request.key().name.str());
    return {};
  }));
  Run();
  calls.clear();
  kgen::Must(cluster_.Add(kgen::testing::MinimalObject("v1", "ConfigMap", "default", "other")));
  cluster_.RunUntilIdle();
  EXPECT_THAT(calls, ::testing::IsEmpty());
  kgen::Must(cluster_.Add(kgen::testing::MinimalObject("v1", "ConfigMap", "default", "theme")));
  cluster_.RunUntilIdle();
  EXPECT_THAT(calls, ::testing::UnorderedElementsAre("a", "b"));
}

TEST_F(RecipesGuide, WorksPeriodically) {
  InstallSites();
  AddSite("a");
  int minutes = 0, checks = 0;
  kgen::Must(manager_.Control<Website>("hourly").Reconcile([&](kgen::Request& request) {
    ++checks;
    return CheckHourly(request);
  }));
  kgen::Must(AddEachMinute(manager_, [&] { ++minutes; }));
  Run();
  minutes = checks = 0;
  cluster_.Advance(2h + 1min);
  EXPECT_EQ(checks, 2);
  EXPECT_NEAR(minutes, 121, 1);
}

TEST_F(RecipesGuide, BacksOff) {
  InstallSites();
  AddSite("a");
  AddSite("wrong");
  int calls = 0, refused = 0;
  kgen::Must(AddPatientController(manager_, [&](const Website& site) -> kgen::Result<std::string> {
    if (site.metadata.name == "wrong") return ++refused, kgen::Fail(kgen::Code::kInvalid, "no such theme");
    ++calls;
    if (calls == 1) return kgen::Fail(kgen::Code::kUnavailable, "away");
    return calls < 4 ? "pending" : "public";
  }));
  Run();
  cluster_.Advance(10s);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace guides
