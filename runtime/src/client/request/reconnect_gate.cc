// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/reconnect_gate.h"

#include <algorithm>

namespace kgen::client {
namespace {

using namespace std::chrono_literals;

constexpr Nanos kFirstStep = 200ms;
constexpr Nanos kLasting = 10s;   // a stream that was open for this long resets the delay
constexpr Nanos kStarting = 30s;  // how long a server that is back may refuse requests that it will accept later
constexpr double kTurnsPerSecond = 20;
constexpr double kTurnsAtOnce = 5;
constexpr Nanos kProbePatience = 2s;  // after this, a probe without a response no longer holds up others

// The largest delay between two probes.
constexpr Nanos LargestStep(Nanos outage) noexcept {
  if (outage < 1min) return 2s;
  return outage < 10min ? Nanos(5s) : Nanos(30s);
}

}  // namespace

struct ReconnectGate::Entry : SharedObject {
  Entry(Shared<ReconnectGate> g, const Shared<Strand>& strand, Task t, Task c)
      : gate(std::move(g)),
        post_go(gate->executor_->ReservePost(strand)),
        post_closed(c ? gate->executor_->ReservePost(strand) : Shared<ReservedPost>()),
        go(std::move(t)),
        closed(std::move(c)) {}

  // Takes a task and runs it without holding the lock, because it may hold the last reference to its owner.
  static void Run(const Shared<Entry>& entry, Task Entry::* which) {
    Task task;
    {
      const MutexLock lock(entry->gate->mutex_);
      if (entry->left) return;
      task = std::exchange(entry.get()->*which, nullptr);
    }
    if (task) task();
  }

