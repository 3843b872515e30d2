// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WebhookMetrics: the metrics of a webhook server, under the names that controller-runtime has for them.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_METRICS_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_METRICS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "controller/webhook/webhook_routes.h"
#include "core/memory/mutex.h"
#include "kgen/controller/metrics.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// Thread safety: all members from any thread. None blocks.
class WebhookMetrics final : public SharedObject {
 public:
  // The code under which a review counts whose answer was not sent, because it came too late.
  static constexpr int kTooLate = 504;

  // No `metrics`: nothing is counted.
  explicit WebhookMetrics(std::optional<Metrics> metrics) : metrics_(std::move(metrics)) {}

  // Adds the series of a path, so that they are there before the first review.
  // Errors: kInvalidArgument  the registry has another family of one of the names
  Result<void> AddPath(const std::string& path);
  // A review has arrived.
  void Begin(const std::string& path);
  // It was answered with an HTTP status after `took`; `begun` says whether Begin() was called for it.
  void End(const std::string& path, int code, Nanos took, bool begun = true);
  // Counts what `handler` has counted since the last call for it.
  void CountPanics(const std::string& path, const WebhookHandler& handler);

 private:
  struct Path {
    std::map<int, Metrics::Counter> requests{};
    Metrics::Histogram latency{};
    Metrics::Gauge in_flight{};
    std::uint64_t panics = 0;  // of its handler, so far
  };

  Result<Path*> Of(const std::string& path) KGEN_REQUIRES(mutex_);
  Result<Metrics::Counter> CounterOf(const std::string& path, int code) KGEN_REQUIRES(mutex_);

  std::optional<Metrics> metrics_;
  Mutex mutex_;
  std::map<std::string, Path, std::less<>> paths_ KGEN_GUARDED_BY(mutex_);
  Metrics::Counter panics_ KGEN_GUARDED_BY(mutex_), conversion_panics_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_WEBHOOK_METRICS_H_
