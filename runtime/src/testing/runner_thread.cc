// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/runner_thread.h"

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory/fork.h"
#include "core/memory/mutex.h"

namespace kgen::testing {

// Never destroyed, because threads that are still blocked in a task may end late. Parked threads are joined when the
// process exits.
struct RunnerThread::Parked {
  Mutex mutex;
  std::vector<RunnerThread*> threads KGEN_GUARDED_BY(mutex);

  static Parked& Get() {
    static Parked* const kParked = [] {
      std::atexit([] { Get().JoinAll(); });
      return new Parked;
    }();
    return *kParked;
  }

  void JoinAll() {
    std::vector<RunnerThread*> all;
    {
      const MutexLock lock(mutex);
      all.swap(threads);
    }
    for (RunnerThread* thread : all) {
      thread->quit_ = true;
      thread->sleeper_->Wake();
      thread->thread_.Join();
      delete thread;
    }
  }
};

RunnerThread* RunnerThread::Take() {
  Parked& parked = Parked::Get();
  {
    const MutexLock lock(parked.mutex);
    if (!parked.threads.empty()) {
      RunnerThread* thread = parked.threads.back();
      parked.threads.pop_back();
      return thread;
    }
  }
  auto made = std::make_unique<RunnerThread>();
  made->thread_ = detail::Thread::Start([thread = made.get()] { thread->Loop(); });
  return made->thread_ ? made.release() : nullptr;
}

void RunnerThread::Start(Task task, Task end) {
  task_ = std::move(task);
  end_ = std::move(end);
  sleeper_->Wake();
}

void RunnerThread::Loop() {
  for (;;) {
    sleeper_->SleepUntil(Waiter::kNoDeadline);
    if (quit_ || detail::ForkedChild()) return;
    Task end = std::move(end_);
    std::exchange(task_, nullptr)();
    {
      Parked& parked = Parked::Get();
      const MutexLock lock(parked.mutex);
      parked.threads.push_back(this);
    }
    // From here on the members belong to the next owner of the thread.
    end();
  }
}

}  // namespace kgen::testing
