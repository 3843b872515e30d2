// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A group of members without a server: each follows every map at once, and the assigner makes the maps.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_SHARDS_ASSIGNER_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_SHARDS_ASSIGNER_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/shards/assigner.h"
#include "controller/shards/assignment.h"

namespace kgen::controller {

class Group {
 public:
  explicit Group(std::vector<ShardWeight> weights = {}) : weights_(std::move(weights)), load_(weights_) {
    assigner_.BeginTerm();
  }

  ShardMap& map() { return *map_; }
  const ShardMap& map() const { return *map_; }
  bool has_map() const { return map_.has_value(); }
  Assigner& assigner() { return assigner_; }
  std::map<std::string, SeenMember>& members() { return members_; }
  Nanos& now() { return now_; }
  std::string& map_uid() { return uid_; }
  void LoseMap() { map_.reset(); }

  void Add(const std::string& name) {
    members_[name] = {.name = name, .uid = "uid-" + name, .duration = std::chrono::seconds(15)};
    members_[name].ack.emplace();
    Renew(name);
  }
  void Renew(const std::string& name) { members_.at(name).version = std::to_string(++version_); }
  void RenewAll() {
    for (const auto& [name, member] : members_) Renew(name);
  }
  // The member follows the map, and has drained and started all that it says.
  void Follow(const std::string& name) {
    ShardAck& ack = *members_.at(name).ack;
    if (!map_) return;
    ack.lineage = map_->lineage;
    ack.epoch = map_->epoch;
    ack.working = map_->Of(name);
    ack.draining = {};
    if (!weights_.empty() && name == members_.begin()->first) ack.weights = weights_;
    Renew(name);
  }

  // One look of the assigner. Returns whether it made a map.
  bool Look() {
    std::vector<SeenMember> list;
    for (const auto& [name, member] : members_) list.push_back(member);
    assigner_.See({.uid = uid_, .version = std::to_string(version_), .map = map_}, list, TimePoint(now_));
    std::optional<ShardMap> next = assigner_.Next(TimePoint(now_));
    if (!next) return false;
    const std::optional<ShardMap> read = ParseMap(ToText(*next));
    EXPECT_TRUE(read) << ToText(*next);
    map_ = *read;
    return true;
  }
  // Makes the first map, for which the assigner waits for the duration of a Lease.
  void Begin() {
    Look();
    now_ += std::chrono::seconds(20);
    RenewAll();
    Look();
    Settle();
  }
  // Looks until the map stays as it is, while all members follow it. Returns the number of maps.
  int Settle() {
    int maps = 0;
    for (int quiet = 0; quiet < 3 && maps < 60; ++quiet) {
      now_ += std::chrono::seconds(1);
      for (const auto& [name, member] : members_) Follow(name);
      if (Look()) {
        ++maps;
        quiet = 0;
      }
      std::erase_if(members_,
                    [&](const auto& each) { return each.second.ack->leaving && map_ && !map_->Has(each.first); });
    }
    return maps;
  }
  void Leave(const std::string& name) { members_.at(name).ack->leaving = true; }

  double LoadOf(const std::string& name) const {
    double load = 0;
    for (const ShardRange& range : map_->Of(name).ranges()) load += load_.Of(range.first, range.last);
    return load;
  }
  double LargestLoad() const {
    double largest = 0;
    for (const std::string& name : map_->members) largest = std::max(largest, LoadOf(name));
    return largest;
  }
  // What the largest load must not exceed.
  double Limit() const { return 1.2 * std::max(1 / static_cast<double>(map_->members.size()), load_.largest()) + 1e-6; }
  const ShardLoad& load() const { return load_; }

 private:
  const std::vector<ShardWeight> weights_;
  const ShardLoad load_;
  Assigner assigner_{{.lease_duration = std::chrono::seconds(15), .retry_period = std::chrono::seconds(2)}};
  std::optional<ShardMap> map_{};
  std::map<std::string, SeenMember> members_{};
  std::string uid_ = "u";
  std::uint64_t version_ = 0;
  Nanos now_{};
};

// The load that has another owner in `b` than in `a`.
inline double Moved(const ShardMap& a, const ShardMap& b, const ShardLoad& load) {
  double moved = 0;
  for (const MapRange& x : a.ranges) {
    for (const MapRange& y : b.ranges) {
      const std::uint64_t first = std::max(x.first, y.first), last = std::min(x.last, y.last);
      if (first <= last && x.owner != y.owner) moved += load.Of(first, last);
    }
  }
  return moved;
}

}  // namespace kgen::controller

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_SHARDS_ASSIGNER_FIXTURE_H_
