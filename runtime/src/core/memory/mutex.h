// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Mutexes with the annotations of Clang's thread-safety analysis: Clang rejects code that uses guarded members without
// holding the mutex. Other compilers ignore the annotations.
//
// In a forked child (core/memory/fork.h) they are not locked: the thread that holds one may not exist there.
//
//   Mutex mutex_;
//   std::vector<Entry> entries_ KGEN_GUARDED_BY(mutex_);
//   void Grant(Entry& entry) KGEN_REQUIRES(mutex_);  // the caller holds it
#ifndef KGEN_SRC_CORE_MEMORY_MUTEX_H_
#define KGEN_SRC_CORE_MEMORY_MUTEX_H_

#include <mutex>

#include "core/memory/fork.h"

#if defined(__clang__)
#define KGEN_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define KGEN_THREAD_SAFETY(attribute)
#endif
#define KGEN_CAPABILITY(name) KGEN_THREAD_SAFETY(capability(name))
#define KGEN_SCOPED_CAPABILITY KGEN_THREAD_SAFETY(scoped_lockable)
#define KGEN_GUARDED_BY(mutex) KGEN_THREAD_SAFETY(guarded_by(mutex))
#define KGEN_REQUIRES(mutex) KGEN_THREAD_SAFETY(requires_capability(mutex))
#define KGEN_ACQUIRE(...) KGEN_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define KGEN_RELEASE(...) KGEN_THREAD_SAFETY(release_capability(__VA_ARGS__))
// Marks a function that the analysis cannot follow. A comment must say why the function is correct.
#define KGEN_NO_THREAD_SAFETY_ANALYSIS KGEN_THREAD_SAFETY(no_thread_safety_analysis)

namespace kgen {

template <typename Native>
class KGEN_CAPABILITY("mutex") BasicMutex {
 public:
  void lock() KGEN_ACQUIRE() {
    if (!detail::ForkedChild()) [[likely]]
      native_.lock();
  }
  void unlock() KGEN_RELEASE() {
    if (!detail::ForkedChild()) [[likely]]
      native_.unlock();
  }
  // Returns the mutex that a condition variable needs.
  Native& native() noexcept { return native_; }

 private:
  Native native_;
};

using Mutex = BasicMutex<std::mutex>;
using RecursiveMutex = BasicMutex<std::recursive_mutex>;

// Holds a mutex for as long as it lives.
template <typename Lockable>
class KGEN_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Lockable& mutex) KGEN_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() KGEN_RELEASE() { mutex_.unlock(); }

 private:
  Lockable& mutex_;
};

}  // namespace kgen

#endif  // KGEN_SRC_CORE_MEMORY_MUTEX_H_
