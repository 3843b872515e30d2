// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include <exception>
#include <iostream>

using k8s::core::v1::Pod;

int main() try {
  std::cout << std::unitbuf;  // print each line at once, even into a pipe
  // $KUBECONFIG, ~/.kube/config, or the service account of the pod that this runs in.
  const auto clientset = kgen::Must(k8s::Clientset::New(kgen::Must(kgen::rest::LoadConfig())));
  const std::stop_token stop = kgen::StopOnSignals();

  k8s::SharedInformerFactory factory(clientset);
  const auto pods = factory.Core().V1().Pods();
  const auto registration = pods.Informer().AddEventHandler({
      .on_add = [](const kgen::Added<Pod>& e) { std::cout << "+ " << e.key << ' ' << e.now->status->phase << '\n'; },
      .on_update =
          [](const kgen::Updated<Pod>& e) { std::cout << "~ " << e.key << ' ' << e.now->status->phase << '\n'; },
      .on_delete = [](const kgen::Deleted<Pod>& e) { std::cout << "- " << e.key << '\n'; },
  });

  factory.Start(stop);
  kgen::Must(factory.WaitForCacheSync(stop, {.handlers = {&registration}}));
  std::cout << pods.Lister().List().size() << " pods; watching\n";
  kgen::Wait(stop);  // until Ctrl-C
} catch (const std::exception& error) {
  std::cerr << "watcher: " << error.what() << '\n';
  return 1;
}
