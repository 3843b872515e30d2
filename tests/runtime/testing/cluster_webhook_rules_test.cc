// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which requests a webhook concerns: rules, selectors, matchPolicy and matchConditions; and which configurations the
// in-memory cluster refuses.
#include "testing/webhooks/webhook_rules.h"
#include "tests/runtime/testing/webhook_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

json Rule(const char* operation, const char* group, const char* version, const char* resource,
          const char* scope = "*") {
  return {{"operations", {operation}},
          {"apiGroups", {group}},
          {"apiVersions", {version}},
          {"resources", {resource}},
          {"scope", scope}};
}

std::optional<std::string> ConcernsOf(const json& rule, const AdmissionTarget& target, const char* policy = "Exact") {
  const json configuration = {{"webhooks", {{{"name", "a.b.c"}, {"rules", {rule}}, {"matchPolicy", policy}}}}};
  return Concerns(ReadHooks(configuration, false).at(0), target);
}

AdmissionTarget Target(std::string_view plural, std::string_view subresource = "") {
  return {.operation = "UPDATE",
          .group = "shop.example",
          .version = "v1",
          .plural = plural,
          .subresource = subresource,
          .namespace_ = "default",
          .versions = {"v1", "v2"}};
}

TEST(WebhookRulesTest, NameOperationsGroupsVersionsAndResources) {
  struct Case {
    json rule;
    const char* plural;
    const char* subresource;
    bool concerns;
  };
  const std::vector<Case> cases = {{Rule("*", "*", "*", "*"), "orders", "", true},
                                   {Rule("*", "*", "*", "*"), "orders", "status", false},
                                   {Rule("*", "*", "*", "*/*"), "orders", "status", true},
                                   {Rule("*", "*", "*", "*/*"), "orders", "", true},
                                   {Rule("*", "*", "*", "*/scale"), "orders", "scale", true},
                                   {Rule("*", "*", "*", "*/scale"), "orders", "", false},
                                   {Rule("*", "*", "*", "orders"), "orders", "", true},
                                   {Rule("*", "*", "*", "orders"), "orders", "status", false},
                                   {Rule("*", "*", "*", "orders/*"), "orders", "status", true},
                                   {Rule("*", "*", "*", "orders/*"), "orders", "", true},
                                   {Rule("*", "*", "*", "orders/status"), "orders", "status", true},
                                   {Rule("*", "*", "*", "orders"), "regions", "", false},
                                   {Rule("UPDATE", "shop.example", "v1", "orders"), "orders", "", true},
                                   {Rule("CREATE", "shop.example", "v1", "orders"), "orders", "", false},
                                   {Rule("UPDATE", "", "v1", "orders"), "orders", "", false},
                                   {Rule("UPDATE", "shop.example", "v2", "orders"), "orders", "", false}};
  for (const Case& each : cases) {
    EXPECT_EQ(ConcernsOf(each.rule, Target(each.plural, each.subresource)).has_value(), each.concerns)
        << each.rule << " " << each.plural << "/" << each.subresource;
  }
}

TEST(WebhookRulesTest, NameAScope) {
  AdmissionTarget space = Target("namespaces");
  space.group = "";
  AdmissionTarget cluster = Target("regions");
  cluster.namespace_ = "";
  const json namespaced = Rule("*", "*", "*", "*", "Namespaced"), global = Rule("*", "*", "*", "*", "Cluster");
  EXPECT_TRUE(ConcernsOf(namespaced, Target("orders")));
  EXPECT_FALSE(ConcernsOf(global, Target("orders")));
  EXPECT_FALSE(ConcernsOf(namespaced, cluster));
  EXPECT_TRUE(ConcernsOf(global, cluster));
  EXPECT_FALSE(ConcernsOf(namespaced, space)) << "a Namespace is an object of the cluster";
  EXPECT_TRUE(ConcernsOf(global, space));
}

TEST(WebhookRulesTest, AnEquivalentVersionIsTheOneOfTheRule) {
  const json other = Rule("*", "shop.example", "v2", "orders");
  EXPECT_EQ(ConcernsOf(other, Target("orders"), "Equivalent"), "v2");
  EXPECT_EQ(ConcernsOf(other, Target("orders"), "Exact"), std::nullopt);
  EXPECT_EQ(ConcernsOf(Rule("*", "*", "*", "orders"), Target("orders"), "Equivalent"), "v1");
}

