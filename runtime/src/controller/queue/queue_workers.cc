// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The workers and the shutdown of a work queue.
#include <new>
#include <string>
#include <utility>

#include "controller/queue/queue_state.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/observers/notify_observer.h"
#include "core/thrown.h"
#include "kgen/controller/terminal_error.h"
#include "net/duration_text.h"

namespace kgen::controller {

using Pending = QueueItem::Pending;

namespace {

constexpr Nanos kStartAgain = std::chrono::milliseconds(100);  // after there was no memory for a worker
// After so many items, or so much time if the queue measures it, a worker lets other work have its thread.
constexpr int kItemsInARow = 64;
constexpr Nanos kTimeInARow = std::chrono::milliseconds(100);

}  // namespace

// The task of a worker. It counts as running from when the queue requests it until it finds no item or the executor
// drops it. It does not own the Processing: the user's function must not outlive Process(), and `work_` holds the
// Processing as long as a worker is running.
class QueueState::Worker {
 public:
  Worker(Shared<QueueState> state, const Processing* processing) noexcept
      : state_(std::move(state)), processing_(processing) {}
  Worker(Worker&&) noexcept = default;
  Worker& operator=(Worker&&) = delete;
  ~Worker() {
    if (state_) state_->EndWorker();
  }

  void operator()() {
    std::int32_t priority = 0;
    const TimePoint began = state_->NowIfMeasured();
    TimePoint now = began;
    const bool measured = began != QueueItem::kUnmeasured;
    for (int items = 0; items < kItemsInARow && !(measured && now - began >= kTimeInARow); ++items) {
      QueueItem* const item = state_->NextForWorker(*processing_, now, priority);
      if (item == nullptr) {
        state_ = {};  // NextForWorker() has already counted the end of this worker
        return;
      }
      now = state_->Reconcile(*processing_, item, priority);
    }
    QueueState& state = *state_;
    state.StartTask(std::move(*this));
  }

 private:
  Shared<QueueState> state_;
  const Processing* processing_;
};

// A worker whose task could not be made ends at once. So that its item does not wait forever, the timer then requests
// one again.
void QueueState::StartTasks(const Wakes& wakes) noexcept {
  for (std::size_t i = 0; i < wakes.workers; ++i) StartTask(Worker(Shared<QueueState>(this), wakes.processing));
}

void QueueState::StartTask(Worker worker) noexcept {
  const Shared<QueueState> self(this);  // the worker may hold the last reference, and may be destroyed in between
  try {
    executor_->Blocking("work queue " + name_, std::move(worker));
  } catch (const std::bad_alloc&) {
    const TimePoint again = Later(Now(), kStartAgain);
    const MutexLock lock(mutex_);
    start_again_ = again;
    Arm();
  }
}

void QueueState::WakeWorkers(Wakes& wakes) noexcept {
  start_again_ = TimePoint::max();
  if (!work_) return;
  while (running_ < workers_ && wakes.workers < ready_.size()) {
    ++running_;
    ++wakes.workers;
  }
  wakes.processing = work_.get();
}

QueueItem* QueueState::NextForWorker(const Processing& processing, TimePoint now, std::int32_t& priority) noexcept {
  if (detail::ForkedChild()) return nullptr;  // forked by the reconcile function
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    // No call starts after a stop request, even if Process() has not noticed the request yet.
    const bool start = processing.drain || !processing.stop.stop_requested();
    if (QueueItem* const item = start ? Take(now, nullptr) : nullptr) {
      priority = item->priority;
      return item;
    }
    CountEnd(wakes);
  }
  Act(wakes);
  return nullptr;
}

void QueueState::EndWorker() noexcept {
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    CountEnd(wakes);
  }
  Act(wakes);
}

void QueueState::CountEnd(Wakes& wakes) noexcept {
  --running_;
  if (running_ == 0 && abandoned_) wakes.ended = std::exchange(work_, {});
  if (Finished()) WakeAll();
}

TimePoint QueueState::Reconcile(const Processing& processing, QueueItem* item, std::int32_t priority) noexcept {
  Result<Requeue> result = Requeue{};
  try {
    result = processing.reconcile(item->key());
    if (result) {
      if (Result<void> valid = CheckRequeue(*result); !valid) result = Fail(std::move(valid).error());
    }
  } catch (...) {
    result = Fail(detail::ErrorOfThrown("the function"));
  }
  if (result && !result->back_off) return OnSuccess(item, priority, *result);
  if (result) {
    BackOff(item, result->priority.value_or(priority), nullptr);
  } else if (IsTerminal(result.error())) {
    GiveUp(item, result.error());
  } else {
    BackOff(item, priority, &result.error());
  }
  return NowIfMeasured();
}

Result<void> CheckRequeue(const Requeue& requeue) {
  if (!requeue.after || *requeue.after >= Nanos::zero()) return {};
  return Fail(Code::kInvalidArgument, "Requeue::after is " + net::DurationText(*requeue.after) +
                                          ", but a delay is not negative; use Requeue::After(0s) to run again at once");
}

