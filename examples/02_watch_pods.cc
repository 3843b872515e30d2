// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 02: an informer. Keeps a copy of all pods up to date, prints what happens to them, and reads from the copy.
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>
#include <kgen/core/observer.h>

#include <iostream>

using k8s::core::v1::Pod;

int main() {
  std::cout << std::unitbuf;  // print events at once, even to a file or a pipe
  auto config = kgen::Must(kgen::rest::LoadConfig());
  config.observer = kgen::StderrObserver();  // prints all events of the library; without it, only warnings
  const auto clientset = kgen::Must(k8s::Clientset::New(config));
  const std::stop_token stop = kgen::StopOnSignals();

  k8s::SharedInformerFactory factory(clientset);
  const auto pods = factory.Core().V1().Pods();

  // Handlers are called one at a time, in order, on a thread that nothing else waits for, so they may block.
  const auto registration = pods.Informer().AddEventHandler({
      .on_add = [](const kgen::Added<Pod>& e) { std::cout << "new   " << e.key << " (" << e.reason << ")\n"; },
      .on_update =
          [](const kgen::Updated<Pod>& e) {
            if (e.reason == kgen::Reason::kResync) return;  // nothing changed, and the event says so
            if (e.before->status->phase == e.now->status->phase) return;
            std::cout << "phase " << e.key << ": " << e.before->status->phase << " -> " << e.now->status->phase << '\n';
          },
      .on_delete =
          [](const kgen::Deleted<Pod>& e) {
            std::cout << "gone  " << e.key << (e.final_state_unknown ? ", last seen some time before" : "") << '\n';
          },
  });

  factory.Start(stop);
  // Returns when the cache is complete and the handlers have received all of it, when `stop` is requested, or when an
  // informer cannot sync: then the error says which one, and why.
  if (const auto synced = factory.WaitForCacheSync(stop, {.handlers = {&registration}}); !synced) {
    std::cerr << synced.error() << '\n';
    return 1;
  }

  const auto lister = pods.Lister();
  std::cout << lister.Pods("kube-system").List().size() << " pods in kube-system\n";
  if (const auto pod = lister.Pods("default").Get("web-0")) {  // a Ref<const Pod>, null if there is none
    std::cout << "web-0 runs on " << pod->spec->nodeName.value_or("no node yet") << '\n';
  }
  kgen::Wait(stop);
}
