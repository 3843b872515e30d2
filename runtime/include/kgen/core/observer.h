// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Observer: receives events about a Connection and everything made from it.
//
//   config.observer = kgen::NullObserver();     // silence
//   config.observer = kgen::StderrObserver();   // everything, not only warnings
//   config.observer = kgen::MakeLogObserver({.format = kgen::LogFormat::kJson});  // kgen/core/log.h
//   config.observer = kgen::MakeShared<MyObserver>();
//
// A connection without an observer writes warnings to standard error: a list or watch that failed, an object or field
// that was refused, a saved cache that could not be used or written, a handler that threw or falls behind, a connection
// that could not be opened, a warning of the server, what a controller reports; and so does a work queue without one,
// about reconcile functions that failed. The environment variable KGEN_LOG sets what is written of these, per component
// (kgen/core/log.h): "KGEN_LOG=warning,informer=error". When something works again after a failure that was written,
// that is written, too. An event is one line:
//
//   2026-11-23T07:35:34.123Z WARNING kgen: pods: list failed: ...; next attempt in 1.2 s
//
// that is the time in UTC (Clock::WallNow), a severity (INFO; WARNING: the library goes on and tries again; ERROR:
// somebody has to act), "kgen:" and the text. Control characters in the text are escaped: "\n", "\t", "\x1B".
//
// The first failure of each cause is written at once. For a controller, the cause consists of the controller, the
// object and the text of the error, so the first failure of each object is written. Repetitions are counted, and
// written after 1, 2, 4, ... seconds, at most once a minute, with their number. Informers that fail for the same reason
// share a line, and so does everything that fails because there is no connection. The log remembers 1,000 causes. When
// there are more, repetitions of a controller's failures share a line; first failures and terminal errors still have
// their own.
//
// `cluster` of an event is the name of the cluster that it is about (kgen/controller/clusters.h), and "" in a program
// without several clusters.
//
// Every function has an empty default; every event is an aggregate that may grow. Functions are called on the thread of
// the event or on one of the executor, possibly on several threads at once, and must not block. Their exceptions are
// ignored.
//
// Refusals can be many at once, when every object of a large list is refused. For each informer an observer gets at
// most one refused object and one refused field a second: the first at once, then one per second for those that
// followed. `count` is the number of events that a call summarizes, including its own; the counts add up to the number
// of refusals. Warnings of the server are treated the same way, by their text.
#ifndef KGEN_CORE_OBSERVER_H_
#define KGEN_CORE_OBSERVER_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "kgen/core/clock.h"
#include "kgen/core/log_record.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

