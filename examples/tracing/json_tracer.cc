// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "json_tracer.h"

#include <kgen/core/result.h>
#include <kgen/core/time.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace {

// The ids of "00-TRACE-SPAN-01".
std::string TraceId(const kgen::TraceContext& context) { return context.Traceparent().substr(3, 32); }
std::string SpanId(const kgen::TraceContext& context) { return context.Traceparent().substr(36, 16); }

}  // namespace

class JsonTracer::JsonSpan final : public kgen::Span {
 public:
  JsonSpan(kgen::Shared<JsonTracer> tracer, const kgen::SpanStart& start, const kgen::TraceContext& context)
      : tracer_(std::move(tracer)), context_(context), started_(tracer_->clock_->Now()) {
    line_["trace_id"] = TraceId(context);
    line_["span_id"] = SpanId(context);
    if (start.parent.valid()) line_["parent_id"] = SpanId(start.parent);
    line_["kind"] = ToString(start.kind);
    line_["name"] = start.name;
    line_["start"] = kgen::MicroTime(tracer_->clock_->WallNow()).str();
    line_["duration_us"] = 0;
    if (!start.method.empty()) line_["method"] = start.method;
    if (!start.path.empty()) line_["path"] = start.path;
    if (!start.key.empty()) line_["key"] = start.key;
    if (!start.id.empty()) line_["id"] = start.id;
  }

  kgen::TraceContext context() const override { return context_; }

  void End(const kgen::SpanEnd& end) override {
    if (!context_.sampled) return;
    using std::chrono::microseconds;
    line_["duration_us"] = std::chrono::duration_cast<microseconds>(tracer_->clock_->Now() - started_).count();
    if (end.status != 0) line_["status"] = end.status;
    if (end.attempts != 0) line_["attempts"] = end.attempts;
    if (end.error != nullptr) line_["error"] = end.error->ToString();
    // Errors may quote bytes that are not UTF-8.
    tracer_->Write(line_.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }

 private:
  const kgen::Shared<JsonTracer> tracer_;
  const kgen::TraceContext context_;
  const kgen::TimePoint started_;
  nlohmann::ordered_json line_;
};

JsonTracer::JsonTracer(kgen::Shared<kgen::Clock> clock, std::uint64_t seed,
                       std::function<void(std::string_view line)> write)
    : clock_(std::move(clock)), write_(std::move(write)), random_(seed) {}

kgen::Shared<kgen::Span> JsonTracer::StartSpan(const kgen::SpanStart& start) {
  kgen::TraceContext context;
  {
    const std::lock_guard lock(mutex_);
    MakeId(context.trace_id);
    MakeId(context.span_id);
  }
  if (start.parent.valid()) {
    context.trace_id = start.parent.trace_id;
    context.sampled = start.parent.sampled;
  }
  return kgen::MakeShared<JsonSpan>(kgen::Shared<JsonTracer>(this), start, context);
}

template <typename Id>
void JsonTracer::MakeId(Id& id) {
  do {
    for (std::uint8_t& byte : id) byte = static_cast<std::uint8_t>(random_());
  } while (id == Id{});
}

void JsonTracer::Write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  write_(line);
}
