// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/webhooks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/generator/crd/headers.h"

namespace kgen::generator::crd {
namespace {

const WebhookService kService = {
    .name_space = "shop", .name = "shop-webhook", .selector = {{"app.kubernetes.io/name", "shop"}}};

struct Made {
  std::string yaml;
  std::string said;
};

// What the markers make.
Made Make(const std::vector<std::string>& lines) {
  Headers headers;
  headers.Crd({}, lines);
  Diagnostics diagnostics;
  std::string yaml = MakeWebhooks(headers.description(), kService, diagnostics);
  return {std::move(yaml), headers.Said() + diagnostics.Render()};
}

// The arguments that a marker needs beside `more`.
std::string Marked(const std::string& more) {
  std::string line = "+kgen:webhook:" + more;
  for (const std::string argument :
       {"mutating=false", "failurePolicy=fail", "sideEffects=None", "groups=shop.example.com", "resources=orders",
        "verbs=create;update", "versions=v1", "name=orders.shop.example.com", "admissionReviewVersions=v1",
        "path=/validate-shop-example-com-v1-order"}) {
    const std::string name = argument.substr(0, argument.find('=') + 1);
    const bool given = line.contains(":" + name) || line.contains("," + name);
    if (!given && !(name == "path=" && line.contains("url="))) line += (line.ends_with(':') ? "" : ",") + argument;
  }
  return line;
}

const std::string kNamed = "+kgen:webhookconfiguration:mutating=false,name=shop";

// The faults of one marker with these arguments.
std::string FaultOf(const std::string& more) { return Make({kNamed, Marked(more)}).said; }

TEST(Webhooks, AreTwoConfigurationsAndAService) {
  const Made made = Make({Marked("mutating=true,path=/mutate-shop-example-com-v1-order,name=set.shop.example.com"),
                          Marked(""), kNamed, "+kgen:webhookconfiguration:mutating=true,name=shop"});
  EXPECT_EQ(made.said, "");
  EXPECT_EQ(made.yaml,
            R"(apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata:
  name: shop
webhooks:
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: shop-webhook
      namespace: shop
      path: /mutate-shop-example-com-v1-order
  failurePolicy: Fail
  name: set.shop.example.com
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - shop
  rules:
  - apiGroups:
    - shop.example.com
    apiVersions:
    - v1
    operations:
    - CREATE
    - UPDATE
    resources:
    - orders
  sideEffects: None
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: shop
webhooks:
- admissionReviewVersions:
  - v1
  clientConfig:
    service:
      name: shop-webhook
      namespace: shop
      path: /validate-shop-example-com-v1-order
  failurePolicy: Fail
  name: orders.shop.example.com
  namespaceSelector:
    matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values:
      - shop
  rules:
  - apiGroups:
    - shop.example.com
    apiVersions:
    - v1
    operations:
    - CREATE
    - UPDATE
    resources:
    - orders
  sideEffects: None
---
apiVersion: v1
kind: Service
metadata:
  name: shop-webhook
  namespace: shop
spec:
  ports:
  - name: webhook-443
    port: 443
    targetPort: 9443
  selector:
    app.kubernetes.io/name: shop
)");
}

TEST(Webhooks, HaveTheArgumentsOfTheirMarkerInTheSpellingOfTheApi) {
  const std::string yaml =
      Make(
          {Marked("mutating=true,failurePolicy=ignore,matchPolicy=exact,sideEffects=noneondryrun,timeoutSeconds=5,"
                  "reinvocationPolicy=IFNEEDED,groups=core;apps,resources=pods/status;deployments,verbs=delete;connect,"
                  "versions=*,admissionReviewVersions=v1;v1beta1,serviceName=other,serviceNamespace=attic,"
                  "servicePort=8443")})
          .yaml;
  for (const char* part :
       {"  failurePolicy: Ignore\n", "  matchPolicy: Exact\n", "  sideEffects: NoneOnDryRun\n", "  timeoutSeconds: 5\n",
        "  reinvocationPolicy: IfNeeded\n", "  - apiGroups:\n    - \"\"\n    - apps\n    apiVersions:\n    - '*'\n",
        "    operations:\n    - DELETE\n    - CONNECT\n    resources:\n    - pods/status\n    - deployments\n",
        "- admissionReviewVersions:\n  - v1\n  - v1beta1\n",
        "      name: other\n      namespace: attic\n      path: /validate-shop-example-com-v1-order\n      port: "
        "8443\n",
        "      - shop\n"})
    EXPECT_TRUE(Has(yaml, part));
  EXPECT_FALSE(yaml.contains("kind: Service")) << "nothing calls it: " << yaml;
}

TEST(Webhooks, AreInTheOrderOfTheirNamesWhateverTheOrderOfTheMarkers) {
  std::vector<std::string> lines = {kNamed, Marked("name=c.example.com"), Marked("name=a.example.com"),
                                    Marked("name=b.example.com")};
  const Made made = Make(lines);
  EXPECT_LT(made.yaml.find("name: a.example.com"), made.yaml.find("name: b.example.com"));
  EXPECT_LT(made.yaml.find("name: b.example.com"), made.yaml.find("name: c.example.com"));
  std::reverse(lines.begin(), lines.end());
  EXPECT_EQ(Make(lines).yaml, made.yaml);
}

TEST(Webhooks, AreCalledByUrlWithoutAService) {
  const Made made = Make({kNamed, Marked("url=\"https://laptop.example.com:9443/validate\"")});
  EXPECT_EQ(made.said, "");
  EXPECT_TRUE(Has(made.yaml, "  clientConfig:\n    url: https://laptop.example.com:9443/validate\n  failurePolicy"));
  EXPECT_FALSE(made.yaml.contains("kind: Service"));
}

// A port of the Service that does not lead to the program would be a webhook that never answers.
TEST(Webhooks, HaveAServiceWithAllPortsThatTheyAreCalledAt) {
  const std::string yaml = Make({kNamed, Marked("name=a.b.c"), Marked("name=a.b.d,servicePort=8443")}).yaml;
  EXPECT_TRUE(Has(yaml,
                  "  ports:\n  - name: webhook-443\n    port: 443\n    targetPort: 9443\n"
                  "  - name: webhook-8443\n    port: 8443\n    targetPort: 9443\n"));
}

TEST(Webhooks, OfTheOwnNamespaceAreCalledOnRequest) {
  const Made made = Make({kNamed, Marked("ownNamespace=true")});
  EXPECT_EQ(made.said, "");
  EXPECT_FALSE(made.yaml.contains("namespaceSelector")) << made.yaml;
}

TEST(Webhooks, MayBeMarkedOnMembersAndElsewhere) {
  Headers headers;
  headers.description().elsewhere = {{Marked("name=a.b.c"), {}}};
  headers.description().namespaces["acme"] = {.comment = {.text = {}, .markers = {{Marked("name=a.b.d"), {}}}}};
  headers.Crd({headers.Of("item", {.kind = TypeKind::kString}, {Marked("name=a.b.e")})});
  EXPECT_EQ(headers.Said(), "");
  EXPECT_EQ(headers.description().webhooks.size(), 3u);
}

// Without a name of its own, a configuration replaces the one of another program.
TEST(Webhooks, AreInConfigurationsWithTheDefaultNamesAndAWarning) {
  const Made made = Make({Marked(""), Marked("mutating=true")});
  EXPECT_TRUE(Has(made.yaml, "  name: mutating-webhook-configuration\n"));
  EXPECT_TRUE(Has(made.yaml, "  name: validating-webhook-configuration\n"));
  EXPECT_TRUE(Has(made.said,
                  "warning: the configuration with this webhook is called \"mutating-webhook-configuration\", as "
                  "another program's may be, which then replaces it [webhook-name]\n    hint: write "
                  "+kgen:webhookconfiguration:mutating=true,name=shop-webhook"));
}

TEST(Webhooks, AreRefusedIfAServerWouldRefuseThem) {
  EXPECT_TRUE(Has(FaultOf("path=validate"), "path: \"validate\": it does not begin with a slash"));
  EXPECT_TRUE(Has(FaultOf("path=/a//b"), "path: \"/a//b\": it has an empty segment"));
  EXPECT_TRUE(Has(FaultOf("path=/Order"), "its segment \"Order\" is not of lower-case letters"));
  EXPECT_TRUE(Has(FaultOf("path=\"\""), "it says neither where at the Service nor at which URL the server calls"));
  EXPECT_TRUE(Has(FaultOf("path=/a,url=https://a/b"), "url: a webhook has a path at a Service or a URL, not both"));
  EXPECT_TRUE(Has(FaultOf("url=http://a/b"), "it does not begin with https://"));
  EXPECT_TRUE(Has(FaultOf("url=https:///b"), "it names no host"));
  EXPECT_TRUE(Has(FaultOf("url=https://u@a/b"), "it names a user"));
  EXPECT_TRUE(Has(FaultOf("url=https://a/b?c"), "it has a query, a fragment or a space"));
  EXPECT_TRUE(Has(FaultOf("url=https://a/b,servicePort=1"), "servicePort: it has no effect beside url"));
  EXPECT_TRUE(Has(FaultOf("failurePolicy=maybe"),
                  "failurePolicy: a server refuses \"maybe\" [webhook]\n    hint: write one of Fail, Ignore"));
  EXPECT_TRUE(Has(FaultOf("matchPolicy=near"), "matchPolicy: a server refuses \"near\""));
  EXPECT_TRUE(Has(FaultOf("sideEffects=Some"), "hint: write one of None, NoneOnDryRun"));
  EXPECT_TRUE(Has(FaultOf("mutating=true,reinvocationPolicy=always"), "hint: write one of Never, IfNeeded"));
  EXPECT_TRUE(Has(FaultOf("reinvocationPolicy=never"), "reinvocationPolicy: it has no effect with mutating=false"));
  EXPECT_TRUE(Has(FaultOf("timeoutSeconds=31"), "timeoutSeconds: \"31\" is no number from 1 to 30"));
  EXPECT_TRUE(Has(FaultOf("timeoutSeconds=0"), "\"0\" is no number from 1 to 30"));
  EXPECT_TRUE(Has(FaultOf("servicePort=70000"), "\"70000\" is no number from 1 to 65535"));
  EXPECT_TRUE(Has(FaultOf("serviceName=A"), "serviceName: \"A\" is no name"));
  EXPECT_TRUE(Has(FaultOf("serviceNamespace=\"\""), "serviceNamespace: \"\" is no name"));
  EXPECT_TRUE(Has(FaultOf("name=orders"), "name: \"orders\" is no domain with at least three parts"));
  EXPECT_TRUE(Has(FaultOf("mutating=yes"), "mutating: \"yes\" is neither true nor false"));
  EXPECT_TRUE(Has(FaultOf("ownNamespace=1"), "ownNamespace: \"1\" is neither true nor false"));
  EXPECT_TRUE(Has(FaultOf("webhookVersions=v1beta1"), "servers have v1 only, not \"v1beta1\""));
}

TEST(Webhooks, AreRefusedIfTheirRulesMatchNothingOrMoreThanTheySay) {
  EXPECT_TRUE(Has(FaultOf("groups=apps/v1"), "groups: \"apps/v1\" is no API group"));
  EXPECT_TRUE(Has(FaultOf("groups=*;apps"), "groups: * covers all others"));
  EXPECT_TRUE(Has(FaultOf("versions=\"v1,v2\""), "versions: \"v1,v2\" is no version"));
  EXPECT_TRUE(Has(FaultOf("versions=v1;*"), "versions: * covers all others"));
  EXPECT_TRUE(Has(FaultOf("verbs=get"), "verbs: a server refuses \"get\""));
  EXPECT_TRUE(Has(FaultOf("verbs=create;*"), "verbs: * covers all others"));
  EXPECT_TRUE(Has(FaultOf("resources=Order"), "resources: \"Order\" is no resource: write the plural in lower case"));
  EXPECT_TRUE(Has(FaultOf("resources=orders/"), "\"orders/\" is no resource"));
  EXPECT_TRUE(Has(FaultOf("resources=*;orders"), "\"*\" covers \"orders\""));
  EXPECT_TRUE(Has(FaultOf("resources=orders/*;orders/status"), "\"orders/*\" covers \"orders/status\""));
  EXPECT_TRUE(Has(FaultOf("resources=*/status;orders/status"), "\"*/status\" covers \"orders/status\""));
  EXPECT_TRUE(Has(FaultOf("resources=*/*;orders"), "\"*/*\" covers all others"));
  EXPECT_EQ(FaultOf("resources=*;*/status"), "") << "objects, and their status";
  EXPECT_EQ(FaultOf("resources=orders;orders/*"), "");
}

// A server sends the first version that it knows, which the program would have to answer.
TEST(Webhooks, AreSentReviewsOfV1) {
  const std::string fault = "admissionReviewVersions: the webhooks of kgen answer v1";
  EXPECT_TRUE(Has(FaultOf("admissionReviewVersions=v1beta1"), fault));
  EXPECT_TRUE(Has(FaultOf("admissionReviewVersions=v1beta1;v1"), fault));
  EXPECT_EQ(FaultOf("admissionReviewVersions=v2;v1;v1beta1"), "");
}

TEST(Webhooks, AreRefusedIfTwoOfOneConfigurationHaveOneName) {
  const Made made = Make({kNamed, Marked(""), Marked("path=/other"), Marked("mutating=true")});
  EXPECT_TRUE(Has(made.said, "the name \"orders.shop.example.com\" is also that of the webhook at "));
  EXPECT_EQ(made.said.find("is also that of"), made.said.rfind("is also that of")) << "the mutating one is elsewhere";
}

TEST(Webhooks, AreInOneConfigurationOfEachKind) {
  EXPECT_TRUE(Has(Make({kNamed, "+kgen:webhookconfiguration:mutating=false,name=b", Marked("")}).said,
                  "+kgen:webhookconfiguration: there is one at "));
  EXPECT_TRUE(Has(Make({kNamed, Marked("mutating=true")}).said,
                  "there is no webhook with mutating=false, so it has no effect"));
  EXPECT_TRUE(Has(Make({"+kgen:webhookconfiguration:mutating=false,name=A"}).said, "name: \"A\" cannot be a name"));
  EXPECT_TRUE(Has(Make({"+kgen:webhookconfiguration:mutating=no"}).said, "\"no\" is neither true nor false"));
}

TEST(Webhooks, AreMissedIfThereAreNone) {
  EXPECT_TRUE(Has(Make({}).said, "there is no marker +kgen:webhook, and no version of a kind has +kgen:hub"));
}

TEST(Webhooks, AreWarnedOfIfTheyLockTheProgramOut) {
  const std::string text = FaultOf("groups=core;coordination.k8s.io,resources=pods;leases;secrets");
  EXPECT_TRUE(Has(text,
                  "warning: +kgen:webhook: its rules match pods, secrets, leases, and with failurePolicy=fail servers "
                  "refuse changes to them while no replica of the program serves, but for those in the namespace "
                  "\"shop\"; nodes and the control plane need theirs before a replica can start [webhook-deadlock]\n"
                  "    hint: name only the resources that the webhook is about, or write failurePolicy=ignore\n"));
  EXPECT_TRUE(Has(FaultOf("groups=core,resources=pods,ownNamespace=true"), "serves, so that none can start again ["));
  EXPECT_TRUE(Has(FaultOf("groups=*,resources=*"), "its rules match pods, secrets, leases, events, and"));
  EXPECT_TRUE(Has(FaultOf("groups=core,resources=*/*"), "its rules match pods, secrets, events, and"));
  EXPECT_TRUE(Has(FaultOf("groups=events.k8s.io,resources=*"), "its rules match events, and"));
  EXPECT_TRUE(Has(FaultOf("groups=core,resources=pods/binding"), "its rules match pods, and"));
  EXPECT_TRUE(Has(FaultOf("groups=apiextensions.k8s.io,resources=customresourcedefinitions"),
                  "also to those of the program, which belong to no namespace, so that their caBundle cannot be "
                  "renewed [webhook-deadlock]"));
  for (const char* harmless :
       {"groups=core,resources=pods,failurePolicy=ignore", "groups=core,resources=pods,verbs=delete;connect",
        "groups=core,resources=pods/exec,verbs=*", "groups=shop.example.com,resources=*", "groups=core,resources=nodes",
        "groups=apps,resources=pods"})
    EXPECT_EQ(FaultOf(harmless), "") << harmless;
}

// They would never be called.
TEST(Webhooks, AreWarnedOfIfTheyAreForConfigurationsOfWebhooks) {
  const std::string text = "servers send webhook configurations to no webhook";
  EXPECT_TRUE(
      Has(FaultOf("groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,failurePolicy=ignore"),
          text));
  EXPECT_TRUE(Has(FaultOf("groups=*,resources=mutatingwebhookconfigurations"), text));
  EXPECT_FALSE(FaultOf("groups=*,resources=*").contains(text));
}

// A kind with two versions.
std::string Versions(const std::vector<std::string>& first, const std::vector<std::string>& second, Headers& headers) {
  std::vector<std::string> lines = first;
  lines.insert(lines.begin(), "+kgen:resource:group=shop.example.com,version=v2");
  Struct& later = headers.Add("Later", lines, {headers.Of("metadata", {.kind = TypeKind::kObjectMeta})});
  later.name_space = "acme::shop::v2";
  later.path = "Order";
  return headers.Crd({}, second, {.conversion = kService});
}

TEST(Conversions, AreInTheCrdsOfKindsWithAHub) {
  Headers headers;
  const std::string yaml = Versions({"+kgen:hub", "+kgen:storage"}, {}, headers);
  EXPECT_EQ(headers.Said(), "");
  EXPECT_TRUE(Has(yaml,
                  "spec:\n  conversion:\n    strategy: Webhook\n    webhook:\n      clientConfig:\n        service:\n"
                  "          name: shop-webhook\n          namespace: shop\n          path: /convert\n"
                  "      conversionReviewVersions:\n      - v1\n  group: shop.example.com\n"));
  Diagnostics diagnostics;
  const std::string made = MakeWebhooks(headers.description(), kService, diagnostics);
  EXPECT_TRUE(made.starts_with("apiVersion: v1\nkind: Service\n")) << "conversions alone need it too: " << made;
  EXPECT_EQ(diagnostics.Render(), "");
}

TEST(Conversions, AreNotInTheCrdsOfOtherKinds) {
  Headers without;
  EXPECT_FALSE(Versions({"+kgen:storage"}, {}, without).contains("conversion"));
  Headers no_service;
  Versions({"+kgen:hub"}, {"+kgen:storage"}, no_service);
  EXPECT_FALSE(no_service.Yaml().contains("conversion")) << "without a Service";
}

TEST(Conversions, HaveOneHubAndAnotherVersion) {
  Headers twice;
  Versions({"+kgen:hub"}, {"+kgen:hub", "+kgen:storage"}, twice);
  EXPECT_TRUE(Has(twice.Said(), "+kgen:hub: the kind has another hub at shop.h:"));
  Headers alone;
  alone.Crd({}, {"+kgen:hub"});
  EXPECT_TRUE(Has(alone.Said(), "+kgen:hub: the kind has one version, so nothing is converted"));
  Headers plain;
  plain.Add("Plain", {"+kgen:hub"}, {});
  plain.Crd({});
  EXPECT_TRUE(Has(plain.Said(), "the marker +kgen:hub has no effect, since \"Plain\" is no kind"));
}

TEST(WebhookServices, AreANamespaceAndAName) {
  const auto service = ParseWebhookService("shop/shop-webhook");
  ASSERT_TRUE(service);
  EXPECT_EQ(service->name_space, "shop");
  EXPECT_EQ(service->name, "shop-webhook");
  for (const char* text : {"", "shop", "shop/", "/hook", "Shop/hook", "shop/hook/more"}) {
    const auto wrong = ParseWebhookService(text);
    ASSERT_FALSE(wrong) << text;
    EXPECT_TRUE(Has(wrong.error(), "is not the namespace and the name of a Service; write, for example, shop/"));
  }
}

}  // namespace
}  // namespace kgen::generator::crd
