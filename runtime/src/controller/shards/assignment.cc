// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/shards/assignment.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace kgen::controller {
namespace {

constexpr double kSpread = 0.01;     // the share of hashes without a weight
constexpr double kMost = 1.2;        // times the fair share: more is too much
constexpr double kBetter = 1.05;     // times the fair share: what is left to a member that had too much
constexpr double kHardlyAny = 0.45;  // times the fair share: less makes a member a newcomer
constexpr double kAbout = 0.03;      // times the fair share: a difference that is not worth another range
constexpr double kNothing = 1e-9;    // less is an error of rounding
constexpr double kAllHashes = 18446744073709551616.0;

using Place = std::size_t;  // among the members
constexpr Place kNobody = SIZE_MAX;

struct RangePart {
  std::uint64_t first = 0, last = 0;
  Place owner = kNobody;
  std::uint64_t since = 0;
};

// The members' parts while they are being divided.
class Division {
 public:
  Division(const std::vector<MapRange>& ranges, const std::vector<std::string>& members, const ShardLoad& load)
      : load_(load), count_(members.size()) {
    for (const MapRange& range : ranges) {
      const auto owner = std::ranges::find(members, range.owner);
      parts_.push_back({range.first, range.last,
                        owner == members.end() ? kNobody : static_cast<Place>(owner - members.begin()), range.since});
    }
  }

  void PlaceUnowned();
  void FeedNewcomers();
  void RelieveOverloaded();
  const std::vector<RangePart>& parts() const { return parts_; }

 private:
  double Load(const RangePart& part) const { return load_.Of(part.first, part.last); }
  std::vector<double> Loads() const;
  double Limit() const { return std::max(1.0 / static_cast<double>(count_), load_.largest()); }
  double LevelToFill(const std::vector<double>& loads, double amount) const;
  double LevelToShare(const std::vector<double>& loads, const std::vector<bool>& newcomer) const;
  double Heaviest(Place owner) const;
  Place Receiver(std::size_t at, const std::vector<double>& needs) const;
  // Moves about `amount` from one member to another, and returns how much.
  double Move(Place from, Place to, double amount);
  double MovePart(std::size_t at, Place to, double amount);
  std::uint64_t CutOrFirst(const RangePart& part, double amount) const;
  double MoveBegin(std::size_t at, Place to, double amount);
  double MoveEnd(std::size_t at, Place to, double amount);
  void Split(std::size_t at, std::uint64_t last_of_first);

  const ShardLoad& load_;
  const std::size_t count_;
  std::vector<RangePart> parts_{};
};

std::vector<double> Division::Loads() const {
  std::vector<double> loads(count_, 0);
  for (const RangePart& part : parts_) {
    if (part.owner != kNobody) loads[part.owner] += Load(part);
  }
  return loads;
}

// The level to which `amount` fills the members, the emptiest ones first.
double Division::LevelToFill(const std::vector<double>& loads, double amount) const {
  std::vector<double> sorted = loads;
  std::ranges::sort(sorted);
  double sum = amount;
  for (std::size_t n = 0; n < sorted.size(); ++n) {
    sum += sorted[n];
    const double level = sum / static_cast<double>(n + 1);
    if (n + 1 == sorted.size() || level <= sorted[n + 1]) return level;
  }
  return amount;
}

double Division::Heaviest(Place owner) const {
  double heaviest = 0;
  for (const RangePart& part : parts_) {
    if (part.owner == owner) heaviest = std::max(heaviest, load_.Largest(part.first, part.last));
  }
  return heaviest;
}

// The load that newcomers and others have after the others gave what they have above it, but for a hash that alone has
// more.
double Division::LevelToShare(const std::vector<double>& loads, const std::vector<bool>& newcomer) const {
  std::vector<double> least(count_);
  for (Place i = 0; i < count_; ++i) least[i] = newcomer[i] ? 0 : Heaviest(i);
  double low = 0, high = 1;
  for (int step = 0; step < 50; ++step) {
    const double level = (low + high) / 2;
    double given = 0, taken = 0;
    for (Place i = 0; i < count_; ++i) {
      if (newcomer[i]) taken += std::max(0.0, level - loads[i]);
      if (!newcomer[i]) given += std::max(0.0, loads[i] - std::max(level, least[i]));
    }
    (given > taken ? low : high) = level;
  }
  return low;
}

// A neighbour of the part if it needs all of it or much, else the one that needs most; the youngest of several.
Place Division::Receiver(std::size_t at, const std::vector<double>& needs) const {
  const double enough = std::min(Load(parts_[at]), 0.2 / static_cast<double>(count_));
  for (const std::size_t beside : {at - 1, at + 1}) {
    if (beside < parts_.size() && parts_[beside].owner != kNobody && needs[parts_[beside].owner] >= enough) {
      return parts_[beside].owner;
    }
  }
  Place most = 0;
  for (Place i = 0; i < count_; ++i) {
    if (needs[i] >= needs[most] - kNothing) most = i;
  }
  return most;
}

void Division::Split(std::size_t at, std::uint64_t last_of_first) {
  RangePart second = parts_[at];
  second.first = last_of_first + 1;
  parts_[at].last = last_of_first;
  parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(at) + 1, second);
}

