// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RestMapper: finds the resource that serves a kind, and the kind of a resource.
//
//   kgen::RestMapper mapper(connection);
//   auto mapping = kgen::Must(mapper.ForKind({"shop.example.com", "v1", "Order"}));
//   mapping.resource.resource;                      // "orders"
//   mapping.scope == kgen::Scope::kNamespaced;
#ifndef KGEN_CLIENT_REST_MAPPER_H_
#define KGEN_CLIENT_REST_MAPPER_H_

#include <optional>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/client/discovery.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

// A kind and its resource.
struct ResourceMapping {
  // The two names, and whether objects are in namespaces.
  GroupVersionKind kind{};
  GroupVersionResource resource{};
  Scope scope = Scope::kNamespaced;
  friend bool operator==(const ResourceMapping&, const ResourceMapping&) = default;
};

// Caches the result of Discover(). The first look-up asks the server, and so does a look-up that finds nothing, because
// the kind may have been installed meanwhile: at most five times in a row, and then once in ten seconds. Other look-ups
// are answered from the cache. A look-up that would ask the server while another one is asking waits, and gets the same
// answer or error. The cache does not expire as long as look-ups succeed; Invalidate() clears it.
//
// It is a handle: copies share the cache. Thread safety: all members from any thread.
// Blocking: look-ups block while they ask the server, as the verbs of a client do.
class RestMapper {
 public:
  // `timeout`: of each request to the server. Absent: Config::timeout; kgen::kNoLimit: no limit.
  explicit RestMapper(Connection connection, std::optional<Nanos> timeout = {});

  // Returns the resource of a kind; without a version, in the most preferred version of the group that has the kind.
  // While a version cannot be read, no version after it is taken in its place; naming a version still finds it.
  // Errors: kNotFound  the server has no such kind
  //         the error of a version that could not be read and may have the kind
  //         the errors of Discover()
  [[nodiscard]] Result<ResourceMapping> ForKind(const GroupVersionKind& kind) const;
  // Returns the kind of a resource, which may be named by its plural, its singular or a short name.
  [[nodiscard]] Result<ResourceMapping> ForResource(const GroupVersionResource& resource) const;

  // Returns the groups that could not be read when the server was last asked.
  std::vector<DiscoveryFailure> failures() const;
  // Clears the cache: the next look-up asks the server, and does not wait for a request that is already in flight.
  void Invalidate();

  const Connection& connection() const noexcept;  // which the mapper asks through

 private:
  class State;
  Shared<State> state_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_REST_MAPPER_H_
