// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The real executor: three lanes of threads over one lock. Posted work has a fixed number of threads; blocking work
// gets a thread whenever none is idle, up to a limit, and idle threads end after a while. Work that blocking work waits
// for (a token file, a name) has a separate lane; otherwise it could never run once blocking work holds every thread. A
// strand is a queue that is in at most one of the first two lanes at a time, by the kind of its next task.
//
// The handle (ThreadPool) and the threads share PoolState, so that the last reference may be dropped on any thread,
// even one of the pool: then its threads are released instead of joined (core/thread.h).
#include "core/thread_pool.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "core/notify_observer.h"
#include "core/sleeper.h"
#include "core/thread.h"
#include "kgen/core/executor.h"
#include "kgen/core/memory.h"
#include "kgen/core/observer.h"

namespace kgen {
namespace {

using detail::Sleeper;
using detail::Thread;

constexpr int kTasksInARow = 64;         // of one strand, before the thread serves others
constexpr std::size_t kSpansAtOnce = 8;  // spans of memory, which take some hundred microseconds
constexpr int kShortThreads = 2;  // beyond max_threads: so that a slow name server does not delay reading a token file

enum class Kind : std::uint8_t { kPosted, kBlocking, kShort };

class PoolStrand final : public Strand {
 public:
  struct Item {
    Task task;
    bool blocking = false;
  };

  explicit PoolStrand(std::string_view name) : name_(name) {}
  std::string_view name() const noexcept override { return name_; }

  // Returns true if the strand was idle: then the caller puts it into the lane of its first item.
  bool Push(Item item) {
    const MutexLock lock(mutex_);
    items_.push_back(std::move(item));
    return !std::exchange(scheduled_, true);
  }

  enum class Next : std::uint8_t { kTaken, kOtherLane, kNone };
  // Takes the next item if it is of this kind. After kNone the strand is idle.
  Next Take(bool blocking, Item& item) {
    const MutexLock lock(mutex_);
    if (items_.empty()) {
      scheduled_ = false;
      return Next::kNone;
    }
    if (items_.front().blocking != blocking) return Next::kOtherLane;
    item = std::move(items_.front());
    items_.pop_front();
    return Next::kTaken;
  }

  // Destroys the queued tasks, because they may hold a reference to the strand, and then both would keep each other
  // alive.
  void Drop() {
    std::deque<Item> dropped;  // destroyed after the lock is released
    const MutexLock lock(mutex_);
    dropped.swap(items_);
  }

 private:
  const std::string name_;
  Mutex mutex_;
  std::deque<Item> items_ KGEN_GUARDED_BY(mutex_);
  bool scheduled_ KGEN_GUARDED_BY(mutex_) = false;  // in a lane, or running
};

// A turn of a strand, or a task without a strand.
struct Job {
  Shared<PoolStrand> strand;
  Task task;
  std::string name;
};

struct Worker {
  Shared<Sleeper> sleeper = detail::MakeSleeper();
  Thread thread;
};

struct Lane {
  Kind kind = Kind::kPosted;
  int limit = 1;
  std::deque<Job> ready;
  std::vector<Worker*> idle;  // the last one to become idle is used first
  std::vector<std::unique_ptr<Worker>> workers;
};

class PoolState final : public detail::WaitScope {
 public:
  explicit PoolState(const ExecutorOptions& options) : idle_(options.idle) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    posted_.limit = options.threads > 0 ? options.threads : std::max(2, cores);
    blocking_.limit = std::max(1, options.max_threads - posted_.limit);
    blocking_.kind = Kind::kBlocking;
    short_.limit = kShortThreads;
    short_.kind = Kind::kShort;
  }

  void Add(const Shared<PoolState>& self, Kind kind, Job job);
  void Close() noexcept;
  void Work(Lane& lane, Worker* worker);

  void ReportTo(Shared<Observer> observer) {
    const MutexLock lock(mutex_);
    if (!closed_) observers_.push_back(std::move(observer));
  }
  void StopReportingTo(const Observer& observer) noexcept {
    Shared<Observer> taken;  // destroyed after the lock is released
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find(observers_, &observer, &Shared<Observer>::get);
    if (found == observers_.end()) return;
    taken = std::move(*found);
    observers_.erase(found);
  }
  detail::PoolCensus census() const {
    const MutexLock lock(mutex_);
    return {posted_.workers.size(), blocking_.workers.size(), short_.workers.size()};
  }

  // WaitScope.
  void Enter(Sleeper* sleeper) override {
    const MutexLock lock(mutex_);
    waiting_.push_back(sleeper);
  }
  void Leave(Sleeper* sleeper) noexcept override {
    const MutexLock lock(mutex_);
    const auto found = std::find(waiting_.begin(), waiting_.end(), sleeper);
    *found = waiting_.back();
    waiting_.pop_back();
  }
  bool closed() const noexcept override {
    const MutexLock lock(mutex_);
    return closed_;
  }

