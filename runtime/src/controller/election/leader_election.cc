// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/leader_election.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>
#include <ranges>
#include <string_view>
#include <utility>

#include "controller/election/elector_state.h"
#include "core/dns_names.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "net/duration_text.h"

namespace kgen {
namespace controller {
namespace {

std::unexpected<Error> Refuse(std::string_view why) {
  return Fail(Error(Code::kInvalidArgument, why).With("leader election"));
}

std::string RandomIdentity(char separator) {
  char text[256 + 1] = {};
  std::string identity = gethostname(text, sizeof text - 1) == 0 ? text : "unknown";
  std::random_device device;
  for (int i = 0; i < 4; ++i) {
    std::snprintf(text, sizeof text, "%c%08x", i == 0 ? separator : '-', static_cast<unsigned>(device()));
    identity += text;
  }
  return identity;
}

Result<void> CheckDurations(const LeaderElectionOptions& options) {
  const Nanos lease = options.lease_duration, renew = options.renew_deadline, retry = options.retry_period;
  const auto text = [](Nanos duration) { return net::DurationText(duration); };
  for (const auto& [name, value] :
       {std::pair("lease_duration", lease), std::pair("renew_deadline", renew), std::pair("retry_period", retry)}) {
    if (value <= Nanos::zero()) return Refuse(std::string(name) + " is " + text(value) + ", and must be positive");
  }
  if (lease > std::chrono::seconds(std::numeric_limits<std::int32_t>::max())) {
    return Refuse("lease_duration has more seconds than the lease can contain");
  }
  if (lease <= renew) {
    return Refuse("lease_duration is " + text(lease) + ", and must be longer than renew_deadline, " + text(renew));
  }
  if (static_cast<double>(renew.count()) <= 1.2 * static_cast<double>(retry.count())) {
    return Refuse("renew_deadline is " + text(renew) + ", and must be longer than 1.2 times retry_period, " +
                  text(retry));
  }
  return {};
}

// Three numbers, and whatever follows a '-' or '+', which the server checks.
bool IsVersion(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of("-+"), text.size());
  int numbers = 0;
  for (const auto part : std::views::split(text.substr(0, end), '.')) {
    const std::string_view digits(part.begin(), part.end());
    if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) return false;
    ++numbers;
  }
  return numbers == 3;
}

// The server would refuse each LeaseCandidate, long after the start.
Result<void> CheckCoordinated(const std::string& identity, const CoordinatedElection& versions) {
  if (!detail::IsDnsSubdomain(identity)) {
    return Refuse(
        "the identity is '" + identity +
        "', but in a coordinated election it is the name of a LeaseCandidate: a DNS subdomain of lower-case " +
        "letters, digits, '-' and '.'");
  }
  for (const auto& [name, version] : {std::pair("binary_version", &versions.binary_version),
                                      std::pair("emulation_version", &versions.emulation_version)}) {
    if (IsVersion(*version)) continue;
    return Refuse("coordinated." + std::string(name) + " is '" + *version + "', and must be a version such as 1.4.0");
  }
  return {};
}

}  // namespace

Result<LeaderElectionOptions> ElectorState::Complete(LeaderElectionOptions options,
                                                     const client::Surroundings& around) {
  if (options.name.empty()) return Refuse("the name of the lease is empty");
  if (Result<void> durations = CheckDurations(options); !durations) return Fail(durations.error());
  if (options.namespace_.empty()) {
    const Result<rest::Config> in_cluster = client::InClusterConfig(around);
    if (in_cluster) options.namespace_ = in_cluster->namespace_;
    if (options.namespace_.empty()) {
      return Refuse("the options name no namespace of the lease, and there is none of a service account" +
                    (in_cluster ? std::string() : ": " + in_cluster.error().message()));
    }
  }
  if (options.identity.empty()) options.identity = RandomIdentity(options.coordinated ? '-' : '_');
  if (options.coordinated) {
    CoordinatedElection& versions = *options.coordinated;
    if (versions.emulation_version.empty()) versions.emulation_version = versions.binary_version;
    if (Result<void> valid = CheckCoordinated(options.identity, versions); !valid) return Fail(valid.error());
  }
  return options;
}

}  // namespace controller

// Shared by all copies of the elector. Timers and requests hold only the state.
class LeaderElector::Handle : public SharedObject {
 public:
  explicit Handle(Shared<controller::ElectorState> elector) : state(std::move(elector)) {}
  ~Handle() override { state->Stop(); }
  const Shared<controller::ElectorState> state;
};

LeaderElector::LeaderElector(Shared<Handle> handle) noexcept : handle_(std::move(handle)) {}

Result<LeaderElector> LeaderElector::NewForShards(const Connection& connection, LeaderElectionOptions options) {
  Result<LeaderElector> made = New(connection, std::move(options));
  if (made) made->handle_->state->MakesMap();
  return made;
}

Result<LeaderElector> LeaderElector::New(const Connection& connection, LeaderElectionOptions options) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  Result<LeaderElectionOptions> complete =
      controller::ElectorState::Complete(std::move(options), client::Surroundings::OfProcess());
  if (!complete) return Fail(std::move(complete).error());
  // Checks that the names can be part of a path.
  const RawResource leases(connection, *controller::Lease::kTable.kind, complete->namespace_);
  if (const Result<ApiRequest> request = leases.Get(complete->name, "", {}); !request) {
    return Fail(request.error().With("leader election"));
  }
  return LeaderElector(MakeShared<Handle>(MakeShared<controller::ElectorState>(connection, *std::move(complete))));
}

// A blocked call holds the state, because the handle may be destroyed meanwhile. That stops the elector, and the call
// returns.

Result<void> LeaderElector::Acquire(std::stop_token stop) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const Shared<controller::ElectorState> state = handle_->state;
  return state->Acquire(stop);
}

Result<void> LeaderElector::WaitUntilLost(std::stop_token stop) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const Shared<controller::ElectorState> state = handle_->state;
  return state->WaitUntilLost(stop);
}

void LeaderElector::Abandon() const {
  if (!detail::ForkedChild()) handle_->state->Stop();
}
Result<void> LeaderElector::Release(Nanos limit) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (limit < Nanos::zero()) {
    return Fail(Code::kInvalidArgument,
                "release the lease: `limit` is " + net::DurationText(limit) + ", but it must not be negative");
  }
  const Shared<controller::ElectorState> state = handle_->state;
  return state->Release(limit);
}

const Shared<controller::ElectorState>& LeaderElector::state() const noexcept { return handle_->state; }
Shared<SendGuard> LeaderElector::guard() const { return handle_->state->guard(); }
bool LeaderElector::IsLeader() const noexcept { return !detail::ForkedChild() && handle_->state->guard()->Leads(); }
std::string LeaderElector::leader() const {
  if (detail::ForkedChild()) return {};
  return handle_->state->leader();
}
MicroTime LeaderElector::acquired() const {
  if (detail::ForkedChild()) return {};
  return handle_->state->acquired();
}
std::optional<Error> LeaderElector::failure() const {
  if (detail::ForkedChild()) return detail::ForkedError();
  return handle_->state->failure();
}
const std::string& LeaderElector::identity() const noexcept { return handle_->state->identity(); }
const std::string& LeaderElector::lease() const noexcept { return handle_->state->lease(); }
std::uint64_t LeaderElector::slow_paths() const noexcept { return handle_->state->slow_paths(); }

}  // namespace kgen
