// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Takes events, and stops. event_sender.cc has the requests.
#include "controller/events/event_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/observers/notify_observer.h"

namespace kgen::controller {
namespace {

using namespace std::chrono_literals;

// The figures of client-go: of tools/events for series and the queue, of tools/record for the spam filter.
constexpr std::size_t kMaxQueued = 1000;
constexpr std::size_t kMaxObjects = 4096;  // that the spam filter knows
constexpr std::size_t kMaxSeries = 4096;
constexpr int kSpamBurst = 25;
constexpr Nanos kSpamRefill = 5min;
constexpr Nanos kSeriesEnds = 6min;  // after the last occurrence
constexpr Nanos kSeriesRefresh = 30min;
constexpr Nanos kSweepEvery = 1min;

}  // namespace

EventWriter::EventWriter(const Connection& connection, EventRecorderOptions options)
    : connection_(connection),
      executor_(connection.shared_executor()),
      clock_(executor_->clock()),
      strand_(executor_->MakeStrand("event recorder " + options.controller)),
      source_(std::move(options)),
      jitter_(SeedFrom(*clock_)) {}

// Does what must not be done under the lock.
void EventWriter::Act(After& after) {
  if (after.post) send_->Post([self = Shared<EventWriter>(this)] { self->Send(); });
  if (after.dropped) {
    NotifyObserver(Shared<Observer>(&connection_.observer()), [&](Observer& o) {
      o.OnEventDropped({.about = after.dropped->about, .why = after.dropped->why, .count = after.dropped->count});
    });
  }
  if (!after.ends) return;
  std::vector<Shared<Waiter>> waiters;
  {
    const MutexLock lock(mutex_);
    told_ = true;
    waiters.swap(waiters_);
  }
  for (const Shared<Waiter>& waiter : waiters) waiter->Notify();
}

void EventWriter::Add(const detail::EventObject& regarding, const detail::EventObject* related,
                      const EventDetails& details) {
  const SysMicros wall = clock_->WallNow();
  const TimePoint now = clock_->Now();
  After after;
  std::expected<Event, std::string> event = MakeEvent(source_, regarding, related, details, wall);
  std::string object = event ? ObjectOf(*event) : std::string();
  std::string series = event ? SeriesOf(*event) : std::string();
  {
    const MutexLock lock(mutex_);
    ++counts_.recorded;
    if (stopping_) {
      ++counts_.stopped;
      after.dropped = {Describe(regarding, details.reason), "the event recorder was stopped"};
    } else if (!event) {
      ++counts_.invalid;
      after.dropped = {Describe(regarding, details.reason), std::move(event).error()};
    } else {
      Shared<Record>* known = series_.Find(series);
      if (known != nullptr && now - (*known)->last > kSeriesEnds) {
        Close(Shared<Record>(*known), after);
        known = nullptr;
      }
      if (known != nullptr) {
        Repeat(*known, wall, now, after);
      } else {
        AddNew(*std::move(event), std::move(object), std::move(series), now, after);
      }
    }
  }
  Act(after);
}

void EventWriter::Repeat(const Shared<Record>& record, SysMicros wall, TimePoint now, After& after) {
  ++counts_.merged;
  ++record->count;
  record->observed = wall;
  record->last = now;
  if (record->created && record->written == 1) Enqueue(record, after);
}

void EventWriter::AddNew(Event event, std::string object, std::string series, TimePoint now, After& after) {
  if (queue_.size() >= kMaxQueued) {
    ++counts_.queue_full;
    after.dropped = {Describe(event), "queue full: " + std::to_string(kMaxQueued) +
                                          " events wait to be written; the server is away or too slow"};
    return;
  }
  if (!PassesSpamFilter(std::move(object), now)) {
    ++counts_.spam;
    after.dropped = {Describe(event), "spam filter: more than " + std::to_string(kSpamBurst) +
                                          " different events about one object; record fewer, or with equal notes, "
                                          "which make a series"};
    return;
  }
  while (series_.size() >= kMaxSeries) Close(Shared<Record>(series_.least_recently_used()), after);
  auto record = MakeShared<Record>(std::move(event));
  record->observed = record->event.eventTime.value();
  record->last = now;
  record->series = series;
  Rename(*record);
  series_.Insert(std::move(series), record);
  Enqueue(record, after);
  if (!sweep_.armed()) ArmSweep();
}

// A bucket of kSpamBurst tokens, one of which comes back every kSpamRefill. It is stored as the time when it is full.
bool EventWriter::PassesSpamFilter(std::string object, TimePoint now) {
  TimePoint* full = spam_.Find(object);
  if (full == nullptr) {
    if (spam_.size() >= kMaxObjects) spam_.EraseLeastRecentlyUsed();
    full = &spam_.Insert(std::move(object), now);
  }
  const TimePoint next = std::max(*full, now) + kSpamRefill;
  if (next - now > kSpamBurst * kSpamRefill) return false;
  *full = next;
  return true;
}

// Gives the record a name that no other record of this recorder has.
void EventWriter::Rename(Record& record) {
  const std::chrono::nanoseconds wall = record.event.eventTime.value().time_since_epoch();
  last_stamp_ = std::max(last_stamp_ + 1, static_cast<std::uint64_t>(std::max<std::int64_t>(wall.count(), 0)));
  record.event.metadata.name = EventName(record.event.regarding->name, last_stamp_);
}

// Ends a series. What is not written yet is written now.
void EventWriter::Close(const Shared<Record>& record, After& after) {
  record->open = false;
  series_.Erase(record->series);
  if (record->count > record->written) Enqueue(record, after);
}

void EventWriter::Enqueue(const Shared<Record>& record, After& after) {
  if (record->queued) return;
  queue_.push_back(record);
  record->queued = true;
  if (sender_ != Sender::kIdle) return;
  sender_ = Sender::kPosted;
  after.post = true;
}

void EventWriter::ArmSweep() noexcept {
  sweep_.After(kSweepEvery, TimerKind::kHousekeeping, [self = Shared<EventWriter>(this)] { self->Sweep(); });
}

void EventWriter::Sweep() {
  const TimePoint now = clock_->Now();
  After after;
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    ArmSweep();  // first, because what follows may throw
    while (series_.size() > 0 && now - series_.least_recently_used()->last > kSeriesEnds) {
      Close(Shared<Record>(series_.least_recently_used()), after);
    }
    std::vector<Shared<Record>> due;
    series_.ForEach([&](const Shared<Record>& record) {
      if (record->created && record->count > record->written && now - record->written_at >= kSeriesRefresh) {
        due.push_back(record);
      }
    });
    for (const Shared<Record>& record : due) Enqueue(record, after);
    if (series_.size() == 0) sweep_.Cancel();
  }
  Act(after);
}

