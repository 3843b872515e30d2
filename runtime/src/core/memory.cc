// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Allocation and its count. The count is kept per thread, since one shared atomic would cost each decode and copy some
// hundred contended increments.
#include "kgen/core/memory.h"

#include <cstdlib>
#include <mutex>
#include <new>

namespace kgen {
namespace {

// The balance of one thread. Written by its thread only; read by whoever asks LiveBlocks().
struct ThreadCount {
  std::atomic<std::int64_t> live{0};
  ThreadCount* next = nullptr;
  ThreadCount* previous = nullptr;
};

constinit std::mutex mutex;                       // guards the list
constinit ThreadCount* first = nullptr;           // of threads that allocated or freed
constinit std::atomic<std::int64_t> departed{0};  // of threads that ended, and of what they did while ending

// Joins the list for the life of the thread. Other thread-local values may be destroyed later and free blocks then:
// hence `ended`.
thread_local constinit ThreadCount* current = nullptr;
thread_local constinit bool ended = false;

struct Membership {
  ThreadCount count;
  Membership() {
    const std::lock_guard lock(mutex);
    count.next = first;
    if (first != nullptr) first->previous = &count;
    first = &count;
    current = &count;
  }
  ~Membership() {
    const std::lock_guard lock(mutex);
    departed.fetch_add(count.live.load(std::memory_order_relaxed), std::memory_order_relaxed);
    (count.previous != nullptr ? count.previous->next : first) = count.next;
    if (count.next != nullptr) count.next->previous = count.previous;
    current = nullptr;
    ended = true;
  }
};

void CountSlowly(std::int64_t change) noexcept {
  if (!ended) {
    thread_local Membership membership;
    std::atomic<std::int64_t>& live = membership.count.live;
    live.store(live.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  } else {
    departed.fetch_add(change, std::memory_order_relaxed);
  }
}

inline void Count(std::int64_t change) noexcept {
  if (ThreadCount* count = current; count != nullptr) [[likely]] {
    count->live.store(count->live.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  } else {
    CountSlowly(change);
  }
}

}  // namespace

std::int64_t LiveBlocks() noexcept {
  const std::lock_guard lock(mutex);
  std::int64_t sum = departed.load(std::memory_order_relaxed);
  for (const ThreadCount* count = first; count != nullptr; count = count->next) {
    sum += count->live.load(std::memory_order_relaxed);
  }
  return sum;
}

namespace detail {

void* Allocate(std::size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  Count(1);
  return block;
}

void Free(void* block) noexcept {
  if (block == nullptr) return;
  Count(-1);
  std::free(block);
}

}  // namespace detail
}  // namespace kgen
