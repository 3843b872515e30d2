// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The real executor: three lanes of threads over one lock. Posted work has a fixed number of threads. Blocking work has
// as many as it needs, up to a limit, and idle threads end after a while. Work that blocking work waits for (a token
// file, a name) has a separate lane; otherwise it could never run once blocking work holds every thread. A strand is a
// queue that is in at most one of the first two lanes at a time, by the kind of its next task.
//
// Most blocking work is short: a handler that adds a key to a queue. When a thousand handlers have something to do at
// the same moment, a few threads are through with it before a thousand could be started. So blocking work that finds
// no idle thread starts one only while fewer than kBusyThreads are busy. A thread is not busy while it waits
// (Waiter::Wait() tells the pool), nor while it is blocked in user code: its work has taken kStuck, and the system has
// the thread asleep. As long as work is waiting, an idle thread of posted work looks every kStuck whether more threads
// are needed.
//
// The handle (ThreadPool) and the threads share PoolState, so that the last reference may be dropped on any thread,
// even one of the pool: then its threads are released instead of joined (core/execution/thread.h).
#include "core/execution/thread_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/execution/sleeper.h"
#include "core/execution/thread.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "core/observers/notify_observer.h"
#include "kgen/core/executor.h"
#include "kgen/core/memory.h"
#include "kgen/core/observer.h"

