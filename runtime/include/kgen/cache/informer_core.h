// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One informer, without a type: strand, reflector, queue, controller loop, store and processor together. [D8]
//
// SharedInformer<T> is a few inline lines over this; eighty informers are eighty of these objects and no more code.
#ifndef KGEN_CACHE_INFORMER_CORE_H_
#define KGEN_CACHE_INFORMER_CORE_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/cache/indexer.h"
#include "kgen/cache/registration.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

class Connection;
class Executor;

namespace cache {

class ListWatch;
// Changes an object before anybody sees it. Runs exactly once per received object, on the strand; must not block.
// Metadata's name, namespace, uid and resourceVersion stay as they were whatever it does. [INF TR; D13]
using Transform = std::function<Result<AnyRef>(AnyRef object)>;

struct InformerOptions {
  Nanos resync = Nanos(0);  // default of handlers and check period [INF RS]
  std::int64_t page_size = 0;
  bool streaming_list = true;
  bool drop_managed_fields = false;
  bool share_subtrees = true;
  Nanos min_watch_timeout = std::chrono::minutes(5);  // [INF RW-02]
  // Changes wait so long for others before they are applied together: fewer transactions under a storm of events, at
  // the price of delay. 0: as soon as the strand is free.
  Nanos apply_delay = Nanos(0);
  // How many objects one task on the strand deals with, about: what takes longer is done in several tasks, between
  // which others run. 256 take less than a millisecond on a common core. Simulations choose fewer. At least 1.
  std::size_t objects_per_task = 256;
};

// A look at how an informer stands.
struct InformerStatus {
  std::string name;  // "pods", "pods in default"
  // Or "starting", "listing", "streaming the list", "opening a watch", "watching", "waiting for a connection", "waiting
  // for its turn" (the connection is back, and informers are let in one after the other), "waiting to try again",
  // "stopped".
  std::string_view state = "not started";
  bool started = false, stopped = false, synced = false;
  // What kept the cache from being current, in a row: lists that failed, watches that could not be opened, that fell
  // behind (410) or that end early again and again. 0 once a watch is open.
  int failures = 0;
  int refusals = 0;           // 401, 403 and 404 in a row
  TimePoint refused_since{};  // when the first of them came, on the connection's clock
  // When the cache was last known to be current: the last event or bookmark, or the opening of a watch, as far as it
  // has been applied. Nothing: never so far. On the connection's clock, which is monotonic: its age is
  // connection.clock().Now() - *current_as_of. Servers send a bookmark about once a minute, so a much greater age means
  // that the cache may be stale.
  std::optional<TimePoint> current_as_of{};
  bool has_error = false;  // until a watch is open again
  Error last_error{Code::kInternal, ""};
  std::string resource_version;
  std::size_t objects = 0;
  // Objects whose newest state could not be decoded; the last good one, if there is one, is marked stale. [D6]
  std::size_t refused = 0;
  std::uint64_t lists = 0, watches = 0, events = 0;
};

// Thread safety: all members from any thread; none blocks unless it says so.
// Lifetime: shared by factory, facades, registrations. Stopped informers answer from their last state.
//
// Invariants (tests/runtime/cache/informer_test.cc, informer_seams_test.cc):
//   I1  The store holds a change before any handler hears of it. [INF SI-06]
//   I2  A handler added while running hears every object then in the store once, as initial, and every later change
//       once. [INF SI-13]
//   I3  HasSynced() is true only if a complete state of the server has been applied; it stays true. [INF SI-03, SI-04]
//   I4  After Stop() has taken effect nothing more is applied; queued deltas are discarded. [INF CT-03]
//   I5  No user function runs on the strand except transform and index functions and the tweak of list options; an
//       exception of one is a refused object, a missing index value or a failed request, reported, never fatal.
class InformerCore : public SharedObject {
 public:
  InformerCore(const Connection& connection, Shared<ListWatch> source, const TypeTable& table, InformerOptions options);
  ~InformerCore() override;

  // Starts once; a second call, or one after Stop(), does nothing. `stop` only posts. [INF SI-01, FA-05, FA-06]
  void Start(std::stop_token stop);
  // Ends reflector and distribution. Does not wait.
  void Stop();
  // Blocks until the informer has stopped and no handler runs; from a handler of it, without waiting for that one.
  // Errors: kCancelled (stop), kInvalidArgument on a thread that runs posted work.
  Result<void> Join(std::stop_token stop);

  Registration AddEventHandler(AnyHandler handler, HandlerOptions options);
  // Blocks while the function is asked for every object that is there, see Store::AddIndex(); not from within an index
  // function.
  Result<void> AddIndex(std::string_view name, IndexFunction function);
  Result<void> AddIndex(std::string_view name, const FieldPath& path);
  // kInvalidArgument once started. [INF SI-19]
  Result<void> SetTransform(Transform transform);

  bool HasSynced() const noexcept;
  bool IsStopped() const noexcept;
  InformerStatus status() const;
  const Shared<Store>& store() const noexcept;
  const TypeTable& table() const noexcept;
  Shared<Executor> executor() const;

  // `callback` runs as posted work whenever synced, stopped, failures or the last error change, until the returned
  // handle is dropped; a call that is under way then may still finish.
  class Watch : public SharedObject {};
  [[nodiscard]] Shared<Watch> OnStatusChange(std::function<void()> callback);

 private:
  class Impl;
  Shared<Impl> impl_;
};

}  // namespace cache

// What to wait for besides the stores, and for how long.
struct SyncOptions {
  // Also until each has handled its initial events. Not owned: must neither go nor move during the wait.
  std::vector<const Registration*> handlers{};
  // 401, 403 and 404 count as passing troubles. Else the wait gives up when an informer has been refused three times in
  // a row, the first time 15 seconds ago: a server that was started together with the program refuses everybody at
  // first.
  bool patient = false;
  // Objects that could not be decoded make it fail with kDecode; else status() and the observer tell of them. [D6]
  bool complete = false;
  Nanos give_up_after = Nanos(0);  // 0: as long as it takes
};

namespace detail {
// Blocks. Errors: kCancelled (`stop` was requested, whatever else happened by then), kTimeout,
// kUnauthorized/kForbidden/kNotFound (refused for good, see SyncOptions::patient), kStopped (an informer was stopped by
// somebody else), kDecode (`complete`), kInvalidArgument (an informer that nobody started; or on a thread that runs
// posted work). The message names each informer that is not synced, its state, attempts and last error.
Result<void> WaitForSync(std::stop_token stop, const std::vector<Shared<cache::InformerCore>>& informers,
                         const SyncOptions& options);
// The same where there may be no informer to take the executor from.
Result<void> WaitForSync(Executor& executor, std::stop_token stop,
                         const std::vector<Shared<cache::InformerCore>>& informers, const SyncOptions& options);
}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CACHE_INFORMER_CORE_H_
