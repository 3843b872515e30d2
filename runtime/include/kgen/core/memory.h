// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The heap blocks behind String, Optional, List, Map, UnknownFields and Ref, and the count of those that live.
//
// Every byte that a kgen value owns on the heap comes through Allocate(), so a test can ask at any moment how many
// blocks are alive: a decode that fails must leave exactly as many as it found.
#ifndef KGEN_CORE_MEMORY_H_
#define KGEN_CORE_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

// What comes back points into the object it was called on: Clang warns where that is a temporary whose end is near.
#if defined(__clang__)
#define KGEN_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define KGEN_LIFETIMEBOUND
#endif

namespace kgen {

// Blocks that are allocated and not yet freed, in the whole process. Any thread; never blocks. Exact when no other
// thread creates or destroys kgen values meanwhile.
std::int64_t LiveBlocks() noexcept;

namespace detail {

// Compilers before P2718 (GCC 14 and older) end the temporaries of `for (auto& c : Get().spec->containers)` before the
// loop begins. There `->` on a temporary Ref or Optional does not compile: give the object a name first.
#if defined(__cpp_range_based_for) && __cpp_range_based_for >= 202211L
inline constexpr bool kArrowOnTemporaries = true;
#else
inline constexpr bool kArrowOnTemporaries = false;
#endif

// Memory for one block, aligned for any vocabulary type. Throws std::bad_alloc, as every container does.
void* Allocate(std::size_t bytes);
void Free(void* block) noexcept;

// The start of every shareable block. A block that can be written has exactly one owner; a block with several owners
// lies below a Ref<const T> (or is immutable text), so nobody can see it change. [D5]
struct BlockHeader {
  std::atomic<std::uint32_t> refs;
  std::uint32_t word;  // length, size or flags: what each kind of block makes of it
};

inline void AddRef(BlockHeader* block) noexcept { block->refs.fetch_add(1, std::memory_order_relaxed); }

// True if the caller held the last reference and must destroy the block.
inline bool DropRef(BlockHeader* block) noexcept {
  if (block->refs.load(std::memory_order_acquire) == 1) return true;  // sole owner: nobody can add one meanwhile
  return block->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// The block of a List, Map or boxed Optional, for functions that stand outside of these classes: as friends they would
// be declared once for every type that is put in, used or not, and generated headers have hundreds.
struct BlockAccess {
  template <typename Container>
  static const auto* Of(const Container& container) noexcept {
    return container.block_;
  }
};

}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CORE_MEMORY_H_
