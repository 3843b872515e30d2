// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/queue/queue_items.h"

#include <algorithm>
#include <functional>
#include <new>

namespace kgen::controller {
namespace {

constexpr std::size_t kFirstBuckets = 16;
constexpr std::size_t kMostSpares = 64;

}  // namespace

// -------------------------------------------------------------------------------------------------------- ItemMap

ItemMap::~ItemMap() {
  for (QueueItem* bucket : buckets_) Free(type_, bucket);
  while (spare_ != nullptr) ::operator delete(std::exchange(spare_, *static_cast<void**>(spare_)));
}

QueueItem* ItemMap::Find(std::uint32_t hash, const void* key) const noexcept {
  if (buckets_.empty()) return nullptr;
  QueueItem* item = buckets_[hash & (buckets_.size() - 1)];
  while (item != nullptr && !(item->hash == hash && type_.equal(item->key(), key))) item = item->chain;
  return item;
}

QueueItem* ItemMap::Insert(std::uint32_t hash, const void* key) {
  if (size_ >= buckets_.size()) Grow();
  void* block = spare_;
  void* const next = block != nullptr ? *static_cast<void**>(block) : nullptr;
  if (block == nullptr) block = ::operator new(sizeof(QueueItem) + type_.size);
  try {
    type_.copy(static_cast<QueueItem*>(block) + 1, key);
  } catch (...) {
    if (block != spare_) ::operator delete(block);
    throw;
  }
  if (block == spare_) {
    spare_ = next;
    --spares_;
  }
  auto* const item = ::new (block) QueueItem;
  item->hash = hash;
  QueueItem*& bucket = buckets_[hash & (buckets_.size() - 1)];
  item->chain = std::exchange(bucket, item);
  ++size_;
  return item;
}

void ItemMap::Grow() {
  std::vector<QueueItem*> old(std::max(kFirstBuckets, buckets_.size() * 2));
  old.swap(buckets_);
  for (QueueItem* item : old) {
    while (item != nullptr) {
      QueueItem* const next = item->chain;
      QueueItem*& bucket = buckets_[item->hash & (buckets_.size() - 1)];
      item->chain = std::exchange(bucket, item);
      item = next;
    }
  }
}

void ItemMap::Erase(QueueItem* item) noexcept {
  QueueItem** link = &buckets_[item->hash & (buckets_.size() - 1)];
  while (*link != item) link = &(*link)->chain;
  *link = item->chain;
  --size_;
  type_.destroy(item->key());
  item->~QueueItem();
  void* const block = item;
  if (spares_ == kMostSpares) {
    ::operator delete(block);
  } else {
    spare_ = static_cast<void*>(::new (block) void*(spare_));
    ++spares_;
  }
}

QueueItem* ItemMap::TakeUnprocessed() noexcept {
  QueueItem* taken = nullptr;
  for (QueueItem*& bucket : buckets_) {
    for (QueueItem** link = &bucket; *link != nullptr;) {
      QueueItem* const item = *link;
      if (item->processing) {
        link = &item->chain;
        continue;
      }
      *link = item->chain;
      item->chain = std::exchange(taken, item);
      --size_;
    }
  }
  return taken;
}

void ItemMap::Free(const detail::KeyType& type, QueueItem* chain) noexcept {
  while (chain != nullptr) {
    QueueItem* const item = std::exchange(chain, chain->chain);
    type.destroy(item->key());
    item->~QueueItem();
    ::operator delete(item);
  }
}

// ----------------------------------------------------------------------------------------------------- ReadyItems

void ReadyItems::FindBand(std::int32_t priority) noexcept {
  auto band = std::ranges::lower_bound(bands_, priority, std::greater(), &Band::priority);
  if (band == bands_.end() || band->priority != priority) band = bands_.insert(band, {priority, {}});
  last_used_ = static_cast<std::size_t>(band - bands_.begin());
}

void ReadyItems::EraseLastUsed() noexcept { bands_.erase(bands_.begin() + static_cast<std::ptrdiff_t>(last_used_)); }

void ReadyItems::Grow() { bands_.reserve(std::max(kKept, bands_.capacity() * 2)); }

QueueItem* ReadyItems::highest() const noexcept {
  auto band = bands_.begin();
  while (band->items.empty()) ++band;
  return band->items.head();
}

QueueItem* ReadyItems::longest_waiting() const noexcept {
  QueueItem* longest = nullptr;
  for (const Band& band : bands_) {
    QueueItem* const head = band.items.head();
    if (head != nullptr && (longest == nullptr || head->order < longest->order)) longest = head;
  }
  return longest;
}

void ReadyItems::Clear() noexcept {
  bands_.clear();
  size_ = 0;
}

// --------------------------------------------------------------------------------------------------- DelayedItems

bool DelayedItems::Before(const QueueItem* a, const QueueItem* b) noexcept {
  return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void DelayedItems::Place(std::size_t at, QueueItem* item) noexcept {
  heap_[at] = item;
  item->position = static_cast<std::uint32_t>(at);
}

void DelayedItems::Grow(std::size_t count) { heap_.reserve(std::max(count, heap_.capacity() * 2)); }

void DelayedItems::Push(QueueItem* item) noexcept {
  heap_.push_back(item);
  if (!item->periodic) ++progress_;
  MoveUp(heap_.size() - 1);
}

void DelayedItems::Remove(QueueItem* item) noexcept {
  const std::size_t at = item->position;
  QueueItem* const last = heap_.back();
  heap_.pop_back();
  if (!item->periodic) --progress_;
  if (at == heap_.size()) return;
  heap_[at] = last;
  MoveUp(at);
  MoveDown(last->position);
}

void DelayedItems::MoveUp(std::size_t at) noexcept {
  QueueItem* const item = heap_[at];
  while (at > 0 && Before(item, heap_[(at - 1) / 2])) {
    Place(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  Place(at, item);
}

void DelayedItems::MoveDown(std::size_t at) noexcept {
  QueueItem* const item = heap_[at];
  for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) ++child;
    if (!Before(heap_[child], item)) break;
    Place(at, heap_[child]);
    at = child;
  }
  Place(at, item);
}

void DelayedItems::Clear() noexcept {
  heap_.clear();
  progress_ = 0;
}

}  // namespace kgen::controller
