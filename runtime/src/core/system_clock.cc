// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/system_clock.h"

#include <cstdint>
#include <map>
#include <utility>

#include "core/mutex.h"
#include "core/sleeper.h"
#include "core/thread.h"
#include "kgen/core/clock.h"

namespace kgen {
namespace detail {
namespace {

// The state that the clock shares with its timer thread and its timers, so that any of them may be destroyed first.
class TimerQueue : public SharedObject {
 public:
  // The time, and a number that distinguishes timers of the same time.
  using Key = std::pair<TimePoint, std::uint64_t>;

  Key Add(TimePoint when, Task task, const Shared<TimerQueue>& self) {
    bool first;
    Key key;
    {
      const MutexLock lock(mutex_);
      key = {when, next_++};
      // Two statements, because the compiler may evaluate begin() before the insertion.
      const auto added = tasks_.emplace(key, std::move(task)).first;
      first = added == tasks_.begin();
      if (!thread_ && !closed_) thread_ = Thread::Start([self] { self->Run(); });
    }
    if (first) sleeper_->Wake();
    return key;
  }

  // Removes and returns the task, so that the caller can destroy it without holding the lock.
  Task Remove(const Key& key) {
    const MutexLock lock(mutex_);
    const auto found = tasks_.find(key);
    if (found == tasks_.end()) return {};
    Task task = std::move(found->second);
    tasks_.erase(found);
    return task;
  }

  void Close() noexcept {
    Thread thread;
    std::map<Key, Task> dropped;
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
    while (!closed_) {
      const TimePoint next = tasks_.empty() ? Waiter::kNoDeadline : tasks_.begin()->first.first;
      if (next > std::chrono::steady_clock::now()) {
        mutex_.unlock();
        sleeper_->SleepUntil(next);
        mutex_.lock();
        continue;
      }
      Task task = std::move(tasks_.begin()->second);
      tasks_.erase(tasks_.begin());
      mutex_.unlock();
      task();
      task = nullptr;
      mutex_.lock();
    }
  }

  Mutex mutex_;
  std::map<Key, Task> tasks_ KGEN_GUARDED_BY(mutex_);
  std::uint64_t next_ KGEN_GUARDED_BY(mutex_) = 0;
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
  Thread thread_ KGEN_GUARDED_BY(mutex_);
  const Shared<Sleeper> sleeper_ = MakeSleeper();
};

class QueuedTimer final : public Timer::State {
 public:
  QueuedTimer(Shared<TimerQueue> queue, TimerQueue::Key key) : queue_(std::move(queue)), key_(key) {}
  void Cancel() noexcept override { queue_->Remove(key_); }

 private:
  const Shared<TimerQueue> queue_;
  const TimerQueue::Key key_;
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
    return Timer(MakeShared<QueuedTimer>(queue_, queue_->Add(when, std::move(task), queue_)));
  }

 private:
  const Shared<TimerQueue> queue_ = MakeShared<TimerQueue>();
};

}  // namespace

Shared<Clock> MakeSystemClock() { return MakeShared<MachineClock>(); }

}  // namespace detail

Shared<Clock> SystemClock() {
  // Never destroyed: threads that are not joined may set timers, and timers may fire, until the process has ended.
  static const Shared<Clock>& clock = *new Shared<Clock>(detail::MakeSystemClock());
  return clock;
}

}  // namespace kgen
