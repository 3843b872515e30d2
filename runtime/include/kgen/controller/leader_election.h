// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LeaderElector: lets only one of several processes work, the holder of a Lease (coordination.k8s.io/v1), as in
// client-go.
//
//   auto elector = kgen::Must(kgen::LeaderElector::New(connection, {.name = "shop-controller", .namespace_ = "shop"}));
//   kgen::Must(elector.Acquire(stop));                        // blocks until this process leads
//   acme::Clientset guarded(connection.With(elector.guard()));  // its writes are sent only while this process leads
//   ... start the work ...
//   auto lost = elector.WaitUntilLost(stop);                  // success: a stop was requested
//   ... stop the work, and wait until it has ended ...
//   if (work_has_ended) (void)elector.Release();              // the next one need not wait for the Lease to expire
//   if (!lost) return lost;                                   // the process should exit
//
// The elector guarantees this: if the clock rates of all processes differ by less than lease_duration / renew_deadline
// (1.5 with the defaults) and all writes of the work go through guard(), then no process starts a write after another
// one has become the leader. The holder counts its deadline from before its last successful renewal was sent, and the
// others count the duration of the Lease from after they have seen that renewal. Both use a clock that goes on while
// the machine is suspended, and neither reads the other's time stamps.
//
// The elector cannot guarantee more: a write that has been sent may take effect later, after another process has become
// the leader. Updates should therefore contain a resourceVersion. Nor does any of this hold if the Lease is deleted or
// edited by somebody else, or if two processes have the same identity.
#ifndef KGEN_CONTROLLER_LEADER_ELECTION_H_
#define KGEN_CONTROLLER_LEADER_ELECTION_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/time.h"
#include "kgen/net/transport.h"

namespace kgen {

namespace controller {
class ElectorState;
class ManagerState;
class MemberState;
}  // namespace controller

// For LeaderElectionOptions::coordinated: what the control plane compares. Both are versions such as "1.4.0".
struct CoordinatedElection {
  std::string binary_version{};     // of this program; required
  std::string emulation_version{};  // which version it behaves like. Default: its binary version.
};

// Options of a leader election.
struct LeaderElectionOptions {
  std::string name{};        // of the Lease; required
  std::string namespace_{};  // of the Lease, must exist; "": the namespace of the pod's service account
  std::string identity{};    // must differ between processes; "": the host name, "_" and a random number
  // How long other processes wait after the last renewal that they have seen. Default: 15 s. The Lease contains it
  // in whole seconds, rounded up.
  Nanos lease_duration = std::chrono::seconds(15);
  // How long after its last successful renewal the leader stops leading. Default: 10 s. It must be shorter than
  // lease_duration; the ratio of the two is how much clock rates may differ.
  Nanos renew_deadline = std::chrono::seconds(10);
  // The time between renewals. Default: 2 s. Other processes read the Lease after 1 to 2.2 times as long.
  Nanos retry_period = std::chrono::seconds(2);
  // Whether Release() clears the holder of the Lease. Default: true. If false, it only stops renewing.
  bool release = true;
  std::vector<std::pair<std::string, std::string>> labels{};  // set on the Lease, beside those that it has
  // Default: absent, and processes compete. Otherwise the control plane chooses the leader (KEP-4355; gate
  // CoordinatedLeaderElection, off by default): the candidate with the oldest emulation version, so that a rolling
  // update does not hand the Lease to a new version while an old one may get it back. This process then keeps a
  // LeaseCandidate of the name `identity`, which must be a DNS subdomain, never takes the Lease by itself, and ends its
  // work when the control plane prefers another one. A server without LeaseCandidates is asked again every minute, and
  // meanwhile processes compete as without this option. The control plane compares time stamps with its own clock, so
  // what is said above about clock rates holds only as far as the clocks agree.
  std::optional<CoordinatedElection> coordinated{};
};

// A candidate, which can lead once. It is a handle; when the last copy is destroyed, renewing stops, and the Lease
// expires.
//
// Its requests do not wait for the limits of the connection (Config::qps), so that a busy controller does not lose its
// Lease. A request fails with kTimeout after half the renew deadline, but not before a second.
//
// A Lease that has a map of shards (kgen/controller/shards.h) with members is not acquired, whether it has a holder or
// not: the members work. So a group of shards whose Lease has the name of an earlier election replaces that, and the
// other way round, without two at work at a time.
//
// Reports to the connection's observer (OnLeadershipChanged) when it starts or stops leading, when another process
// leads, when acquiring or renewing fails (immediately if the error code has changed, otherwise once a minute), and
// when it succeeds again. It retries all failures. A Lease that somebody deletes while it leads is made again, as in
// client-go; whoever makes it first leads.
//
// Thread safety: all members from any thread.
class LeaderElector {
 public:
  // Reads the namespace of the service account if the options name none. Sends nothing.
  // Errors: kInvalidArgument  a name or namespace that is missing or cannot be part of a path; a duration that is not
  //                           positive; lease_duration <= renew_deadline; renew_deadline <= 1.2 * retry_period; no
  //                           namespace outside a cluster
  static Result<LeaderElector> New(const Connection& connection, LeaderElectionOptions options);

