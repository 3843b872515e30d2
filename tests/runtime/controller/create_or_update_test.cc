// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CreateOrUpdate, CreateOrPatch and ApplyIfChanged against the in-memory API server.
#include "kgen/controller/create_or_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/controller/owners.h"
#include "kgen/testing/cluster.h"

namespace kgen {
namespace {

using k8s::apps::v1::Deployment;
using k8s::core::v1::Service;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CreateOrUpdateTest : public ::testing::Test {
 protected:
  CreateOrUpdateTest() { caches_.Start(stop_.get_token()); }
  ~CreateOrUpdateTest() override { caches_.Shutdown(); }

  static Deployment Web() { return {.metadata = {.name = "web", .namespace_ = "default"}}; }
  // Adds default/web with a label of somebody else.
  void AddWeb() {
    Deployment web = Web();
    web.metadata.labels["team"] = "a";
    web.spec->replicas = 1;
    web.status->replicas = 1;
    Must(cluster_.Add(web));
  }
  Deployment OnServer() { return Must(Decode<Deployment>(Must(cluster_.Get("deployments", "default", "web")))); }
  std::int32_t Replicas() {
    const Deployment web = OnServer();
    return *web.spec->replicas;
  }
  // Another client's change.
  void ChangeLabel(std::string_view value) {
    Deployment web = OnServer();
    web.metadata.labels["team"] = value;
    Must(cluster_.Update(web));
  }
  std::vector<std::string> Writes() {
    std::vector<std::string> writes;
    for (const testing::Action& write : cluster_.Writes()) writes.push_back(write.str());
    cluster_.ClearWrites();
    return writes;
  }

  testing::Cluster cluster_;
  Caches caches_{cluster_.Connection(), {}};
  CachedClient client_{caches_, "test"};
  std::stop_source stop_;
};

// Contract: controller 171.
TEST_F(CreateOrUpdateTest, CreatesAnObjectThatIsMissing) {
  const auto written = CreateOrUpdate(client_, Web(), [](Deployment& web) { web.spec->replicas = 3; });
  ASSERT_TRUE(written) << written.error();
  EXPECT_EQ(written->operation, OperationResult::kCreated);
  EXPECT_FALSE(written->object.metadata.uid.empty());
  EXPECT_EQ(Replicas(), 3);
  EXPECT_THAT(Writes(), ElementsAre("create deployments default/web"));
}

// Contract: controller 171.
TEST_F(CreateOrUpdateTest, UpdatesOnlyWhatChanged) {
  AddWeb();
  const auto scale = [](Deployment& web) { web.spec->replicas = 3; };
  const auto written = CreateOrUpdate(client_, Web(), scale);
  ASSERT_TRUE(written) << written.error();
  EXPECT_EQ(written->operation, OperationResult::kUpdated);
  EXPECT_EQ(Replicas(), 3);
  EXPECT_EQ(OnServer().metadata.labels["team"], "a");
  EXPECT_EQ(written->object.metadata.resourceVersion, OnServer().metadata.resourceVersion);
  EXPECT_THAT(Writes(), ElementsAre("update deployments default/web"));

  const auto again = CreateOrUpdate(client_, Web(), scale);
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(again->operation, OperationResult::kUnchanged);
  EXPECT_EQ(again->object, OnServer());
  EXPECT_THAT(Writes(), IsEmpty());
}

// Contract: controller 171.
TEST_F(CreateOrUpdateTest, SendsNothingForWhatMeansTheSame) {
  AddWeb();
  const auto written = CreateOrUpdate(client_, Web(), [](Deployment& web) { web.metadata.annotations.emplace(); });
  ASSERT_TRUE(written) << written.error();
  EXPECT_EQ(written->operation, OperationResult::kUnchanged);
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(CreateOrUpdateTest, FailsIfTheObjectHasChangedMeanwhile) {
  AddWeb();
  const auto written = CreateOrUpdate(client_, Web(), [&](Deployment& web) {
    ChangeLabel("b");
    web.spec->replicas = 3;
  });
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), Code::kConflict);
  EXPECT_EQ(OnServer().metadata.labels["team"], "b");
}

// Contract: controller 171.
TEST_F(CreateOrUpdateTest, RefusesAnotherNameOrNamespace) {
  const auto rename = [](Deployment& web) { web.metadata.name = "api"; };
  const auto move = [](Deployment& web) { web.metadata.namespace_ = "kube-system"; };
  for (const bool exists : {false, true}) {
    if (exists) AddWeb();
    const auto renamed = CreateOrUpdate(client_, Web(), rename);
    ASSERT_FALSE(renamed);
    EXPECT_EQ(renamed.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(renamed.error().message(), AllOf(HasSubstr("default/web"), HasSubstr("default/api")));
    const auto moved = CreateOrPatch(client_, Web(), move);
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code(), Code::kInvalidArgument);
  }
  const auto nameless = CreateOrUpdate(client_, Deployment{}, rename);
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(CreateOrUpdateTest, EndsWithTheErrorOfMutate) {
  const Deployment no_uid{.metadata = {.name = "app", .namespace_ = "default"}};
  const auto own = [&](Deployment& web) { return SetControllerReference(web, no_uid); };
  for (const bool exists : {false, true}) {
    if (exists) AddWeb();
    EXPECT_THAT(CreateOrUpdate(client_, Web(), own).error().ToString(), HasSubstr("has no UID"));
    EXPECT_THAT(CreateOrPatch(client_, Web(), own).error().ToString(), HasSubstr("has no UID"));
  }
  EXPECT_THAT(Writes(), IsEmpty());
}

TEST_F(CreateOrUpdateTest, ReportsARefusedRead) {
  cluster_.Inject({.resource = "deployments", .times = testing::kAlways, .status = 403, .reason = "Forbidden"});
  const auto written = CreateOrUpdate(client_, Web(), [](Deployment&) {});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), Code::kForbidden);
  cluster_.ClearFaults();
}