void Division::PlaceUnowned() {
  const std::vector<double> loads = Loads();
  double amount = 0;
  for (const RangePart& part : parts_) amount += part.owner == kNobody ? Load(part) : 0;
  const double level = LevelToFill(loads, amount);
  std::vector<double> needs(count_);
  for (Place i = 0; i < count_; ++i) needs[i] = std::max(0.0, level - loads[i]);
  for (std::size_t at = 0; at < parts_.size(); ++at) {
    if (parts_[at].owner != kNobody) continue;
    const Place to = Receiver(at, needs);
    if (Load(parts_[at]) > needs[to] + kAbout / static_cast<double>(count_)) {
      const std::uint64_t end = CutOrFirst(parts_[at], needs[to]);
      if (end < parts_[at].last) Split(at, end);
    }
    needs[to] -= Load(parts_[at]);
    parts_[at].owner = to;
  }
}

void Division::FeedNewcomers() {
  std::vector<double> loads = Loads();
  std::vector<bool> newcomer(count_);
  // What is fair depends on who shares, so the emptiest ones become newcomers one by one.
  double level = 0;
  for (;;) {
    Place next = kNobody;
    for (Place i = 0; i < count_; ++i) {
      if (!newcomer[i] && (next == kNobody || loads[i] < loads[next])) next = i;
    }
    if (next == kNobody) break;
    newcomer[next] = true;
    const double shared = LevelToShare(loads, newcomer);
    if (loads[next] >= kHardlyAny * shared) {
      newcomer[next] = false;
      break;
    }
    level = shared;
  }
  for (Place to = count_; to-- > 0;) {
    if (!newcomer[to]) continue;
    double need = level - loads[to];
    const auto take = [&](Place from, double down_to) {
      if (newcomer[from] || need <= kAbout * level || loads[from] <= down_to) return;
      const double moved = Move(from, to, std::min(need, loads[from] - down_to));
      need -= moved;
      loads[from] -= moved;
      loads[to] += moved;
    };
    for (Place from = 0; from < count_; ++from) {
      if (loads[from] > kMost * Limit()) take(from, level);
    }
    for (Place from = 0; from < count_; ++from) take(from, level);  // the oldest first
  }
}

void Division::RelieveOverloaded() {
  std::vector<RangePart> best = parts_;
  double best_load = 2;
  for (std::size_t round = 0; round < 4 * count_; ++round) {
    const std::vector<double> loads = Loads();
    const auto most = std::ranges::max_element(loads);
    const auto least = std::ranges::min_element(loads);
    if (*most < best_load - kNothing) {
      best_load = *most;
      best = parts_;
    }
    if (*most <= kMost * Limit() || most == least) break;
    const auto from = static_cast<Place>(most - loads.begin()), to = static_cast<Place>(least - loads.begin());
    // If every hash has more than what would be enough, one of them may still be worth it; and if one has more than the
    // two differ by, the other one may give something lighter in the next round.
    double amount = std::min(*most - kBetter * Limit(), (*most - *least) / 2), moved = 0;
    while (moved <= kNothing && amount < *most) {
      moved = Move(from, to, amount);
      amount *= 1.2;
    }
    if (moved <= kNothing) break;
  }
  parts_ = std::move(best);
}

double Division::Move(Place from, Place to, double amount) {
  double moved = 0;
  // What came last goes first; of that, small parts.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order;  // parts by their first hash
  for (const RangePart& part : parts_) {
    if (part.owner == from) order.emplace_back(part.since, part.first);
  }
  const auto at = [&](std::uint64_t first) {
    return static_cast<std::size_t>(std::ranges::find(parts_, first, &RangePart::first) - parts_.begin());
  };
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    const double x = Load(parts_[at(a.second)]), y = Load(parts_[at(b.second)]);
    return x != y ? x < y : a.second < b.second;
  });
  for (const auto& [since, first] : order) {
    if (amount - moved <= kNothing) break;
    moved += MovePart(at(first), to, amount - moved);
  }
  return moved;
}

double Division::MovePart(std::size_t at, Place to, double amount) {
  const double all = Load(parts_[at]);
  if (all <= amount + kNothing) {
    parts_[at].owner = to;
    return all;
  }
  const bool beside = at + 1 < parts_.size() && parts_[at + 1].owner == to;
  const double moved = beside ? MoveEnd(at, to, amount) : MoveBegin(at, to, amount);
  if (moved > 0) return moved;
  return beside ? MoveBegin(at, to, amount) : MoveEnd(at, to, amount);
}

// Where to end a range with a load of about `amount`. A hash that is heavier goes as a whole.
std::uint64_t Division::CutOrFirst(const RangePart& part, double amount) const {
  return load_.Cut(part.first, part.last, amount).value_or(load_.FirstEnd(part.first, part.last));
}

