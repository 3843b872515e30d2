// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The operator. It uses the cluster of $KUBECONFIG or, in a pod, its own; docs/operator.md says how to deploy it.
//
//   store_operator [--namespace=NAMESPACE] [--metrics=ADDRESS] [--health=ADDRESS]
//   store_operator --print-role [--namespace=NAMESPACE]
//
// NAMESPACE has the Lease of the leader; by default, it is the namespace of the pod. /metrics and /debug are at
// --metrics, by default :8080, /healthz and /readyz at --health, by default :8081. --print-role prints the roles that
// the controller implies (deploy/role.yaml), and ends; it opens no port and asks no server.
#include <kgen/client/config.h>
#include <kgen/controller/access_rules.h>
#include <kgen/core/stop.h>

#include <cstddef>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "controller.h"
#include "objects.h"

namespace {

struct Flags {
  std::string in_namespace{};
  std::string metrics = ":8080";
  std::string health = ":8081";
  bool print_role = false;
};

Flags Parse(std::span<char*> arguments) {
  Flags flags;
  for (const std::string_view argument : arguments) {
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    std::string value(equals == std::string_view::npos ? "" : argument.substr(equals + 1));
    if (name == "--namespace") {
      flags.in_namespace = std::move(value);
    } else if (name == "--metrics") {
      flags.metrics = std::move(value);
    } else if (name == "--health") {
      flags.health = std::move(value);
    } else if (argument == "--print-role") {
      flags.print_role = true;
    } else {
      throw std::invalid_argument("unknown argument " + std::string(argument) +
                                  "; the flags are --namespace=, --metrics=, --health= and --print-role");
    }
  }
  return flags;
}

kgen::ManagerOptions OptionsOf(const Flags& flags) {
  kgen::ManagerOptions options = StoreManagerOptions();
  options.leader_election = {.name = options.name, .namespace_ = flags.in_namespace};
  options.endpoint = {.address = flags.metrics, .health_address = flags.health};
  return options;
}

// The server is never asked, so any address will do.
void PrintRole(Flags flags) {
  if (flags.in_namespace.empty()) flags.in_namespace = "store-system";
  flags.metrics = flags.health = "";
  const auto manager =
      kgen::Must(kgen::Manager::New(kgen::rest::Config{.host = "https://localhost"}, OptionsOf(flags)));
  kgen::Must(AddStoreController(manager));
  std::cout << kgen::RolesAsYaml(kOperator, manager.Rules());
}

void Run(const Flags& flags) {
  const auto manager = kgen::Must(kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), OptionsOf(flags)));
  kgen::Must(AddStoreController(manager));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
}

}  // namespace

int main(int count, char** arguments) try {
  const Flags flags = Parse(std::span(arguments, static_cast<std::size_t>(count)).subspan(1));
  flags.print_role ? PrintRole(flags) : Run(flags);
} catch (const std::exception& error) {
  std::cerr << "store_operator: " << error.what() << '\n';
  return 1;
}