 private:
  void WakeOrStart(const Shared<PoolState>& self, Lane& lane) KGEN_REQUIRES(mutex_);
  void ReportLimit(const Shared<PoolState>& self) KGEN_REQUIRES(mutex_);
  bool WaitForWork(Lane& lane, Worker* worker) KGEN_REQUIRES(mutex_);
  void Retire(Lane& lane, Worker* worker) KGEN_REQUIRES(mutex_);
  void Run(Lane& lane, Job job);
  void RunStrand(Lane& lane, Shared<PoolStrand> strand);
  void RunTask(Task& task, std::string_view name) noexcept;

  const Nanos idle_;
  mutable Mutex mutex_;
  Lane posted_ KGEN_GUARDED_BY(mutex_);  // the `kind` and `limit` of a lane are constant
  Lane blocking_ KGEN_GUARDED_BY(mutex_);
  Lane short_ KGEN_GUARDED_BY(mutex_);
  std::vector<Sleeper*> waiting_ KGEN_GUARDED_BY(mutex_);  // in Waiter::Wait
  // If Close() runs on a thread of the pool, the threads keep running and keep using their workers.
  std::vector<std::unique_ptr<Worker>> left_behind_ KGEN_GUARDED_BY(mutex_);
  std::vector<Shared<Observer>> observers_ KGEN_GUARDED_BY(mutex_);
  bool limit_reported_ KGEN_GUARDED_BY(mutex_) = false;
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

// The pool that a thread belongs to, for a handle that is dropped on it.
thread_local constinit const PoolState* current_pool = nullptr;

void PoolState::Add(const Shared<PoolState>& self, Kind kind, Job job) {
  Job dropped;  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  if (closed_) {
    dropped = std::move(job);
    return;
  }
  Lane& lane = kind == Kind::kPosted ? posted_ : kind == Kind::kBlocking ? blocking_ : short_;
  lane.ready.push_back(std::move(job));
  WakeOrStart(self, lane);
}

void PoolState::WakeOrStart(const Shared<PoolState>& self, Lane& lane) {
  if (!lane.idle.empty()) {
    Worker* worker = lane.idle.back();
    lane.idle.pop_back();
    worker->sleeper->Wake();
    return;
  }
  if (static_cast<int>(lane.workers.size()) < lane.limit) {
    auto worker = std::make_unique<Worker>();
    worker->thread = Thread::Start([self, &lane, worker = worker.get()] { self->Work(lane, worker); });
    if (worker->thread) {
      lane.workers.push_back(std::move(worker));
      return;
    }
  }
  if (lane.kind == Kind::kBlocking) ReportLimit(self);
}

// The observer is user code, so a posted task calls it, without holding the lock.
void PoolState::ReportLimit(const Shared<PoolState>& self) {
  if (limit_reported_ || observers_.empty()) return;
  limit_reported_ = true;
  Job job;
  job.task = [observers = observers_] {
    for (const Shared<Observer>& observer : observers) {
      NotifyObserver(observer, [](Observer& o) { o.OnLimiterWaited({.what = "executor threads"}); });
    }
  };
  posted_.ready.push_back(std::move(job));
  WakeOrStart(self, posted_);
}

void PoolState::Work(Lane& lane, Worker* worker) {
  current_pool = this;
  detail::OnPostedThread() = lane.kind == Kind::kPosted;
  const MutexLock lock(mutex_);
  bool may_give_back = true;
  while (!closed_) {
    if (lane.ready.empty()) {
      if (may_give_back) {  // the thread is idle, so it makes the system calls that Free() has deferred
        mutex_.unlock();
        may_give_back = detail::GiveBackMemory(kSpansAtOnce);
        mutex_.lock();
        continue;
      }
      if (!WaitForWork(lane, worker)) return;
      continue;
    }
    Job job = std::move(lane.ready.front());
    lane.ready.pop_front();
    mutex_.unlock();
    Run(lane, std::move(job));
    may_give_back = true;
    mutex_.lock();
  }
}

// Returns false if the thread was idle for too long and must end.
bool PoolState::WaitForWork(Lane& lane, Worker* worker) {
  lane.idle.push_back(worker);
  mutex_.unlock();
  const bool stays = lane.kind == Kind::kPosted;
  const bool woken = worker->sleeper->SleepUntil(stays ? Waiter::kNoDeadline : SystemClock()->Now() + idle_);
  mutex_.lock();
  const auto still_idle = std::find(lane.idle.begin(), lane.idle.end(), worker);
  if (still_idle == lane.idle.end()) return true;  // work was assigned; the wake may still be on its way
  lane.idle.erase(still_idle);
  if (woken || closed_) return true;
  Retire(lane, worker);
  return false;
}

void PoolState::Retire(Lane& lane, Worker* worker) {
  const auto found = std::find_if(lane.workers.begin(), lane.workers.end(), [&](auto& w) { return w.get() == worker; });
  worker->thread.Release();
  lane.workers.erase(found);
}

void PoolState::Run(Lane& lane, Job job) {
  if (job.strand) {
    RunStrand(lane, std::move(job.strand));
  } else {
    RunTask(job.task, job.name);
  }
}

void PoolState::RunStrand(Lane& lane, Shared<PoolStrand> strand) {
  const bool blocking = lane.kind == Kind::kBlocking;
  for (int run = 0;; ++run) {
    if (closed()) return strand->Drop();
    PoolStrand::Item item;
    const auto next = run < kTasksInARow ? strand->Take(blocking, item) : PoolStrand::Next::kOtherLane;
    if (next == PoolStrand::Next::kNone) return;
    if (next == PoolStrand::Next::kTaken) {
      RunTask(item.task, strand->name());
      continue;
    }
    const bool next_blocks = run < kTasksInARow ? !blocking : blocking;
    Job again;
    again.strand = std::move(strand);
    return Add(Shared<PoolState>(this), next_blocks ? Kind::kBlocking : Kind::kPosted, std::move(again));
  }
}

// Tasks must not throw; if one does, the exception is reported and the thread continues. A task is destroyed before the
// next one runs.
void PoolState::RunTask(Task& task, std::string_view name) noexcept {
  const auto report = [&](std::string_view what) noexcept {
    for (std::size_t i = 0;; ++i) {
      Shared<Observer> observer;
      {
        const MutexLock lock(mutex_);
        if (i >= observers_.size()) return;
        observer = observers_[i];
      }
      NotifyObserver(observer, [&](Observer& o) { o.OnHandlerFailed({.informer = name, .what = what}); });
    }
  };
  try {
    task();
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report("an exception that is not a std::exception");
  }
  task = nullptr;
}

void PoolState::Close() noexcept {
  std::vector<std::unique_ptr<Worker>> workers;
  std::deque<Job> dropped;
  std::vector<Shared<Observer>> observers;  // they may hold waiters, which refer to this object
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    observers.swap(observers_);
    for (Lane* lane : {&posted_, &blocking_, &short_}) {
      std::move(lane->ready.begin(), lane->ready.end(), std::back_inserter(dropped));
      lane->ready.clear();
      for (auto& worker : lane->workers) worker->sleeper->Wake();
      std::move(lane->workers.begin(), lane->workers.end(), std::back_inserter(workers));
      lane->workers.clear();
    }
    for (Sleeper* sleeper : waiting_) sleeper->Wake();
  }
  for (Job& job : dropped) {
    if (job.strand) job.strand->Drop();
  }
  dropped.clear();
  // A thread of the pool does not join the others: they may be waiting for it.
  const bool own = current_pool == this;
  for (auto& worker : workers) {
    if (own) {
      worker->thread.Release();
    } else {
      worker->thread.Join();
    }
  }
  if (own) {
    const MutexLock lock(mutex_);
    left_behind_.swap(workers);
  }
}

class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(const ExecutorOptions& options) : state_(MakeShared<PoolState>(options)) {}
  ~ThreadPool() override { state_->Close(); }

