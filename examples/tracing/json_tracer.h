// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// JsonTracer: writes each sampled span as a line of JSON when it ends.
//
//   {"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7","parent_id":"b7ad6b7169203331",
//    "kind":"request","name":"update configmaps default/settings","start":"2026-11-24T07:35:34.123456Z",
//    "duration_us":1840,"method":"PUT","path":"/api/v1/namespaces/default/configmaps/settings","status":200,
//    "attempts":1}
#ifndef KGEN_EXAMPLES_TRACING_JSON_TRACER_H_
#define KGEN_EXAMPLES_TRACING_JSON_TRACER_H_

#include <kgen/core/clock.h>
#include <kgen/core/tracer.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <string_view>

// Thread safety: all members from any thread.
class JsonTracer final : public kgen::Tracer {
 public:
  // `write` gets one line without a line feed, by one thread at a time, and must not block. The ids follow from `seed`;
  // a program takes one from std::random_device, so that no two processes have the same ids.
  JsonTracer(kgen::Shared<kgen::Clock> clock, std::uint64_t seed, std::function<void(std::string_view line)> write);

  kgen::Shared<kgen::Span> StartSpan(const kgen::SpanStart& start) override;

 private:
  class JsonSpan;
  // Fills an id with random bytes, which are not all zero.
  template <typename Id>
  void MakeId(Id& id);
  void Write(std::string_view line);

  const kgen::Shared<kgen::Clock> clock_;
  const std::function<void(std::string_view line)> write_;
  std::mutex mutex_;  // of what follows, and of write_
  std::mt19937_64 random_;
};

#endif  // KGEN_EXAMPLES_TRACING_JSON_TRACER_H_
