// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 01: a list, page by page. Prints the pods of a namespace that carry a label, with node and phase.
//
//   list_pods [NAMESPACE [SELECTOR]]        default, no selector
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  const std::string name_space = argc > 1 ? argv[1] : "default";
  const std::string selector = argc > 2 ? argv[2] : "";

  // $KUBECONFIG, ~/.kube/config, or the service account of the pod that this runs in.
  const auto config = kgen::rest::LoadConfig();
  if (!config) {
    std::cerr << config.error() << '\n';  // one line that says what was tried, and why it failed
    return 1;
  }
  // Opens no connection yet. Must() throws the error of a Result, which is convenient in main().
  const auto clientset = kgen::Must(k8s::Clientset::New(*config));

  for (const auto& page : clientset.CoreV1().Pods(name_space).Pages({.label_selector = selector, .limit = 500})) {
    if (!page) {  // each page is a Result: the third may fail after two succeeded
      std::cerr << page.error() << '\n';
      return page.error().code() == kgen::Code::kForbidden ? 2 : 1;
    }
    for (const k8s::core::v1::Pod& pod : *page) {  // a list is a range of its items
      // No check for null: an absent struct reads as an empty one.
      std::cout << pod.metadata.name << '\t' << pod.spec->nodeName.value_or("-") << '\t'
                << pod.status->phase.value_or("Unknown") << '\n';
    }
  }
}
