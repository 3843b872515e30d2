// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kubernetes/sample-controller in C++, with informers, listers and a work queue. with_manager.cc is the same with
// kgen::Manager. It uses the cluster of $KUBECONFIG:
//
//   kubectl apply -f examples/sample_controller/crds/foo.yaml
//   build/dev/bin/sample_controller &
//   kubectl create -f - <<< '{"apiVersion": "samplecontroller.k8s.io/v1alpha1", "kind": "Foo",
//     "metadata": {"name": "example"}, "spec": {"deploymentName": "example", "replicas": 1}}'
//   kubectl get deployment example
#include <chrono>
#include <exception>
#include <iostream>

#include "controller.h"

int main() try {
  using std::chrono_literals::operator""s;
  const auto connection = kgen::Must(kgen::Connection::Open(kgen::Must(kgen::rest::LoadConfig())));
  const std::stop_token stop = kgen::StopOnSignals();
  k8s::SharedInformerFactory kubernetes_informers(connection, {.defaults = {.resync = 30s}});
  sample::SharedInformerFactory sample_informers(connection, {.defaults = {.resync = 30s}});
  const Controller controller(connection, kubernetes_informers, sample_informers);
  kubernetes_informers.Start(stop);
  sample_informers.Start(stop);
  kgen::Must(controller.Run(/*workers=*/2, stop));
} catch (const std::exception& error) {
  std::cerr << "sample_controller: " << error.what() << '\n';
  return 1;
}
