// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Options of managed certificates, the installation of webhook configurations, and the permissions for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/controller/webhook/certificates_fixture.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// As `kgen-crd --webhooks` writes it.
constexpr char kManifests[] = R"(apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: shop
webhooks:
- name: morder.shop.example.com
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: hooks, namespace: shop, path: /mutate-shop-example-com-v1-order}
  rules:
  - {apiGroups: [shop.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [orders]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: shop
webhooks:
- name: vorder.shop.example.com
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: hooks, namespace: shop, path: /validate-shop-example-com-v1-order}
  rules:
  - {apiGroups: [shop.example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [orders]}
---
apiVersion: v1
kind: Service
metadata: {name: hooks, namespace: shop}
spec: {ports: [{port: 443, targetPort: 9443}]}
)";

class InstallTest : public CertificatesTest {
 protected:
  static ManagedCertificates Installing() {
    ManagedCertificates options = ShortLived(5min);
    options.configurations.clear();
    options.install = kManifests;
    return options;
  }
};

TEST_P(InstallTest, ConfigurationsAreWrittenWithTheirBundleOnceThisReplicaServes) {
  CheckAlways();
  cluster_.Inject({.verb = "create", .resource = "secrets", .skip = 1, .status = 500});
  Replica& replica = Start(Installing());
  cluster_.Advance({});
  EXPECT_FALSE(replica.keeper->has_certificate());
  EXPECT_THAT(Bundles(), IsEmpty());
  cluster_.Advance(2s);
  ASSERT_TRUE(replica.keeper->has_certificate());
  EXPECT_THAT(Bundles(), SizeIs(2));
  for (const auto& [where, bundle] : Bundles()) EXPECT_EQ(bundle, InSecret("ca.crt")) << where;
  const json webhook = Get(Resource(true), "", "shop")["webhooks"][0];
  EXPECT_EQ(webhook["clientConfig"]["service"]["path"], "/mutate-shop-example-com-v1-order");
  EXPECT_EQ(webhook["failurePolicy"], "Fail");
  EXPECT_EQ(webhook["namespaceSelector"]["matchExpressions"][0]["values"], json::array({"shop"}));
  EXPECT_EQ(violation_, "");
  // They stay up to date afterwards.
  Pass(20h);
  EXPECT_EQ(violation_, "");
  EXPECT_GE(Logged("signed a certificate with the next CA").size(), 2u);
}

TEST_P(InstallTest, SeveralReplicasInstallTheSame) {
  CheckAlways();
  for (int i = 0; i < 3; ++i) Start(Installing());
  cluster_.RunUntilIdle();
  Pass(3min, 1min);
  EXPECT_THAT(Bundles(), SizeIs(2));
  for (const auto& [where, bundle] : Bundles()) EXPECT_EQ(bundle, InSecret("ca.crt")) << where;
  EXPECT_EQ(violation_, "");
}

TEST_P(InstallTest, AnOlderConfigurationIsUpdatedAndWhatOthersAddedStays) {
  json old = Configuration(true, "shop", {"morder.shop.example.com"});
  old["webhooks"][0]["failurePolicy"] = "Ignore";
  old["metadata"]["labels"]["team"] = "blue";
  Must(cluster_.Add(old.dump()));
  Start(Installing());
  cluster_.RunUntilIdle();
  const json now = Get(Resource(true), "", "shop");
  EXPECT_EQ(now["webhooks"][0]["failurePolicy"], "Fail");
  EXPECT_EQ(now["metadata"]["labels"]["team"], "blue");
  EXPECT_EQ(FromBase64(now["webhooks"][0]["clientConfig"]["caBundle"].get<std::string>()), InSecret("ca.crt"));
}

TEST_P(InstallTest, AConfigurationThatIsDeletedStaysDeletedUntilAReplicaStarts) {
  Start(Installing());
  cluster_.RunUntilIdle();
  Must(cluster_.Delete(Resource(false), "", "shop"));
  Pass(10min, 1min);
  EXPECT_THAT(Bundles(), SizeIs(1));
  EXPECT_THAT(Logged("there is no"), ElementsAre(HasSubstr("there is no ValidatingWebhookConfiguration shop")));
  Start(Installing());
  cluster_.RunUntilIdle();
  EXPECT_THAT(Bundles(), SizeIs(2));
}

TEST_P(InstallTest, AUrlTakesThePlaceOfTheService) {
  ManagedCertificates options = Installing();
  options.service.clear();
  options.url = "https://192.168.1.7:9443";
  Replica& replica = Start(options);
  cluster_.RunUntilIdle();
  ASSERT_TRUE(replica.keeper->has_certificate());
  const json client = Get(Resource(true), "", "shop")["webhooks"][0]["clientConfig"];
  EXPECT_EQ(client["url"], "https://192.168.1.7:9443/mutate-shop-example-com-v1-order");
  EXPECT_FALSE(client.contains("service"));
  EXPECT_EQ(Violation("localhost"), "");
  EXPECT_THAT(net::ReadCertificates(replica.keeper->current_pem()).front().names,
              ElementsAre("192.168.1.7", "localhost", "127.0.0.1", "::1"));
  EXPECT_EQ(replica.keeper->options().secret, "webhook-certificates");
}

INSTANTIATE_TEST_SUITE_P(Seeds, InstallTest, ::testing::Values(1, 2));

std::string WhyNot(const ManagedCertificates& options) {
  const Result<CertificateSetup> setup = SetUpCertificates(options);
  return setup ? "" : std::string(ToString(setup.error().code())) + ": " + setup.error().message();
}

TEST(ManagedCertificatesTest, OptionsOutOfTheirRangeAreRefusedByName) {
  const ManagedCertificates good{.service = "hooks", .namespace_ = "shop"};
  EXPECT_EQ(WhyNot(good), "");
  const struct {
    std::function<void(ManagedCertificates&)> change;
    std::string expected;
  } cases[] = {
      {[](auto& o) { o.service = ""; }, "service is empty: name the Service that the API server calls, or a `url`"},
      {[](auto& o) { o.service = "Hooks"; }, "service is \"Hooks\""},
      {[](auto& o) { o.namespace_ = "a.b"; }, "namespace_ is \"a.b\""},
      {[](auto& o) { o.namespace_ = ""; }, "namespace_ is empty"},
      {[](auto& o) { o.secret = "a/b"; }, "secret has \"a/b\""},
      {[](auto& o) { o.names = {"a,DNS:b"}; }, "names has \"a,DNS:b\""},
      {[](auto& o) { o.configurations = {""}; }, "configurations has \"\""},
      {[](auto& o) { o.crds = {"../x"}; }, "crds has \"../x\""},
      {[](auto& o) { o.validity = 1s; }, "validity is 1s"},
      {[](auto& o) { o.validity = kNoLimit; }, "validity is "},
      {[](auto& o) { o.ca_validity = 100h; }, "ca_validity is 100h0m0s; it must be at least twice `validity`"},
      {[](auto& o) { o.renew_before = 0s; }, "renew_before is 0s"},
      {[](auto& o) { o.renew_before = 24h * 46; }, "at most half of `validity`"},
      {[](auto& o) { o.settle = -1s; }, "settle is -1s"},
      {[](auto& o) { o.settle = 24h * 31; }, "at most `renew_before`"},
      {[](auto& o) { o.poll = 0s; }, "poll is 0s"},
      {[](auto& o) { o.url = "http://localhost"; }, "url is \"http://localhost\"; write https://HOST"},
      {[](auto& o) { o.url = "https://localhost/path"; }, "url is"},
      {[](auto& o) { o.url = "https://[::1"; }, "url is"},
      {[](auto& o) { o.url = "https://localhost:"; }, "url is"},
      {[](auto& o) { o.url = "https://"; }, "url is"},
      {[](auto& o) { o.install = "a: ["; }, "install, line 2"},
      {[](auto& o) { o.install = "- 1"; }, "install, document 1, line 1: expected an object, found a list"},
      {[](auto& o) { o.install = "apiVersion: v1\nkind: Pod"; }, "a Pod of v1; only webhook configurations"},
      {[](auto& o) { o.install = "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration"; },
       "has no metadata.name"},
  };
  for (const auto& [change, expected] : cases) {
    ManagedCertificates options = good;
    change(options);
    EXPECT_THAT(WhyNot(options), AllOf(HasSubstr("InvalidArgument: ManagedCertificates::"), HasSubstr(expected)));
  }
  for (const char* url : {"https://localhost", "https://[::1]:9443", "https://10.0.0.1:9443", "https://[::1]"}) {
    ManagedCertificates options = good;
    options.url = url;
    EXPECT_EQ(WhyNot(options), "");
  }
}

// A configuration with one webhook; `webhook` replaces members of it.
nlohmann::json With(const char* rule, const char* webhook = "{}") {
  nlohmann::json hook = {{"name", "v.example.com"}, {"rules", {nlohmann::json::parse(rule)}}};
  hook.merge_patch(nlohmann::json::parse(webhook));
  return {{"kind", "ValidatingWebhookConfiguration"}, {"metadata", {{"name", "shop"}}}, {"webhooks", {hook}}};
}

std::string Deadlock(const nlohmann::json& configuration, bool crds = false) {
  const Result<void> good = CheckForDeadlock(configuration, {.namespace_ = "shop", .crds = crds});
  return good ? "" : good.error().message();
}

TEST(WebhookDeadlockTest, ARuleForWhatTheProgramNeedsIsRefusedWithWhatToWrite) {
  const std::pair<const char*, const char*> refused[] = {
      {R"({"apiGroups":[""],"operations":["CREATE"],"resources":["pods"]})", "pods, and so the program's own pods"},
      {R"({"apiGroups":[""],"operations":["UPDATE"],"resources":["pods/status"]})", "own pods"},
      {R"({"apiGroups":["*"],"operations":["*"],"resources":["*/*"]})", "own pods"},
      {R"({"apiGroups":["apps"],"operations":["CREATE"],"resources":["*"]})", "own Deployment"},
      {R"({"apiGroups":[""],"operations":["UPDATE"],"resources":["configmaps","secrets"]})", "Secret with"},
      {R"({"apiGroups":["coordination.k8s.io"],"operations":["UPDATE"],"resources":["leases"]})", "the Lease"},
      {R"({"apiGroups":["events.k8s.io"],"operations":["CREATE"],"resources":["events"]})", "Events"},
      {R"({"apiGroups":[""],"operations":["CREATE"],"resources":["namespaces"]})", "own namespace"},
      {R"({"apiGroups":["discovery.k8s.io"],"operations":["*"],"resources":["endpointslices"]})", "addresses"},
  };
  for (const auto& [rule, why] : refused) {
    EXPECT_THAT(Deadlock(With(rule)),
                AllOf(HasSubstr("the webhook v.example.com of the ValidatingWebhookConfiguration shop could keep its "
                                "own program from starting: the rule {"),
                      HasSubstr(why),
                      HasSubstr("namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: "
                                "NotIn, values: [shop]}]}")))
        << rule;
    EXPECT_EQ(Deadlock(With(rule, R"({"failurePolicy":"Ignore"})")), "") << rule;
    EXPECT_EQ(Deadlock(With(rule, R"({"namespaceSelector":{"matchExpressions":[
        {"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["kube-system","shop"]}]}})")),
              "")
        << rule;
  }
}

TEST(WebhookDeadlockTest, ARuleForOtherThingsIsAccepted) {
  for (const char* rule :
       {R"({"apiGroups":["shop.example.com"],"operations":["*"],"resources":["*"]})",
        R"({"apiGroups":[""],"operations":["CREATE"],"resources":["configmaps","services"]})",
        R"({"apiGroups":[""],"operations":["CONNECT"],"resources":["pods/exec"]})",
        R"({"apiGroups":[""],"operations":["CREATE"],"resources":["pods"],"scope":"Cluster"})",
        R"({"apiGroups":[""],"operations":["*"],"resources":["namespaces"],"scope":"Namespaced"})", "{}", "[]"}) {
    EXPECT_EQ(Deadlock(With(rule)), "") << rule;
  }
  EXPECT_EQ(Deadlock({}), "");
  EXPECT_EQ(Deadlock({{"webhooks", 7}}), "");
}

TEST(WebhookDeadlockTest, OnlyASelectorThatExcludesTheNamespaceForSureHelps) {
  const char* const pods = R"({"apiGroups":[""],"operations":["CREATE"],"resources":["pods"]})";
  const auto is_refused = [&](const std::string& webhook) { return !Deadlock(With(pods, webhook.c_str())).empty(); };
  const auto by = [](const char* key, const char* how, const char* values) {
    return std::string(R"({"namespaceSelector":{"matchExpressions":[{"key":")") + key + R"(","operator":")" + how +
           R"(","values":)" + values + "}]}}";
  };
  const char* const name = "kubernetes.io/metadata.name";
  EXPECT_FALSE(is_refused(by(name, "In", R"(["other"])")));
  EXPECT_TRUE(is_refused(by(name, "In", R"(["other","shop"])")));
  EXPECT_TRUE(is_refused(by(name, "NotIn", R"(["other"])")));
  EXPECT_TRUE(is_refused(by(name, "Exists", "[]")));
  EXPECT_FALSE(is_refused(by(name, "DoesNotExist", "[]")));
  EXPECT_TRUE(is_refused(by("control-plane", "DoesNotExist", "[]"))) << "nobody says that shop has the label";
  EXPECT_FALSE(is_refused(by("shop.example.com/checked", "Exists", "[]")));
  EXPECT_FALSE(is_refused(R"({"namespaceSelector":{"matchLabels":{"shop.example.com/checked":"yes"}}})"));
  EXPECT_FALSE(is_refused(R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"other"}}})"));
  EXPECT_TRUE(is_refused(R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}}})"));
  EXPECT_FALSE(is_refused(R"({"objectSelector":{"matchLabels":{"kubernetes.io/metadata.name":"shop"}}})"));
  EXPECT_TRUE(is_refused(R"({"namespaceSelector":{}})"));
  EXPECT_TRUE(is_refused(R"({"namespaceSelector":"x","objectSelector":[1]})"));
}

TEST(WebhookDeadlockTest, RulesThatNoSelectorMendsAreRefusedInTheirOwnWords) {
  const char* const excluded = R"({"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"other"}}})";
  EXPECT_THAT(
      Deadlock(With(R"({"apiGroups":["admissionregistration.k8s.io"],"resources":["validatingwebhookconfigurations"]})",
                    excluded)),
      HasSubstr("for which servers never call a webhook; remove it"));
  const char* const all = R"({"apiGroups":["*"],"operations":["*"],"resources":["*"]})";
  EXPECT_EQ(Deadlock(With(all, excluded)), "");
  EXPECT_THAT(Deadlock(With(all, excluded), /*crds=*/true), HasSubstr("matches customresourcedefinitions"));
  EXPECT_EQ(Deadlock(With(R"({"apiGroups":["*"],"operations":["*"],"resources":["*"],"scope":"Namespaced"})", excluded),
                     /*crds=*/true),
            "");
}

// What is installed of a configuration with this webhook, or why it is refused.
nlohmann::json Installed(nlohmann::json configuration) {
  configuration["apiVersion"] = "admissionregistration.k8s.io/v1";
  const auto setup = SetUpCertificates({.service = "hooks", .namespace_ = "shop", .install = configuration.dump()});
  if (!setup) return setup.error().message();
  return nlohmann::json::parse(setup->install.front().json)["webhooks"][0];
}

constexpr char kPods[] = R"({"apiGroups":[""],"operations":["CREATE"],"resources":["pods"]})";
constexpr char kOrders[] = R"({"apiGroups":["shop.example.com"],"operations":["CREATE"],"resources":["orders"]})";

TEST(WebhookSelectorTest, AnInstalledWebhookIsNotCalledForTheProgramsOwnNamespace) {
  const nlohmann::json excluded = nlohmann::json::parse(
      R"({"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"NotIn","values":["shop"]}]})");
  for (const char* rule : {kPods, kOrders}) {
    for (const char* webhook : {"{}", R"({"failurePolicy":"Fail"})"}) {  // Fail is the default
      EXPECT_EQ(Installed(With(rule, webhook))["namespaceSelector"], excluded) << rule << webhook;
    }
  }
  nlohmann::json null = With(kPods);
  null["webhooks"][0]["namespaceSelector"] = nullptr;
  EXPECT_EQ(Installed(null)["namespaceSelector"], excluded);
}

