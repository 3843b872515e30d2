// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SteppedJob: work of an informer on all of its objects, namely applying a list, removing what is no longer held,
// delivering a resync, and replaying the objects to a handler that was added late. With a million objects each takes
// seconds, so a job is done in steps, each a task on the strand, and other tasks run in between. Intermediate results
// are not visible: a list is built beside the store and published at once, and nothing else is applied before the job
// has ended.
#ifndef KGEN_SRC_CACHE_STEPPED_JOBS_H_
#define KGEN_SRC_CACHE_STEPPED_JOBS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/delivery/event_batch.h"
#include "cache/delivery/processor.h"
#include "cache/garbage.h"
#include "cache/queue/delta_fifo.h"
#include "cache/reflector/shard_filter.h"
#include "cache/store/key_set.h"
#include "cache/store/store_difference.h"
#include "cache/store/store_replacement.h"
#include "kgen/core/executor.h"

namespace kgen::cache {

// Thread safety: on the informer's strand. Destroying an unfinished job abandons it.
class SteppedJob {
 public:
  virtual ~SteppedJob() = default;
  // Processes about `units` objects, counting each event once for each handler that receives it, and subtracts the
  // number processed from `units`. Returns true when the job is done.
  virtual bool Step(std::size_t& units) = 0;
};

// The parts of the informer that jobs use. They outlive the jobs.
struct JobContext {
  Store& store;
  Processor& processor;
  KeySet& refused;  // keys whose newest state was refused
  Garbage& garbage;
  const bool& stale;  // the store has a saved state that is not known to be current
};

// Objects that are added in any order and taken in the order of their keys. No single operation takes long, however
// many objects there are.
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

// Applies a list: replaces the store's content, then delivers the differences as events: first the deletions, in the
// order of their keys, then the rest, in the order of the list.
//
// A list that repeats most of the store's objects, as a relist does, is applied as the difference: only what has
// changed is put, and index functions are asked for nothing else. This needs a list in the order of its keys, as
// servers send it, in which nothing is missing or refused, and a store without faults. Any other list replaces the
// whole content.
class ListJob final : public SteppedJob {
 public:
  // `quiet`: handlers are not told of objects that have not changed, because the list was not for them.
  ListJob(JobContext context, Delta list, Reason reason, bool quiet);
  ~ListJob() override;
  bool Step(std::size_t& units) override;

 private:
  enum class Phase : std::uint8_t {
    kCompare,
    kPut,
    kFindMissing,
    kPublish,
    kReportFaults,
    kDeliverDeletions,
    kDeliverRest,
    kDone
  };

  bool StepPhase(std::size_t& units);  // true: the phase is done
  bool Compare(std::size_t& units);
  bool CompareOne(const ListedObject& item);
  bool PutSome(std::size_t& units);
  bool PutChanges(std::size_t& units);
  void PutOne(ListedObject& item);
  bool FindMissing(std::size_t& units);
  bool Publish(std::size_t& units);
  bool DeliverDeletions(std::size_t& units);
  bool DeliverRest(std::size_t& units);

  const JobContext context_;
  Delta list_;
  const Reason reason_;
  const bool quiet_;
  String version_;    // of the events
  AnySnapshot base_;  // the content of the store before the list
  Phase phase_ = Phase::kCompare;
  std::size_t compared_ = 0;          // items
  std::size_t found_ = 0;             // of these, keys that the store has
  std::vector<std::size_t> changed_;  // the items to put
  std::optional<Store::Difference> difference_;
  std::size_t slot_;  // of list_: first the number of items left to put, then the number delivered
  Store::Replacement next_;
  KeySet refused_;  // the keys of the list; after it is published, the former keys, to be freed
  ObjectMap::Cursor cursor_;
  ObjectsByKey missing_;
  Processor::Recipients recipients_;
  EventBatch events_;
};

// Removes the objects that are outside of the ranges, then delivers that they have left, in the order of their keys.
class LeaveJob final : public SteppedJob {
 public:
  // `delta` is a kLeft. `on_unknown` is called at the end if an object whose newest state was refused may have left or
  // not: ranges of UIDs say nothing of a key. The next list tells.
  LeaveJob(JobContext context, ShardBy by, const Delta& delta, Task on_unknown);
  ~LeaveJob() override;
  bool Step(std::size_t& units) override;

 private:
  void Begin();
  bool FindLeaving(std::size_t& units);
  bool ForgetRefused(std::size_t& units);
  bool Publish();
  bool Deliver(std::size_t& units);

  const JobContext context_;
  const ShardBy by_;
  const bool nothing_stays_;
  ShardFilter filter_;
  Task on_unknown_;
  AnySnapshot base_{};  // the content of the store before
  std::optional<Store::Difference> next_;
  ObjectMap::Cursor cursor_;
  KeySet refused_;  // those that stay; after it is published, the former keys, to be freed
  KeySet::Cursor refused_cursor_;
  ObjectsByKey leaving_;
  Processor::Recipients recipients_;
  bool found_ = false, published_ = false, unknown_ = false;
};

// Delivers all objects again to handlers whose period has passed.
class ResyncJob final : public SteppedJob {
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
class ReplayJob final : public SteppedJob {
 public:
  ReplayJob(JobContext context, Shared<Listener> listener, Nanos effective_resync, TimePoint registered);
  // If the job is destroyed before its end, the informer is stopping. Nothing else knows the listener yet, so its
  // delivery is stopped here.
  ~ReplayJob() override;
  bool Step(std::size_t& units) override;

 private:
  const JobContext context_;
  const Shared<Listener> listener_;
  const Nanos effective_resync_;
  const TimePoint registered_;
  std::optional<AnySnapshot> snapshot_;  // taken by the first step, since other jobs may run before it
  ObjectMap::Cursor cursor_;
  bool done_ = false;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STEPPED_JOBS_H_
