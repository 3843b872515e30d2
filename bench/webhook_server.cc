// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen's webhooks for `./dev bench webhooks`. bench/peers/webhooks/ measures them, and contains the counterpart for
// controller-runtime, which does the same.
//
//   kgen_webhooks PORT FOLDER    FOLDER has tls.crt and tls.key
//
// Runs until SIGTERM. It asks no API server.
#include <k8s/apps/v1/types.h>

#include <cstddef>
#include <exception>
#include <iostream>
#include <string>

#include "kgen/client/config.h"
#include "kgen/controller/manager.h"
#include "kgen/core/field_errors.h"
#include "kgen/core/stop.h"

namespace {

using k8s::apps::v1::Deployment;

kgen::Result<void> SetDefaults(Deployment& deployment, const kgen::Admission&) {
  if (!deployment.spec->replicas.has_value()) deployment.spec->replicas = 1;
  if (!deployment.metadata.labels.contains("team")) deployment.metadata.labels["team"] = "nobody";
  return {};
}

kgen::Result<kgen::FieldErrors> Validate(const Deployment& deployment, const kgen::Admission&) {
  kgen::FieldErrors errors;
  if (deployment.spec->replicas.value_or(1) > 100) {
    errors.Invalid("spec.replicas", deployment.spec->replicas, "must be at most 100");
  }
  const auto& containers = deployment.spec->template_->spec->containers;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    if (containers[i].image.empty()) errors.Required("spec.template.spec.containers[" + std::to_string(i) + "].image");
  }
  return errors;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 3) {
    std::cerr << "usage: kgen_webhooks PORT FOLDER; see ./dev bench webhooks\n";
    return 2;
  }
  const std::string folder = arguments[2];
  kgen::rest::Config nowhere;
  nowhere.host = "http://127.0.0.1:9";
  kgen::ManagerOptions options{.name = "webhooks"};
  options.webhooks.enabled = true;
  options.webhooks.address = "127.0.0.1:" + std::string(arguments[1]);
  options.webhooks.certificate = kgen::TlsFiles{folder + "/tls.crt", folder + "/tls.key"};
  options.webhooks.drain = {};
  const auto manager = kgen::Must(kgen::Manager::New(nowhere, options));
  manager.Webhook<Deployment>()
      .Default(SetDefaults)
      .ValidateCreate(Validate)
      .ValidateUpdate([](const Deployment&, const Deployment& now, const kgen::Admission& request) {
        return Validate(now, request);
      });
  kgen::Must(manager.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
