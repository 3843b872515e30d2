// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The options of one informer, as the factory sets them.
#ifndef KGEN_RUNTIME_CACHE_INFORMER_OPTIONS_H_
#define KGEN_RUNTIME_CACHE_INFORMER_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "kgen/core/clock.h"

namespace kgen::cache {

struct InformerOptions {
  Nanos resync = Nanos(0);  // default of handlers and check period
  std::int64_t page_size = 0;
  bool streaming_list = true;
  bool drop_managed_fields = false;
  bool share_subtrees = true;
  Nanos min_watch_timeout = std::chrono::minutes(5);  // less than five minutes is raised to that
  // How long changes wait for others to be applied together: fewer transactions in a burst of events, but a longer
  // delay. 0: as soon as the strand is free.
  Nanos apply_delay = Nanos(0);
  // About how many objects one task on the strand processes. Longer work is split into several tasks, between which
  // others run. 256 objects take less than a millisecond on a common core. Simulations use fewer. At least 1.
  std::size_t objects_per_task = 256;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_INFORMER_OPTIONS_H_
