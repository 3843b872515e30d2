// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The two rules on which the safety of shards rests: which ranges a member keeps when it sees a new map, and which ones
// it may start. docs/decisions/0029-shards.md has the argument.
//
// Pure functions.
#ifndef KGEN_SRC_CONTROLLER_SHARDS_SHARD_RULES_H_
#define KGEN_SRC_CONTROLLER_SHARDS_SHARD_RULES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/shards/shard_map.h"
#include "kgen/controller/shards.h"

namespace kgen::controller {

// Returns the ranges of `member` that it has had without a break since the map that it followed before (`lineage`,
// `epoch`; "" and 0: none). It goes on with these, and must drain what else it works on, even if that is its own again:
// another member may rely on the epoch in between, in which it was not.
ShardRanges Kept(const ShardMap& map, std::string_view member, std::string_view lineage, std::uint64_t epoch);

// Whether the map is older than the one that a member followed before.
inline bool HasGoneBack(const ShardMap& map, std::string_view lineage, std::uint64_t epoch) {
  return map.lineage == lineage && map.epoch < epoch;
}

struct Startable {
  ShardRanges ranges{};
  ShardStart from{};
  std::vector<std::string> waits_for{};  // members that keep other ranges from being started
};

// Says which of `ranges` `member` may start, given the map that it follows and what the others have acknowledged. (An
// acknowledgement that is older than what a member has done since is as good: it only says what stays true.) `own` is
// what the member itself would acknowledge.
Startable MayStart(const ShardMap& map, std::string_view member, const ShardRanges& ranges, const ShardAcks& acks,
                   const ShardAck& own);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SHARDS_SHARD_RULES_H_