TEST_F(CreateOrUpdateTest, WritesObjectsOfAnyKind) {
  const Unstructured map{
      .metadata = {.name = "settings", .namespace_ = "default"}, .apiVersion = "v1", .kind = "ConfigMap"};
  const auto set = [](Unstructured& object) { return object.Set("data.mode", "fast"); };
  EXPECT_EQ(Must(CreateOrUpdate(client_, map, set)).operation, OperationResult::kCreated);
  EXPECT_EQ(Must(CreateOrUpdate(client_, map, set)).operation, OperationResult::kUnchanged);
  const auto change = [](Unstructured& object) { return object.Set("data.mode", "slow"); };
  EXPECT_EQ(Must(CreateOrPatch(client_, map, change)).operation, OperationResult::kUpdated);
  EXPECT_THAT(Writes(), ElementsAre("create configmaps default/settings", "patch configmaps default/settings"));
}

// Contract: controller 172.
TEST_F(CreateOrUpdateTest, PatchesTheObjectAndItsStatusSeparately) {
  AddWeb();
  struct Case {
    bool spec, status;
    OperationResult result;
    std::vector<std::string> writes;
  };
  const std::vector<Case> cases = {
      {false, false, OperationResult::kUnchanged, {}},
      {true, false, OperationResult::kUpdated, {"patch deployments default/web"}},
      {false, true, OperationResult::kUpdatedStatusOnly, {"patch deployments/status default/web"}},
      {true,
       true,
       OperationResult::kUpdatedStatus,
       {"patch deployments default/web", "patch deployments/status default/web"}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(ToString(c.result));
    const auto written = CreateOrPatch(client_, Web(), [&](Deployment& web) {
      if (c.spec) web.spec->replicas = *web.spec->replicas + 1;
      if (c.status) web.status->replicas = *web.status->replicas + 1;
    });
    ASSERT_TRUE(written) << written.error();
    EXPECT_EQ(written->operation, c.result);
    EXPECT_EQ(written->object, OnServer());
    EXPECT_EQ(Writes(), c.writes);
  }
  EXPECT_EQ(Replicas(), 3);
  const Deployment web = OnServer();
  EXPECT_EQ(*web.status->replicas, 3);
}

// Contract: controller 172.
TEST_F(CreateOrUpdateTest, PatchesNothingThatOthersChangeMeanwhile) {
  AddWeb();
  const auto written = CreateOrPatch(client_, Web(), [&](Deployment& web) {
    ChangeLabel("b");
    web.metadata.labels["app"] = "web";
  });
  ASSERT_TRUE(written) << written.error();
  EXPECT_EQ(written->object.metadata.labels, (Map<String>{{"app", "web"}, {"team", "b"}}));
}

// Contract: controller 172.
TEST_F(CreateOrUpdateTest, CreatesAnObjectThatIsMissingInsteadOfPatchingIt) {
  const auto written = CreateOrPatch(client_, Web(), [](Deployment& web) { web.spec->replicas = 3; });
  ASSERT_TRUE(written) << written.error();
  EXPECT_EQ(written->operation, OperationResult::kCreated);
  EXPECT_THAT(Writes(), ElementsAre("create deployments default/web"));
}

TEST_F(CreateOrUpdateTest, AppliesWhatIsMissing) {
  Deployment wanted = Web();
  wanted.spec->replicas = 3;
  EXPECT_EQ(Must(ApplyIfChanged(client_, wanted)).operation, OperationResult::kCreated);
  EXPECT_EQ(Replicas(), 3);
  EXPECT_EQ(OnServer().metadata.managedFields[0].manager, "test");
  EXPECT_EQ(Must(ApplyIfChanged(client_, wanted)).operation, OperationResult::kUnchanged);
  EXPECT_THAT(Writes(), ElementsAre("patch deployments default/web"));
  wanted.spec->replicas = kAbsent;
  wanted.spec->paused = true;
  EXPECT_EQ(Must(ApplyIfChanged(client_, wanted)).operation, OperationResult::kUpdated);
  EXPECT_EQ(Must(ApplyIfChanged(client_, wanted)).operation, OperationResult::kUnchanged);
  EXPECT_THAT(Writes(), ElementsAre("patch deployments default/web"));
}

// A controller that is idle writes nothing, also if it leaves to the server what has a default.
TEST_F(CreateOrUpdateTest, SendsNoApplyForPortsWithoutAProtocol) {
  Service wanted{.metadata = {.name = "web", .namespace_ = "default", .labels = {{"app", "web"}}}};
  wanted.spec->selector = {{"app", "web"}};
  wanted.metadata.finalizers = {"shop/a"};
  wanted.spec->ports = {{.name = "http", .port = 80}, {.name = "dns", .port = 53, .protocol = "UDP"}};
  Deployment pods = Web();
  pods.spec->template_->spec->containers = {{.name = "main", .image = "nginx:1", .ports = {{.containerPort = 80}}}};
  for (int i = 0; i < 3; ++i) {
    Must(ApplyIfChanged(client_, wanted));
    Must(ApplyIfChanged(client_, pods));
  }
  EXPECT_THAT(Writes(), ElementsAre("patch services default/web", "patch deployments default/web"));
  const Ref<const Service> stored = Must(client_.Get<Service>({"default", "web"}));
  EXPECT_EQ(stored->spec->ports[0].protocol, "TCP");
  wanted.spec->ports[0].port = 81;
  Must(ApplyIfChanged(client_, wanted));
  EXPECT_THAT(Writes(), ElementsAre("patch services default/web"));
}

TEST_F(CreateOrUpdateTest, SendsNoApplyForWhatIsAppliedAlready) {
  Must(cluster_.Add(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default",
      "managedFields":[{"manager":"test","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1",
                        "fieldsV1":{"f:spec":{"f:replicas":{}}}}]},
      "spec":{"replicas":3,"revisionHistoryLimit":10}})"));
  Deployment wanted = Web();
  wanted.spec->replicas = 3;
  const auto same = ApplyIfChanged(client_, wanted);
  ASSERT_TRUE(same) << same.error();
  EXPECT_EQ(same->operation, OperationResult::kUnchanged);
  EXPECT_EQ(same->object, OnServer());
  EXPECT_THAT(Writes(), IsEmpty());

  EXPECT_TRUE(ApplyIfChanged(client_, wanted, {.field_manager = "other"}));
  EXPECT_THAT(Writes(), ElementsAre("patch deployments default/web"));

  wanted.spec->replicas = 4;
  const auto changed = ApplyIfChanged(client_, wanted);
  ASSERT_TRUE(changed) << changed.error();
  EXPECT_EQ(changed->operation, OperationResult::kUpdated);
  EXPECT_THAT(Writes(), ElementsAre("patch deployments default/web"));
}

