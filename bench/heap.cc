// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/heap.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "kgen/core/memory.h"

// The functions of glibc, under the names for programs that replace the public ones.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace kgen::bench {
namespace {

constexpr std::int64_t kChunkHeader = 8;

constinit std::atomic<bool> counting{false};
constinit std::atomic<std::int64_t> live{0};
constinit std::atomic<std::int64_t> peak{0};
constinit std::atomic<std::int64_t> allocations{0};
constinit HeapUse before{};  // the blocks at StartCounting()

constexpr std::int64_t kBetweenLooks = 64;  // allocations between two updates of the peak

std::int64_t BytesOfBlocks() noexcept { return GetHeapUse().bytes - before.bytes; }

bool Counting() noexcept { return counting.load(std::memory_order_relaxed); }

void Count(void* block, int sign) noexcept {
  if (block == nullptr || !Counting()) return;
  const std::int64_t bytes = static_cast<std::int64_t>(::malloc_usable_size(block)) + kChunkHeader;
  const std::int64_t now = live.fetch_add(sign * bytes, std::memory_order_relaxed) + sign * bytes;
  if (sign < 0) return;
  if (allocations.fetch_add(1, std::memory_order_relaxed) % kBetweenLooks != 0) return;
  const std::int64_t both = now + BytesOfBlocks();
  std::int64_t most = peak.load(std::memory_order_relaxed);
  while (both > most && !peak.compare_exchange_weak(most, both, std::memory_order_relaxed)) {
  }
}

}  // namespace

void Heap::StartCounting() noexcept {
  before = GetHeapUse();
  counting.store(true, std::memory_order_relaxed);
}
std::int64_t Heap::Live() noexcept { return live.load(std::memory_order_relaxed) + BytesOfBlocks(); }
std::int64_t Heap::Peak() noexcept { return peak.load(std::memory_order_relaxed); }
void Heap::ResetPeak() noexcept { peak.store(Live(), std::memory_order_relaxed); }
std::int64_t Heap::Allocations() noexcept {
  return allocations.load(std::memory_order_relaxed) + GetHeapUse().allocations - before.allocations;
}

}  // namespace kgen::bench

using kgen::bench::Count;
using kgen::bench::Counting;

extern "C" {

// The flag is tested first, so that counting costs nothing in rows that count instructions.
void* malloc(std::size_t size) {
  if (!Counting()) return __libc_malloc(size);
  void* block = __libc_malloc(size);
  Count(block, 1);
  return block;
}

void* calloc(std::size_t count, std::size_t size) {
  void* block = __libc_calloc(count, size);
  Count(block, 1);
  return block;
}

void* realloc(void* old, std::size_t size) {
  Count(old, -1);
  void* block = __libc_realloc(old, size);
  Count(block != nullptr || size == 0 ? block : old, 1);
  return block;
}

void* memalign(std::size_t alignment, std::size_t size) {
  void* block = __libc_memalign(alignment, size);
  Count(block, 1);
  return block;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  void* block = memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}

void free(void* block) {
  if (!Counting()) return __libc_free(block);
  Count(block, -1);
  __libc_free(block);
}

}  // extern "C"
