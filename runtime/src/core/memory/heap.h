// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The heap of all blocks (kgen/core/memory.h): one for the process, with free lists by size.
//
//   Take(bytes) --> SizeClass --> a Span with room --> block
//   Region: 16 MiB of address space, cut into Spans of 64 KiB; a Span holds blocks of one size
//
// The strand of an informer moves from thread to thread. With an arena or a cache for each thread, memory that one
// thread freed is not available to the next one, so the process grows with every update although the number of objects
// does not. Here a freed block returns to its span, and any thread can reuse it.
//
// Empty spans are returned to the system, except for a few that are kept because they will be needed soon. When many
// objects are freed in another order than they were allocated, hundreds of spans become empty with the last few blocks,
// and each costs a system call of about ten microseconds. So Give() returns no more memory than it frees: one span for
// each 16 KiB. The rest is left to an idle thread, see GiveBack().
#ifndef KGEN_SRC_CORE_MEMORY_HEAP_H_
#define KGEN_SRC_CORE_MEMORY_HEAP_H_

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/memory/mutex.h"
#include "kgen/core/memory.h"

namespace kgen::detail {

// A lock that is held for about twenty instructions. Unlocking a std::mutex would cost as much as locking it.
class KGEN_CAPABILITY("mutex") SpinLock {
 public:
  void lock() noexcept KGEN_ACQUIRE() {
    if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      Wait();
  }
  void unlock() noexcept KGEN_RELEASE() { taken_.store(false, std::memory_order_release); }

 private:
  void Wait() noexcept;
  std::atomic<bool> taken_{false};
};

// Thread safety: all members from any thread; they hold a lock for a few instructions, or for a system call when
// address space is needed. Must not be used in a signal handler. Works in a forked child if all locks were taken before
// the fork.
// Lifetime: constant-initialized and trivially destroyed, so that static objects may own blocks at exit.
class Heap {
 public:
  static constexpr std::size_t kSpanBytes = 64u << 10;
  static constexpr std::size_t kRegionBytes = 16u << 20;
  static constexpr std::size_t kLargestInClass = 16u << 10;  // each larger block has its own spans
  static constexpr std::size_t kMostAtHand = 64;             // free spans that are kept
  static constexpr std::size_t kFreedForEach = 16u << 10;    // bytes to be freed before Give() returns a span

  constexpr Heap() noexcept;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Returns memory aligned to 8 bytes. Throws std::bad_alloc.
  void* Take(std::size_t bytes);
  // Frees a block from Take(), which must not be null.
  void Give(void* block) noexcept;
  // Returns up to `most` free spans to the system, while more than kMostAtHand have memory. Returns true if there are
  // more.
  bool GiveBack(std::size_t most) noexcept;

  HeapUse Use() noexcept;

  // Takes all locks before fork(), and releases them after it in both processes, so that no other thread holds one, and
  // the heap is consistent, in the child. Threads that allocate meanwhile wait for the fork. The analysis cannot follow
  // locks that one function takes and another one releases.
  void BeforeFork() noexcept KGEN_NO_THREAD_SAFETY_ANALYSIS;
  void AfterFork() noexcept KGEN_NO_THREAD_SAFETY_ANALYSIS;

  // The size of the block for the given number of bytes, up to kLargestInClass.
  static constexpr std::size_t BlockSize(std::size_t bytes) noexcept { return SizeOf(ClassOf(bytes)); }

 private:
  static constexpr std::size_t kSpansInRegion = kRegionBytes / kSpanBytes;
  static constexpr std::size_t kGrain = 8;
  static constexpr std::size_t kLinearUpTo = 1024;  // sizes grow by 8 bytes up to here, then by an eighth at most
  static constexpr std::size_t kLinearClasses = kLinearUpTo / kGrain + 1;
  static constexpr std::size_t kClasses = kLinearClasses + 4 * 8;
  static constexpr std::size_t kWords = kSpansInRegion / 64;

