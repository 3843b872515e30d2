// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/execution/thread.h"

#include <atomic>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"
#include "kgen/core/function.h"

namespace kgen::detail {
namespace {

thread_local constinit bool started_thread = false;

}  // namespace

bool IsStartedThread() noexcept { return started_thread; }

struct Thread::State {
  std::thread thread;
  std::atomic<bool> ended{false};  // set as the last action of the thread, so that joining it then takes no time

  static void LeaveThreadsAlone();

  // Never destroyed: threads may end while the static objects of the process are being destroyed.
  struct Released {
    Mutex mutex;
    std::vector<State*> threads KGEN_GUARDED_BY(mutex);
    bool exiting KGEN_GUARDED_BY(mutex) = false;            // LeaveThreadsAlone() was called: nobody joins any more
    std::vector<State*> left_alone KGEN_GUARDED_BY(mutex);  // detached: their threads may still use their states
  };
  static Released& released() {
    static Released* const kAll = [] {
      std::atexit([] { LeaveThreadsAlone(); });
      return new Released;
    }();
    return *kAll;
  }
};

Thread Thread::Start(UniqueFunction<void()> function) {
  Thread result;
  if (ForkedChild()) return result;
  WatchForks();
  ReapThreads();
  auto* state = new State;
  try {
    state->thread = std::thread([state, function = std::move(function)]() mutable {
      started_thread = true;
      function();
      function = nullptr;  // destroys the captured values before the thread counts as ended
      state->ended.store(true, std::memory_order_release);
    });
  } catch (const std::system_error&) {
    delete state;
    return result;
  }
  result.state_ = state;
  return result;
}

bool Thread::IsThisOne() const noexcept {
  return state_ != nullptr && state_->thread.get_id() == std::this_thread::get_id();
}

void Thread::Join() noexcept {
  State* state = std::exchange(state_, nullptr);
  if (state == nullptr || ForkedChild()) return;
  state->thread.join();
  delete state;
}

void Thread::Release() noexcept {
  State* state = std::exchange(state_, nullptr);
  if (state == nullptr || ForkedChild()) return;
  State::Released& released = State::released();
  const MutexLock lock(released.mutex);
  if (!released.exiting) return released.threads.push_back(state);
  state->thread.detach();
  released.left_alone.push_back(state);
}

void ReapThreads() noexcept {
  Thread::State::Released& released = Thread::State::released();
  std::vector<Thread::State*> ended;
  {
    const MutexLock lock(released.mutex);
    std::erase_if(released.threads, [&](Thread::State* state) {
      if (!state->ended.load(std::memory_order_acquire)) return false;
      ended.push_back(state);
      return true;
    });
  }
  for (Thread::State* state : ended) {
    state->thread.join();
    delete state;
  }
}

// Called at the exit of the process. Joins the threads that have ended; others run until the process ends.
void Thread::State::LeaveThreadsAlone() {
  if (ForkedChild()) return;
  ReapThreads();
  Thread::State::Released& released = Thread::State::released();
  const MutexLock lock(released.mutex);
  for (Thread::State* state : released.threads) state->thread.detach();
  released.left_alone = std::exchange(released.threads, {});
  released.exiting = true;
}

}  // namespace kgen::detail
