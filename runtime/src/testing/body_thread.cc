// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/body_thread.h"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace kgen::testing {

// Never destroyed, so that threads which are still blocked in a body may end late; those that are parked are joined at
// the process' exit.
struct BodyThread::Parked {
  std::mutex mutex;
  std::vector<BodyThread*> threads;  // guarded by mutex

  static Parked& Get() {
    static Parked* const kParked = [] {
      std::atexit([] { Get().JoinAll(); });
      return new Parked;
    }();
    return *kParked;
  }

  void JoinAll() {
    std::vector<BodyThread*> all;
    {
      const std::lock_guard lock(mutex);
      all.swap(threads);
    }
    for (BodyThread* thread : all) {
      thread->quit_ = true;
      thread->sleeper_->Wake();
      thread->thread_.Join();
      delete thread;
    }
  }
};

BodyThread* BodyThread::Take() {
  Parked& parked = Parked::Get();
  {
    const std::lock_guard lock(parked.mutex);
    if (!parked.threads.empty()) {
      BodyThread* thread = parked.threads.back();
      parked.threads.pop_back();
      return thread;
    }
  }
  auto made = std::make_unique<BodyThread>();
  made->thread_ = detail::Thread::Start([thread = made.get()] { thread->Loop(); });
  return made->thread_ ? made.release() : nullptr;
}

void BodyThread::Start(Task body, Task end) {
  body_ = std::move(body);
  end_ = std::move(end);
  sleeper_->Wake();
}

void BodyThread::Loop() {
  for (;;) {
    sleeper_->SleepUntil(Waiter::kNoDeadline);
    if (quit_) return;
    Task end = std::move(end_);
    std::exchange(body_, nullptr)();
    {
      Parked& parked = Parked::Get();
      const std::lock_guard lock(parked.mutex);
      parked.threads.push_back(this);
    }
    // From here on the members belong to the next owner of the thread.
    end();
  }
}

}  // namespace kgen::testing