TimePoint QueueState::OnSuccess(QueueItem* item, std::int32_t priority, const Requeue& requeue) noexcept {
  if (std::exchange(item->reported, false)) ReportRecovery(item);
  const bool again = ComesBack(requeue);
  const TimePoint now = again ? Now() : NowIfMeasured();
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    item->failures = 0;
    if (again && !shutting_down_) {
      When when{.priority = requeue.priority.value_or(priority), .periodic = true};
      if (*requeue.after > Nanos::zero()) when.due = Later(now, *requeue.after);
      Queue(item, when, now, wakes);
    }
    Finish(item, now, wakes);
  }
  Act(wakes);
  return now;
}

// Called by the worker that processes the item, which nobody else changes or erases meanwhile, but for the count.
void QueueState::ReportRecovery(QueueItem* item) noexcept {
  std::uint32_t failures = 0;
  {
    const MutexLock lock(mutex_);
    failures = item->failures;
  }
  const Nanos after = Now() - item->failing;
  NotifyObserver(observer_, [&](Observer& o) {
    const std::string key = type_.text(item->key());  // may throw
    o.OnRecovered({.source = name_, .key = key, .failures = failures, .after = after});
  });
}

// `error` is null if nothing failed.
void QueueState::BackOff(QueueItem* item, std::int32_t priority, const Error* error) noexcept {
  std::uint32_t failures = 0;
  bool again = false;
  {
    const MutexLock lock(mutex_);
    failures = item->failures++;
    again = !shutting_down_;
  }
  const TimePoint now = Now();
  const Nanos delay = again ? Limit(failures, {}, now) : Nanos();
  if (error != nullptr) {
    if (!std::exchange(item->reported, true)) item->failing = now;
    NotifyObserver(observer_, [&](Observer& o) {
      const std::string key = TextOf(item);
      o.OnReconcileFailed(
          {.queue = name_, .key = key, .error = error, .attempt = static_cast<int>(failures) + 1, .retry_in = delay});
    });
  }
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    if (!shutting_down_) {
      When when{.priority = priority};
      if (delay > Nanos::zero()) when.due = Later(now, delay);
      Queue(item, when, now, wakes);
    }
    Finish(item, now, wakes);
  }
  Act(wakes);
}

// The error is terminal: the failures before it are forgotten, but they have not ended well, so this is no recovery.
void QueueState::GiveUp(QueueItem* item, const Error& error) noexcept {
  item->reported = false;
  std::uint32_t failures = 0;
  {
    const MutexLock lock(mutex_);
    failures = std::exchange(item->failures, 0);
  }
  NotifyObserver(observer_, [&](Observer& o) {
    const std::string key = TextOf(item);
    o.OnReconcileFailed({.queue = name_,
                         .key = key,
                         .error = &error,
                         .attempt = static_cast<int>(failures) + 1,
                         .retry_in = {},
                         .terminal = true});
  });
  const TimePoint now = NowIfMeasured();
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    Finish(item, now, wakes);
  }
  Act(wakes);
}

// Returns the text of a key for a message, which must not be lost if that text throws.
std::string QueueState::TextOf(QueueItem* item) const {
  try {
    return type_.text(item->key());
  } catch (...) {
    return "a key whose text threw";
  }
}

Result<void> QueueState::StartWorkers(int workers, Shared<Processing> processing) {
  if (workers < 1) return Fail(Code::kInvalidArgument, "it needs at least one worker");
  Wakes wakes;
  {
    const MutexLock lock(mutex_);
    if (shutting_down_) return Fail(Code::kStopped, "the queue was shut down");
    if (work_) return Fail(Code::kInvalidArgument, "another Process() of this queue runs");
    work_ = std::move(processing);
    workers_ = static_cast<std::size_t>(workers);
    WakeWorkers(wakes);
  }
  Act(wakes);
  return {};
}

Result<void> QueueState::Process(int workers, const std::stop_token& stop, detail::Reconciler reconcile, bool drain) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const Shared<QueueState> self(this);  // the last handle may be destroyed meanwhile
  const std::string doing = "process work queue " + name_;
  const auto processing = MakeShared<Processing>(std::move(reconcile), stop, drain);  // destroyed without the lock
  if (executor_->InPostedTask()) {
    return Fail(Error(Code::kInvalidArgument, "a blocking call on a thread that must not block; use Executor::Blocking")
                    .With(doing));
  }
  const auto waiter = executor_->MakeWaiter(doing);
  {
    const MutexLock lock(mutex_);
    watchers_.push_back(waiter);
  }
  Result<void> result = StartWorkers(workers, processing);
  const bool started = result.has_value();
  if (started) result = RunUntilFinished(waiter, stop, drain);
  const MutexLock lock(mutex_);
  std::erase(watchers_, waiter);
  if (started) {
    abandoned_ = running_ > 0;
    if (!abandoned_) work_ = {};
  }
  if (!result) return Fail(result.error().With(doing));
  return {};
}

