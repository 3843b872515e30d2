// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The markers of webhooks, read and checked as the API server checks a configuration:
//
//   // +kgen:webhook:path=/validate-shop-example-com-v1-order,mutating=false,failurePolicy=fail,sideEffects=None,...
//   // +kgen:webhookconfiguration:mutating=false,name=shop
//
// and the Service through which servers call webhooks.
#ifndef KGEN_GENERATOR_CRD_WEBHOOK_MARKERS_H_
#define KGEN_GENERATOR_CRD_WEBHOOK_MARKERS_H_

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/crd/markers.h"
#include "generator/crd/tree.h"
#include "generator/diagnostic.h"

namespace kgen::generator::crd {

// One +kgen:webhook. Texts are in the spelling of the API, "CREATE" for create and "" for the group core; what the
// marker leaves out is empty.
struct Webhook {
  std::string name;
  bool mutating = false;
  std::string path, url;  // one of the two
  std::string service_name, service_namespace, service_port;
  std::vector<std::string> groups, versions, resources, operations;
  std::string failure_policy, match_policy, side_effects, timeout_seconds, reinvocation_policy;
  std::vector<std::string> review_versions;
  bool own_namespace = false;  // also called for objects in the namespace of the program itself
  std::string written;         // "+kgen:webhook", for messages
  Origin origin = {};
};

// One +kgen:webhookconfiguration: how the object with all mutating or all validating webhooks is called.
struct WebhookConfiguration {
  bool mutating = false;
  std::string name;  // "": the default
  std::string written;
  Origin origin = {};
};

// Returns nothing, with errors in `diagnostics`, if a server would refuse the webhook, or never call it.
std::optional<Webhook> ReadWebhook(const Marker& marker, Diagnostics& diagnostics);
std::optional<WebhookConfiguration> ReadWebhookConfiguration(const Marker& marker, Diagnostics& diagnostics);

// The Service through which API servers call the webhooks of a program.
struct WebhookService {
  std::string name_space, name;
  std::map<std::string, std::string> selector = {};  // labels of the program's pods
};

// Reads "NAMESPACE/SERVICE". Errors say what is wrong, for a message.
std::expected<WebhookService, std::string> ParseWebhookService(std::string_view text);

// How a server calls `path` of the Service: {service: {name, namespace, path}}. Without a port it is 443. What a server
// trusts, `caBundle`, is known only where the certificate is made.
Tree ClientConfig(const WebhookService& service, std::string_view path);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_WEBHOOK_MARKERS_H_
