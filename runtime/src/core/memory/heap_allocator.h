// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HeapAllocator: lets a standard container use the heap of kgen's values (kgen/core/memory.h).
//
// For containers that hold something for each object for a short time, as a list or a backlog does. malloc keeps what
// they free: it returns only the end of an arena to the system, and small blocks of other code lie behind. This heap
// returns each span that becomes free.
#ifndef KGEN_SRC_CORE_MEMORY_HEAP_ALLOCATOR_H_
#define KGEN_SRC_CORE_MEMORY_HEAP_ALLOCATOR_H_

#include <cstddef>

#include "kgen/core/memory.h"

namespace kgen::detail {

// Thread safety: any thread; a container may be freed by another thread than the one that filled it.
template <typename T>
struct HeapAllocator {
  using value_type = T;

  HeapAllocator() noexcept = default;
  template <typename U>
  HeapAllocator(const HeapAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 8, "blocks of the heap are aligned to 8 bytes");
    return static_cast<T*>(Allocate(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t) noexcept { Free(static_cast<void*>(block)); }

  friend bool operator==(const HeapAllocator&, const HeapAllocator&) noexcept { return true; }
};

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_MEMORY_HEAP_ALLOCATOR_H_
