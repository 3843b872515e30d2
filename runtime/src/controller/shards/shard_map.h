// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What members of a group tell each other: the map, which the assigner writes, and the acknowledgements, one of each
// member. Both are text in annotations of Leases.
//
// Values and pure functions: no I/O, no clock.
#ifndef KGEN_SRC_CONTROLLER_SHARDS_SHARD_MAP_H_
#define KGEN_SRC_CONTROLLER_SHARDS_SHARD_MAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/election/map_of_shards.h"
#include "kgen/controller/shards.h"

namespace kgen::controller {

inline constexpr std::string_view kShardLabel = "kgen.dev/shards";           // of members: the name of the group
inline constexpr std::string_view kAckAnnotation = "kgen.dev/shard-member";  // of the Lease of a member
inline constexpr std::size_t kMostWeights = 256;                             // in one acknowledgement

struct MapRange {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
  std::string owner{};      // the name of a member's Lease; "": nobody's
  std::uint64_t since = 0;  // the epoch from which on the owner has had it without a break
  bool list_anew = true;    // an earlier owner ended without saying what it has written
  friend bool operator==(const MapRange&, const MapRange&) = default;
};

struct ShardMap {
  // Which sequence of epochs this is. A new one begins when the Lease with the map was deleted or lost its annotation.
  std::string lineage{};
  std::uint64_t epoch = 0;  // the first one of a lineage is 1
  ShardBy by = ShardBy::kNamespace;
  std::vector<std::string>
      members{};                   // all that may own ranges, or write for ranges that they have owned; oldest first
  ShardVersions versions{};        // what members that have left have written and read
  std::vector<MapRange> ranges{};  // in order; all hashes

  ShardRanges Of(std::string_view member) const;
  bool Has(std::string_view member) const;
};

struct ShardAck {
  std::string lineage{};
  std::uint64_t epoch = 0;  // of the map that the member follows; 0: none yet
  ShardBy by = ShardBy::kNamespace;
  bool joining = false;    // the Lease was just made: a late request may have made it again after its member has left
  bool leaving = false;    // the member starts nothing any more
  ShardRanges working{};   // started, and the member's according to that map
  ShardRanges draining{};  // may be written for, but go elsewhere
  ShardRanges unsure{};    // went elsewhere, and what was written for them is not known
  ShardVersions versions{};
  std::vector<ShardWeight> weights{};
  bool counting = false;  // what these will be is not known yet
};
// The acknowledgements by the name of the member's Lease.
using ShardAcks = std::map<std::string, ShardAck, std::less<>>;

std::string ToText(const ShardMap& map);
std::string ToText(const ShardAck& ack);
// Return nothing for text that is damaged; a member without a readable acknowledgement has acknowledged nothing.
std::optional<ShardMap> ParseMap(std::string_view text);
std::optional<ShardAck> ParseAck(std::string_view text);

// Raises the versions in `into` to those in `from`. Versions that cannot be compared become "", which is unknown.
void Merge(ShardVersions& into, const ShardVersions& from);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SHARDS_SHARD_MAP_H_
