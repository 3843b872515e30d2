// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the process has on its heaps, and the most that it had: malloc and its relatives, counted, and the blocks of
// kgen values, which count themselves (kgen/core/memory.h).
//
// A program that links heap.cc has these functions in the place of glibc's; they pass everything on to it. Counting is
// off until StartCounting(), and costs a test of one flag until then.
#ifndef KGEN_BENCH_HEAP_H_
#define KGEN_BENCH_HEAP_H_

#include <cstdint>

namespace kgen::bench {

// Bytes are what a block takes: of malloc's its usable size and the 8 bytes of the chunk's header, of kgen's its size
// class. The peak is looked for at every 64th allocation from malloc.
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
