// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/tracer.h"

#include <span>

namespace kgen {
namespace {

void AppendHex(std::span<const std::uint8_t> bytes, std::string& out) {
  for (const std::uint8_t byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
}

}  // namespace

std::string TraceContext::Traceparent() const {
  if (!valid()) return {};
  std::string text = "00-";
  AppendHex(trace_id, text);
  text += '-';
  AppendHex(span_id, text);
  text += sampled ? "-01" : "-00";
  return text;
}

std::string_view ToString(SpanKind kind) noexcept {
  switch (kind) {
    case SpanKind::kReconcile:
      return "reconcile";
    case SpanKind::kList:
      return "list";
    case SpanKind::kWatch:
      return "watch";
    case SpanKind::kRequest:
      return "request";
  }
  return "unknown";
}

}  // namespace kgen
