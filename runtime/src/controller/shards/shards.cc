// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The options and the handle of a member.
#include "kgen/controller/shards.h"

#include <algorithm>
#include <utility>

#include "controller/election/elector_state.h"
#include "controller/shards/member_state.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "net/duration_text.h"

namespace kgen {
namespace controller {
namespace {

constexpr std::size_t kLongestLabel = 63;  // the group's name is the value of a label

bool IsLowerAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Makes a text part of a DNS name.
std::string DnsPart(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!IsLowerAlphanumeric(c)) c = '-';
  }
  return text;
}

std::unexpected<Error> RefuseShards(std::string_view why) {
  return Fail(Error(Code::kInvalidArgument, why).With("shards"));
}

}  // namespace

Result<ShardOptions> MemberState::Complete(ShardOptions options, const client::Surroundings& around) {
  const bool named = !options.identity.empty();
  Result<LeaderElectionOptions> checked = ElectorState::Complete({.name = options.name,
                                                                  .namespace_ = options.namespace_,
                                                                  .identity = options.identity,
                                                                  .lease_duration = options.lease_duration,
                                                                  .renew_deadline = options.renew_deadline,
                                                                  .retry_period = options.retry_period},
                                                                 around);
  if (!checked) return Fail(checked.error().With("shards"));
  options.namespace_ = checked->namespace_;
  options.identity = named ? options.identity : DnsPart(checked->identity);
  if (options.name.size() > kLongestLabel) {
    return RefuseShards("the name " + options.name + " has more than 63 characters, the most that a label can have");
  }
  const auto dns = [](char c) { return IsLowerAlphanumeric(c) || c == '-' || c == '.'; };
  if (!std::ranges::all_of(options.name + options.identity, dns) || !IsLowerAlphanumeric(options.name.front()) ||
      !IsLowerAlphanumeric(options.name.back()) || !IsLowerAlphanumeric(options.identity.back()) ||
      options.name.size() + options.identity.size() > 252) {
    return RefuseShards("\"" + options.name + "-" + options.identity +
                        "\" cannot be the name of a Lease; use lower-case letters, digits, '-' and '.'");
  }
  if (options.drain_limit <= Nanos::zero()) {
    return RefuseShards("drain_limit is " + net::DurationText(options.drain_limit) + ", and must be positive");
  }
  return options;
}

}  // namespace controller

class ShardMember::Handle : public SharedObject {
 public:
  explicit Handle(Shared<controller::MemberState> member) : state(std::move(member)) {}
  const Shared<controller::MemberState> state;
};

ShardMember::ShardMember(Shared<Handle> handle) noexcept : handle_(std::move(handle)) {}

Result<ShardMember> ShardMember::New(const Connection& connection, ShardOptions options, Shared<ShardWork> work) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (!work) return controller::RefuseShards("`work` is null");
  Result<ShardOptions> complete =
      controller::MemberState::Complete(std::move(options), client::Surroundings::OfProcess());
  if (!complete) return Fail(std::move(complete).error());
  return ShardMember(
      MakeShared<Handle>(MakeShared<controller::MemberState>(connection, *std::move(complete), std::move(work))));
}

Result<void> ShardMember::Run(std::stop_token stop) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const Shared<controller::MemberState> state = handle_->state;
  return state->Run(stop);
}

ShardRanges ShardMember::ranges() const { return handle_->state->gate()->owned(); }
bool ShardMember::Owns(std::uint64_t hash) const noexcept {
  return !detail::ForkedChild() && handle_->state->gate()->Owns(hash);
}
Shared<SendGuard> ShardMember::guard(std::uint64_t hash) const {
  return MakeShared<controller::ShardGuard>(handle_->state->gate(), hash);
}
Nanos ShardMember::time_left() const noexcept { return handle_->state->gate()->time_left(); }
const Shared<controller::ShardGate>& ShardMember::gate() const noexcept { return handle_->state->gate(); }
const std::string& ShardMember::lease() const noexcept { return handle_->state->lease(); }
ShardStatus ShardMember::status() const { return handle_->state->status(); }

}  // namespace kgen
