// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/retry.h"

#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;

class RetryOnConflictTest : public ClientTest {
 protected:
  Backoff Fast() { return {.jitter = 0, .executor = executor_.get()}; }
};

// Contract: client RTY-2.
TEST_F(RetryOnConflictTest, CallsAgainAfterAConflictUntilItWorks) {
  int calls = 0;
  const Result<int> result = RetryOnConflict(
      [&]() -> Result<int> {
        if (++calls < 3) return Fail(Code::kConflict, "changed");
        return 42;
      },
      Fast());
  EXPECT_EQ(*result, 42);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(Elapsed(), 20ms);
}

// Contract: client RTY-1.
TEST_F(RetryOnConflictTest, GivesUpAfterItsStepsWithTheLastConflict) {
  int calls = 0;
  const Result<void> result = RetryOnConflict(
      [&]() -> Result<void> { return Fail(Code::kConflict, "changed " + std::to_string(++calls)); }, Fast());
  EXPECT_EQ(result.error().message(), "changed 5");
  EXPECT_EQ(Elapsed(), 40ms);
}

// Contract: client RTY-2.
TEST_F(RetryOnConflictTest, ReturnsAnyOtherErrorAtOnce) {
  int calls = 0;
  const Result<void> result = RetryOnConflict(
      [&]() -> Result<void> {
        ++calls;
        return Fail(Code::kAlreadyExists, "there");
      },
      Fast());
  EXPECT_EQ(result.error().code(), Code::kAlreadyExists);
  EXPECT_EQ(calls, 1);
}

// Contract: client RTY-4.
TEST_F(RetryOnConflictTest, MultipliesTheDelayUpToTheCapWithJitter) {
  Backoff backoff = {.base = 10ms, .factor = 5, .jitter = 0, .steps = 9, .cap = 200ms, .executor = executor_.get()};
  Nanos before{};
  for (const Nanos expected : {Nanos(10ms), Nanos(50ms), Nanos(200ms), Nanos(200ms)}) {
    static int attempt = 0;
    ASSERT_TRUE(detail::WaitBackoff(backoff, ++attempt).has_value());
    EXPECT_NEAR(static_cast<double>((Elapsed() - before).count()), static_cast<double>(expected.count()), 1000);
    before = Elapsed();
  }
  backoff.jitter = 0.5;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(detail::WaitBackoff(backoff, 1).has_value());
    EXPECT_GE(Elapsed() - before, 10ms);
    EXPECT_LT(Elapsed() - before, 15ms);
    before = Elapsed();
  }
}

TEST_F(RetryOnConflictTest, RefusesABackoffOutOfRangeBeforeAnyCall) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [backoff, name] :
       {std::pair(Backoff{.base = -1ns}, "Backoff::base is -1ns"),
        std::pair(Backoff{.factor = 0}, "Backoff::factor is 0"),
        std::pair(Backoff{.factor = nan}, "Backoff::factor is nan"),
        std::pair(Backoff{.jitter = -0.1}, "Backoff::jitter is -0.1"),
        std::pair(Backoff{.steps = 0}, "Backoff::steps is 0"), std::pair(Backoff{.cap = -1s}, "Backoff::cap is -1s")}) {
    int calls = 0;
    const Result<int> result = RetryOnConflict([&]() -> Result<int> { return ++calls; }, backoff);
    ASSERT_FALSE(result) << name;
    EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(result.error().message(), ::testing::HasSubstr(name));
    EXPECT_EQ(calls, 0);
  }
}

// Contract: design D9.
TEST_F(RetryOnConflictTest, DoesNotWaitOnAThreadThatRunsPostedTasks) {
  std::optional<Code> code;
  executor_->Post(executor_->MakeStrand("test"), [&] { code = detail::WaitBackoff(Fast(), 1).error().code(); });
  executor_->Run();
  EXPECT_EQ(code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace kgen::testing
