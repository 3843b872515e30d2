// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardHash() and ShardRanges.
#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <ostream>
#include <utility>

#include "kgen/client/shard_ranges.h"

namespace kgen {
namespace {

constexpr std::uint64_t kLastHash = UINT64_MAX;
constexpr std::size_t kDigits = 16;

// The 16 digits of a bound that is not included: the hash after `last`.
std::string EndText(std::uint64_t last) {
  if (last == kLastHash) return "10000000000000000";
  char text[kDigits + 1];
  std::snprintf(text, sizeof text, "%016" PRIx64, last + 1);
  return text;
}

std::string BeginText(std::uint64_t first) {
  char text[kDigits + 1];
  std::snprintf(text, sizeof text, "%016" PRIx64, first);
  return text;
}

std::optional<std::uint64_t> ReadHash(std::string_view text) {
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != kDigits || error != std::errc() || end != text.data() + text.size()) return {};
  return hash;
}

std::optional<ShardRange> ReadRange(std::string_view text) {
  if (text.size() <= kDigits || text[kDigits] != '-') return {};
  const std::optional<std::uint64_t> first = ReadHash(text.substr(0, kDigits));
  const std::string_view end = text.substr(kDigits + 1);
  if (!first) return {};
  if (end == EndText(kLastHash)) return ShardRange{*first, kLastHash};
  const std::optional<std::uint64_t> after = ReadHash(end);
  if (!after || *after <= *first) return {};
  return ShardRange{*first, *after - 1};
}

}  // namespace

std::uint64_t ShardHash(std::string_view key) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

ShardRanges::ShardRanges(std::vector<ShardRange> ranges) {
  std::erase_if(ranges, [](const ShardRange& range) { return range.first > range.last; });
  std::ranges::sort(ranges, {}, &ShardRange::first);
  for (const ShardRange& range : ranges) {
    if (!ranges_.empty() && (ranges_.back().last == kLastHash || range.first <= ranges_.back().last + 1)) {
      ranges_.back().last = std::max(ranges_.back().last, range.last);
    } else {
      ranges_.push_back(range);
    }
  }
}

Result<ShardRanges> ShardRanges::Parse(std::string_view text) {
  std::vector<ShardRange> ranges;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::optional<ShardRange> range = ReadRange(text.substr(0, comma));
    if (!range || comma + 1 == text.size()) {
      return Fail(Code::kDecode, "ranges of hashes: \"" + std::string(text) +
                                     "\" does not begin with two bounds of 16 hexadecimal digits, first-end");
    }
    ranges.push_back(*range);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return ShardRanges(std::move(ranges));
}

bool ShardRanges::Contains(std::uint64_t hash) const noexcept {
  const auto after = std::ranges::upper_bound(ranges_, hash, {}, &ShardRange::first);
  return after != ranges_.begin() && hash <= std::prev(after)->last;
}

ShardRanges operator|(const ShardRanges& a, const ShardRanges& b) {
  std::vector<ShardRange> both = a.ranges_;
  both.insert(both.end(), b.ranges_.begin(), b.ranges_.end());
  return ShardRanges(std::move(both));
}

ShardRanges operator&(const ShardRanges& a, const ShardRanges& b) {
  std::vector<ShardRange> common;
  for (std::size_t i = 0, j = 0; i < a.ranges_.size() && j < b.ranges_.size();) {
    const ShardRange& x = a.ranges_[i];
    const ShardRange& y = b.ranges_[j];
    common.push_back({std::max(x.first, y.first), std::min(x.last, y.last)});  // dropped if it is empty
    ++(x.last < y.last ? i : j);
  }
  return ShardRanges(std::move(common));
}

ShardRanges operator-(const ShardRanges& a, const ShardRanges& b) {
  std::vector<ShardRange> others;  // the hashes that are not in `b`
  std::uint64_t next = 0;
  for (const ShardRange& range : b.ranges_) {
    if (range.first > next) others.push_back({next, range.first - 1});
    if (range.last == kLastHash) return a & ShardRanges(std::move(others));
    next = range.last + 1;
  }
  others.push_back({next, kLastHash});
  return a & ShardRanges(std::move(others));
}

std::string ShardRanges::ToString() const {
  std::string text;
  for (const ShardRange& range : ranges_) {
    text += (text.empty() ? "" : ",") + BeginText(range.first) + "-" + EndText(range.last);
  }
  return text;
}

Result<std::string> ShardRanges::Selector(ShardBy by) const {
  if (empty()) {
    return Fail(Code::kInvalidArgument,
                "shard selector: there is no range; do not list or watch, because a selector that is left out selects "
                "all objects");
  }
  const std::string field = by == ShardBy::kUid ? "object.metadata.uid" : "object.metadata.namespace";
  std::string text;
  for (const ShardRange& range : ranges_) {
    text += (text.empty() ? "" : " || ") + ("shardRange(" + field) + ", '0x" + BeginText(range.first) + "', '0x" +
            EndText(range.last) + "')";
  }
  return text;
}

std::ostream& operator<<(std::ostream& os, const ShardRanges& ranges) { return os << ranges.ToString(); }

}  // namespace kgen
