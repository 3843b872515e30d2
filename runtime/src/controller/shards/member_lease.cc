// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The own Lease of a member: renews it, and writes what the member acknowledges.
#include <algorithm>
#include <utility>

#include "controller/shards/deliberate_bugs.h"
#include "controller/shards/member_state.h"
#include "kgen/client/requests.h"
#include "kgen/codec/encode.h"
#include "net/duration_text.h"

namespace kgen::controller {

void MemberState::Send(const Connection& connection, Result<ApiRequest> request, Answer then) {
  if (!request) return PostStep([then, error = request.error()](MemberState& self) { (self.*then)(Fail(error)); });
  request->timeout = std::max<Nanos>(options_.renew_deadline / 2, std::chrono::seconds(1));
  request->unlimited = true;  // a busy process must not lose its Lease
  connection.CallAsync(*std::move(request), [self = Shared<MemberState>(this), then](Result<ApiResponse> response) {
    Body body = response ? Body(std::move(response->body)) : Fail(response.error());
    self->PostStep([then, body = std::move(body)](MemberState& member) { (member.*then)(body); });
  });
}

ShardAck MemberState::MakeAck() const {
  ShardAck ack{.lineage = lineage_,
               .epoch = epoch_,
               .by = options_.by,
               .joining = phase_ == Phase::kJoining,
               .leaving = phase_ == Phase::kLeaving,
               .working = sets_.working(),
               .draining = sets_.draining(),
               .unsure = sets_.unsure(),
               .versions = sets_.versions()};
  if (Injected(ShardBug::kAcksBeforeDrain)) ack.draining = {};
  return ack;
}

void MemberState::WriteIfChanged() {
  if (Live() && !writing_ && ToText(MakeAck()) != written_ack_) Write();
}

bool MemberState::IsOwn(const Lease& lease) const {
  return lease.spec->holderIdentity == name_ && (own_uid_.empty() || lease.metadata.uid == own_uid_);
}

void MemberState::Write() {
  if (writing_ || (!Live() && phase_ != Phase::kJoining)) return;
  renew_timer_.Cancel();
  Lease next;
  if (own_) next = *own_;
  next.metadata.name = name_;
  next.metadata.namespace_ = options_.namespace_;
  next.metadata.labels[kShardLabel] = options_.name;
  ShardAck ack = MakeAck();
  sent_ack_ = ToText(ack);
  if (options_.weights) {
    std::optional<std::vector<ShardWeight>> weights = options_.weights();
    ack.counting = !weights;
    if (weights) ack.weights = *std::move(weights);
  }
  next.metadata.annotations[kAckAnnotation] = ToText(ack);
  LeaseSpec& spec = *next.spec;
  spec.holderIdentity = name_;
  spec.leaseDurationSeconds =
      static_cast<std::int32_t>(std::chrono::ceil<std::chrono::seconds>(options_.lease_duration).count());
  spec.renewTime = clock_->WallNow();
  if (!own_) spec.acquireTime = spec.renewTime;
  sent_ = ShardTime(*clock_);
  writing_ = true;
  Send(connection_,
       own_ ? leases_.Update(options_.namespace_, name_, "", Encode(next), {})
            : leases_.Create(options_.namespace_, Encode(next), {}),
       &MemberState::OnWritten);
}

void MemberState::OnWritten(Body body) {
  writing_ = false;
  if (phase_ == Phase::kLeft) return DeleteOwn();
  if (!Live() && phase_ != Phase::kJoining) return;
  if (Live() && ShardTime(*clock_) >= until_) return OnDeadline();
  Result<Lease> lease = detail::DecodeBody<Lease>(body, "write lease " + full_name_);
  if (lease) {
    if (!IsOwn(*lease)) return Fence(Error(Code::kConflict, "the Lease " + full_name_ + " was replaced"));
    written_ack_ = sent_ack_;
    return TakeLease(*std::move(lease));
  }
  const Code code = lease.error().code();
  if (code == Code::kConflict || code == Code::kNotFound || code == Code::kAlreadyExists) {
    writing_ = true;
    return Send(connection_, leases_.Get(name_, "", {}), &MemberState::OnReadOwn);
  }
  Failed(lease.error());
  Renew();
}

// Somebody has changed the Lease, or an earlier write whose answer was lost.
void MemberState::OnReadOwn(Body body) {
  writing_ = false;
  if (phase_ == Phase::kLeft) return DeleteOwn();
  if (!Live() && phase_ != Phase::kJoining) return;
  if (Live() && ShardTime(*clock_) >= until_) return OnDeadline();
  Result<Lease> lease = detail::DecodeBody<Lease>(body, "read lease " + full_name_);
  if (lease) {
    if (!IsOwn(*lease)) {
      return Fence(Error(Code::kConflict, "the Lease " + full_name_ + " was replaced or taken by somebody else"));
    }
    own_ = *std::move(lease);
    return Write();
  }
  if (lease.error().code() == Code::kNotFound) {
    if (!own_uid_.empty()) return Fence(Error(Code::kConflict, "the Lease " + full_name_ + " was deleted"));
    own_.reset();
    return Write();
  }
  Failed(lease.error());
  Renew();
}

void MemberState::TakeLease(Lease lease) {
  own_ = std::move(lease);
  own_uid_ = std::as_const(*own_).metadata.uid.str();
  until_ = Later(sent_, options_.renew_deadline);
  const TimePoint now = ShardTime(*clock_);
  if (now >= until_) {
    return Fence(Error(Code::kTimeout, "the answer to a renewal of the Lease " + full_name_ +
                                           " took longer than the renew deadline, " +
                                           net::DurationText(options_.renew_deadline)));
  }
  gate_->Extend(until_);
  Recovered();
  deadline_timer_.After(until_ - now, TimerKind::kHousekeeping,
                        [self = Shared<MemberState>(this)] { self->Guarded([&] { self->OnDeadline(); }); });
  if (phase_ == Phase::kJoining) {
    SetPhase(Phase::kMember);
    LookSoon();
  }
  Renew();
  WriteIfChanged();
}

void MemberState::Renew() {
  const Nanos since = ShardTime(*clock_) - sent_;
  const Nanos delay = std::max(options_.retry_period - since, options_.retry_period / 8);
  renew_timer_.After(delay, TimerKind::kHousekeeping,
                     [self = Shared<MemberState>(this)] { self->Guarded([&] { self->Write(); }); });
}

void MemberState::OnDeadline() {
  if (!Live()) return;
  const TimePoint now = ShardTime(*clock_);
  if (now < until_) {
    return deadline_timer_.After(until_ - now, TimerKind::kHousekeeping,
                                 [self = Shared<MemberState>(this)] { self->Guarded([&] { self->OnDeadline(); }); });
  }
  std::string why =
      "no renewal of the Lease " + full_name_ + " succeeded within " + net::DurationText(options_.renew_deadline);
  {
    const MutexLock lock(mutex_);
    if (status_.last_error) why += "; the last failure: " + status_.last_error->ToString();
  }
  Fence(Error(Code::kTimeout, why));
}

// The map no longer has this member, or it has never joined.
void MemberState::DeleteOwn() {
  writing_ = true;
  Send(connection_, leases_.Delete(name_, {.uid = own_uid_}), &MemberState::OnDeletedOwn);
}

// Without an answer the Lease expires, and the assigner deletes it.
void MemberState::OnDeletedOwn(Body body) {
  writing_ = false;
  if (!body && body.error().code() != Code::kNotFound) Failed(body.error());
  End({});
}

}  // namespace kgen::controller
