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
    } else if (!fifo_.empty()) {
      ApplyBatch(units);
    } else {
      break;
    }
  }
  return !jobs_.empty() || !fifo_.empty();
}

// Applies one transaction. A list or a resync that follows it becomes a job.
void Informer::ApplyBatch(std::size_t& units) {
  std::vector<Delta> batch = fifo_.Drain(units / kUnitsPerDelta);
  const std::size_t spent = kUnitsPerDelta * batch.size() + processor_.size() * batch.size();
  units -= std::min(units, spent);
  const DeltaType last = batch.back().type;
  Delta list{last};
  if (last == DeltaType::kReplaced || last == DeltaType::kSync) {
    list = std::move(batch.back());
    batch.pop_back();
  }
  {
    ChangeSet changes(store_->Snapshot(), processor_.size() > 0, refused_);
    for (Delta& delta : batch) changes.Apply(std::move(delta));
    const bool forgotten = Injected(Bug::kReplaceForgetsQueued) && last == DeltaType::kReplaced;
    unsaved_ = unsaved_ || changes.has_transaction();
    // The store has the transaction before any handler receives it.
    if (changes.has_transaction() && !forgotten) store_->Apply(changes.TakeTransaction());
    processor_.Distribute(changes.TakeEvents());
  }
  if (last == DeltaType::kReplaced) {
    const bool initial = fifo_.in_initial_population() && !stale_;
    const Reason reason = list.saved ? Reason::kSaved : initial ? Reason::kInitial : Reason::kRelist;
    PendingJob job{.job = {},
                   .list = true,
                   .saved = list.saved,
                   .other_history = list.other_history,
                   .cluster = std::move(list.cluster)};
    job.job = std::make_unique<ListJob>(Context(), std::move(list), reason);
    jobs_.push_back(std::move(job));
  } else if (last == DeltaType::kSync) {
    jobs_.push_back({std::make_unique<ResyncJob>(Context())});
  } else {
    Applied(false);
  }
}

void Informer::JobDone(PendingJob done) {
  done.job = {};
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
  Applied(done.list && !done.saved);
}

// Called when the drained deltas are in the store and their events were distributed.
void Informer::Applied(bool list) {
  fifo_.Applied();
  const bool was_synced = HasSynced();
  const bool had_objects = was_synced || stale_;
  stale_ = stale_ && !fifo_.initial_population_done();
  Publish();
  if (!was_synced && HasSynced()) processor_.InitialQueued();  // after the initial events
  if (list && had_objects) reflector_->Sweep();                // forget what only the old objects shared
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