TEST(WebhookSelectorTest, ASelectorOfTheManifestAndTheFailurePolicyIgnoreAreLeftAsTheyAre) {
  EXPECT_FALSE(Installed(With(kPods, R"({"failurePolicy":"Ignore"})")).contains("namespaceSelector"));
  for (const char* selector : {"{}", R"({"matchLabels":{"team":"blue"}})"}) {
    nlohmann::json own = With(kOrders);
    own["webhooks"][0]["namespaceSelector"] = nlohmann::json::parse(selector);
    EXPECT_EQ(Installed(own)["namespaceSelector"], nlohmann::json::parse(selector));
  }
}

TEST(WebhookDeadlockTest, AManifestWhoseOwnSelectorMatchesWhatTheProgramNeedsIsNotInstalled) {
  nlohmann::json own = With(kPods);
  own["webhooks"][0]["namespaceSelector"] = nlohmann::json::object();
  EXPECT_THAT(Installed(own).dump(),
              AllOf(HasSubstr("install, document 1, line 1: the webhook v.example.com"), HasSubstr("own pods")));
}

TEST_P(InstallTest, SuchAConfigurationOfSomebodyElseIsReported) {
  json object = Configuration(false, "shop", {"v.example.com"});
  object["webhooks"][0]["rules"][0]["apiGroups"] = {""};
  object["webhooks"][0]["rules"][0]["resources"] = {"pods"};
  Must(cluster_.Add(object.dump()));
  Replica& replica = Start(ShortLived());
  cluster_.RunUntilIdle();
  EXPECT_TRUE(replica.keeper->has_certificate());
  Pass(3min, 1min);
  EXPECT_THAT(Logged("the webhook v.example.com of the ValidatingWebhookConfiguration shop could keep"), SizeIs(1));
}

