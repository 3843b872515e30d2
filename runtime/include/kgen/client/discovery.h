// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Discover: asks a server which kinds and resources it serves.
//
//   kgen::ServerApi api = kgen::Must(kgen::Discover(connection));
//   for (const auto& resource : api.resources) std::cout << resource.resource << ' ' << resource.kind.kind << '\n';
//   for (const auto& failure : api.failures) std::cerr << failure.group << ": " << failure.error << '\n';
//
// kgen::RestMapper (kgen/client/rest_mapper.h) looks up one kind or resource, and remembers what discovery returned.
#ifndef KGEN_CLIENT_DISCOVERY_H_
#define KGEN_CLIENT_DISCOVERY_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

// A resource that a server serves in one version of its group.
struct ApiResource {
  GroupVersionKind kind{};  // of its objects
  GroupVersionResource resource{};
  std::string singular{};  // may be empty
  Scope scope = Scope::kNamespaced;
  std::vector<std::string> verbs{}, short_names{}, categories{};
  std::vector<std::string> subresources{};  // "status", "scale"
};

// A group, or one version of it, whose resources are not known.
struct DiscoveryFailure {
  std::string group{}, version{};  // "apps", "v1"; without a version, the whole group
  Error error;                     // why
  std::size_t position = 0;        // its resources would begin there in ServerApi::resources
};

// The resources of a server.
struct ServerApi {
  // The resources in the order of the server, core first. The preferred version of each group comes first.
  std::vector<ApiResource> resources{};
  // The groups that could not be read, such as the groups of an aggregated API server that is down. Their resources are
  // missing above, or are as they were when the server could last read them.
  std::vector<DiscoveryFailure> failures{};
};

// Returns the kinds and resources that the server serves. It requests the aggregated form, which takes two requests. If
// the server does not support it (before Kubernetes 1.26), one request for each version of each group follows. A group
// that fails is reported in ServerApi::failures. `timeout` limits each request. Absent: Config::timeout;
// kgen::kNoLimit: no limit.
// Thread safety: may be called from any thread. Blocks, as the verbs of a client do.
// Errors: the server's for /api and /apis (a 404 for /api means that there is no core group), kDecode, and the errors
// of Connection::Call().
[[nodiscard]] Result<ServerApi> Discover(const Connection& connection, std::optional<Nanos> timeout = {});

}  // namespace kgen

#endif  // KGEN_CLIENT_DISCOVERY_H_
