// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What an elector knows of shards: a Lease that has their map is theirs as long as it has members.
#ifndef KGEN_SRC_CONTROLLER_ELECTION_MAP_OF_SHARDS_H_
#define KGEN_SRC_CONTROLLER_ELECTION_MAP_OF_SHARDS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "controller/election/lease.h"
#include "core/json/json_depth.h"

namespace kgen::controller {

// The annotation of the Lease that has the map, see controller/shards/shard_map.h.
inline constexpr std::string_view kMapAnnotation = "kgen.dev/shard-map";

// Whether the Lease has a map with members. A map that cannot be read is no map, as for its members.
inline bool HasShards(const Lease& lease) {
  const std::string text(lease.metadata.annotations[kMapAnnotation].view());
  if (text.empty() || detail::NestsTooDeep(text)) return false;
  const nlohmann::json map = nlohmann::json::parse(text, nullptr, false);
  return map.is_object() && map.contains("members") && map["members"].is_array() && !map["members"].empty();
}

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_ELECTION_MAP_OF_SHARDS_H_
