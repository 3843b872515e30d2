// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What /debug shows of a manager. No section has values of objects or credentials.
#ifndef KGEN_SRC_CONTROLLER_MANAGER_DEBUG_SECTIONS_H_
#define KGEN_SRC_CONTROLLER_MANAGER_DEBUG_SECTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "controller/debug/history.h"
#include "controller/debug/section.h"
#include "controller/manager/reasons.h"
#include "controller/manager/recent_calls.h"
#include "core/memory/mutex.h"
#include "kgen/cache/informer_status.h"
#include "kgen/client/connection.h"
#include "kgen/controller/leader_election.h"
#include "kgen/controller/work_queue.h"
#include "kgen/core/clock.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// What is shown of one controller. Does not keep it alive.
struct ShownController {
  std::string name;
  int workers = 0;
  RateLimitingQueue queue;
  Shared<const ReasonLog> reasons;
  Shared<const RecentCalls> recent;
};

// Thread safety: all members from any thread. Never blocks.
class ShownControllers final : public SharedObject {
 public:
  void Add(ShownController controller);
  std::vector<ShownController> Read() const;

 private:
  mutable Mutex mutex_;
  std::vector<ShownController> controllers_ KGEN_GUARDED_BY(mutex_);
};

DebugSection LeaderSection(const std::optional<LeaderElector>& elector);
DebugSection CachesSection(const std::vector<cache::InformerStatus>& informers);
// The handlers that take the longest time for a call, slowest first.
DebugSection HandlersSection(const std::vector<cache::InformerStatus>& informers);
// Rates are `history`'s.
DebugSection QueuesSection(const std::vector<ShownController>& controllers, const History& history);
DebugSection ControllersSection(const std::vector<ShownController>& controllers, const History& history, TimePoint now);
DebugSection ConnectionSection(const Connection& connection);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_MANAGER_DEBUG_SECTIONS_H_
