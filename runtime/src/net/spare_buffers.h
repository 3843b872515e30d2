// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Buffers of response bodies that are used again. The I/O thread fills a buffer and a strand empties it; without reuse,
// one thread would allocate every buffer and another one free it, and the kernel would map new pages for most of them.
#ifndef KGEN_SRC_NET_SPARE_BUFFERS_H_
#define KGEN_SRC_NET_SPARE_BUFFERS_H_

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "core/memory/mutex.h"
#include "kgen/core/shared.h"

namespace kgen::net {

// Thread safety: all members from any thread.
class SpareBuffers : public SharedObject {
 public:
  // Returns an empty string, with the capacity of a spare buffer if there is one.
  std::string Take() noexcept {
    const MutexLock lock(mutex_);
    return count_ == 0 ? std::string() : std::exchange(spare_[--count_], {});
  }

  // Keeps the memory of a string, unless it is small, very large, or more than enough.
  void Keep(std::string buffer) noexcept {
    if (buffer.capacity() < kSmallest || buffer.capacity() > kLargest) return;
    buffer.clear();
    const MutexLock lock(mutex_);
    if (count_ < kMost) spare_[count_++].swap(buffer);
  }

 private:
  // Four pieces of a read each fill the window of a stream.
  static constexpr std::size_t kMost = 4;
  static constexpr std::size_t kSmallest = std::size_t{4} << 10;
  static constexpr std::size_t kLargest = std::size_t{128} << 10;

  Mutex mutex_;
  std::array<std::string, kMost> spare_ KGEN_GUARDED_BY(mutex_);
  std::size_t count_ KGEN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_SPARE_BUFFERS_H_
