// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/shards/shard_rules.h"

#include <algorithm>
#include <utility>

#include "controller/shards/deliberate_bugs.h"

namespace kgen::controller {

ShardRanges Kept(const ShardMap& map, std::string_view member, std::string_view lineage, std::uint64_t epoch) {
  // A member that has seen nothing of this lineage keeps what it has had since the beginning of it.
  const std::uint64_t before = map.lineage == lineage ? epoch : 1;
  std::vector<ShardRange> kept;
  for (const MapRange& range : map.ranges) {
    if (range.owner == member && range.since <= before) {
      kept.push_back({range.first, range.last});
    }
  }
  return ShardRanges(std::move(kept));
}

Startable MayStart(const ShardMap& map, std::string_view member, const ShardRanges& ranges, const ShardAcks& acks,
                   const ShardAck& own) {
  Startable result;
  result.from.versions = map.versions;
  Merge(result.from.versions, own.versions);
  ShardRanges unsure = own.unsure;
  std::vector<std::pair<const std::string*, const ShardAck*>> others;  // null: has acknowledged nothing
  for (const std::string& other : map.members) {
    if (other == member) continue;
    const auto found = acks.find(other);
    const bool follows = found != acks.end() && found->second.lineage == map.lineage;
    others.emplace_back(&other, follows ? &found->second : nullptr);
    if (!follows) continue;
    Merge(result.from.versions, found->second.versions);
    unsure |= found->second.unsure;
  }
  for (const MapRange& range : map.ranges) {
    if (range.owner != member) continue;
    ShardRanges part = ranges & ShardRanges{{range.first, range.last}};
    if (part.empty()) continue;
    for (const auto& [other, ack] : others) {
      if (Injected(ShardBug::kStartsWithoutAcks)) break;
      const bool gave_up = ack != nullptr && ack->epoch >= range.since;
      if (!gave_up || ack->draining.Overlaps(part)) {
        if (std::ranges::find(result.waits_for, *other) == result.waits_for.end()) result.waits_for.push_back(*other);
      }
      if (gave_up) part -= ack->draining;
      if (!gave_up) part = {};
    }
    result.ranges |= part;
    result.from.list_anew |= !part.empty() && range.list_anew;
  }
  result.from.list_anew |= unsure.Overlaps(result.ranges);
  result.from.list_anew |=
      std::ranges::any_of(result.from.versions, [](const auto& each) { return each.second.empty(); });
  return result;
}

}  // namespace kgen::controller
