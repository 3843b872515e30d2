// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller.h"

#include <kgen/controller/predicates.h>
#include <kgen/core/conditions.h>
#include <kgen/core/executor.h>
#include <market/rates/v1/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using market::rates::v1::ExchangeRate;
using namespace std::chrono_literals;

namespace {

constexpr kgen::Nanos kTimeout = 10s;
constexpr kgen::Nanos kShortestInterval = 1s;
constexpr kgen::Nanos kFirstPause = 1s;
constexpr kgen::Nanos kLongestPause = 5min;
constexpr kgen::Nanos kLongestAskedPause = 1h;

using Rates = std::vector<kgen::Ref<const ExchangeRate>>;

// What the service last said about a pair. Only the one call for its key uses it.
struct Answer {
  std::optional<Quote> quote{};          // the last one, also after a failure
  std::optional<kgen::Error> failure{};  // of the last request
  int failures = 0;                      // in a row
  kgen::Nanos pause{};                   // after the last failure
  std::optional<kgen::TimePoint> asked{};

  // Returns when the service may be asked again.
  kgen::TimePoint Due(kgen::Nanos interval) const {
    return asked ? kgen::Later(*asked, failure ? pause : interval) : kgen::TimePoint::min();
  }
};

kgen::Nanos ShortestInterval(const Rates& rates) {
  kgen::Nanos shortest = kgen::kNever;
  for (const auto& rate : rates) shortest = std::min(shortest, rate->spec->interval.value_or(1min));
  return std::max(shortest, kShortestInterval);
}

std::int64_t Seconds(kgen::Nanos pause) { return std::chrono::ceil<std::chrono::seconds>(pause).count(); }

class RateController {
 public:
  RateController(std::shared_ptr<PriceService> service, kgen::Shared<kgen::Clock> clock)
      : service_(std::move(service)), clock_(std::move(clock)) {}

  kgen::Result<kgen::Requeue> Reconcile(const kgen::Request& request) {
    const std::string pair(request.key().name);
    KGEN_TRY(const Rates rates, request.client().List<ExchangeRate>({.index = "pair", .value = pair}));
    if (rates.empty()) {
      const std::lock_guard lock(mutex_);
      answers_.erase(pair);
      return kgen::Requeue::Done();  // the deletion of the last object ends the requests
    }
    Answer& answer = AnswerFor(pair);
    const kgen::Nanos interval = ShortestInterval(rates);
    if (clock_->Now() >= answer.Due(interval)) {
      if (auto asked = Ask(request, pair, answer); !asked) return asked.error();
    }
    kgen::Result<void> written;  // the first failure, which does not keep the other objects from their status
    for (const auto& rate : rates) {
      if (auto one = WriteStatus(request, *rate, answer); !one && written) written = std::move(one);
    }
    if (!written) return written.error();
    return kgen::Requeue::After(std::max(answer.Due(interval) - clock_->Now(), kgen::Nanos(0)));
  }

 private:
  // The entry stays where it is, and no other call has the same pair, so that the lock need not be held while it is
  // used.
  Answer& AnswerFor(const std::string& pair) {
    const std::lock_guard lock(mutex_);
    return answers_[pair];
  }

  // Asks the service. Its failure is part of the answer; an error means that the controller stops.
  kgen::Result<void> Ask(const kgen::Request& request, const std::string& pair, Answer& answer) {
    auto quote = service_->Fetch(pair, request.stop(), kTimeout);
    if (!quote && quote.error().code() == kgen::Code::kCancelled) return quote.error();
    answer.asked = clock_->Now();
    if (quote) {
      answer.quote = *std::move(quote);
      answer.failure.reset();
      answer.failures = 0;
      return {};
    }
    answer.failure = quote.error();
    answer.pause = std::min(kFirstPause * (1 << std::min(answer.failures++, 10)), kLongestPause);
    answer.pause =
        std::max(answer.pause,
                 std::min<kgen::Nanos>(std::chrono::seconds(quote.error().retry_after_seconds()), kLongestAskedPause));
    request.Log(kgen::LogLevel::kWarning, "the service failed",
                {{"error", quote.error().ToString()}, {"next_attempt_in_seconds", Seconds(answer.pause)}});
    return {};
  }

  static kgen::Result<void> WriteStatus(const kgen::Request& request, const ExchangeRate& rate, const Answer& answer) {
    ExchangeRate changed = rate;  // the cached object is const
    if (answer.quote) {
      changed.status->price = answer.quote->price;
      changed.status->observedTime = answer.quote->time;
    }
    kgen::SetCondition(changed.status->conditions,
                       {.message = answer.failure ? answer.failure->message() : "The price is up to date.",
                        .observedGeneration = rate.metadata.generation,
                        .reason = answer.failure ? "ServiceFailed" : "Observed",
                        .status = answer.failure ? "False" : "True",
                        .type = "Ready"});
    if (changed.status == rate.status) return {};
    const auto updated = request.client().UpdateStatus(changed);
    // An object that was deleted in the meantime needs no status.
    if (updated || updated.error().code() == kgen::Code::kNotFound) return {};
    return updated.error();
  }

  const std::shared_ptr<PriceService> service_;
  const kgen::Shared<kgen::Clock> clock_;
  std::mutex mutex_;
  std::map<std::string, Answer> answers_;  // guarded by mutex_; see AnswerFor()
};

}  // namespace

kgen::Result<void> AddRateController(const kgen::Manager& manager, std::shared_ptr<PriceService> service) {
  KGEN_TRY(const auto rates, manager.caches().Of<ExchangeRate>());
  if (auto added = rates.AddIndex("pair", kgen::FieldPath("spec.pair")); !added) return added.error();
  auto controller =
      std::make_shared<RateController>(std::move(service), manager.connection().shared_executor()->clock());
  // Without the predicate, each status that the controller writes would call it again.
  return kgen::Discard(manager.Control("exchange-rates")
                           .Watches<ExchangeRate>([](const ExchangeRate& rate,
                                                     kgen::Requests& requests) { requests.Add("", rate.spec->pair); },
                                                  kgen::GenerationChanged())
                           .MaxConcurrentReconciles(4)
                           .Reconcile([controller](kgen::Request& request) { return controller->Reconcile(request); }));
}