double Division::MoveBegin(std::size_t at, Place to, double amount) {
  const std::optional<std::uint64_t> end = load_.Cut(parts_[at].first, parts_[at].last, amount);
  if (!end || *end == parts_[at].last) return 0;
  Split(at, *end);
  parts_[at].owner = to;
  return Load(parts_[at]);
}

double Division::MoveEnd(std::size_t at, Place to, double amount) {
  // The longest end whose load is at most `amount`: after the hash with which the beginning has the rest.
  const RangePart part = parts_[at];
  std::uint64_t stays = CutOrFirst(part, Load(part) - amount);
  if (stays < part.last && load_.Of(stays + 1, part.last) > amount + kNothing) {
    stays = load_.FirstEnd(stays + 1, part.last);
  }
  if (stays >= part.last) return 0;
  Split(at, stays);
  parts_[at + 1].owner = to;
  return Load(parts_[at + 1]);
}

}  // namespace

ShardLoad::ShardLoad(std::vector<ShardWeight> weights) {
  std::ranges::sort(weights, [](const ShardWeight& a, const ShardWeight& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.load > b.load;
  });
  double sum = 0;
  for (const ShardWeight& each : weights) {
    if (!(each.load > 0) || (!points_.empty() && points_.back().hash == each.hash)) continue;
    points_.push_back(each);
    sum += each.load;
  }
  spread_ = points_.empty() ? 1 : kSpread;
  double before = 0;
  for (ShardWeight& each : points_) {
    each.load *= (1 - kSpread) / sum;
    sums_.push_back(before);
    before += each.load;
    largest_ = std::max(largest_, each.load);
  }
}

double ShardLoad::Spread(std::uint64_t first, std::uint64_t last) const {
  return spread_ * (static_cast<double>(last - first) + 1) / kAllHashes;
}

double ShardLoad::Below(std::uint64_t hash) const {
  const auto at = std::ranges::lower_bound(points_, hash, {}, &ShardWeight::hash);
  if (at == points_.end()) return points_.empty() ? 0 : sums_.back() + points_.back().load;
  return sums_[static_cast<std::size_t>(at - points_.begin())];
}

double ShardLoad::Of(std::uint64_t first, std::uint64_t last) const {
  const double to = last == UINT64_MAX ? (points_.empty() ? 0 : sums_.back() + points_.back().load) : Below(last + 1);
  return Spread(first, last) + to - Below(first);
}

double ShardLoad::Largest(std::uint64_t first, std::uint64_t last) const {
  double largest = 0;
  for (auto at = std::ranges::lower_bound(points_, first, {}, &ShardWeight::hash);
       at != points_.end() && at->hash <= last; ++at) {
    largest = std::max(largest, at->load);
  }
  return largest;
}

// With weights, ranges end in the middle between two hashes that have one, so that a hash that moves does not leave two
// ranges behind. Returns the last such end that is not after `hash`, if there is one.
std::optional<std::uint64_t> ShardLoad::EndBefore(std::uint64_t hash) const {
  if (points_.empty()) return hash;
  auto at = std::ranges::upper_bound(points_, hash, {}, &ShardWeight::hash);  // the end before it may be after `hash`
  if (at == points_.end()) --at;
  for (; at != points_.begin(); --at) {
    const std::uint64_t before = std::prev(at)->hash;
    const std::uint64_t middle = before + (at->hash - before) / 2;
    if (middle <= hash) return middle;
  }
  return {};
}

std::uint64_t ShardLoad::FirstEnd(std::uint64_t first, std::uint64_t last) const {
  if (points_.empty()) return first;
  auto at = std::ranges::lower_bound(points_, first, {}, &ShardWeight::hash);
  if (at != points_.begin()) --at;
  for (; std::next(at) != points_.end(); ++at) {
    const std::uint64_t middle = at->hash + (std::next(at)->hash - at->hash) / 2;
    if (middle >= first) return std::min(middle, last);
  }
  return last;
}

std::optional<std::uint64_t> ShardLoad::Cut(std::uint64_t first, std::uint64_t last, double load) const {
  if (Of(first, last) <= load) return last;
  if (Of(first, first) > load) return {};
  std::uint64_t low = first, high = last;  // [first, low] fits
  while (low < high) {
    const std::uint64_t middle = high - (high - low) / 2;
    if (Of(first, middle) <= load) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const std::optional<std::uint64_t> end = EndBefore(low);
  return end && *end >= first ? end : std::nullopt;
}

std::vector<Share> Divide(const std::vector<MapRange>& ranges, const std::vector<std::string>& members,
                          const ShardLoad& load) {
  std::vector<Share> shares;
  if (members.empty()) {
    for (const MapRange& range : ranges) shares.push_back({range.first, range.last, ""});
    return shares;
  }
  Division division(ranges, members, load);
  division.PlaceUnowned();
  division.FeedNewcomers();
  division.RelieveOverloaded();
  for (const RangePart& part : division.parts()) shares.push_back({part.first, part.last, members[part.owner]});
  return shares;
}

}  // namespace kgen::controller
