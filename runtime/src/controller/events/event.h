// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An Event of events.k8s.io/v1 as a recorder writes it, and what a server checks of it.
#ifndef KGEN_SRC_CONTROLLER_EVENTS_EVENT_H_
#define KGEN_SRC_CONTROLLER_EVENTS_EVENT_H_

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "controller/events/event_types.h"
#include "kgen/controller/event_recorder.h"
#include "kgen/core/time.h"

namespace kgen::controller {

// Who reports. Empty text in `problem` means that a server accepts it.
struct EventReporter {
  explicit EventReporter(EventRecorderOptions options);

  std::string controller;
  std::string instance;
  std::string problem{};
};

// An Event without a name, or why a server would refuse it and what to do about that.
std::expected<Event, std::string> MakeEvent(const EventReporter& source, const detail::EventObject& regarding,
                                            const detail::EventObject* related, const EventDetails& details,
                                            SysMicros now);

// "<name of the object>.<stamp in hex>"; "event.<stamp>" if that is no name of an Event: names of RBAC objects may
// have characters that others must not have.
std::string EventName(std::string_view object, std::uint64_t stamp);

// Which object and type: the key of the spam filter.
std::string ObjectOf(const Event& event);
// The text in which all events of a series are equal: everything but times and resource versions.
std::string SeriesOf(const Event& event);

// "Pod default/web-0: Started", for messages.
std::string Describe(const detail::EventObject& regarding, std::string_view reason);
std::string Describe(const Event& event);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_EVENTS_EVENT_H_
