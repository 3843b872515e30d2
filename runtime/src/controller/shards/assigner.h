// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Assigner: decides for the holder of the map which members are dead, and what the next map is. It is told what was
// read, and sends nothing itself.
//
// A member without the map may watch others too, so that it need not begin with that when it gets the map.
#ifndef KGEN_SRC_CONTROLLER_SHARDS_ASSIGNER_H_
#define KGEN_SRC_CONTROLLER_SHARDS_ASSIGNER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/shards/shard_map.h"
#include "kgen/core/clock.h"

namespace kgen::controller {

// The Lease of a member as a list shows it.
struct SeenMember {
  std::string name{};
  std::string uid{};
  std::string version{};  // metadata.resourceVersion
  Nanos duration{};       // of the Lease; zero: it has none
  std::optional<ShardAck> ack{};
};
// Reads the answer of a list of Leases. Those without a name or holder are left out. Errors: kDecode.
Result<std::vector<SeenMember>> ReadMembers(std::string_view list);
// Whether the server says that it has honoured the `shardSelector` of that list.
bool HasShardInfo(std::string_view list);

// The Lease with the map, as it was read before the list.
struct SeenMap {
  std::string uid{};
  std::string version{};
  std::optional<ShardMap> map{};  // nothing: there is none, or it cannot be read
};

// Thread safety: one thread at a time. Times are of Clock::NowWithSuspend().
class Assigner {
 public:
  struct Options {
    Nanos lease_duration{};
    Nanos retry_period{};
    ShardBy by = ShardBy::kNamespace;
  };
  explicit Assigner(Options options) : options_(options) {}

  // This process got the map. It forgets what it knows about the map, and which members had no Lease.
  void BeginTerm();
  // Remembers the Lease of one member, `now` being after the answer that shows it came.
  void Watch(const SeenMember& member, TimePoint now);
  // Remembers what a list has shown, of all members. The map was read before.
  void See(const SeenMap& map, const std::vector<SeenMember>& members, TimePoint now);
  // The members whose Leases were not renewed for their duration: to be deleted, if they are still the same.
  std::vector<SeenMember> Expired() const;
  // Whether the next map is the first one, and no member has said what it could be divided by. Call it after See().
  bool NeedsSurvey() const;
  // What was counted before anybody worked.
  void Survey(const std::vector<ShardWeight>& weights, TimePoint now);
  // The next map, if it must change. Call it after See().
  std::optional<ShardMap> Next(TimePoint now);
  // Whether something is going on, so that a look is worth while soon.
  bool busy() const noexcept { return busy_; }

 private:
  struct Watched {
    std::string uid{}, version{};
    TimePoint changed{};  // when this version was first seen
    Nanos duration{};
    bool expired = false;  // it was not renewed for its duration
    bool present = false;  // in the last list
    TimePoint gone{};      // when it was first missing
  };
  void Note(const SeenMember& member, Watched& seen, TimePoint now) const;
  void NoteLoads(TimePoint now);
  bool Suspects(TimePoint now) const;  // somebody has not renewed its Lease for longer than usual
  bool Present(const std::string& name) const;
  bool Expired(const std::string& name) const;
  bool Gone(const std::string& name, TimePoint now) const;  // it writes nothing any more
  bool Left(const std::string& name) const;
  bool MayJoin(const std::string& name) const;
  const ShardAck* Ack(const std::string& name) const;
  bool Works(const MapRange& range) const;  // its owner has started it
  std::optional<ShardMap> Base(TimePoint now) const;
  std::vector<MapRange> HeldRanges() const;
  void TakeOver(ShardMap& next, const ShardMap& base, bool somebody_died) const;
  bool Settled(const ShardMap& map) const;
  std::vector<ShardWeight> Weights() const;

  const Options options_;
  std::map<std::string, Watched> watched_{};
  std::map<std::string, SeenMember> members_{};  // of the last list
  SeenMap map_{};
  TimePoint without_map_since_{};  // of that Lease
  // The load of each hash, as a member or a survey has last said, and when. It outlives the member that has said it,
  // because whoever owns the hash next has to count first.
  struct Load {
    double load = 0;
    TimePoint said{};
  };
  std::map<std::uint64_t, Load> loads_{};
  bool busy_ = true;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SHARDS_ASSIGNER_H_
