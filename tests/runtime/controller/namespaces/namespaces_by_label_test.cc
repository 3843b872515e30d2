// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Caches that follow the namespaces with a label.
#include <set>

#include "tests/runtime/controller/caches_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NamespacesByLabelTest : public CachesFixture {
 protected:
  void SetLabel(const std::string& name, const std::string& tenant) {
    const std::string labels = tenant.empty() ? "{}" : R"({"tenant":")" + tenant + R"("})";
    const std::string json =
        R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + name + R"(","labels":)" + labels + "}}";
    Must(known_.insert(name).second ? cluster_.Add(json) : cluster_.Update(json));
  }
  Caches& MakeFollowing(std::vector<InformerScope> scopes = {}) {
    return Make({.scopes = std::move(scopes), .namespaces_by_label = "tenant=yes"});
  }
  std::set<std::string> known_{"default"};
};

TEST_P(NamespacesByLabelTest, FollowsNamespacesThatAreMadeLabelledAndDeleted) {
  for (const char* in : {"a", "b"}) SetLabel(in, in == std::string("a") ? "yes" : "no");
  for (const char* in : {"a", "b", "default"}) Must(cluster_.Add(Map("of-" + std::string(in), "", in)));
  Caches& caches = MakeFollowing({{.namespace_ = "default"}});
  const auto maps = Must(caches.Of<ConfigMap>());
  std::vector<std::string> heard;
  CacheRegistration registration = maps.AddEventHandler(
      {.on_add = [&](const Added<ConfigMap>& e) { heard.push_back("added " + e.key.str()); },
       .on_delete = [&](const Deleted<ConfigMap>& e) { heard.push_back("deleted " + e.key.str()); },
       .on_left = [&](const Left<ConfigMap>& e) { heard.push_back("left " + e.key.str()); }});
  EXPECT_FALSE(maps.HasSynced());
  Must(caches.WaitForSync({}));
  EXPECT_THAT(caches.namespaces(), ElementsAre("a", "default"));
  EXPECT_THAT(Names(maps.List()), ElementsAre("of-a", "of-default"));
  cluster_.RunUntilIdle();
  heard.clear();

  SetLabel("b", "yes");
  cluster_.RunUntilIdle();
  EXPECT_THAT(heard, ElementsAre("added b/of-b"));
  SetLabel("a", "no");
  cluster_.RunUntilIdle();
  EXPECT_THAT(heard, ElementsAre("added b/of-b", "left a/of-a"));
  SetLabel("c", "yes");
  Must(cluster_.Add(Map("of-c", "", "c")));
  cluster_.RunUntilIdle();
  EXPECT_THAT(caches.namespaces(), ElementsAre("b", "c", "default"));
  EXPECT_THAT(Names(maps.List()), ElementsAre("of-b", "of-c", "of-default"));
  heard.clear();
  Must(cluster_.Delete("configmaps", "c", "of-c"));
  Must(cluster_.Delete("namespaces", "", "c"));
  cluster_.RunUntilIdle();
  EXPECT_THAT(caches.namespaces(), ElementsAre("b", "default"));
  EXPECT_EQ(heard.size(), 1u);
  EXPECT_EQ(cluster_.census().watches, 3u);
}

TEST_P(NamespacesByLabelTest, TheFirstReadWaitsForTheNamespacesAndThenForTheirObjects) {
  SetLabel("a", "yes");
  Must(cluster_.Add(Map("x", "1", "a")));
  cluster_.Inject({.resource = "namespaces", .delay = 20s});
  CachedClient client(MakeFollowing(), "test");
  const TimePoint before = Now();
  EXPECT_EQ(Value(client.Get<ConfigMap>({"a", "x"})).data["value"], "1");
  EXPECT_GE(Now() - before, 20s);
  EXPECT_EQ(client.Get<ConfigMap>({"default", "x"}).error().code(), Code::kInvalidArgument);
}

TEST_P(NamespacesByLabelTest, FailsTheSyncIfNamespacesCannotBeListed) {
  cluster_.Inject({.resource = "namespaces", .times = testing::kAlways, .status = 403});
  Caches& caches = MakeFollowing();
  const auto maps = Must(caches.Of<ConfigMap>());
  const Result<void> synced = caches.WaitForSync({});
  ASSERT_FALSE(synced);
  EXPECT_EQ(synced.error().code(), Code::kForbidden);
  EXPECT_THAT(synced.error().ToString(), HasSubstr("namespaces with the labels \"tenant=yes\""));
  EXPECT_FALSE(maps.HasSynced());
  EXPECT_EQ(maps.List().error().code(), Code::kUnavailable);
  EXPECT_EQ(caches.status().size(), 1u);  // of the namespaces
}

TEST_P(NamespacesByLabelTest, WorksWithoutANamespaceAndRefusesOtherChanges) {
  Caches& caches = MakeFollowing();
  CachedClient client(caches, "test");
  EXPECT_THAT(Must(client.List<ConfigMap>()), IsEmpty());
  EXPECT_THAT(caches.AddNamespace("a").error().ToString(), HasSubstr("those with the labels \"tenant=yes\""));
  EXPECT_EQ(caches.SetNamespaces({}).error().code(), Code::kInvalidArgument);
  Caches wrong(connection_, {.namespaces_by_label = "tenant in yes"});
  EXPECT_EQ(wrong.Of<ConfigMap>().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(wrong.Of<ConfigMap>().error().ToString(), HasSubstr("CachesOptions::namespaces_by_label"));
}

TEST_P(NamespacesByLabelTest, LeavesNothingBehind) {
  SetLabel("a", "yes");
  MakeClient({.namespaces_by_label = "tenant=yes"});
  Must(client_->List<ConfigMap>());
  SetLabel("b", "yes");
  ExpectNothingLeft();  // also while a change is under way
  MakeClient({.namespaces_by_label = "tenant=yes"});
  Must(client_->List<ConfigMap>());
  caches_->Shutdown();
  ExpectNothingLeft();
}

INSTANTIATE_TEST_SUITE_P(Seeds, NamespacesByLabelTest, ::testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace kgen::controller
