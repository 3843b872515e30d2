// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/webhook_metrics.h"

#include <utility>

namespace kgen::controller {
namespace {

// The default bounds of Prometheus' client libraries.
constexpr double kBounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
constexpr int kUsualCodes[] = {200, 500};  // whose series controller-runtime shows from the start

}  // namespace

Result<void> WebhookMetrics::AddPath(const std::string& path) {
  const MutexLock lock(mutex_);
  auto added = Of(path);
  if (!added) return Fail(added.error());
  return {};
}

Result<Metrics::Counter> WebhookMetrics::CounterOf(const std::string& path, int code) {
  return metrics_->AddCounter("controller_runtime_webhook_requests_total",
                              "Total number of admission requests by HTTP status code.",
                              {{"webhook", path}, {"code", std::to_string(code)}});
}

Result<WebhookMetrics::Path*> WebhookMetrics::Of(const std::string& path) {
  if (const auto found = paths_.find(path); found != paths_.end()) return &found->second;
  Path made;
  if (metrics_) {
    for (const int code : kUsualCodes) {
      auto requests = CounterOf(path, code);
      if (!requests) return Fail(requests.error());
      made.requests.emplace(code, *std::move(requests));
    }
    auto latency = metrics_->AddHistogram("controller_runtime_webhook_latency_seconds",
                                          "Histogram of the latency of processing admission requests", kBounds,
                                          {{"webhook", path}});
    if (!latency) return Fail(latency.error());
    auto in_flight = metrics_->AddGauge("controller_runtime_webhook_requests_in_flight",
                                        "Current number of admission requests being served.", {{"webhook", path}});
    if (!in_flight) return Fail(in_flight.error());
    auto panics = metrics_->AddCounter("controller_runtime_webhook_panics_total", "Total number of webhook panics");
    if (!panics) return Fail(panics.error());
    auto conversion = metrics_->AddCounter("controller_runtime_conversion_webhook_panics_total",
                                           "Total number of conversion webhook panics");
    if (!conversion) return Fail(conversion.error());
    made.latency = *std::move(latency);
    made.in_flight = *std::move(in_flight);
    panics_ = *std::move(panics);
    conversion_panics_ = *std::move(conversion);
  }
  return &paths_.emplace(path, std::move(made)).first->second;
}

void WebhookMetrics::Begin(const std::string& path) {
  const MutexLock lock(mutex_);
  if (auto of = Of(path)) (*of)->in_flight.Add(1);
}

void WebhookMetrics::End(const std::string& path, int code, Nanos took, bool begun) {
  const MutexLock lock(mutex_);
  auto of = Of(path);
  if (!of) return;
  auto found = (*of)->requests.find(code);
  if (found == (*of)->requests.end() && metrics_) {
    if (auto requests = CounterOf(path, code)) found = (*of)->requests.emplace(code, *std::move(requests)).first;
  }
  if (found != (*of)->requests.end()) found->second.Add();
  (*of)->latency.Observe(took);
  if (begun) (*of)->in_flight.Add(-1);
}

void WebhookMetrics::CountPanics(const std::string& path, const WebhookHandler& handler) {
  const std::uint64_t now = handler.panics();
  const MutexLock lock(mutex_);
  auto of = Of(path);
  if (!of || now <= (*of)->panics) return;
  (handler.kind() == WebhookHandler::Kind::kConversion ? conversion_panics_ : panics_).Add(now - (*of)->panics);
  (*of)->panics = now;
}

}  // namespace kgen::controller
