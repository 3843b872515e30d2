// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/storage_migration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using testing::Cluster;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kCrd = "orders.shop.example";

class StorageMigrationTest : public ::testing::Test {
 protected:
  StorageMigrationTest() {
    Must(cluster_.Add(std::string_view(Crd().dump())));
    SetStored({"v1", "v2"});
    for (int i = 0; i < 7; ++i) AddOrder(i);
    cluster_.ClearWrites();
  }

  void AddOrder(int i) {
    const json order = {{"apiVersion", "shop.example/v1"},
                        {"kind", "Order"},
                        {"metadata", {{"name", "o" + std::to_string(i)}, {"namespace", i < 4 ? "default" : "shop"}}},
                        {"spec", {{"quantity", i}, {"free", {{"x", 1.5}}}}}};
    Must(cluster_.Add(std::string_view(order.dump())));
  }
  // Makes the tokens of pages expire that were read until now.
  void ExpireTokens(int i) {
    AddOrder(i);
    cluster_.Compact();
  }

  static json Crd() {
    const json schema = {{"openAPIV3Schema", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}};
    return {{"apiVersion", "apiextensions.k8s.io/v1"},
            {"kind", "CustomResourceDefinition"},
            {"metadata", {{"name", kCrd}}},
            {"spec",
             {{"group", "shop.example"},
              {"scope", "Namespaced"},
              {"names", {{"plural", "orders"}, {"kind", "Order"}}},
              {"versions",
               {{{"name", "v1"}, {"served", true}, {"storage", false}, {"schema", schema}},
                {{"name", "v2"}, {"served", true}, {"storage", true}, {"schema", schema}}}}}}};
  }
  json StoredCrd() { return json::parse(Must(cluster_.Get("customresourcedefinitions", "", kCrd))); }
  void SetStored(const std::vector<std::string>& versions) {
    json crd = StoredCrd();
    crd["status"]["storedVersions"] = versions;
    Must(cluster_.Update(std::string_view(crd.dump())));
  }
  void LabelCrd(const std::string& value) {
    json crd = StoredCrd();
    crd["metadata"]["labels"]["x"] = value;
    Must(cluster_.Update(std::string_view(crd.dump())));
  }
  std::size_t Updates() {
    const std::vector<testing::Action> writes = cluster_.Writes();
    return static_cast<std::size_t>(std::ranges::count_if(
        writes, [](const auto& write) { return write.verb == "update" && write.resource == "orders"; }));
  }
  Result<MigrationReport> Migrate(const MigrationOptions& options = {.page_size = 3}, std::stop_token stop = {}) {
    return MigrateStorage(cluster_.Connection(), kCrd, options, std::move(stop));
  }
  TimePoint Now() { return cluster_.simulation().clock()->Now(); }

  Cluster cluster_;
};

TEST_F(StorageMigrationTest, WritesEveryObjectAndForgetsTheOldVersion) {
  const json before = json::parse(Must(cluster_.Get("orders", "shop", "o5")));
  const auto report = Migrate();
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->str(), "stored in v2: 7 objects written, 0 written or deleted by others, 1 round");
  EXPECT_EQ(report->stored_versions, (std::vector<std::string>{"v1", "v2"}));
  EXPECT_EQ(report->pages, 3u);
  EXPECT_EQ(Updates(), 7u);
  EXPECT_EQ(cluster_.Writes().back().str(), "update customresourcedefinitions/status orders.shop.example");
  EXPECT_EQ(StoredCrd()["status"]["storedVersions"], json({"v2"}));
  EXPECT_TRUE(StoredCrd()["status"].contains("conditions"));
  EXPECT_EQ(json::parse(Must(cluster_.Get("orders", "shop", "o5")))["spec"], before["spec"]);
}

TEST_F(StorageMigrationTest, WritesNothingIfThereIsNothingToDo) {
  SetStored({"v2"});
  cluster_.ClearWrites();
  const TimePoint begin = Now();
  const auto report = Migrate();
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->rounds, 0);
  EXPECT_THAT(cluster_.Writes(), IsEmpty());
  EXPECT_LT(Now() - begin, 1s);
}

TEST_F(StorageMigrationTest, WaitsUntilAllServersKnowTheVersionAndThenWritesSlowly) {
  const TimePoint begin = Now();
  std::vector<Nanos> pages;
  const auto report =
      Migrate({.settle = 90s, .updates_per_second = 2, .page_size = 3, .progress = [&](const MigrationProgress& done) {
                 EXPECT_EQ(done.updated, 3 * done.pages);
                 pages.push_back(Now() - begin);
               }});
  ASSERT_TRUE(report) << report.error();
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_GE(pages[0], 91s);
  EXPECT_LT(pages[0], 92s);
  EXPECT_GE(pages[1], 92s + 500ms);
  EXPECT_LT(Now() - begin, 95s);
}

TEST_F(StorageMigrationTest, AConflictAndAMissingObjectCountAsDone) {
  cluster_.Inject({.verb = "update", .resource = "orders", .status = 409, .reason = "Conflict"});
  cluster_.Inject({.verb = "update", .resource = "orders", .status = 404, .reason = "NotFound"});
  const auto report = Migrate();
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->updated, 5u);
  EXPECT_EQ(report->skipped, 2u);
  EXPECT_EQ(StoredCrd()["status"]["storedVersions"], json({"v2"}));
}

