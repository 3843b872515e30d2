// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/marker_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kgen::generator::crd {
namespace {

using Arg = MarkerArgument;

constexpr int kSchema = kOnStruct | kOnMember | kOnEnum | kOnAlias;
constexpr int kList = kOnMember | kOnAlias;
constexpr int kGroup = kOnStruct | kOnNamespace;
constexpr int kAnywhere = kSchema | kOnEnumValue | kOnNamespace;

constexpr Arg kResourceArgs[] = {{"group"},
                                 {"version"},
                                 {"path"},
                                 {"singular"},
                                 {"shortName", Arg::kOptional, Arg::kMany},
                                 {"categories", Arg::kOptional, Arg::kMany},
                                 {"scope"}};
constexpr Arg kScaleArgs[] = {{"specpath", Arg::kRequired}, {"statuspath", Arg::kRequired}, {"selectorpath"}};
constexpr Arg kColumnArgs[] = {{"name", Arg::kRequired},
                               {"type", Arg::kRequired},
                               {"jsonPath", Arg::kRequired},
                               {"description"},
                               {"format"},
                               {"priority"}};
constexpr Arg kPathArgs[] = {{"jsonPath", Arg::kRequired}};
constexpr Arg kWarningArgs[] = {{"warning"}};
constexpr Arg kMetadataArgs[] = {{"annotations", Arg::kOptional, Arg::kMany}, {"labels", Arg::kOptional, Arg::kMany}};
constexpr Arg kRuleArgs[] = {{"rule", Arg::kRequired}, {"message"}, {"messageExpression"}, {"reason"}, {"fieldPath"},
                             {"optionalOldSelf"}};
constexpr Arg kRbacArgs[] = {{"groups", Arg::kOptional, Arg::kMany},
                             {"resources", Arg::kOptional, Arg::kMany},
                             {"verbs", Arg::kRequired, Arg::kMany},
                             {"resourceNames", Arg::kOptional, Arg::kMany},
                             {"urls", Arg::kOptional, Arg::kMany},
                             {"namespace"},
                             {"roleName"}};
constexpr Arg kWebhookArgs[] = {{"mutating", Arg::kRequired},
                                {"name", Arg::kRequired},
                                {"failurePolicy", Arg::kRequired},
                                {"sideEffects", Arg::kRequired},
                                {"groups", Arg::kRequired, Arg::kMany},
                                {"resources", Arg::kRequired, Arg::kMany},
                                {"verbs", Arg::kRequired, Arg::kMany},
                                {"versions", Arg::kRequired, Arg::kMany},
                                {"admissionReviewVersions", Arg::kRequired, Arg::kMany},
                                {"path"},
                                {"url"},
                                {"serviceName"},
                                {"serviceNamespace"},
                                {"servicePort"},
                                {"matchPolicy"},
                                {"reinvocationPolicy"},
                                {"timeoutSeconds"},
                                {"webhookVersions", Arg::kOptional, Arg::kMany},
                                {"ownNamespace"}};
constexpr Arg kWebhookConfigurationArgs[] = {{"mutating", Arg::kRequired}, {"name"}};

// The markers in byte order.
constexpr MarkerRow kRows[] = {
    {"atleastoneof", kOnStruct, ValueForm::kList, "+kgen:atLeastOneOf=secret;configMap"},
    {"atmostoneof", kOnStruct, ValueForm::kList, "+kgen:atMostOneOf=secret;configMap"},
    {"default", kSchema, ValueForm::kJson, "+kgen:default=1"},
    {"deprecated", kOnStruct, ValueForm::kArgs, "+kgen:deprecated:warning=\"use v2\"", kWarningArgs},
    {"embeddedresource", kSchema, ValueForm::kNone, "+kgen:embeddedResource"},
    {"enum", kSchema, ValueForm::kList, "+kgen:enum=Low;High"},
    {"exactlyoneof", kOnStruct, ValueForm::kList, "+kgen:exactlyOneOf=secret;configMap"},
    {"exclusivemaximum", kSchema, ValueForm::kBool, "+kgen:exclusiveMaximum=true"},
    {"exclusiveminimum", kSchema, ValueForm::kBool, "+kgen:exclusiveMinimum=true"},
    {"forbidden", kOnMember, ValueForm::kNone, "+k8s:forbidden"},
    {"format", kSchema, ValueForm::kText, "+kgen:format=email"},
    {"groupname", kGroup, ValueForm::kText, "+groupName=shop.example.com"},
    {"hub", kOnStruct, ValueForm::kNone, "+kgen:hub"},
    {"immutable", kOnMember, ValueForm::kNone, "+k8s:immutable"},
    {"inline", kOnMember, ValueForm::kNone, "+kgen:inline"},
    {"listmapkey", kList, ValueForm::kText, "+listMapKey=name"},
    {"listtype", kList, ValueForm::kText, "+listType=map"},
    {"maptype", kSchema, ValueForm::kText, "+mapType=atomic"},
    {"maximum", kSchema, ValueForm::kNumber, "+kgen:maximum=10"},
    {"maxitems", kSchema, ValueForm::kInteger, "+kgen:maxItems=10"},
    {"maxlength", kSchema, ValueForm::kInteger, "+kgen:maxLength=63"},
    {"maxproperties", kSchema, ValueForm::kInteger, "+kgen:maxProperties=10"},
    {"metadata", kOnStruct, ValueForm::kArgs, "+kgen:metadata:labels=\"team=shop\"", kMetadataArgs},
    {"minimum", kSchema, ValueForm::kNumber, "+kgen:minimum=1"},
    {"minitems", kSchema, ValueForm::kInteger, "+kgen:minItems=1"},
    {"minlength", kSchema, ValueForm::kInteger, "+kgen:minLength=1"},
    {"minproperties", kSchema, ValueForm::kInteger, "+kgen:minProperties=1"},
    {"multipleof", kSchema, ValueForm::kNumber, "+kgen:multipleOf=5"},
    {"name", kOnMember | kOnEnumValue, ValueForm::kText, "+kgen:name=fieldName"},
    {"nullable", kOnMember, ValueForm::kNone, "+nullable"},
    {"optional", kOnMember, ValueForm::kNone, "+optional"},
    {"pattern", kSchema, ValueForm::kText, "+kgen:pattern=`^[a-z]+$`"},
    {"preserveunknownfields", kSchema, ValueForm::kNone, "+kgen:preserveUnknownFields"},
    {"printcolumn", kOnStruct, ValueForm::kArgs, "+kgen:printcolumn:name=Item,type=string,jsonPath=.spec.item",
     kColumnArgs},
    {"rbac", kAnywhere, ValueForm::kArgs, "+kgen:rbac:groups=apps,resources=deployments,verbs=get;list", kRbacArgs},
    {"required", kOnMember, ValueForm::kNone, "+required"},
    {"resource", kOnStruct, ValueForm::kArgs, "+kgen:resource:group=shop.example.com,version=v1,shortName=ord",
     kResourceArgs},
    {"schema", kList, ValueForm::kJson, "+kgen:schema={type: object, x-kubernetes-preserve-unknown-fields: true}"},
    {"selectablefield", kOnStruct, ValueForm::kArgs, "+kgen:selectablefield:jsonPath=.spec.item", kPathArgs},
    {"served", kOnStruct, ValueForm::kBool, "+kgen:served=false"},
    {"storage", kOnStruct, ValueForm::kNone, "+kgen:storage"},
    {"subresource:scale", kOnStruct, ValueForm::kArgs,
     "+kgen:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas", kScaleArgs},
    {"subresource:status", kOnStruct, ValueForm::kNone, "+kgen:subresource:status"},
    {"uniondiscriminator", kOnMember, ValueForm::kNone, "+k8s:unionDiscriminator"},
    {"unionmember", kOnMember, ValueForm::kNone, "+k8s:unionMember"},
    {"versionname", kGroup, ValueForm::kText, "+versionName=v1"},
    {"webhook", kAnywhere, ValueForm::kArgs,
     "+kgen:webhook:path=/validate-shop-example-com-v1-order,mutating=false,failurePolicy=fail,sideEffects=None,"
     "groups=shop.example.com,resources=orders,verbs=create;update,versions=v1,name=orders.shop.example.com,"
     "admissionReviewVersions=v1",
     kWebhookArgs},
    {"webhookconfiguration", kAnywhere, ValueForm::kArgs, "+kgen:webhookconfiguration:mutating=false,name=shop",
     kWebhookConfigurationArgs},
    {"xvalidation", kSchema, ValueForm::kArgs, "+kgen:XValidation:rule=\"self.size() > 0\",message=\"is empty\"",
     kRuleArgs},
    {"zerooroneofmember", kOnMember, ValueForm::kNone, "+k8s:zeroOrOneOfMember"},
};

// What only the programs of Go read: it has no meaning for a CRD. Names that begin with one of these and a colon too.
constexpr std::string_view kOfGo[] = {"featuregate",       "genclient",       "k8s:conversion-gen", "k8s:deepcopy-gen",
                                      "k8s:defaulter-gen", "k8s:openapi-gen", "object:generate",    "object:root",
                                      "patchmergekey",     "patchstrategy",   "protobuf",           "union"};
constexpr MarkerRow kGoRow = {"", kAnywhere, ValueForm::kIgnored, ""};

// Other spellings.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"deprecatedversion", "deprecated"},
    {"k8s:enum", "enum"},
    {"k8s:forbidden", "forbidden"},
    {"k8s:format", "format"},
    {"k8s:immutable", "immutable"},
    {"k8s:listmapkey", "listmapkey"},
    {"k8s:listtype", "listtype"},
    {"k8s:maximum", "maximum"},
    {"k8s:maxitems", "maxitems"},
    {"k8s:maxlength", "maxlength"},
    {"k8s:maxproperties", "maxproperties"},
    {"k8s:minimum", "minimum"},
    {"k8s:minitems", "minitems"},
    {"k8s:minlength", "minlength"},
    {"k8s:minproperties", "minproperties"},
    {"k8s:optional", "optional"},
    {"k8s:required", "required"},
    {"k8s:uniondiscriminator", "uniondiscriminator"},
    {"k8s:unionmember", "unionmember"},
    {"k8s:unique", "listtype"},
    {"k8s:zerooroneofmember", "zerooroneofmember"},
    {"pruning:preserveunknownfields", "preserveunknownfields"},
    {"storageversion", "storage"},
    {"structtype", "maptype"},
    {"unservedversion", "served"},
    {"xembeddedresource", "embeddedresource"},
    {"xpreserveunknownfields", "preserveunknownfields"},
};

