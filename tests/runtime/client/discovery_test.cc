// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Discovery in both forms, and the mapper on top of it, from scripted responses.
#include "kgen/client/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kgen/client/rest_mapper.h"
#include "kgen/testing/simulation.h"
#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kCore[] = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{},"versions":[{"version":"v1","freshness":"Current","resources":[
    {"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced",
     "singularResource":"pod","verbs":["get","list"],"shortNames":["po"],"categories":["all"],
     "subresources":[{"subresource":"status","verbs":["get"]},{"subresource":"eviction","verbs":["create"]}]},
    {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","singularResource":"node","verbs":["get"]},
    {"resource":"kindless","scope":"Cluster","verbs":[]}]}]}]})";
constexpr char kGroups[] = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{"name":"apps"},"versions":[
    {"version":"v1","resources":[{"resource":"deployments","responseKind":{"group":"apps","version":"v1","kind":"Deployment"},
      "scope":"Namespaced","singularResource":"deployment","shortNames":["deploy"]}]},
    {"version":"v1beta1","resources":[{"resource":"deployments","responseKind":{"group":"apps","version":"v1beta1","kind":"Deployment"},
      "scope":"Namespaced"}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]},
  {"metadata":7,"versions":"none"}]})";
constexpr char kNoGroups[] = R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})";

class DiscoveryTest : public ClientTest {
 protected:
  void Reply(std::string body) { transport_->Reply({.body = std::move(body)}); }
  void ReplyAggregated() {
    Reply(kCore);
    Reply(kGroups);
  }
  static std::vector<std::string> Names(const ServerApi& api) {
    std::vector<std::string> names;
    for (const ApiResource& resource : api.resources) names.push_back(resource.resource.str());
    return names;
  }
  std::string Accept(std::size_t i) { return HeaderOf(transport_->request(i), "accept"); }
};

// Contract: client DISC-1, DISC-2, DISC-7; controller 164.
TEST_F(DiscoveryTest, NeedsTwoRequestsInTheAggregatedForm) {
  ReplyAggregated();
  const ServerApi api = Must(Discover(connection()));
  EXPECT_EQ(transport_->size(), 2u);
  EXPECT_EQ(transport_->request(0).path, "/api");
  EXPECT_EQ(transport_->request(1).path, "/apis");
  EXPECT_THAT(Accept(0), HasSubstr("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"));
  EXPECT_THAT(Names(api), ElementsAre("pods.v1", "nodes.v1", "deployments.v1.apps", "deployments.v1beta1.apps"));
  const ApiResource& pods = api.resources[0];
  EXPECT_EQ(pods.kind, (GroupVersionKind{"", "v1", "Pod"}));
  EXPECT_EQ(pods.scope, Scope::kNamespaced);
  EXPECT_THAT(pods.short_names, ElementsAre("po"));
  EXPECT_THAT(pods.categories, ElementsAre("all"));
  EXPECT_THAT(pods.verbs, ElementsAre("get", "list"));
  EXPECT_THAT(pods.subresources, ElementsAre("status", "eviction"));
  EXPECT_EQ(api.resources[1].kind, (GroupVersionKind{"", "v1", "Node"}));
  EXPECT_EQ(api.resources[1].scope, Scope::kCluster);
  ASSERT_EQ(api.failures.size(), 1u);
  EXPECT_EQ(api.failures[0].group, "metrics.k8s.io");
}

// Contract: client DISC-4, DISC-5.
TEST_F(DiscoveryTest, AsksForEachVersionWhereTheServerIsOldAndReportsTheOnesThatFail) {
  Reply(R"({"kind":"APIVersions","versions":["v1"]})");
  Reply(R"({"kind":"APIGroupList","groups":[
      {"name":"batch","versions":[{"version":"v1beta1"},{"version":"v1"}],"preferredVersion":{"version":"v1"}},
      {"name":"metrics.k8s.io","versions":[{"version":"v1beta1"}]}]})");
  Reply(R"({"kind":"APIResourceList","groupVersion":"v1","resources":[
      {"name":"pods/status","kind":"Pod"},{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod"}]})");
  for (int i = 0; i < 2; ++i) Reply(R"({"kind":"APIResourceList","resources":[{"name":"jobs","kind":"Job"}]})");
  transport_->Reply({.status = 503, .body = "down"});
  const ServerApi api = Must(Discover(connection()));
  EXPECT_THAT(Names(api), ElementsAre("pods.v1", "jobs.v1.batch", "jobs.v1beta1.batch"));
  EXPECT_THAT(api.resources[0].subresources, ElementsAre("status"));
  EXPECT_EQ(api.resources[0].scope, Scope::kNamespaced);
  EXPECT_EQ(api.resources[1].kind, (GroupVersionKind{"batch", "v1", "Job"}));
  ASSERT_EQ(api.failures.size(), 1u);
  EXPECT_EQ(api.failures[0].group, "metrics.k8s.io");
  EXPECT_EQ(api.failures[0].version, "v1beta1");
  EXPECT_EQ(api.failures[0].error.code(), Code::kUnavailable);
}

