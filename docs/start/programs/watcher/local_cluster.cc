// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An API server in memory, for readers without a cluster:
//
//   local_cluster KUBECONFIG [--pods]
//
// Writes a kubeconfig for it, and serves until Ctrl-C. With --pods, pods come, start and go, one step a second.
#include <k8s/core/v1/types.h>
#include <kgen/core/stop.h>
#include <kgen/testing/cluster.h>

#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

using k8s::core::v1::Pod;

namespace {

void PlayPods(kgen::testing::Cluster& cluster, const std::stop_token& stop) {
  for (int step = 0; !stop.stop_requested(); ++step) {
    Pod pod = kgen::testing::MinimalPod("default", "web-" + std::to_string(step / 2));
    if (step % 2 == 0) {
      kgen::Must(cluster.Add(pod));
    } else {
      pod.status->phase = "Running";
      kgen::Must(cluster.Update(pod));
    }
    if (step % 2 == 0 && step >= 4) {
      kgen::Must(cluster.Delete("pods", "default", "web-" + std::to_string((step - 4) / 2)));
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace

int main(int count, char** arguments) try {
  const bool pods = count == 3 && std::string_view(arguments[2]) == "--pods";
  if (count != 2 && !pods) {
    std::cerr << "usage: local_cluster KUBECONFIG [--pods]\n";
    return 2;
  }
  const std::stop_token stop = kgen::StopOnSignals();
  kgen::testing::Cluster cluster({.simulated = false});
  std::ofstream(arguments[1]) << kgen::Must(cluster.Serve());
  std::cout << "export KUBECONFIG=" << arguments[1] << std::endl;
  if (pods) PlayPods(cluster, stop);
  kgen::Wait(stop);
} catch (const std::exception& error) {
  std::cerr << "local_cluster: " << error.what() << '\n';
  return 1;
}