// What to write instead of markers of Kubernetes' declarative validation that have no counterpart in a CRD. By what
// their names begin with.
constexpr std::pair<std::string_view, std::string_view> kInsteadOfK8s[] = {
    {"k8s:item(", "write a rule on the list, for example +kgen:XValidation:rule=\"self.all(x, x.name != 'a')\""},
    {"k8s:subfield(", "write the inner marker above that member of the struct, or a rule with +kgen:XValidation here"},
    {"k8s:uniondiscriminator(", "one union has no name; for more, write rules with +kgen:XValidation on the struct"},
    {"k8s:unionmember(", "one union has no name; for more, write +kgen:exactlyOneOf=a;b above the struct for each"},
    {"k8s:zerooroneofmember(", "write +kgen:atMostOneOf=a;b above the struct for each of the sets"},
};

}  // namespace

std::string_view InsteadOfK8s(std::string_view name) {
  for (const auto& [begin, instead] : kInsteadOfK8s) {
    if (name.starts_with(begin)) return instead;
  }
  return {};
}

std::span<const MarkerRow> MarkerTable() { return kRows; }

const MarkerRow* FindMarkerRow(std::string_view name) {
  for (const auto& [other, real] : kSynonyms) {
    if (other == name) name = real;
  }
  for (const MarkerRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return std::find(std::begin(kOfGo), std::end(kOfGo), name) == std::end(kOfGo) ? nullptr : &kGoRow;
}

bool IsOfTheProgram(std::string_view name) {
  return name == "rbac" || name == "webhook" || name == "webhookconfiguration";
}

bool FitsElements(const MarkerRow& row) {
  static constexpr std::string_view kOfTheMember[] = {
      "forbidden",          "immutable",   "inline",           "name", "optional", "required",
      "uniondiscriminator", "unionmember", "zerooroneofmember"};
  if (std::find(std::begin(kOfTheMember), std::end(kOfTheMember), row.name) != std::end(kOfTheMember)) return false;
  return (row.places & kOnMember) != 0 && !IsOfTheProgram(row.name);
}

}  // namespace kgen::generator::crd
