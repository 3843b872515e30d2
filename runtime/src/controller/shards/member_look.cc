// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Looks at the map and at the other members, and acts on it. The member that holds the map also makes the next one.
#include <algorithm>
#include <utility>

#include "cache/store/version_number.h"
#include "controller/shards/deliberate_bugs.h"
#include "controller/shards/member_state.h"
#include "kgen/client/requests.h"
#include "kgen/codec/encode.h"

namespace kgen::controller {

bool MemberState::Hurried() const {
  // The assigner has died, it seems, and the next one will change the map.
  const bool stale = map_lease_ && ShardTime(*clock_) - map_changed_ > options_.lease_duration / 2;
  return stale || phase_ == Phase::kLeaving || !sets_.waiting().empty() || !sets_.draining().empty() ||
         (assigning_ && assigner_.busy());
}

// Looks now, or once more after the look that is under way.
void MemberState::LookSoon() {
  if (!Live()) return;
  look_again_ = looking_;
  if (looking_) return;
  look_timer_.After(Nanos(), TimerKind::kHousekeeping,
                    [self = Shared<MemberState>(this)] { self->Guarded([&] { self->Look(); }); });
}

void MemberState::EndLook() {
  looking_ = false;
  if (std::exchange(look_again_, false)) return LookSoon();
  const Nanos period = Hurried() ? options_.retry_period / 4 : options_.retry_period;
  look_timer_.After(jitter_.Between(period * 4 / 5, period), TimerKind::kHousekeeping,
                    [self = Shared<MemberState>(this)] { self->Guarded([&] { self->Look(); }); });
}

void MemberState::Look() {
  if (looking_ || !Live()) return;
  looking_ = true;
  Send(connection_, leases_.Get(options_.name, "", {}), &MemberState::OnMap);
}

void MemberState::OnMap(Body body) {
  if (!Live()) return;
  Result<Lease> lease = detail::DecodeBody<Lease>(body, "read lease " + options_.namespace_ + "/" + options_.name);
  if (!lease) {
    // Without the Lease nobody gets anything new, and everybody keeps what it has.
    map_lease_.reset();
    if (lease.error().code() != Code::kNotFound) Failed(lease.error());
    return EndLook();
  }
  map_lease_ = *std::move(lease);
  if (map_version_ != std::as_const(*map_lease_).metadata.resourceVersion) {
    map_version_ = std::as_const(*map_lease_).metadata.resourceVersion.str();
    map_changed_ = ShardTime(*clock_);
  }
  const std::optional<ShardMap> map = ParseMap(std::as_const(*map_lease_).metadata.annotations[kMapAnnotation]);
  if (map) Adopt(*map);
  if (!Live()) return;
  if (map && map_ && map->lineage == lineage_ && map->epoch == epoch_) {
    map_number_ = cache::VersionNumber(map_version_).value_or(map_number_);
  }
  if (phase_ == Phase::kLeaving && sets_.working().empty() && sets_.draining().empty() &&
      (map ? !map->Has(name_) : !map_)) {
    SetPhase(Phase::kLeft);
    renew_timer_.Cancel();
    if (!writing_) DeleteOwn();
    return;
  }
  // If the assigner dies, its successor must know for how long it has been dead.
  const std::string assigner(std::as_const(*map_lease_).spec->holderIdentity.view());
  if (assigning_ || assigner.empty() || assigner == name_) return LookAtMembers();
  Send(connection_, leases_.Get(assigner, "", {}), &MemberState::OnAssigner);
}

void MemberState::OnAssigner(Body body) {
  if (!Live()) return;
  const Result<Lease> lease = detail::DecodeBody<Lease>(body, "read the Lease of the assigner");
  if (lease) {
    assigner_.Watch({.name = lease->metadata.name.str(),
                     .uid = lease->metadata.uid.str(),
                     .version = lease->metadata.resourceVersion.str(),
                     .duration = std::chrono::seconds(lease->spec->leaseDurationSeconds.value_or(0))},
                    ShardTime(*clock_));
  }
  LookAtMembers();
}

void MemberState::LookAtMembers() {
  if (!assigning_ && sets_.Ready().empty()) return EndLook();
  // The selector takes all of them. It is there for the answer, which tells whether the server knows such selectors.
  Send(connection_,
       leases_.List({.label_selector = std::string(kShardLabel) + "=" + options_.name,
                     .shard_selector = *ShardRanges::All().Selector(ShardBy::kNamespace)}),
       &MemberState::OnMembers);
}

void MemberState::Adopt(const ShardMap& map) {
  if (map.members.empty() && !map_) return;  // the next one may be of another lineage
  if (HasGoneBack(map, lineage_, epoch_)) {
    return Fence(Error(Code::kConflict, "the map of the shards has gone back from epoch " + std::to_string(epoch_) +
                                            " to " + std::to_string(map.epoch)));
  }
  if (map.lineage == lineage_ && map.epoch == epoch_) return;
  if (map.by != options_.by && !map.members.empty()) {
    return End(Fail(Code::kInvalidArgument,
                    "the members of " + source_ + " have another ShardOptions::by; stop all of them first"));
  }
  if (!map.Has(name_) && !(sets_.working() | sets_.draining()).empty()) {
    return Fence(Error(Code::kConflict, "the map of the shards no longer has this member"));
  }
  const ShardRanges kept = Kept(map, name_, lineage_, epoch_);
  const ShardRanges assigned = map.Of(name_);
  lineage_ = map.lineage;
  epoch_ = map.epoch;
  map_ = map;
  sets_.Assign(phase_ == Phase::kLeaving ? assigned & sets_.working() : assigned, kept, clock_->Now());
  waits_.clear();
  Changed();
}

void MemberState::OnMembers(Body body) {
  if (!Live()) return;
  Result<std::vector<SeenMember>> members = body ? ReadMembers(*body) : Fail(body.error());
  if (!members) {
    Failed(members.error());
    return EndLook();
  }
  {
    const MutexLock lock(mutex_);
    status_.server_filters = HasShardInfo(*body);
  }
  StartWhatMay(*members);
  if (Live() && assigning_) return Assign(*members);
  EndLook();
}

void MemberState::StartWhatMay(const std::vector<SeenMember>& members) {
  const ShardRanges ready = sets_.Ready();
  if (!map_ || phase_ != Phase::kMember || ready.empty()) return;
  ShardAcks acks;
  for (const SeenMember& member : members) {
    if (member.ack) acks[member.name] = *member.ack;
  }
  Startable what = MayStart(*map_, name_, ready, acks, MakeAck());
  // Who owned a hash before has started it with a version that the Lease had before the map took it away.
  what.from.fence = map_number_;
  std::map<std::string, TimePoint> waits;
  for (const std::string& member : what.waits_for) {
    const auto known = waits_.find(member);
    waits[member] = known != waits_.end() ? known->second : clock_->Now();
  }
  waits_ = std::move(waits);
  if (what.ranges.empty()) return Publish();
  // The machine may have been suspended while the answer was on its way. Then others may own the ranges by now.
  if (ShardTime(*clock_) >= until_) return OnDeadline();
  Start(what);
}

void MemberState::Assign(const std::vector<SeenMember>& members) {
  const bool holds = std::as_const(*map_lease_).spec->holderIdentity == name_;
  const bool stale = Injected(ShardBug::kStaleMap);
  if (!stale && (!holds || !elector_ || !elector_->IsLeader())) return EndLook();
  const Lease& lease = *map_lease_;
  SeenMap seen{.uid = lease.metadata.uid.str(),
               .version = lease.metadata.resourceVersion.str(),
               .map = ParseMap(lease.metadata.annotations[kMapAnnotation])};
  if (stale && map_) seen.map = map_;
  const TimePoint now = ShardTime(*clock_);
  assigner_.See(seen, members, now);
  if (!Injected(ShardBug::kNoFence)) {
    for (const SeenMember& dead : assigner_.Expired()) Bury(dead);
  }
  if (AwaitsSurvey(now)) return EndLook();
  next_map_ = assigner_.Next(now);
  if (next_map_ && stale) return WriteMap();
  // The list may have taken longer than it takes the elector to renew the Lease, so the version that was read before it
  // may be old, and every update would fail.
  if (next_map_) return Send(connection_, leases_.Get(options_.name, "", {}), &MemberState::OnMapAgain);
  EndLook();
}

// Deletes the Lease of a member that has not renewed it, unless it does so meanwhile.
void MemberState::Bury(const SeenMember& member) {
  if (!elector_ || !burying_.insert(member.name).second) return;
  Say(LogLevel::kWarning, "member " + member.name + " has not renewed its Lease; it is deleted");
  Result<ApiRequest> request = leases_.Delete(member.name, {.uid = member.uid, .resource_version = member.version});
  if (!request) return;
  request->timeout = std::max<Nanos>(options_.renew_deadline / 2, std::chrono::seconds(1));
  request->unlimited = true;
  connection_.With(elector_->guard())
      .CallAsync(*std::move(request),
                 [self = Shared<MemberState>(this), name = member.name](Result<ApiResponse> response) {
                   self->PostStep([name, done = response.has_value()](MemberState& member_state) {
                     member_state.burying_.erase(name);
                     if (done) member_state.LookSoon();
                   });
                 });
}

// What was decided holds if nobody has changed the map meanwhile.
void MemberState::OnMapAgain(Body body) {
  if (!Live()) return;
  Result<Lease> lease = detail::DecodeBody<Lease>(body, "read lease " + options_.namespace_ + "/" + options_.name);
  if (!lease) {
    Failed(lease.error());
    return EndLook();
  }
  const Lease &before = *map_lease_, &now = *lease;
  const bool same = now.metadata.uid == before.metadata.uid && now.spec->holderIdentity == name_ &&
                    now.metadata.annotations[kMapAnnotation] == before.metadata.annotations[kMapAnnotation];
  map_lease_ = *std::move(lease);
  if (!same || !assigning_ || !elector_ || !elector_->IsLeader()) return EndLook();
  WriteMap();
}

void MemberState::WriteMap() {
  const ShardMap& map = *next_map_;
  Lease next = *map_lease_;
  next.metadata.annotations[kMapAnnotation] = ToText(map);
  Say(LogLevel::kInfo, "makes the map of epoch " + std::to_string(map.epoch) + " with " +
                           std::to_string(map.members.size()) + " members");
  const bool stale = Injected(ShardBug::kStaleMap);
  if (stale) next.metadata.resourceVersion.reset();
  Send(stale ? connection_ : connection_.With(elector_->guard()),
       leases_.Update(options_.namespace_, options_.name, "", Encode(next), {}), &MemberState::OnMapWritten);
}

void MemberState::OnMapWritten(Body body) {
  if (!Live()) return;
  // A renewal by the elector may come in between.
  if (!body && body.error().code() != Code::kConflict) Failed(body.error());
  EndLook();
  if (body) LookSoon();
}

}  // namespace kgen::controller
