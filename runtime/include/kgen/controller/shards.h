// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardMember: divides work between several processes. The work has keys (namespaces or UIDs), each key has a hash, and
// each range of hashes belongs to one process at a time. Processes that come, leave or fail hand ranges over.
//
//   struct MyWork : kgen::ShardWork { ... };                   // fills caches, starts and stops the work on ranges
//   auto member = kgen::Must(kgen::ShardMember::New(connection, {.name = "orders", .namespace_ = "shop"},
//                                                   kgen::MakeShared<MyWork>()));
//   ... in the work, for an object whose key has the hash `hash`:
//   acme::Clientset guarded(connection.With(member.guard(hash)));   // its writes are sent only while the hash is owned
//   ... in main:
//   kgen::Result<void> ended = member.Run(stop);               // joins, works until `stop`, leaves in order
//
// All members together guarantee this: if the clock rates of all processes differ by less than lease_duration /
// renew_deadline (1.5 with the defaults) and all writes for a hash go through its guard(), then no process sends a
// write for a hash after another one was told to start work on it. A write that has been sent may take effect later;
// time_left() bounds that. Two calls of the work at once cannot be excluded, because a process that was stopped goes on
// where it was; only its writes are fenced. docs/shards.md has the protocol, its bounds and what it needs.
#ifndef KGEN_CONTROLLER_SHARDS_H_
#define KGEN_CONTROLLER_SHARDS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/core/clock.h"
#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/net/transport.h"

namespace kgen {

// Resource versions by resource ("pods", "orders.shop.example.com"): the state that a cache must have reached.
using ShardVersions = std::map<std::string, std::string>;

// The load of one hash, in any unit that all members share: objects, or calls per second.
struct ShardWeight {
  std::uint64_t hash = 0;
  double load = 0;  // in the unit of the other weights
};

// How work on ranges begins.
struct ShardStart {
  // What earlier owners have written and read, at least. The work must not act on a cache that is older: it would miss
  // their last writes.
  ShardVersions versions{};
  // Whether an earlier owner ended without saying what it has written. Then only a consistent list (without a resource
  // version) that begins after the call of Start() shows its last writes.
  bool list_anew = false;
  // Greater than at every earlier start, by any member, of one of these hashes: what other systems need to refuse
  // whoever worked on them before (a fencing token). It is a resource version of the Lease with the map.
  std::uint64_t fence = 0;
};

// What a member works on. Implemented by its user.
//
// Thread safety: calls come through Executor::Blocking, and may block. Those for disjoint ranges may come at once, on
// several threads; those for a range come one after the other: Prepare, Start, Drain, and again Prepare; or Prepare,
// Drain. What they throw counts as an error.
class ShardWork : public SharedObject {
 public:
  // Returns the load of all hashes, before any member works: what the first map is divided by. Called on one member,
  // before Prepare(), when no member has said anything through ShardOptions::weights. May take long; after four lease
  // durations the map is made without, and `stop` is requested, as it is when the member ends. An error is reported,
  // and means the same as nothing. Default: nothing; then the first ranges are equal parts of all hashes, and since
  // similar names have similar hashes, one member may get nearly everything until the members know their load.
  virtual Result<std::vector<ShardWeight>> Survey(const std::stop_token& /*stop*/) {
    return std::vector<ShardWeight>();
  }
  // The ranges were assigned to this member, and others may still work on them: fills caches, so that Start() takes no
  // time. May take long. `stop` is requested if one of the ranges goes elsewhere, and when the member ends. An error is
  // reported, and the call made again after ShardOptions::retry_period.
  virtual Result<void> Prepare(const ShardRanges& ranges, const std::stop_token& stop) = 0;
  // The ranges are this member's alone from now on: starts the work on them. Should not take long, because they cannot
  // be drained before it has returned.
  virtual void Start(const ShardRanges& ranges, const ShardStart& from) = 0;
  // The ranges go elsewhere: starts no more work on them, waits for the calls under way, and may drop what it knows
  // about them. Returns what the work has written and read, for the next owner; nothing if that is unknown, for example
  // because a write has timed out. After ShardOptions::drain_limit the guards refuse writes for these ranges, and
  // another renew_deadline later the next owner no longer waits for this call. The result for ranges that were prepared
  // and not started is not used.
  virtual std::optional<ShardVersions> Drain(const ShardRanges& ranges) = 0;
};

// Options of the shards of a manager.
struct ShardOptions {
  std::string name{};        // of the Lease with the map of all shards, and of all members; required
  std::string namespace_{};  // of the Leases, must exist; "": the namespace of the pod's service account
  // The end of the name of this member's Lease, NAME-IDENTITY. No two members may ever have the same one, also not
  // after a restart. Default: the host name and a random number.
  std::string identity{};
  // What the keys are. Default: namespaces. All members must have the same, so it changes only after all have stopped.
  ShardBy by = ShardBy::kNamespace;
  // How long others wait for a member that is not heard of. Default: 15 s. Leases contain it in whole seconds, rounded
  // up. All members should have the same.
  Nanos lease_duration = std::chrono::seconds(15);
  // How long after its last successful renewal a member's guards refuse. Default: 10 s. Must be shorter than
  // lease_duration; the ratio of the two is how much clock rates may differ.
  Nanos renew_deadline = std::chrono::seconds(10);
  // The time between renewals, and between looks at the map. Default: 2 s. During a hand-over the looks come four times
  // as often.
  Nanos retry_period = std::chrono::seconds(2);
  // How long calls under way may write for a range that goes elsewhere. Default: 30 s.
  Nanos drain_limit = std::chrono::seconds(30);
  // Returns the load of hashes that this member knows of, its own or all: what the ranges are balanced by. Only the
  // 256 largest are used. Returns nothing while they are being counted, for example after the ranges of this member
  // have changed: meanwhile nothing moves for balance alone. Called on a strand before each renewal, so it must be
  // short and must not block. Default: none; if no member has it, all hashes count alike.
  Function<std::optional<std::vector<ShardWeight>>()> weights{};
};

// For a page about the process.
struct ShardStatus {
  std::string lease{};                 // "shop/orders-web-0-1f3c..."
  bool assigner = false;               // whether this member makes the map
  std::uint64_t epoch = 0;             // of the map that this member follows; 0: none yet
  std::vector<std::string> members{};  // the names of their Leases, in that map, oldest first
  ShardRanges working{};               // started, and not draining
  ShardRanges draining{};              // go elsewhere, and calls may be under way
  ShardRanges waiting{};               // assigned, and not started
  struct Wait {
    std::string member{};  // has not given up ranges of `waiting`
    Nanos since{};         // so long ago this member began to wait for it
  };
  std::vector<Wait> waits{};
  std::optional<Error> last_error{};  // since the last success
  // Whether the server sends a list or watch with a `shardSelector` only what that selects, as it has said in its
  // answer to a list of the Leases. If not, each process receives all objects and skips what others hold. Absent: not
  // asked yet. Servers behind one address may differ.
  std::optional<bool> server_filters{};
};

namespace controller {
class MemberState;
class ShardGate;
}  // namespace controller

// A member of a group that divides work, for one run. It is a handle.
//
// Its requests do not wait for the limits of the connection (Config::qps), so that a busy process does not lose its
// Lease. It needs the verbs get, list, create, update and delete on leases in its namespace.
//
// Reports to the connection's observer (OnLogged, source "shards NAMESPACE/NAME") when ranges start or go elsewhere,
// when a request or Prepare() fails (each code once, and again every minute), and when a member is fenced.
//
// Thread safety: all members from any thread.
class ShardMember {
 public:
  // Reads the namespace of the service account if the options name none. Sends nothing.
  // Errors: kInvalidArgument  as LeaderElector::New(); a drain_limit that is not positive; an identity that cannot be
  //                           part of the name of a Lease; `work` is null
  static Result<ShardMember> New(const Connection& connection, ShardOptions options, Shared<ShardWork> work);

