// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Tests the controller on the in-memory API server of the library, beside a service that answers what the test says, in
// virtual time.
#include "controller.h"

#include <gtest/gtest.h>
#include <kgen/client/crd.h>
#include <kgen/core/conditions.h>
#include <kgen/core/executor.h>
#include <kgen/testing/cluster.h>
#include <market/clientset.h>
#include <market/rates/v1/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using market::rates::v1::ExchangeRate;
using market::rates::v1::ExchangeRateSpec;
using namespace std::chrono_literals;

namespace {

// Takes half a second for each answer. A pair without an answer is a failure of the service.
class FakePriceService : public PriceService {
 public:
  explicit FakePriceService(kgen::Shared<kgen::Executor> executor) : executor_(std::move(executor)) {}

  kgen::Result<Quote> Fetch(std::string_view pair, std::stop_token stop, kgen::Nanos timeout) override {
    EXPECT_GT(timeout, 500ms);
    asked.emplace_back(executor_->clock()->Now().time_since_epoch(), pair);
    const auto waited =
        executor_->MakeWaiter("price service")->Wait(std::move(stop), executor_->clock()->Now() + 500ms);
    if (waited.error().code() == kgen::Code::kCancelled) return waited.error();
    const auto found = answers.find(std::string(pair));
    return found != answers.end() ? found->second : kgen::Error(kgen::Code::kUnavailable, "out of order");
  }

  // Returns the pauses between the requests in whole seconds.
  std::vector<std::int64_t> Pauses() const {
    std::vector<std::int64_t> pauses;
    for (std::size_t i = 1; i < asked.size(); ++i) {
      pauses.push_back(std::chrono::floor<std::chrono::seconds>(asked[i].first - asked[i - 1].first).count());
    }
    return pauses;
  }

  std::map<std::string, kgen::Result<Quote>> answers{};
  std::vector<std::pair<kgen::Nanos, std::string>> asked{};  // in order

 private:
  const kgen::Shared<kgen::Executor> executor_;
};

kgen::Result<Quote> QuoteOf(std::string_view price, std::string_view time = "2026-11-24T12:00:00Z") {
  return Quote{.price = price, .time = kgen::Must(kgen::Time::Parse(time))};
}

class RateControllerTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  RateControllerTest() {
    kgen::Must(kgen::crd::Install(cluster_.Connection(), market::Manifests()));
    kgen::Must(AddRateController(manager_, service_));
    running_ = cluster_.simulation().Spawn([this] { return manager_.Run(stop_.get_token()); });
    cluster_.Advance(1s);
    cluster_.ClearWrites();
  }
  ~RateControllerTest() override {
    stop_.request_stop();
    cluster_.RunUntilIdle();
    EXPECT_TRUE(running_.done() && running_.result());
  }

  void Add(std::string_view name, std::string_view pair, kgen::Nanos interval = 10s) {
    kgen::Must(cluster_.Add(ExchangeRate{.metadata = {.name = name, .namespace_ = "default"},
                                         .spec = ExchangeRateSpec{.pair = pair, .interval = interval}}));
  }
  ExchangeRate Get(std::string_view name) {
    return kgen::Must(kgen::Decode<ExchangeRate>(kgen::Must(cluster_.Get("exchangerates", "default", name))));
  }
  kgen::String Price(std::string_view name) {
    const ExchangeRate rate = Get(name);
    return rate.status->price;
  }
  kgen::meta::v1::Condition Ready(std::string_view name) {
    const ExchangeRate rate = Get(name);
    const auto* ready = kgen::FindCondition(rate.status->conditions, "Ready");
    return ready != nullptr ? *ready : kgen::meta::v1::Condition();
  }

  kgen::testing::Cluster cluster_{{.seed = GetParam(), .observer = kgen::NullObserver()}};
  const std::shared_ptr<FakePriceService> service_ =
      std::make_shared<FakePriceService>(cluster_.Connection().shared_executor());
  const kgen::Manager manager_ = kgen::Must(kgen::Manager::New(cluster_.Connection(), {.name = "rate-controller"}));
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};

TEST_P(RateControllerTest, WritesThePriceAndItsTimeAndAConditionOfThisGeneration) {
  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.0834"));
  Add("dollar", "EUR-USD");
  cluster_.Advance(1s);
  const ExchangeRate rate = Get("dollar");
  EXPECT_EQ(rate.status->price, "1.0834");
  EXPECT_EQ(rate.status->observedTime.str(), "2026-11-24T12:00:00Z");
  EXPECT_EQ(Ready("dollar").status, "True");
  EXPECT_EQ(Ready("dollar").observedGeneration, rate.metadata.generation);
}

TEST_P(RateControllerTest, AsksAtTheIntervalAndWritesOnlyWhatHasChanged) {
  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.0834"));
  Add("dollar", "EUR-USD", 10s);
  cluster_.Advance(35s);
  EXPECT_EQ(service_->Pauses(), (std::vector<std::int64_t>{10, 10, 10}));
  EXPECT_EQ(cluster_.Writes().size(), 1U) << "the price is the same";

  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.09", "2026-11-24T12:00:40Z"));
  cluster_.Advance(10s);
  EXPECT_EQ(Price("dollar"), "1.09");
  EXPECT_EQ(cluster_.Writes().size(), 2U);
}