  const Shared<ReconnectGate> gate;
  const Shared<ReservedPost> post_go, post_closed;  // the second may be null
  // Guarded by the gate's mutex.
  Task go, closed;
  bool granted = false;
  bool left = false;
  std::optional<TimePoint> opened{};
  Granted node = Granted(1);  // becomes a part of the list of those that are granted a turn together
};

ReconnectGate::ReconnectGate(Shared<Executor> executor)
    : executor_(std::move(executor)),
      jitter_(SeedFrom(*executor_->clock())),
      opens_{kTurnsAtOnce, executor_->clock()->Now()},
      lists_(opens_) {}

ReconnectGate::~ReconnectGate() = default;

TimePoint ReconnectGate::Now() const noexcept { return executor_->clock()->Now(); }

ReconnectGate::Turn ReconnectGate::Enter(Purpose purpose, const Shared<Strand>& strand, Task go, Task closed) {
  const auto entry = MakeShared<Entry>(Shared<ReconnectGate>(this), strand, std::move(go), std::move(closed));
  Turn turn(entry);
  Granted granted;
  Task unused[2];  // destroyed after the lock is released, see Entry::Run()
  {
    const MutexLock lock(mutex_);
    if (!timer_) timer_ = executor_->clock()->ReserveTimer();
    entries_.push_back(entry.get());
    if (purpose == Purpose::kFirst && !error_) {
      opens_.Refill(Now());
      opens_.tokens = std::max(opens_.tokens - 1, 0.0);
      Grant(*entry, Now());
    } else {
      QueueOf(purpose)->push_back(entry.get());
      granted = Pump();
      std::erase(granted, entry);
    }
    turn.granted_ = entry->granted;
    if (turn.granted_) unused[0] = std::exchange(entry->go, nullptr);
    if (turn.granted_) unused[1] = std::exchange(entry->closed, nullptr);
  }
  Post(granted);
  return turn;
}

std::optional<Error> ReconnectGate::error() const {
  const MutexLock lock(mutex_);
  return error_;
}

Nanos ReconnectGate::UntilProbe() const {
  const MutexLock lock(mutex_);
  return error_ ? std::max(NextProbe() - Now(), Nanos(0)) : Nanos(0);
}

bool ReconnectGate::reconnected_lately() const {
  const MutexLock lock(mutex_);
  return reconnecting_ || (reconnected_ && Now() - *reconnected_ < kStarting);
}

// ------------------------------------------------------------------------------------------------------- outcomes

void ReconnectGate::Answered(Entry& entry, bool success) {
  Granted granted;
  {
    const MutexLock lock(mutex_);
    error_.reset();
    probe_ = nullptr;
    if (std::exchange(reconnecting_, false)) reconnected_ = Now();
    if (success && !entry.opened) entry.opened = Now();
    if (success && std::exchange(no_success_, false)) {
      parked_.insert(parked_.end(), on_success_.begin(), on_success_.end());
      on_success_.clear();
    }
    granted = Pump();
  }
  Post(granted);
}

void ReconnectGate::NoConnection(Entry& entry, const Error& error) {
  Granted granted, closed;
  {
    const MutexLock lock(mutex_);
    const TimePoint now = Now();
    const bool closes = !error_;
    error_ = error;
    reconnecting_ = no_success_ = true;
    if (closes) {
      // Streams that are still open on an older connection no longer prove that the connection works.
      const bool proved = std::any_of(entries_.begin(), entries_.end(), [&](const Entry* each) {
        return each->opened && now - *each->opened >= kLasting;
      });
      if (proved) ResetDelay(now);
      if (!outage_) outage_ = now;
      for (const Queue* queue : {&parked_, &relists_}) {
        for (Entry* each : *queue) {
          if (each->post_closed) closed.push_back(Shared<Entry>(each));
        }
      }
    }
    if (closes || probe_ == &entry) ScheduleProbe(now);
    if (probe_ == &entry) probe_ = nullptr;
    granted = Pump();
  }
  Post(granted, closed);
}

void ReconnectGate::Lost(Entry& entry) {
  const MutexLock lock(mutex_);
  if (entry.left) return;
  reconnecting_ = no_success_ = true;
}

void ReconnectGate::Leave(Entry& entry) {
  Granted granted;
  Task unused[2];  // see Enter()
  {
    const MutexLock lock(mutex_);
    if (std::exchange(entry.left, true)) return;
    unused[0] = std::exchange(entry.go, nullptr);
    unused[1] = std::exchange(entry.closed, nullptr);
    for (Queue* queue : {&parked_, &relists_, &background_, &on_success_}) std::erase(*queue, &entry);
    std::erase(entries_, &entry);
    const TimePoint now = Now();
    if (entry.opened && now - *entry.opened >= kLasting) ResetDelay(now);
    if (probe_ == &entry) {  // it had no outcome
      probe_ = nullptr;
      probe_at_ = now;
    }
    granted = Pump();
  }
  Post(granted);
}

// ------------------------------------------------------------------------------------------------------- the queue

ReconnectGate::Queue* ReconnectGate::QueueOf(Purpose purpose) noexcept {
  switch (purpose) {
    case Purpose::kRelist:
      return &relists_;
    case Purpose::kBackground:
      return &background_;
    case Purpose::kOnSuccess:
      return &on_success_;
    default:
      return &parked_;
  }
}

ReconnectGate::Queue* ReconnectGate::FirstNotEmpty(std::initializer_list<Queue*> queues) const noexcept {
  const auto found = std::find_if(queues.begin(), queues.end(), [](const Queue* queue) { return !queue->empty(); });
  return found == queues.end() ? nullptr : *found;
}

void ReconnectGate::Grant(Entry& entry, TimePoint now) noexcept {
  entry.granted = true;
  if (!error_) return;
  probe_ = &entry;
  probe_sent_ = now;
}

void ReconnectGate::GrantFirst(Queue& queue, TimePoint now, Granted& granted) noexcept {
  Entry& entry = *queue.front();
  queue.pop_front();
  entry.node.front() = Shared<Entry>(&entry);
  granted.splice(granted.end(), entry.node);
  Grant(entry, now);
}

// Grants the turns that are due, and sets the timer for the rest. Allocates nothing, because the timer calls it.
ReconnectGate::Granted ReconnectGate::Pump() noexcept {
  Granted granted;
  std::optional<TimePoint> next;
  if (!error_) {
    next = PumpOpen({&parked_, &background_}, opens_, granted);
    if (const auto list = PumpOpen({&relists_}, lists_, granted)) next = std::min(next.value_or(*list), *list);
  } else if (Queue* const queue = FirstNotEmpty({&parked_, &relists_, &background_})) {
    const TimePoint now = Now();
    if (NextProbe() <= now) GrantFirst(*queue, now, granted);
    if (FirstNotEmpty({&parked_, &relists_, &background_}) != nullptr) next = NextProbe();
  }
  if (next) {
    timer_->Set(*next, TimerKind::kProgress, [self = Shared<ReconnectGate>(this)] { self->OnTimer(); });
  } else if (timer_) {
    timer_->Cancel();  // it holds a reference to this gate
  }
  return granted;
}

// Lets entries in while the gate is open. Returns the time of the next turn, if an entry is left.
std::optional<TimePoint> ReconnectGate::PumpOpen(std::initializer_list<Queue*> queues, Bucket& bucket,
                                                 Granted& granted) noexcept {
  const TimePoint now = Now();
  while (Queue* const queue = FirstNotEmpty(queues)) {
    const TimePoint next = bucket.Next(now);
    if (next > now) return next;
    bucket.tokens -= 1;
    GrantFirst(*queue, now, granted);
  }
  return std::nullopt;
}

TimePoint ReconnectGate::NextProbe() const noexcept {
  return probe_ == nullptr ? probe_at_ : std::max(probe_at_, probe_sent_ + kProbePatience);
}

TimePoint ReconnectGate::Bucket::Next(TimePoint now) noexcept {
  Refill(now);
  if (tokens >= 1) return now;
  return now + Nanos(1 + static_cast<Nanos::rep>((1 - tokens) / kTurnsPerSecond * 1e9));
}

void ReconnectGate::Bucket::Refill(TimePoint now) noexcept {
  const double seconds = std::chrono::duration<double>(now - filled).count();
  tokens = std::min(tokens + seconds * kTurnsPerSecond, kTurnsAtOnce);
  filled = now;
}

void ReconnectGate::ScheduleProbe(TimePoint now) {
  const Nanos largest = LargestStep(now - outage_.value_or(now));
  step_ = step_ == Nanos(0) ? kFirstStep : std::min(step_ * 2, largest);
  probe_at_ = now + jitter_.Between(Nanos(0), step_);
}

void ReconnectGate::ResetDelay(TimePoint now) noexcept {
  step_ = Nanos(0);
  outage_.reset();
  if (error_) outage_ = now;
}

void ReconnectGate::Post(const Granted& granted, const Granted& closed) noexcept {
  for (const Shared<Entry>& entry : closed) {
    entry->post_closed->Post([entry] { Entry::Run(entry, &Entry::closed); });
  }
  for (const Shared<Entry>& entry : granted) {
    entry->post_go->Post([entry] { Entry::Run(entry, &Entry::go); });
  }
}

void ReconnectGate::OnTimer() noexcept {
  Granted granted;
  {
    const MutexLock lock(mutex_);
    granted = Pump();
  }
  Post(granted);
}

// ----------------------------------------------------------------------------------------------------------- turns

ReconnectGate::Turn::Turn(Shared<Entry> entry) noexcept : entry_(std::move(entry)) {}
ReconnectGate::Turn::Turn(Turn&& other) noexcept : entry_(std::move(other.entry_)), granted_(other.granted_) {}

ReconnectGate::Turn& ReconnectGate::Turn::operator=(Turn&& other) noexcept {
  if (this != &other) {
    Leave();
    entry_ = std::move(other.entry_);
    granted_ = other.granted_;
  }
  return *this;
}

void ReconnectGate::Turn::Opened() {
  if (entry_) entry_->gate->Answered(*entry_, true);
}
void ReconnectGate::Turn::Refused() {
  if (entry_) entry_->gate->Answered(*entry_, false);
}
void ReconnectGate::Turn::NoConnection(const Error& error) {
  if (entry_) entry_->gate->NoConnection(*entry_, error);
  Leave();
}
void ReconnectGate::Turn::Lost() {
  if (entry_) entry_->gate->Lost(*entry_);
  Leave();
}
void ReconnectGate::Turn::Leave() noexcept {
  if (const Shared<Entry> entry = std::exchange(entry_, {})) entry->gate->Leave(*entry);
}

}  // namespace kgen::client
