// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Clock: the library's source of time, which returns the time and fires timers. It is real in production and virtual in
// simulation.
#ifndef KGEN_CORE_CLOCK_H_
#define KGEN_CORE_CLOCK_H_

#include <cstddef>
#include <limits>

#include "kgen/core/chrono.h"
#include "kgen/core/function.h"
#include "kgen/core/shared.h"

namespace kgen {

// A short piece of work that never blocks. Must not throw.
using Task = UniqueFunction<void()>;

// Monotonic time. In simulation it starts at zero and moves only when nothing else can run.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
using Nanos = std::chrono::nanoseconds;

// In options, kNever is an event that never comes, kNoLimit a duration without a limit, and kUnlimited a size or a
// count without one. The first two are not added to a time.
inline constexpr Nanos kNever = Nanos::max();
inline constexpr Nanos kNoLimit = Nanos::max();
inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// Which timers a simulation runs before it calls the system idle.
enum class TimerKind : bool {
  kProgress,      // back-off, retry, rate limit, request timeout: something is under way
  kHousekeeping,  // PING, watch deadline, resync: repeated without end
};

// Owns a timer. Once it is destroyed or cancelled, the task does not start any more. (The task may be running on
// another thread at that moment, which is harmless because tasks only post.) Movable; one thread at a time.
class Timer {
 public:
  // An armed timer, as a clock implements it.
  class State : public SharedObject {
   public:
    virtual void Cancel() noexcept = 0;  // idempotent, any thread
  };

  Timer() noexcept = default;
  // Clocks make timers with this.
  explicit Timer(Shared<State> state) noexcept : state_(std::move(state)) {}
  Timer(Timer&&) noexcept = default;
  Timer& operator=(Timer&& other) noexcept {
    Cancel();
    state_ = std::move(other.state_);
    return *this;
  }
  ~Timer() { Cancel(); }

  // Disarms the timer, and forgets its task. Idempotent; a task that runs already goes on.
  void Cancel() noexcept {
    if (state_) state_->Cancel();
    state_ = {};
  }
  explicit operator bool() const noexcept { return static_cast<bool>(state_); }

 private:
  Shared<State> state_;
};

// A timer for code that cannot handle a failure. Everything that it needs was allocated when it was made, so setting
// and firing it allocate nothing. (A Task allocates nothing if its function object can be moved without exceptions and
// is at most three pointers large.)
//
// Thread safety: one thread at a time, as for a Timer. Destroying it cancels it.
class ReservedTimer : public SharedObject {
 public:
  // Runs `task` as Clock::At() does. Replaces what was set before.
  virtual void Set(TimePoint when, TimerKind kind, Task task) noexcept = 0;
  virtual void Cancel() noexcept = 0;
};

// Thread safety: all members from any thread. Never blocks.
// Lifetime: shared by everything of a connection; timers keep what they need alive.
class Clock : public SharedObject {
 public:
  // Returns the present time of the monotonic clock that timers and deadlines use.
  virtual TimePoint Now() noexcept = 0;
  // Monotonic time that passes while the machine is suspended, too; for promises to other machines, such as a lease.
  // Compare it only with other values of NowWithSuspend().
  virtual TimePoint NowWithSuspend() noexcept { return Now(); }
  // Wall time, for time stamps only; may jump.
  virtual std::chrono::sys_time<std::chrono::microseconds> WallNow() noexcept = 0;
  // Runs `task` once, at `when` or soon after; if `when` has passed, at once, but never inside this call. The task runs
  // on the clock's thread and must only post.
  [[nodiscard]] virtual Timer At(TimePoint when, TimerKind kind, Task task) = 0;
  [[nodiscard]] Timer After(Nanos delay, TimerKind kind, Task task);
  // The default calls At() for each Set(), and ends the process if that throws (docs/lifetimes.md).
  [[nodiscard]] virtual Shared<ReservedTimer> ReserveTimer();
};

// Returns `now` + `delay`, at most the end of time: a delay of Nanos::max() means never.
constexpr TimePoint Later(TimePoint now, Nanos delay) noexcept {
  return delay > TimePoint::max() - now ? TimePoint::max() : now + delay;
}

inline Timer Clock::After(Nanos delay, TimerKind kind, Task task) {
  return At(Later(Now(), delay), kind, std::move(task));
}

// Returns the machine's clock. It has one timer thread per process, which the first timer starts.
Shared<Clock> SystemClock();

}  // namespace kgen

#endif  // KGEN_CORE_CLOCK_H_
