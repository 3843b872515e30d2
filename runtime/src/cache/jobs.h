// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What an informer does with all of its objects at once: apply a list, tell a resync, tell a late handler what there
// is. With a million objects each takes seconds, so it is done in steps, one task on the strand for each, and other
// tasks run in between. What a step leaves unfinished nobody else can see: a list is built beside the store and shown
// at once, and nothing else is applied before the job has ended.
#ifndef KGEN_RUNTIME_CACHE_JOBS_H_
#define KGEN_RUNTIME_CACHE_JOBS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/delta_fifo.h"
#include "cache/event_batch.h"
#include "cache/garbage.h"
#include "cache/key_set.h"
#include "cache/processor.h"
#include "cache/store_replacement.h"

namespace kgen::cache {

// Thread safety: on the informer's strand. Destroying an unfinished job abandons it.
class Job {
 public:
  virtual ~Job() = default;
  // Deals with about `units` objects, counting each event once for each handler that hears of it, and takes what it did
  // from `units`. Returns true when all is done.
  virtual bool Step(std::size_t& units) = 0;
};

// What of the informer the jobs use. Outlives them.
struct JobContext {
  Store& store;
  Processor& processor;
  KeySet& refused;  // keys whose newest state was refused
  Garbage& garbage;
};

// Objects given in any order and taken in the order of their keys. Neither step grows with the number of objects.
class ObjectsByKey {
 public:
  void Add(AnyRef object);
  void Sort();  // between the last Add() and the first Take()
  bool empty() const noexcept { return runs_.empty(); }
  AnyRef Take();
  bool FreeSome(std::size_t& units);

 private:
  static constexpr std::size_t kRun = 512;
  using Run = std::vector<AnyRef>;
  static bool LaterFirst(const AnyRef& a, const AnyRef& b);
  static bool LaterRunFirst(const Run& a, const Run& b) { return LaterFirst(a.back(), b.back()); }

  std::vector<Run> runs_;  // each sorted, the first key at the end; a heap with the first key on top
};

// Applies a list: replaces the store's content, then tells the difference, deletions first in the order of their keys,
// then the rest in the order of the list.
class ListJob final : public Job {
 public:
  // `known`: only for a deliberate bug, else empty.
  ListJob(JobContext context, Delta list, bool initial, AnySnapshot known);
  ~ListJob() override;
  bool Step(std::size_t& units) override;

 private:
  enum class Phase : std::uint8_t {
    kPut,
    kFindMissing,
    kPublish,
    kReportFaults,
    kDeliverDeletions,
    kDeliverRest,
    kDone
  };

  bool StepPhase(std::size_t& units);  // true: the phase is done
  bool PutSome(std::size_t& units);
  void PutOne(ListedObject& item);
  bool FindMissing(std::size_t& units);
  bool Publish(std::size_t& units);
  bool DeliverDeletions(std::size_t& units);
  bool DeliverRest(std::size_t& units);

  const JobContext context_;
  Delta list_;
  const Reason reason_;
  String version_;           // of the events
  AnySnapshot base_;         // what the store holds before
  const AnySnapshot known_;  // of a deliberate bug
  Phase phase_ = Phase::kPut;
  std::size_t slot_;  // of the list: how many are to be put, then how many were delivered
  Store::Replacement next_;
  KeySet refused_;  // of the list; the former ones once it is shown
  ObjectMap::Cursor cursor_;
  ObjectsByKey missing_;
  Processor::Recipients recipients_;
  EventBatch events_;
};

// Delivers all objects again to handlers whose period has passed.
class ResyncJob final : public Job {
 public:
  explicit ResyncJob(JobContext context);
  bool Step(std::size_t& units) override;

 private:
  const AnySnapshot snapshot_;
  const String version_;
  const Processor::Recipients recipients_;
  ObjectMap::Cursor cursor_;
};

// Delivers all objects, as initial, to a handler that was added late, and registers it.
class ReplayJob final : public Job {
 public:
  ReplayJob(JobContext context, Shared<Listener> listener, Nanos effective_resync, TimePoint registered);
  // Before its end, because the informer stops: no other place knows the listener yet, so its delivery ends here.
  ~ReplayJob() override;
  bool Step(std::size_t& units) override;

 private:
  const JobContext context_;
  const Shared<Listener> listener_;
  const Nanos effective_resync_;
  const TimePoint registered_;
  std::optional<AnySnapshot> snapshot_;  // taken by the first step: another job may come before
  ObjectMap::Cursor cursor_;
  bool done_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_JOBS_H_
