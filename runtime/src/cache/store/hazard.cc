// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/store/hazard.h"

namespace kgen::cache {
namespace {

// All slots ever created, newest first. The list never shrinks, so it can be traversed without a lock.
std::atomic<HazardSlot*> all_slots{nullptr};

HazardSlot* TakeSlot() {
  for (HazardSlot* slot = all_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    bool free = false;
    if (slot->taken.compare_exchange_strong(free, true, std::memory_order_acq_rel)) return slot;
  }
  auto* const slot = new HazardSlot();  // kept for the life of the process, see HazardSlot
  slot->taken.store(true, std::memory_order_relaxed);
  slot->next = all_slots.load(std::memory_order_relaxed);
  // Sequentially consistent with the writer, which stores the new pointer and then reads this list: either the writer
  // sees this slot, or the reader sees the new pointer.
  while (!all_slots.compare_exchange_weak(slot->next, slot, std::memory_order_seq_cst)) {
  }
  return slot;
}

struct SlotOfThread {
  HazardSlot* slot = TakeSlot();
  ~SlotOfThread() {
    slot->announced.store(nullptr, std::memory_order_release);
    slot->taken.store(false, std::memory_order_release);
  }
};

}  // namespace

HazardSlot& ThisThreadsSlot() {
  thread_local SlotOfThread mine;
  return *mine.slot;
}

std::vector<const void*> AnnouncedPointers() {
  std::vector<const void*> announced;
  for (HazardSlot* slot = all_slots.load(std::memory_order_seq_cst); slot != nullptr; slot = slot->next) {
    if (const void* pointer = slot->announced.load(std::memory_order_seq_cst)) announced.push_back(pointer);
  }
  return announced;
}

}  // namespace kgen::cache