class RulesTest : public WebhookTest {
 protected:
  explicit RulesTest(ClusterOptions options = {.seed = 1}) : WebhookTest(std::move(options)) {
    Must(cluster_.Add(std::string_view(Crd().dump())));
  }
  Shared<FakeWebhook> Validates(const json& more) {
    auto webhook = Serve("/v", [](const json&) { return Allow(); });
    Configure(kValidating, "v", json::array({HookOf("v.shop.example", "/v", more)}));
    return webhook;
  }
  static std::vector<std::string> Seen(const FakeWebhook& webhook) {
    std::vector<std::string> seen;
    for (const json& each : webhook.requests) {
      std::string line = each["operation"].get<std::string>() + " " + each["resource"]["resource"].get<std::string>();
      if (each.contains("subResource")) line += "/" + each["subResource"].get<std::string>();
      const json& object = each["object"].is_null() ? each["oldObject"] : each["object"];
      seen.push_back(line + " " + object["kind"].get<std::string>());
    }
    return seen;
  }
};

TEST_F(RulesTest, SubresourcesHaveTheirOwnRulesAndKinds) {
  const auto hook = Validates({{"rules", json::array({Rule("*", "*", "*", "*/*")})}});
  json order = Post(kOrders, Order("one", {{"replicas", 1}}));
  order["status"] = {{"replicas", 1}};
  Put(std::string(kOrders) + "/one/status", order);
  json scale = Get(std::string(kOrders) + "/one/scale");
  scale["spec"]["replicas"] = 3;
  Put(std::string(kOrders) + "/one/scale", scale);
  Post(kPods, Pod("a"));
  Post(std::string(kPods) + "/a/binding", {{"apiVersion", "v1"},
                                           {"kind", "Binding"},
                                           {"metadata", {{"name", "a"}}},
                                           {"target", {{"kind", "Node"}, {"name", "n"}}}});
  Post(kPods, Pod("b"));
  Post(std::string(kPods) + "/b/eviction",
       {{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", "b"}, {"namespace", "default"}}}});
  EXPECT_EQ(last_status_, 201);
  EXPECT_THAT(Seen(*hook), ElementsAre("CREATE orders Order", "UPDATE orders/status Order", "UPDATE orders/scale Scale",
                                       "CREATE pods Pod", "CREATE pods/binding Binding", "CREATE pods Pod",
                                       "CREATE pods/eviction Eviction"));
  EXPECT_EQ(hook->requests[2]["kind"], json({{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}}));
  EXPECT_EQ(hook->requests[2]["oldObject"]["spec"]["replicas"], 1);
  EXPECT_EQ(Stored("one")["spec"]["replicas"], 3);
}

TEST_F(RulesTest, AStatusUpdateIsAskedAboutWithTheObjectThatWasSent) {
  const auto hook = Validates({{"rules", json::array({Rule("UPDATE", "shop.example", "v1", "orders/status")})}});
  json order = Post(kOrders, Order("one"));
  EXPECT_THAT(hook->requests, IsEmpty());
  hook->function = [](const json& request) {
    return request["object"]["status"]["phase"] == "Bad" ? Deny({{"message", "bad phase"}}) : Allow();
  };
  order["status"]["phase"] = "Bad";
  Put(std::string(kOrders) + "/one/status", order);
  EXPECT_THAT(last_error_, HasSubstr("bad phase"));
  order["status"]["phase"] = "Good";
  EXPECT_EQ(Put(std::string(kOrders) + "/one/status", order)["status"]["phase"], "Good");
}

TEST_F(RulesTest, NamespaceSelectorsLookAtTheNamespaceAndAtANamespaceItself) {
  const auto hook = Validates({{"rules", json::array({Rule("*", "*", "*", "*")})},
                               {"namespaceSelector", {{"matchLabels", {{"hooked", "yes"}}}}}});
  const auto space = [](const char* name, const char* hooked) {
    return json{
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}, {"labels", {{"hooked", hooked}}}}}};
  };
  Post("/api/v1/namespaces", space("in", "yes"));
  Post("/api/v1/namespaces", space("out", "no"));
  for (const char* name : {"in", "out"}) {
    json order = Order("one");
    order["metadata"]["namespace"] = name;
    Post("/apis/shop.example/v1/namespaces/" + std::string(name) + "/orders", order);
  }
  Post("/api/v1/nodes", {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "n"}}}});
  Delete("/api/v1/namespaces/out");
  EXPECT_THAT(Seen(*hook), ElementsAre("CREATE namespaces Namespace", "CREATE orders Order", "CREATE nodes Node"));
  EXPECT_EQ(hook->requests[0]["namespace"], "in");
  EXPECT_EQ(hook->requests[1]["namespace"], "in");
}

TEST_F(RulesTest, ObjectSelectorsLookAtTheOldAndTheNewObject) {
  const auto hook =
      Validates({{"objectSelector", {{"matchExpressions", {{{"key", "hooked"}, {"operator", "Exists"}}}}}}});
  json order = Post(kOrders, Order("one"));
  EXPECT_THAT(hook->requests, IsEmpty());
  order["metadata"]["labels"] = {{"hooked", "1"}};
  order = Put(std::string(kOrders) + "/one", order);
  order["metadata"].erase("labels");
  order = Put(std::string(kOrders) + "/one", order);
  order["spec"]["quantity"] = 3;
  Put(std::string(kOrders) + "/one", order);
  EXPECT_THAT(Seen(*hook), ElementsAre("UPDATE orders Order", "UPDATE orders Order"));
}

