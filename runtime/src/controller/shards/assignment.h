// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Balances ranges of hashes between members by load, moving as little as possible.
//
// Pure functions: the same input gives the same result.
#ifndef KGEN_SRC_CONTROLLER_SHARDS_ASSIGNMENT_H_
#define KGEN_SRC_CONTROLLER_SHARDS_ASSIGNMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/shards/shard_map.h"
#include "kgen/controller/shards.h"

namespace kgen::controller {

// The load of every range of hashes; 1 for all hashes together. Without weights all hashes count alike. With weights
// they share a hundredth alike, so that hashes that nobody has reported are divided, too.
class ShardLoad {
 public:
  explicit ShardLoad(std::vector<ShardWeight> weights);  // a hash that comes twice has the larger weight

  double Of(std::uint64_t first, std::uint64_t last) const;
  // Returns the last hash of the longest range from `first` whose load is at most `load`, but not after `last`; nothing
  // if there is none. A range that ends before `last` ends in the middle between two hashes with weights.
  std::optional<std::uint64_t> Cut(std::uint64_t first, std::uint64_t last, double load) const;
  // Returns the first hash from `first` on at which a range may end, at most `last`.
  std::uint64_t FirstEnd(std::uint64_t first, std::uint64_t last) const;
  double largest() const noexcept { return largest_; }            // of a single hash
  double Largest(std::uint64_t first, std::uint64_t last) const;  // of a single hash in that range

 private:
  double Spread(std::uint64_t first, std::uint64_t last) const;  // without the weights
  std::optional<std::uint64_t> EndBefore(std::uint64_t hash) const;
  double Below(std::uint64_t hash) const;  // the weights of smaller hashes
  std::vector<ShardWeight> points_{};      // in order of their hashes
  std::vector<double> sums_{};             // sums_[i]: the weights before points_[i]
  double spread_ = 1;                      // the share of what is not in points_
  double largest_ = 0;
};

// A range of the result. Neighbours may have the same owner.
struct Share {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
  std::string owner{};
};

// Divides all hashes between `members`, oldest first, beginning with `ranges`, which must cover all hashes in order:
//
//   * ranges of nobody, or of an owner that is no member, go to those with the least load;
//   * a member with hardly any load gets a fair share from those that have more, the oldest first, because in a rolling
//     update these are the next to leave;
//   * a member with more than 1.2 times the larger of the average and the heaviest hash gives some of it.
//
// A member gives first what it got last. So a range moves at most twice in a rolling update: the others divide what the
// first replica that leaves had, and give just that to the next new one. Without members, all ranges are nobody's.
std::vector<Share> Divide(const std::vector<MapRange>& ranges, const std::vector<std::string>& members,
                          const ShardLoad& load);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SHARDS_ASSIGNMENT_H_
