// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a child of fork() may do. Only the thread that called fork() exists in the child: the pool, the clock and the
// I/O thread are gone, any lock may be held by one of them forever, and sockets are shared with the parent. So in a
// child of a process in which kgen had started a thread
//
//   values      work: the heap is fork-safe, as malloc is (memory.cc)
//   calls       of connections, executors, informers, queues and controllers fail with ForkedError() (fork_error.h), or
//   have no effect locks       (mutex.h) are not taken, so that none is waited for handles     that are destroyed leave
//   alone what they own: a SharedObject is not destroyed (shared.cc), no thread is
//               joined and no byte is sent
//
// A process that forks before kgen has started a thread is not affected, and neither are its children.
#ifndef KGEN_SRC_CORE_MEMORY_FORK_H_
#define KGEN_SRC_CORE_MEMORY_FORK_H_

#include <atomic>
#include <utility>

namespace kgen {

namespace detail {

// Set in the child, once, before fork() returns there.
extern constinit std::atomic<bool> forked_child;

// True in such a child, and in its own children. A system call such as getpid() would be too slow: every lock asks.
inline bool ForkedChild() noexcept { return forked_child.load(std::memory_order_relaxed); }

// Leaves a value that a caller handed over as it is, because its destructor could use what no longer works.
template <typename T>
void LeaveAlone(T value) noexcept {
  union Kept {
    explicit Kept(T from) noexcept : value(std::move(from)) {}
    ~Kept() {}
    T value;
  };
  const Kept kept(std::move(value));
}

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_SRC_CORE_MEMORY_FORK_H_
