// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RecordingTracer: remembers the spans that it made. The ids count up, so that a failing test shows which is which.
#ifndef KGEN_TESTS_SUPPORT_RECORDING_TRACER_H_
#define KGEN_TESTS_SUPPORT_RECORDING_TRACER_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "kgen/core/result.h"
#include "kgen/core/tracer.h"

namespace kgen::testing {

struct RecordedSpan {
  SpanKind kind{};
  std::string name, method, path, key, id;
  TraceContext parent, context;
  int ends = 0;
  std::string error;  // "" if it ended well
  Code code{};
  int status = 0, attempts = 0;

  bool open() const noexcept { return ends == 0; }
};

// For one thread at a time, as in virtual time.
class RecordingTracer final : public Tracer {
 public:
  Shared<Span> StartSpan(const SpanStart& start) override {
    const auto number = static_cast<std::uint8_t>(spans_.size() + 1);
    RecordedSpan& span = spans_.emplace_back();
    span.kind = start.kind;
    span.name = start.name;
    span.method = start.method;
    span.path = start.path;
    span.key = start.key;
    span.id = start.id;
    span.parent = start.parent;
    span.context.trace_id.back() = number;
    if (start.parent.valid()) span.context.trace_id = start.parent.trace_id;
    span.context.span_id.back() = number;
    return MakeShared<Recorder>(Shared<RecordingTracer>(this), span);
  }

  // In the order of their starts.
  const std::deque<RecordedSpan>& spans() const noexcept { return spans_; }
  std::vector<RecordedSpan> Of(SpanKind kind) const {
    std::vector<RecordedSpan> found;
    for (const RecordedSpan& span : spans_) {
      if (span.kind == kind) found.push_back(span);
    }
    return found;
  }

 private:
  class Recorder final : public Span {
   public:
    Recorder(Shared<RecordingTracer> tracer, RecordedSpan& span) : tracer_(std::move(tracer)), span_(span) {}
    TraceContext context() const override { return span_.context; }
    void End(const SpanEnd& end) override {
      ++span_.ends;
      if (end.error != nullptr) {
        span_.error = end.error->ToString();
        span_.code = end.error->code();
      }
      span_.status = end.status;
      span_.attempts = end.attempts;
    }

   private:
    const Shared<RecordingTracer> tracer_;
    RecordedSpan& span_;
  };

  std::deque<RecordedSpan> spans_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_RECORDING_TRACER_H_
