// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ShardedWork: the work of a manager's member: the calls of all its controllers for the objects of some ranges.
//
//   Survey   counts the objects on the server
//   Prepare  the caches hold the ranges, too
//   Start    returns at once. A task waits until the caches have what earlier owners have written, makes the ranges
//            active, and adds the key of every object in them to the queues
//   Drain    the ranges are no longer active; waits for the calls under way, and drops the objects
//
// An event of a hash that is not active adds no key: once the hash becomes active, its objects are added anyway, from a
// state that contains the event.
#ifndef KGEN_SRC_CONTROLLER_MANAGER_SHARDED_WORK_H_
#define KGEN_SRC_CONTROLLER_MANAGER_SHARDED_WORK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "controller/caches/kind_cache.h"
#include "controller/shards/shard_gate.h"
#include "core/memory/mutex.h"
#include "kgen/controller/caches.h"
#include "kgen/controller/shards.h"
#include "kgen/core/executor.h"
#include "kgen/core/object_key.h"

namespace kgen::controller {

// A controller of the manager, as its work sees it.
//
// Thread safety: all members from any thread.
class ShardedController : public SharedObject {
 public:
  // Adds the keys of all objects in the caches, as far as they are in these ranges.
  virtual void Replay(const ShardRanges& ranges) = 0;
  // Others work on these from now on.
  virtual void Forget(const ShardRanges& ranges) = 0;
  // Adds the number of objects of the kind that it reconciles, by the hash of their namespace.
  virtual void CountObjects(std::unordered_map<std::uint64_t, double>& loads) const = 0;
};

// Thread safety: all members from any thread. Prepare() and Drain() block, and no lock is held meanwhile.
// Lifetime: shared by the manager, its member and its controllers. It does not refer to the member, which holds it.
class ShardedWork final : public ShardWork {
 public:
  // Caches that are made later must be sharded, see CachesState::Shard().
  ShardedWork(const Caches& caches, Shared<Executor> executor)
      : caches_(caches.state()), executor_(std::move(executor)) {}

  // Once, before the member runs, with its options.
  void SetGate(Shared<ShardGate> gate, const ShardOptions& options) {
    gate_ = std::move(gate);
    drain_limit_ = options.drain_limit;
    clock_rates_ =
        static_cast<double>(options.lease_duration.count()) / static_cast<double>(options.renew_deadline.count());
  }

  // A controller of the manager reconciles the objects of this cache. Before the member runs.
  void AddCounted(Shared<KindCache> reconciled);

  Result<std::vector<ShardWeight>> Survey(const std::stop_token& stop) override;
  Result<void> Prepare(const ShardRanges& ranges, const std::stop_token& stop) override;
  void Start(const ShardRanges& ranges, const ShardStart& from) override;
  std::optional<ShardVersions> Drain(const ShardRanges& ranges) override;

  // Whether calls for the hash may begin.
  bool IsActive(std::uint64_t hash) const;
  bool IsActive(const ObjectKey& key) const { return IsActive(ShardHash(key.namespace_)); }
  // Whether the caches of the kind hold the objects of some ranges alone.
  bool Divides(const KindInfo& kind) const { return caches_->Divides(kind); }
  // Started ranges whose caches have not caught up.
  ShardRanges starting() const;

  // A call for one key, from before it begins until it has ended. False if it must not begin.
  class Call {
   public:
    Call(ShardedWork& work, const ObjectKey& key);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    explicit operator bool() const noexcept { return active_; }

    Shared<SendGuard> guard() const { return MakeShared<ShardGuard>(work_.gate_, hash_); }
    std::uint64_t fence() const noexcept { return fence_; }
    // Requested once writes are refused.
    std::stop_token stop() const { return stop_.get_token(); }
    // The call has made a write, and nobody knows whether the server has stored it, or as which version.
    void SetUnsure() noexcept { unsure_ = true; }

   private:
    friend class ShardedWork;
    ShardedWork& work_;
    const std::uint64_t hash_;
    std::uint64_t fence_ = 0;
    bool active_ = false, unsure_ = false;
    std::stop_source stop_{};
  };

  // A controller whose handlers are registered, until it ends.
  class Attached {
   public:
    Attached(Shared<ShardedWork> work, ShardedController& controller);
    ~Attached();
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

   private:
    const Shared<ShardedWork> work_;
    ShardedController& controller_;
  };

  // Blocks until no task of this object runs. After the member has ended.
  void Join();

  // ShardOptions::weights: the objects of each namespace. Counted on a thread of its own, after each change of the
  // ranges and from time to time.
  std::optional<std::vector<ShardWeight>> Weights();

 private:
  // Ranges that were started.
  struct Started {
    std::uint64_t id = 0;
    ShardRanges ranges{};
    ShardStart from{};
    bool active = false;
    std::stop_source stop{};
  };

  void Hold(const ShardRanges& more, const ShardRanges& less);
  void CatchUp(std::uint64_t id, const ShardStart& from, const std::stop_token& stop);
  void Activate(std::uint64_t id);
  void Replay(const ShardRanges& ranges);
  void EndTask();
  void AwaitCalls(const ShardRanges& ranges);
  bool AwaitUnsure(const ShardRanges& ranges);
  std::vector<Shared<ShardedController>> controllers() const;
  void NoteChange();
  void CountObjects(std::uint64_t changes);

  const Shared<CachesState> caches_;
  const Shared<Executor> executor_;
  Shared<ShardGate> gate_{};
  Nanos drain_limit_{};
  double clock_rates_ = 1;  // by how much the clocks of two machines may differ
  Mutex hold_mutex_;        // before the locks of the caches
  ShardRanges held_ KGEN_GUARDED_BY(hold_mutex_);
  mutable Mutex mutex_;
  std::uint64_t last_id_ KGEN_GUARDED_BY(mutex_) = 0;
  std::vector<Started> started_ KGEN_GUARDED_BY(mutex_);
  ShardRanges unlisted_ KGEN_GUARDED_BY(mutex_);  // to be listed anew, and not listed yet
  // Hashes of calls with SetUnsure(), and until when their writes may reach the server.
  std::map<std::uint64_t, TimePoint> unsure_ KGEN_GUARDED_BY(mutex_);
  std::vector<Call*> calls_ KGEN_GUARDED_BY(mutex_);
  int tasks_ KGEN_GUARDED_BY(mutex_) = 0;
  std::vector<Shared<Waiter>> waiters_ KGEN_GUARDED_BY(mutex_);  // of Drain() and Join()
  std::vector<Shared<ShardedController>> controllers_ KGEN_GUARDED_BY(mutex_);
  std::vector<Shared<KindCache>> counted_first_ KGEN_GUARDED_BY(mutex_);  // by Survey(), until Join()
  std::vector<ShardWeight> weights_ KGEN_GUARDED_BY(mutex_);
  TimePoint counted_ KGEN_GUARDED_BY(mutex_) = TimePoint::min();
  bool counting_ KGEN_GUARDED_BY(mutex_) = false;
  std::uint64_t changes_ KGEN_GUARDED_BY(mutex_) = 0;          // of what there is to count
  std::uint64_t counted_changes_ KGEN_GUARDED_BY(mutex_) = 0;  // that `weights_` contain
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_MANAGER_SHARDED_WORK_H_