// Receives what the library reports: one struct for each kind of event, and one function for each struct. Derive from
// it and override what you need; the others ignore their event. References and pointers are valid during the call only.
class Observer : public SharedObject {
 public:
  // A list or a watch of an informer failed, and is tried again.
  struct ListOrWatchFailed {
    std::string_view informer;  // "pods", "deployments.apps/v1 in default"; in the log also a list of several
    bool watch = false;         // else the list
    const Error* error = nullptr;
    int attempt = 1;  // in a row
    Nanos retry_in{};
    bool gave_up = false;  // a wait for the sync ends with this error
    std::size_t count = 1;
    std::size_t informers = 1;  // different ones among these
    std::string_view cluster{};
  };
  struct Recovered {           // what a call above or below reported as failed works again
    std::string_view source;   // the informer, or the queue; in the log also a list of several informers
    std::string_view key;      // of a queue; in the log also a list of several
    std::size_t failures = 0;  // in a row
    Nanos after{};             // since the first of these
    std::size_t count = 1;
    std::string_view cluster{};
  };
  struct ObjectRefused {             // the last good state stays, marked stale
    std::string_view informer;       // as in ListOrWatchFailed
    const ObjectKey* key = nullptr;  // as far as it could be read
    const Error* error = nullptr;
    std::size_t count = 1;
    std::string_view cluster{};
  };
  struct FieldRefused {              // kept raw, reads as absent
    std::string_view informer;       // as in ListOrWatchFailed
    const ObjectKey* key = nullptr;  // of the object
    std::string_view path;           // of the field: "spec.replicas"
    std::string_view message;        // what is wrong with it
    std::size_t count = 1;
    std::string_view cluster{};  // "": not one of several
  };
  // The file of a saved cache (InformerOptions::warm_start) is not used, and the informer lists; or the cache could not
  // be saved, and the informer goes on without.
  struct SavedCacheFailed {
    std::string_view informer;  // as in ListOrWatchFailed
    std::string_view path;      // of the file
    bool saving = false;        // else it is not used
    const Error* error = nullptr;
    Nanos retry_in{};  // of a save
    std::size_t count = 1;
    std::size_t informers = 1;  // different ones among these
    std::string_view cluster{};
  };
  struct HandlerFailed {             // threw; the event counts as handled
    std::string_view informer;       // as in ListOrWatchFailed
    const ObjectKey* key = nullptr;  // of the object whose event it was
    std::string_view what;           // what() of the exception, or what was refused
    std::size_t count = 1;
    std::string_view cluster{};  // "": not one of several
  };
  struct ReconcileFailed {   // returned an error or threw; tried again, except during a shutdown
    std::string_view queue;  // WorkQueueOptions::name
    std::string_view key;    // "default/web-0"
    const Error* error = nullptr;
    int attempt = 1;  // in a row
    Nanos retry_in{};
    bool terminal = false;  // not tried again until the object changes
    std::size_t count = 1;
    std::size_t objects = 1;  // different ones among these
    std::string_view cluster{};
  };
  struct Logged {             // by a reconcile function, see Request::Log(), and now and then by the library
    std::string_view source;  // the controller
    std::string_view key;     // "default/web-0"
    std::string_view message;
    LogLevel level = LogLevel::kInfo;
    LogComponent component = LogComponent::kController;
    std::string_view id{};  // of the call, Request::id()
    std::span<const LogField> fields{};
    std::string_view cluster{};
  };
  // This process began or ceased to lead, or an attempt at the lease failed.
  struct LeadershipChanged {
    std::string_view lease;        // "kube-system/shop"
    std::string_view identity;     // of this process
    std::string_view leader;       // who holds the lease now; may be empty
    bool leading = false;          // whether this process leads
    const Error* error = nullptr;  // why it was lost, or could not be acquired or renewed
    std::size_t count = 1;
    std::string_view cluster{};
  };
  struct EventDropped {      // an Event that a controller recorded and that does not reach the server
    std::string_view about;  // "pods default/web-0: Started"
    std::string_view why;
    std::size_t count = 1;
    std::string_view cluster{};
  };
  struct CheckFailed {       // of the endpoint: a health or readiness check, or an answer that could not be made
    std::string_view check;  // "/readyz/caches"
    const Error* error = nullptr;
    std::size_t count = 1;
    std::string_view cluster{};
  };
  // A call of a handler took long.
  struct HandlerSlow {
    std::string_view informer;       // as in ListOrWatchFailed
    const ObjectKey* key = nullptr;  // of the object whose event it was
    Nanos took{};                    // the time from the call to its return
    std::size_t backlog = 0;         // how many events wait for the handler
    std::string_view cluster{};      // "": not one of several
  };
  // Many events wait for a handler.
  struct BacklogHigh {
    std::string_view informer;  // as in ListOrWatchFailed
    std::size_t backlog = 0;    // events that wait
    std::string_view handler{};
    std::size_t bytes = 0;  // that only this backlog keeps alive, see HandlerOptions::backlog_bytes
    bool merging =
        false;  // whether the limit is reached: events are merged, and the handler misses intermediate states
    std::size_t count = 1;
    std::string_view cluster{};
  };
  // An informer has listed its objects.
  struct Relisted {
    std::string_view informer;          // as in ListOrWatchFailed
    std::string_view resource_version;  // of the list
    std::size_t objects = 0;            // how many it has
    bool streamed = false;              // whether they came as a watch, and not as pages
    Nanos took{};                       // until the last object was there
    std::string_view cluster{};         // "": not one of several
  };
  // A connection to a server was opened or lost.
  struct ConnectionChanged {
    std::string_view host;         // "10.0.0.1:6443"
    bool up = false;               // whether it was opened
    const Error* error = nullptr;  // why it went down
    std::size_t count = 1;
    std::string_view cluster{};
  };
  struct ServerWarned {        // a Warning header (code 299) of a response: a deprecated API, an unknown field
    std::string_view what;     // "create deployments default/web"
    std::string_view message;  // the first kilobyte of it
    std::size_t count = 1;
    std::string_view cluster{};
  };
  // One attempt of a request is over, or a watch is open. Only for observers that want LogLevel::kDebug of
  // LogComponent::kClient, see IsEnabled(). Headers and bodies are there only for those that want kTrace, a body to its
  // first kilobyte, and neither has what docs/logging.md says is never shown.
  struct Requested {
    std::string_view method;       // of HTTP: "GET"
    std::string_view url;          // with the query
    std::string_view what;         // "get pods default/web-0"
    int status = 0;                // 0: no response
    Nanos took{};                  // until the response was read; for a watch, until it was open
    const Error* error = nullptr;  // why there is no whole response
    int attempt = 1;
    bool detailed = false;               // whether the following are meant
    std::string_view request_headers{};  // "accept: application/json, user-agent: ..."
    std::string_view request_body{};
    std::string_view response_headers{};
    std::string_view response_body{};
    std::string_view cluster{};
  };
  // Something waited for its turn at a limit.
  struct LimiterWaited {
    std::string_view what;  // "get pods", "executor threads"
    Nanos waited{};
    std::string_view cluster{};
  };

