// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SyncOptions: what SharedInformerFactory::WaitForCacheSync() waits for besides the caches, and for how long.
#ifndef KGEN_CACHE_SYNC_OPTIONS_H_
#define KGEN_CACHE_SYNC_OPTIONS_H_

#include <vector>

#include "kgen/cache/registration.h"
#include "kgen/core/clock.h"

namespace kgen {

struct SyncOptions {
  // Also waits until each of these has handled its initial events. Not owned: must not be moved or destroyed during the
  // wait.
  std::vector<const Registration*> handlers{};
  // Treats 400, 401, 403, 404 and 422 as temporary. Otherwise the wait fails when the server has refused an informer at
  // least three times in a row over at least 15 seconds: a server that has just started refuses every request at first.
  bool patient = false;
  // Fails with kDecode if objects could not be decoded. Otherwise only status() and the observer report them.
  bool complete = false;
  Nanos give_up_after = kNoLimit;  // the wait then fails with kTimeout; zero or less: it looks once
};

}  // namespace kgen

#endif  // KGEN_CACHE_SYNC_OPTIONS_H_
