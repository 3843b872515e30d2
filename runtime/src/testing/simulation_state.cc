// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/simulation_state.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "testing/runner_thread.h"

namespace kgen::testing {
namespace {

constexpr Nanos kPatience = std::chrono::hours(1);

// The blocking task that this thread is running.
struct CurrentBody {
  SimulationState* state = nullptr;
  Runner* runner = nullptr;
};
thread_local constinit CurrentBody current;

std::string At(TimePoint when) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g s", std::chrono::duration<double>(when.time_since_epoch()).count());
  return text;
}

}  // namespace

SimulationState::SimulationState(std::uint64_t seed) : random_(seed) {
  own_->name = "the test's own thread";
  own_->started = true;
  habit_ = static_cast<std::uint32_t>(NextRandom() >> 32) % 4;
}

SimulationState::SimulationState(Trace replay) : replay_(std::move(replay)) { own_->name = "the test's own thread"; }

// --- Random choices

// splitmix64: tiny, good enough, and the same everywhere.
std::uint64_t SimulationState::NextRandom() noexcept {
  std::uint64_t z = (random_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::uint32_t SimulationState::Choose(std::uint32_t n) {
  if (n <= 1) return 0;  // not a choice, so the trace does not record it
  std::uint32_t choice = 0;
  if (!replay_) {
    choice = static_cast<std::uint32_t>(((NextRandom() >> 32) * n) >> 32);
  } else if (replayed_ < replay_->size()) {
    choice = (*replay_)[replayed_++] % n;
  }
  trace_.push_back(choice);
  return choice;
}

// Most bugs need a certain order of a few tasks, and some need one task to be delayed for a long time. Seeds therefore
// differ in bias: half of them choose evenly, the others mostly choose the oldest or mostly the newest task.
std::uint32_t SimulationState::ChooseReady() {
  const auto n = static_cast<std::uint32_t>(ready_.size());
  if (replay_ || habit_ < 2 || n <= 1 || (NextRandom() & 7) == 0) return Choose(n);
  trace_.push_back(habit_ == 2 ? 0 : n - 1);
  return trace_.back();
}

// --- Functions for the executor, the clock and waiters

void SimulationState::Push(const Shared<SimStrand>& strand, SimStrand::Item item) {
  if (closed_) return;
  strand->items.push_back(std::move(item));
  ++queued_;
  if (!std::exchange(strand->scheduled, true)) ready_.push_back({strand, {}});
}

void SimulationState::AddBlocking(std::string name, Task task, Shared<SimStrand> strand) {
  if (closed_) return;
  auto runner = MakeShared<Runner>();
  runner->name = std::move(name);
  runner->task = std::move(task);
  runner->strand = std::move(strand);
  ++queued_;
  ready_.push_back({{}, std::move(runner)});
}

SimulationState::TimerKey SimulationState::AddTimer(TimePoint when, TimerKind kind, Task task) {
  const TimerKey key{when, next_timer_++};
  if (closed_) return key;
  progress_timers_ += kind == TimerKind::kProgress;
  timers_.emplace(key, ArmedTimer{kind, std::move(task)});
  return key;
}

void SimulationState::RemoveTimer(const TimerKey& key) noexcept {
  const auto found = timers_.find(key);
  if (found == timers_.end()) return;
  const ArmedTimer removed =
      std::move(found->second);  // destroyed last, because its task may hold the last reference to other objects
  progress_timers_ -= removed.kind == TimerKind::kProgress;
  timers_.erase(found);
}

Shared<Runner> SimulationState::Current() noexcept {
  return current.state == this ? Shared<Runner>(current.runner) : own_;
}

void SimulationState::MakeReady(Runner& runner) noexcept {
  if (closed_ || runner.waits_for == nullptr || std::exchange(runner.ready, true)) return;
  ready_.push_back({{}, Shared<Runner>(&runner)});
}

Result<void> SimulationState::Block(Runner& runner) {
  runner.timed_out = runner.ready = false;
  std::optional<TimerKey> deadline;
  if (runner.deadline != Waiter::kNoDeadline) {
    deadline = AddTimer(std::max(runner.deadline, now_), TimerKind::kHousekeeping, [this, &runner] {
      runner.timed_out = true;
      MakeReady(runner);
    });
  }
  Result<void> result;
  if (&runner != own_.get()) {
    Yield(runner);
  } else {
    patience_ = deadline ? Waiter::kNoDeadline : now_ + kPatience;
    auto run = Run(Until::kWoken, {}, 10'000'000);
    if (!run) result = std::unexpected(run.error());
    std::erase_if(ready_, [&](const Ready& each) { return each.runner == own_; });
  }
  if (deadline) RemoveTimer(*deadline);
  return result;
}

// --- The scheduler

Result<void> SimulationState::CheckOwnThread() const {
  if (current.state != nullptr || stepping_) {
    return Fail(Code::kInvalidArgument,
                "only the test's own thread can run the simulation, and not from inside a task of it");
  }
  return {};
}

Result<std::size_t> SimulationState::Run(Until until, TimePoint moment, std::size_t max_steps) {
  if (auto own = CheckOwnThread(); !own) return own.error();
  stepping_ = true;
  std::size_t steps = 0;
  bool chosen = false;
  bool live_lock = false;
  while (!chosen && !live_lock) {
    if (!ready_.empty()) {
      chosen = !Step();
    } else if (!FireTimer(until, moment)) {
      break;
    }
    live_lock = ++steps >= max_steps && !chosen;
  }
  stepping_ = false;
  if (live_lock) {
    return Fail(Code::kDeadlock, "still busy after " + std::to_string(max_steps) +
                                     " steps; the last ones: " + LastSteps() + "; " + WhoWaits());
  }
  if (until == Until::kWoken && !chosen) return Fail(Code::kDeadlock, "nothing can run: " + WhoWaits());
  return steps;
}

bool SimulationState::Step() {
  const std::uint32_t index = ChooseReady();
  const Ready next = std::move(ready_[index]);
  ready_.erase(ready_.begin() + index);
  if (next.strand) {
    Note(next.strand->name());
    RunItem(next.strand);
    return true;
  }
  Note(next.runner->name);
  if (next.runner == own_) return false;
  if (next.runner->started) {
    Resume(next.runner);
  } else {
    Start(next.runner);
  }
  return true;
}

void SimulationState::RunItem(Shared<SimStrand> strand) {
  SimStrand::Item item = std::move(strand->items.front());
  strand->items.pop_front();
  --queued_;
  if (item.blocking) {
    auto runner = MakeShared<Runner>();
    runner->name = strand->name();
    runner->task = std::move(item.task);
    runner->strand = std::move(strand);
    ++queued_;
    return Start(runner);
  }
  RunPosted(std::move(item.task));
  AfterItem(std::move(strand));
}

void SimulationState::AfterItem(Shared<SimStrand> strand) {
  if (closed_) {  // the tasks may hold the strand itself
    std::deque<SimStrand::Item> dropped;
    dropped.swap(strand->items);
    return;
  }
  strand->scheduled = !strand->items.empty();
  if (strand->scheduled) ready_.push_back({std::move(strand), {}});
}

void SimulationState::RunPosted(Task task) noexcept {
  in_posted_task_ = true;
  try {
    task();
  } catch (...) {
    KeepException();
  }
  task = nullptr;
  in_posted_task_ = false;
}

void SimulationState::Start(const Shared<Runner>& runner) {
  RunnerThread* thread = RunnerThread::Take();
  --queued_;
  runner->started = true;
  if (thread == nullptr) {
    runner->task = nullptr;
    exception_ = std::make_exception_ptr(std::runtime_error("no thread for the blocking task " + runner->name));
    if (runner->strand) AfterItem(std::move(runner->strand));
    return;
  }
  runners_.push_back(runner);
  // The simulation may be destroyed before the thread destroys this task, so the task does not use it after returning
  // the baton.
  thread->Start(
      [this, runner = runner.get()] {
        current = {this, runner};
        try {
          runner->task();
        } catch (...) {
          KeepException();
        }
        runner->task = nullptr;
        current = {};
        runner->ended = true;
      },
      [own = own_->baton] { own->Wake(); });
  AwaitBaton(runner);
}

// Passes the baton to a task that has blocked.
void SimulationState::Resume(const Shared<Runner>& runner) {
  runner->baton->Wake();
  AwaitBaton(runner);
}

// Waits until `runner`, which is running, has blocked or ended. Do not read its state before that.
void SimulationState::AwaitBaton(const Shared<Runner>& runner) {
  own_->baton->SleepUntil(Waiter::kNoDeadline);
  if (!runner->ended) return;
  std::erase(runners_, runner);
  if (runner->strand) AfterItem(std::move(runner->strand));
}

// Returns the baton to the scheduler and waits for the next Resume().
void SimulationState::Yield(Runner& runner) {
  const Shared<detail::Sleeper> baton = runner.baton;
  own_->baton->Wake();
  baton->SleepUntil(Waiter::kNoDeadline);
}

// Fires one timer of the earliest time, if `until` lets time advance that far.
bool SimulationState::FireTimer(Until until, TimePoint moment) {
  if (timers_.empty() || timers_.begin()->first.first > now_) {
    const TimePoint next = timers_.empty() ? Waiter::kNoDeadline : timers_.begin()->first.first;
    const bool too_far = until == Until::kIdle     ? progress_timers_ == 0
                         : until == Until::kMoment ? next > moment || timers_.empty()
                                                   : timers_.empty() || (next > patience_ && progress_timers_ == 0);
    if (too_far) {
      if (until == Until::kMoment) now_ = std::max(now_, moment);
      return false;
    }
    now_ = next;
  }
  const TimePoint when = timers_.begin()->first.first;
  const auto end = timers_.upper_bound({when, ~std::uint64_t{0}});
  const auto same = static_cast<std::uint32_t>(std::distance(timers_.begin(), end));
  const auto chosen = std::next(timers_.begin(), Choose(same));
  ArmedTimer timer = std::move(chosen->second);
  timers_.erase(chosen);
  if (timer.kind == TimerKind::kProgress) {
    --progress_timers_;
    if (patience_ != Waiter::kNoDeadline) patience_ = now_ + kPatience;
  }
  Note("a timer");
  RunPosted(std::move(timer.task));
  return true;
}

void SimulationState::Close() {
  closed_ = true;
  while (!runners_.empty()) {
    const Shared<Runner> runner = runners_.front();
    Resume(runner);  // its Wait() returns kCancelled, and so does every later one
  }
  // Destroying a task may cancel timers or destroy further tasks, so nothing is destroyed while a container is being
  // modified.
  std::vector<Ready> ready;
  ready.swap(ready_);
  std::map<TimerKey, ArmedTimer> timers;
  timers.swap(timers_);
  progress_timers_ = queued_ = 0;
  for (Ready& each : ready) {
    if (each.runner) each.runner->task = nullptr;
    if (!each.strand) continue;
    std::deque<SimStrand::Item> items;
    items.swap(each.strand->items);
  }
}

// --- Messages

void SimulationState::KeepException() noexcept {
  if (!exception_) exception_ = std::current_exception();
}

void SimulationState::Rethrow() {
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
}

void SimulationState::Note(std::string_view what) { notes_[steps_++ % kNotes].assign(what); }

std::string SimulationState::LastSteps() const {
  std::string text;
  for (std::size_t i = steps_ > kNotes ? steps_ - kNotes : 0; i < steps_; ++i) {
    if (!text.empty()) text += ", ";
    text += notes_[i % kNotes];
  }
  return text;
}

std::string SimulationState::WhoWaits() const {
  std::string text;
  const auto add = [&](std::string_view part) { text.append(text.empty() ? "" : "; ").append(part); };
  const auto add_runner = [&](const Runner& runner) {
    if (runner.waits_for == nullptr) return;
    std::string part = runner.name + " waits for " + *runner.waits_for;
    if (runner.deadline != Waiter::kNoDeadline) part += " until " + At(runner.deadline);
    if (runner.strand && !runner.strand->items.empty()) {
      part += ", and " + std::to_string(runner.strand->items.size()) + " tasks for it";
    }
    add(part);
  };
  add_runner(*own_);
  for (const Shared<Runner>& runner : runners_) add_runner(*runner);
  for (const Ready& each : ready_) {
    if (each.strand) {
      const std::string_view name = each.strand->name();
      add(name.empty() ? "a strand can run" : std::string(name) + " can run");
    }
    if (each.runner && !each.runner->started) add(each.runner->name + " can start");
  }
  if (!timers_.empty()) {
    add(std::to_string(progress_timers_) + " progress and " + std::to_string(timers_.size() - progress_timers_) +
        " housekeeping timers, the next at " + At(timers_.begin()->first.first));
  }
  add("it is " + At(now_));
  return text;
}

Simulation::Census SimulationState::census() const noexcept { return {runners_.size(), timers_.size(), queued_}; }

}  // namespace kgen::testing
