// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A controller over an external HTTP service. It uses the cluster of $KUBECONFIG, and puts its own CRD there:
//
//   build/dev/bin/rate_controller https://prices.example.com/v1 &
//   kubectl create -f - <<< '{"apiVersion": "rates.example.com/v1", "kind": "ExchangeRate",
//     "metadata": {"name": "dollar"}, "spec": {"pair": "EUR-USD", "interval": "30s"}}'
//   kubectl get exchangerates
#include <kgen/client/config.h>
#include <kgen/client/crd.h>
#include <kgen/core/stop.h>
#include <market/clientset.h>

#include <exception>
#include <iostream>
#include <memory>

#include "controller.h"
#include "http_price_service.h"

int main(int count, char** arguments) try {
  if (count != 2) {
    std::cerr << "usage: rate_controller URL    URL/EUR-USD answers {\"price\": \"1.0834\", \"time\": RFC 3339}\n";
    return 2;
  }
  const auto service = std::make_shared<HttpPriceService>(arguments[1]);
  const auto manager =
      kgen::Must(kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), {.name = "rate-controller"}));
  kgen::Must(kgen::crd::Install(manager.connection(), market::Manifests()));
  kgen::Must(AddRateController(manager, service));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << "rate_controller: " << error.what() << '\n';
  return 1;
}