  // Whether the observer wants what is reported at that level. Asked before a record at kDebug or kTrace is put
  // together, so that such a record costs one call of this function while nobody wants it; other events are reported
  // without asking.
  virtual bool IsEnabled(LogComponent, LogLevel level) const noexcept { return level <= LogLevel::kInfo; }

  // Each is called with the event of its name. The defaults do nothing.
  virtual void OnListOrWatchFailed(const ListOrWatchFailed&) {}
  virtual void OnRecovered(const Recovered&) {}
  virtual void OnObjectRefused(const ObjectRefused&) {}
  virtual void OnFieldRefused(const FieldRefused&) {}
  virtual void OnSavedCacheFailed(const SavedCacheFailed&) {}
  virtual void OnHandlerFailed(const HandlerFailed&) {}
  virtual void OnReconcileFailed(const ReconcileFailed&) {}
  virtual void OnLogged(const Logged&) {}
  virtual void OnLeadershipChanged(const LeadershipChanged&) {}
  virtual void OnEventDropped(const EventDropped&) {}
  virtual void OnCheckFailed(const CheckFailed&) {}
  virtual void OnHandlerSlow(const HandlerSlow&) {}
  virtual void OnBacklogHigh(const BacklogHigh&) {}
  virtual void OnRelisted(const Relisted&) {}
  virtual void OnConnectionChanged(const ConnectionChanged&) {}
  virtual void OnServerWarned(const ServerWarned&) {}
  virtual void OnRequested(const Requested&) {}
  virtual void OnLimiterWaited(const LimiterWaited&) {}
};

// Returns an observer that ignores every event.
Shared<Observer> NullObserver();

// Returns MakeLogObserver() with its defaults (kgen/core/log.h): one line to standard error for each event, in the
// format above, at the levels that the environment variable KGEN_LOG sets. One for the process.
Shared<Observer> StderrObserver();

}  // namespace kgen

#endif  // KGEN_CORE_OBSERVER_H_
