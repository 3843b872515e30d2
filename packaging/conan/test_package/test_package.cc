// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Creates and reads a pod, with a server in memory.
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <kgen/testing/cluster.h>

#include <iostream>

int main() {
  kgen::testing::Cluster cluster({.seed = 1});
  kgen::Must(cluster.Add(kgen::testing::MinimalPod("default", "web-0")));
  const k8s::Clientset clientset(cluster.Connection());
  std::cout << kgen::Must(clientset.CoreV1().Pods("default").Get("web-0")) << "\n";
}
