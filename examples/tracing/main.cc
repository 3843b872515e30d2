// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the controller of controller.cc on the cluster of $KUBECONFIG, and writes the spans to standard output.
#include <kgen/client/config.h>
#include <kgen/controller/manager.h>
#include <kgen/core/stop.h>

#include <exception>
#include <iostream>
#include <random>
#include <string_view>

#include "controller.h"
#include "json_tracer.h"

int main() try {
  kgen::rest::Config config = kgen::Must(kgen::rest::LoadConfig());
  config.tracer = kgen::MakeShared<JsonTracer>(kgen::SystemClock(), std::random_device()(), [](std::string_view line) {
    std::cout << line << '\n' << std::flush;
  });
  const kgen::Manager manager = kgen::Must(kgen::Manager::New(config, {.name = "tracing"}));
  kgen::Must(AddKeyCounter(manager));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << "tracing: " << error.what() << '\n';
  return 1;
}
