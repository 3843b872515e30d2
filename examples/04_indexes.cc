// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 04: indexes. Prints which pods run on each node and which use each image, both from one snapshot of the cache.
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include <iostream>
#include <string_view>

using k8s::core::v1::Pod;

int main() {
  const auto clientset = kgen::Must(k8s::Clientset::New(kgen::Must(kgen::rest::LoadConfig())));
  const std::stop_token stop = kgen::StopOnSignals();
  k8s::SharedInformerFactory factory(clientset);
  const auto pods = factory.Core().V1().Pods().Informer();

  // An index is defined by the path of a field, or by a function that adds any number of values. Indexes can also be
  // added later.
  kgen::Must(pods.AddIndex("node", kgen::FieldPath("spec.nodeName")));
  kgen::Must(pods.AddIndex("image", [](const Pod& pod, kgen::IndexSink& sink) {
    for (const auto& container : pod.spec->containers) sink.Add(container.image);
  }));
  factory.Start(stop);
  kgen::Must(factory.WaitForCacheSync(stop));

  // A snapshot is one state of the cache: all reads from it agree, however long it is kept.
  const auto view = pods.Indexer().Snapshot();
  for (std::string_view index : {"node", "image"}) {
    for (std::string_view value : view.IndexValues(index)) {
      std::cout << index << ' ' << value << ':';
      for (const Pod& pod : view.ByIndex(index, value)) std::cout << ' ' << pod.metadata.name;
      std::cout << '\n';
    }
  }
}
