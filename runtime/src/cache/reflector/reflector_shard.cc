// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the reflector of a shard holds, which may change at any time.
#include <utility>

#include "cache/reflector/reflector.h"
#include "cache/store/deliberate_bugs.h"

namespace kgen::cache {

// What leaves is queued first. A list that is under way may have such objects too, so it is dropped.
void Reflector::Hold(ShardRanges ranges, std::uint64_t number) {
  asked_ = number;
  const bool wider = settings_.shard_by && !ranges_.Contains(ranges);
  const bool narrower = settings_.shard_by && !ranges.Contains(ranges_);
  if (wider || narrower) SetRanges(std::move(ranges));
  list_due_ = !holds_nothing() && (list_due_ || wider);
  const std::uint64_t held = list_due_ && !Injected(Bug::kHeldBeforeTheList) ? 0 : number;  // or the list reaches it
  if (narrower) {
    fifo_.Leave(ranges_, held);
  } else if (held != 0) {
    fifo_.Held(held);
  }
  if ((narrower || held != 0) && hooks_.on_queued) hooks_.on_queued();
  if (wider || narrower) Follow();
}

void Reflector::ListAnew(std::uint64_t number) {
  asked_ = number;
  if (holds_nothing()) {
    fifo_.Held(number);
    if (hooks_.on_queued) hooks_.on_queued();
    return;
  }
  version_unusable_ = true;
  Relist();
}

void Reflector::Relist() {
  if (holds_nothing()) return;
  list_due_ = true;
  Follow();
}

void Reflector::SetRanges(ShardRanges ranges) {
  ranges_ = std::move(ranges);
  intake_.Hold(*settings_.shard_by, Injected(Bug::kTakesWhatHasLeft) ? ShardRanges::All() : ranges_);
  selector_ = holds_nothing() ? std::string() : Must(ranges_.Selector(*settings_.shard_by));
}

// Leaves the current state if it does not lead to what is held now. A delay stays: its cause has nothing to do with
// that.
void Reflector::Follow() {
  if (!started_ || std::holds_alternative<Stopped>(state_)) return;
  if (holds_nothing()) return HoldNothing();
  const bool lists = (std::holds_alternative<Listing>(state_) || std::holds_alternative<Streaming>(state_)) &&
                     !Injected(Bug::kGoesOnWithItsList);
  const bool watches = std::holds_alternative<Watching>(state_) && !Injected(Bug::kKeepsItsWatch);
  if (auto* waiting = std::get_if<Waiting>(&state_)) {
    if (list_due_ && waiting->next == &Reflector::SendWatch) waiting->next = &Reflector::StartRound;
  } else if (std::holds_alternative<Idle>(state_) || lists || (list_due_ && watches)) {
    Go(&Reflector::StartRound);
  }
}

void Reflector::HoldNothing() {
  if (std::holds_alternative<Idle>(state_)) return;
  Become(Idle());
  check_->Stop();
  resync_timer_.Cancel();
  failures_ = refusals_ = 0;
  last_error_.reset();
  current_as_of_.reset();
  Changed();
}

}  // namespace kgen::cache
