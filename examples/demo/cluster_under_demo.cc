// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cluster_under_demo.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include "kgen/client/config.h"
#include "kgen/core/observer.h"

namespace demo {
namespace {

// Returns the config of the embedded server. The server provides a kubeconfig, which is loaded like any other server's.
kgen::Result<kgen::rest::Config> ConfigOf(kgen::testing::Cluster& server) {
  auto kubeconfig = server.Serve();
  if (!kubeconfig) return kgen::Fail(kubeconfig.error().With("start the embedded API server"));
  const auto file = std::filesystem::temp_directory_path() /
                    ("kgen-demo-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::ofstream(file) << *kubeconfig;
  auto config = kgen::rest::LoadConfig({.kubeconfig = file.string()});
  std::filesystem::remove(file);
  return config;
}

}  // namespace

kgen::Result<ClusterUnderDemo> ClusterUnderDemo::Open(const std::string& kubeconfig) {
  std::unique_ptr<kgen::testing::Cluster> server;
  if (kubeconfig.empty())
    server = std::make_unique<kgen::testing::Cluster>(kgen::testing::ClusterOptions{.simulated = false});
  auto config = server ? ConfigOf(*server) : kgen::rest::LoadConfig({.kubeconfig = kubeconfig});
  if (!config) return kgen::Fail(std::move(config).error());
  config->observer = kgen::StderrObserver();
  auto connection = kgen::Connection::Open(*config);
  if (!connection) return kgen::Fail(std::move(connection).error());
  // The demonstration uses a new namespace, so that it changes no other objects of the cluster.
  const auto now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
  return ClusterUnderDemo(std::move(server), std::move(*connection), "kgen-demo-" + std::to_string(now));
}

}  // namespace demo
