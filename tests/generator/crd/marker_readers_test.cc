// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What nothing reads would be lost without a word: the right of one namespace would become one over all of them. Each
// marker, and each argument of each marker, is given two values here, and the CRD or the roles must tell them apart.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "generator/crd/marker_table.h"
#include "generator/crd/rbac.h"
#include "generator/crd/webhooks.h"
#include "tests/generator/crd/headers.h"

namespace kgen::generator::crd {
namespace {

// Where the line goes: the kind, the member of a name in its spec, the enum, or the namespace.
struct Sample {
  const char *marker, *argument;  // of the table; an empty argument is the value, or the presence, of the marker
  const char* place;
  const char *one, *other;
};

constexpr Sample kSamples[] = {
    {"atleastoneof", "", "kind", "+kgen:atLeastOneOf=spec", "+kgen:atLeastOneOf=status"},
    {"atmostoneof", "", "kind", "+kgen:atMostOneOf=spec", "+kgen:atMostOneOf=status"},
    {"default", "", "text", "+default=a", "+default=b"},
    {"deprecated", "", "kind", "+kgen:deprecated", ""},
    {"deprecated", "warning", "kind", "+kgen:deprecated:warning=a", "+kgen:deprecated:warning=b"},
    {"embeddedresource", "", "any", "+kgen:embeddedResource", ""},
    {"enum", "", "text", "+kgen:enum=a", "+kgen:enum=b"},
    {"exactlyoneof", "", "kind", "+kgen:exactlyOneOf=spec", "+kgen:exactlyOneOf=status"},
    {"exclusivemaximum", "", "limited", "+kgen:exclusiveMaximum=true", "+kgen:exclusiveMaximum=false"},
    {"exclusiveminimum", "", "limited", "+kgen:exclusiveMinimum=true", "+kgen:exclusiveMinimum=false"},
    {"forbidden", "", "text", "+k8s:forbidden", ""},
    {"format", "", "text", "+kgen:format=email", "+kgen:format=uri"},
    {"groupname", "", "bare", "+groupName=a.example.com", "+groupName=b.example.com"},
    {"hub", "", "second", "+kgen:hub", ""},
    {"immutable", "", "text", "+k8s:immutable", ""},
    {"listmapkey", "", "keyed", "+listMapKey=a", "+listMapKey=b"},
    {"listtype", "", "list", "+listType=set", "+listType=atomic"},
    {"maptype", "", "map", "+mapType=atomic", "+mapType=granular"},
    {"maximum", "", "number", "+kgen:maximum=1", "+kgen:maximum=2"},
    {"maxitems", "", "list", "+kgen:maxItems=1", "+kgen:maxItems=2"},
    {"maxlength", "", "text", "+kgen:maxLength=1", "+kgen:maxLength=2"},
    {"maxproperties", "", "map", "+kgen:maxProperties=1", "+kgen:maxProperties=2"},
    {"metadata", "annotations", "kind", "+kgen:metadata:annotations=a=b", "+kgen:metadata:annotations=a=c"},
    {"metadata", "labels", "kind", "+kgen:metadata:labels=a=b", "+kgen:metadata:labels=a=c"},
    {"minimum", "", "number", "+kgen:minimum=1", "+kgen:minimum=2"},
    {"minitems", "", "list", "+kgen:minItems=1", "+kgen:minItems=2"},
    {"minlength", "", "text", "+kgen:minLength=1", "+kgen:minLength=2"},
    {"minproperties", "", "map", "+kgen:minProperties=1", "+kgen:minProperties=2"},
    {"multipleof", "", "number", "+kgen:multipleOf=1", "+kgen:multipleOf=2"},
    {"name", "", "text", "+kgen:name=one", "+kgen:name=two"},
    {"nullable", "", "text", "+nullable", ""},
    {"optional", "", "must", "+optional", ""},
    {"pattern", "", "text", "+kgen:pattern=a", "+kgen:pattern=b"},
    {"preserveunknownfields", "", "map", "+kgen:preserveUnknownFields", ""},
    {"printcolumn", "name", "kind", "+kgen:printcolumn:type=string,jsonPath=.spec.text,name=A",
     "+kgen:printcolumn:type=string,jsonPath=.spec.text,name=B"},
    {"printcolumn", "type", "kind", "+kgen:printcolumn:name=A,jsonPath=.spec.text,type=string",
     "+kgen:printcolumn:name=A,jsonPath=.spec.text,type=date"},
    {"printcolumn", "jsonPath", "kind", "+kgen:printcolumn:name=A,type=string,jsonPath=.spec.text",
     "+kgen:printcolumn:name=A,type=string,jsonPath=.spec.number"},
    {"printcolumn", "description", "kind", "+kgen:printcolumn:name=A,type=string,jsonPath=.spec.text,description=a",
     "+kgen:printcolumn:name=A,type=string,jsonPath=.spec.text,description=b"},
    {"printcolumn", "format", "kind", "+kgen:printcolumn:name=A,type=string,jsonPath=.spec.text,format=date",
     "+kgen:printcolumn:name=A,type=string,jsonPath=.spec.text,format=byte"},
    {"printcolumn", "priority", "kind", "+kgen:printcolumn:name=A,type=string,jsonPath=.spec.text,priority=0",
     "+kgen:printcolumn:name=A,type=string,jsonPath=.spec.text,priority=1"},
    {"rbac", "groups", "kind", "+kgen:rbac:resources=r,verbs=v,groups=a", "+kgen:rbac:resources=r,verbs=v,groups=b"},
    {"rbac", "resources", "kind", "+kgen:rbac:groups=g,verbs=v,resources=a", "+kgen:rbac:groups=g,verbs=v,resources=b"},
    {"rbac", "verbs", "kind", "+kgen:rbac:groups=g,resources=r,verbs=a", "+kgen:rbac:groups=g,resources=r,verbs=b"},
    {"rbac", "resourceNames", "kind", "+kgen:rbac:groups=g,resources=r,verbs=v,resourceNames=a",
     "+kgen:rbac:groups=g,resources=r,verbs=v,resourceNames=b"},
    {"rbac", "urls", "kind", "+kgen:rbac:verbs=v,urls=/a", "+kgen:rbac:verbs=v,urls=/b"},
    {"rbac", "namespace", "kind", "+kgen:rbac:groups=g,resources=r,verbs=v,namespace=a",
     "+kgen:rbac:groups=g,resources=r,verbs=v,namespace=b"},
    {"rbac", "roleName", "kind", "+kgen:rbac:groups=g,resources=r,verbs=v,roleName=a",
     "+kgen:rbac:groups=g,resources=r,verbs=v,roleName=b"},
    {"required", "", "text", "+required", ""},
    {"resource", "group", "bare", "+kgen:resource:version=v1,group=a.example.com",
     "+kgen:resource:version=v1,group=b.example.com"},
    {"resource", "version", "bare", "+kgen:resource:group=a.example.com,version=v1",
     "+kgen:resource:group=a.example.com,version=v2"},
    {"resource", "path", "bare", "+kgen:resource:group=a.example.com,version=v1,path=as",
     "+kgen:resource:group=a.example.com,version=v1,path=bs"},
    {"resource", "singular", "bare", "+kgen:resource:group=a.example.com,version=v1,singular=a",
     "+kgen:resource:group=a.example.com,version=v1,singular=b"},
    {"resource", "shortName", "bare", "+kgen:resource:group=a.example.com,version=v1,shortName=a;b",
     "+kgen:resource:group=a.example.com,version=v1,shortName=b;a"},
    {"resource", "categories", "bare", "+kgen:resource:group=a.example.com,version=v1,categories=a;b",
     "+kgen:resource:group=a.example.com,version=v1,categories=b;a"},
    {"resource", "scope", "bare", "+kgen:resource:group=a.example.com,version=v1,scope=Cluster",
     "+kgen:resource:group=a.example.com,version=v1,scope=Namespaced"},
    {"schema", "", "any", "+kgen:schema={type: string}", "+kgen:schema={type: integer}"},
    {"selectablefield", "jsonPath", "kind", "+kgen:selectablefield:jsonPath=.spec.text",
     "+kgen:selectablefield:jsonPath=.spec.number"},
    {"served", "", "kind", "+kgen:served=true", "+kgen:served=false"},
    {"storage", "", "second", "+kgen:storage", ""},
    {"subresource:scale", "specpath", "kind", "+kgen:subresource:scale:statuspath=.status.a,specpath=.spec.a",
     "+kgen:subresource:scale:statuspath=.status.a,specpath=.spec.number"},
    {"subresource:scale", "statuspath", "kind", "+kgen:subresource:scale:specpath=.spec.a,statuspath=.status.a",
     "+kgen:subresource:scale:specpath=.spec.a,statuspath=.status.number"},
    {"subresource:scale", "selectorpath", "kind",
     "+kgen:subresource:scale:specpath=.spec.a,statuspath=.status.a,selectorpath=.status.text",
     "+kgen:subresource:scale:specpath=.spec.a,statuspath=.status.a,selectorpath=.status.must"},
    {"subresource:status", "", "kind", "+kgen:subresource:status", ""},
    {"uniondiscriminator", "", "text", "+k8s:unionDiscriminator", ""},
    {"unionmember", "", "text", "+k8s:unionMember", ""},
    {"versionname", "", "bare", "+versionName=v1", "+versionName=v2"},
    {"webhookconfiguration", "mutating", "hooked", "+kgen:webhookconfiguration:name=a,mutating=true",
     "+kgen:webhookconfiguration:name=a,mutating=false"},
    {"webhookconfiguration", "name", "hooked", "+kgen:webhookconfiguration:mutating=true,name=a",
     "+kgen:webhookconfiguration:mutating=true,name=b"},
    {"xvalidation", "rule", "text", "+kgen:XValidation:rule=\"self != 'a'\"", "+kgen:XValidation:rule=\"self != 'b'\""},
    {"xvalidation", "message", "text", "+kgen:XValidation:rule=\"self != 'a'\",message=a",
     "+kgen:XValidation:rule=\"self != 'a'\",message=b"},
    {"xvalidation", "messageExpression", "text", "+kgen:XValidation:rule=\"self != 'a'\",messageExpression=\"'a'\"",
     "+kgen:XValidation:rule=\"self != 'a'\",messageExpression=\"'b'\""},
    {"xvalidation", "reason", "text", "+kgen:XValidation:rule=\"self != 'a'\",reason=FieldValueInvalid",
     "+kgen:XValidation:rule=\"self != 'a'\",reason=FieldValueRequired"},
    {"xvalidation", "fieldPath", "kind", "+kgen:XValidation:rule=\"has(self.spec)\",fieldPath=.spec.text",
     "+kgen:XValidation:rule=\"has(self.spec)\",fieldPath=.spec.number"},
    {"xvalidation", "optionalOldSelf", "text", "+kgen:XValidation:rule=\"oldSelf != self\",optionalOldSelf=true",
     "+kgen:XValidation:rule=\"oldSelf != self\",optionalOldSelf=false"},
    {"zerooroneofmember", "", "text", "+k8s:zeroOrOneOfMember", ""},
};

// Changes members instead of schemas; tests of the program and of own_types cover it.
constexpr const char* kOfTheReader = "inline";

// The arguments of +kgen:webhook: WebhookWith() makes the marker.
struct ArgumentSample {
  const char *argument, *one, *other;
};
constexpr ArgumentSample kWebhookSamples[] = {
    {"mutating", "true", "false"},
    {"name", "a.b.c", "a.b.d"},
    {"failurePolicy", "fail", "ignore"},
    {"sideEffects", "None", "NoneOnDryRun"},
    {"groups", "a", "b"},
    {"resources", "a", "b"},
    {"verbs", "create", "update"},
    {"versions", "v1", "v2"},
    {"admissionReviewVersions", "v1", "v1;v1beta1"},
    {"path", "/a", "/b"},
    {"url", "https://a/b", "https://a/c"},
    {"serviceName", "a", "b"},
    {"serviceNamespace", "a", "b"},
    {"servicePort", "1", "2"},
    {"matchPolicy", "exact", "equivalent"},
    {"reinvocationPolicy", "never", "ifNeeded"},
    {"timeoutSeconds", "1", "2"},
    {"ownNamespace", "true", "false"},
};

// Takes one value, and says what is so without it.
constexpr const char* kWithoutEffect = "webhookVersions";

// The marker of a mutating webhook with this argument.
std::string WebhookWith(const std::string& argument, const std::string& value) {
  std::map<std::string, std::string> all = {{"mutating", "true"},
                                            {"name", "a.b.c"},
                                            {"failurePolicy", "fail"},
                                            {"sideEffects", "None"},
                                            {"groups", "g"},
                                            {"resources", "rs"},
                                            {"verbs", "create"},
                                            {"versions", "v1"},
                                            {"path", "/a"},
                                            {"admissionReviewVersions", "v1"}};
  all[argument] = value;
  if (argument == "url") all.erase("path");
  std::string out = "+kgen:webhook";
  char separator = ':';
  for (const auto& [name, text] : all) {
    out += separator + name + "=" + text;
    separator = ',';
  }
  return out;
}

// A webhook of each kind, for +kgen:webhookconfiguration.
std::vector<Webhook> BothWebhooks() {
  Webhook mutating, validating;
  mutating.mutating = true;
  return {mutating, validating};
}

// The CRDs, roles and configurations of an API with everything that a marker may be about, and the line in its place.
std::string Output(const std::string& place, const std::string& line) {
  Headers headers;
  const auto lines = [&](const std::string& at, std::vector<std::string> known = {}) {
    if (at == place && !line.empty()) known.push_back(line);
    return known;
  };
  const Type text{.kind = TypeKind::kString}, number{.kind = TypeKind::kInt32};
  headers.Add("Key", {}, {headers.Of("a", text, {"+required"}), headers.Of("b", text, {"+required"})});
  const auto members = [&] {
    return std::vector<Member>{
        headers.Of("text", text, lines("text")),
        headers.Of("number", number, lines("number")),
        headers.Of("a", number),
        headers.Of("either", text, {"+k8s:unionMember"}),
        headers.Of("any", {.kind = TypeKind::kJson}, lines("any")),
        headers.Of("limited", number, lines("limited", {"+kgen:minimum=1", "+kgen:maximum=9"})),
        headers.Of("must", text, lines("must", {place == "must" ? "+kgen:minLength=1" : "+required"})),
        headers.Of("list", List(text), lines("list")),
        headers.Of("map", Map(text), lines("map")),
        headers.Of("keyed", List(Object("Key")),
                   lines("keyed", place == "keyed" ? std::vector<std::string>{"+listType=map"}
                                                   : std::vector<std::string>{"+listType=map", "+listMapKey=a"}))};
  };
  headers.Add("Spec", {}, members());
  if (place == "hooked") headers.description().elsewhere = {{line, {}}};
  if (place == "bare" || place == "second") {
    std::vector<std::string> known;
    const bool has_resource = line.starts_with("+kgen:resource"), has_group = line.starts_with("+groupName");
    if (!has_resource) {
      known.push_back(place == "second" ? "+kgen:resource:group=shop.example.com,version=v2"
                      : has_group       ? "+kgen:resource:version=v1"
                                        : "+kgen:resource:group=a.example.com");
    }
    Struct& bare = headers.Add("Bare", lines(place, known), {headers.Of("metadata", {.kind = TypeKind::kObjectMeta})});
    if (place == "second") {
      bare.name_space = "acme::shop::v2";
      bare.path = "Order";
    }
  }
  std::string out =
      headers.Crd({headers.Of("spec", Object("Spec")), headers.Of("status", Object("Spec"))},
                  lines("kind", place == "second" && line != "+kgen:storage" ? std::vector<std::string>{"+kgen:storage"}
                                                                             : std::vector<std::string>{}),
                  {.conversion = WebhookService{.name_space = "shop", .name = "hooks"}});
  if (place == "hooked") headers.description().webhooks = BothWebhooks();
  if (place == "must") return out + headers.Said();  // required and optional contradict each other
  EXPECT_EQ(headers.Said(), "") << line;
  Diagnostics dropped;
  return out + MakeRoles(headers.description().rules, "shop") +
         MakeWebhooks(headers.description(), {.name_space = "shop", .name = "hooks"}, dropped);
}

TEST(MarkersAndArguments, AreAllRead) {
  for (const Sample& sample : kSamples) {
    const std::string one = Output(sample.place, sample.one), other = Output(sample.place, sample.other);
    if (std::string_view(sample.marker) == "optional") continue;  // says what is so without it
    EXPECT_NE(one, other) << "nothing reads " << sample.one;
  }
  for (const ArgumentSample& sample : kWebhookSamples) {
    const std::string one = Output("kind", WebhookWith(sample.argument, sample.one));
    EXPECT_NE(one, Output("kind", WebhookWith(sample.argument, sample.other))) << "nothing reads " << sample.argument;
  }
  EXPECT_EQ(Output("kind", WebhookWith(kWithoutEffect, "v1")), Output("kind", WebhookWith("name", "a.b.c")));
}

TEST(MarkersAndArguments, AreAllInThisTest) {
  std::set<std::pair<std::string, std::string>> sampled;
  for (const Sample& sample : kSamples) sampled.emplace(sample.marker, sample.argument);
  for (const ArgumentSample& sample : kWebhookSamples) sampled.emplace("webhook", sample.argument);
  sampled.emplace("webhook", kWithoutEffect);
  for (const MarkerRow& row : MarkerTable()) {
    if (row.name == kOfTheReader) continue;
    if (row.args.empty()) {
      EXPECT_TRUE(sampled.contains({std::string(row.name), ""})) << row.name;
    }
    for (const MarkerArgument& argument : row.args)
      EXPECT_TRUE(sampled.contains({std::string(row.name), std::string(argument.name)}))
          << row.name << " " << argument.name;
  }
}

// A marker that is read on kinds only has no effect on other structs.
TEST(MarkersAndArguments, OfKindsAreErrorsOnOtherStructs) {
  for (const Sample& sample : kSamples) {
    const std::string name = sample.marker;
    if (std::string(sample.place) != "kind" || IsOfTheProgram(name) || name == "xvalidation" || name.ends_with("oneof"))
      continue;
    Headers headers;
    headers.Add("Plain", {sample.one}, {});
    headers.Crd({});
    EXPECT_TRUE(Has(headers.Said(), "has no effect, since \"Plain\" is no kind")) << sample.one;
  }
}

}  // namespace
}  // namespace kgen::generator::crd
