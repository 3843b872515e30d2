// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/observers/open_span.h"

#include "kgen/core/result.h"

namespace kgen {

void OpenSpan::Start(Tracer& tracer, const SpanStart& start) noexcept {
  try {
    span_ = tracer.StartSpan(start);
    if (span_) context_ = span_->context();
  } catch (...) {
    span_ = {};
  }
}

void OpenSpan::End(const SpanEnd& end) noexcept {
  const Shared<Span> span = std::exchange(span_, {});
  if (!span) return;
  try {
    span->End(end);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a failing tracer must not affect what it traces
  }
}

void OpenSpan::Abandon() noexcept {
  try {
    const Error error(Code::kCancelled, "dropped before it was done");
    End({.error = &error});
  } catch (...) {  // no memory for the error
    End({});
  }
}

}  // namespace kgen
