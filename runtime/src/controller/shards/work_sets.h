// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkSets: how far the work on each range of a member is.
//
//   assigned --Prepare--> prepared --Start--> working --(goes elsewhere)--> draining --Drain--> forgotten
//
// It says which call of ShardWork is due and is told of its end, and makes no call itself. So it has neither threads
// nor a clock, but for the times that it is given.
#ifndef KGEN_SRC_CONTROLLER_SHARDS_WORK_SETS_H_
#define KGEN_SRC_CONTROLLER_SHARDS_WORK_SETS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/shards/shard_map.h"
#include "kgen/controller/shards.h"
#include "kgen/core/clock.h"

namespace kgen::controller {

// Thread safety: one thread at a time.
class WorkSets {
 public:
  struct Limits {
    Nanos refuse{};   // after so long guards refuse writes for ranges that are draining
    Nanos give_up{};  // and so much later the next owner no longer waits
  };
  struct Drain {
    std::uint64_t id = 0;
    ShardRanges ranges{};
  };

  explicit WorkSets(Limits limits) : limits_(limits) {}

  // What the member has from now on: `assigned`, of which it may go on with `kept` if it works on them. All others are
  // to be drained.
  void Assign(ShardRanges assigned, const ShardRanges& kept, TimePoint now);

  // The ranges for the next call of Prepare(), which has begun then; nothing while one is under way, or if there are
  // none.
  std::optional<ShardRanges> BeginPrepare();
  void EndPrepare(bool success);
  bool ShouldStopPreparing() const { return !(assigned_.Contains(preparing_)); }
  // What is prepared and still assigned; nothing while a call of Start() is under way.
  ShardRanges Ready() const;
  void BeginStart(const ShardRanges& ranges);
  void EndStart() { starting_ = {}; }
  // The next call of Drain(), which has begun then.
  std::optional<Drain> BeginDrain();
  // Returns what was drained: from now on no write may be sent for it.
  ShardRanges EndDrain(std::uint64_t id, const std::optional<ShardVersions>& versions);
  // Returns the ranges that have been draining for so long that writes are refused from now on.
  ShardRanges Expire(TimePoint now);
  // When to call Expire() again.
  std::optional<TimePoint> NextExpiry() const;

  const ShardRanges& working() const noexcept { return working_; }
  ShardRanges draining() const;  // what others must wait for
  ShardRanges waiting() const { return assigned_ - working_; }
  const ShardRanges& unsure() const noexcept { return unsure_; }
  const ShardVersions& versions() const noexcept { return versions_; }
  void Learn(const ShardVersions& versions) { Merge(versions_, versions); }
  bool calls_under_way() const noexcept { return !preparing_.empty() || !starting_.empty() || !draining_.empty(); }

 private:
  struct Leaving {
    std::uint64_t id = 0;
    ShardRanges ranges{};
    bool started = false;  // it was worked on, so that others wait for it
    bool called = false, refused = false, given_up = false;
    TimePoint since{};
  };
  ShardRanges AllLeaving() const;

  const Limits limits_;
  ShardRanges assigned_{}, preparing_{}, prepared_{}, starting_{}, working_{}, unsure_{};
  std::vector<Leaving> draining_{};
  std::uint64_t last_id_ = 0;
  ShardVersions versions_{};
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SHARDS_WORK_SETS_H_
