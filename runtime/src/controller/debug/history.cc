// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/debug/history.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "controller/metrics/process_metrics.h"
#include "kgen/controller/queue_metrics.h"

namespace kgen::controller {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

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
    each.depth.Set(taken_, static_cast<float>(depth));
    each.rate.Set(taken_, elapsed > 0 ? static_cast<float>(more / elapsed) : kNothing);
    each.duration.Set(taken_,
                      more > 0 ? static_cast<float>((metrics.work_duration.sum - each.seconds) / more) : kNothing);
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

DebugPlot History::PlotOf(std::string title, DebugPlot::Unit unit, Ring Controller::* ring) const {
  DebugPlot plot{.title = std::move(title), .unit = unit, .step = kStep};
  for (const Controller& each : controllers_) plot.lines.push_back({each.name, SamplesOf(each.*ring, each.since)});
  if (left_out_ > 0) plot.note = std::to_string(left_out_) + " more controllers are not plotted";
  return plot;
}

std::vector<DebugPlot> History::Plots() const {
  const MutexLock lock(mutex_);
  return {PlotOf("Queue depth", DebugPlot::Unit::kCount, &Controller::depth),
          PlotOf("Reconciles", DebugPlot::Unit::kRate, &Controller::rate),
          PlotOf("Duration of a reconcile", DebugPlot::Unit::kSeconds, &Controller::duration),
          {.title = "Memory of the process",
           .unit = DebugPlot::Unit::kBytes,
           .step = kStep,
           .lines = {{"resident", SamplesOf(memory_, 0)}}}};
}

}  // namespace kgen::controller
