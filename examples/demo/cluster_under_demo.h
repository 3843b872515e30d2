// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The cluster that the demonstration runs on: the API server in the library or, on request only, a real cluster.
#ifndef KGEN_EXAMPLES_DEMO_CLUSTER_UNDER_DEMO_H_
#define KGEN_EXAMPLES_DEMO_CLUSTER_UNDER_DEMO_H_

#include <memory>
#include <string>

#include "kgen/client/connection.h"
#include "kgen/core/result.h"
#include "kgen/testing/cluster.h"

namespace demo {

class ClusterUnderDemo {
 public:
  // If the path is empty, starts the embedded server, which is reached like any other server, over TLS and HTTP/2 on
  // loopback. Otherwise opens the cluster of that kubeconfig.
  static kgen::Result<ClusterUnderDemo> Open(const std::string& kubeconfig);

  const kgen::Connection& connection() const { return connection_; }
  const std::string& namespace_name() const { return namespace_; }
  bool embedded() const { return server_ != nullptr; }

  // Breaks every open watch, as a network failure does. Does nothing on a real cluster.
  void CutWatches() {
    if (server_) server_->CutWatches();
  }

 private:
  ClusterUnderDemo(std::unique_ptr<kgen::testing::Cluster> server, kgen::Connection connection, std::string namespace_)
      : server_(std::move(server)), connection_(std::move(connection)), namespace_(std::move(namespace_)) {}

  std::unique_ptr<kgen::testing::Cluster> server_;  // outlives the connection
  kgen::Connection connection_;
  std::string namespace_;
};

}  // namespace demo

#endif  // KGEN_EXAMPLES_DEMO_CLUSTER_UNDER_DEMO_H_
