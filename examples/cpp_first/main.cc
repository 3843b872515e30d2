// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The controller of an API that is written in C++. It uses the cluster of $KUBECONFIG, and puts its own CRD there:
//
//   build/dev/bin/order_controller &
//   kubectl create -f - <<< '{"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {"name": "first"},
//     "spec": {"lines": [{"item": "teapot"}, {"item": "cup", "quantity": 4}]}}'
//   kubectl get orders,configmaps
//   kubectl explain order.spec
#include <kgen/client/config.h>
#include <kgen/client/crd.h>
#include <kgen/core/stop.h>
#include <store/clientset.h>

#include <exception>
#include <iostream>

#include "controller.h"

int main() try {
  const auto manager =
      kgen::Must(kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), {.name = "order-controller"}));
  kgen::Must(kgen::crd::Install(manager.connection(), store::Manifests()));
  kgen::Must(AddOrderController(manager));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << "order_controller: " << error.what() << '\n';
  return 1;
}
