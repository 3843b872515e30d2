// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Current and peak heap use of the process: calls of malloc and related functions are counted here, the blocks of kgen
// values by the runtime (kgen/core/memory.h).
//
// In a program that links heap.cc these functions replace glibc's and forward to them. Counting is off until
// StartCounting(), and costs a test of one flag until then.
#ifndef KGEN_BENCH_HEAP_H_
#define KGEN_BENCH_HEAP_H_

#include <cstdint>

namespace kgen::bench {

// Bytes are the memory that a block occupies: for malloc its usable size and the 8 bytes of the chunk's header, for
// kgen its size class. The peak is updated at every 64th allocation from malloc.
//
// Thread safety: any thread.
struct Heap {
  static void StartCounting() noexcept;
  static std::int64_t Live() noexcept;  // since StartCounting(); negative when older blocks were freed
  static std::int64_t Peak() noexcept;  // since StartCounting() or ResetPeak()
  static void ResetPeak() noexcept;
  static std::int64_t Allocations() noexcept;  // since StartCounting()
};

}  // namespace kgen::bench

#endif  // KGEN_BENCH_HEAP_H_
