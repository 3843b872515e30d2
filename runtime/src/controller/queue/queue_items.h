// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The data structures of a work queue, without its logic, locking and timing: items by key, ready items by priority,
// delayed items by time. An item is one block that contains all its links, so moving it from one structure to another
// does not allocate memory for the item. The structures themselves allocate only when they grow. Reserve() lets the
// caller do that before a change. If it fails in the middle of one, the process ends (noexcept, docs/lifetimes.md),
// because a lost item would go unnoticed.
#ifndef KGEN_SRC_CONTROLLER_QUEUE_QUEUE_ITEMS_H_
#define KGEN_SRC_CONTROLLER_QUEUE_QUEUE_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kgen/controller/work_queue.h"
#include "kgen/core/clock.h"

namespace kgen::controller {

// The state of a key. The key itself follows in memory.
struct QueueItem {
  enum class Pending : std::uint8_t {
    kNo,       // only being processed, or only kept for its failure count
    kDelayed,  // in DelayedItems
    kReady,    // in ReadyItems, or held back until its processing ends
  };

  static constexpr TimePoint kUnmeasured = TimePoint::min();

  QueueItem* chain = nullptr;  // in ItemMap
  QueueItem* next = nullptr;   // in ItemList
  QueueItem* previous = nullptr;
  std::uint64_t order = 0;  // the sequence number of becoming ready or delayed
  TimePoint time{};         // if delayed: when the item becomes ready; if ready: since when, or kUnmeasured
  TimePoint started{};      // when its processing started, or kUnmeasured
  TimePoint failing{};      // if reported: since when
  std::uint32_t hash = 0;
  std::uint32_t position = 0;  // in DelayedItems
  std::int32_t priority = 0;   // of the pending addition
  std::uint32_t failures = 0;
  Pending pending = Pending::kNo;
  bool processing = false;
  bool by_worker = false;  // a worker of Process() processes and finishes it; otherwise Done() finishes it
  bool periodic = false;   // delayed by Requeue::after or indefinitely
  bool reported = false;   // its last call failed with an error

  void* key() noexcept { return this + 1; }
  bool Idle() const noexcept { return pending == Pending::kNo && !processing; }
};

// A list of items, linked by `next` and `previous`.
class ItemList {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  QueueItem* head() const noexcept { return head_; }
  void PushBack(QueueItem* item) noexcept {
    item->next = nullptr;
    item->previous = tail_;
    (tail_ != nullptr ? tail_->next : head_) = item;
    tail_ = item;
    ++size_;
  }
  void Remove(QueueItem* item) noexcept {
    (item->previous != nullptr ? item->previous->next : head_) = item->next;
    (item->next != nullptr ? item->next->previous : tail_) = item->previous;
    --size_;
  }

 private:
  QueueItem* head_ = nullptr;
  QueueItem* tail_ = nullptr;
  std::size_t size_ = 0;
};

// A hash map by key that owns the items. It keeps the memory of a few erased items for the next ones.
class ItemMap {
 public:
  explicit ItemMap(const detail::KeyType& type) noexcept : type_(type) {}
  ItemMap(const ItemMap&) = delete;
  ItemMap& operator=(const ItemMap&) = delete;
  ~ItemMap();

  // Mixes the bits, because std::hash of an integer is the integer itself.
  static std::uint32_t HashOf(const detail::KeyType& type, const void* key) noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{type.hash(key)} * 0x9E3779B97F4A7C15u >> 32);
  }
  std::size_t size() const noexcept { return size_; }
  // `hash` is HashOf() the key, which the caller computes without the queue's lock.
  QueueItem* Find(std::uint32_t hash, const void* key) const noexcept;  // null if there is none
  // Requires that there is none. Inserts nothing if it throws.
  QueueItem* Insert(std::uint32_t hash, const void* key);
  void Erase(QueueItem* item) noexcept;
  // Removes all items that are not being processed and returns them as a chain for Free().
  QueueItem* TakeUnprocessed() noexcept;
  static void Free(const detail::KeyType& type, QueueItem* chain) noexcept;

 private:
  void Grow();

  const detail::KeyType& type_;
  std::vector<QueueItem*> buckets_;  // the size is a power of two
  std::size_t size_ = 0;
  void* spare_ = nullptr;  // a chain of blocks without an item
  std::size_t spares_ = 0;
};

// The ready items, in one list for each priority.
class ReadyItems {
 public:
  struct Band {
    std::int32_t priority;
    ItemList items;
  };

  std::size_t size() const noexcept { return size_; }
  // The next Push() allocates nothing.
  void Reserve() {
    if (bands_.size() == bands_.capacity()) Grow();
  }
  void Push(QueueItem* item) noexcept {
    BandOf(item->priority).items.PushBack(item);
    ++size_;
  }
  void Remove(QueueItem* item) noexcept {
    Band& band = BandOf(item->priority);
    band.items.Remove(item);
    --size_;
    if (band.items.empty() && bands_.size() > kKept) EraseLastUsed();
  }
  QueueItem* highest() const noexcept;          // requires size() > 0
  QueueItem* longest_waiting() const noexcept;  // has the smallest `order`; requires size() > 0
  void Clear() noexcept;
  const std::vector<Band>& bands() const noexcept { return bands_; }  // highest first; some may be empty

 private:
  // Empty bands stay while there are no more than this, because most queues have few priorities and often run empty.
  static constexpr std::size_t kKept = 8;

  Band& BandOf(std::int32_t priority) noexcept {
    if (last_used_ >= bands_.size() || bands_[last_used_].priority != priority) FindBand(priority);
    return bands_[last_used_];
  }
  void FindBand(std::int32_t priority) noexcept;  // or inserts it; sets last_used_
  void EraseLastUsed() noexcept;
  void Grow();

  std::vector<Band> bands_;
  std::size_t last_used_ = 0;
  std::size_t size_ = 0;
};

// The delayed items: a binary heap by time, then by order.
class DelayedItems {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  QueueItem* first() const noexcept { return heap_.front(); }
  // Returns whether any item is not periodic.
  bool has_progress() const noexcept { return progress_ > 0; }
  // Push() allocates nothing as long as there are no more than `count` items.
  void Reserve(std::size_t count) {
    if (count > heap_.capacity()) Grow(count);
  }
  void Push(QueueItem* item) noexcept;
  void Remove(QueueItem* item) noexcept;
  void Clear() noexcept;

 private:
  static bool Before(const QueueItem* a, const QueueItem* b) noexcept;
  void Place(std::size_t at, QueueItem* item) noexcept;
  void MoveUp(std::size_t at) noexcept;
  void MoveDown(std::size_t at) noexcept;
  void Grow(std::size_t count);

  std::vector<QueueItem*> heap_;
  std::size_t progress_ = 0;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_QUEUE_QUEUE_ITEMS_H_
