// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OpenSpan: a span that ends exactly once, whatever becomes of the work that it describes.
#ifndef KGEN_SRC_CORE_OBSERVERS_OPEN_SPAN_H_
#define KGEN_SRC_CORE_OBSERVERS_OPEN_SPAN_H_

#include <utility>

#include "kgen/core/shared.h"
#include "kgen/core/tracer.h"

namespace kgen {

// Ignores the exceptions of the tracer: a failing tracer must not affect what it traces. Thread safety: one thread at a
// time.
class OpenSpan {
 public:
  OpenSpan() noexcept = default;  // no span
  // Starts a span, if there is a tracer and it wants one.
  OpenSpan(const Shared<Tracer>& tracer, const SpanStart& start) noexcept {
    if (tracer) Start(*tracer, start);
  }
  OpenSpan(OpenSpan&&) noexcept = default;
  OpenSpan& operator=(OpenSpan&& other) noexcept {
    if (span_) Abandon();
    span_ = std::move(other.span_);
    context_ = other.context_;
    return *this;
  }
  ~OpenSpan() {
    if (span_) Abandon();
  }

  explicit operator bool() const noexcept { return static_cast<bool>(span_); }
  const TraceContext& context() const noexcept { return context_; }  // not valid if there is no span
  void End(const SpanEnd& end) noexcept;                             // does nothing if it has ended

 private:
  void Start(Tracer& tracer, const SpanStart& start) noexcept;
  void Abandon() noexcept;  // the work was dropped

  Shared<Span> span_{};
  TraceContext context_{};
};

}  // namespace kgen

#endif  // KGEN_SRC_CORE_OBSERVERS_OPEN_SPAN_H_
