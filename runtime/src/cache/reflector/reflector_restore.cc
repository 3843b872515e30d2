// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reflector's warm start: it reads the saved cache, asks which cluster this is, and decides whether to resume the
// watch or to list.
#include <algorithm>
#include <utility>

#include "cache/reflector/reflector.h"
#include "cache/store/deliberate_bugs.h"
#include "kgen/codec/decode.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/unstructured.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

// A saved state that is older is not resumed: servers keep the events of a few minutes, and a wall clock that is wrong
// by more than a little says nothing about the age.
constexpr Nanos kOldestToResume = 10min;
constexpr Nanos kLargestClockError = 1min;
constexpr int kMostQuestions = 4;
// Decoding an object costs as much as applying four objects of a list.
constexpr std::size_t kUnitsPerDecode = 4;
constexpr std::size_t kLargestAnswer = std::size_t{1} << 20;

bool IsRecent(const SavedState& state, Clock& clock) noexcept {
  const Nanos age = clock.WallNow().time_since_epoch() - Nanos(state.saved_at);
  return age <= kOldestToResume && age >= -kLargestClockError;
}

bool IsWorthAskingAgain(const Error& error) {
  if (error.status() == nullptr) return error.code() == Code::kTimeout || IsNoConnection(error);
  return error.code() == Code::kTooManyRequests || error.status()->code.value_or(0) >= 500;
}

}  // namespace

void Reflector::Restore() {
  Become(Restoring());
  const Shared<Reflector> self(this);
  SavedCache::Reading reading{
      .table = intake_.table(), .options = intake_.decode_options(), .on_batch = {}, .on_end = {}};
  reading.on_batch = [self](SavedBatch batch) {
    if (auto* state = std::get_if<Restoring>(&self->state_)) state->batches.push_back(std::move(batch));
    self->RestoreLater();
  };
  reading.on_end = [self](Result<SavedState> end) {
    if (auto* state = std::get_if<Restoring>(&self->state_)) state->end = std::move(end);
    self->RestoreLater();
  };
  saved_->Read(std::move(reading));
  Changed();
}

// Each step is a separate task, so that none delays the strand.
void Reflector::RestoreLater() {
  auto* state = std::get_if<Restoring>(&state_);
  if (state == nullptr || std::exchange(state->scheduled, true)) return;
  executor_->Post(strand_, [self = Shared<Reflector>(this)] { self->RestoreSome(); });
}

void Reflector::RestoreSome() {
  auto* state = std::get_if<Restoring>(&state_);
  if (state == nullptr) return;
  state->scheduled = false;
  if (state->committing) {
    ApplyGroup(*state);
  } else if (!state->batches.empty()) {
    if (const Result<void> decoded = DecodeSome(*state); !decoded) {
      saved_->EndReading();
      return Restored(Fail(decoded.error().With("the saved cache " + saved_->Path() + " is not used")));
    }
  } else if (state->end) {
    return Restored(*std::move(state->end));
  } else {
    return;
  }
  RestoreLater();
}

// Decodes a part of the first batch, which may have hundreds of small objects. The base needs no commit before it is
// taken, because without one the whole file is refused.
Result<void> Reflector::DecodeSome(Restoring& state) {
  SavedBatch& batch = state.batches.front();
  std::size_t units = 0;
  while (state.taken_items < batch.items.size() && units < settings_.objects_per_task) {
    SavedItem& item = batch.items[state.taken_items++];
    units += item.bytes.empty() || item.object ? 1 : kUnitsPerDecode;
    if (auto taken = TakeSaved(state, item); !taken) return taken;
  }
  if (state.taken_items < batch.items.size()) return {};
  if (batch.committed) state.committing = std::exchange(state.has_base, true);
  saved_->Taken(std::move(batch.text));
  state.batches.pop_front();
  state.taken_items = 0;
  return {};
}

Result<void> Reflector::TakeSaved(Restoring& state, SavedItem& item) {
  if (!item.bytes.empty()) {
    if (!item.object) {
      Result<AnyRef> decoded = intake_.TakeSaved(item.bytes, item.encoding);
      if (!decoded) return Fail(std::move(decoded).error());
      item.object = *std::move(decoded);
    }
    item.key = {item.object.metadata()->namespace_, item.object.metadata()->name};
  }
  if (state.has_base) {
    state.group.Append({std::move(item.key), std::move(item.object)});
  } else if (item.object) {
    state.items.Upsert(std::move(item.key), std::move(item.object));
  }
  return {};
}

