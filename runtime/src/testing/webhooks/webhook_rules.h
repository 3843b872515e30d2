// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The webhooks of MutatingWebhookConfigurations and ValidatingWebhookConfigurations: what they say, and which requests
// they concern.
//
//   configuration (JSON) --ReadHooks()--> Hook;   Concerns(Hook, AdmissionTarget) --> the version to call it with
#ifndef KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_RULES_H_
#define KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_RULES_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/selector.h"
#include "kgen/core/clock.h"

namespace kgen::testing {

struct HookRule {
  std::vector<std::string> operations{}, groups{}, versions{}, resources{};
  std::string scope = "*";
};

// One webhook of a configuration, with the defaults of a server.
struct Hook {
  std::string configuration{}, name{};
  bool mutating = false;
  std::vector<HookRule> rules{};
  Selector namespaces{}, objects{};
  bool equivalent = true;  // matchPolicy
  bool ignores_failures = false;
  bool reinvoked = false;  // reinvocationPolicy: IfNeeded
  bool safe_in_dry_run = true;
  bool speaks_v1 = true;  // admissionReviewVersions
  Nanos timeout = std::chrono::seconds(10);
  nlohmann::json client_config{};
  std::vector<std::pair<std::string, std::string>> conditions{};  // names and expressions of matchConditions
};

// What is wrong with a configuration: a cause of a Status.
struct HookFault {
  std::string reason, field, message;
};

// Returns the first faults of a configuration as a server would find them. `conditions`: matchConditions are allowed.
std::vector<HookFault> CheckHooks(const nlohmann::json& configuration, bool mutating, bool conditions);
// Returns the webhooks of a configuration in their order; what is malformed (stored without a check) is left out.
std::vector<Hook> ReadHooks(const nlohmann::json& configuration, bool mutating);

// The request that rules and selectors look at.
struct AdmissionTarget {
  std::string_view operation;  // CREATE, UPDATE, DELETE
  std::string_view group, version, plural, subresource;
  std::string_view namespace_;                 // "" for objects of the cluster; a Namespace's is its own name
  std::vector<std::string> versions;           // of the same resource, among them `version`
  const nlohmann::json* object = nullptr;      // null: none
  const nlohmann::json* old_object = nullptr;  // null: none
  // The labels of the namespace, or of the Namespace itself; null for other objects of the cluster, which every
  // namespaceSelector matches.
  const nlohmann::json* namespace_labels = nullptr;
};

// Returns the version of the resource with which to call the webhook, or nullopt if it does not concern the request.
std::optional<std::string> Concerns(const Hook& hook, const AdmissionTarget& target);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_WEBHOOKS_WEBHOOK_RULES_H_