// A list that is owned as a whole, as the volumeClaimTemplates of a StatefulSet: the server adds a member to its
// elements, and nothing in the object says whether the manager has applied it before.
class ApplyAdditionsTest : public CreateOrUpdateTest {
 protected:
  ApplyAdditionsTest() {
    Must(cluster_.Add(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"shelves.shop.example"},"spec":{"group":"shop.example","scope":"Namespaced",
        "names":{"plural":"shelves","kind":"Shelf"},"versions":[{"name":"v1","served":true,"storage":true,
        "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
          "color":{"type":"string"},
          "boards":{"type":"array","items":{"type":"object","properties":{
            "width":{"type":"integer"},"wood":{"type":"string","default":"oak"}}}}}}}}}}]}})"));
    cluster_.ClearWrites();
  }
  static Unstructured Shelf(std::string_view boards, std::string_view rest = "") {
    return Must(Decode<Unstructured>(R"({"apiVersion":"shop.example/v1","kind":"Shelf",
      "metadata":{"name":"a","namespace":"default"},"spec":{"boards":)" +
                                     std::string(boards) + std::string(rest) + "}}"));
  }
  // What ApplyIfChanged() says, and how many requests it sends.
  std::string Apply(const CachedClient& client, const Unstructured& wanted, const PatchOptions& options = {}) {
    const auto written = ApplyIfChanged(client, wanted, options);
    if (!written) return written.error().ToString();
    return std::string(ToString(written->operation)) + " " + std::to_string(Writes().size());
  }
  std::string Apply(const Unstructured& wanted) { return Apply(client_, wanted); }
  // Another client's change, which the cache receives.
  void Change(std::string_view from, std::string_view to) {
    std::string text = Stored();
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    Must(cluster_.Update(text.replace(at, from.size(), to)));
    cluster_.RunUntilIdle();
    cluster_.ClearWrites();
  }
  std::string Stored() { return Must(cluster_.Get("shelves", "default", "a")); }
};