  // Joins, works, and blocks until the member has ended: all calls of the work have returned then, and its ranges were
  // drained. When `stop` is requested, the member hands its ranges over and leaves, which takes as long as draining and
  // some retry periods; without a server, until the renew deadline. All failures of requests are retried.
  // Errors: kTimeout          no renewal succeeded within the renew deadline; the message has the last failure
  //         kConflict         the member's Lease was deleted, taken or replaced, or the map has gone back to an earlier
  //                           epoch: another process may own its ranges. A new member may run in this process.
  //         kInvalidArgument  called a second time, on a thread that must not block, or the other members have another
  //                           ShardOptions::by
  [[nodiscard]] Result<void> Run(std::stop_token stop = {}) const;

  // The ranges that work was started on and that do not go elsewhere; nothing when the member has ended.
  ShardRanges ranges() const;
  // Whether ranges() contains the hash and the renew deadline has not passed: whether a call for it may begin.
  bool Owns(std::uint64_t hash) const noexcept;
  // Returns a guard for Connection::With(). It refuses, with kCancelled, unless the hash belongs to this member (ranges
  // that are draining still do) and the renew deadline has not passed. Writes that it lets pass take no longer than
  // time_left(), whatever their own timeout is. It may outlive the member; then it refuses.
  Shared<SendGuard> guard(std::uint64_t hash) const;
  // How long the guards let writes pass without another renewal; zero: not at all. Guarded writes carry this as their
  // `timeout`, so that they end before another process can own their hash, but for the time that the answer takes.
  Nanos time_left() const noexcept;

  const std::string& lease() const noexcept;  // "shop/orders-web-0-1f3c..."
  ShardStatus status() const;

  const Shared<controller::ShardGate>& gate() const noexcept;  // inside of the library

 private:
  class Handle;
  explicit ShardMember(Shared<Handle> handle) noexcept;
  Shared<Handle> handle_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_SHARDS_H_
