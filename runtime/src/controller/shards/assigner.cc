// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/shards/assigner.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/shards/assignment.h"
#include "controller/shards/deliberate_bugs.h"
#include "core/json/json_depth.h"

namespace kgen::controller {
namespace {

using nlohmann::json;

std::string TextAt(const json& object, const json::json_pointer& at) {
  return object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : std::string();
}

// A range of the next map, and whether its owner has it already and has started it.
struct Piece {
  MapRange range{};
  bool steady = false;
};

constexpr int kLoadsLast = 4;          // lease durations, in which whoever owns the hash should say it again
constexpr std::size_t kFewRanges = 8;  // of one owner; with more, neighbours are joined

// Joins neighbours with the same owner, if nothing is lost by it. The owner of two steady ones has acknowledged both
// epochs, so for it the later one is no break. But the earlier one says which of the two it got last.
std::vector<MapRange> Join(std::vector<Piece> pieces) {
  std::map<std::string, std::size_t> counts;
  for (const Piece& piece : pieces) ++counts[piece.range.owner];
  std::vector<Piece> joined;
  for (Piece& piece : pieces) {
    Piece* const last = joined.empty() ? nullptr : &joined.back();
    const bool alike =
        last != nullptr && last->range.since == piece.range.since && last->range.list_anew == piece.range.list_anew;
    const bool steady = last != nullptr && last->steady && piece.steady && counts[piece.range.owner] > kFewRanges;
    if (last != nullptr && last->range.owner == piece.range.owner && (alike || steady)) {
      last->range.last = piece.range.last;
      last->range.since = std::max(last->range.since, piece.range.since);
      last->steady = last->steady && piece.steady;
    } else {
      joined.push_back(std::move(piece));
    }
  }
  std::vector<MapRange> ranges;
  for (Piece& piece : joined) ranges.push_back(std::move(piece.range));
  return ranges;
}

bool SameOwners(const std::vector<MapRange>& a, const std::vector<MapRange>& b) {
  std::map<std::string, std::vector<ShardRange>> x, y;
  for (const MapRange& range : a) x[range.owner].push_back({range.first, range.last});
  for (const MapRange& range : b) y[range.owner].push_back({range.first, range.last});
  return std::ranges::equal(x, y, [](const auto& m, const auto& n) {
    return m.first == n.first && ShardRanges(m.second) == ShardRanges(n.second);
  });
}

}  // namespace

bool HasShardInfo(std::string_view list) {
  static const json::json_pointer kInfo("/metadata/shardInfo");
  const json object = detail::NestsTooDeep(list) ? json() : json::parse(list, nullptr, false);
  return object.is_object() && object.contains(kInfo) && object.at(kInfo).is_object();
}

Result<std::vector<SeenMember>> ReadMembers(std::string_view list) {
  static const json::json_pointer kName("/metadata/name"), kUid("/metadata/uid"), kVersion("/metadata/resourceVersion"),
      kHolder("/spec/holderIdentity"), kDuration("/spec/leaseDurationSeconds");
  const json object = detail::NestsTooDeep(list) ? json() : json::parse(list, nullptr, false);
  const auto items = object.is_object() ? object.find("items") : object.end();
  if (!object.is_object() || (items != object.end() && !items->is_array() && !items->is_null())) {
    return Fail(Code::kDecode, "the answer is no list of Leases");
  }
  std::vector<SeenMember> members;
  if (items == object.end()) return Fail(Code::kDecode, "the list of Leases has no items");
  for (const json& item : *items) {
    SeenMember member{.name = TextAt(item, kName), .uid = TextAt(item, kUid), .version = TextAt(item, kVersion)};
    if (member.name.empty() || TextAt(item, kHolder).empty()) continue;
    if (item.contains(kDuration) && item.at(kDuration).is_number_integer()) {
      member.duration = std::chrono::seconds(std::max(0, item.at(kDuration).get<int>()));
    }
    const json& metadata = item.at("metadata");
    const auto annotations = metadata.find("annotations");
    if (annotations != metadata.end() && annotations->is_object()) {
      const auto ack = annotations->find(kAckAnnotation);
      if (ack != annotations->end() && ack->is_string()) member.ack = ParseAck(ack->get<std::string>());
    }
    members.push_back(std::move(member));
  }
  return members;
}

void Assigner::BeginTerm() {
  std::erase_if(watched_, [](const auto& each) { return !each.second.present; });
  members_.clear();
  loads_.clear();
  map_ = {};
  busy_ = true;
}

void Assigner::Note(const SeenMember& member, Watched& seen, TimePoint now) const {
  const bool same = seen.present && seen.version == member.version && seen.uid == member.uid;
  if (!same) seen = {.uid = member.uid, .version = member.version, .changed = now, .present = true};
  seen.duration = std::max(options_.lease_duration, member.duration);
  const Nanos limit = Injected(ShardBug::kNoFence) ? 2 * options_.retry_period : seen.duration;
  seen.expired = now >= Later(seen.changed, limit);
}

void Assigner::Watch(const SeenMember& member, TimePoint now) { Note(member, watched_[member.name], now); }

void Assigner::See(const SeenMap& map, const std::vector<SeenMember>& members, TimePoint now) {
  if (!map.map && (map.uid != map_.uid || map_.map)) without_map_since_ = now;
  map_ = map;
  members_.clear();
  std::map<std::string, Watched> before = std::exchange(watched_, {});
  for (const SeenMember& member : members) {
    members_[member.name] = member;
    Watched& seen = watched_[member.name] = std::exchange(before[member.name], {});
    before.erase(member.name);
    Note(member, seen, now);
  }
  for (auto& [name, seen] : before) {
    if (std::exchange(seen.present, false)) seen.gone = now;
    if (now < Later(seen.gone, 4 * seen.duration)) watched_[name] = std::move(seen);
  }
  NoteLoads(now);
  // Members of the map that were gone before this term.
  for (const std::string& name : map.map ? map.map->members : std::vector<std::string>()) {
    watched_.try_emplace(name, Watched{.duration = options_.lease_duration, .gone = now});
  }
}

bool Assigner::Suspects(TimePoint now) const {
  return std::ranges::any_of(watched_, [&](const auto& each) {
    return each.second.present && now >= Later(each.second.changed, 2 * options_.retry_period);
  });
}

bool Assigner::Present(const std::string& name) const { return members_.contains(name); }

bool Assigner::Expired(const std::string& name) const {
  const auto at = watched_.find(name);
  return at != watched_.end() && at->second.expired;
}

std::vector<SeenMember> Assigner::Expired() const {
  std::vector<SeenMember> expired;
  for (const auto& [name, member] : members_) {
    if (Expired(name)) expired.push_back(member);
  }
  return expired;
}

// A Lease that had expired is gone with its deletion, by whomever. One that somebody else has deleted proves nothing
// about its holder, who may not have noticed.
bool Assigner::Gone(const std::string& name, TimePoint now) const {
  if (Injected(ShardBug::kNoFence) && Expired(name)) return true;
  if (Present(name)) return false;
  const auto at = watched_.find(name);
  return at == watched_.end() || at->second.expired || now >= Later(at->second.gone, at->second.duration);
}

const ShardAck* Assigner::Ack(const std::string& name) const {
  const auto at = members_.find(name);
  return at != members_.end() && at->second.ack ? &*at->second.ack : nullptr;
}

bool Assigner::Left(const std::string& name) const {
  const ShardAck* const ack = Ack(name);
  return ack != nullptr && ack->leaving && ack->working.empty() && ack->draining.empty();
}

bool Assigner::Works(const MapRange& range) const {
  const ShardAck* const ack = Ack(range.owner);
  return ack != nullptr && ack->lineage == map_.map->lineage && ack->epoch >= range.since &&
         ack->working.Contains(ShardRanges{{range.first, range.last}});
}

// A Lease that nobody but its creation has written may be the work of a late request.
bool Assigner::MayJoin(const std::string& name) const {
  const ShardAck* const ack = Ack(name);
  return ack != nullptr && !ack->joining && !ack->leaving && !Expired(name);
}

// What members say that they work on, for a map that begins a lineage.
std::vector<MapRange> Assigner::HeldRanges() const {
  std::vector<MapRange> held;
  ShardRanges free = ShardRanges::All();
  for (const auto& [name, member] : members_) {
    if (!member.ack) continue;
    const ShardRanges working = member.ack->working & free;  // they are disjoint unless somebody has edited them
    free -= working;
    for (const ShardRange& range : working.ranges()) held.push_back({range.first, range.last, name, 1, true});
  }
  for (const ShardRange& range : free.ranges()) held.push_back({range.first, range.last, "", 1, true});
  std::ranges::sort(held, {}, &MapRange::first);
  return held;
}

std::optional<ShardMap> Assigner::Base(TimePoint now) const {
  if (map_.map && (map_.map->by == options_.by || !map_.map->members.empty())) return map_.map;
  ShardMap base{.lineage = map_.uid + "/" + map_.version, .epoch = 0, .by = options_.by};
  if (map_.map) {  // everybody has left
    base.ranges.push_back({});
    return base;
  }
  // Members of an earlier map may have no Lease any more, and not have noticed.
  if (now < Later(without_map_since_, options_.lease_duration)) return {};
  for (const auto& [name, seen] : watched_) {
    if (!seen.present && !Gone(name, now)) return {};
  }
  for (const auto& [name, member] : members_) {
    if (!member.ack || !member.ack->joining) base.members.push_back(name);
  }
  base.ranges = HeldRanges();
  return base;
}

// Sets since when, and how, ranges have their owners.
void Assigner::TakeOver(ShardMap& next, const ShardMap& base, bool somebody_died) const {
  // What members that leave the map have left without a version.
  ShardRanges unsure;
  for (const std::string& name : base.members) {
    if (const ShardAck* const ack = Ack(name); ack != nullptr && !next.Has(name)) unsure |= ack->unsure;
  }
  std::vector<Piece> pieces;
  for (const MapRange& part : next.ranges) {
    for (const MapRange& old : base.ranges) {
      if (old.last < part.first || old.first > part.last) continue;
      MapRange piece{.first = std::max(part.first, old.first),
                     .last = std::min(part.last, old.last),
                     .owner = old.owner,
                     .since = old.since};
      // What its owner has started cannot be affected by a member that ended after that.
      const bool started = base.epoch > 0 && Works(piece);
      const bool stays = base.epoch > 0 && old.owner == part.owner;
      const bool unknown = somebody_died || unsure.Overlaps({{piece.first, piece.last}});
      piece.list_anew = !started && (old.list_anew || unknown);
      piece.owner = part.owner;
      if (!stays) piece.since = next.epoch;
      pieces.push_back({std::move(piece), started && stays});
    }
  }
  next.ranges = Join(std::move(pieces));
}

bool Assigner::Settled(const ShardMap& map) const {
  for (const std::string& name : map.members) {
    const ShardAck* const ack = Ack(name);
    if (ack == nullptr || ack->lineage != map.lineage || ack->epoch != map.epoch || ack->leaving || Expired(name) ||
        ack->counting || !ack->draining.empty() || ack->working != map.Of(name)) {
      return false;
    }
  }
  return std::ranges::none_of(members_, [&](const auto& each) { return !map.Has(each.first) && !Left(each.first); });
}

bool Assigner::NeedsSurvey() const {
  if (map_.map && !map_.map->members.empty()) return false;
  return std::ranges::none_of(members_,
                              [](const auto& each) { return each.second.ack && !each.second.ack->weights.empty(); });
}

void Assigner::Survey(const std::vector<ShardWeight>& weights, TimePoint now) {
  for (const ShardWeight& each : weights) loads_[each.hash] = {.load = each.load, .said = now};
}

// A hash that two members name, because it has just moved, has the larger load of the two. What nobody says any more is
// forgotten once others have gone on saying something for long enough.
void Assigner::NoteLoads(TimePoint now) {
  for (const auto& [name, member] : members_) {
    if (!member.ack) continue;
    for (const ShardWeight& each : member.ack->weights) {
      Load& known = loads_[each.hash];
      known = {.load = known.said == now ? std::max(known.load, each.load) : each.load, .said = now};
    }
  }
  TimePoint newest = TimePoint::min();
  for (const auto& [hash, known] : loads_) newest = std::max(newest, known.said);
  std::erase_if(loads_, [&](const auto& each) {
    return newest >= Later(each.second.said, kLoadsLast * options_.lease_duration);
  });
}

std::vector<ShardWeight> Assigner::Weights() const {
  std::vector<ShardWeight> weights;
  weights.reserve(loads_.size());
  for (const auto& [hash, known] : loads_) weights.push_back({hash, known.load});
  return weights;
}

std::optional<ShardMap> Assigner::Next(TimePoint now) {
  busy_ = true;
  const std::optional<ShardMap> base = Base(now);
  if (!base) return {};
  ShardMap next{.lineage = base->lineage, .epoch = base->epoch + 1, .by = base->by, .versions = base->versions};
  bool somebody_died = false;
  for (const std::string& name : base->members) {
    const bool gone = Gone(name, now);
    somebody_died |= gone;
    if (!gone && !Left(name)) next.members.push_back(name);
  }
  std::vector<std::string> eligible;
  for (const auto& [name, member] : members_) {
    if (!Injected(ShardBug::kForgetsVersions) && member.ack) Merge(next.versions, member.ack->versions);
    if (!next.Has(name) && MayJoin(name) && member.ack->by == base->by) next.members.push_back(name);
  }
  for (const std::string& name : next.members) {
    const ShardAck* const ack = Ack(name);
    if (ack != nullptr && !ack->leaving && !Expired(name)) eligible.push_back(name);
  }
  const bool settled = base->epoch > 0 && Settled(*base);
  busy_ = !settled || Suspects(now);
  const bool same_members = base->epoch > 0 && next.members == base->members;
  // A member that is busy with a hand-over should not get another one because weights have changed.
  const bool may_balance = settled || !same_members || std::ranges::any_of(base->ranges, [&](const MapRange& range) {
                             return std::ranges::find(eligible, range.owner) == eligible.end();
                           });
  if (!may_balance) return {};
  for (const Share& share : Divide(base->ranges, eligible, ShardLoad(Weights()))) {
    next.ranges.push_back({share.first, share.last, share.owner});
  }
  if (same_members && SameOwners(next.ranges, base->ranges)) return {};
  TakeOver(next, *base, somebody_died);
  return next;
}

}  // namespace kgen::controller
