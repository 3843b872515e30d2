// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/reconnect_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/manual_executor.h"

namespace kgen::client {
namespace {

using namespace std::chrono_literals;
using testing::ManualExecutor;
using Purpose = ReconnectGate::Purpose;

const Error kDown(Code::kUnavailable, "cannot connect to 10.0.0.1:6443: connection refused");

// An informer's stream at the gate.
struct Entrant {
  ReconnectGate::Turn turn;
  bool granted = false;
};

class ReconnectGateTest : public ::testing::Test {
 protected:
  ~ReconnectGateTest() override {
    entrants_.clear();
    executor_->Run();  // what was posted to those who have left, which holds the gate and so the executor
    EXPECT_EQ(executor_->manual_clock()->armed(), 0u) << "nobody is left who could need a timer";
  }

  Entrant& Enter(Purpose purpose = Purpose::kAgain) {
    entrants_.push_back(std::make_unique<Entrant>());
    Entrant& entrant = *entrants_.back();
    entrant.turn = gate_->Enter(purpose, strand_, [&entrant] { entrant.granted = true; });
    entrant.granted = entrant.turn.granted();
    return entrant;
  }
  void Fail(Entrant& entrant) {
    entrant.turn.NoConnection(kDown);
    entrant.granted = false;
  }
  // Opens the stream once more.
  void Again(Entrant& entrant) {
    entrant.turn = gate_->Enter(Purpose::kAgain, strand_, [&entrant] { entrant.granted = true; });
    entrant.granted = entrant.turn.granted();
  }
  std::size_t Granted() const {
    std::size_t n = 0;
    for (const auto& entrant : entrants_) n += entrant->granted ? 1 : 0;
    return n;
  }
  void Advance(Nanos time) { executor_->Advance(time); }
  TimePoint Now() { return executor_->clock()->Now(); }
  // Lets the streams fail again and again for so long; the number of requests that were sent.
  int FailFor(Nanos time) {
    int sent = 0;
    for (const TimePoint end = Now() + time; Now() < end; Advance(5ms)) {
      for (const auto& entrant : entrants_) {
        if (!entrant->granted) continue;
        ++sent;
        Fail(*entrant);
        Again(*entrant);
      }
    }
    return sent;
  }
  // How long it takes until a stream is sent, when the last one has just failed.
  Nanos UntilProbe() {
    const TimePoint start = Now();
    while (Granted() == 0) Advance(1ms);
    return Now() - start;
  }

