// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The CronJob of the Kubebuilder book: two versions, webhooks and a controller. It uses the cluster of $KUBECONFIG or,
// in a pod, its own; deploy/ has what it needs there.
//
//   cronjob_operator [--namespace=NAMESPACE] [--metrics=ADDRESS] [--health=ADDRESS] [--webhooks=ADDRESS]
//   cronjob_operator --print-role [--namespace=NAMESPACE]
//
// NAMESPACE has the Lease of the leader, the Service of the webhooks and the Secret with their certificates, which the
// replicas make and renew; by default, it is the namespace of the pod. /metrics and /debug are at --metrics, by default
// :8080, /healthz and /readyz at --health, by default :8081, and the webhooks at --webhooks, by default :9443.
// --print-role prints the roles that the declarations imply (deploy/role.yaml), and ends; it opens no port and asks no
// server.
#include <kgen/client/config.h>
#include <kgen/controller/access_rules.h>
#include <kgen/core/stop.h>

#include <cstddef>
#include <exception>
#include <iostream>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller.h"
#include "webhooks.h"

namespace {

constexpr std::string_view kOperator = "cronjob-operator";

struct Flags {
  std::string in_namespace{};
  std::string metrics = ":8080";
  std::string health = ":8081";
  std::string webhooks = ":9443";
  bool print_role = false;
};

Flags Parse(std::span<char*> arguments) {
  Flags flags;
  const std::map<std::string_view, std::string*> values = {{"--namespace", &flags.in_namespace},
                                                           {"--metrics", &flags.metrics},
                                                           {"--health", &flags.health},
                                                           {"--webhooks", &flags.webhooks}};
  for (const std::string_view argument : arguments) {
    const std::size_t equals = argument.find('=');
    const auto value = values.find(argument.substr(0, equals));
    if (argument == "--print-role") {
      flags.print_role = true;
    } else if (value != values.end() && equals != std::string_view::npos) {
      *value->second = argument.substr(equals + 1);
    } else {
      throw std::invalid_argument("unknown argument " + std::string(argument) +
                                  "; the flags are --namespace=, --metrics=, --health=, --webhooks= and --print-role");
    }
  }
  return flags;
}

// The names are in deploy/webhooks.yaml and deploy/crd.yaml.
kgen::ManagedCertificates Certificates(const Flags& flags) {
  return {.service = "cronjobs",
          .namespace_ = flags.in_namespace,
          .configurations = {"cronjobs"},
          .crds = {"cronjobs.batch.tutorial.kubebuilder.io"}};
}

kgen::ManagerOptions Options(const Flags& flags) {
  return {.name = std::string(kOperator),
          .leader_election = {.name = std::string(kOperator), .namespace_ = flags.in_namespace}};
}

// The server is never asked, so any address will do.
void PrintRole(Flags flags) {
  if (flags.in_namespace.empty()) flags.in_namespace = "cronjobs";
  const auto manager = kgen::Must(kgen::Manager::New(kgen::rest::Config{.host = "https://localhost"}, Options(flags)));
  kgen::Must(AddCronJobController(manager));
  std::vector<kgen::AccessRule> rules = manager.Rules();
  for (const kgen::AccessRule& rule : kgen::RulesOf(Certificates(flags))) rules.push_back(rule);
  std::cout << kgen::RolesAsYaml(kOperator, rules);
}

void Run(const Flags& flags) {
  kgen::ManagerOptions options = Options(flags);
  options.endpoint = {.address = flags.metrics, .health_address = flags.health};
  options.webhooks = {.enabled = true, .address = flags.webhooks, .managed = Certificates(flags)};
  const auto manager = kgen::Must(kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), std::move(options)));
  AddCronJobWebhooks(manager);
  kgen::Must(AddCronJobController(manager));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
}

}  // namespace

int main(int count, char** arguments) try {
  const Flags flags = Parse(std::span(arguments, static_cast<std::size_t>(count)).subspan(1));
  flags.print_role ? PrintRole(flags) : Run(flags);
} catch (const std::exception& error) {
  std::cerr << "cronjob_operator: " << error.what() << '\n';
  return 1;
}
