// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// DynamicClient: clients of any kind without generated code.
//
//   kgen::DynamicClient dynamic(connection);
//   auto orders = dynamic.ForResource({"shop.example.com", "v1", "orders"}, "default");        // no network I/O
//   auto same = kgen::Must(dynamic.ForKind({"shop.example.com", "v1", "Order"}, "default"));   // asks discovery
//   kgen::Unstructured order = kgen::Must(orders.Get("first"));
//   kgen::Must(order.Set("spec.quantity", 3));
//   kgen::Must(orders.Update(order));
#ifndef KGEN_CLIENT_DYNAMIC_CLIENT_H_
#define KGEN_CLIENT_DYNAMIC_CLIENT_H_

#include <string_view>
#include <utility>

#include "kgen/client/connection.h"
#include "kgen/client/resource_client.h"
#include "kgen/client/rest_mapper.h"
#include "kgen/core/result.h"
#include "kgen/core/unstructured.h"

namespace kgen {

// The client of one resource. It has every verb; a verb that the server lacks fails with kMethodNotAllowed or
// kNotFound. Objects to create or to apply need their apiVersion and kind. Items of lists have them even if the server
// omits them.
using DynamicResource = ResourceClient<Unstructured, UnstructuredList, Verbs::kAll>;

// Makes clients of any kind. It is a handle: copies share the connection and the mapper's cache. Thread safety: const
// members from any thread.
class DynamicClient {
 public:
  // Takes the connection that the clients will use. Sends nothing.
  explicit DynamicClient(Connection connection) : mapper_(std::move(connection)) {}
  // Takes the connection of any clientset.
  template <typename Clientset>
    requires requires(const Clientset& c) { c.connection(); }
  explicit DynamicClient(const Clientset& clientset) : DynamicClient(clientset.connection()) {}

  // Returns the client of a resource. `in_namespace` says whether the resource is namespaced, because nothing else
  // does: the verbs of a client without a namespace go to the whole cluster, where a namespaced resource has only list,
  // watch and deleteCollection.
  // Data about a resource is never freed, so do not pass resources from untrusted input.
  DynamicResource ForResource(const GroupVersionResource& resource, std::string_view in_namespace = "") const;
  // Returns a client that knows the scope: a cluster-scoped resource ignores the namespace, and a namespaced one
  // without a namespace takes the namespace of the object in Create and Update.
  DynamicResource ForMapping(const ResourceMapping& mapping, std::string_view in_namespace = "") const;
  // Returns the client of a kind; without a version, in the group's preferred one. Blocks while it asks the server.
  // Errors: as RestMapper::ForKind().
  [[nodiscard]] Result<DynamicResource> ForKind(const GroupVersionKind& kind, std::string_view in_namespace = "") const;

  // Return the mapper of kinds to resources, and the connection.
  const RestMapper& mapper() const noexcept { return mapper_; }
  const Connection& connection() const noexcept { return mapper_.connection(); }

 private:
  RestMapper mapper_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_DYNAMIC_CLIENT_H_