  Shared<ManualExecutor> executor_ = MakeShared<ManualExecutor>();
  Shared<Strand> strand_ = executor_->MakeStrand("test");
  Shared<ReconnectGate> gate_ = MakeShared<ReconnectGate>(executor_);
  std::vector<std::unique_ptr<Entrant>> entrants_;
};

TEST_F(ReconnectGateTest, LetsAllStreamsInAtOnceWhenAProgramStarts) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(Enter(Purpose::kFirst).granted);
}

TEST_F(ReconnectGateTest, ParksAllStreamsWithoutAConnectionAndSendsOneProbeAtATime) {
  for (int i = 0; i < 12; ++i) Enter(Purpose::kFirst);
  EXPECT_EQ(Granted(), 12u);
  for (const auto& entrant : entrants_) Fail(*entrant);
  for (const auto& entrant : entrants_) Again(*entrant);
  EXPECT_EQ(Granted(), 0u);
  EXPECT_EQ(gate_->error()->message(), kDown.message());
  EXPECT_FALSE(Enter(Purpose::kFirst).granted);
  for (int i = 0; i < 40; ++i) {
    Advance(50ms);
    EXPECT_LE(Granted(), 1u);
  }
  EXPECT_EQ(Granted(), 1u);
}

TEST_F(ReconnectGateTest, AsksLessOftenTheLongerTheOutageLastsWhateverTheNumberOfStreams) {
  for (int i = 0; i < 60; ++i) Enter(Purpose::kFirst);
  for (const auto& entrant : entrants_) Fail(*entrant);
  for (const auto& entrant : entrants_) Again(*entrant);
  const int first = FailFor(1min), early = FailFor(9min), late = FailFor(60min);
  EXPECT_GT(first, 30);  // with a delay of one second on average
  EXPECT_LT(first, 100);
  EXPECT_GT(early, 120);  // 2.5 seconds
  EXPECT_LT(early, 330);
  EXPECT_GT(late, 150);  // 15 seconds
  EXPECT_LT(late, 400);
}

// Contract: informer ER-10.
TEST_F(ReconnectGateTest, WaitsNoLongerThanTwoSecondsInTheFirstMinuteAndDoublesFromTwoHundredMilliseconds) {
  Entrant& entrant = Enter();
  for (const Nanos most : {200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms, 2000ms}) {
    Fail(entrant);
    Again(entrant);
    EXPECT_LE(gate_->UntilProbe(), most);
    EXPECT_LE(UntilProbe(), most + 1ms);
  }
}

TEST_F(ReconnectGateTest, ReleasesParkedStreamsAtABoundedRate) {
  Entrant& first = Enter();
  Fail(first);
  for (int i = 0; i < 100; ++i) Enter();
  UntilProbe();
  EXPECT_EQ(Granted(), 1u);
  const auto probe = std::find_if(entrants_.begin(), entrants_.end(), [](const auto& each) { return each->granted; });
  (*probe)->turn.Opened();
  EXPECT_FALSE(gate_->error().has_value());
  executor_->Run();
  std::size_t before = Granted();
  EXPECT_LE(before, 6u);
  EXPECT_GE(before, 5u);
  while (before < 100) {
    Advance(1s);
    EXPECT_LE(Granted() - before, 20u);
    EXPECT_GE(Granted() - before, 19u);
    before = Granted();
    if (before > 80) break;
  }
  Advance(1s);
  EXPECT_EQ(Granted(), 100u);
}

// A server that has just started may answer all resumed watches at once, with 410.
TEST_F(ReconnectGateTest, ReleasesListsThatFollowExpiredWatchesAtABoundedRateToo) {
  constexpr std::size_t kInformers = 60;
  for (std::size_t i = 0; i < kInformers; ++i) Enter();
  const TimePoint start = Now();
  std::vector<TimePoint> requests;
  std::vector<std::string> sent(kInformers);
  for (; Now() - start < 6s; Advance(10ms)) {
    for (std::size_t i = 0; i < kInformers; ++i) {
      Entrant& entrant = *entrants_[i];
      if (std::exchange(entrant.granted, false)) {
        sent[i] += sent[i].empty() ? "watch" : ", list";
        requests.push_back(Now());
      }
      if (sent[i] != "watch" || Now() - start < 1s || !entrant.turn) continue;
      entrant.turn.Refused();
      entrant.turn = gate_->Enter(Purpose::kRelist, strand_, [&entrant] { entrant.granted = true; });
      entrant.granted = entrant.turn.granted();
      sent[i] = "watch and 410";
    }
  }
  EXPECT_THAT(sent, ::testing::Each("watch and 410, list"));
  for (std::size_t i = 0; i + 50 < requests.size(); ++i) EXPECT_GT(requests[i + 50] - requests[i], 1s - 10ms) << i;
}

TEST_F(ReconnectGateTest, NotifiesWaitingStreamsThatItHasClosed) {
  Entrant& last = *[&] {
    for (int i = 0; i < 5; ++i) Enter();
    return entrants_.back().get();
  }();
  bool closed = false;
  const ReconnectGate::Turn turn = gate_->Enter(Purpose::kAgain, strand_, [] {}, [&] { closed = true; });
  executor_->Run();
  EXPECT_FALSE(closed);
  Fail(last);
  executor_->Run();
  EXPECT_TRUE(closed);
}

TEST_F(ReconnectGateTest, TreatsAnyResponseAsAConnection) {
  Entrant& first = Enter();
  Fail(first);
  Enter();
  Entrant& other = Enter();
  UntilProbe();
  entrants_[1]->turn.Refused();  // 403, 503
  executor_->Run();
  EXPECT_TRUE(other.granted);
}

TEST_F(ReconnectGateTest, ResetsItsDelayOnlyAfterAStreamThatLastedTenSeconds) {
  Entrant& entrant = Enter();
  const auto fail_often = [&] {
    for (int i = 0; i < 6; ++i) {
      Fail(entrant);
      Again(entrant);
      UntilProbe();
    }
  };
  // The largest of some delays after a stream that was open for so long.
  const auto delay_after = [&](Nanos open) {
    Nanos largest{};
    for (int i = 0; i < 10; ++i) {
      fail_often();
      entrant.turn.Opened();
      Advance(open);
      entrant.turn.Lost();
      Again(entrant);
      Fail(entrant);
      largest = std::max(largest, gate_->UntilProbe());
      Again(entrant);
      UntilProbe();
    }
    return largest;
  };
  EXPECT_GT(delay_after(9s), 200ms);
  EXPECT_LE(delay_after(10s), 200ms);
}

TEST_F(ReconnectGateTest, CountsStreamsThatAreStillOpenOnAnOlderConnection) {
  Entrant& open = Enter();
  open.turn.Opened();
  Entrant& entrant = Enter();
  for (int i = 0; i < 6; ++i) {
    Fail(entrant);
    Again(entrant);
    while (!entrant.granted) Advance(1ms);
  }
  entrant.turn.Refused();
  Advance(1h);
  Fail(entrant);
  EXPECT_LE(gate_->UntilProbe(), 200ms);
}

TEST_F(ReconnectGateTest, SendsTheNextProbeAtOnceWhenAProbeIsAbandoned) {
  Entrant& first = Enter();
  Fail(first);
  Entrant& probe = Enter();
  Entrant& next = Enter();
  UntilProbe();
  ASSERT_TRUE(probe.granted);
  EXPECT_FALSE(next.granted);
  probe.turn = {};
  executor_->Run();
  EXPECT_TRUE(next.granted);
}

TEST_F(ReconnectGateTest, SendsAnotherProbeWhileOneIsUnanswered) {
  Entrant& first = Enter();
  Fail(first);
  Entrant& probe = Enter();
  Entrant& next = Enter();
  UntilProbe();
  ASSERT_TRUE(probe.granted);
  Advance(1999ms);
  EXPECT_FALSE(next.granted);
  Advance(2s);
  EXPECT_TRUE(next.granted);
}

TEST_F(ReconnectGateTest, NeverCallsAStreamThatHasLeft) {
  Entrant& first = Enter();
  Fail(first);
  bool called = false;
  ReconnectGate::Turn turn = gate_->Enter(Purpose::kAgain, strand_, [&] { called = true; });
  turn.Leave();
  Advance(1min);
  EXPECT_FALSE(called);
  ReconnectGate::Turn parked = gate_->Enter(Purpose::kAgain, strand_, [&] { called = true; });
  while (executor_->manual_clock()->armed() > 0) executor_->manual_clock()->MoveTo(*executor_->manual_clock()->Next());
  parked.Leave();  // granted, but not called yet
  executor_->Run();
  EXPECT_FALSE(called);
}

TEST_F(ReconnectGateTest, LetsBackgroundStreamsInLast) {
  Entrant& first = Enter();
  Fail(first);
  Entrant& check = Enter(Purpose::kBackground);
  for (int i = 0; i < 30; ++i) Enter();
  UntilProbe();
  entrants_[2]->turn.Opened();
  executor_->Run();
  EXPECT_FALSE(check.granted);
  Advance(1s);
  EXPECT_FALSE(check.granted);
  Advance(1s);
  EXPECT_TRUE(check.granted);
}

TEST_F(ReconnectGateTest, WakesRefusedStreamsAtTheFirstSuccessOnly) {
  Entrant& refused = Enter();
  refused.turn.Refused();
  Entrant& hopeful = Enter(Purpose::kOnSuccess);
  Advance(10s);
  EXPECT_FALSE(hopeful.granted);
  Enter().turn.Opened();
  executor_->Run();
  EXPECT_TRUE(hopeful.granted);
  Entrant& again = Enter(Purpose::kOnSuccess);
  Enter().turn.Opened();  // the server is well: it is this one that is refused
  executor_->Run();
  EXPECT_FALSE(again.granted);
  Entrant& lost = Enter();
  lost.turn.Opened();
  lost.turn.Lost();
  Advance(1s);
  Enter().turn.Opened();
  executor_->Run();
  EXPECT_TRUE(again.granted);
}

TEST_F(ReconnectGateTest, RemembersForHalfAMinuteThatTheConnectionCameBack) {
  EXPECT_TRUE(gate_->reconnected_lately());  // there was no response yet
  Advance(1min);
  EXPECT_TRUE(gate_->reconnected_lately());
  Entrant& entrant = Enter();
  entrant.turn.Refused();
  Advance(29s);
  EXPECT_TRUE(gate_->reconnected_lately());
  Advance(1s);
  EXPECT_FALSE(gate_->reconnected_lately());
  entrant.turn.Opened();
  entrant.turn.Lost();
  EXPECT_TRUE(gate_->reconnected_lately());
}

}  // namespace
}  // namespace kgen::client