  struct SizeClass;
  struct FreeBlock {
    FreeBlock* next;
  };
  // The data of a span. It is at the start of the region, because a span that was returned to the system has no memory.
  struct alignas(64) Span {
    SizeClass* of;    // null: one large block
    FreeBlock* free;  // freed blocks
    char* untouched;  // the end of the blocks that were ever taken
    Span* next;       // in the list of spans with room of the class, or of spans at hand
    Span* previous;
    std::size_t used;  // blocks; of a large block: bytes, in whole pages
  };
  struct alignas(64) SizeClass {
    SpinLock lock;
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;  // blocks in a span
    std::uint32_t due_mask = 0;  // when these bits of `given` are zero, a free span may be returned to the system
    Span* with_room KGEN_GUARDED_BY(lock) = nullptr;
    std::uint64_t taken KGEN_GUARDED_BY(lock) = 0;  // in all
    std::uint64_t given KGEN_GUARDED_BY(lock) = 0;
  };
  struct Region {
    Span spans[kSpansInRegion];  // the first one contains this Region and is never used
    Region* next;                // in the list of regions with free spans
    Region* previous;
    bool listed;
    std::size_t longest;            // at most this many free spans are adjacent
    std::uint64_t free[kWords];     // a bit for each span
    std::uint64_t at_hand[kWords];  // a bit for each free span that still has its memory
  };
  static_assert(sizeof(Region) <= kSpanBytes);

  static constexpr std::size_t ClassOf(std::size_t bytes) noexcept {
    if (bytes <= kLinearUpTo) return (bytes + kGrain - 1) / kGrain;
    const unsigned exponent = static_cast<unsigned>(std::bit_width(bytes - 1)) - 1;
    return kLinearClasses + std::size_t{exponent - 10} * 8 + ((bytes - 1) >> (exponent - 3)) - 8;
  }
  static constexpr std::size_t SizeOf(std::size_t index) noexcept {
    if (index < kLinearClasses) return index == 0 ? kGrain : index * kGrain;
    const std::size_t past = index - kLinearClasses;
    return (past % 8 + 9) << (past / 8 + 7);
  }
  static Region* RegionOf(const void* address) noexcept;
  static Span* SpanOf(const void* block) noexcept;
  static char* StartOf(Span* span) noexcept;

  static void Link(SizeClass& in, Span* span) noexcept KGEN_REQUIRES(in.lock);
  static void Unlink(SizeClass& in, Span* span) noexcept KGEN_REQUIRES(in.lock);
  Span* AddSpan(SizeClass& to) KGEN_REQUIRES(to.lock);
  void* TakeLarge(std::size_t bytes);
  void GiveLarge(Span* span) noexcept;
  void* TakeHuge(std::size_t pages);

  // Adjacent spans of any region.
  Span* TakeSpans(std::size_t count);
  void GiveSpans(Span* first, std::size_t count) noexcept;
  void ReturnSpans(Span* first, std::size_t count) noexcept;
  void MarkTaken(Span* first, std::size_t count) noexcept KGEN_REQUIRES(spans_lock_);
  void MarkFree(Span* first, std::size_t count, bool at_hand) noexcept KGEN_REQUIRES(spans_lock_);
  Region* AddRegion() KGEN_REQUIRES(spans_lock_);
  void List(Region* region) noexcept KGEN_REQUIRES(spans_lock_);
  void Unlist(Region* region) noexcept KGEN_REQUIRES(spans_lock_);
  static std::size_t FindRun(const Region& region, std::size_t count) noexcept;

  std::array<SizeClass, kClasses> classes_;

  SpinLock spans_lock_;                                     // taken after a class's lock, never before
  Region* regions_ KGEN_GUARDED_BY(spans_lock_) = nullptr;  // those with free spans
  Span* oldest_ KGEN_GUARDED_BY(spans_lock_) = nullptr;     // of the free spans that still have their memory
  Span* newest_ KGEN_GUARDED_BY(spans_lock_) = nullptr;
  std::atomic<std::size_t> at_hand_{0};  // the number of these; written under the lock
  std::uint64_t large_taken_ KGEN_GUARDED_BY(spans_lock_) = 0;
  std::uint64_t large_given_ KGEN_GUARDED_BY(spans_lock_) = 0;
  std::size_t large_bytes_ KGEN_GUARDED_BY(spans_lock_) = 0;
  std::atomic<std::size_t> reserved_{0};  // bytes
};

constexpr Heap::Heap() noexcept {
  for (std::size_t i = 0; i < kClasses; ++i) {
    classes_[i].size = static_cast<std::uint32_t>(SizeOf(i));
    classes_[i].capacity = static_cast<std::uint32_t>(kSpanBytes / SizeOf(i));
    classes_[i].due_mask = static_cast<std::uint32_t>(std::bit_floor(kFreedForEach / SizeOf(i)) - 1);
  }
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_MEMORY_HEAP_H_
