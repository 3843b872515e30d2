// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardRanges: which part of the objects of a kind is meant, by the hash of a key. API servers with the gate
// ShardedListAndWatch (KEP-5866) send that part alone; ShardMember (kgen/controller/shards.h) divides all hashes
// between processes.
//
//   kgen::ShardRanges half{{0, UINT64_MAX / 2}};
//   clients.CoreV1().Pods().List({.shard_selector = kgen::Must(half.Selector(kgen::ShardBy::kNamespace))});
//   half.Contains(kgen::ShardHash(pod.metadata.namespace_))     // servers without the gate send everything
#ifndef KGEN_CLIENT_SHARD_RANGES_H_
#define KGEN_CLIENT_SHARD_RANGES_H_

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/core/result.h"

namespace kgen {

// Returns the hash of a key: FNV-1a with 64 bits, as API servers compute it for `shardSelector` (KEP-5866). Pure.
std::uint64_t ShardHash(std::string_view key) noexcept;

// What the key of an object is.
enum class ShardBy : std::uint8_t {
  kNamespace,  // metadata.namespace: an object and what it owns in its namespace are in one shard
  kUid,        // metadata.uid: for work that depends on no other object
};

// Hashes from `first` to `last`, both included.
struct ShardRange {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
  friend bool operator==(const ShardRange&, const ShardRange&) = default;
};

// A set of hashes, as ranges that are in order, disjoint and not adjacent. A value.
//
// Thread safety: as a standard container. Cost: O(log n) for Contains(), O(n) otherwise.
class ShardRanges {
 public:
  ShardRanges() = default;
  // In any order; they may overlap. A range whose first hash is after its last is empty.
  ShardRanges(std::initializer_list<ShardRange> ranges) : ShardRanges(std::vector<ShardRange>(ranges)) {}
  explicit ShardRanges(std::vector<ShardRange> ranges);
  static ShardRanges All() { return {ShardRange{}}; }
  // Reads the form of ToString(). Errors: kDecode.
  static Result<ShardRanges> Parse(std::string_view text);

  bool Contains(std::uint64_t hash) const noexcept;
  bool Contains(const ShardRanges& other) const { return (other - *this).empty(); }
  // Returns whether some hash is in both.
  bool Overlaps(const ShardRanges& other) const { return !(*this & other).empty(); }
  bool empty() const noexcept { return ranges_.empty(); }
  // Returns the ranges, in order.
  const std::vector<ShardRange>& ranges() const& noexcept { return ranges_; }
  std::vector<ShardRange> ranges() && noexcept { return std::move(ranges_); }

  friend ShardRanges operator|(const ShardRanges& a, const ShardRanges& b);  // in one of the two
  friend ShardRanges operator&(const ShardRanges& a, const ShardRanges& b);  // in both
  friend ShardRanges operator-(const ShardRanges& a, const ShardRanges& b);  // in `a` and not in `b`
  ShardRanges& operator|=(const ShardRanges& other) { return *this = *this | other; }
  ShardRanges& operator-=(const ShardRanges& other) { return *this = *this - other; }
  friend bool operator==(const ShardRanges&, const ShardRanges&) = default;

  // Returns the ranges with their first hash and the one after their last, in 16 hexadecimal digits, or 17 for the end
  // of all hashes: "0000000000000000-8000000000000000,c000000000000000-10000000000000000". "": no hash.
  std::string ToString() const;
  // Returns the value of the query parameter `shardSelector` of lists and watches for these ranges. Servers without the
  // gate ShardedListAndWatch ignore the parameter and send everything.
  // Errors: kInvalidArgument  there is no range: a selector that is left out would select all objects
  Result<std::string> Selector(ShardBy by) const;

  friend std::ostream& operator<<(std::ostream& os, const ShardRanges& ranges);

 private:
  std::vector<ShardRange> ranges_{};
};

}  // namespace kgen

#endif  // KGEN_CLIENT_SHARD_RANGES_H_
