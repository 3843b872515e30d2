// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SyncOptions: what SharedInformerFactory::WaitForCacheSync() waits for besides the caches, and for how long.
#ifndef KGEN_CACHE_SYNC_OPTIONS_H_
#define KGEN_CACHE_SYNC_OPTIONS_H_

#include <vector>

#include "kgen/cache/registration.h"
#include "kgen/core/clock.h"

namespace kgen {

// Options of one wait.
struct SyncOptions {
  // Default: none. Also waits until each of these has handled its initial events. Not owned: must not be moved or
  // destroyed during the wait.
  std::vector<const Registration*> handlers{};
  // Default: false. A cache counts as synced once it has the state that an earlier process has saved
  // (InformerOptions::warm_start), which may be outdated, and one of `handlers` once it has handled the events of that
  // state.
  bool stale = false;
  // Default: false. Treats 400, 401, 403, 404 and 422 as temporary. Otherwise the wait fails when the server has
  // refused an informer at least three times in a row over at least 15 seconds: a server that has just started refuses
  // every request at first.
  bool patient = false;
  // Default: false. Fails with kDecode if objects could not be decoded. Otherwise only status() and the observer report
  // them.
  bool complete = false;
  // Default: kNoLimit. The wait then fails with kTimeout. Zero: it looks once. A negative time is kInvalidArgument.
  Nanos give_up_after = kNoLimit;
};

}  // namespace kgen

#endif  // KGEN_CACHE_SYNC_OPTIONS_H_