// Contract: client DISC-3.
TEST_F(DiscoveryTest, ToleratesAMissingCoreGroupOnly) {
  transport_->Reply({.status = 404, .body = "no"});
  Reply(kGroups);
  EXPECT_THAT(Names(Must(Discover(connection()))), ElementsAre("deployments.v1.apps", "deployments.v1beta1.apps"));
  transport_->Reply({.status = 403, .body = "no"});
  EXPECT_EQ(Discover(connection()).error().code(), Code::kForbidden);
  Reply(kCore);
  transport_->Reply({.status = 404, .body = "no"});
  EXPECT_EQ(Discover(connection()).error().code(), Code::kNotFound);
}

TEST_F(DiscoveryTest, FallsBackToTheOldFormWhenTheServerRefusesTheMediaType) {
  transport_->Reply({.status = 406, .body = "no"});
  Reply(R"({"kind":"APIVersions","versions":[]})");
  Reply(kNoGroups);
  EXPECT_TRUE(Must(Discover(connection())).resources.empty());
  EXPECT_EQ(Accept(1), "application/json");
}

TEST_F(DiscoveryTest, FailsOnAResponseThatIsNotDiscovery) {
  for (const char* body :
       {"[]", "{}", R"({"kind":"PodList","items":[]})", R"({"kind":"APIGroupDiscoveryList","items":7})"}) {
    Reply(body);
    if (*body == '{') Reply(kNoGroups);
    const Result<ServerApi> api = Discover(connection());
    ASSERT_FALSE(api.has_value()) << body;
    EXPECT_EQ(api.error().code(), Code::kDecode);
    EXPECT_THAT(api.error().ToString(), HasSubstr("discover /api: "));
  }
}

TEST_F(DiscoveryTest, RefusesAnEndlessResponse) {
  transport_->Reply({.body = "{" + std::string((64u << 20) + 1, ' '), .piece = 1u << 20});
  const Result<ServerApi> api = Discover(connection());
  ASSERT_FALSE(api.has_value());
  EXPECT_EQ(api.error().code(), Code::kDecode);
  EXPECT_THAT(api.error().ToString(), HasSubstr("discover /api: the response is larger than the 67108864 bytes"));
}

TEST_F(DiscoveryTest, FailsOnceInTheOldFormWhenTheConnectionIsLost) {
  Reply(R"({"kind":"APIVersions","versions":["v1","v2"]})");
  Reply(kNoGroups);
  transport_->Reply({.status = 0, .broken = Error::NotConnected("refused")});
  const Result<ServerApi> api = Discover(connection());
  ASSERT_FALSE(api.has_value());
  EXPECT_EQ(api.error().code(), Code::kUnavailable);
  EXPECT_EQ(transport_->size(), 3u);
}

class RestMapperTest : public DiscoveryTest {};

// Contract: client MAP-1.
TEST_F(RestMapperTest, MapsKindsAndResourcesAndPrefersTheVersionOfTheGroup) {
  const RestMapper mapper(connection());
  ReplyAggregated();
  const ResourceMapping deployments = Must(mapper.ForKind({"apps", "", "Deployment"}));
  EXPECT_EQ(deployments.resource, (GroupVersionResource{"apps", "v1", "deployments"}));
  EXPECT_EQ(deployments.scope, Scope::kNamespaced);
  EXPECT_EQ(Must(mapper.ForKind({"apps", "v1beta1", "Deployment"})).resource.version, "v1beta1");
  EXPECT_EQ(Must(mapper.ForKind({"", "v1", "Node"})).scope, Scope::kCluster);
  for (const char* name : {"deployments", "deployment", "deploy"})
    EXPECT_EQ(Must(mapper.ForResource({"apps", "", name})), deployments) << name;
  EXPECT_EQ(transport_->size(), 2u) << "one discovery serves all of them";
  EXPECT_EQ(mapper.failures().size(), 1u);
}

