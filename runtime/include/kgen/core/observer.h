// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What goes on inside, told to whoever wants to know. The library itself never prints. [D12]
//
//   config.observer = kgen::StderrObserver();
//
// Part of a Connection: every informer and client made from it reports here. Every function has an empty default; every
// event is an aggregate that may grow. Functions are called on the thread where it happened, must not block, and may be
// called from several threads at once. An exception that one throws is swallowed.
#ifndef KGEN_CORE_OBSERVER_H_
#define KGEN_CORE_OBSERVER_H_

#include <chrono>
#include <cstddef>
#include <string_view>

#include "kgen/core/clock.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

class Observer : public SharedObject {
 public:
  struct ListOrWatchFailed {
    std::string_view informer;  // "pods", "pods in default"
    bool watch = false;         // else the list
    const Error* error = nullptr;
    int attempt = 1;  // in a row
    Nanos retry_in{};
    bool gave_up = false;  // a wait for the sync ends with this error
  };
  struct ObjectRefused {  // the last good state stays, marked stale
    std::string_view informer;
    const ObjectKey* key = nullptr;  // as far as it could be read
    const Error* error = nullptr;
  };
  struct FieldRefused {  // kept raw, reads as absent
    std::string_view informer;
    const ObjectKey* key = nullptr;
    std::string_view path;
    std::string_view message;
  };
  struct HandlerFailed {  // threw; the event counts as handled
    std::string_view informer;
    const ObjectKey* key = nullptr;
    std::string_view what;
  };
  struct HandlerSlow {
    std::string_view informer;
    const ObjectKey* key = nullptr;
    Nanos took{};
    std::size_t backlog = 0;
  };
  struct BacklogHigh {
    std::string_view informer;
    std::size_t backlog = 0;
  };
  struct Relisted {
    std::string_view informer;
    std::string_view resource_version;
    std::size_t objects = 0;
    bool streamed = false;
    Nanos took{};
  };
  struct ConnectionChanged {
    std::string_view host;
    bool up = false;
    const Error* error = nullptr;  // why it went down
  };
  struct LimiterWaited {
    std::string_view what;  // "get pods", "executor threads"
    Nanos waited{};
  };

  virtual void OnListOrWatchFailed(const ListOrWatchFailed&) {}
  virtual void OnObjectRefused(const ObjectRefused&) {}
  virtual void OnFieldRefused(const FieldRefused&) {}
  virtual void OnHandlerFailed(const HandlerFailed&) {}
  virtual void OnHandlerSlow(const HandlerSlow&) {}
  virtual void OnBacklogHigh(const BacklogHigh&) {}
  virtual void OnRelisted(const Relisted&) {}
  virtual void OnConnectionChanged(const ConnectionChanged&) {}
  virtual void OnLimiterWaited(const LimiterWaited&) {}
};

// One line per event to standard error. Any thread; lines are not mixed.
Shared<Observer> StderrObserver();

}  // namespace kgen

#endif  // KGEN_CORE_OBSERVER_H_