TEST(ManagedCertificatesTest, TheRulesAreTheRequestsThatAreSent) {
  ManagedCertificates options{.service = "hooks", .namespace_ = "shop", .configurations = {"shop"}};
  options.crds = {"orders.shop.example.com"};
  EXPECT_EQ(RolesAsYaml("shop", RulesOf(options)), R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "shop"
rules:
- apiGroups:
  - "admissionregistration.k8s.io"
  resources:
  - "mutatingwebhookconfigurations"
  - "validatingwebhookconfigurations"
  resourceNames:
  - "shop"
  verbs:
  - "get"
  - "patch"
- apiGroups:
  - "apiextensions.k8s.io"
  resources:
  - "customresourcedefinitions"
  resourceNames:
  - "orders.shop.example.com"
  verbs:
  - "get"
  - "patch"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: "shop"
  namespace: "shop"
rules:
- apiGroups:
  - ""
  resources:
  - "secrets"
  verbs:
  - "create"
- apiGroups:
  - ""
  resources:
  - "secrets"
  resourceNames:
  - "hooks-certificates"
  verbs:
  - "get"
  - "update"
)");
  options.configurations.clear();
  options.install = kManifests;
  EXPECT_THAT(
      RulesOf(options),
      Contains(AccessRule{"", "admissionregistration.k8s.io", "mutatingwebhookconfigurations", "", {"create"}}));
  EXPECT_THAT(RulesOf({}), IsEmpty());
}

// The verbs of the requests that were sent are the verbs of the rules.
TEST_P(InstallTest, NoOtherRequestIsSent) {
  AddCrd();
  ManagedCertificates options = Installing();
  options.crds = {"orders.shop.example.com"};
  Start(options);
  cluster_.RunUntilIdle();
  Pass(20h);
  const std::vector<AccessRule> rules = RulesOf(options);
  for (const testing::Action& write : cluster_.Writes()) {
    const bool allowed = std::ranges::any_of(rules, [&](const AccessRule& rule) {
      return rule.resource == write.resource && rule.namespace_ == write.namespace_ &&
             (rule.name.empty() || rule.name == write.name) &&
             std::ranges::find(rule.verbs, write.verb) != rule.verbs.end();
    });
    EXPECT_TRUE(allowed) << write.str();
  }
  EXPECT_THAT(cluster_.Writes(), Not(IsEmpty()));
}

}  // namespace
}  // namespace kgen::controller
