// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// History: the last ten minutes of a manager, for the plots of /debug.
#ifndef KGEN_SRC_CONTROLLER_DEBUG_HISTORY_H_
#define KGEN_SRC_CONTROLLER_DEBUG_HISTORY_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/debug/section.h"
#include "core/execution/post_timer.h"
#include "core/memory/mutex.h"
#include "kgen/controller/work_queue.h"
#include "kgen/core/executor.h"

namespace kgen::controller {

// Takes a sample every five seconds while it runs.
//
// Its memory is bounded, whatever the number of controllers: only the first kMostControllers are sampled, with 1.9 KB
// each, and so at most 70 KB in all. The plots say how many are left out.
//
// Thread safety: all members from any thread. Never blocks.
// Lifetime: while it runs, its timer holds it. Whoever calls Start() calls Stop().
class History final : public SharedObject {
 public:
  static constexpr Nanos kStep = std::chrono::seconds(5);
  static constexpr std::size_t kSamples = 120;  // ten minutes
  static constexpr std::size_t kMostControllers = 32;

  explicit History(const Shared<Executor>& executor);

  // Means of the last minute, each a second. Absent: no samples.
  struct Rates {
    std::optional<double> adds{}, calls{};
  };

  // `queue` has the metrics of the controller.
  void Add(std::string controller, const RateLimitingQueue& queue);
  void Start();
  void Stop();
  // Queue depths, reconciles a second, the mean duration of a reconcile, and memory.
  std::vector<DebugPlot> Plots() const;
  // Absent rates for a controller that is not sampled.
  Rates RatesOf(std::string_view controller) const;

 private:
  // The newest sample of each is at `taken_ - 1`, modulo kSamples.
  class Ring {
   public:
    void Set(std::size_t sample, float value) noexcept { samples_[sample % kSamples] = value; }
    float At(std::size_t sample) const noexcept { return samples_[sample % kSamples]; }

   private:
    std::array<float, kSamples> samples_{};
  };
  struct Controller {
    std::string name;
    RateLimitingQueue queue;
    std::size_t since = 0;              // the first sample
    std::uint64_t adds = 0, calls = 0;  // at the last sample, as `seconds`
    double seconds = 0;
    Ring depth{}, add_rate{}, call_rate{}, duration{};
  };
  static_assert(kMostControllers * sizeof(Controller) < 70'000, "docs/operate/README.md says 70 KB");

  void Tick();
  void Take(double elapsed) KGEN_REQUIRES(mutex_);
  DebugPlot PlotOf(std::string title, DebugPlot::Unit unit, Ring Controller::* ring) const KGEN_REQUIRES(mutex_);
  std::vector<float> SamplesOf(const Ring& ring, std::size_t since) const KGEN_REQUIRES(mutex_);
  std::optional<double> RateOf(const Ring& ring, std::size_t since) const KGEN_REQUIRES(mutex_);

  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  kgen::detail::PostTimer timer_;  // on the strand
  bool stopped_ = false;           // on the strand

  mutable Mutex mutex_;
  std::vector<Controller> controllers_ KGEN_GUARDED_BY(mutex_);
  std::size_t left_out_ KGEN_GUARDED_BY(mutex_) = 0;
  std::size_t taken_ KGEN_GUARDED_BY(mutex_) = 0;
  TimePoint last_ KGEN_GUARDED_BY(mutex_){};  // when a sample was taken
  Ring memory_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_DEBUG_HISTORY_H_
