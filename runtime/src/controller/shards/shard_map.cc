// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/shards/shard_map.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/json/compact_json.h"
#include "core/json/json_depth.h"
#include "core/json/number.h"
#include "kgen/cache/resource_version.h"

namespace kgen::controller {
namespace {

using nlohmann::json;

constexpr std::string_view kNamespaceText = "namespace";
constexpr std::string_view kUidText = "uid";

std::string HexText(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

template <typename Number>
std::optional<Number> ReadNumber(std::string_view text, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

// Takes the text up to a separator, which is dropped, from the front of `text`.
std::string_view TakeUntil(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return head;
}

// "0000000000000000 0 7 a,8000000000000000 1 9 s": the first hash, the place of the owner among the members or "-", the
// epoch, and whether the next owner lists anew (a) or relies on versions (v). Each range ends before the next one.
std::string RangesText(const ShardMap& map) {
  std::string text;
  for (const MapRange& range : map.ranges) {
    const auto owner = std::ranges::find(map.members, range.owner);
    if (!text.empty()) text += ',';
    text += HexText(range.first) + ' ' +
            (owner == map.members.end() ? std::string("-") : std::to_string(owner - map.members.begin())) + ' ' +
            std::to_string(range.since) + (range.list_anew ? " a" : " v");
  }
  return text;
}

bool ReadRanges(std::string_view text, ShardMap& map) {
  while (!text.empty()) {
    std::string_view one = TakeUntil(text, ',');
    const auto first = ReadNumber<std::uint64_t>(TakeUntil(one, ' '), 16);
    const std::string_view owner_text = TakeUntil(one, ' ');
    const auto owner = ReadNumber<std::size_t>(owner_text, 10);
    const auto since = ReadNumber<std::uint64_t>(TakeUntil(one, ' '), 10);
    if (!first || !since || (owner_text != "-" && (!owner || *owner >= map.members.size()))) return false;
    if (map.ranges.empty() ? *first != 0 : *first <= map.ranges.back().first) return false;
    if (one != "a" && one != "v") return false;
    if (!map.ranges.empty()) map.ranges.back().last = *first - 1;
    map.ranges.push_back({.first = *first,
                          .owner = owner ? map.members[*owner] : std::string(),
                          .since = *since,
                          .list_anew = one == "a"});
  }
  return !map.ranges.empty();
}

std::string WeightsText(std::vector<ShardWeight> weights) {
  std::erase_if(weights, [](const ShardWeight& each) { return !(each.load > 0) || !std::isfinite(each.load); });
  if (weights.size() > kMostWeights) {
    std::ranges::nth_element(weights, weights.begin() + kMostWeights, std::greater<>(), &ShardWeight::load);
    weights.resize(kMostWeights);
  }
  std::ranges::sort(weights, {}, &ShardWeight::hash);
  std::string text;
  for (const ShardWeight& each : weights) {
    char load[32];
    std::snprintf(load, sizeof load, "%.4g", each.load);
    text += (text.empty() ? "" : ",") + HexText(each.hash) + ' ' + load;
  }
  return text;
}

std::vector<ShardWeight> ReadWeights(std::string_view text) {
  std::vector<ShardWeight> weights;
  while (!text.empty() && weights.size() < kMostWeights) {
    std::string_view one = TakeUntil(text, ',');
    const auto hash = ReadNumber<std::uint64_t>(TakeUntil(one, ' '), 16);
    double load = 0;
    const auto [end, error] = detail::ReadDouble(one, load);
    if (!hash || error != std::errc() || !(load > 0) || !std::isfinite(load)) return {};
    weights.push_back({*hash, load});
  }
  return weights;
}

json ReadObject(std::string_view text) {
  if (detail::NestsTooDeep(text)) return {};
  json object = json::parse(text, nullptr, false);
  return object.is_object() ? object : json();
}

std::string TextAt(const json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t NumberAt(const json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::optional<ShardBy> ByAt(const json& object) {
  const std::string text = TextAt(object, "by");
  if (text == kNamespaceText) return ShardBy::kNamespace;
  if (text == kUidText) return ShardBy::kUid;
  return {};
}

std::string_view ByText(ShardBy by) { return by == ShardBy::kUid ? kUidText : kNamespaceText; }

ShardVersions VersionsAt(const json& object) {
  ShardVersions versions;
  const auto found = object.find("versions");
  if (found == object.end() || !found->is_object()) return versions;
  for (const auto& [resource, version] : found->items()) {
    versions[resource] = version.is_string() ? version.get<std::string>() : std::string();
  }
  return versions;
}

}  // namespace

ShardRanges ShardMap::Of(std::string_view member) const {
  std::vector<ShardRange> own;
  for (const MapRange& range : ranges) {
    if (range.owner == member) own.push_back({range.first, range.last});
  }
  return ShardRanges(std::move(own));
}

bool ShardMap::Has(std::string_view member) const { return std::ranges::find(members, member) != members.end(); }

std::string ToText(const ShardMap& map) {
  json object = {{"lineage", map.lineage}, {"epoch", map.epoch}, {"by", ByText(map.by)}, {"ranges", RangesText(map)}};
  object["members"] = json::array();
  for (const std::string& member : map.members) object["members"].push_back(member);
  if (!map.versions.empty()) object["versions"] = map.versions;
  return detail::CompactJson(object);
}

std::optional<ShardMap> ParseMap(std::string_view text) {
  const json object = ReadObject(text);
  const auto members = object.is_object() ? object.find("members") : object.end();
  if (members == object.end() || !members->is_array()) return {};
  ShardMap map{.lineage = TextAt(object, "lineage"), .epoch = NumberAt(object, "epoch")};
  for (const json& member : *members) {
    if (!member.is_string()) return {};
    map.members.push_back(member.get<std::string>());
  }
  const std::optional<ShardBy> by = ByAt(object);
  if (!by || map.lineage.empty() || map.epoch == 0 || !ReadRanges(TextAt(object, "ranges"), map)) return {};
  map.by = *by;
  map.versions = VersionsAt(object);
  return map;
}

std::string ToText(const ShardAck& ack) {
  json object = {{"lineage", ack.lineage}, {"epoch", ack.epoch}, {"by", ByText(ack.by)}};
  if (ack.joining) object["joining"] = true;
  if (ack.leaving) object["leaving"] = true;
  if (ack.counting) object["counting"] = true;
  for (const auto& [name, ranges] :
       {std::pair("working", &ack.working), std::pair("draining", &ack.draining), std::pair("unsure", &ack.unsure)}) {
    if (!ranges->empty()) object[name] = ranges->ToString();
  }
  if (!ack.versions.empty()) object["versions"] = ack.versions;
  if (std::string weights = WeightsText(ack.weights); !weights.empty()) object["weights"] = std::move(weights);
  return detail::CompactJson(object);
}

std::optional<ShardAck> ParseAck(std::string_view text) {
  const json object = ReadObject(text);
  if (!object.is_object()) return {};
  const std::optional<ShardBy> by = ByAt(object);
  if (!by) return {};
  ShardAck ack{.lineage = TextAt(object, "lineage"), .epoch = NumberAt(object, "epoch"), .by = *by};
  const auto is_set = [&](const char* member) {
    const auto found = object.find(member);
    return found != object.end() && *found == true;
  };
  ack.joining = is_set("joining");
  ack.leaving = is_set("leaving");
  ack.counting = is_set("counting");
  for (const auto& [name, into] :
       {std::pair("working", &ack.working), std::pair("draining", &ack.draining), std::pair("unsure", &ack.unsure)}) {
    Result<ShardRanges> ranges = ShardRanges::Parse(TextAt(object, name));
    if (!ranges) return {};
    *into = *std::move(ranges);
  }
  ack.versions = VersionsAt(object);
  ack.weights = ReadWeights(TextAt(object, "weights"));
  return ack;
}

void Merge(ShardVersions& into, const ShardVersions& from) {
  for (const auto& [resource, version] : from) {
    const auto [at, added] = into.emplace(resource, version);
    if (added || at->second == version) continue;
    const Result<std::strong_ordering> order = CompareResourceVersions(at->second, version);
    if (!order) {
      at->second.clear();
    } else if (*order < 0) {
      at->second = version;
    }
  }
}

}  // namespace kgen::controller