TEST_F(RulesTest, AnEquivalentObjectHasTheVersionOfTheRule) {
  const auto hook = Validates({{"rules", json::array({Rule("*", "shop.example", "v2", "orders")})}});
  Post(kOrders, Order("one"));
  ASSERT_THAT(hook->requests, SizeIs(1));
  EXPECT_EQ(hook->requests[0]["kind"]["version"], "v2");
  EXPECT_EQ(hook->requests[0]["requestKind"]["version"], "v1");
  EXPECT_EQ(hook->requests[0]["object"]["apiVersion"], "shop.example/v2");
}

TEST_F(RulesTest, ConfigurationsAreNeverSentToWebhooks) {
  const auto hook = Validates({{"rules", json::array({Rule("*", "*", "*", "*")})}});
  hook->function = [](const json&) { return Deny({{"message", "nothing goes"}}); };
  json configuration = Get(std::string(kValidating) + "/v");
  configuration["webhooks"][0]["failurePolicy"] = "Ignore";
  Put(std::string(kValidating) + "/v", configuration);
  EXPECT_EQ(last_status_, 200);
  Delete(std::string(kValidating) + "/v");
  EXPECT_EQ(last_status_, 200);
  EXPECT_THAT(hook->requests, IsEmpty());
  Post(kOrders, Order("one"));
  EXPECT_EQ(last_status_, 201);
}

TEST_F(RulesTest, RefusesConfigurationsAsAServerDoes) {
  const auto refused = [&](const json& hook) {
    Post(kMutating, {{"apiVersion", "admissionregistration.k8s.io/v1"},
                     {"kind", "MutatingWebhookConfiguration"},
                     {"metadata", {{"name", "m"}}},
                     {"webhooks", {hook}}});
    return last_causes_;
  };
  json hook = HookOf("m.shop.example", "/m");
  hook["matchConditions"] = {{{"name", "c"}, {"expression", "true"}}};
  EXPECT_THAT(refused(hook), ElementsAre("webhooks[0].matchConditions FieldValueForbidden"));
  EXPECT_THAT(last_error_, HasSubstr("ClusterOptions::match_condition"));
  EXPECT_THAT(refused(HookOf("short", "/m")), ElementsAre("webhooks[0].name FieldValueInvalid"));
  EXPECT_THAT(refused(HookOf("m.shop.example", "/m", {{"sideEffects", "Some"}})),
              ElementsAre("webhooks[0].sideEffects FieldValueNotSupported"));
  EXPECT_THAT(
      refused(HookOf("m.shop.example", "/m", {{"timeoutSeconds", 31}, {"failurePolicy", "Maybe"}})),
      ElementsAre("webhooks[0].failurePolicy FieldValueNotSupported", "webhooks[0].timeoutSeconds FieldValueInvalid"));
  hook = HookOf("m.shop.example", "/m", {{"admissionReviewVersions", {"v1beta1"}}});
  hook["clientConfig"]["url"] = "https://localhost/m";
  EXPECT_THAT(refused(hook), ElementsAre("webhooks[0].clientConfig FieldValueForbidden",
                                         "webhooks[0].admissionReviewVersions FieldValueInvalid"));
}

class ConditionsTest : public RulesTest {
 protected:
  ConditionsTest()
      : RulesTest({.seed = 1, .match_condition = [](std::string_view expression, std::string_view request) {
                     if (expression == "broken") throw std::runtime_error("no such field");
                     return json::parse(request)["object"]["spec"]["note"] == expression;
                   }}) {}
};

TEST_F(ConditionsTest, MatchConditionsAreAskedOfTheFunctionOfTheTest) {
  const auto hook = Validates({{"matchConditions", {{{"name", "c"}, {"expression", "urgent"}}}}});
  Post(kOrders, Order("one"));
  EXPECT_THAT(hook->requests, IsEmpty());
  Post(kOrders, Order("two", {{"note", "urgent"}}));
  EXPECT_THAT(hook->requests, SizeIs(1));
  json configuration = Get(std::string(kValidating) + "/v");
  configuration["webhooks"][0]["matchConditions"][0]["expression"] = "broken";
  configuration = Put(std::string(kValidating) + "/v", configuration);
  Post(kOrders, Order("three"));
  EXPECT_EQ(last_status_, 403);
  EXPECT_THAT(last_error_, HasSubstr("no such field"));
}

}  // namespace
}  // namespace kgen::testing