TEST_P(RateControllerTest, TenObjectsOfOnePairShareOneRequest) {
  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.0834"));
  for (int i = 0; i < 9; ++i) Add("dollar-" + std::to_string(i), "EUR-USD", 1min);
  cluster_.Advance(5s);
  Add("dollar-9", "EUR-USD", 1min);  // gets the answer that is there
  cluster_.Advance(5s);
  EXPECT_EQ(service_->asked.size(), 1U);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Price("dollar-" + std::to_string(i)), "1.0834") << i;
}

TEST_P(RateControllerTest, TheShortestIntervalOfAPairCounts) {
  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.0834"));
  Add("slow", "EUR-USD", 1h);
  cluster_.Advance(30s);
  Add("fast", "EUR-USD", 20s);
  cluster_.Advance(25s);
  EXPECT_EQ(service_->Pauses(), (std::vector<std::int64_t>{30, 20}));
}

TEST_P(RateControllerTest, BacksOffWhileTheServiceFailsAndSaysSo) {
  Add("dollar", "EUR-USD", 10s);
  cluster_.Advance(40s);
  // Each pause begins with the answer, half a second after the request.
  EXPECT_EQ(service_->Pauses(), (std::vector<std::int64_t>{1, 2, 4, 8, 16}));
  EXPECT_EQ(Ready("dollar").status, "False");
  EXPECT_EQ(Ready("dollar").reason, "ServiceFailed");
  EXPECT_EQ(Ready("dollar").message, "out of order");
  EXPECT_EQ(cluster_.Writes().size(), 1U) << "one for six failures";
  cluster_.Advance(1h);
  EXPECT_EQ(service_->Pauses().back(), 300) << "the longest pause";
}

TEST_P(RateControllerTest, ANewObjectDoesNotCutThePauseShort) {
  Add("dollar", "EUR-USD");
  cluster_.Advance(20s);  // until the pause of sixteen seconds
  const std::size_t asked = service_->asked.size();
  Add("second", "EUR-USD");
  cluster_.Advance(3s);
  EXPECT_EQ(service_->asked.size(), asked);
  EXPECT_EQ(Ready("second").reason, "ServiceFailed");
}

TEST_P(RateControllerTest, WaitsForAsLongAsTheServiceAsks) {
  service_->answers.insert_or_assign("EUR-USD",
                                     kgen::Error(kgen::Code::kUnavailable, "too many requests").WithRetryAfter(90));
  Add("dollar", "EUR-USD", 10s);
  cluster_.Advance(3min + 5s);
  EXPECT_EQ(service_->Pauses(), (std::vector<std::int64_t>{90, 90}));
}

TEST_P(RateControllerTest, KeepsTheLastPriceWhileTheServiceFailsAndRecovers) {
  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.0834"));
  Add("dollar", "EUR-USD", 10s);
  cluster_.Advance(5s);
  service_->answers.erase("EUR-USD");
  cluster_.Advance(10s);
  EXPECT_EQ(Ready("dollar").status, "False");
  EXPECT_EQ(Price("dollar"), "1.0834");

  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.09"));
  cluster_.Advance(20s);
  EXPECT_EQ(Ready("dollar").status, "True");
  EXPECT_EQ(Price("dollar"), "1.09");
  service_->asked.clear();
  cluster_.Advance(35s);
  EXPECT_EQ(service_->Pauses(), (std::vector<std::int64_t>{10, 10})) << "the interval counts again";
}

TEST_P(RateControllerTest, TheFailureOfOnePairIsNotTheFailureOfAnother) {
  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.0834"));
  Add("dollar", "EUR-USD");
  Add("yen", "EUR-JPY");
  cluster_.Advance(15s);
  EXPECT_EQ(Ready("dollar").status, "True");
  EXPECT_EQ(Ready("yen").status, "False");
}

TEST_P(RateControllerTest, TheDeletionOfTheLastObjectEndsTheRequests) {
  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.0834"));
  Add("first", "EUR-USD", 10s);
  Add("second", "EUR-USD", 10s);
  cluster_.Advance(5s);
  kgen::Must(cluster_.Delete("exchangerates", "default", "first"));
  cluster_.Advance(10s);
  EXPECT_EQ(service_->asked.size(), 2U) << "the second object remains";
  kgen::Must(cluster_.Delete("exchangerates", "default", "second"));
  cluster_.Advance(1h);
  EXPECT_EQ(service_->asked.size(), 2U);
}

TEST_P(RateControllerTest, AFailedWriteDoesNotAskTheServiceAgain) {
  service_->answers.insert_or_assign("EUR-USD", QuoteOf("1.0834"));
  cluster_.Inject({.verb = "update", .resource = "exchangerates", .times = 3, .status = 500});
  Add("dollar", "EUR-USD", 1min);
  cluster_.Advance(30s);
  EXPECT_EQ(Price("dollar"), "1.0834");
  EXPECT_EQ(service_->asked.size(), 1U);
}

TEST_P(RateControllerTest, AStopEndsARequestThatIsUnderWay) {
  Add("dollar", "EUR-USD");
  cluster_.Advance(200ms);
  ASSERT_EQ(service_->asked.size(), 1U);
  stop_.request_stop();
  cluster_.RunUntilIdle();
  EXPECT_TRUE(running_.done());
  EXPECT_EQ(cluster_.Writes().size(), 0U) << "a stop is no failure of the service";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RateControllerTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
