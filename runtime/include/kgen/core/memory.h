// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Allocates the heap blocks behind String, Optional, List, Map, UnknownFields and Ref, and counts them.
//
// Every byte that a kgen value owns on the heap comes from Allocate(): from one heap for the whole process with free
// lists by size, never from a heap per thread. So one thread reuses the memory that another one freed, and a cache
// under updates does not grow. A test can ask at any moment how many blocks are alive: a decode that fails must leave
// exactly as many as there were before. Under AddressSanitizer and ThreadSanitizer every block comes from malloc, so
// that they track each one.
#ifndef KGEN_CORE_MEMORY_H_
#define KGEN_CORE_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

// The result points into the object on which the function was called: Clang warns if that is a temporary.
#if defined(__clang__)
#define KGEN_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define KGEN_LIFETIMEBOUND
#endif

namespace kgen {

// Returns the number of blocks that are allocated and not yet freed, in the whole process. Any thread may call it; it
// never blocks. The number is exact if no other thread creates or destroys kgen values meanwhile.
std::int64_t LiveBlocks() noexcept;

// The state of the heap, in bytes unless noted otherwise.
struct HeapUse {
  std::int64_t blocks = 0;       // alive: LiveBlocks()
  std::int64_t bytes = 0;        // of these blocks, each rounded up to its size class
  std::int64_t reserved = 0;     // obtained from the system and not returned, including free blocks
  std::int64_t allocations = 0;  // since the process began
};
// Returns the state of the heap. Any thread may call it; it never blocks. The figures belong to one moment only while
// no other thread allocates or frees.
HeapUse GetHeapUse() noexcept;

namespace detail {

// Compilers without P2718 (GCC 14 and older) destroy the temporaries of `for (auto& c : Get().spec->containers)` before
// the loop begins. With them, `->` on a temporary Ref or Optional does not compile: give the object a name first. That
// includes uses that would be safe, such as EXPECT_EQ(Get().spec->replicas, 3), because a type cannot tell them apart.
#if defined(__cpp_range_based_for) && __cpp_range_based_for >= 202211L
inline constexpr bool kArrowOnTemporaries = true;
#else
inline constexpr bool kArrowOnTemporaries = false;
#endif
// The name explains the error in the compiler's message.
template <typename T>
concept NoArrowOnATemporaryGiveTheObjectANameFirst = !kArrowOnTemporaries;

// Returns memory for one block, aligned to 8 bytes. Throws std::bad_alloc, as every container does. Any thread may
// call it, and any thread may free the block. Free memory is returned to the system in spans of 64 KiB, at most one in
// each Free().
void* Allocate(std::size_t bytes);
void Free(void* block) noexcept;  // null is allowed
// Gives back to the system up to the given number of free spans that Free() has kept. Returns true if there are more.
// Any thread may call it; it makes a system call for each span, so it is for idle threads.
bool GiveBackMemory(std::size_t spans) noexcept;

// Base class of objects that live as long as cached ones, and belong on the same heap: nodes of a store, tables.
struct OnHeap {
  static void* operator new(std::size_t bytes) { return Allocate(bytes); }
  static void operator delete(void* block) noexcept { Free(block); }
};

// The start of every shareable block. A block that can be written has exactly one owner; a block with several owners
// lies below a Ref<const T> (or is immutable text), so nobody can see it change.
struct BlockHeader {
  std::atomic<std::uint32_t> refs;
  std::uint32_t word;  // length, size or flags, depending on the kind of block
};

inline void AddRef(BlockHeader* block) noexcept { block->refs.fetch_add(1, std::memory_order_relaxed); }

// Returns true if the caller held the last reference and must destroy the block.
inline bool DropRef(BlockHeader* block) noexcept {
  if (block->refs.load(std::memory_order_acquire) == 1) return true;  // sole owner: nobody can add one meanwhile
  return block->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// Gives functions outside of List, Map and the boxed Optional access to the block. If these functions were friends,
// they would be declared once for every element type, used or not, and generated headers have hundreds.
struct BlockAccess {
  template <typename Container>
  static const auto* Of(const Container& container) noexcept {
    return container.block_;
  }
};

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CORE_MEMORY_H_
