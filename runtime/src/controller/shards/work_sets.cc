// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/shards/work_sets.h"

#include <algorithm>
#include <utility>

namespace kgen::controller {

void WorkSets::Assign(ShardRanges assigned, const ShardRanges& kept, TimePoint now) {
  assigned_ = std::move(assigned);
  const ShardRanges lost = working_ - kept;
  const ShardRanges unused = (prepared_ | preparing_) - assigned_ - AllLeaving();
  working_ -= lost;
  prepared_ -= unused;
  if (!lost.empty()) draining_.push_back({.id = ++last_id_, .ranges = lost, .started = true, .since = now});
  if (!unused.empty()) draining_.push_back({.id = ++last_id_, .ranges = unused, .since = now});
}

ShardRanges WorkSets::AllLeaving() const {
  ShardRanges all;
  for (const Leaving& each : draining_) all |= each.ranges;
  return all;
}

std::optional<ShardRanges> WorkSets::BeginPrepare() {
  if (!preparing_.empty()) return {};
  preparing_ = assigned_ - working_ - prepared_ - AllLeaving();
  if (preparing_.empty()) return {};
  return preparing_;
}

void WorkSets::EndPrepare(bool success) {
  const ShardRanges ended = std::exchange(preparing_, {});
  if (success) prepared_ |= ended - AllLeaving();
}

ShardRanges WorkSets::Ready() const {
  if (!starting_.empty()) return {};
  return prepared_ & assigned_;
}

void WorkSets::BeginStart(const ShardRanges& ranges) {
  prepared_ -= ranges;
  starting_ = ranges;
  working_ |= ranges;
  unsure_ -= ranges;
}

std::optional<WorkSets::Drain> WorkSets::BeginDrain() {
  for (Leaving& each : draining_) {
    if (each.called || each.ranges.Overlaps(starting_) || each.ranges.Overlaps(preparing_)) continue;
    each.called = true;
    return Drain{each.id, each.ranges};
  }
  return {};
}

ShardRanges WorkSets::EndDrain(std::uint64_t id, const std::optional<ShardVersions>& versions) {
  const auto at = std::ranges::find(draining_, id, &Leaving::id);
  if (at == draining_.end()) return {};
  const Leaving ended = std::move(*at);
  draining_.erase(at);
  if (!ended.started) return {};
  if (!versions) {
    unsure_ |= ended.ranges;
  } else {
    Merge(versions_, *versions);
  }
  return ended.ranges;
}

ShardRanges WorkSets::Expire(TimePoint now) {
  ShardRanges refused;
  for (Leaving& each : draining_) {
    if (!each.started) continue;
    if (!each.refused && now >= Later(each.since, limits_.refuse)) {
      each.refused = true;
      refused |= each.ranges;
    }
    if (!each.given_up && now >= Later(Later(each.since, limits_.refuse), limits_.give_up)) {
      each.given_up = true;
      unsure_ |= each.ranges;
    }
  }
  return refused;
}

std::optional<TimePoint> WorkSets::NextExpiry() const {
  std::optional<TimePoint> next;
  for (const Leaving& each : draining_) {
    if (!each.started || each.given_up) continue;
    TimePoint at = Later(each.since, limits_.refuse);
    if (each.refused) at = Later(at, limits_.give_up);
    next = next ? std::min(*next, at) : at;
  }
  return next;
}

ShardRanges WorkSets::draining() const {
  ShardRanges all;
  for (const Leaving& each : draining_) {
    if (each.started && !each.given_up) all |= each.ranges;
  }
  return all;
}

}  // namespace kgen::controller
