// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reading a pointer that a writer may replace at any moment, without a lock and without a shared counter.
//
// A reader announces in the slot of its own thread what it is about to read, and the writer frees nothing that is
// announced in a slot. Readers on different cores therefore write only to different cache lines, so that look-ups scale
// with the number of readers.
#ifndef KGEN_SRC_CACHE_STORE_HAZARD_H_
#define KGEN_SRC_CACHE_STORE_HAZARD_H_

#include <atomic>
#include <vector>

namespace kgen::cache {

// One announcement. A slot belongs to a thread and is returned when the thread ends. Slots are never freed; there are
// only as many as there have ever been reading threads at the same time.
struct alignas(64) HazardSlot {
  std::atomic<const void*> announced{nullptr};
  std::atomic<bool> taken{false};
  HazardSlot* next = nullptr;
};

// The calling thread's slot.
HazardSlot& ThisThreadsSlot();

// Returns all pointers that are announced now.
std::vector<const void*> AnnouncedPointers();

// Protects the object that `source` points to while the guard lives. A thread may have one guard at a time.
template <typename T>
class HazardGuard {
 public:
  explicit HazardGuard(const std::atomic<const T*>& source) : slot_(ThisThreadsSlot()) {
    const T* pointer = source.load(std::memory_order_acquire);
    for (;;) {
      slot_.announced.store(pointer, std::memory_order_seq_cst);
      const T* const again = source.load(std::memory_order_seq_cst);
      if (again == pointer) break;  // still current after the announcement: the writer will see it
      pointer = again;
    }
    pointer_ = pointer;
  }
  ~HazardGuard() { slot_.announced.store(nullptr, std::memory_order_release); }
  HazardGuard(const HazardGuard&) = delete;
  HazardGuard& operator=(const HazardGuard&) = delete;

  const T& operator*() const noexcept { return *pointer_; }
  const T* operator->() const noexcept { return pointer_; }

 private:
  HazardSlot& slot_;
  const T* pointer_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_HAZARD_H_
