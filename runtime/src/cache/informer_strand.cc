// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The informer's strand: start, stop, registrations and status. The controller loop is in informer_work.cc.
#include <algorithm>
#include <new>
#include <utility>

#include "cache/informer.h"
#include "cache/store/deliberate_bugs.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kShortestResync = 1s;
constexpr Nanos kStopAgain = 100ms;  // after there was no memory for stopping

}  // namespace

void Informer::StartOnStrand() {
  if (IsStopped() || IsRetired()) return;
  running_ = true;
  check_period_ = settings_.resync;
  for (const PendingListener& pending : pending_) check_period_ = std::min(check_period_, ResyncOf(*pending.listener));
  for (const PendingListener& pending : std::exchange(pending_, {})) AddRunning(pending);

  InformerSettings settings = settings_;
  settings.resync = check_period_;
  {
    const MutexLock lock(mutex_);
    settings.transform = transform_;
  }
  Reflector::Hooks hooks;
  hooks.on_queued = [this] { ScheduleWork(); };
  hooks.should_resync = [this] { return processor_.ShouldResync(executor_->clock()->Now()); };
  hooks.on_status = [this] { Publish(); };
  hooks.on_failure = [this](Code code) { CountFailure(code); };
  hooks.discard = [this](ListedObjects list) {
    garbage_.Add(std::move(list));
    ScheduleWork();
  };
  hooks.stored = [this](const ObjectKey& key) { return store_->Look(key); };
  reflector_ = MakeShared<Reflector>(source_, table_, fifo_, executor_, strand_, observer_, std::move(settings),
                                     std::move(hooks), saved_);
  TakeAsked();
  reflector_->Start();
  if (saved_) ArmSave();
}

void Informer::TakeAsked() {
  if (!reflector_ || IsStopped()) return;
  std::vector<Asked> asked;
  {
    const MutexLock lock(mutex_);
    asked.swap(asked_);
  }
  for (Asked& each : asked) {
    each.ranges ? reflector_->Hold(*std::move(each.ranges), each.number) : reflector_->ListAnew(each.number);
  }
}

// Without memory, the stop goes on a little later: whoever joins the informer waits for it.
void Informer::StopOnStrand() noexcept {
  try {
    TryToStop();
  } catch (const std::bad_alloc&) {
    stop_timer_.After(kStopAgain, TimerKind::kProgress, [self = Shared<Informer>(this)] { self->StopOnStrand(); });
  }
}

// Stops the reflector and the loop first, then the listeners, so that nothing is delivered to a stopped listener.
// Join() waits for `ended`, which comes after `stopped`, and `stopped` is set only when no call can start any more. May
// be called again if it threw.
void Informer::TryToStop() {
  if (stop_done_) return;
  const Shared<Informer> started = relay_->Take();  // keeps the reference that the relay held
  if (reflector_) reflector_->Stop();
  save_timer_.Cancel();
  jobs_.clear();
  processor_.StopAll();
  for (const PendingListener& pending : pending_) pending.listener->StopDelivery();
  pending_.clear();
  stopped_.store(true, std::memory_order_release);
  if (saved_) {
    Publish();
    saved_->Stop([self = Shared<Informer>(this)] { self->End(); });
  } else {
    End();
  }
  stop_done_ = true;
  Work();  // starts to free what is left
}

void Informer::End() {
  ended_.store(true, std::memory_order_release);
  joiner_->Notify();
  Publish();  // for the other calls of Join()
}

// ------------------------------------------------------------------------------------------------------ saving

void Informer::ArmSave() {
  save_timer_.After(saved_->every(), TimerKind::kHousekeeping, [self = Shared<Informer>(this)] {
    self->ArmSave();
    self->Save();
  });
}

// Saves a state that is current and has changed. While a job runs, the store may already have the content of a list of
// which the rest is not known here yet. What is not saved now is saved a period later, or, if it is due, when that is
// possible.
void Informer::Save() {
  if (IsStopped() || !HasSynced() || !unsaved_ || !jobs_.empty() || saved_->busy()) return;
  unsaved_ = save_due_ = false;
  const Shared<Informer> self(this);
  const bool resumable = refused_.size() == 0 || Injected(Bug::kForgetsRefused);
  saved_->Save(store_->Snapshot(), cluster_, resumable, [self](Result<AnySnapshot> before) {
    self->unsaved_ = self->unsaved_ || !before;
    if (before) self->store_->Drop(*std::move(before));
    self->ScheduleWork();
  });
}

// ----------------------------------------------------------------------------------------------- registrations

void Informer::AddOnStrand(PendingListener pending) {
  if (IsStopped()) return pending.listener->Reject(Stopped());
  if (pending.listener->removed()) return;
  if (IsRetired()) return TellLast(*pending.listener);
  if (!running_) {
    pending_.push_back(std::move(pending));
    return;
  }
  AddRunning(pending);
}

// Queues the replay behind the jobs that are running. The handler then receives what those jobs publish as initial
// events, and what comes later as changes.
void Informer::AddRunning(const PendingListener& pending) {
  const Nanos resync = ResyncOf(*pending.listener);
  if (resync < check_period_) {
    check_period_ = resync;
    reflector_->SetResync(resync);
  }
  jobs_.push_back({std::make_unique<ReplayJob>(Context(), pending.listener, resync, pending.registered)});
  ScheduleWork();
}

// The handler's own period, or the informer's.
Nanos Informer::ResyncOf(const Listener& listener) const {
  return std::max(listener.options().resync.value_or(settings_.resync), kShortestResync);
}

// ------------------------------------------------------------------------------------------------------ status

void Informer::CountFailure(Code code) {
  const MutexLock lock(mutex_);
  ++failure_counts_[static_cast<std::size_t>(code)];
}

// A thread that sees HasSynced() become true then also reads a status that belongs to that state, including its refused
// objects.
void Informer::Publish() {
  InformerStatus now;
  now.name = name_;
  now.kind = source_->kind();
  now.synced = fifo_.initial_population_done();
  now.stale = stale_;
  now.stopped = IsStopped() || IsRetired();
  now.objects = store_->Snapshot().size();
  now.refused = refused_.size();
  if (now.stopped) now.state = InformerState::kStopped;
  if (reflector_) {
    ReflectorStatus r = reflector_->status();
    now.state = r.state;
    now.failures = r.failures;
    now.refusals = r.refusals;
    now.refused_since = r.refused_since;
    now.current_as_of = r.current_as_of;
    now.last_error = std::move(r.last_error);
    now.resource_version = r.resource_version;
    now.lists = r.lists;
    now.watches = r.watches;
    now.events = r.events;
  }
  std::vector<Shared<StatusWatch>> to_notify;
  {
    const MutexLock lock(mutex_);
    if (!fifo_.empty()) now.current_as_of = status_.current_as_of;  // the store does not have everything received yet
    const std::uint64_t held = held_.load(std::memory_order_relaxed);
    const bool changed = std::exchange(published_held_, held) != held || now.synced != status_.synced ||
                         now.stale != status_.stale || now.stopped || now.failures != status_.failures ||
                         now.last_error.has_value() != status_.last_error.has_value();
    status_ = std::move(now);
    synced_.store(status_.synced, std::memory_order_release);
    for (const Shared<Waiter>& waiter : store_waiters_) waiter->Notify();
    for (StatusWatch* watch : watches_) {
      if (Shared<StatusWatch> held = changed ? Shared<StatusWatch>::TryAdd(watch) : Shared<StatusWatch>())
        to_notify.push_back(std::move(held));
    }
  }
  for (const Shared<StatusWatch>& watch : to_notify) watch->Call();
}

}  // namespace kgen::cache
