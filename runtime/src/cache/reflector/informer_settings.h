// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The settings of one informer, used by the controller loop and the reflector. SettingsOf() makes them from the user's
// options.
#ifndef KGEN_SRC_CACHE_REFLECTOR_INFORMER_SETTINGS_H_
#define KGEN_SRC_CACHE_REFLECTOR_INFORMER_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "cache/saved/saved_cache.h"
#include "kgen/cache/transform.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/core/clock.h"

namespace kgen::cache {

struct InformerSettings {
  Nanos resync = kNever;       // the default of handlers, and how often the reflector checks whether one is due
  std::int64_t page_size = 0;  // 0: 500 where the server may read from etcd, otherwise no paging
  bool streaming_list = true;
  bool drop_managed_fields = false;
  TransformFunction transform{};
  std::optional<SavedSettings> saved{};  // absent: no warm start
  // The first list has the newest state. By default it may come from the server's cache, and may then be older than
  // what this process has read or written before.
  bool first_list_newest = false;
  // The informer holds only objects whose hash is in the ranges of Informer::Hold(), and at first none. Absent: it
  // holds all objects. Cluster-scoped kinds have no namespace to go by. Not together with `saved`.
  std::optional<ShardBy> shard_by{};
  // The approximate number of objects that one task on the strand processes. Longer work is split into several tasks,
  // and other tasks run in between. 256 objects take less than a millisecond on a common CPU. At least 1; the
  // simulation uses less than the default.
  std::size_t objects_per_task = 256;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_INFORMER_SETTINGS_H_