  Shared<Strand> MakeStrand(std::string_view name) override { return MakeShared<PoolStrand>(name); }
  void Post(const Shared<Strand>& strand, Task task) override { OnStrand(strand, std::move(task), false); }
  void BlockingOn(const Shared<Strand>& strand, Task work) override { OnStrand(strand, std::move(work), true); }
  void Blocking(std::string name, Task work) override { Alone(Kind::kBlocking, std::move(name), std::move(work)); }
  void BlockingShort(std::string name, Task work) override { Alone(Kind::kShort, std::move(name), std::move(work)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override {
    return detail::MakeThreadWaiter(std::string(what), state_);
  }
  Shared<Clock> clock() noexcept override { return SystemClock(); }
  bool InPostedTask() const noexcept override { return detail::OnPostedThread(); }
  void ReportTo(Shared<Observer> observer) override { state_->ReportTo(std::move(observer)); }
  void StopReportingTo(const Observer& observer) noexcept override { state_->StopReportingTo(observer); }

  detail::PoolCensus census() const { return state_->census(); }

 private:
  void OnStrand(const Shared<Strand>& strand, Task task, bool blocking) {
    Job job;
    job.strand = Shared<PoolStrand>(static_cast<PoolStrand*>(strand.get()));
    if (!job.strand->Push({std::move(task), blocking})) return;
    state_->Add(state_, blocking ? Kind::kBlocking : Kind::kPosted, std::move(job));
  }
  void Alone(Kind kind, std::string name, Task work) {
    Job job;
    job.task = std::move(work);
    job.name = std::move(name);
    state_->Add(state_, kind, std::move(job));
  }

  const Shared<PoolState> state_;
};

}  // namespace

namespace detail {

PoolCensus CensusOf(const Executor& thread_pool) { return static_cast<const ThreadPool&>(thread_pool).census(); }

}  // namespace detail

Shared<Executor> MakeThreadPool(ExecutorOptions options) { return MakeShared<ThreadPool>(options); }

Shared<Executor> DefaultExecutor() {
  // Never destroyed: at exit, its destructor would wait for running user code, or that code would use static objects
  // that are already destroyed. The threads end with the process.
  static const Shared<Executor>& pool = *new Shared<Executor>(MakeThreadPool());
  return pool;
}

}  // namespace kgen
