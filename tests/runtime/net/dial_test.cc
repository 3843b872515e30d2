// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Dialing in virtual time: silent, refusing and slow addresses.
#include "net/dial.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/manual_loop.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;

class Dial : public ::testing::Test {
 protected:
  void Start(const std::string& host) {
    Make(host);
    dialer_->Start([this](Result<Shared<net::TcpStream>> dialed) { dialed_.emplace(std::move(dialed)); });
    executor_->Run();
  }
  void StartAt(std::vector<net::Address> addresses) {
    Make("http://api.example:80");
    dialer_->StartAt(std::move(addresses),
                     [this](Result<Shared<net::TcpStream>> dialed) { dialed_.emplace(std::move(dialed)); });
    executor_->Run();
  }
  void Make(const std::string& host) {
    dialer_ = MakeShared<net::Dialer>(loop_, executor_, Must(net::ParseTarget({.host = host})), 30s);
  }
  void TearDown() override { dialer_->Cancel(); }

  ManualStream& attempt(std::size_t i) { return loop_->attempt(i); }
  const net::TcpStream* Winner() const { return dialed_ && *dialed_ ? dialed_->value().get() : nullptr; }
  Error Failure() const {
    return dialed_ && !*dialed_ ? dialed_->error() : Error(Code::kInternal, "the dialer has not failed");
  }

  const Shared<ManualExecutor> executor_ = MakeShared<ManualExecutor>();
  const Shared<ManualLoop> loop_ = MakeShared<ManualLoop>(executor_);
  Shared<net::Dialer> dialer_;
  std::optional<Result<Shared<net::TcpStream>>> dialed_;
};

TEST_F(Dial, ConnectsToAnAddressThatAnswersAtOnceWithoutASecondAttempt) {
  Start("http://10.0.0.1:80");
  executor_->Advance(999ms);
  ASSERT_EQ(loop_->attempts(), 1u);
  attempt(0).Accept();
  EXPECT_EQ(Winner(), &attempt(0));
  executor_->Advance(1min);
  EXPECT_EQ(loop_->attempts(), 1u);
  EXPECT_FALSE(attempt(0).closed());
}

TEST_F(Dial, TriesASilentAddressOnceMoreAfterASecondAndClosesTheLoser) {
  Start("http://10.0.0.1:80");
  executor_->Advance(1s);
  ASSERT_EQ(loop_->attempts(), 2u);
  EXPECT_EQ(attempt(1).address(), "10.0.0.1:80");
  attempt(1).Accept();
  EXPECT_EQ(Winner(), &attempt(1));
  EXPECT_TRUE(attempt(0).closed());
  EXPECT_FALSE(attempt(1).closed());
}

TEST_F(Dial, KeepsTheFirstAttemptDuringTheSecondForSlowPaths) {
  Start("http://10.0.0.1:80");
  executor_->Advance(1500ms);
  ASSERT_EQ(loop_->attempts(), 2u);
  attempt(0).Accept();
  EXPECT_EQ(Winner(), &attempt(0));
  EXPECT_TRUE(attempt(1).closed());
}

TEST_F(Dial, RestartsTheSecondAttemptEverySecondWithTwoInFlight) {
  Start("http://10.0.0.1:80");
  executor_->Advance(5s);
  ASSERT_EQ(loop_->attempts(), 6u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(attempt(i).closed(), i != 0 && i != 5) << i;
}

TEST_F(Dial, GivesUpASilentAddressAfterItsTimeoutWithAnError) {
  Start("http://10.0.0.1:80");
  executor_->Advance(29s);
  EXPECT_EQ(dialer_->Progress(), "no answer yet");
  EXPECT_FALSE(dialed_.has_value());
  executor_->Advance(1s);
  EXPECT_EQ(Failure().message(), "cannot connect to 10.0.0.1:80: no answer within 30s");
  EXPECT_TRUE(Failure().not_connected());
  for (std::size_t i = 0; i < loop_->attempts(); ++i) EXPECT_TRUE(attempt(i).closed()) << i;
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
}

TEST_F(Dial, TreatsARefusalOfTheSecondAttemptAsTheAnswer) {
  Start("http://10.0.0.1:80");
  executor_->Advance(1s);
  attempt(1).Refuse();
  EXPECT_EQ(Failure().message(), "cannot connect to 10.0.0.1:80: Connection refused");
  EXPECT_TRUE(attempt(0).closed());
}

TEST_F(Dial, TriesTheNextAddressWhileOneIsSilentAndRetriesBoth) {
  StartAt({{"10.0.0.1", 80}, {"10.0.0.2", 80}});
  EXPECT_EQ(loop_->attempts(), 1u);
  executor_->Advance(250ms);
  ASSERT_EQ(loop_->attempts(), 2u);
  EXPECT_EQ(attempt(1).address(), "10.0.0.2:80");
  executor_->Advance(750ms);
  ASSERT_EQ(loop_->attempts(), 3u);
  EXPECT_EQ(attempt(2).address(), "10.0.0.1:80");
  executor_->Advance(250ms);
  ASSERT_EQ(loop_->attempts(), 4u);
  EXPECT_EQ(attempt(3).address(), "10.0.0.2:80");
  attempt(3).Accept();
  EXPECT_EQ(Winner(), &attempt(3));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(attempt(i).closed()) << i;
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
}

TEST_F(Dial, TriesTheNextAddressAtOnceAfterARefusalAndNotThatOneAgain) {
  StartAt({{"10.0.0.1", 80}, {"10.0.0.2", 80}});
  attempt(0).Refuse();
  ASSERT_EQ(loop_->attempts(), 2u);
  executor_->Advance(1s);
  ASSERT_EQ(loop_->attempts(), 3u);
  EXPECT_EQ(attempt(2).address(), "10.0.0.2:80");
  EXPECT_EQ(dialer_->Progress(), "10.0.0.1:80: Connection refused; 10.0.0.2:80: no answer yet");
  executor_->Advance(29s);
  EXPECT_EQ(Failure().message(),
            "cannot connect to api.example:80: 10.0.0.1:80: Connection refused; 10.0.0.2:80: no answer within 30s");
}

TEST_F(Dial, FailsWhenEveryAddressHasRefused) {
  StartAt({{"10.0.0.1", 80}, {"::1", 80}});
  attempt(0).Refuse();
  attempt(1).Refuse("Network is unreachable");
  EXPECT_EQ(Failure().message(),
            "cannot connect to api.example:80: 10.0.0.1:80: Connection refused; [::1]:80: Network is unreachable");
}

TEST_F(Dial, MakesNoCallAfterItWasCancelled) {
  Start("http://10.0.0.1:80");
  executor_->Advance(1s);
  dialer_->Cancel();
  executor_->Advance(1min);
  EXPECT_FALSE(dialed_.has_value());
  EXPECT_EQ(loop_->attempts(), 2u);
  EXPECT_TRUE(attempt(0).closed() && attempt(1).closed());
}

}  // namespace
}  // namespace kgen::testing
