// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/hazard.h"

namespace kgen::cache {
namespace {

// All slots ever made, newest first. Never shrinks, so it can be walked without a lock.
std::atomic<HazardSlot*> all_slots{nullptr};

HazardSlot* TakeSlot() {
  for (HazardSlot* slot = all_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    bool free = false;
    if (slot->taken.compare_exchange_strong(free, true, std::memory_order_acq_rel)) return slot;
  }
  auto* const slot = new HazardSlot();  // kept for the life of the process, see HazardSlot
  slot->taken.store(true, std::memory_order_relaxed);
  slot->next = all_slots.load(std::memory_order_relaxed);
  // In one order with the writer's store of what it replaces and its look at the list after that: either it sees this
  // slot, or the reader sees what is new.
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
