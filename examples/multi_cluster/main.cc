// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Runs the controller of exports.cc in every cluster whose kubeconfig is in a Secret of the namespace "fleet".
#include <kgen/client/config.h>
#include <kgen/controller/clusters.h>
#include <kgen/controller/manager.h>
#include <kgen/core/stop.h>

#include <exception>
#include <iostream>

#include "exports.h"

int main() try {
  const kgen::Manager home = kgen::Must(
      kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), {.name = "exports", .endpoint = {.address = ":8080"}}));
  const kgen::Clusters clusters = kgen::Must(kgen::Clusters::New(home, {.secrets = {{.namespace_ = "fleet"}}}));
  kgen::Must(ExportConfigMaps(home, clusters));
  kgen::Must(home.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << "multi_cluster: " << error.what() << '\n';
  return 1;
}
