// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WaitForSync(): waits until caches have synced, and explains why they have not.
#ifndef KGEN_SRC_CACHE_WAIT_FOR_SYNC_H_
#define KGEN_SRC_CACHE_WAIT_FOR_SYNC_H_

#include <stop_token>
#include <vector>

#include "cache/informer.h"
#include "kgen/cache/sync_options.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"

namespace kgen::cache {

// Blocks. Returns the errors of SharedInformerFactory::WaitForCacheSync, with its message.
Result<void> WaitForSync(Executor& executor, std::stop_token stop, const std::vector<Shared<Informer>>& informers,
                         const SyncOptions& options);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_WAIT_FOR_SYNC_H_