TEST_F(StorageMigrationTest, StartsAgainIfTheCrdChangesMeanwhile) {
  int changes = 0;
  const auto report = Migrate({.page_size = 3, .progress = [&](const MigrationProgress&) {
                                 if (changes++ == 0) LabelCrd("y");
                               }});
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->rounds, 2);
  EXPECT_EQ(report->updated, 14u);
  EXPECT_EQ(StoredCrd()["status"]["storedVersions"], json({"v2"}));
}

TEST_F(StorageMigrationTest, WaitsAgainIfTheStorageVersionChangesMeanwhile) {
  int changes = 0;
  const TimePoint begin = Now();
  const auto report = Migrate({.page_size = 3, .progress = [&](const MigrationProgress&) {
                                 if (changes++ > 0) return;
                                 json crd = StoredCrd();
                                 crd["spec"]["versions"][0]["storage"] = true;
                                 crd["spec"]["versions"][1]["storage"] = false;
                                 Must(cluster_.Update(std::string_view(crd.dump())));
                               }});
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->storage_version, "v1");
  EXPECT_GE(Now() - begin, 2min);
  EXPECT_EQ(StoredCrd()["status"]["storedVersions"], json({"v1"}));
}

TEST_F(StorageMigrationTest, GivesUpIfTheCrdNeverRests) {
  int changes = 0;
  const auto report =
      Migrate({.page_size = 3, .progress = [&](const MigrationProgress&) { LabelCrd(std::to_string(++changes)); }});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Code::kConflict);
  EXPECT_EQ(Updates(), 35u);
  EXPECT_EQ(StoredCrd()["status"]["storedVersions"], json({"v1", "v2"}));
}

TEST_F(StorageMigrationTest, GoesOnWhereACallWasStopped) {
  std::stop_source stop;
  std::string resume;
  const auto stopped = Migrate({.page_size = 3,
                                .progress =
                                    [&](const MigrationProgress& done) {
                                      resume = done.resume;
                                      stop.request_stop();
                                    }},
                               stop.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), Code::kCancelled);
  EXPECT_EQ(Updates(), 3u);

  const TimePoint begin = Now();
  const auto report = Migrate({.page_size = 3, .resume = resume});
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->updated, 4u);
  EXPECT_LT(Now() - begin, 10s) << "the servers know the version already";
  EXPECT_EQ(StoredCrd()["status"]["storedVersions"], json({"v2"}));
}

TEST_F(StorageMigrationTest, DoesNotResumeAfterAChangeOfTheCrd) {
  std::string resume;
  std::stop_source stop;
  EXPECT_FALSE(Migrate({.page_size = 3,
                        .progress =
                            [&](const MigrationProgress& done) {
                              resume = done.resume;
                              stop.request_stop();
                            }},
                       stop.get_token()));
  LabelCrd("y");
  const auto report = Migrate({.page_size = 3, .resume = resume});
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->updated, 7u);
}

TEST_F(StorageMigrationTest, BeginsAgainWhenATokenHasExpired) {
  int pages = 0;
  const auto report = Migrate({.page_size = 3, .progress = [&](const MigrationProgress&) {
                                 if (pages++ == 0) ExpireTokens(7);
                               }});
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->rounds, 1);
  EXPECT_EQ(report->updated, 11u);
  EXPECT_EQ(StoredCrd()["status"]["storedVersions"], json({"v2"}));
}

TEST_F(StorageMigrationTest, GivesUpIfTokensAlwaysExpire) {
  int added = 7;
  const auto report = Migrate({.page_size = 3, .progress = [&](const MigrationProgress&) { ExpireTokens(added++); }});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Code::kExpired);
}

TEST_F(StorageMigrationTest, WritesAllOthersIfTheServerRefusesAnObject) {
  cluster_.Inject({.verb = "update",
                   .resource = "orders",
                   .times = 2,
                   .skip = 2,
                   .status = 422,
                   .reason = "Invalid",
                   .message = "spec.quantity: too small"});
  const auto report = Migrate();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Code::kInvalid);
  EXPECT_THAT(report.error().ToString(), AllOf(HasSubstr("migrate orders.shop.example: the server refuses 2 objects"),
                                               HasSubstr("default/o2: injected: spec.quantity: too small")));
  EXPECT_EQ(Updates(), 5u);
  EXPECT_EQ(StoredCrd()["status"]["storedVersions"], json({"v1", "v2"}));
}

TEST_F(StorageMigrationTest, TriesAgainAfterAFailureOfTheServer) {
  cluster_.Inject({.verb = "update", .resource = "orders", .status = 500});
  cluster_.Inject({.verb = "update", .resource = "orders", .refuse = true});
  const auto report = Migrate();
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->updated, 7u);

  SetStored({"v1", "v2"});
  cluster_.Inject({.verb = "update", .resource = "orders", .times = testing::kAlways, .status = 500});
  const auto failed = Migrate();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kServer);
}

TEST_F(StorageMigrationTest, FailsForWhatIsNotThere) {
  EXPECT_EQ(MigrateStorage(cluster_.Connection(), "cups.shop.example").error().code(), Code::kNotFound);
  EXPECT_EQ(Migrate({.updates_per_second = 0}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Migrate({.page_size = 0}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Migrate({.settle = -1s}).error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace kgen
