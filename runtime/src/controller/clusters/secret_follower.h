// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SecretFollower: makes clusters of the kubeconfigs in Secrets.
#ifndef KGEN_SRC_CONTROLLER_CLUSTERS_SECRET_FOLLOWER_H_
#define KGEN_SRC_CONTROLLER_CLUSTERS_SECRET_FOLLOWER_H_

#include <string>
#include <string_view>

#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/controller/caches.h"
#include "kgen/controller/clusters.h"
#include "kgen/core/result.h"
#include "kgen/core/unstructured.h"

namespace kgen::controller {

// Gets the clusters. Thread safety: any thread; must not block.
class ClusterSink : public SharedObject {
 public:
  // The config of a cluster, or why there is none. A cluster that runs with an earlier one goes on with that.
  virtual void Set(const std::string& name, const std::string& source, Result<rest::Config> config) = 0;
  virtual void Unset(const std::string& name, const std::string& source) = 0;
};

// Returns the config of a Secret's kubeconfig. Reads no file, and asks nobody.
// Errors: kConfig  the key is missing, or is not base64; the kubeconfig is malformed, with line and column; it names
// what
//                  `options` does not allow
Result<rest::Config> ConfigOf(const Unstructured& secret, const KubeconfigSecrets& options);

// Thread safety: one thread; none of its functions may be called at the same time as another.
class SecretFollower final : public SharedObject {
 public:
  SecretFollower(const Connection& home, KubeconfigSecrets options, Shared<ClusterSink> sink);

  // Does not block, and retries all failures: they are reported as any informer's are.
  // Errors: kInvalidArgument  the selector is malformed
  Result<void> Start();
  void Stop();  // blocks until no handler runs
  const Caches& caches() const noexcept { return caches_; }

 private:
  void OnEvent(const AnyEvent& event) const;

  const KubeconfigSecrets options_;
  const Shared<ClusterSink> sink_;
  const Caches caches_;
  CacheRegistration registration_;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CLUSTERS_SECRET_FOLLOWER_H_