void Reflector::ApplyGroup(Restoring& state) {
  const std::size_t end = std::min(state.group.slots(), state.applied + settings_.objects_per_task);
  for (; state.applied < end; ++state.applied) {
    ListedObject& item = state.group[state.applied];
    if (item.object) {
      state.items.Upsert(std::move(item.key), std::move(item.object));
    } else {
      state.items.Remove(item.key);
    }
  }
  if (state.applied < state.group.slots()) return;
  Discard(state.group);
  state.group = {};
  state.applied = 0;
  state.committing = false;
}

// The restored state is queued at once. What follows depends on the cluster.
void Reflector::Restored(Result<SavedState> end) {
  if (!end) {
    saved_->ReportRefused(end.error());
  } else {
    first_list_ = false;
    stale_ = true;
    resumable_ = end->resumable && !settings_.first_list_newest && IsRecent(*end, *executor_->clock());
    version_ = end->version;
    cluster_ = end->cluster;
    fifo_.ReplaceSaved(std::move(std::get<Restoring>(state_).items), version_, cluster_);
    if (hooks_.on_queued) hooks_.on_queued();
  }
  Go(&Reflector::StartRound);
}

// ------------------------------------------------------------------------------------------------- the cluster

void Reflector::SendQuestion(Turn turn) {
  Asking& state = Become(Asking{.request = Request(std::move(turn)), .body = {}});
  ArmDeadline(kListDeadline, TimerKind::kProgress);
  const auto stream = MakeShared<Stream>(Shared<Reflector>(this));
  Shared<StreamCall> call = source_->Cluster(strand_, stream);
  if (!call) return ClusterIs(std::move(state.request.turn()), "");
  state.request.Sent(stream, std::move(call));
  Changed();
}

void Reflector::OnAnswerBytes(Asking& state, std::string_view bytes) {
  if (state.body.size() + bytes.size() > kLargestAnswer) {
    return QuestionFailed(std::move(state.request.turn()),
                          Error(Code::kDecode, "the namespace kube-system is larger than a mebibyte"));
  }
  state.body += bytes;
}

void Reflector::OnAnswer(Asking& state, const Result<void>& end) {
  Turn turn = std::move(state.request.turn());
  if (end) {
    const Result<PartialObjectMetadata> kube_system = kgen::Decode<PartialObjectMetadata>(state.body);
    if (!kube_system) return QuestionFailed(std::move(turn), kube_system.error());
    return ClusterIs(std::move(turn), kube_system->metadata.uid.str());
  }
  const Error& error = end.error();
  if (!IsNoConnection(error)) {
    if (error.status() != nullptr) turn.Refused();
    return QuestionFailed(std::move(turn), error);
  }
  if (state.answered) {
    turn.Lost();
    return QuestionFailed({}, error);
  }
  turn.NoConnection(error);
  Park(false, error, &Reflector::SendQuestion);
}

// Whoever may not read the namespace lists, as if the cluster were another one.
void Reflector::QuestionFailed(Turn turn, const Error& error) {
  if (!IsWorthAskingAgain(error)) return ClusterIs(std::move(turn), "");
  const Error asking = error.With("failed to ask which cluster this is, for the saved cache of " + name_);
  CountFailure(asking);
  const bool last = ++questions_ >= kMostQuestions;
  const Nanos delay = last ? Nanos(0) : DelayAfter(error);
  Report(false, asking, delay);
  if (last) return ClusterIs(std::move(turn), "");
  Wait(delay, &Reflector::SendQuestion, false);
}

// Equal versions of another cluster do not mean equal objects, and its versions are no bounds.
void Reflector::ClusterIs(Turn turn, std::string uid) {
  questions_ = 0;
  const bool same = (!uid.empty() && uid == cluster_) || Injected(Bug::kResumesElsewhere);
  const bool other = stale_ ? !same : !same && !uid.empty() && !cluster_.empty();
  if (other) version_unusable_ = true;
  if (other && !Injected(Bug::kTrustsEqualVersions)) history_replaced_ = true;
  cluster_ = std::move(uid);
  Step next = &Reflector::SendAnyList;
  if (std::exchange(resumable_, false) && same && !list_due_) {
    check_due_ = true;  // the server may have been restored meanwhile
    next = &Reflector::SendWatch;
  }
  if (!turn) return Go(next);
  (this->*next)(std::move(turn));
}

// Called after a bookmark, and when the history was checked.
void Reflector::MayBeCurrent() {
  const bool bookmarked = bookmarked_ || Injected(Bug::kWaitsForNoBookmark);
  if (!stale_ || !bookmarked || check_due_) return;
  stale_ = false;
  current_as_of_ = Now();
  fifo_.Complete(version_);
  if (hooks_.on_queued) hooks_.on_queued();
}

}  // namespace kgen::cache
