// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Manifests of webhook configurations: reads them, points them at a URL, keeps them out of the program's namespace, and
// finds webhooks that could keep their own program from starting.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_MANIFESTS_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_MANIFESTS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/result.h"

namespace kgen::controller {

struct WebhookManifest {
  bool mutating = false;  // else validating
  std::string name{};
  std::string json{};  // the object
};

// The rest of the program that a configuration is checked against.
struct WebhookSurroundings {
  std::string namespace_{};  // where the program runs
  bool crds = false;         // whether it writes to CRDs
};

// Reads the configurations of a YAML or JSON text; leaves Services out. With a `url`, it and the path take the place of
// each Service. A webhook with `failurePolicy: Fail` and no namespaceSelector gets one that excludes the namespace of
// the program.
// Errors: kInvalidArgument  not YAML; another object; an object without a name; CheckForDeadlock()
Result<std::vector<WebhookManifest>> ReadWebhookManifests(std::string text, const std::string& url,
                                                          const WebhookSurroundings& around);

// Finds a webhook with `failurePolicy: Fail` that is called for something without which no replica can start, so that
// once no replica runs, none ever will.
// Errors: kInvalidArgument  names the webhook and the rule, and says what to write
Result<void> CheckForDeadlock(const nlohmann::json& configuration, const WebhookSurroundings& around);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_MANIFESTS_H_
