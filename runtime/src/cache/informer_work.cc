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
}

// Continues with the jobs, then with the queue. Returns true if there is more to do.
bool Informer::Advance(std::size_t& units) {
  while (units > 0) {
    if (!jobs_.empty()) {
      if (!jobs_.front().job->Step(units)) return true;
      const bool list = jobs_.front().list;
      jobs_.pop_front();
      Applied(list);
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
    // The store has the transaction before any handler receives it.
    if (changes.has_transaction() && !forgotten) store_->Apply(changes.TakeTransaction());
    processor_.Distribute(changes.TakeEvents());
  }
  if (last == DeltaType::kReplaced) {
    const bool initial = fifo_.in_initial_population();
    jobs_.push_back({std::make_unique<ListJob>(Context(), std::move(list), initial), true});
  } else if (last == DeltaType::kSync) {
    jobs_.push_back({std::make_unique<ResyncJob>(Context())});
  } else {
    Applied(false);
  }
}

// Called when the drained deltas are in the store and their events were distributed.
void Informer::Applied(bool list) {
  fifo_.Applied();
  const bool was_synced = HasSynced();
  Publish();
  if (!was_synced && HasSynced()) processor_.InitialQueued();  // after the initial events
  if (list && was_synced) reflector_->Sweep();                 // forget what only the old objects shared
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
