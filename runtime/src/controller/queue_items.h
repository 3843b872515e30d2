// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The data structures of a work queue, without its rules, locks and time: items by key, ready items by priority,
// waiting items by time. An item is one block with all the links that it needs, so that moving it from one structure to
// another allocates nothing for the item. The structures themselves only allocate when they grow; where that happens in
// the middle of a change, running out of memory ends the process (noexcept), because a lost item would go unnoticed.
#ifndef KGEN_SRC_CONTROLLER_QUEUE_ITEMS_H_
#define KGEN_SRC_CONTROLLER_QUEUE_ITEMS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kgen/controller/work_queue.h"
#include "kgen/core/clock.h"

namespace kgen::controller {

// Everything that the queue knows about a key. The key itself follows.
struct QueueItem {
  enum class Pending : std::uint8_t {
    kNo,       // only being processed, or only remembered for its failures
    kDelayed,  // in DelayedItems
    kReady,    // in ReadyItems, or held back until its processing ends
  };

  QueueItem* chain = nullptr;  // in ItemMap
  QueueItem* next = nullptr;   // in ItemList
  QueueItem* previous = nullptr;
  std::uint64_t order = 0;  // of becoming ready, or of being delayed
  TimePoint time{};         // delayed: when it becomes ready; ready: since when
  TimePoint started{};      // of its processing
  std::uint32_t hash = 0;
  std::uint32_t position = 0;  // in DelayedItems
  std::int32_t priority = 0;   // of what is pending
  std::uint32_t failures = 0;
  Pending pending = Pending::kNo;
  bool processing = false;
  bool by_worker = false;  // being processed by a worker of Process(), which ends it; otherwise Done() does
  bool periodic = false;   // delayed by Requeue::after, or for ever

  void* key() noexcept { return this + 1; }
  bool Idle() const noexcept { return pending == Pending::kNo && !processing; }
};

// A list through `next` and `previous`.
class ItemList {
 public:
  bool empty() const noexcept { return head_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  QueueItem* head() const noexcept { return head_; }
  void PushBack(QueueItem* item) noexcept;
  void Remove(QueueItem* item) noexcept;

 private:
  QueueItem* head_ = nullptr;
  QueueItem* tail_ = nullptr;
  std::size_t size_ = 0;
};

// Owns the items, by key.
class ItemMap {
 public:
  explicit ItemMap(const detail::KeyType& type) noexcept : type_(type) {}
  ItemMap(const ItemMap&) = delete;
  ItemMap& operator=(const ItemMap&) = delete;
  ~ItemMap();

  QueueItem* Find(const void* key) const noexcept;  // or null
  QueueItem* FindOrInsert(const void* key);
  void Erase(QueueItem* item) noexcept;
  // Takes out all that are not being processed, as a chain for Free().
  QueueItem* TakeUnprocessed() noexcept;
  static void Free(const detail::KeyType& type, QueueItem* chain) noexcept;

 private:
  std::uint32_t HashOf(const void* key) const noexcept;
  QueueItem* FindIn(std::uint32_t hash, const void* key) const noexcept;
  void Grow();

  const detail::KeyType& type_;
  std::vector<QueueItem*> buckets_;  // a power of two of them
  std::size_t size_ = 0;
};

// The items that can be handed out: a list for each priority.
class ReadyItems {
 public:
  struct Band {
    std::int32_t priority;
    ItemList items;
  };

  std::size_t size() const noexcept { return size_; }
  void Push(QueueItem* item) noexcept;
  void Remove(QueueItem* item) noexcept;
  QueueItem* highest() const noexcept;          // these two only if there is one
  QueueItem* longest_waiting() const noexcept;  // of the smallest `order`
  void Clear() noexcept;
  const std::vector<Band>& bands() const noexcept { return bands_; }  // highest first, none empty

 private:
  std::vector<Band>::iterator BandOf(std::int32_t priority) noexcept;  // or where it belongs

  std::vector<Band> bands_;
  std::size_t size_ = 0;
};

// The items that wait for their time: a binary heap by time, then by order.
class DelayedItems {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  QueueItem* first() const noexcept { return heap_.front(); }
  // Whether one of them is not periodic.
  bool has_progress() const noexcept { return progress_ > 0; }
  void Push(QueueItem* item) noexcept;
  void Remove(QueueItem* item) noexcept;
  void Clear() noexcept;

 private:
  static bool Before(const QueueItem* a, const QueueItem* b) noexcept;
  void Place(std::size_t at, QueueItem* item) noexcept;
  void MoveUp(std::size_t at) noexcept;
  void MoveDown(std::size_t at) noexcept;

  std::vector<QueueItem*> heap_;
  std::size_t progress_ = 0;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_QUEUE_ITEMS_H_
