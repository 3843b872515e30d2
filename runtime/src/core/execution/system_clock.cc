// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/execution/system_clock.h"

#include <cstdint>
#include <map>
#include <utility>

#include "core/execution/sleeper.h"
#include "core/execution/thread.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "kgen/core/clock.h"

namespace kgen {
namespace detail {
namespace {

// The state that the clock shares with its timer thread and its timers, so that any of them may be destroyed first.
class TimerQueue : public SharedObject {
 public:
  // The time, and a number that distinguishes timers of the same time.
  using Key = std::pair<TimePoint, std::uint64_t>;

  struct Slot;
  struct Entry {
    Task task;
    Slot* slot = nullptr;  // gets the node back; null: the node is freed
  };
  using Entries = std::map<Key, Entry>;
  // The state of a ReservedTimer, guarded by mutex_.
  struct Slot {
    Key key;                    // while set
    Entries::node_type node{};  // while not set; after Close() possibly never
  };

  Key Add(TimePoint when, Task task, const Shared<TimerQueue>& self) {
    bool first;
    Key key;
    {
      const MutexLock lock(mutex_);
      key = {when, next_++};
      // Two statements, because the compiler may evaluate begin() before the insertion.
      const auto added = tasks_.emplace(key, Entry{std::move(task)}).first;
      first = added == tasks_.begin();
      StartThread(self);
    }
    if (first) sleeper_->Wake();
    return key;
  }

  void Reserve(Slot& slot, const Shared<TimerQueue>& self) {
    Entries one;
    one.emplace(Key(), Entry{{}, &slot});
    slot.node = one.extract(one.begin());
    const MutexLock lock(mutex_);
    StartThread(self);
  }

  void Set(Slot& slot, TimePoint when, Task task) noexcept {
    Task dropped;  // destroyed after the lock is released
    bool first;
    {
      const MutexLock lock(mutex_);
      dropped = TakeBack(slot);
      if (slot.node.empty()) return;
      slot.key = slot.node.key() = {when, next_++};
      slot.node.mapped().task = std::move(task);
      const auto added = tasks_.insert(std::move(slot.node)).position;
      first = added == tasks_.begin();
    }
    if (first) sleeper_->Wake();
  }

  void Cancel(Slot& slot) noexcept {
    Task dropped;  // destroyed after the lock is released
    const MutexLock lock(mutex_);
    dropped = TakeBack(slot);
  }

  // Removes and returns the task, so that the caller can destroy it without holding the lock.
  Task Remove(const Key& key) {
    const MutexLock lock(mutex_);
    const auto found = tasks_.find(key);
    if (found == tasks_.end()) return {};
    Task task = std::move(found->second.task);
    tasks_.erase(found);
    return task;
  }

  void Close() noexcept {
    Thread thread;
    Entries dropped;
    {
      const MutexLock lock(mutex_);
      closed_ = true;
      thread = std::move(thread_);
      dropped.swap(tasks_);
    }
    sleeper_->Wake();
    if (thread.IsThisOne()) {
      thread.Release();  // a timer's task held the last reference to the clock
    } else {
      thread.Join();
    }
  }

 private:
  void Run() {
    OnPostedThread() = true;
    const MutexLock lock(mutex_);
    while (!closed_ && !ForkedChild()) {
      const TimePoint next = tasks_.empty() ? Waiter::kNoDeadline : tasks_.begin()->first.first;
      if (next > std::chrono::steady_clock::now()) {
        mutex_.unlock();
        sleeper_->SleepUntil(next);
        mutex_.lock();
        continue;
      }
      Task task = std::move(tasks_.begin()->second.task);
      if (Slot* const slot = tasks_.begin()->second.slot) {
        slot->node = tasks_.extract(tasks_.begin());
      } else {
        tasks_.erase(tasks_.begin());
      }
      mutex_.unlock();
      task();
      task = nullptr;
      mutex_.lock();
    }
  }

  void StartThread(const Shared<TimerQueue>& self) KGEN_REQUIRES(mutex_) {
    if (!thread_ && !closed_) thread_ = Thread::Start([self] { self->Run(); });
  }

