// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// InformerStatus: what an informer does, how current its cache is, and what went wrong last.
#ifndef KGEN_CACHE_INFORMER_STATUS_H_
#define KGEN_CACHE_INFORMER_STATUS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::cache {

// What an informer does at one moment.
enum class InformerState : std::uint8_t {
  kNotStarted,
  kStarting,
  kIdle,       // has no shard, and so asks for nothing
  kRestoring,  // reads the cache that an earlier process has saved
  kListing,
  kStreaming,     // the list arrives as events of a watch
  kOpening,       // a watch was requested
  kWatching,      // a watch is open
  kDisconnected,  // waits for a connection
  kQueued,        // the connection is back, and informers are let in one after the other
  kBackingOff,    // waits before it tries again
  kStopped,
};

// The state in words, for messages: "opening a watch".
std::string_view ToString(InformerState state) noexcept;

// One handler of an informer at one moment. Counts and times are from its registration on.
struct HandlerStatus {
  std::string name;         // HandlerOptions::name, or the name of the informer
  std::size_t backlog = 0;  // events that wait, without the running one
  // What HandlerOptions::backlog_bytes bounds. 0 if that is kUnlimited, and with `short_calls`.
  std::size_t backlog_bytes = 0;
  Nanos backlog_age{};           // for how long the oldest of them has waited; 0 without one
  std::uint64_t calls = 0;       // that have ended
  std::uint64_t slow_calls = 0;  // of these, calls of more than 100 ms, as Observer::OnHandlerSlow() reports them
  Nanos time{};                  // that all ended calls took together
  Nanos running{};               // for how long the running call has been running; 0 without one
};

// A count for each code: counts[static_cast<std::size_t>(Code::kForbidden)].
using CountsByCode = std::array<std::uint64_t, static_cast<std::size_t>(Code::kServer) + 1>;

// The status of an informer at one moment.
struct InformerStatus {
  std::string name;  // "pods", "deployments.apps/v1 in default"
  std::string kind;  // "Deployment"; empty if only the resource is known
  InformerState state = InformerState::kNotStarted;
  bool started = false, stopped = false, synced = false;
  // The cache has the state that an earlier process has saved (InformerOptions::warm_start), and maybe what has changed
  // since, but no bookmark or list says that it is current. Then `synced` is false.
  bool stale = false;
  // Failures in a row that kept the cache from being current: lists that failed, watches that could not be opened, that
  // fell behind (410) or that repeatedly ended early. 0 once a watch is open.
  int failures = 0;
  int refusals = 0;           // 401, 403 and 404 in a row
  TimePoint refused_since{};  // the time of the first of them, on the connection's clock
  // When the cache was last known to be current: the last applied event or bookmark, or the opening of a watch. Empty:
  // never so far, as while it is stale. On the connection's clock, which is monotonic: its age is
  // connection.clock().Now() - *current_as_of. Servers send a bookmark about once a minute, so the cache may be stale
  // if the age is much greater.
  std::optional<TimePoint> current_as_of{};
  std::optional<Nanos> age{};         // of `current_as_of`, at the time of the call of status()
  std::optional<Error> last_error{};  // absent once a watch is open
  std::string resource_version;
  std::size_t objects = 0;
  // Objects whose newest state could not be decoded. The last good state of each, if there is one, is marked stale.
  std::size_t refused = 0;
  // The bytes of the objects with all their texts, lists and maps, where what several objects share counts once. The
  // tree and the indexes of the cache are not in it. An estimate from up to 64 objects, which each call of status()
  // walks.
  std::size_t object_bytes = 0;
  std::uint64_t lists = 0, watches = 0, events = 0;
  // Lists and watches that failed since the start, each as Observer::OnListOrWatchFailed() reports it.
  CountsByCode failure_counts{};
  std::vector<HandlerStatus> handlers{};  // the registered ones, in the order of their registration
};

}  // namespace kgen::cache

#endif  // KGEN_CACHE_INFORMER_STATUS_H_
