// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventRecorder: writes Events (events.k8s.io/v1) about objects, which `kubectl describe` and `kubectl events` show.
//
//   const kgen::EventRecorder recorder(connection, {.controller = "shop.example.com/orders"});
//   recorder.Event(*order, {.reason = "Shipped", .action = "Ship", .note = "as parcel 12"});
//   recorder.Event(*order, *pod, {.type = kgen::EventType::kWarning, .reason = "OutOfStock", .action = "Pack"});
//
// Event() only queues the event. Requests are sent in the background, one at a time:
//
//   Event() --> validation --> known series? count it --> queue, spam filter --> create or patch --> server
//
//   * Series. An event that equals an earlier one in everything but time and resource versions, and comes at most 6
//     minutes after its last occurrence, is counted in the series of that one. The second occurrence is written at
//     once, further ones every 30 minutes, and the last count once the series has ended.
//   * Spam filter. 25 new events about one object with one type, then one more every 5 minutes. Repetitions in a series
//     are not limited, since they cost no request.
//   * Queue. While 1000 events or series wait to be written, new events are dropped.
//   * Retries. What a server that is away or overloaded does not accept is tried 12 times, 10 s apart; what it refuses
//     (a response of 400 to 499) is dropped.
//
// A dropped event is counted in counts() and reported to the connection's observer (OnEventDropped) with the reason,
// except that events in a namespace that is being deleted are only counted.
//
// The program needs the verbs `create` and `patch` on `events` of the API group events.k8s.io, in the namespaces of the
// objects and, for objects without one, in "default".
#ifndef KGEN_CONTROLLER_EVENT_RECORDER_H_
#define KGEN_CONTROLLER_EVENT_RECORDER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

// The options of an EventRecorder.
struct EventRecorderOptions {
  // reportingController, a qualified name: "shop.example.com/orders". Required: without it every event is dropped.
  std::string controller{};
  std::string instance{};  // reportingInstance, at most 128 bytes; "": the controller, "-" and the name of the host
};

// The types of Events that servers know.
enum class EventType : std::uint8_t { kNormal, kWarning };

// Describes what happened. The views are read during the call.
struct EventDetails {
  EventType type = EventType::kNormal;  // kWarning: somebody may have to act
  std::string_view reason;              // why, in one word for programs: "OutOfStock". Required, at most 128 bytes
  std::string_view action;              // what the controller did or tried: "Ship". Required, at most 128 bytes
  std::string_view note{};              // for people; cut to 1024 bytes
};

// The numbers of events since the recorder was made.
struct EventCounts {
  std::uint64_t recorded = 0;  // calls of Event()
  std::uint64_t merged = 0;    // of these, the ones that a series counts, so that they are no Event of their own
  std::uint64_t written = 0;   // that the server has, as an Event or in the count of a series

  // Dropped, by cause.
  std::uint64_t invalid = 0;  // the server would not accept it
  std::uint64_t spam = 0;     // by the spam filter
  std::uint64_t queue_full = 0;
  std::uint64_t refused = 0;      // by the server
  std::uint64_t unavailable = 0;  // after all retries
  std::uint64_t stopped = 0;      // recorded after Stop(), or not written when its limit passed

  // Returns the number of events that were dropped, by any cause.
  std::uint64_t dropped() const noexcept { return invalid + spam + queue_full + refused + unavailable + stopped; }
  // Returns the number of events that are not written yet: queued, or waiting to be counted in a series.
  std::uint64_t pending() const noexcept { return recorded - written - dropped(); }
};

namespace detail {

// An object that an event names, as views of it.
struct EventObject {
  const meta::v1::ObjectMeta& metadata;
  const KindInfo* of;  // null: the two below
  std::string_view api_version{};
  std::string_view kind{};
};

template <HasTable T>
EventObject EventObjectOf(const T& object) noexcept {
  if constexpr (requires { std::string_view(object.apiVersion), std::string_view(object.kind); }) {
    if (T::kTable.kind == nullptr) return {object.metadata, nullptr, object.apiVersion, object.kind};
  }
  return {object.metadata, T::kTable.kind};
}

}  // namespace detail

// Thread safety: all members from any thread. Only Stop() blocks.
// Ownership: a handle; copies share the recorder, which keeps the connection alive. When the last handle is destroyed,
// the remaining events are written in the background, for at most 30 seconds. Nothing is sent and no timer is armed
// before the first event.
class EventRecorder {
 public:
  // Makes a recorder that writes through `connection`.
  EventRecorder(const Connection& connection, EventRecorderOptions options);
  // Copied even where it could be moved, so that a handle is never empty.
  EventRecorder(const EventRecorder&) = default;
  EventRecorder& operator=(const EventRecorder&) = default;
  ~EventRecorder() = default;

  // Records an event about an object of any kind, Unstructured included, as it came from the server: its name, kind and
  // apiVersion must be known. The Event is created in the namespace of the object, or in "default" if it has none.
  template <detail::HasTable T>
  void Event(const T& regarding, const EventDetails& details) const {
    Record(detail::EventObjectOf(regarding), nullptr, details);
  }
  // Names a second object that took part: the pod that was deleted for the order.
  template <detail::HasTable T, detail::HasTable R>
  void Event(const T& regarding, const R& related, const EventDetails& details) const {
    const detail::EventObject second = detail::EventObjectOf(related);
    Record(detail::EventObjectOf(regarding), &second, details);
  }

  EventCounts counts() const;  // so far

  // Accepts no more events (they are dropped) and writes those that are left, with the last counts of series. Blocks
  // until that is done, but at most for `limit`, and then drops the rest. A limit of zero drops them at once; kNoLimit
  // waits forever. A request that is under way may still take effect.
  //
  // Errors: kTimeout  the limit passed; the message says how many events were dropped
  //         kInvalidArgument  `limit` is negative: nothing is stopped
  //         kInvalidArgument, kDeadlock, kCancelled  as for Waiter::Wait(); what is left is written in the background
  Result<void> Stop(Nanos limit = std::chrono::seconds(30)) const;

 private:
  class Handle;
  void Record(const detail::EventObject& regarding, const detail::EventObject* related,
              const EventDetails& details) const;
  Shared<Handle> handle_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_EVENT_RECORDER_H_
