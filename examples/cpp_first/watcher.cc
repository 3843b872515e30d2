// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Prints what happens to orders until Ctrl-C.
#include <store/clientset.h>
#include <store/informers.h>

#include <exception>
#include <iostream>

#include "api/shop_v1.h"

using store::shop::v1::Order;

int main() try {
  auto clientset = kgen::Must(store::Clientset::New(kgen::Must(kgen::rest::LoadConfig())));
  const std::stop_token stop = kgen::StopOnSignals();

  store::SharedInformerFactory factory(clientset);
  auto orders = factory.Shop().V1().Orders();
  auto registration = orders.Informer().AddEventHandler({
      .on_add = [](const kgen::Added<Order>& e) { std::cout << "+ " << e.key << "\n"; },
      .on_update = [](const kgen::Updated<Order>& e) { std::cout << "~ " << e.key << "\n"; },
      .on_delete = [](const kgen::Deleted<Order>& e) { std::cout << "- " << e.key << "\n"; },
  });
  factory.Start(stop);
  kgen::Must(factory.WaitForCacheSync(stop));
  kgen::Wait(stop);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
