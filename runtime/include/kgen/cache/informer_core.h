// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// InformerCore: one informer, type-erased. Programs use SharedInformer<T>, which adds the type in a few inline lines,
// so that informers of eighty types share one copy of the code.
#ifndef KGEN_CACHE_INFORMER_CORE_H_
#define KGEN_CACHE_INFORMER_CORE_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/cache/informer_status.h"
#include "kgen/cache/registration.h"
#include "kgen/cache/snapshot.h"
#include "kgen/core/clock.h"
#include "kgen/core/field_path.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

class Connection;
class Executor;

namespace cache {

class ListWatch;
struct InformerOptions;

// Thread safety: all members from any thread; none blocks unless it says so.
// Lifetime: shared by factory, facades, registrations. Stopped informers answer from their last state.
//
// Invariants (tests/runtime/cache/informer_test.cc, informer_seams_test.cc):
//   I1  The store contains a change before any handler receives it.
//   I2  A handler added while running receives every object then in the store once, as initial, and every later change
//       once.
//   I3  HasSynced() is true only if a complete state of the server has been applied; it stays true.
//   I4  After Stop() has taken effect nothing more is applied; queued deltas are discarded.
//   I5  No user function runs on the strand except transform and index functions and the tweak of list options; an
//       exception of one is a refused object, a missing index value or a failed request, reported, never fatal.
class InformerCore : public SharedObject {
 public:
  InformerCore(const Connection& connection, Shared<ListWatch> source, const TypeTable& table, InformerOptions options);
  ~InformerCore() override;

  // Starts once; a second call, or one after Stop(), does nothing. `stop` only posts.
  void Start(std::stop_token stop);
  // Ends the reflector and the delivery of events. Does not wait.
  void Stop();
  // Blocks until the informer has stopped and no handler runs; from a handler of it, without waiting for that one.
  // Errors: kCancelled (stop), kInvalidArgument on a thread that runs posted work.
  Result<void> Join(std::stop_token stop);

  Registration AddEventHandler(AnyHandler handler, HandlerOptions options);
  // Blocks while the function is called for every object in the store, see SharedInformer::AddIndex(). Must not be
  // called from an index function.
  Result<void> AddIndex(std::string_view name, IndexFunction function);
  Result<void> AddIndex(std::string_view name, const FieldPath& path);
  // See SharedInformer::WaitUntil.
  Result<void> WaitUntil(std::string_view version, std::stop_token stop, Nanos limit);
  // Blocks until `met` returns true for a state of the store, and returns that state. `met` is called on the calling
  // thread, at once and again after each transaction; states between two calls are not seen. `what` is for traces.
  // Errors: kTimeout, kCancelled, kStopped, kInvalidArgument (a thread that must not block).
  Result<AnySnapshot> WaitFor(std::string_view what, const std::function<bool(const AnySnapshot&)>& met,
                              std::stop_token stop, TimePoint deadline);
  // Errors: kInvalidArgument (already started).
  Result<void> SetTransform(std::function<Result<AnyRef>(AnyRef object)> transform);

  bool HasSynced() const noexcept;
  bool IsStopped() const noexcept;
  InformerStatus status() const;
  const Shared<Store>& store() const noexcept;
  const TypeTable& table() const noexcept;
  Shared<Executor> executor() const;

  // Runs `callback` as posted work whenever synced, stopped, failures or the last error change, until the returned
  // handle is dropped. A running call may finish after that.
  class Watch : public SharedObject {};
  [[nodiscard]] Shared<Watch> OnStatusChange(std::function<void()> callback);

 private:
  class Impl;
  Shared<Impl> impl_;
};

}  // namespace cache

// What to wait for besides the stores, and for how long.
struct SyncOptions {
  // Also waits until each of these has handled its initial events. Not owned: must not be moved or destroyed during the
  // wait.
  std::vector<const Registration*> handlers{};
  // Treats 401, 403 and 404 as temporary. Otherwise the wait fails when an informer has been refused at least three
  // times in a row over at least 15 seconds: a server that has just started refuses every request at first.
  bool patient = false;
  // Fails with kDecode if objects could not be decoded. Otherwise only status() and the observer report them.
  bool complete = false;
  Nanos give_up_after = Nanos(0);  // 0: as long as it takes
};

namespace detail {
// Blocks. Returns the errors of SharedInformerFactory::WaitForCacheSync, with its message.
Result<void> WaitForSync(std::stop_token stop, const std::vector<Shared<cache::InformerCore>>& informers,
                         const SyncOptions& options);
// As above, for a list that may be empty: so the executor is passed.
Result<void> WaitForSync(Executor& executor, std::stop_token stop,
                         const std::vector<Shared<cache::InformerCore>>& informers, const SyncOptions& options);
}  // namespace detail
}  // namespace kgen

#endif  // KGEN_CACHE_INFORMER_CORE_H_