// Contract: client MAP-5; controller 164.
TEST_F(RestMapperTest, RefreshesOnAMissAtABoundedRate) {
  const RestMapper mapper(connection());
  for (int i = 0; i < 20; ++i) ReplyAggregated();
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(mapper.ForKind({"apps", "v1", "None"}).error().code(), Code::kNotFound);
  }
  EXPECT_EQ(transport_->size(), 2u * 6) << "the first look-up and five misses";
  executor_->Advance(10s);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(mapper.ForKind({"apps", "v1", "None"}).has_value());
  EXPECT_EQ(transport_->size(), 2u * 7);
  EXPECT_TRUE(mapper.ForKind({"apps", "v1", "Deployment"}).has_value()) << "from memory";
  EXPECT_EQ(transport_->size(), 2u * 7);
}

// Contract: controller 164.
TEST_F(RestMapperTest, ReportsThatTheGroupOfAMissCouldNotBeRead) {
  const RestMapper mapper(connection());
  for (int i = 0; i < 3; ++i) ReplyAggregated();
  const Result<ResourceMapping> mapping = mapper.ForKind({"metrics.k8s.io", "v1beta1", "PodMetrics"});
  EXPECT_THAT(mapping.error().ToString(), HasSubstr("discovery of metrics.k8s.io/v1beta1 failed"));
}

constexpr char kPreferredIsDown[] = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{"name":"apps"},"versions":[
    {"version":"v1","freshness":"Stale"},
    {"version":"v1beta1","resources":[{"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced"}]},
    {"version":"v1alpha1","freshness":"Stale"}]},
  {"metadata":{"name":"batch"},"versions":[
    {"version":"v1","resources":[{"resource":"jobs","responseKind":{"kind":"Job"},"scope":"Namespaced"}]}]}]})";

TEST_F(RestMapperTest, DoesNotTakeALowerVersionWhileThePreferredOneCannotBeRead) {
  const RestMapper mapper(connection());
  for (int i = 0; i < 2; ++i) {
    Reply(kCore);
    Reply(kPreferredIsDown);
  }
  const Result<ResourceMapping> mapping = mapper.ForKind({"apps", "", "Deployment"});
  ASSERT_FALSE(mapping.has_value());
  EXPECT_EQ(mapping.error().code(), Code::kUnavailable);
  EXPECT_THAT(
      mapping.error().ToString(),
      HasSubstr("look up kind \"Deployment\" in apps: discovery of apps/v1 failed, and apps/v1beta1 is used only "
                "if it is named: the server's last attempt to read this version failed"));
  EXPECT_FALSE(mapper.ForResource({"apps", "", "deployments"}).has_value());
  EXPECT_EQ(Must(mapper.ForKind({"apps", "v1beta1", "Deployment"})).resource.version, "v1beta1");
  EXPECT_EQ(Must(mapper.ForKind({"batch", "", "Job"})).resource.version, "v1") << "another group";
  ReplyAggregated();
  EXPECT_EQ(Must(mapper.ForKind({"apps", "", "Deployment"})).resource.version, "v1") << "once it can be read again";
}

TEST_F(RestMapperTest, TakesThePreferredVersionWhileALowerOneCannotBeRead) {
  const RestMapper mapper(connection());
  Reply(R"({"kind":"APIVersions","versions":[]})");
  Reply(R"({"kind":"APIGroupList","groups":[
      {"name":"batch","versions":[{"version":"v1beta1"},{"version":"v1"}],"preferredVersion":{"version":"v1"}}]})");
  Reply(R"({"kind":"APIResourceList","resources":[{"name":"jobs","kind":"Job"}]})");
  transport_->Reply({.status = 503, .body = "down"});
  EXPECT_EQ(Must(mapper.ForKind({"batch", "", "Job"})).resource.version, "v1");
}

// Callers on threads of their own, in virtual time.
class RestMapperFlightTest : public RestMapperTest {
 protected:
  using Lookup = TaskResult<Result<ResourceMapping>>;

  Connection Simulated() {
    return client::ConnectionState::Handle({transport_, simulation_.executor(), observer_}, Defaults());
  }
  std::vector<Lookup> LookUp(const RestMapper& mapper, const GroupVersionKind& kind, int callers) {
    std::vector<Lookup> all;
    for (int i = 0; i < callers; ++i) all.push_back(simulation_.Spawn([=] { return mapper.ForKind(kind); }));
    Must(simulation_.RunUntilIdle());
    return all;
  }
  void Answer(const char* body) {
    transport_->last().Head(200);
    transport_->last().Bytes(body);
    transport_->last().End();
    Must(simulation_.RunUntilIdle());
  }
  ~RestMapperFlightTest() override { transport_->EndAll(); }

