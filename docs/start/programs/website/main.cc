// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
//   website_controller [--install] [--leader-elect] [--address=:8080]
//   website_controller --print-role
//
// Runs the controller. --install puts the CRD into the cluster first. --leader-elect waits until no other replica
// leads; it needs a pod, whose namespace gets the Lease. --address is where /healthz, /readyz, /metrics and /debug are
// served.
// --print-role prints what the controller must be allowed to read, and ends.
#include <kgen/client/config.h>
#include <kgen/client/crd.h>
#include <kgen/controller/access_rules.h>
#include <kgen/core/log.h>
#include <kgen/core/stop.h>
#include <site/clientset.h>

#include <cstddef>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

#include "controller.h"

namespace {

constexpr const char* kName = "website-controller";

// begin role
void PrintRole() {
  // Asks no server, so any address will do, and opens no port.
  const auto manager =
      kgen::Must(kgen::Manager::New(kgen::rest::Config{.host = "https://localhost"},
                                    {.name = kName, .leader_election = {.name = kName, .namespace_ = "websites"}}));
  kgen::Must(AddWebsiteController(manager));
  std::cout << kgen::RolesAsYaml(kName, manager.Rules());
}
// end role

// begin run
struct Flags {
  bool install = false;
  bool leader_elect = false;
  std::string address = ":8080";
};

void Run(const Flags& flags) {
  auto config = kgen::Must(kgen::rest::LoadConfig());
  config.observer = kgen::MakeLogObserver({});  // what the library reports, as lines on standard error
  kgen::ManagerOptions options{.name = kName, .endpoint = {.address = flags.address}};
  if (flags.leader_elect) options.leader_election.name = kName;
  const auto manager = kgen::Must(kgen::Manager::New(config, options));
  if (flags.install) kgen::Must(kgen::crd::Install(manager.connection(), site::Manifests()));
  kgen::Must(AddWebsiteController(manager));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
}
// end run

}  // namespace

int main(int count, char** arguments) try {
  Flags flags;
  for (const std::string_view argument : std::span(arguments, static_cast<std::size_t>(count)).subspan(1)) {
    if (argument == "--print-role") return PrintRole(), 0;
    if (argument == "--install") {
      flags.install = true;
    } else if (argument == "--leader-elect") {
      flags.leader_elect = true;
    } else if (argument.starts_with("--address=")) {
      flags.address = argument.substr(10);
    } else {
      std::cerr << kName << ": unknown argument " << argument << '\n';
      return 2;
    }
  }
  Run(flags);
} catch (const std::exception& error) {
  std::cerr << kName << ": " << error.what() << '\n';
  return 1;
}