// Returns when no worker is running, or with an error.
Result<void> QueueState::RunUntilFinished(const Shared<Waiter>& waiter, const std::stop_token& stop, bool drain) {
  Result<void> result = waiter->Wait(stop);  // also ends when another thread shuts the queue down
  if (result || stop.stop_requested()) {
    if (drain) BeginDrain();
    // A stop without a drain also ends a drain that another thread began.
    result = WaitUntilFinished(drain ? std::stop_token() : stop);
    if (!result && !drain && stop.stop_requested()) {
      ShutDown();
      result = WaitUntilFinished({});
    }
  }
  if (!result) ShutDown();
  return result;
}

// --- Start(): what Process() does after a wait is done in tasks of the strand

void QueueState::OnStop::operator()() const noexcept {
  // Null while the queue is being destroyed, which waits for this function.
  if (const Shared<QueueState> self = Shared<QueueState>::TryAdd(queue)) self->PostAdvance();
}

void QueueState::PostAdvance() noexcept {
  advance_->Post([self = Shared<QueueState>(this)] { self->AdvanceStarted(); });
}

Result<void> QueueState::Start(int workers, const std::stop_token& stop, detail::Reconciler reconcile,
                               UniqueFunction<void()> done) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  auto processing = MakeShared<Processing>(std::move(reconcile), stop, /*drains=*/false);
  processing->done = std::move(done);
  processing->on_stop.emplace(stop, OnStop{this});
  if (Result<void> started = StartWorkers(workers, std::move(processing)); !started) {
    return Fail(started.error().With("process work queue " + name_));
  }
  PostAdvance();  // the stop may have been requested before
  return {};
}

void QueueState::AdvanceStarted() {
  Shared<Processing> ended;
  {
    const MutexLock lock(mutex_);
    if (!work_ || !work_->done) return;
    if (Finished()) ended = std::exchange(work_, {});
    if (!ended && !work_->stop.stop_requested()) return;
  }
  if (!ended) return ShutDown();  // which posts this again, as does the last call that ends after it
  UniqueFunction<void()> done = std::move(ended->done);
  ended = {};
  done();
}

void QueueState::Abandon() {
  ShutDown();
  Shared<Processing> dropped;  // destroyed without the lock
  UniqueFunction<void()> done;
  const MutexLock lock(mutex_);
  if (!work_ || !work_->done) return;
  done = std::exchange(work_->done, {});
  abandoned_ = running_ > 0;
  if (!abandoned_) dropped = std::exchange(work_, {});
}

void QueueState::ShutDown() {
  if (detail::ForkedChild()) return;
  QueueItem* dropped = nullptr;
  {
    const MutexLock lock(mutex_);
    if (shutting_down_ && !draining_) return;
    shutting_down_ = true;
    draining_ = false;
    start_again_ = TimePoint::max();
    Disarm();
    ready_.Clear();
    delayed_.Clear();
    for (QueueItem* item = processing_.head(); item != nullptr; item = item->next) item->pending = Pending::kNo;
    dropped = items_.TakeUnprocessed();
    WakeAll();
  }
  ItemMap::Free(type_, dropped);
}

void QueueState::BeginDrain() {
  const MutexLock lock(mutex_);
  if (shutting_down_) return;
  shutting_down_ = true;
  draining_ = true;
  while (!delayed_.empty()) {
    QueueItem* const item = delayed_.first();
    delayed_.Remove(item);
    item->pending = Pending::kNo;
    item->failures = 0;
    EraseIfUnused(item);
  }
  Arm();  // only for workers that could not start
  WakeAll();
}

Result<void> QueueState::ShutDownWithDrain(const std::stop_token& stop) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  const Shared<QueueState> self(this);  // the last handle may be destroyed meanwhile
  BeginDrain();
  return WaitUntilFinished(stop);
}

bool QueueState::ShuttingDown() {
  const MutexLock lock(mutex_);
  return shutting_down_;
}

bool QueueState::Finished() const noexcept {
  if (!shutting_down_ || running_ > 0) return false;
  return !draining_ || (ready_.size() == 0 && processing_.empty());
}

// Wakes all blocked calls, which check the state again.
void QueueState::WakeAll() noexcept {
  for (const Shared<Waiter>& getter : getters_) getter->Notify();
  getters_.clear();
  for (const Shared<Waiter>& watcher : watchers_) watcher->Notify();
  if (work_ && work_->done) PostAdvance();
}

Result<void> QueueState::WaitUntilFinished(const std::stop_token& stop) {
  const auto waiter = executor_->MakeWaiter("shut down work queue " + name_);
  Result<void> waited{};
  for (;;) {
    {
      const MutexLock lock(mutex_);
      std::erase(watchers_, waiter);
      if (Finished()) return {};
      if (!waited) return waited;
      watchers_.push_back(waiter);
    }
    waited = waiter->Wait(stop);
  }
}

}  // namespace kgen::controller
