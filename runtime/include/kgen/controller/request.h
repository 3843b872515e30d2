// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Request: the argument of a reconcile function, which says what to reconcile, and why.
//
//   [](kgen::Request& request) -> kgen::Result<kgen::Requeue> {
//     KGEN_TRY(const auto order, request.Get<Order>());  // from the cache, or returns the error
//     if (!order) return kgen::Requeue::Done();          // it is gone
//     request.Log("shipping", {{"item", order->spec->item}, {"count", order->spec->count}});
//     KGEN_TRY(const auto applied, request.client().Apply(DeploymentFor(*order)));
//     return kgen::Requeue::After(30s);
//   }
//
// An exception from the function counts as an error of its call, just like a returned error: the observer gets it, the
// metrics count it, and the key comes back later. It ends nothing else. That holds for the thread of the call only, as
// everywhere in C++: on a thread that the function has started, an exception that nobody catches ends the process.
//
// A reconcile function reads the desired state of the object and makes the actual state match it. It must not depend on
// the reasons, because several of them become one request: they are for logs and for cheaper work in known cases.
#ifndef KGEN_CONTROLLER_REQUEST_H_
#define KGEN_CONTROLLER_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>

#include "kgen/controller/cached_client.h"
#include "kgen/controller/event_recorder.h"
#include "kgen/core/clock.h"
#include "kgen/core/log_record.h"
#include "kgen/core/object_key.h"
#include "kgen/core/observer.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/try.h"

namespace kgen {

enum class Cause : std::uint8_t {
  kInitial,    // the object was there when the controller started
  kChanged,    // the object was added or changed
  kDeleted,    // the object was deleted
  kOwned,      // something happened to an object that it owns
  kWatched,    // something happened to an object that a function of Watches() maps to this key
  kRequested,  // Controller::Enqueue()
  kRequeued,   // Requeue::After() of an earlier call
  kRetried,    // an earlier call failed, found a conflict or returned Requeue::BackOff()
  kResync,     // nothing has changed; the resync period has passed
};
std::string_view ToString(Cause cause) noexcept;  // "initial", "changed", ...
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, Cause cause) {
  return os << ToString(cause);
}

// One reason for a call.
struct RequestReason {
  Cause cause{};            // what happened
  std::string_view kind{};  // of the object that caused it: "Deployment"; lives as long as the process
  ObjectKey object{};       // that object
};

namespace controller {
struct RequestState;
}

// A call of a reconcile function. It ends with that call; do not keep a reference. Thread safety: one thread at a time.
class Request {
 public:
  explicit Request(controller::RequestState& state) noexcept : state_(&state) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Returns the key of the object to reconcile.
  const ObjectKey& key() const noexcept;
  std::string_view controller() const noexcept;  // its name
  // The name of the cluster that client() reads and writes, see kgen/controller/clusters.h; "" in an ordinary manager.
  std::string_view cluster() const noexcept;
  // Identifies this call: 16 hexadecimal digits at random, which do not repeat within a controller. The observer gets
  // it with what Log() is given and with the error of the call, as "reconcile 5e2fd1c0a93b7c44: ".
  std::string_view id() const noexcept;

  // Returns why it runs, oldest reason first: at most ten, equal ones once. Never empty.
  std::span<const RequestReason> reasons() const noexcept;
  // Returns how many events became this request, including those that reasons() does not list.
  std::size_t merged() const noexcept;
  // Returns how many calls for this key have failed in a row before this one.
  int failures() const noexcept;

  // Returns a client that reads from caches and writes to the server on behalf of this call: whatever blocks ends with
  // kCancelled once stop() is requested, and with leader election a write fails once the lease may have been lost. With
  // shards a write fails, with kCancelled, once the key may belong to another process.
  const CachedClient& client() const noexcept;
  // Returns the object of the request from the cache, no older than the last write that this manager's clients made to
  // it; null if there is none. Blocks until the cache has seen that write. Return its errors, as KGEN_TRY does: an
  // object that the cache cannot read now is not gone.
  // Errors: the errors of client().Get<T>(), such as kTimeout after five seconds, kForbidden, and kCancelled after
  // stop()
  template <typename T>
  [[nodiscard]] Result<Ref<const T>> Get() const {
    return client().template Get<T>(key());
  }

  // Returns a token that is stopped when the controller stops, the lease is lost or the deadline passes; with shards
  // also when writes for the key are refused, see ShardOptions::drain_limit.
  const std::stop_token& stop() const noexcept;
  // Returns when reconciling should end, by the executor's clock; Waiter::kNoDeadline if the controller has none.
  TimePoint deadline() const noexcept;

  // Returns a number for other systems than the API server (a fencing token). Whenever the key gets another owner, or
  // the same one again, the number is greater; so a system that remembers the greatest one and refuses smaller ones
  // refuses what a stopped process sends when it goes on. It is for one key: numbers of two keys cannot be compared. 0
  // without ManagerOptions::shards.
  std::uint64_t fence() const noexcept;

  // Sends a message with fields to the observer, together with the controller's name, the key and the id. A log writes
  // them as fields, see docs/logging.md. Never put a secret there. A debug message costs little while nothing writes
  // it, but its arguments are evaluated.
  void Log(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    Log(LogLevel::kInfo, message, fields);
  }
  void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {}) const;
  // Returns a recorder of Events about objects, which `kubectl describe` shows.
  const EventRecorder& events() const noexcept;

 private:
  controller::RequestState* state_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_REQUEST_H_
