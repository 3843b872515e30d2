// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/webhooks.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "generator/crd/tree.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {
namespace {

constexpr std::string_view kDefaultPort = "443";
// WebhookOptions::address.
constexpr std::string_view kListeningPort = "9443";

// What must change before a webhook can serve.
struct NeededResource {
  std::string_view group, resource;
};
// Nodes and the control plane need theirs too, to start the pods of anybody.
constexpr NeededResource kNeededToStart[] = {
    {"", "pods"}, {"", "secrets"}, {"coordination.k8s.io", "leases"}, {"", "events"}, {"events.k8s.io", "events"}};
constexpr NeededResource kDefinitions[] = {{"apiextensions.k8s.io", "customresourcedefinitions"}};

bool HasAny(const std::vector<std::string>& values, std::initializer_list<std::string_view> wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  });
}

// The names of those that the rules match: objects, their status, or the binding of pods to nodes.
std::string MatchedOf(const Webhook& webhook, std::span<const NeededResource> all) {
  std::string out;
  for (const NeededResource& needed : all) {
    if (!HasAny(webhook.groups, {"*", needed.group}) || out.ends_with(needed.resource)) continue;
    const std::string resource(needed.resource);
    if (HasAny(webhook.resources,
               {"*", "*/*", "*/status", resource, resource + "/*", resource + "/status", resource + "/binding"}))
      out += (out.empty() ? "" : ", ") + resource;
  }
  return out;
}

// Warns if what servers refuse while no replica serves keeps replicas from serving.
void WarnOfDeadlock(const Webhook& webhook, const WebhookService& service, Diagnostics& diagnostics) {
  if (webhook.failure_policy != "Fail" || !HasAny(webhook.operations, {"CREATE", "UPDATE", "*"})) return;
  const auto warn = [&](const std::string& matched, const std::string& why) {
    if (matched.empty()) return;
    diagnostics.Warning("webhook-deadlock", webhook.origin,
                        webhook.written + ": its rules match " + matched +
                            ", and with failurePolicy=fail servers refuse changes to them while no replica of the "
                            "program serves" +
                            why,
                        {}, "name only the resources that the webhook is about, or write failurePolicy=ignore");
  };
  warn(MatchedOf(webhook, kNeededToStart),
       webhook.own_namespace ? ", so that none can start again"
                             : ", but for those in the namespace " + Quote(service.name_space) +
                                   "; nodes and the control plane need theirs before a replica can start");
  warn(MatchedOf(webhook, kDefinitions),
       ", also to those of the program, which belong to no namespace, so that their caBundle cannot be renewed");
}

