// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/webhook_manifests.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/json/compact_json.h"
#include "kgen/codec/yaml.h"

namespace kgen::controller {
namespace {

using nlohmann::json;

constexpr std::string_view kNamespaceLabel = "kubernetes.io/metadata.name";

// What a program needs before it can answer a webhook.
struct Needed {
  std::string_view group;
  std::string_view resource;
  std::string_view why;
};
constexpr Needed kNeeded[] = {
    {"", "pods", "the program's own pods"},
    {"apps", "deployments", "the program's own Deployment"},
    {"apps", "replicasets", "the ReplicaSet that makes the program's pods"},
    {"", "serviceaccounts", "the tokens of the program's pods"},
    {"", "secrets", "the Secret with the certificates"},
    {"coordination.k8s.io", "leases", "the Lease of the leader"},
    {"", "events", "the program's Events"},
    {"events.k8s.io", "events", "the program's Events"},
    {"", "endpoints", "the addresses behind the Service"},
    {"discovery.k8s.io", "endpointslices", "the addresses behind the Service"},
    {"", "namespaces", "the program's own namespace"},
};

// Returns a member that is text, or "".
std::string_view WordAt(const json& object, const char* member) {
  if (!object.is_object()) return {};
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? std::string_view(found->get_ref<const std::string&>()) : "";
}

// Returns a member, or null.
const json& MemberOf(const json& object, const char* member) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(member);
  return found != object.end() ? *found : kNothing;
}

bool ListHas(const json& list, std::string_view word) {
  return list.is_array() && std::ranges::any_of(list, [&](const json& each) {
           return each.is_string() && each.get_ref<const std::string&>() == word;
         });
}

// Whether a rule matches requests for the resource or a subresource of it. Its operations do not matter, except that
// CONNECT changes nothing.
bool RuleMatches(const json& rule, std::string_view group, std::string_view resource) {
  const json& groups = MemberOf(rule, "apiGroups");
  if (!ListHas(groups, group) && !ListHas(groups, "*")) return false;
  const json& operations = MemberOf(rule, "operations");
  const bool only_connect = operations.is_array() && std::ranges::all_of(operations, [](const json& each) {
                              return each.is_string() && each.get_ref<const std::string&>() == "CONNECT";
                            });
  if (only_connect) return false;
  const json& resources = MemberOf(rule, "resources");
  return resources.is_array() && std::ranges::any_of(resources, [&](const json& each) {
           if (!each.is_string()) return false;
           const std::string_view said = each.get_ref<const std::string&>();
           const std::string_view first = said.substr(0, said.find('/'));
           return first == "*" || first == resource;
         });
}

// Whether a requirement of a selector is false for sure. `own` is the value of the label that is known, for the label
// kubernetes.io/metadata.name; of other labels it is assumed that the object has none unless somebody sets it for the
// webhook, so a requirement that such a label exists is false.
bool IsFalse(const json& requirement, std::string_view known, std::string_view own) {
  const std::string_view key = WordAt(requirement, "key"), how = WordAt(requirement, "operator");
  const json& values = MemberOf(requirement, "values");
  if (key != known || known.empty()) return how == "In" || how == "Exists";
  if (how == "In") return !ListHas(values, own);
  if (how == "NotIn") return ListHas(values, own);
  return how == "DoesNotExist";
}

bool Excludes(const json& selector, std::string_view known, std::string_view own) {
  const json& labels = MemberOf(selector, "matchLabels");
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (key != known || known.empty() || value != json(own)) return true;
    }
  }
  const json& expressions = MemberOf(selector, "matchExpressions");
  return expressions.is_array() &&
         std::ranges::any_of(expressions, [&](const json& each) { return IsFalse(each, known, own); });
}

// Checks one rule of a webhook under the failure policy Fail.
std::string ProblemOf(const json& rule, bool excluded, const WebhookSurroundings& around) {
  const std::string_view scope = WordAt(rule, "scope");
  const std::string says = detail::CompactJson(rule);
  for (const char* each : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
    if (ListHas(MemberOf(rule, "apiGroups"), "admissionregistration.k8s.io") &&
        ListHas(MemberOf(rule, "resources"), each)) {
      return "the rule " + says + " names " + each + ", for which servers never call a webhook; remove it";
    }
  }
  if (around.crds && scope != "Namespaced" && RuleMatches(rule, "apiextensions.k8s.io", "customresourcedefinitions")) {
    return "the rule " + says +
           " matches customresourcedefinitions, into which the program writes its caBundle: without it the webhook "
           "cannot be called. Name the resources that the webhook is for, or write `scope: Namespaced` into the rule, "
           "or `failurePolicy: Ignore`";
  }
  if (excluded) return {};
  for (const Needed& need : kNeeded) {
    if (!RuleMatches(rule, need.group, need.resource)) continue;
    if (need.resource == "namespaces" ? scope == "Namespaced" : scope == "Cluster") continue;
    return "the rule " + says + " matches " + std::string(need.resource) + ", and so " + std::string(need.why) +
           ": while no replica runs, every such request fails, and so none can start. Write into the webhook: "
           "namespaceSelector: {matchExpressions: [{key: " +
           std::string(kNamespaceLabel) + ", operator: NotIn, values: [" + around.namespace_ +
           "]}]}, or failurePolicy: Ignore";
  }
  return {};
}