  Simulation simulation_{7};
};

TEST_F(RestMapperFlightTest, AsksOnceForAllThatMissAtTheSameMoment) {
  const RestMapper mapper(Simulated());
  for (int i = 0; i < 2; ++i) transport_->Hold();
  const std::vector<Lookup> lookups = LookUp(mapper, {"apps", "v1", "Deployment"}, 5);
  EXPECT_EQ(transport_->size(), 1u);
  Answer(kCore);
  Answer(kGroups);
  EXPECT_EQ(transport_->size(), 2u);
  for (const Lookup& lookup : lookups) {
    ASSERT_TRUE(lookup.done());
    EXPECT_TRUE(lookup.result().has_value()) << lookup.result().error();
  }
  for (int i = 0; i < 2; ++i) transport_->Hold();
  const std::vector<Lookup> misses = LookUp(mapper, {"apps", "v1", "None"}, 5);
  Answer(kCore);
  Answer(kGroups);
  for (const Lookup& miss : misses) {
    ASSERT_TRUE(miss.done());
    EXPECT_EQ(miss.result().error().code(), Code::kNotFound);
  }
  EXPECT_EQ(transport_->size(), 4u) << "and once for a kind that is not there";
}

TEST_F(RestMapperFlightTest, GivesTheErrorToAllThatWait) {
  const RestMapper mapper(Simulated());
  transport_->Hold();
  const std::vector<Lookup> lookups = LookUp(mapper, {"apps", "v1", "Deployment"}, 3);
  transport_->last().End(Fail(Code::kTls, "the certificate is bad"));
  Must(simulation_.RunUntilIdle());
  for (const Lookup& lookup : lookups) {
    ASSERT_TRUE(lookup.done());
    EXPECT_EQ(lookup.result().error().code(), Code::kTls);
  }
  EXPECT_EQ(transport_->size(), 1u);
}

TEST_F(RestMapperFlightTest, AsksAnewAfterInvalidateAlsoWhileAnAnswerIsOnItsWay) {
  RestMapper mapper(Simulated());
  for (int i = 0; i < 4; ++i) transport_->Hold();
  const std::vector<Lookup> before = LookUp(mapper, {"apps", "v1", "Deployment"}, 1);
  mapper.Invalidate();
  const std::vector<Lookup> after = LookUp(mapper, {"apps", "v1", "Deployment"}, 1);
  EXPECT_EQ(transport_->size(), 2u);
  Answer(kCore);
  Answer(kNoGroups);
  ASSERT_TRUE(after[0].done());
  EXPECT_EQ(after[0].result().error().code(), Code::kNotFound);
  transport_->at(0).Head(200);
  transport_->at(0).Bytes(kCore);
  transport_->at(0).End();
  Must(simulation_.RunUntilIdle());
  Answer(kGroups);
  ASSERT_TRUE(before[0].done());
  EXPECT_TRUE(before[0].result().has_value());
  for (int i = 0; i < 2; ++i) transport_->Hold();
  LookUp(mapper, {"apps", "v1", "Deployment"}, 1);
  EXPECT_EQ(transport_->size(), 5u) << "the older answer is not remembered";
}

TEST_F(RestMapperTest, RefusesToBlockPostedWork) {
  const RestMapper mapper(connection());
  std::optional<Code> code;
  executor_->Post(executor_->MakeStrand("test"),
                  [&] { code = mapper.ForKind({"apps", "v1", "Deployment"}).error().code(); });
  executor_->Run();
  EXPECT_EQ(code, Code::kInvalidArgument);
}

TEST_F(RestMapperTest, RefusesEmptyNames) {
  const RestMapper mapper(connection());
  EXPECT_EQ(mapper.ForKind({"apps", "v1", ""}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(mapper.ForResource({"apps", "v1", ""}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(RestMapperTest, KeepsItsMappingsWhenTheServerCannotBeReached) {
  RestMapper mapper(connection());
  ReplyAggregated();
  EXPECT_TRUE(mapper.ForKind({"", "v1", "Pod"}).has_value());
  transport_->Reply({.status = 500, .body = "no"});
  EXPECT_EQ(mapper.ForKind({"apps", "v1", "None"}).error().code(), Code::kServer);
  EXPECT_TRUE(mapper.ForKind({"", "v1", "Pod"}).has_value());
  mapper.Invalidate();
  ReplyAggregated();
  EXPECT_TRUE(mapper.ForKind({"", "v1", "Pod"}).has_value());
  EXPECT_EQ(transport_->size(), 5u);
}

}  // namespace
}  // namespace kgen::testing
