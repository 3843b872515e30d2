// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/memory.h"

#include "core/memory/heap.h"

// Sanitizers track blocks through malloc and free.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KGEN_BLOCKS_FROM_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define KGEN_BLOCKS_FROM_MALLOC 1
#endif
#endif

#ifdef KGEN_BLOCKS_FROM_MALLOC

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace kgen {
namespace {

constinit std::atomic<std::int64_t> allocations{0};
constinit std::atomic<std::int64_t> frees{0};
constinit std::atomic<std::int64_t> bytes_alive{0};

std::int64_t SizeOf(void* block) noexcept { return static_cast<std::int64_t>(::malloc_usable_size(block)); }

}  // namespace

HeapUse GetHeapUse() noexcept {
  const std::int64_t made = allocations.load(std::memory_order_relaxed);
  const std::int64_t bytes = bytes_alive.load(std::memory_order_relaxed);
  return {
      .blocks = made - frees.load(std::memory_order_relaxed), .bytes = bytes, .reserved = bytes, .allocations = made};
}

void* detail::Allocate(std::size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  allocations.fetch_add(1, std::memory_order_relaxed);
  bytes_alive.fetch_add(SizeOf(block), std::memory_order_relaxed);
  return block;
}

void detail::Free(void* block) noexcept {
  if (block == nullptr) return;
  frees.fetch_add(1, std::memory_order_relaxed);
  bytes_alive.fetch_sub(SizeOf(block), std::memory_order_relaxed);
  std::free(block);
}

bool detail::GiveBackMemory(std::size_t) noexcept { return false; }

}  // namespace kgen

#else

#include <pthread.h>

namespace kgen {
namespace {

constinit detail::Heap heap;

extern "C" void KgenBeforeFork() { heap.BeforeFork(); }
extern "C" void KgenAfterForkOfHeap() { heap.AfterFork(); }

// When the program starts, so that no thread can be in the heap, and so that this works in programs that use values in
// threads of their own and nothing else of kgen.
[[maybe_unused]] const int watched = pthread_atfork(KgenBeforeFork, KgenAfterForkOfHeap, KgenAfterForkOfHeap);

}  // namespace

HeapUse GetHeapUse() noexcept { return heap.Use(); }

void* detail::Allocate(std::size_t bytes) { return heap.Take(bytes); }

void detail::Free(void* block) noexcept {
  if (block != nullptr) heap.Give(block);
}

bool detail::GiveBackMemory(std::size_t spans) noexcept { return heap.GiveBack(spans); }

}  // namespace kgen

#endif

namespace kgen {

std::int64_t LiveBlocks() noexcept { return GetHeapUse().blocks; }

}  // namespace kgen
