// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The operator. It uses the cluster of $KUBECONFIG or, in a pod, its own; docs/operator.md says how to deploy it.
//
//   store_operator [--namespace=NAMESPACE] [--metrics=ADDRESS] [--health=ADDRESS]
//   store_operator --print-role
//
// NAMESPACE has the Lease of the leader; by default, it is the namespace of the pod. /metrics and /debug are at
// --metrics, by default :8080, /healthz and /readyz at --health, by default :8081.
#include <kgen/client/config.h>
#include <kgen/core/stop.h>

#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "controller.h"

namespace {

struct Flags {
  std::string in_namespace{};
  std::string metrics = ":8080";
  std::string health = ":8081";
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
    } else {
      throw std::invalid_argument("unknown argument " + std::string(argument) +
                                  "; the flags are --namespace=, --metrics= and --health=");
    }
  }
  return flags;
}

}  // namespace

int main(int count, char** arguments) try {
  const Flags flags = Parse(std::span(arguments, static_cast<std::size_t>(count)).subspan(1));
  kgen::ManagerOptions options = StoreManagerOptions();
  options.leader_election = {.name = options.name, .namespace_ = flags.in_namespace};
  options.endpoint = {.address = flags.metrics, .health_address = flags.health};
  const auto manager = kgen::Must(kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), options));
  kgen::Must(AddStoreController(manager));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << "store_operator: " << error.what() << '\n';
  return 1;
}
