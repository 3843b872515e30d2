// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardScope: the ranges that an informer is asked to hold in a simulation, and those that its store may be of.
#ifndef KGEN_TESTS_SIMULATION_SHARD_SCOPE_H_
#define KGEN_TESTS_SIMULATION_SHARD_SCOPE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cache/informer.h"
#include "kgen/client/shard_ranges.h"
#include "tests/simulation/world.h"

namespace kgen::simulation {

// Thread safety: on the threads of the simulation.
class ShardScope {
 public:
  // `choose(n)` returns a number below n.
  ShardScope(World& world, std::function<std::uint32_t(std::uint32_t)> choose)
      : world_(world), choose_(std::move(choose)) {
    world_.shard = &asked_;
  }

  // What a call promises: a state that is at least so new, once held() has reached the number. `cached`: if the server
  // may list from a cache that is behind its data.
  struct Promise {
    std::uint64_t number = 0, version = 0, cached = 0;
  };
  // Holds other ranges, or the same. `newest` is the version of the server.
  Promise Hold(cache::Informer& informer, std::uint64_t newest) {
    ShardRanges next = Draw();
    Promise promise;
    if (!asked_.Contains(next)) {
      promise = {.version = newest, .cached = Number(informer.Progress().resource_version)};
    }
    std::vector<ShardRanges> both;
    for (const ShardRanges& each : may_be_) both.push_back(each & next);
    for (ShardRanges& each : both) Add(std::move(each));
    Add(next);
    asked_ = next;
    ever_.push_back(next);
    number_ = promise.number = informer.Hold(std::move(next));
    if (asked_.empty()) nothing_ = number_;
    return promise;
  }
  Promise ListAnew(cache::Informer& informer, std::uint64_t newest) {
    number_ = informer.ListAnew();
    if (asked_.empty()) return {.number = number_};
    return {.number = number_, .version = newest, .cached = newest};
  }

  // Whether the informer was asked to hold nothing since, so that it need not list any more.
  bool IsVoid(const Promise& promise) const { return promise.number < nothing_; }

  // Whether the informer may be asked for more: each call that it has not reached yet doubles what its store may be of.
  bool CanHold() const { return may_be_.size() <= 32; }
  const ShardRanges& asked() const { return asked_; }
  std::uint64_t number() const { return number_; }
  // Whether `check` is true with some of the ranges that the store may be of.
  bool ForSome(const cache::Informer* informer, const std::function<bool()>& check) {
    if (informer == nullptr || informer->held() >= number_) may_be_ = {asked_};
    return AnyOf(may_be_, check);
  }
  // Whether `check` is true with some of the ranges that the store was ever of.
  bool ForSomeEver(const std::function<bool()>& check) { return AnyOf(ever_, check) || AnyOf(may_be_, check); }
  // Whether there were ranges without the object.
  bool MayLeave(const AnyRef& object) const {
    const bool by_uid = *world_.shard_by == ShardBy::kUid;
    const std::uint64_t hash = ShardHash(by_uid ? object.metadata()->uid : object.metadata()->namespace_);
    return std::ranges::any_of(ever_, [&](const ShardRanges& each) { return !each.Contains(hash); });
  }

 private:
  // Everything, nothing, or what begins and ends at random hashes, or at the hashes of namespaces.
  ShardRanges Draw() {
    if (choose_(6) == 0) return {};
    if (choose_(6) == 0) return ShardRanges::All();
    std::vector<std::uint64_t> bounds;
    for (std::uint32_t n = 1 + choose_(3); n > 0; --n) {
      const bool by_uid = *world_.shard_by == ShardBy::kUid;
      bounds.push_back(by_uid ? static_cast<std::uint64_t>(choose_(256)) << 56
                              : ShardHash(kNamespaces[choose_(2)]) + choose_(2));
    }
    std::ranges::sort(bounds);
    std::vector<ShardRange> ranges;
    std::uint64_t first = 0;
    bool in = choose_(2) == 0;
    for (const std::uint64_t bound : bounds) {
      if (in && bound > first) ranges.push_back({first, bound - 1});
      first = bound;
      in = !in;
    }
    if (in) ranges.push_back({first, UINT64_MAX});
    return ShardRanges(std::move(ranges));
  }
  void Add(ShardRanges ranges) {
    if (std::ranges::find(may_be_, ranges) == may_be_.end()) may_be_.push_back(std::move(ranges));
  }
  bool AnyOf(const std::vector<ShardRanges>& sets, const std::function<bool()>& check) {
    const bool any = std::ranges::any_of(sets, [&](const ShardRanges& each) {
      world_.shard = &each;
      return check();
    });
    world_.shard = &asked_;
    return any;
  }

  World& world_;
  const std::function<std::uint32_t(std::uint32_t)> choose_;
  ShardRanges asked_{};
  std::uint64_t number_ = 0;   // of the last call
  std::uint64_t nothing_ = 0;  // of the last call with no range
  std::vector<ShardRanges> may_be_{ShardRanges()}, ever_{ShardRanges()};
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_SHARD_SCOPE_H_