namespace kgen {
namespace {

using detail::ForkedChild;
using detail::Sleeper;
using detail::Thread;

constexpr int kTasksInARow = 64;                               // of one strand, before the thread serves others
constexpr std::size_t kSpansAtOnce = 8;                        // spans of memory, which take some hundred microseconds
constexpr Nanos kStartAgain = std::chrono::milliseconds(100);  // after a thread could not be started
constexpr std::size_t kBusyThreads = 4;                        // of blocking work, before more start only when needed
constexpr Nanos kStuck = std::chrono::milliseconds(1);         // work that takes longer may be blocked
constexpr int kShortThreads = 2;  // beyond max_threads: so that a slow name server does not delay reading a token file

enum class Kind : std::uint8_t { kPosted, kBlocking, kShort };

// Returns whether the system has this thread of the process asleep, or cannot tell. Otherwise it runs, or could.
bool IsAsleep(pid_t thread) noexcept {
  char text[256];
  std::snprintf(text, sizeof text, "/proc/self/task/%d/stat", static_cast<int>(thread));
  const int file = ::open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return thread != 0;
  const ssize_t size = ::read(file, text, sizeof text);
  ::close(file);
  // "1234 (name) S ...", where the name may contain anything.
  const std::string_view status(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t name_end = status.rfind(')');
  return name_end == status.npos || status.substr(name_end, 3) != ") R";
}

// A queue of elements that are linked by `next` and owned by their users. Allocates nothing.
template <typename T>
class Fifo {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  void Push(T* element) noexcept {
    element->next = nullptr;
    (head_ != nullptr ? tail_->next : head_) = element;
    tail_ = element;
  }
  T* front() const noexcept { return head_; }
  T* Pop() noexcept {  // null if empty
    T* const first = head_;
    if (first != nullptr) head_ = first->next;
    return first;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
};

class PoolStrand;

// A turn of a strand, which is a part of the strand, or a task without a strand, which the queue owns.
struct Job {
  Shared<PoolStrand> strand;
  Task task;
  std::string name;
  Job* next = nullptr;
};

// Whoever takes a job out of a queue without running it.
void Discard(Job* job) noexcept;

class PoolStrand final : public Strand {
 public:
  struct Item {
    Task task;
    bool blocking = false;
    bool reserved = false;         // a part of a ReservedPost; otherwise the queue owns it
    bool waits = false;            // in the queue
    Shared<SharedObject> owner{};  // while a reserved item waits
    Item* next = nullptr;
  };

  explicit PoolStrand(std::string_view name) : name_(name) {}
  ~PoolStrand() override { Drop(); }
  std::string_view name() const noexcept override { return name_; }

  // Returns true if the strand was idle: then the caller puts turn() into the lane of its first item.
  bool Push(std::unique_ptr<Item> item) noexcept {
    const MutexLock lock(mutex_);
    if (closed_) return false;
    items_.Push(item.release());
    return !std::exchange(scheduled_, true);
  }
  // Queues a reserved item. Its task is replaced if it waits already.
  bool PushReserved(Item& item, Task task, Shared<SharedObject> owner) noexcept {
    const MutexLock lock(mutex_);
    if (closed_) return false;
    std::swap(item.task, task);  // the previous task is destroyed after the lock is released
    if (std::exchange(item.waits, true)) return false;
    item.owner = std::move(owner);
    items_.Push(&item);
    return !std::exchange(scheduled_, true);
  }

  enum class Next : std::uint8_t { kTaken, kOtherLane, kNone };
  // Takes the next task if it is of this kind. After kNone the strand is idle.
  Next Take(bool blocking, Task& task) noexcept {
    Shared<SharedObject> owner;  // destroyed after the lock is released
    const MutexLock lock(mutex_);
    if (items_.empty()) {
      scheduled_ = false;
      return Next::kNone;
    }
    if (items_.front()->blocking != blocking) return Next::kOtherLane;
    task = TakeFirst(owner);
    return Next::kTaken;
  }

  // Destroys the queued tasks and accepts no more, because they may hold a reference to the strand, and then both would
  // keep each other alive.
  void Drop() noexcept {
    for (;;) {
      Shared<SharedObject> owner;  // both destroyed after the lock is released
      Task dropped;
      const MutexLock lock(mutex_);
      closed_ = true;
      if (items_.empty()) return;
      dropped = TakeFirst(owner);
    }
  }

  // Returns the strand's job. A strand is in its lane at most once.
  Job* turn() noexcept {
    turn_.strand = Shared<PoolStrand>(this);
    return &turn_;
  }

 private:
  Task TakeFirst(Shared<SharedObject>& owner) noexcept KGEN_REQUIRES(mutex_) {
    Item* const item = items_.Pop();
    item->waits = false;
    owner = std::move(item->owner);
    Task task = std::move(item->task);
    item->task = nullptr;
    if (!item->reserved) delete item;
    return task;
  }

  const std::string name_;
  Job turn_;
  Mutex mutex_;
  Fifo<Item> items_ KGEN_GUARDED_BY(mutex_);
  bool scheduled_ KGEN_GUARDED_BY(mutex_) = false;  // in a lane, or running
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

void Discard(Job* job) noexcept {
  if (job->strand) {
    const Shared<PoolStrand> strand = std::move(job->strand);
    strand->Drop();
  } else {
    delete job;
  }
}

struct Worker {
  Shared<Sleeper> sleeper = detail::MakeSleeper();
  Thread thread;

  // The following are of blocking work.
  void Begins() noexcept {
    busy_since = SystemClock()->Now();
    blocked = false;
  }
  pid_t id = 0;                                 // 0 until it runs
  TimePoint busy_since = SystemClock()->Now();  // when its work began, or went on after a wait
  bool waits = false;                           // in Waiter::Wait()
  bool blocked = false;                         // seen asleep since busy_since
};

struct Lane {
  Kind kind = Kind::kPosted;
  int limit = 1;
  Fifo<Job> ready;
  std::vector<Worker*> idle;  // the last one to become idle is used first
  std::vector<std::unique_ptr<Worker>> workers;
};

class PoolState final : public detail::WaitScope {
 public:
  explicit PoolState(const ExecutorOptions& options) : idle_(options.idle) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    posted_.limit = options.threads.value_or(std::min(std::max(2, cores), options.max_threads - 1));
    blocking_.limit = options.max_threads - posted_.limit;
    blocking_.kind = Kind::kBlocking;
    short_.limit = kShortThreads;
    short_.kind = Kind::kShort;
  }

  void Add(const Shared<PoolState>& self, Kind kind, Job* job) noexcept;
  // Starts a thread for posted work if there is none, so that what is posted later does not need one.
  void StartPosted(const Shared<PoolState>& self) noexcept;
  void Close() noexcept;
  void Work(Lane& lane, Worker* worker);

  void ReportTo(Shared<Observer> observer) {
    if (ForkedChild()) return;
    const MutexLock lock(mutex_);
    if (!closed_) observers_.push_back(std::move(observer));
  }
  void StopReportingTo(const Observer& observer) noexcept {
    if (ForkedChild()) return;
    Shared<Observer> taken;  // destroyed after the lock is released
    const MutexLock lock(mutex_);
    const auto found = std::ranges::find(observers_, &observer, &Shared<Observer>::get);
    if (found == observers_.end()) return;
    taken = std::move(*found);
    observers_.erase(found);
  }
  int blocking_limit() const noexcept {
    const MutexLock lock(mutex_);
    return blocking_.limit;
  }
  detail::PoolCensus census() const {
    const MutexLock lock(mutex_);
    return {posted_.workers.size(), blocking_.workers.size(), short_.workers.size()};
  }

  // WaitScope.
  void Enter(Wait& wait) noexcept override;
  void Leave(Wait& wait) noexcept override;
  bool closed() const noexcept override {
    const MutexLock lock(mutex_);
    return closed_;
  }

 private:
  // Returns who must be woken, after the lock has been released; or null.
  [[nodiscard]] Shared<Sleeper> FindOrStart(const Shared<PoolState>& self, Lane& lane) noexcept KGEN_REQUIRES(mutex_);
  bool Start(const Shared<PoolState>& self, Lane& lane) noexcept KGEN_REQUIRES(mutex_);
  bool StartForWaiting(const Shared<PoolState>& self) noexcept KGEN_REQUIRES(mutex_);
  [[nodiscard]] Shared<Sleeper> GrowLater(const Shared<PoolState>& self) noexcept KGEN_REQUIRES(mutex_);
  void Grow(const Shared<PoolState>& self) noexcept KGEN_REQUIRES(mutex_);
  std::size_t Busy(TimePoint now) noexcept KGEN_REQUIRES(mutex_);
  [[nodiscard]] Shared<Sleeper> ReportLimit(const Shared<PoolState>& self) noexcept KGEN_REQUIRES(mutex_);
  bool WaitForWork(Lane& lane, Worker* worker) KGEN_REQUIRES(mutex_);
  void Retire(Lane& lane, Worker* worker) KGEN_REQUIRES(mutex_);
  void Run(Lane& lane, Job* job);
  void RunStrand(Lane& lane, PoolStrand& strand);
  void RunTask(Task& task, std::string_view name) noexcept;

  const Nanos idle_;
  mutable Mutex mutex_;
  Lane posted_ KGEN_GUARDED_BY(mutex_);  // the `kind` and `limit` of a lane are constant
  Lane blocking_ KGEN_GUARDED_BY(mutex_);
  Lane short_ KGEN_GUARDED_BY(mutex_);
  Wait* waits_ KGEN_GUARDED_BY(mutex_) = nullptr;    // those in Waiter::Wait
  std::size_t waiting_ KGEN_GUARDED_BY(mutex_) = 0;  // threads of blocking work among these
  // When a thread of posted work calls Grow(); kNoDeadline while no blocking work waits for a thread.
  TimePoint grow_at_ KGEN_GUARDED_BY(mutex_) = Waiter::kNoDeadline;
  // If Close() runs on a thread of the pool, the threads keep running and keep using their workers.
  std::vector<std::unique_ptr<Worker>> left_behind_[3] KGEN_GUARDED_BY(mutex_);
  std::vector<Shared<Observer>> observers_ KGEN_GUARDED_BY(mutex_);
  bool limit_reported_ KGEN_GUARDED_BY(mutex_) = false;
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

// The pool that a thread belongs to, for a handle that is dropped on it.
thread_local constinit const PoolState* current_pool = nullptr;
// On a thread of blocking work: itself.
thread_local constinit Worker* current_worker = nullptr;

void PoolState::Add(const Shared<PoolState>& self, Kind kind, Job* job) noexcept {
  Shared<Sleeper> sleeper;
  {
    const MutexLock lock(mutex_);
    if (!closed_) {
      Lane& lane = kind == Kind::kPosted ? posted_ : kind == Kind::kBlocking ? blocking_ : short_;
      lane.ready.Push(std::exchange(job, nullptr));
      sleeper = FindOrStart(self, lane);
    }
  }
  if (job != nullptr) return Discard(job);
  if (sleeper) sleeper->Wake();  // without the lock, which the woken thread takes
}

void PoolState::StartPosted(const Shared<PoolState>& self) noexcept {
  const MutexLock lock(mutex_);
  if (!closed_ && posted_.workers.empty()) Start(self, posted_);
}

Shared<Sleeper> PoolState::FindOrStart(const Shared<PoolState>& self, Lane& lane) noexcept {
  if (!lane.idle.empty()) {
    Worker* worker = lane.idle.back();
    lane.idle.pop_back();
    return worker->sleeper;
  }
  const bool below_limit = static_cast<int>(lane.workers.size()) < lane.limit;
  if (below_limit && lane.kind == Kind::kBlocking && lane.workers.size() - waiting_ >= kBusyThreads) {
    if (Shared<Sleeper> watcher = GrowLater(self)) return watcher;
    if (grow_at_ != Waiter::kNoDeadline) return {};
  }
  if (below_limit && Start(self, lane)) return {};
  Shared<Sleeper> starter;  // see StartForWaiting()
  if (lane.workers.empty() && !posted_.idle.empty()) starter = posted_.idle.back()->sleeper;
  if (lane.kind != Kind::kBlocking) return starter;
  // If there is a starter, it is the same thread.
  if (Shared<Sleeper> reporter = ReportLimit(self)) return reporter;
  return starter;
}

// Returns false if the system has no thread or no memory for one. Then the work waits for the threads that run.
bool PoolState::Start(const Shared<PoolState>& self, Lane& lane) noexcept {
  try {
    lane.idle.reserve(lane.workers.size() + 1);  // for WaitForWork()
    lane.workers.reserve(lane.workers.size() + 1);
    auto worker = std::make_unique<Worker>();
    worker->thread = Thread::Start([self, &lane, worker = worker.get()] { self->Work(lane, worker); });
    if (!worker->thread) return false;
    lane.workers.push_back(std::move(worker));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// For an idle thread of posted work: starts the threads of lanes that have work and could not start any. Returns false
// if one of them still cannot.
bool PoolState::StartForWaiting(const Shared<PoolState>& self) noexcept {
  bool all = true;
  for (Lane* lane : {&blocking_, &short_}) {
    if (!lane->ready.empty() && lane->workers.empty()) all = Start(self, *lane) && all;
  }
  return all;
}

// Lets a thread of posted work call Grow(). Returns the one that must be woken for that; null if it needs no wake, or
// if there is no such thread, and then grow_at_ stays as it is.
Shared<Sleeper> PoolState::GrowLater(const Shared<PoolState>& self) noexcept {
  if (grow_at_ != Waiter::kNoDeadline) return {};
  if (posted_.workers.empty() && !Start(self, posted_)) return {};
  grow_at_ = SystemClock()->Now() + kStuck;
  return posted_.idle.empty() ? Shared<Sleeper>() : posted_.idle.back()->sleeper;
}

// Starts threads for blocking work that waits, until kBusyThreads are busy.
void PoolState::Grow(const Shared<PoolState>& self) noexcept {
  const TimePoint now = SystemClock()->Now();
  std::size_t busy = Busy(now);
  const Job* job = blocking_.ready.front();
  for (; job != nullptr && busy < kBusyThreads; job = job->next, ++busy) {
    if (static_cast<int>(blocking_.workers.size()) >= blocking_.limit) {
      grow_at_ = Waiter::kNoDeadline;  // the rest runs when others have ended
      if (const Shared<Sleeper> reporter = ReportLimit(self)) reporter->Wake();
      return;
    }
    if (!Start(self, blocking_)) break;
  }
  grow_at_ = job != nullptr ? now + kStuck : Waiter::kNoDeadline;
}

// Counts the threads of blocking work that are at work. On a busy machine a thread may get no processor for
// milliseconds; starting more of them would not help.
std::size_t PoolState::Busy(TimePoint now) noexcept {
  std::size_t busy = 0;
  for (const std::unique_ptr<Worker>& worker : blocking_.workers) {
    if (!worker->blocked && now - worker->busy_since >= kStuck) worker->blocked = IsAsleep(worker->id);
    if (!worker->waits && !worker->blocked) ++busy;
  }
  return busy;
}

// A thread that begins to wait makes room for another one.
void PoolState::Enter(Wait& wait) noexcept {
  Shared<Sleeper> sleeper;
  {
    const MutexLock lock(mutex_);
    wait.next = waits_;
    wait.link = &waits_;
    if (waits_ != nullptr) waits_->link = &wait.next;
    waits_ = &wait;
    if (current_pool != this || current_worker == nullptr) return;
    current_worker->waits = true;
    ++waiting_;
    if (!closed_ && !blocking_.ready.empty()) sleeper = FindOrStart(Shared<PoolState>(this), blocking_);
  }
  if (sleeper) sleeper->Wake();
}

void PoolState::Leave(Wait& wait) noexcept {
  const MutexLock lock(mutex_);
  *wait.link = wait.next;
  if (wait.next != nullptr) wait.next->link = wait.link;
  if (current_pool != this || current_worker == nullptr) return;
  current_worker->waits = false;
  current_worker->Begins();
  --waiting_;
}

// The observer is user code, so a posted task calls it, without holding the lock.
Shared<Sleeper> PoolState::ReportLimit(const Shared<PoolState>& self) noexcept {
  if (limit_reported_ || observers_.empty()) return {};
  try {
    auto job = std::make_unique<Job>();
    job->task = [observers = observers_] {
      for (const Shared<Observer>& observer : observers) {
        NotifyObserver(observer, [](Observer& o) { o.OnLimiterWaited({.what = "executor threads"}); });
      }
    };
    limit_reported_ = true;
    posted_.ready.Push(job.release());
  } catch (const std::bad_alloc&) {
    return {};  // the next task that finds no thread tries again
  }
  return FindOrStart(self, posted_);
}

void PoolState::Work(Lane& lane, Worker* worker) {
  current_pool = this;
  const bool posted = lane.kind == Kind::kPosted;
  const bool blocking = lane.kind == Kind::kBlocking;
  if (blocking) current_worker = worker;
  detail::OnPostedThread() = posted;
  const MutexLock lock(mutex_);
  worker->id = ::gettid();
  bool may_give_back = true;
  while (!closed_ && !ForkedChild()) {  // a task may fork; the child then ends with this thread
    const bool due = posted && grow_at_ != Waiter::kNoDeadline && SystemClock()->Now() >= grow_at_;
    if (due) Grow(Shared<PoolState>(this));
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
    Job* const job = lane.ready.Pop();
    if (blocking) worker->Begins();
    mutex_.unlock();
    Run(lane, job);
    may_give_back = true;
    mutex_.lock();
  }
}

// Returns false if the thread was idle for too long and must end.
bool PoolState::WaitForWork(Lane& lane, Worker* worker) {
  lane.idle.push_back(worker);
  const bool stays = lane.kind == Kind::kPosted;
  const bool again = stays && !StartForWaiting(Shared<PoolState>(this));
  TimePoint until = grow_at_;
  if (again || !stays) until = Later(SystemClock()->Now(), again ? kStartAgain : idle_);
  mutex_.unlock();
  const bool woken = worker->sleeper->SleepUntil(until);
  mutex_.lock();
  const auto still_idle = std::find(lane.idle.begin(), lane.idle.end(), worker);
  if (still_idle == lane.idle.end()) return true;  // work was assigned; the wake may still be on its way
  lane.idle.erase(still_idle);
  if (woken || closed_ || stays) return true;
  Retire(lane, worker);
  return false;
}

void PoolState::Retire(Lane& lane, Worker* worker) {
  const auto found = std::find_if(lane.workers.begin(), lane.workers.end(), [&](auto& w) { return w.get() == worker; });
  worker->thread.Release();
  lane.workers.erase(found);
}

void PoolState::Run(Lane& lane, Job* job) {
  // The strand owns the job, and may be destroyed with this reference.
  if (const Shared<PoolStrand> strand = std::move(job->strand)) return RunStrand(lane, *strand);
  RunTask(job->task, job->name);
  delete job;
}

void PoolState::RunStrand(Lane& lane, PoolStrand& strand) {
  const bool blocking = lane.kind == Kind::kBlocking;
  for (int run = 0;; ++run) {
    if (ForkedChild()) return;
    if (closed()) return strand.Drop();
    Task task;
    const auto next = run < kTasksInARow ? strand.Take(blocking, task) : PoolStrand::Next::kOtherLane;
    if (next == PoolStrand::Next::kNone) return;
    if (next == PoolStrand::Next::kTaken) {
      RunTask(task, strand.name());
      continue;
    }
    const bool next_blocks = run < kTasksInARow ? !blocking : blocking;
    return Add(Shared<PoolState>(this), next_blocks ? Kind::kBlocking : Kind::kPosted, strand.turn());
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
  std::vector<std::unique_ptr<Worker>> workers[3];
  Fifo<Job> dropped[3];
  std::vector<Shared<Observer>> observers;  // they may hold waiters, which refer to this object
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    observers.swap(observers_);
    Lane* const lanes[] = {&posted_, &blocking_, &short_};
    for (std::size_t i = 0; i < 3; ++i) {
      dropped[i] = std::exchange(lanes[i]->ready, {});
      for (auto& worker : lanes[i]->workers) worker->sleeper->Wake();
      workers[i].swap(lanes[i]->workers);
    }
    for (Wait* wait = waits_; wait != nullptr; wait = wait->next) wait->sleeper->Wake();
  }
  for (Fifo<Job>& jobs : dropped) {
    while (Job* const job = jobs.Pop()) Discard(job);
  }
  // A thread of the pool does not join the others: they may be waiting for it.
  const bool own = current_pool == this;
  for (auto& lane : workers) {
    for (auto& worker : lane) {
      if (own) {
        worker->thread.Release();
      } else {
        worker->thread.Join();
      }
    }
  }
  if (own) {
    const MutexLock lock(mutex_);
    for (std::size_t i = 0; i < 3; ++i) left_behind_[i].swap(workers[i]);
  }
}

// A post that was reserved.
class PoolPost final : public ReservedPost {
 public:
  PoolPost(Shared<PoolState> state, Shared<PoolStrand> strand) : state_(std::move(state)), strand_(std::move(strand)) {
    item_.reserved = true;
  }
  void Post(Task task) noexcept override {
    if (ForkedChild()) return detail::LeaveAlone(std::move(task));
    const Shared<PoolPost> self(this);  // the task may run, and drop the last other reference, before this call ends
    if (strand_->PushReserved(item_, std::move(task), self)) state_->Add(state_, Kind::kPosted, strand_->turn());
  }

 private:
  const Shared<PoolState> state_;
  const Shared<PoolStrand> strand_;
  PoolStrand::Item item_;
};

// A reserved post of executors that cannot reserve one.
class AllocatingPost final : public ReservedPost {
 public:
  AllocatingPost(Shared<Executor> executor, Shared<Strand> strand)
      : executor_(std::move(executor)), strand_(std::move(strand)) {}
  void Post(Task task) noexcept override { executor_->Post(strand_, std::move(task)); }

 private:
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
};

class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(const ExecutorOptions& options) : state_(MakeShared<PoolState>(options)) {}
  ~ThreadPool() override { state_->Close(); }

  Shared<Strand> MakeStrand(std::string_view name) override { return MakeShared<PoolStrand>(name); }
  void Post(const Shared<Strand>& strand, Task task) override { OnStrand(strand, std::move(task), false); }
  Shared<ReservedPost> ReservePost(const Shared<Strand>& strand) override {
    if (!ForkedChild()) state_->StartPosted(state_);
    return MakeShared<PoolPost>(state_, Mine(strand));
  }
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
  int blocking_limit() const noexcept { return state_->blocking_limit(); }

 private:
  static Shared<PoolStrand> Mine(const Shared<Strand>& strand) {
    return Shared<PoolStrand>(static_cast<PoolStrand*>(strand.get()));
  }
  void OnStrand(const Shared<Strand>& strand, Task task, bool blocking) {
    if (ForkedChild()) return detail::LeaveAlone(std::move(task));
    const Shared<PoolStrand> mine = Mine(strand);
    auto item = std::make_unique<PoolStrand::Item>();
    item->task = std::move(task);
    item->blocking = blocking;
    if (mine->Push(std::move(item))) state_->Add(state_, blocking ? Kind::kBlocking : Kind::kPosted, mine->turn());
  }
  void Alone(Kind kind, std::string name, Task work) {
    if (ForkedChild()) return detail::LeaveAlone(std::move(work));
    auto job = std::make_unique<Job>();
    job->task = std::move(work);
    job->name = std::move(name);
    state_->Add(state_, kind, job.release());
  }

  const Shared<PoolState> state_;
};

Result<void> Check(const ExecutorOptions& options) {
  const auto refuse = [](const std::string& what) -> Result<void> {
    return Fail(Code::kInvalidArgument, "new thread pool: ExecutorOptions::" + what);
  };
  if (options.threads && *options.threads < 1) {
    return refuse("threads is " + std::to_string(*options.threads) +
                  ", but posted work needs a thread; leave it absent for the number of cores");
  }
  const int least = options.threads.value_or(1);
  if (options.max_threads <= least) {
    return refuse("max_threads is " + std::to_string(options.max_threads) +
                  ", but blocking work needs a thread beside " + "the " + std::to_string(least) +
                  " for posted work; set it to more than that");
  }
  if (options.idle < Nanos(0)) {
    return refuse("idle is " + std::to_string(options.idle.count()) +
                  " ns, but a time is not negative; kgen::kNever keeps idle threads");
  }
  return {};
}

}  // namespace

namespace detail {

PoolCensus CensusOf(const Executor& thread_pool) { return static_cast<const ThreadPool&>(thread_pool).census(); }

std::optional<int> BlockingLimitOf(const Executor& executor) noexcept {
  const auto* const pool = dynamic_cast<const ThreadPool*>(&executor);
  return pool != nullptr ? std::optional(pool->blocking_limit()) : std::nullopt;
}

}  // namespace detail

Shared<ReservedPost> Executor::ReservePost(const Shared<Strand>& strand) {
  return MakeShared<AllocatingPost>(Shared<Executor>(this), strand);
}

Result<Shared<Executor>> MakeThreadPool(const ExecutorOptions& options) {
  if (Result<void> fine = Check(options); !fine) return Fail(std::move(fine).error());
  return MakeShared<ThreadPool>(options);
}

Shared<Executor> DefaultExecutor() {
  if (ForkedChild()) {  // a thread that does not exist here may have been making the other one
    static const Shared<Executor>& forked = *new Shared<Executor>(MakeShared<ThreadPool>(ExecutorOptions()));
    return forked;
  }
  // Never destroyed: at exit, its destructor would wait for running user code, or that code would use static objects
  // that are already destroyed. The threads end with the process.
  static const Shared<Executor>& pool = *new Shared<Executor>(MakeShared<ThreadPool>(ExecutorOptions()));
  return pool;
}

}  // namespace kgen
