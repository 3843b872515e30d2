// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/debug/history.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "controller/metrics/process_metrics.h"
#include "kgen/controller/queue_metrics.h"

namespace kgen::controller {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kRateSamples = std::chrono::minutes(1) / History::kStep;

}  // namespace

History::History(const Shared<Executor>& executor)
    : executor_(executor), strand_(executor->MakeStrand("history of /debug")), timer_(executor, strand_) {}

void History::Add(std::string controller, const RateLimitingQueue& queue) {
  const MutexLock lock(mutex_);
  if (controllers_.size() == kMostControllers) {
    ++left_out_;
    return;
  }
  controllers_.push_back({.name = std::move(controller), .queue = queue, .since = taken_});
}

void History::Start() {
  executor_->Post(strand_, [self = Shared<History>(this)] {
    {
      const MutexLock lock(self->mutex_);
      self->last_ = self->executor_->clock()->Now();
    }
    self->Tick();
  });
}

void History::Stop() {
  executor_->Post(strand_, [self = Shared<History>(this)] {
    self->stopped_ = true;
    self->timer_.Cancel();
  });
}

void History::Tick() {
  if (stopped_) return;
  {
    const MutexLock lock(mutex_);
    const TimePoint now = executor_->clock()->Now();
    Take(std::chrono::duration<double>(now - std::exchange(last_, now)).count());
  }
  timer_.After(kStep, TimerKind::kHousekeeping, [self = Shared<History>(this)] { self->Tick(); });
}

void History::Take(double elapsed) {
  for (Controller& each : controllers_) {
    const WorkQueueMetrics metrics = each.queue.metrics();
    const std::size_t depth = std::accumulate(metrics.depth.begin(), metrics.depth.end(), std::size_t{0},
                                              [](std::size_t sum, const auto& level) { return sum + level.second; });
    const std::uint64_t calls = metrics.work_duration.count();
    const auto more = static_cast<double>(calls - each.calls);
    const auto rate = [elapsed](double count) { return elapsed > 0 ? static_cast<float>(count / elapsed) : kNothing; };
    each.depth.Set(taken_, static_cast<float>(depth));
    each.add_rate.Set(taken_, rate(static_cast<double>(metrics.adds - each.adds)));
    each.call_rate.Set(taken_, rate(more));
    each.duration.Set(taken_,
                      more > 0 ? static_cast<float>((metrics.work_duration.sum - each.seconds) / more) : kNothing);
    each.adds = metrics.adds;
    each.calls = calls;
    each.seconds = metrics.work_duration.sum;
  }
  memory_.Set(taken_, static_cast<float>(ResidentBytes().value_or(static_cast<double>(kNothing))));
  ++taken_;
}

// Always kSamples, so that all plots have the same time below the same place.
std::vector<float> History::SamplesOf(const Ring& ring, std::size_t since) const {
  std::vector<float> samples(kSamples, kNothing);
  for (std::size_t back = 1; back <= std::min(kSamples, taken_ - since); ++back) {
    samples[kSamples - back] = ring.At(taken_ - back);
  }
  return samples;
}

std::optional<double> History::RateOf(const Ring& ring, std::size_t since) const {
  double sum = 0;
  int known = 0;
  for (std::size_t back = 1; back <= std::min(kRateSamples, taken_ - since); ++back) {
    const auto sample = static_cast<double>(ring.At(taken_ - back));
    if (!std::isfinite(sample)) continue;
    sum += sample;
    ++known;
  }
  return known > 0 ? std::optional(sum / known) : std::nullopt;
}

History::Rates History::RatesOf(std::string_view controller) const {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find(controllers_, controller, &Controller::name);
  if (found == controllers_.end()) return {};
  return {.adds = RateOf(found->add_rate, found->since), .calls = RateOf(found->call_rate, found->since)};
}

DebugPlot History::PlotOf(std::string title, DebugPlot::Unit unit, Ring Controller::* ring) const {
  DebugPlot plot{.title = std::move(title), .unit = unit, .step = kStep};
  for (const Controller& each : controllers_) plot.lines.push_back({each.name, SamplesOf(each.*ring, each.since)});
  if (left_out_ > 0) plot.note = std::to_string(left_out_) + " more controllers are not plotted";
  return plot;
}

std::vector<DebugPlot> History::Plots() const {
  const MutexLock lock(mutex_);
  return {PlotOf("Queue depth", DebugPlot::Unit::kCount, &Controller::depth),
          PlotOf("Reconciles", DebugPlot::Unit::kRate, &Controller::call_rate),
          PlotOf("Duration of a reconcile", DebugPlot::Unit::kSeconds, &Controller::duration),
          {.title = "Memory of the process",
           .unit = DebugPlot::Unit::kBytes,
           .step = kStep,
           .lines = {{"resident", SamplesOf(memory_, 0)}}}};
}

}  // namespace kgen::controller
