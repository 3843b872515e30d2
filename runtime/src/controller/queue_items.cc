// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/queue_items.h"

#include <algorithm>
#include <new>

namespace kgen::controller {
namespace {

constexpr std::size_t kFirstBuckets = 16;

}  // namespace

// ------------------------------------------------------------------------------------------------------- ItemList

void ItemList::PushBack(QueueItem* item) noexcept {
  item->next = nullptr;
  item->previous = tail_;
  (tail_ != nullptr ? tail_->next : head_) = item;
  tail_ = item;
  ++size_;
}

void ItemList::Remove(QueueItem* item) noexcept {
  (item->previous != nullptr ? item->previous->next : head_) = item->next;
  (item->next != nullptr ? item->next->previous : tail_) = item->previous;
  --size_;
}

// -------------------------------------------------------------------------------------------------------- ItemMap

ItemMap::~ItemMap() {
  for (QueueItem* bucket : buckets_) Free(type_, bucket);
}

// Mixes the bits, because std::hash of an integer is the integer itself.
std::uint32_t ItemMap::HashOf(const void* key) const noexcept {
  return static_cast<std::uint32_t>(std::uint64_t{type_.hash(key)} * 0x9E3779B97F4A7C15u >> 32);
}

QueueItem* ItemMap::FindIn(std::uint32_t hash, const void* key) const noexcept {
  if (buckets_.empty()) return nullptr;
  QueueItem* item = buckets_[hash & (buckets_.size() - 1)];
  while (item != nullptr && !(item->hash == hash && type_.equal(item->key(), key))) item = item->chain;
  return item;
}

QueueItem* ItemMap::Find(const void* key) const noexcept { return FindIn(HashOf(key), key); }

QueueItem* ItemMap::FindOrInsert(const void* key) {
  const std::uint32_t hash = HashOf(key);
  if (QueueItem* item = FindIn(hash, key)) return item;
  if (size_ >= buckets_.size()) Grow();
  void* block = ::operator new(sizeof(QueueItem) + type_.size);
  auto* item = ::new (block) QueueItem;
  try {
    type_.copy(item->key(), key);
  } catch (...) {
    ::operator delete(block);
    throw;
  }
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
  *link = std::exchange(item->chain, nullptr);
  --size_;
  Free(type_, item);
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

std::vector<ReadyItems::Band>::iterator ReadyItems::BandOf(std::int32_t priority) noexcept {
  return std::lower_bound(bands_.begin(), bands_.end(), priority,
                          [](const Band& band, std::int32_t sought) { return band.priority > sought; });
}

void ReadyItems::Push(QueueItem* item) noexcept {
  auto band = BandOf(item->priority);
  if (band == bands_.end() || band->priority != item->priority) band = bands_.insert(band, {item->priority, {}});
  band->items.PushBack(item);
  ++size_;
}

void ReadyItems::Remove(QueueItem* item) noexcept {
  const auto band = BandOf(item->priority);
  band->items.Remove(item);
  if (band->items.empty()) bands_.erase(band);
  --size_;
}

QueueItem* ReadyItems::highest() const noexcept { return bands_.front().items.head(); }

QueueItem* ReadyItems::longest_waiting() const noexcept {
  const auto first = std::min_element(bands_.begin(), bands_.end(), [](const Band& a, const Band& b) {
    return a.items.head()->order < b.items.head()->order;
  });
  return first->items.head();
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