  // Returns the task of a slot that is set, for the caller to destroy without the lock.
  Task TakeBack(Slot& slot) noexcept KGEN_REQUIRES(mutex_) {
    if (!slot.node.empty()) return {};
    slot.node = tasks_.extract(slot.key);
    return slot.node.empty() ? Task() : std::move(slot.node.mapped().task);
  }

  Mutex mutex_;
  Entries tasks_ KGEN_GUARDED_BY(mutex_);
  std::uint64_t next_ KGEN_GUARDED_BY(mutex_) = 0;
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
  Thread thread_ KGEN_GUARDED_BY(mutex_);
  const Shared<Sleeper> sleeper_ = MakeSleeper();
};

class QueuedTimer final : public Timer::State {
 public:
  QueuedTimer(Shared<TimerQueue> queue, TimerQueue::Key key) : queue_(std::move(queue)), key_(key) {}
  void Cancel() noexcept override {
    if (!ForkedChild()) queue_->Remove(key_);
  }

 private:
  const Shared<TimerQueue> queue_;
  const TimerQueue::Key key_;
};

class SlotTimer final : public ReservedTimer {
 public:
  explicit SlotTimer(Shared<TimerQueue> queue) : queue_(std::move(queue)) {
    if (!ForkedChild()) queue_->Reserve(slot_, queue_);
  }
  ~SlotTimer() override { queue_->Cancel(slot_); }
  void Set(TimePoint when, TimerKind, Task task) noexcept override {
    if (ForkedChild()) return LeaveAlone(std::move(task));
    queue_->Set(slot_, when, std::move(task));
  }
  void Cancel() noexcept override {
    if (!ForkedChild()) queue_->Cancel(slot_);
  }

 private:
  const Shared<TimerQueue> queue_;
  TimerQueue::Slot slot_;
};

// A reserved timer of clocks that cannot reserve one.
class AllocatingTimer final : public ReservedTimer {
 public:
  explicit AllocatingTimer(Shared<Clock> clock) : clock_(std::move(clock)) {}
  void Set(TimePoint when, TimerKind kind, Task task) noexcept override {
    timer_ = clock_->At(when, kind, std::move(task));
  }
  void Cancel() noexcept override { timer_.Cancel(); }

 private:
  const Shared<Clock> clock_;
  Timer timer_;
};

class MachineClock final : public Clock {
 public:
  ~MachineClock() override { queue_->Close(); }

  TimePoint Now() noexcept override { return std::chrono::steady_clock::now(); }
  TimePoint NowWithSuspend() noexcept override {
    timespec now{};
    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return Now();
    return TimePoint(std::chrono::seconds(now.tv_sec) + Nanos(now.tv_nsec));
  }
  std::chrono::sys_time<std::chrono::microseconds> WallNow() noexcept override {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  }
  Timer At(TimePoint when, TimerKind, Task task) override {
    if (ForkedChild()) {
      LeaveAlone(std::move(task));
      return Timer();
    }
    return Timer(MakeShared<QueuedTimer>(queue_, queue_->Add(when, std::move(task), queue_)));
  }
  Shared<ReservedTimer> ReserveTimer() override { return MakeShared<SlotTimer>(queue_); }

 private:
  const Shared<TimerQueue> queue_ = MakeShared<TimerQueue>();
};

}  // namespace

Shared<Clock> MakeSystemClock() { return MakeShared<MachineClock>(); }

}  // namespace detail

Shared<ReservedTimer> Clock::ReserveTimer() { return MakeShared<detail::AllocatingTimer>(Shared<Clock>(this)); }

Shared<Clock> SystemClock() {
  if (detail::ForkedChild()) {  // a thread that does not exist here may have been making the other one
    static const Shared<Clock>& forked = *new Shared<Clock>(detail::MakeSystemClock());
    return forked;
  }
  // Never destroyed: threads that are not joined may set timers, and timers may fire, until the process has ended.
  static const Shared<Clock>& clock = *new Shared<Clock>(detail::MakeSystemClock());
  return clock;
}

}  // namespace kgen
