// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The controller loop: applies what the reflector queued, distributes the events to the handlers, and frees what is no
// longer needed, in tasks of bounded length.
#include <algorithm>
#include <utility>

#include "cache/change_set.h"
#include "cache/informer.h"
#include "cache/store/deliberate_bugs.h"

namespace kgen::cache {
namespace {

constexpr std::size_t kUnitsPerDelta = 2;  // a change of one object costs about as much as two objects of a list

}  // namespace

// Posts the work instead of doing it at once, so that all deltas from the same bytes are applied together.
void Informer::ScheduleWork() {
  if (std::exchange(work_scheduled_, true)) return;
  work_post_->Post([self = Shared<Informer>(this)] {
    self->work_scheduled_ = false;
    self->Work();
  });
}

// Does the work of one task.
void Informer::Work() {
  std::size_t units = settings_.objects_per_task;
  bool more = IsStopped() ? Discard(units) : Advance(units);
  std::size_t frees = std::max<std::size_t>(settings_.objects_per_task / 2, 1);
  more = !garbage_.FreeSome(frees) || !store_->FreeSome(frees) || more;
  if (more) ScheduleWork();
  if (save_due_) Save();
}

// Continues with the jobs, then with the queue. Returns true if there is more to do.
bool Informer::Advance(std::size_t& units) {
  while (units > 0) {
    if (!jobs_.empty()) {
      if (!jobs_.front().job->Step(units)) return true;
      PendingJob done = std::move(jobs_.front());
      jobs_.pop_front();
      JobDone(std::move(done));
    } else if (!fifo_.empty() && !IsRetired()) {
      ApplyBatch(units);
    } else {
      break;
    }
  }
  return !jobs_.empty() || (!fifo_.empty() && !IsRetired());
}

// Applies one transaction. A list or a resync that follows it becomes a job.
void Informer::ApplyBatch(std::size_t& units) {
  std::vector<Delta> batch = fifo_.Drain(units / kUnitsPerDelta);
  const std::size_t spent = kUnitsPerDelta * batch.size() + processor_.size() * batch.size();
  units -= std::min(units, spent);
  const DeltaType last = batch.back().type;
  Delta job{last};
  if (batch.back().takes_steps()) {
    job = std::move(batch.back());
    batch.pop_back();
  }
  std::uint64_t held = 0;
  {
    ChangeSet changes(store_->Snapshot(), processor_.size() > 0, refused_);
    for (Delta& delta : batch) {
      held = std::max(held, delta.held);
      changes.Apply(std::move(delta));
    }
    const bool forgotten = Injected(Bug::kReplaceForgetsQueued) && last == DeltaType::kReplaced;
    unsaved_ = unsaved_ || changes.has_transaction();
    // The store has the transaction before any handler receives it.
    if (changes.has_transaction() && !forgotten) store_->Apply(changes.TakeTransaction());
    processor_.Distribute(changes.TakeEvents());
  }
  Reach(held);
  if (job.takes_steps()) return StartJob(std::move(job));
  Applied(false);
}

void Informer::StartJob(Delta delta) {
  PendingJob job{.job = {}, .held = delta.held};
  if (delta.type == DeltaType::kReplaced) {
    const bool initial = fifo_.in_initial_population() && !stale_;
    const Reason reason = delta.saved ? Reason::kSaved : initial ? Reason::kInitial : Reason::kRelist;
    job.list = true;
    job.saved = delta.saved;
    job.other_history = delta.other_history;
    job.cluster = std::move(delta.cluster);
    // A list for other ranges, or for a newer state, is no reason to tell of everything again.
    const bool quiet = delta.held > held_.load(std::memory_order_relaxed);
    job.job = std::make_unique<ListJob>(Context(), std::move(delta), reason, quiet);
  } else if (delta.type == DeltaType::kLeft) {
    job.left = true;
    job.job = std::make_unique<LeaveJob>(Context(), *settings_.shard_by, delta, [this] { reflector_->Relist(); });
  } else {
    job.job = std::make_unique<ResyncJob>(Context());
  }
  jobs_.push_back(std::move(job));
}

void Informer::JobDone(PendingJob done) {
  done.job = {};
  Reach(done.held);
  if (done.list) cluster_ = std::move(done.cluster);
  if (done.saved) {
    stale_ = true;
    saved_->Continue(store_->Snapshot());
    processor_.SavedQueued();  // after the events
  } else if (done.list) {
    unsaved_ = true;
    // A process that started from the file of the lost history might resume its watch where it must not.
    save_due_ = save_due_ || (saved_ && done.other_history);
  }
  Applied((done.list && !done.saved) || done.left);
}

void Informer::Reach(std::uint64_t held) noexcept {
  if (held > held_.load(std::memory_order_relaxed)) held_.store(held, std::memory_order_release);
}

// Called when the drained deltas are in the store and their events were distributed.
// With `sweep`, many objects may have gone.
void Informer::Applied(bool sweep) {
  fifo_.Applied();
  const bool was_synced = HasSynced();
  const bool had_objects = was_synced || stale_;
  stale_ = stale_ && !fifo_.initial_population_done();
  Publish();
  if (!was_synced && HasSynced()) processor_.InitialQueued();     // after the initial events
  if (sweep && had_objects && !IsRetired()) reflector_->Sweep();  // forget what only the old objects shared
}

// After the stop, discards deltas instead of applying them. Returns true if there are more.
bool Informer::Discard(std::size_t& units) {
  if (fifo_.empty()) return false;
  for (Delta& delta : fifo_.Drain(units)) {
    if (delta.type == DeltaType::kReplaced) garbage_.Add(std::move(delta.list));
  }
  return !fifo_.empty();
}

}  // namespace kgen::cache
