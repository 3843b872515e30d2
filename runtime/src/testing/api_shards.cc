// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// shardSelector: the parts of the objects that a client asks for by a hash (KEP-5866).
#include <algorithm>
#include <charconv>

#include "net/trim.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

constexpr std::string_view kOr = "||";

// Takes `prefix` from the front of the text, and spaces around it.
bool Take(std::string_view& text, std::string_view prefix) {
  text = net::Trim(text);
  if (!text.starts_with(prefix)) return false;
  text = net::Trim(text.substr(prefix.size()));
  return true;
}

// A number of 16 hexadecimal digits in quotes. Nothing for one that is malformed; for 2^64, which only an end may be,
// `whole` is set.
std::optional<std::uint64_t> TakeBound(std::string_view& text, bool& whole) {
  if (!Take(text, "'0x")) return {};
  const std::size_t quote = text.find('\'');
  if (quote == std::string_view::npos) return {};
  const std::string_view digits = text.substr(0, quote);
  const bool lower = digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  text.remove_prefix(quote + 1);
  whole = digits == "10000000000000000";
  if (whole) return 0;
  std::uint64_t bound = 0;
  if (digits.size() != 16 || !lower) return {};
  std::from_chars(digits.data(), digits.data() + digits.size(), bound, 16);
  return bound;
}

struct Part {
  ShardBy by;
  ShardRange range;
};

// shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000'); the end is not included.
std::optional<Part> ReadPart(std::string_view text) {
  if (!Take(text, "shardRange(")) return {};
  const bool uid = Take(text, "object.metadata.uid");
  if (!uid && !Take(text, "object.metadata.namespace")) return {};
  bool too_large = false, whole = false;
  if (!Take(text, ",")) return {};
  const std::optional<std::uint64_t> first = TakeBound(text, too_large);
  if (!first || too_large || !Take(text, ",")) return {};
  const std::optional<std::uint64_t> end = TakeBound(text, whole);
  if (!end || !Take(text, ")") || !text.empty() || (!whole && *end <= *first)) return {};
  return Part{uid ? ShardBy::kUid : ShardBy::kNamespace, {*first, whole ? UINT64_MAX : *end - 1}};
}

}  // namespace

ApiResult<ShardScope> ShardScope::Parse(std::string_view text) {
  ShardScope scope;
  std::vector<ShardRange> ranges;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(kOr), rest.size());
    const std::optional<Part> part = ReadPart(rest.substr(0, end));
    const bool last = end == rest.size();
    if (!part || (!ranges.empty() && part->by != scope.by_) ||
        (!last && net::Trim(rest.substr(end + kOr.size())).empty())) {
      // Real servers answer with 500, too.
      return Refuse({.message = "invalid shard selector: \"" + std::string(text) +
                                "\" does not consist of shardRange() calls on one field, joined by ||"});
    }
    scope.by_ = part->by;
    ranges.push_back(part->range);
    rest = last ? std::string_view() : rest.substr(end + kOr.size());
  }
  if (!ranges.empty()) scope.ranges_ = ShardRanges(std::move(ranges));
  return scope;
}

bool ShardScope::Matches(const StoredObject& object) const {
  if (is_everything()) return true;
  return ranges_->Contains(ShardHash(by_ == ShardBy::kUid ? TextAt(object.value, "metadata.uid") : object.namespace_));
}

}  // namespace kgen::testing