  // Blocks until this process leads, which may take forever: missing rights and a missing namespace are reported to the
  // observer, and retried. Renews the Lease from then on, without a thread of its own.
  // Errors: kInvalidArgument  called a second time, or on a thread that must not block
  //         kCancelled        `stop` was requested, or Release() called. A request under way is cancelled, but it
  //                           may still take effect: then the Lease is held until it expires, or until Release().
  [[nodiscard]] Result<void> Acquire(std::stop_token stop = {}) const;

  // Blocks until this process no longer leads. Success means that `stop` was requested, or Release() called; then
  // renewing goes on until Release(). Errors say how leadership was lost:
  //         kTimeout          no renewal succeeded within the renew deadline; the message has the last failure
  //         kConflict         the Lease has another holder, or none; or the control plane prefers another candidate
  //         kInvalidArgument  Acquire() has not succeeded, or a thread that must not block
  [[nodiscard]] Result<void> WaitUntilLost(std::stop_token stop = {}) const;

  // Stops leading: from now on the guard refuses, and nothing is renewed. Then, unless options.release is false, clears
  // the holder if that is this process, so that another one can take the Lease at once. Call it only after all work has
  // ended; if some has not, call Abandon() instead. Blocks for `limit` at most, without end if it is kNoLimit.
  // Does nothing when called again.
  // Errors: the errors of the requests (the Lease then expires by itself), kTimeout, kInvalidArgument (a negative
  // limit, or a thread that must not block).
  [[nodiscard]] Result<void> Release(Nanos limit = std::chrono::seconds(10)) const;

  // Stops leading as Release() does, but lets the Lease expire, because the work has not ended. Never blocks.
  void Abandon() const;

  // Returns a guard for Connection::With(). It refuses, with kCancelled, unless this process leads and the renew
  // deadline has not passed. It may outlive the elector; then it refuses.
  Shared<SendGuard> guard() const;

  bool IsLeader() const noexcept;  // as the guard
  std::string leader() const;      // the holder that was last seen; "": none
  MicroTime acquired() const;      // when it has acquired the Lease, by its own clock; empty if there is none
  // Returns why the last attempt to acquire or renew the Lease failed; nothing if it succeeded, or if another process
  // holds the Lease.
  std::optional<Error> failure() const;
  const std::string& identity() const noexcept;
  const std::string& lease() const noexcept;  // "shop/shop-controller"
  // Returns how often the leader had to read the Lease because somebody else had changed it.
  std::uint64_t slow_paths() const noexcept;

 private:
  friend class controller::ManagerState;
  friend class controller::MemberState;
  class Handle;
  // For a member of shards, which makes the map.
  static Result<LeaderElector> NewForShards(const Connection& connection, LeaderElectionOptions options);
  const Shared<controller::ElectorState>& state() const noexcept;
  explicit LeaderElector(Shared<Handle> handle) noexcept;
  Shared<Handle> handle_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_LEADER_ELECTION_H_
