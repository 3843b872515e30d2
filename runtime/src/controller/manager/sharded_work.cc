// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/manager/sharded_work.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <unordered_map>

#include "controller/caches/deliberate_bugs.h"

namespace kgen::controller {
namespace {

constexpr Nanos kCountEvery = std::chrono::seconds(30);
constexpr Nanos kFenceEvery = std::chrono::seconds(1);  // looks of Drain() whether writes are refused
constexpr Nanos kShowLimit = std::chrono::seconds(1);   // for the caches to show what this process has written

std::vector<ShardWeight> WeightsOf(const std::unordered_map<std::uint64_t, double>& loads) {
  std::vector<ShardWeight> weights;
  weights.reserve(loads.size());
  for (const auto& [hash, load] : loads) weights.push_back({hash, load});
  std::ranges::sort(weights, {}, &ShardWeight::hash);  // so that equal states give equal reports
  return weights;
}

}  // namespace

// ------------------------------------------------------------------------------------------------ calls of the member

void ShardedWork::AddCounted(Shared<KindCache> reconciled) {
  const MutexLock lock(mutex_);
  counted_first_.push_back(std::move(reconciled));
}

Result<std::vector<ShardWeight>> ShardedWork::Survey(const std::stop_token& stop) {
  std::vector<Shared<KindCache>> caches;
  {
    const MutexLock lock(mutex_);
    caches = counted_first_;
  }
  std::unordered_map<std::uint64_t, double> loads;
  for (const Shared<KindCache>& each : caches) {
    if (Result<void> counted = each->CountOnServer(loads, stop); !counted) return Fail(counted.error());
  }
  return WeightsOf(loads);
}

// The caches must be told in the order of the changes.
void ShardedWork::Hold(const ShardRanges& more, const ShardRanges& less) {
  const MutexLock lock(hold_mutex_);
  const ShardRanges next = (held_ | more) - less;
  if (next == held_) return;
  held_ = next;
  caches_->Hold(held_);
}

Result<void> ShardedWork::Prepare(const ShardRanges& ranges, const std::stop_token& stop) {
  Hold(ranges, {});
  NoteChange();
  Result<void> held = caches_->WaitUntilHeld(stop);
  NoteChange();
  return held;
}

void ShardedWork::NoteChange() {
  const MutexLock lock(mutex_);
  ++changes_;
}

void ShardedWork::Start(const ShardRanges& ranges, const ShardStart& from) {
  std::uint64_t id = 0;
  std::stop_token stop;
  {
    const MutexLock lock(mutex_);
    id = ++last_id_;
    started_.push_back({.id = id, .ranges = ranges, .from = from});
    stop = started_.back().stop.get_token();
    if (from.list_anew) unlisted_ |= ranges;
    ++changes_;
    ++tasks_;
  }
  executor_->Blocking("start shards", [self = Shared<ShardedWork>(this), id, from, stop] {
    self->CatchUp(id, from, stop);
    self->EndTask();
  });
}

// Until then the caches may show less than what earlier owners have written.
void ShardedWork::CatchUp(std::uint64_t id, const ShardStart& from, const std::stop_token& stop) {
  if (!Injected(ManagerBug::kStartsBehind)) {
    if (Result<void> caught_up = caches_->CatchUp(from.versions, from.list_anew, stop); !caught_up)
      return;  // drained, or the end of all
  }
  ShardRanges active;
  {
    const MutexLock lock(mutex_);
    const auto at = std::ranges::find(started_, id, &Started::id);
    if (at == started_.end()) return;
    at->active = true;
    ++changes_;
    active = at->ranges;
    unlisted_ -= active;
  }
  // An event that came before was dropped, and the caches show it.
  if (!Injected(ManagerBug::kNoReplay)) Replay(active);
}

void ShardedWork::Replay(const ShardRanges& ranges) {
  for (const Shared<ShardedController>& controller : controllers()) controller->Replay(ranges);
}

std::optional<ShardVersions> ShardedWork::Drain(const ShardRanges& ranges) {
  bool worked = false, unsure = false;
  std::vector<std::stop_source> stopped;  // requested without the lock
  {
    const MutexLock lock(mutex_);
    for (Started& each : started_) {
      worked |= each.active && each.ranges.Overlaps(ranges);
      each.ranges -= ranges;
      if (each.ranges.empty()) stopped.push_back(each.stop);
    }
    std::erase_if(started_, [](const Started& each) { return each.ranges.empty(); });
    unsure = unlisted_.Overlaps(ranges);
    unlisted_ -= ranges;
  }
  for (std::stop_source& each : stopped) each.request_stop();
  if (!Injected(ManagerBug::kEndsDrainEarly)) AwaitCalls(ranges);
  unsure |= AwaitUnsure(ranges);
  std::optional<ShardVersions> versions = ShardVersions();
  if (worked) versions = caches_->Versions(ranges, Later(executor_->clock()->Now(), kShowLimit));
  if (unsure) versions.reset();
  Hold({}, ranges);
  NoteChange();
  for (const Shared<ShardedController>& controller : controllers()) controller->Forget(ranges);
  return versions;
}

// A write without an answer may still be on its way, and the next owner must not list before it has arrived. The guard
// has given it as much time as was left then. If the member was fenced, the next owner waits for longer than that
// anyway.
bool ShardedWork::AwaitUnsure(const ShardRanges& ranges) {
  TimePoint until = TimePoint::min();
  {
    const MutexLock lock(mutex_);
    for (auto at = unsure_.begin(); at != unsure_.end();) {
      const bool leaves = ranges.Contains(at->first);
      if (leaves) until = std::max(until, at->second);
      at = leaves ? unsure_.erase(at) : std::next(at);
    }
  }
  if (until == TimePoint::min()) return false;
  const Shared<Waiter> waiter = executor_->MakeWaiter("writes without an answer");
  while (executor_->clock()->Now() < until && gate_->time_left() > Nanos()) {
    (void)waiter->Wait({}, std::min(until, Later(executor_->clock()->Now(), kFenceEvery)));
  }
  return true;
}

// Writes are refused from the drain limit on, or earlier if the member was fenced. Then calls have nothing left to do.
void ShardedWork::AwaitCalls(const ShardRanges& ranges) {
  const TimePoint limit = Later(executor_->clock()->Now(), drain_limit_);
  const Shared<Waiter> waiter = executor_->MakeWaiter("calls for shards that go elsewhere");
  for (bool running = true; running;) {
    std::vector<std::stop_source> refused;
    {
      const MutexLock lock(mutex_);
      std::erase(waiters_, waiter);
      running = std::ranges::any_of(calls_, [&](const Call* call) { return ranges.Contains(call->hash_); });
      if (!running) return;
      waiters_.push_back(waiter);
      const bool writes_are_refused = gate_->time_left() <= Nanos() || executor_->clock()->Now() >= limit;
      for (const Call* const call : calls_) {
        if (writes_are_refused && ranges.Contains(call->hash_)) refused.push_back(call->stop_);
      }
    }
    for (std::stop_source& each : refused) each.request_stop();
    (void)waiter->Wait({}, Later(executor_->clock()->Now(), kFenceEvery));
  }
}

// -------------------------------------------------------------------------------------------- calls of the controllers

bool ShardedWork::IsActive(std::uint64_t hash) const {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(started_, [&](const Started& each) { return each.active && each.ranges.Contains(hash); });
}

ShardRanges ShardedWork::starting() const {
  ShardRanges all;
  const MutexLock lock(mutex_);
  for (const Started& each : started_) {
    if (!each.active) all |= each.ranges;
  }
  return all;
}

// It is registered before anybody asks whether it may begin, so that Drain() either keeps it from beginning or waits
// for it.
ShardedWork::Call::Call(ShardedWork& work, const ObjectKey& key) : work_(work), hash_(ShardHash(key.namespace_)) {
  const MutexLock lock(work_.mutex_);
  const auto at = std::ranges::find_if(work_.started_,
                                       [&](const Started& each) { return each.active && each.ranges.Contains(hash_); });
  if (at == work_.started_.end() || !work_.gate_->Owns(hash_)) return;
  active_ = true;
  fence_ = at->from.fence;
  work_.calls_.push_back(this);
}

ShardedWork::Call::~Call() {
  if (!active_) return;
  std::vector<Shared<Waiter>> waiters;
  {
    const MutexLock lock(work_.mutex_);
    std::erase(work_.calls_, this);
    if (unsure_) {
      // The server has counted what was left by a clock of its own.
      const double left = static_cast<double>(work_.gate_->time_left().count()) * work_.clock_rates_;
      TimePoint& until = work_.unsure_[hash_];
      until = std::max(until, Later(work_.executor_->clock()->Now(), Nanos(static_cast<Nanos::rep>(left))));
    }
    waiters = work_.waiters_;
  }
  for (const Shared<Waiter>& waiter : waiters) waiter->Notify();
}

// What becomes active meanwhile is added twice, perhaps, and never not at all.
ShardedWork::Attached::Attached(Shared<ShardedWork> work, ShardedController& controller)
    : work_(std::move(work)), controller_(controller) {
  ShardRanges active;
  {
    const MutexLock lock(work_->mutex_);
    work_->controllers_.emplace_back(&controller_);
    for (const Started& each : work_->started_) {
      if (each.active) active |= each.ranges;
    }
  }
  if (!active.empty()) controller_.Replay(active);
}

ShardedWork::Attached::~Attached() {
  std::vector<Shared<ShardedController>> dropped;
  const MutexLock lock(work_->mutex_);
  const auto at =
      std::ranges::find_if(work_->controllers_, [&](const auto& each) { return each.get() == &controller_; });
  if (at == work_->controllers_.end()) return;
  work_->controllers_.erase(at);  // its Run() holds it
}

std::vector<Shared<ShardedController>> ShardedWork::controllers() const {
  const MutexLock lock(mutex_);
  return controllers_;
}

void ShardedWork::EndTask() {
  std::vector<Shared<Waiter>> waiters;
  {
    const MutexLock lock(mutex_);
    --tasks_;
    waiters = waiters_;
  }
  for (const Shared<Waiter>& waiter : waiters) waiter->Notify();
}

void ShardedWork::Join() {
  const Shared<Waiter> waiter = executor_->MakeWaiter("work on shards to end");
  std::vector<Shared<KindCache>> dropped;  // without the lock
  for (;;) {
    {
      const MutexLock lock(mutex_);
      dropped = std::exchange(counted_first_, {});
      std::erase(waiters_, waiter);
      if (tasks_ == 0) return;
      waiters_.push_back(waiter);
    }
    if (!waiter->Wait()) return;
  }
}

// ------------------------------------------------------------------------------------------------------------ weights

std::optional<std::vector<ShardWeight>> ShardedWork::Weights() {
  const MutexLock lock(mutex_);
  const TimePoint now = executor_->clock()->Now();
  const bool changed = counted_changes_ != changes_;
  const bool due = changed || counted_ == TimePoint::min() || now - counted_ >= kCountEvery;
  if (due && !counting_ && !started_.empty()) {
    counting_ = true;
    ++tasks_;
    executor_->Blocking("count the objects of shards", [self = Shared<ShardedWork>(this), changes = changes_] {
      self->CountObjects(changes);
      self->EndTask();
    });
  }
  if (started_.empty()) return std::vector<ShardWeight>();
  if (changed) return {};
  return weights_;
}

void ShardedWork::CountObjects(std::uint64_t changes) {
  std::unordered_map<std::uint64_t, double> loads;
  for (const Shared<ShardedController>& controller : controllers()) controller->CountObjects(loads);
  std::vector<ShardWeight> weights = WeightsOf(loads);
  const MutexLock lock(mutex_);
  weights_ = std::move(weights);
  counted_changes_ = changes;
  counted_ = executor_->clock()->Now();
  counting_ = false;
}

}  // namespace kgen::controller
