// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Informer and lister of a resource without generated code: what SharedInformerFactory::ForResource() returns.
//
//   k8s::SharedInformerFactory factory(clientset);
//   auto orders = factory.ForResource({"shop.example.com", "v1", "orders"});
//   auto registration = orders.Informer().AddEventHandler({
//       .on_add = [](const kgen::Added<kgen::Unstructured>& e) { std::cout << e.key << "\n"; }});
//   factory.Start(stop);
//   kgen::Must(factory.WaitForCacheSync(stop));
//   for (const auto& order : orders.Lister().ByNamespace("default").List()) ...
#ifndef KGEN_CACHE_DYNAMIC_INFORMER_H_
#define KGEN_CACHE_DYNAMIC_INFORMER_H_

#include <concepts>
#include <string_view>
#include <utility>

#include "kgen/cache/factory.h"
#include "kgen/cache/lister.h"
#include "kgen/cache/shared_informer.h"
#include "kgen/client/rest_mapper.h"
#include "kgen/core/unstructured.h"

namespace kgen {

// The lister of a DynamicInformer (kgen/cache/factory.h). Indexes of Unstructured are functions
// (SharedInformer::AddIndex), because a FieldPath knows the typed members only.
//
// Thread safety: const members from any thread; never blocks. A handle to shared state.
class DynamicLister : public Lister<Unstructured> {
 public:
  using Lister::Get;
  using Lister::Lister;
  // Returns a lister of one namespace.
  NamespaceLister<Unstructured> ByNamespace(std::string_view in_namespace) const { return In(in_namespace); }
  // Returns an object of a cluster-scoped resource by its name. A template, so that Get({"default", "web-0"}) means an
  // ObjectKey.
  template <std::convertible_to<std::string_view> Name>
  Ref<const Unstructured> Get(const Name& name) const {
    return GetByName(name);
  }
};

}  // namespace kgen

#endif  // KGEN_CACHE_DYNAMIC_INFORMER_H_