void PointAtUrl(json& configuration, const std::string& url) {
  const auto webhooks = configuration.find("webhooks");
  if (webhooks == configuration.end() || !webhooks->is_array()) return;
  for (json& webhook : *webhooks) {
    if (!webhook.is_object()) continue;
    json& client = webhook["clientConfig"];
    const std::string path(WordAt(MemberOf(client, "service"), "path"));
    if (!client.is_object() || !client.contains("service")) continue;
    client.erase("service");
    client["url"] = url + (path.starts_with('/') || path.empty() ? path : "/" + path);
  }
}

// Excludes the namespace of the program from webhooks whose failure would refuse requests, unless a selector says
// otherwise: an empty one selects all namespaces.
void ExcludeNamespace(json& configuration, const std::string& own) {
  const auto webhooks = configuration.find("webhooks");
  if (webhooks == configuration.end() || !webhooks->is_array()) return;
  for (json& webhook : *webhooks) {
    if (!webhook.is_object() || WordAt(webhook, "failurePolicy") == "Ignore") continue;
    if (!MemberOf(webhook, "namespaceSelector").is_null()) continue;
    webhook["namespaceSelector"] = {
        {"matchExpressions", {{{"key", kNamespaceLabel}, {"operator", "NotIn"}, {"values", {own}}}}}};
  }
}

std::unexpected<Error> RefuseManifest(const std::string& where, const std::string& why) {
  return Fail(Code::kInvalidArgument, "ManagedCertificates::install, " + where + ": " + why);
}

// Returns nothing for an object that is left out.
Result<std::optional<WebhookManifest>> ReadOne(const yaml::Node& node, const std::string& where, const std::string& url,
                                               const WebhookSurroundings& around) {
  if (!node.is_map()) {
    return RefuseManifest(where, "expected an object, found " + std::string(yaml::Describe(node.kind())));
  }
  json object = json::parse(yaml::ToJson(node), nullptr, false);
  const std::string_view version = WordAt(object, "apiVersion"), kind = WordAt(object, "kind");
  if (version == "v1" && kind == "Service") return std::optional<WebhookManifest>();
  const bool mutating = kind == "MutatingWebhookConfiguration";
  if (version != "admissionregistration.k8s.io/v1" || (!mutating && kind != "ValidatingWebhookConfiguration")) {
    return RefuseManifest(where, "a " + std::string(kind) + " of " + std::string(version) +
                                     "; only webhook configurations of admissionregistration.k8s.io/v1 are installed, "
                                     "so leave other objects to whatever deploys the program");
  }
  const std::string name(WordAt(MemberOf(object, "metadata"), "name"));
  if (name.empty()) return RefuseManifest(where, "the " + std::string(kind) + " has no metadata.name");
  if (!url.empty()) PointAtUrl(object, url);
  ExcludeNamespace(object, around.namespace_);
  if (const Result<void> good = CheckForDeadlock(object, around); !good) {
    return RefuseManifest(where, good.error().message());
  }
  return std::optional(WebhookManifest{mutating, name, detail::CompactJson(object)});
}

}  // namespace

Result<void> CheckForDeadlock(const json& configuration, const WebhookSurroundings& around) {
  const json& webhooks = MemberOf(configuration, "webhooks");
  if (!webhooks.is_array()) return {};
  for (const json& webhook : webhooks) {
    if (WordAt(webhook, "failurePolicy") == "Ignore") continue;
    const json& rules = MemberOf(webhook, "rules");
    if (!rules.is_array()) continue;
    const bool excluded = Excludes(MemberOf(webhook, "namespaceSelector"), kNamespaceLabel, around.namespace_) ||
                          Excludes(MemberOf(webhook, "objectSelector"), "", "");
    for (const json& rule : rules) {
      const std::string problem = ProblemOf(rule, excluded, around);
      if (problem.empty()) continue;
      return Fail(Code::kInvalidArgument, "the webhook " + std::string(WordAt(webhook, "name")) + " of the " +
                                              std::string(WordAt(configuration, "kind")) + " " +
                                              std::string(WordAt(MemberOf(configuration, "metadata"), "name")) +
                                              " could keep its own program from starting: " + problem);
    }
  }
  return {};
}

Result<std::vector<WebhookManifest>> ReadWebhookManifests(std::string text, const std::string& url,
                                                          const WebhookSurroundings& around) {
  const auto stream = yaml::Parse(std::move(text));
  if (!stream) {
    const yaml::SyntaxError& error = stream.error();
    return RefuseManifest("line " + std::to_string(error.mark.line), error.message);
  }
  std::vector<WebhookManifest> all;
  for (std::size_t i = 0; i < stream->documents().size(); ++i) {
    const yaml::Node& node = stream->documents()[i];
    const std::string where =
        "document " + std::to_string(stream->number(i)) + ", line " + std::to_string(node.mark().line);
    Result<std::optional<WebhookManifest>> one = ReadOne(node, where, url, around);
    if (!one) return Fail(one.error());
    if (*one) all.push_back(*std::move(*one));
  }
  return all;
}

}  // namespace kgen::controller
