// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tracer: gets the start and the end of requests, lists, watches and reconciles, for OpenTelemetry and the like.
//
//   config.tracer = kgen::MakeShared<MyTracer>();  // examples/tracing has one that writes JSON lines
//
//   reconcile <--parent-- requests of Request::client()
//   list of an informer <--parent-- its pages
//
// The context of a request's span is sent to the server as the header `traceparent` of W3C Trace Context, so that the
// spans of the server continue the trace. Without a tracer nothing is sent. docs/tracing.md maps the calls to the C++
// SDK of OpenTelemetry.
#ifndef KGEN_CORE_TRACER_H_
#define KGEN_CORE_TRACER_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "kgen/core/shared.h"

namespace kgen {

class Error;

// Identifies a span within its trace. The default is the context of no span.
struct TraceContext {
  std::array<std::uint8_t, 16> trace_id{};  // the same for all spans of a trace
  std::array<std::uint8_t, 8> span_id{};    // of this span
  bool sampled = true;                      // whether the trace is recorded; the server is asked to do the same

  // Returns whether this is the context of a span: neither id is all zero.
  bool valid() const noexcept { return trace_id != decltype(trace_id){} && span_id != decltype(span_id){}; }
  // Returns the header value "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", or "" if it is not valid.
  std::string Traceparent() const;
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

enum class SpanKind : std::uint8_t {
  kReconcile,  // one call of a reconcile function
  kList,       // one list of an informer, with all its pages and retries. A streaming list is a kWatch.
  kWatch,      // one request whose response goes on: a watch, or a log that is followed
  kRequest,    // any other request, with its retries
};
std::string_view ToString(SpanKind kind) noexcept;  // "reconcile", "list", "watch", "request"

// What is known when a span starts. The texts live as long as the call. None has a body, a header or a query, so none
// has the contents of an object.
struct SpanStart {
  SpanKind kind{};  // what the span measures
  // The controller; the informer ("pods", "deployments.apps/v1 in default"); or what the request does ("get pods
  // default/web-0").
  std::string_view name{};
  TraceContext parent{};      // not valid: the span begins a trace
  std::string_view method{};  // of a request or watch: "GET"
  std::string_view path{};    // of a request or watch: "/api/v1/namespaces/default/pods/web-0"
  std::string_view key{};     // of a reconcile: "default/web-0"
  std::string_view id{};      // of a reconcile: Request::id(), which log lines have, too
};

// How a span ended.
struct SpanEnd {
  // Null: well. Secrets of the connection are hidden in it, as in all errors. kCancelled also for a span whose work was
  // dropped, as by the shutdown of an executor.
  const Error* error = nullptr;
  int status = 0;    // of a request or watch: the HTTP status of the last response; 0: none arrived
  int attempts = 0;  // of a request or watch: how often it was sent
};

// A span that has started. Ownership: kgen holds a reference until it has called End().
class Span : public SharedObject {
 public:
  // Called once, directly after the start, on the thread of the start.
  virtual TraceContext context() const = 0;
  // Called once, on any thread.
  virtual void End(const SpanEnd& end) = 0;
};

// Makes spans. It chooses the ids (trace_id is the parent's, where there is one), takes the times, and decides what is
// sampled.
//
// Thread safety: StartSpan() and Span::End() are called on the threads of the events, by several at once, and must not
// block. Their exceptions are ignored; after one from StartSpan(), that event has no span.
// Lifetime: the connection shares it.
class Tracer : public SharedObject {
 public:
  // Returns the new span. Null: this event is not traced, sends no `traceparent`, and is no parent.
  virtual Shared<Span> StartSpan(const SpanStart& start) = 0;
};

}  // namespace kgen

#endif  // KGEN_CORE_TRACER_H_