EventCounts EventWriter::counts() {
  const MutexLock lock(mutex_);
  return counts_;
}

// ----------------------------------------------------------------------------------------------------------- stop

void EventWriter::BeginStop(Nanos limit) {
  const TimePoint by = Later(clock_->Now(), limit);
  After after;
  {
    const MutexLock lock(mutex_);
    if (!stopping_) {
      stopping_ = true;
      sweep_.Cancel();
      while (series_.size() > 0) Close(Shared<Record>(series_.least_recently_used()), after);
    }
    if (sender_ == Sender::kIdle) {
      End(after);
    } else if (sender_ == Sender::kPausing) {
      pause_.Cancel();
      sender_ = Sender::kPosted;
      after.post = true;
    }
    if (!ended_ && (!limit_.armed() || by < stop_by_)) {
      stop_by_ = by;
      limit_.Set(by, TimerKind::kProgress, [self = Shared<EventWriter>(this)] { self->Abandon(); });
    }
  }
  Act(after);
}

Result<void> EventWriter::Stop(Nanos limit) {
  BeginStop(limit);
  const auto waiter = executor_->MakeWaiter("stop the event recorder");
  bool wait = false;
  {
    const MutexLock lock(mutex_);
    wait = !told_;  // whoever stops may read what the observer was told
    if (wait) waiters_.push_back(waiter);
  }
  const Result<void> waited = wait ? waiter->Wait() : Result<void>();
  const MutexLock lock(mutex_);
  std::erase(waiters_, waiter);
  if (!waited) return kgen::Fail(waited.error().With("stop the event recorder"));
  if (abandoned_ == 0) return {};
  return kgen::Fail(Code::kTimeout, "stop the event recorder: " + std::to_string(abandoned_) +
                                        " events were not written in time and are dropped");
}

// The limit of the stop has passed.
void EventWriter::Abandon() {
  After after;
  {
    const MutexLock lock(mutex_);
    if (ended_) return;
    if (sending_) queue_.push_front(std::exchange(sending_, {}));  // OnAnswer() will ignore the answer
    for (const Shared<Record>& record : queue_) {
      abandoned_ += static_cast<std::uint64_t>(Drop(*record, &EventCounts::stopped));
    }
    if (abandoned_ > 0) {
      after.dropped = {Describe(queue_.front()->event), "the event recorder was stopped before it was written",
                       static_cast<std::size_t>(abandoned_)};
    }
    queue_.clear();
    sender_ = Sender::kIdle;
    End(after);
  }
  Act(after);
}

// The queue is empty after a stop.
void EventWriter::End(After& after) {
  ended_ = true;
  limit_.Cancel();
  pause_.Cancel();
  after.ends = true;
}

}  // namespace kgen::controller
