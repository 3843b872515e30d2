// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/delta_fifo.h"

#include <algorithm>
#include <utility>

namespace kgen::cache {

DeltaFifo::DeltaFifo() = default;
DeltaFifo::~DeltaFifo() = default;

void DeltaFifo::Add(ObjectKey key, AnyRef object, std::string version) {
  PushOfObject({DeltaType::kAdded, std::move(key), std::move(object), std::move(version)});
}

void DeltaFifo::Update(ObjectKey key, AnyRef object, std::string version) {
  PushOfObject({DeltaType::kUpdated, std::move(key), std::move(object), std::move(version)});
}

void DeltaFifo::Delete(ObjectKey key, AnyRef object, std::string version) {
  Delta delta{DeltaType::kDeleted, std::move(key), std::move(object), std::move(version)};
  if (!MergeDeletion(delta)) return PushOfObject(std::move(delta));
  if (!delta.version.empty()) Bookmark(std::move(delta.version));
}

void DeltaFifo::Refuse(ObjectKey key, std::string version) {
  PushOfObject({DeltaType::kRefused, std::move(key), {}, std::move(version)});
}

void DeltaFifo::Replace(ListedObjects list, std::string version, bool incomplete, bool other_history) {
  Push({DeltaType::kReplaced, {}, {}, std::move(version), std::move(list), incomplete, other_history});
  EndChains();
  if (!initial_done_ && initial_end_ == 0) initial_end_ = first_sequence_ + queue_.size() - 1;
}

void DeltaFifo::Resync() {
  Push({DeltaType::kSync});
  EndChains();
}

void DeltaFifo::Bookmark(std::string version) { Push({DeltaType::kBookmark, {}, {}, std::move(version)}); }

void DeltaFifo::Push(Delta delta) { queue_.push_back({std::move(delta), 0}); }

void DeltaFifo::PushOfObject(Delta delta) {
  if (initial_end_ == 0) initial_done_ = true;  // nothing to wait for: the initial population is empty
  const std::uint64_t previous = NewestOf(delta.key);
  newest_[delta.key] = first_sequence_ + queue_.size();
  Push(std::move(delta));
  queue_.back().previous = previous;
}

std::uint64_t DeltaFifo::NewestOf(const ObjectKey& key) const {
  const auto newest = newest_.find(key);
  return newest != newest_.end() && newest->second >= chains_begin_ ? newest->second : 0;
}

bool DeltaFifo::MergeDeletion(Delta& delta) {
  const std::uint64_t newest = NewestOf(delta.key);
  if (newest == 0) return false;
  Delta& queued = queue_[newest - first_sequence_].delta;
  if (queued.type != DeltaType::kDeleted) return false;
  if (!queued.object) queued.object = std::move(delta.object);  // Q3
  return true;
}

std::vector<Delta> DeltaFifo::Drain(std::size_t max_deltas) {
  std::vector<Delta> drained;
  drained.reserve(std::min(max_deltas, queue_.size()));
  while (!queue_.empty() && drained.size() < std::max<std::size_t>(max_deltas, 1)) {
    drained.push_back(std::move(queue_.front().delta));
    queue_.pop_front();  // Q7
    const std::uint64_t sequence = first_sequence_++;
    if (const auto newest = newest_.find(drained.back().key); newest != newest_.end() && newest->second == sequence) {
      newest_.erase(newest);
    }
    if (sequence == initial_end_) initial_drained_ = true;
    if (drained.back().type == DeltaType::kReplaced || drained.back().type == DeltaType::kSync) break;
  }
  return drained;
}

void DeltaFifo::Applied() {
  if (initial_drained_) initial_done_ = true;
}

std::vector<const Delta*> DeltaFifo::ChainOf(const ObjectKey& key) const {
  std::vector<const Delta*> chain;
  for (std::uint64_t sequence = NewestOf(key); sequence >= first_sequence_;) {
    const Element& element = queue_[sequence - first_sequence_];
    chain.push_back(&element.delta);
    sequence = element.previous;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

}  // namespace kgen::cache
