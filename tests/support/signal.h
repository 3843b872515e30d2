// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Waiting in tests that run in real time: for a condition, woken by the code that changes it, never by a guess of how
// long it takes.
#ifndef KGEN_TESTS_SUPPORT_SIGNAL_H_
#define KGEN_TESTS_SUPPORT_SIGNAL_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace kgen::test_support {

// Long enough for a loaded machine under a sanitizer; only a failing test waits for its end.
inline constexpr std::chrono::seconds kPatience{60};

// Guarded data is changed inside of Change() and read inside of WaitFor() and Look(). Any thread.
class Signal {
 public:
  template <typename Call>
  void Change(Call call) {
    // Notified under the lock: the waiter may destroy this object as soon as it has seen the change.
    const std::lock_guard lock(mutex_);
    std::move(call)();
    changed_.notify_all();
  }
  void Notify() {
    Change([] {});
  }
  // False if `condition` has not become true within kPatience.
  template <typename Condition>
  bool WaitFor(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, std::move(condition));
  }
  template <typename Call>
  auto Look(Call call) {
    const std::lock_guard lock(mutex_);
    return std::move(call)();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_SUPPORT_SIGNAL_H_