TEST_F(ApplyAdditionsTest, SendsAnObjectOnceWhoseElementsTheServerCompletes) {
  const Unstructured wanted = Shelf(R"([{"width":80},{"width":60}])");
  EXPECT_EQ(Apply(wanted), "created 1");
  EXPECT_THAT(Stored(), HasSubstr("oak"));
  EXPECT_EQ(Apply(wanted), "unchanged 0");
  EXPECT_EQ(Apply(client_.With(stop_.get_token()), wanted), "unchanged 0") << "a copy of the client";
}

TEST_F(ApplyAdditionsTest, SendsTheRemovalOfAMemberThatLooksLikeADefault) {
  const Unstructured with = Shelf(R"([{"width":80,"wood":"ash"}])");
  const Unstructured without = Shelf(R"([{"width":80}])");
  EXPECT_EQ(Apply(with), "created 1");
  EXPECT_EQ(Apply(with), "unchanged 0");
  EXPECT_EQ(Apply(without), "updated 1");
  EXPECT_THAT(Stored(), HasSubstr("oak"));
  EXPECT_EQ(Apply(without), "unchanged 0");
  EXPECT_EQ(Apply(Shelf("[{}]")), "updated 1") << "of what the server has, it is told to add another part";
  EXPECT_EQ(Apply(with), "updated 1");
  EXPECT_THAT(Stored(), HasSubstr("ash"));
  EXPECT_EQ(Apply(without), "updated 1");
}

TEST_F(ApplyAdditionsTest, SendsWhatSomebodyElseHasChangedAndNotWhatIsBesideIt) {
  const Unstructured wanted = Shelf(R"([{"width":80}])");
  EXPECT_EQ(Apply(wanted), "created 1");
  Change(R"("spec":{)", R"("spec":{"color":"red",)");
  EXPECT_EQ(Apply(wanted), "unchanged 0") << "the resource version does not matter";
  Change("oak", "elm");
  EXPECT_EQ(Apply(wanted), "updated 1");
  EXPECT_THAT(Stored(), AllOf(HasSubstr("oak"), HasSubstr("red")));
  EXPECT_EQ(Apply(Shelf(R"([{"width":81}])")), "updated 1");
  EXPECT_EQ(Apply(Shelf(R"([{"width":81},{"width":81}])")), "updated 1");
}

TEST_F(ApplyAdditionsTest, EachManagerSendsTheObjectOnce) {
  const Unstructured wanted = Shelf(R"([{"width":80}])");
  EXPECT_EQ(Apply(wanted), "created 1");
  EXPECT_EQ(Apply(client_, wanted, {.field_manager = "other"}), "updated 1");
  EXPECT_EQ(Apply(client_, wanted, {.field_manager = "other"}), "unchanged 0");
  EXPECT_EQ(Apply(wanted), "unchanged 0");
  Must(cluster_.Delete("shelves", "default", "a"));
  cluster_.RunUntilIdle();
  EXPECT_EQ(Apply(wanted), "created 1");
  EXPECT_EQ(Apply(wanted), "unchanged 0");
}

TEST_F(ApplyAdditionsTest, AProcessThatHasJustStartedSendsTheObjectOnce) {
  const Unstructured wanted = Shelf(R"([{"width":80}])");
  EXPECT_EQ(Apply(wanted), "created 1");
  Caches caches(cluster_.Connection(), {});
  caches.Start(stop_.get_token());
  const CachedClient restarted(caches, "test");
  EXPECT_EQ(Apply(restarted, wanted, {.dry_run = true}), "unchanged 1");
  EXPECT_EQ(Apply(restarted, wanted), "unchanged 1");
  EXPECT_EQ(Apply(restarted, wanted), "unchanged 0");
  caches.Shutdown();
}

}  // namespace
}  // namespace kgen
