// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// NamespaceSource: the namespaces with some labels, for caches that follow them.
//
//   Informer of namespaces --added, deleted--> NamespaceSource --all names--> NamespaceFollower (CachesState)
#ifndef KGEN_SRC_CONTROLLER_CACHES_NAMESPACE_SOURCE_H_
#define KGEN_SRC_CONTROLLER_CACHES_NAMESPACE_SOURCE_H_

#include <set>
#include <stop_token>
#include <string>

#include "cache/informer.h"
#include "core/memory/mutex.h"
#include "kgen/cache/registration.h"
#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// Who follows the namespaces. Thread safety: any thread. Does not block.
class NamespaceFollower : public SharedObject {
 public:
  virtual void FollowNamespaces(const std::set<std::string>& names) = 0;
};

// A namespace that is being deleted keeps its labels, and belongs to the caches until it is gone: its objects may have
// finalizers.
//
// Thread safety: all members from any thread.
// Lifetime: Stop() must be called, and the follower must live until then.
class NamespaceSource final : public SharedObject {
 public:
  // `labels` is a valid selector.
  NamespaceSource(NamespaceFollower& follower, const Connection& connection, const std::string& labels,
                  bool streaming_list);

  void Start(const std::stop_token& stop);
  // Ends it, and waits for a call of the follower that is running.
  void Stop();
  // Whether the follower has been told of all namespaces that there were at first.
  bool HasSynced() const noexcept { return registration_.HasSynced(); }
  // Blocks until then. Errors: as Cache::WaitForSync().
  Result<void> WaitForSync(const std::stop_token& stop, Nanos limit) const;
  const Shared<cache::Informer>& informer() const noexcept { return informer_; }

 private:
  void OnEvent(const AnyEvent& event);

  const std::string labels_;
  const Shared<cache::Informer> informer_;
  Registration registration_;    // made before the start, and so before the first call of OnEvent()
  std::set<std::string> names_;  // of OnEvent()
  Mutex mutex_;
  NamespaceFollower* follower_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_CACHES_NAMESPACE_SOURCE_H_
