// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reflector: keeps a DeltaFifo fed with the state of one resource: list, then watch, then watch again, for ever.
//
//   ListWatch bytes --> split, decode, transform --> DeltaFifo --> Hooks::on_queued (the controller loop drains)
//
// A state machine on the informer's strand: every member runs there, nothing blocks, and all waiting is a timer of the
// clock or a turn at the connection's gate. One round is a streaming list, or else a paged list, followed by watches
// from the last resource version.
//
// What fails is retried by its cause:
//   no connection           parks at the gate of the connection, then sends the same request again
//   the server asks to wait (Retry-After): as long as it says and up to twice that, at most five minutes
//   the resource fails      (403, 404, 500, no list): a delay that doubles from 0.5..1 to 15..30 seconds until a watch
//                           has proved itself by an event, a bookmark or ten seconds; in the 30 seconds after the
//                           connection came back, 0.5 to 2 seconds, and once another stream succeeds, at once
//   410                     lists again at once; without progress since the last one it counts as a failure
//   a watch that ends early is opened again at once, five times and then once a second; more often with a delay that
//                           doubles to 15..30 seconds
//   a replaced history      (a restored etcd): lists again at once, without a version
//
// It never publishes streamed objects before the end marker, records a version from before the marker, goes back to an
// older state after a 410, treats a clean end of a watch as an error, or keeps a stream that it no longer reads.
#ifndef KGEN_RUNTIME_CACHE_REFLECTOR_H_
#define KGEN_RUNTIME_CACHE_REFLECTOR_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cache/delta_fifo.h"
#include "cache/informer_options.h"
#include "cache/list_watch.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"

namespace kgen::cache {

// The state of a reflector, for WaitForCacheSync and status queries.
struct ReflectorStatus {
  enum class State : std::uint8_t {
    kIdle,
    kListing,
    kStreaming,
    kOpening,       // a watch was requested
    kWatching,      // a watch is open
    kDisconnected,  // waits for a connection
    kQueued,        // waits for its turn on a working connection
    kBackingOff,    // waits before it tries again
    kStopped
  };
  State state = State::kIdle;
  int failures = 0;                        // in a row; 0 once a watch is open
  int refusals = 0;                        // 401, 403 and 404 in a row: what a wait for the sync gives up on
  TimePoint refused_since{};               // the first of them; meaningful if refusals > 0
  std::optional<TimePoint> current_as_of;  // the last event, bookmark or opening of a watch
  bool has_error = false;
  Error last_error{Code::kInternal, ""};  // meaningful if has_error
  std::string resource_version;           // last seen; "" before the first list
  std::uint64_t lists = 0, watches = 0, events = 0;
};

class Reflector : public SharedObject {
 public:
  // None may call Stop().
  struct Hooks {
    std::function<void()> on_queued;      // the fifo has something new
    std::function<bool()> should_resync;  // absent: yes
    std::function<void()> on_status;      // state, failures or last error changed
    // The cached object with that key, or null. A list uses it in place of an equal object, so that a relist makes no
    // second copy of unchanged objects. Absent: every object is a new one.
    std::function<AnyRef(const ObjectKey&)> stored{};
    // Frees the objects of a list that failed, without delaying the strand. Absent: they are freed at once.
    std::function<void(ListedObjects)> discard{};
  };

  // `table` is of the kind; `strand` the informer's. The fifo must outlive the reflector's last task: both belong to
  // the informer.
  Reflector(Shared<ListWatch> source, const TypeTable& table, DeltaFifo& fifo, Shared<Executor> executor,
            Shared<Strand> strand, Shared<Observer> observer, InformerOptions options, Hooks hooks);
  ~Reflector() override;

  void Start();  // the first round starts at once
  // Ends stream and timers; no hook is called afterwards. Idempotent.
  void Stop();
  ReflectorStatus status() const;
  // How often Hooks::should_resync is called while it watches; 0: never. Replaces InformerOptions::resync.
  void SetResync(Nanos period);
  // Forgets shared strings and subtrees that no object uses any more, in short tasks on the strand. Call it after a
  // relist was applied.
  void Sweep();
  // Frees, after Stop(), up to so many of the strings and subtrees that it keeps for objects to share. Returns true
  // while there are more. The destructor frees the rest at once.
  bool FreeStep(std::size_t entries);

 private:
  class Impl;
  Shared<Impl> impl_;  // also held by the stream and the timers that are under way
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_REFLECTOR_H_
