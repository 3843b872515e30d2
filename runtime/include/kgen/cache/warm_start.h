// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WarmStart: an informer that saves its cache in a file, and starts from that file in the next process.
//
//   k8s::SharedInformerFactory factory(clientset, {
//       .defaults = {.warm_start = kgen::WarmStart{.folder = "/var/cache/agent"}}});
//   factory.Start(stop);
//   kgen::Must(factory.WaitForCacheSync(stop, {.stale = true}));  // the saved state counts
//
// The informer delivers the saved objects with Reason::kSaved, and its status says that they are stale. It then resumes
// the watch where the saved state ends, or lists again if the server no longer has that history, if the cluster is
// another one, or if nothing tells which cluster it is. It is synced (HasSynced(), and WaitForCacheSync() without
// `stale`) when a bookmark or a list says that the cache is current: a server sends a bookmark about once a minute.
//
// A file belongs to one server with its certificates, and to one resource, scope, projection and transform. A file that
// is damaged, belongs to something else, has another owner or may be read by everybody is not used; the observer hears
// why (Observer::OnSavedCacheFailed), and the informer lists.
#ifndef KGEN_CACHE_WARM_START_H_
#define KGEN_CACHE_WARM_START_H_

#include <optional>
#include <string>

#include "kgen/core/clock.h"

namespace kgen {

// Options of warm starts. A plain value.
// Errors: kInvalidArgument, where InformerOptions says, if they are incomplete.
struct WarmStart {
  // Required: a folder that belongs to the user of the process and that others cannot read. If only its last part is
  // missing, the informer makes it. Each informer has one file in it. Two processes must not save the same informer in
  // one folder: the second one does not save, and the observer hears so.
  std::string folder{};
  // Required if the informer has a transform: a name that changes with what the transform does. A file that was saved
  // with another name is not used.
  std::string transform{};
  // Default: false, the file of Secrets is neither written nor read. Files are not encrypted.
  bool secrets = false;
  // Default: 10 seconds, the time between two saves, each of which adds the objects that have changed. What comes after
  // the last one is received again after a restart.
  std::optional<Nanos> save_every{};
};

}  // namespace kgen

#endif  // KGEN_CACHE_WARM_START_H_
