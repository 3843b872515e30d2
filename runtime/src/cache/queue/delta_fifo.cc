// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/queue/delta_fifo.h"

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

void DeltaFifo::Replace(ListedObjects list, std::string version, bool incomplete, bool other_history,
                        std::string cluster, std::uint64_t held) {
  queue_.push_back({.type = DeltaType::kReplaced,
                    .version = std::move(version),
                    .list = std::move(list),
                    .incomplete = incomplete,
                    .other_history = other_history,
                    .cluster = std::move(cluster),
                    .held = held});
  merges_begin_ = NextSequence();  // Q4
  EndInitial();
}

void DeltaFifo::ReplaceSaved(ListedObjects list, std::string version, std::string cluster) {
  queue_.push_back({.type = DeltaType::kReplaced,
                    .version = std::move(version),
                    .list = std::move(list),
                    .saved = true,
                    .cluster = std::move(cluster)});
  merges_begin_ = NextSequence();  // Q4
  saved_ = true;
}

void DeltaFifo::Resync() {
  queue_.push_back({DeltaType::kSync});
  merges_begin_ = NextSequence();  // Q4
}

void DeltaFifo::Leave(const ShardRanges& ranges, std::uint64_t held) {
  queue_.push_back({.type = DeltaType::kLeft, .held = held, .ranges = std::make_unique<const ShardRanges>(ranges)});
  merges_begin_ = NextSequence();  // Q4
}

void DeltaFifo::Held(std::uint64_t held) { queue_.push_back({.type = DeltaType::kBookmark, .held = held}); }

void DeltaFifo::Bookmark(std::string version) { queue_.push_back({DeltaType::kBookmark, {}, {}, std::move(version)}); }

void DeltaFifo::Complete(std::string version) {
  Bookmark(std::move(version));
  EndInitial();
}

// The initial population ends with the newest element.
void DeltaFifo::EndInitial() {
  if (!initial_done_ && initial_end_ == 0) initial_end_ = NextSequence() - 1;
}

void DeltaFifo::PushOfObject(Delta delta) {
  if (initial_end_ == 0 && !saved_) initial_done_ = true;  // nothing to wait for: the initial population is empty
  newest_[delta.key] = NextSequence();
  queue_.push_back(std::move(delta));
}

bool DeltaFifo::MergeDeletion(Delta& delta) {
  const auto newest = newest_.find(delta.key);
  if (newest == newest_.end() || newest->second < merges_begin_) return false;
  Delta& queued = queue_[newest->second - first_sequence_];
  if (queued.type != DeltaType::kDeleted) return false;
  if (!queued.object) queued.object = std::move(delta.object);  // Q3
  return true;
}

std::vector<Delta> DeltaFifo::Drain(std::size_t max_deltas) {
  std::vector<Delta> drained;
  drained.reserve(std::min(max_deltas, queue_.size()));
  while (!queue_.empty() && drained.size() < std::max<std::size_t>(max_deltas, 1)) {
    drained.push_back(std::move(queue_.front()));
    queue_.pop_front();  // Q7
    const std::uint64_t sequence = first_sequence_++;
    if (const auto newest = newest_.find(drained.back().key); newest != newest_.end() && newest->second == sequence) {
      newest_.erase(newest);
    }
    if (sequence == initial_end_) initial_drained_ = true;
    if (drained.back().takes_steps()) break;
  }
  return drained;
}

void DeltaFifo::Applied() {
  if (initial_drained_) initial_done_ = true;
}

}  // namespace kgen::cache
