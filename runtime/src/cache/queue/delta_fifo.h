// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// DeltaFifo: keeps every change that the reflector received, in order, until the controller loop applies it.
//
//   reflector --Add, Update, Delete, Replace, Resync, Leave, Bookmark--> DeltaFifo --Drain--> controller loop
//
// The queue keeps all deltas in order of arrival, over all objects.
//
// Thread safety: none; reflector and controller loop of an informer run on one strand. Never blocks.
//
// Invariants (tests/runtime/cache/delta_fifo_test.cc names them):
//   Q1  Drained elements come in the order in which they were put in, over all objects.
//   Q2  Every delta that is put in comes out, except a deletion of an object whose newest queued delta is already a
//       deletion; of that, only the version is kept, as a bookmark.
//   Q3  If one of two successive deletions has the final state of the object, that state is kept, in the position of
//       the older deletion.
//   Q4  Replace, Sync and Leave are separate elements; deletions before and after one of them are not merged.
//   Q5  Drain takes at most max_deltas deltas (a Replace counts as one) and at least one. A Replace, a Sync or a Leave
//   is
//       always the last that it takes, because the controller loop applies it in separate steps.
//   Q6  initial_population_done() is false until the first Replace has been drained and reported with Applied(). If an
//       object's delta comes before any Replace, the initial population is empty and therefore done (a Bookmark, a Sync
//       or a Leave does not have this effect). It never becomes false again. A saved Replace, which may only come
//       first, does not count: after it the initial population is done with the next Replace, or with Complete(), once
//       what was put in until then has been drained and reported. Deltas of objects then do not have that effect.
//   Q7  Storage of drained elements is released at once.
#ifndef KGEN_SRC_CACHE_QUEUE_DELTA_FIFO_H_
#define KGEN_SRC_CACHE_QUEUE_DELTA_FIFO_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/queue/listed_objects.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"

namespace kgen::cache {

enum class DeltaType : std::uint8_t {
  kAdded,
  kUpdated,
  kDeleted,   // the object is its final state
  kRefused,   // a state that could not be decoded: only its version and, if it could be read, its key
  kReplaced,  // the complete list; applying it determines what was deleted by comparing it with the store
  kSync,      // send a resync to the handlers that requested one
  kBookmark,  // the version alone
  kLeft,      // objects outside of `ranges` leave the store
};

struct Delta {
  DeltaType type;
  ObjectKey key{};        // empty for kReplaced, kSync, kBookmark, kLeft
  AnyRef object{};        // kAdded, kUpdated, kDeleted
  std::string version{};  // of the event, as the server wrote it
  ListedObjects list{};   // kReplaced
  // kReplaced: an object whose name could not be read is missing from the list, so nothing counts as deleted.
  bool incomplete = false;
  // kReplaced: the server's history was replaced since the store was filled, so equal versions do not imply equal
  // objects.
  bool other_history = false;
  bool saved = false;     // kReplaced: the list is a state that an earlier process has saved
  std::string cluster{};  // kReplaced: the UID of the cluster that the list is from; "" if unknown
  // kReplaced, kLeft, kBookmark: with this element, the store has the state of that call of Informer::Hold(). 0: of
  // none.
  std::uint64_t held = 0;
  std::unique_ptr<const ShardRanges> ranges{};  // kLeft; not null

  bool takes_steps() const noexcept {
    return type == DeltaType::kReplaced || type == DeltaType::kSync || type == DeltaType::kLeft;
  }
};

class DeltaFifo {
 public:
  DeltaFifo();
  ~DeltaFifo();
  DeltaFifo(const DeltaFifo&) = delete;
  DeltaFifo& operator=(const DeltaFifo&) = delete;

  void Add(ObjectKey key, AnyRef object, std::string version);
  void Update(ObjectKey key, AnyRef object, std::string version);
  // Queued even if the object is unknown.
  void Delete(ObjectKey key, AnyRef object, std::string version);
  void Refuse(ObjectKey key, std::string version);
  void Replace(ListedObjects list, std::string version, bool incomplete = false, bool other_history = false,
               std::string cluster = {}, std::uint64_t held = 0);
  void ReplaceSaved(ListedObjects list, std::string version, std::string cluster);
  void Resync();
  // What is outside of the ranges leaves. Whoever puts something in afterwards has left that out.
  void Leave(const ShardRanges& ranges, std::uint64_t held);
  // The state of that call needs no more than what was put in before.
  void Held(std::uint64_t held);
  void Bookmark(std::string version);
  // A bookmark with which the saved state and what followed it are current.
  void Complete(std::string version);

  // Takes elements from the front.
  std::vector<Delta> Drain(std::size_t max_deltas);
  // Call it after applying everything that Drain() has returned and distributing the events.
  void Applied();

  bool empty() const noexcept { return queue_.empty(); }
  std::size_t size() const noexcept { return queue_.size(); }
  // True if the next drained delta still belongs to the initial state.
  bool in_initial_population() const noexcept { return !initial_done_; }
  bool initial_population_done() const noexcept { return initial_done_; }

 private:
  void PushOfObject(Delta delta);
  void EndInitial();
  bool MergeDeletion(Delta& delta);
  std::uint64_t NextSequence() const noexcept { return first_sequence_ + queue_.size(); }

  std::deque<Delta> queue_;
  std::uint64_t first_sequence_ = 1;                     // of queue_.front()
  std::unordered_map<ObjectKey, std::uint64_t> newest_;  // the sequence number of each queued object's last delta
  std::uint64_t merges_begin_ = 1;                       // the sequence number after the last Replace, Sync or Leave
  std::uint64_t initial_end_ = 0;  // the sequence number of the first Replace, or of Complete(); 0: not known yet
  bool saved_ = false;             // ReplaceSaved() was called
  bool initial_drained_ = false;
  bool initial_done_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_QUEUE_DELTA_FIFO_H_
