// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Prints the gadgets of a cluster as they come and go. Without a cluster it says so, and returns 2.
#include <acme/clientset.h>
#include <acme/informers.h>
#include <acme/user/v1/types.h>

#include <exception>
#include <iostream>

using acme::user::v1::Gadget;

int main() try {
  const auto config = kgen::rest::LoadConfig();
  if (!config) {
    std::cerr << config.error().message() << "\n";
    return 2;
  }
  const acme::Clientset clientset = kgen::Must(acme::Clientset::New(*config));
  const std::stop_token stop = kgen::StopOnSignals();
  acme::SharedInformerFactory factory(clientset);
  const auto registration = factory.User().V1().Gadgets().Informer().AddEventHandler(
      {.on_add = [](const kgen::Added<Gadget>& event) { std::cout << event.key << "\n"; }});
  factory.Start(stop);
  kgen::Must(factory.WaitForCacheSync(stop));
  kgen::Wait(stop);
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