// Warns of rules for configurations of webhooks, if they say so themselves: * means others too.
void WarnOfExempt(const Webhook& webhook, Diagnostics& diagnostics) {
  if (!HasAny(webhook.groups, {"*", "admissionregistration.k8s.io"})) return;
  const bool named = HasAny(webhook.groups, {"admissionregistration.k8s.io"}) ||
                     HasAny(webhook.resources, {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"});
  if (!named) return;
  diagnostics.Warning(
      "webhook-exempt", webhook.origin,
      webhook.written + ": servers send webhook configurations to no webhook, so that one can always be repaired", {},
      "remove the group or the resource from the marker");
}

Tree RuleOf(const Webhook& webhook) {
  Tree rule;
  rule["apiGroups"] = Tree::Texts(webhook.groups);
  rule["apiVersions"] = Tree::Texts(webhook.versions);
  rule["operations"] = Tree::Texts(webhook.operations);
  rule["resources"] = Tree::Texts(webhook.resources);
  return rule;
}

// The Service that a webhook is called through.
WebhookService ServiceOf(const Webhook& webhook, const WebhookService& service) {
  return {.name_space = webhook.service_namespace.empty() ? service.name_space : webhook.service_namespace,
          .name = webhook.service_name.empty() ? service.name : webhook.service_name};
}

Tree WebhookTree(const Webhook& webhook, const WebhookService& service) {
  Tree out;
  out["name"] = Tree::Text(webhook.name);
  out["admissionReviewVersions"] = Tree::Texts(webhook.review_versions);
  if (webhook.url.empty()) {
    out["clientConfig"] = ClientConfig(ServiceOf(webhook, service), webhook.path);
    if (!webhook.service_port.empty()) out["clientConfig"]["service"]["port"] = Tree::Json(webhook.service_port);
  } else {
    out["clientConfig"]["url"] = Tree::Text(webhook.url);
  }
  out["failurePolicy"] = Tree::Text(webhook.failure_policy);
  if (!webhook.match_policy.empty()) out["matchPolicy"] = Tree::Text(webhook.match_policy);
  if (!webhook.own_namespace) {
    Tree others;
    others["key"] = Tree::Text("kubernetes.io/metadata.name");
    others["operator"] = Tree::Text("NotIn");
    others["values"] = Tree::Texts({service.name_space});
    out["namespaceSelector"]["matchExpressions"] = Tree::List({std::move(others)});
  }
  if (!webhook.reinvocation_policy.empty()) out["reinvocationPolicy"] = Tree::Text(webhook.reinvocation_policy);
  out["rules"] = Tree::List({RuleOf(webhook)});
  out["sideEffects"] = Tree::Text(webhook.side_effects);
  if (!webhook.timeout_seconds.empty()) out["timeoutSeconds"] = Tree::Json(webhook.timeout_seconds);
  return out;
}

Tree ServiceTree(const WebhookService& service, const std::set<std::string>& ports) {
  Tree out;
  out["apiVersion"] = Tree::Text("v1");
  out["kind"] = Tree::Text("Service");
  out["metadata"]["name"] = Tree::Text(service.name);
  out["metadata"]["namespace"] = Tree::Text(service.name_space);
  out["spec"]["ports"] = Tree::List();
  for (const std::string& number : ports) {
    Tree port;
    port["name"] = Tree::Text("webhook-" + number);
    port["port"] = Tree::Json(number);
    port["targetPort"] = Tree::Json(std::string(kListeningPort));
    out["spec"]["ports"].Add(std::move(port));
  }
  for (const auto& [key, value] : service.selector) out["spec"]["selector"][key] = Tree::Text(value);
  return out;
}

// Adds a YAML document.
void AddDocument(const Tree& tree, std::string& out) {
  if (!out.empty()) out += "---\n";
  if (const auto stream = tree.ToStream()) out += yaml::ToYaml(stream->documents()[0]);
}

class WebhooksMaker {
 public:
  WebhooksMaker(const Description& description, const WebhookService& service, Diagnostics& diagnostics)
      : description_(description), service_(service), diagnostics_(diagnostics) {
    for (const Webhook& webhook : description.webhooks) sorted_.push_back(&webhook);
    std::sort(sorted_.begin(), sorted_.end(), [](const Webhook* a, const Webhook* b) {
      return std::tie(a->name, a->origin.file, a->origin.line) < std::tie(b->name, b->origin.file, b->origin.line);
    });
  }

  std::string Make() {
    const bool converts = std::any_of(description_.structs.begin(), description_.structs.end(), [](const auto& named) {
      return FindMarker(named.second.markers, "hub") != nullptr;
    });
    if (sorted_.empty() && !converts && !diagnostics_.has_errors()) {
      diagnostics_.Error("webhook", {}, "there is no marker +kgen:webhook, and no version of a kind has +kgen:hub", {},
                         "write one in a header, or name the source that has it with --source");
    }
    std::string out;
    Configuration(true, out);
    Configuration(false, out);
    std::set<std::string> ports;
    if (converts) ports.emplace(kDefaultPort);
    for (const Webhook* webhook : sorted_) {
      WarnOfDeadlock(*webhook, service_, diagnostics_);
      WarnOfExempt(*webhook, diagnostics_);
      const WebhookService called = ServiceOf(*webhook, service_);
      if (!webhook->url.empty() || called.name != service_.name || called.name_space != service_.name_space) continue;
      ports.emplace(webhook->service_port.empty() ? kDefaultPort : webhook->service_port);
    }
    if (!ports.empty()) AddDocument(ServiceTree(service_, ports), out);
    return out;
  }

 private:
  void Configuration(bool mutating, std::string& out) {
    Tree webhooks = Tree::List();
    const Webhook* previous = nullptr;
    for (const Webhook* webhook : sorted_) {
      if (webhook->mutating != mutating) continue;
      if (previous != nullptr && previous->name == webhook->name) {
        diagnostics_.Error("webhook", webhook->origin,
                           webhook->written + ": the name " + Quote(webhook->name) +
                               " is also that of the webhook at " + diagnostics_.Describe(previous->origin),
                           {}, "choose another name: a server refuses two webhooks of one name");
      }
      previous = webhook;
      webhooks.Add(WebhookTree(*webhook, service_));
    }
    const std::string name = NameOf(mutating, previous);
    if (webhooks.empty()) return;
    Tree tree;
    tree["apiVersion"] = Tree::Text("admissionregistration.k8s.io/v1");
    tree["kind"] = Tree::Text(mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration");
    tree["metadata"]["name"] = Tree::Text(name);
    tree["webhooks"] = std::move(webhooks);
    AddDocument(tree, out);
  }

  // The name of the configuration of this kind; `webhook` is one of its webhooks, or null.
  std::string NameOf(bool mutating, const Webhook* webhook) {
    const WebhookConfiguration* found = nullptr;
    for (const WebhookConfiguration& configuration : description_.webhook_configurations) {
      if (configuration.mutating != mutating) continue;
      if (found != nullptr) {
        diagnostics_.Error("webhook", configuration.origin,
                           configuration.written + ": there is one at " + diagnostics_.Describe(found->origin) +
                               " already, and all webhooks with the same mutating= are in one configuration",
                           {}, "remove one of the two");
      } else if (webhook == nullptr) {
        diagnostics_.Error("webhook", configuration.origin,
                           configuration.written + ": there is no webhook with mutating=" +
                               (mutating ? "true" : "false") + ", so it has no effect",
                           {}, "remove it, or name the source that has the webhook with --source");
      }
      found = &configuration;
    }
    if (found != nullptr && !found->name.empty()) return found->name;
    const std::string name = mutating ? "mutating-webhook-configuration" : "validating-webhook-configuration";
    if (webhook != nullptr) {
      diagnostics_.Warning("webhook-name", webhook->origin,
                           "the configuration with this webhook is called " + Quote(name) +
                               ", as another program's may be, which then replaces it",
                           {},
                           "write +kgen:webhookconfiguration:mutating=" + std::string(mutating ? "true" : "false") +
                               ",name=" + service_.name);
    }
    return name;
  }

  const Description& description_;
  const WebhookService& service_;
  Diagnostics& diagnostics_;
  std::vector<const Webhook*> sorted_;
};

}  // namespace

std::string MakeWebhooks(const Description& description, const WebhookService& service, Diagnostics& diagnostics) {
  return WebhooksMaker(description, service, diagnostics).Make();
}

}  // namespace kgen::generator::crd
