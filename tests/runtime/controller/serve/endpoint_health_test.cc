// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// When the checks of an endpoint run, and what probes get meanwhile: in virtual time, where a check that hangs steps
// the executor.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/controller/serve/endpoint_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EndpointHealthTest : public EndpointTest {
 protected:
  // Adds a check that counts its runs, and hangs while `hangs_` is set.
  void AddCheck(Kind kind) {
    Must(server_->Add(kind, "check", [this](const std::stop_token& stop) -> Result<std::string> {
      ++runs_;
      if (hangs_) (void)release_->Wait();
      stopped_ = stopped_ || stop.stop_requested();
      if (!passes_) return Fail(Code::kUnavailable, "it is broken");
      return "";
    }));
  }
  // Does something at a time from now, also while a check hangs.
  void At(Nanos delay, Task task) {
    timers_.push_back(executor_->manual_clock()->After(delay, TimerKind::kProgress, std::move(task)));
  }
  // Notes the answer to a request that is sent at a time from now.
  void AskAt(Nanos delay, const std::string& target) {
    At(delay, [this, delay, target] {
      const auto client = loop_->Dial();
      client->Receive(Request(target));
      // No time passes, but this runs after what is queued.
      executor_->Post({}, [this, delay, client] {
        executor_->Post({}, [this, delay, client] {
          const std::string response = client->sent();
          answers_[delay] = response.empty() ? "none" : StatusOf(response) + " " + BodyOf(response);
        });
      });
    });
  }

  int runs_ = 0;
  bool hangs_ = false, passes_ = true, stopped_ = false;
  const Shared<Waiter> release_ = executor_->MakeWaiter("the test");
  std::vector<Timer> timers_;
  std::map<Nanos, std::string> answers_;
};

// Contract: controller 35.
TEST_F(EndpointHealthTest, AnswersFromTheLastRunWhileACheckHangs) {
  Listen();
  Check(Kind::kReady, "fine");
  AddCheck(Kind::kReady);
  Start();
  hangs_ = true;
  AskAt(2s, "/readyz?verbose");  // begins the run that hangs
  AskAt(4s, "/readyz?verbose");
  AskAt(5s, "/readyz/check");
  AskAt(11s, "/readyz");
  AskAt(13s, "/readyz");  // the run has taken more than ten seconds
  AskAt(14s, "/readyz/check");
  At(15s, [this] {
    EXPECT_EQ(runs_, 2);
    hangs_ = false;
    release_->Notify();
  });
  AskAt(25s, "/readyz");
  executor_->Advance(30s);
  EXPECT_EQ(answers_[2s], "200 [+]fine ok (2s ago)\n[+]check ok (2s ago)\nreadyz check passed\n");
  EXPECT_EQ(answers_[4s], "200 [+]fine ok (2s ago)\n[+]check ok (4s ago)\nreadyz check passed\n");
  EXPECT_EQ(answers_[5s], "200 ok");
  EXPECT_EQ(answers_[11s], "200 ok");
  EXPECT_THAT(answers_[13s], HasSubstr("[-]check failed: reason withheld"));
  EXPECT_EQ(answers_[14s], "500 internal server error: reason withheld\n");
  EXPECT_TRUE(stopped_);
  EXPECT_EQ(answers_[25s], "200 ok");
  ASSERT_FALSE(reports_->lines.empty());
  EXPECT_THAT(reports_->lines[0], AllOf(HasSubstr("/readyz/check"), HasSubstr("not returned within 10 s")));
}

TEST_F(EndpointHealthTest, TakesTheProcessForAliveAndNotReadyBeforeTheFirstResult) {
  Listen();
  hangs_ = true;
  AddCheck(Kind::kHealth);
  AddCheck(Kind::kReady);
  AskAt(1s, "/healthz?verbose");
  AskAt(2s, "/readyz");
  AskAt(3s, "/healthz/check");
  AskAt(4s, "/readyz/check");
  AskAt(11s, "/healthz");
  At(12s, [this] {
    hangs_ = false;
    release_->Notify();
    executor_->Post({}, [this] { release_->Notify(); });
  });
  Start();
  executor_->Advance(20s);
  EXPECT_EQ(answers_[1s], "200 [+]check ok: it has not run yet\nhealthz check passed\n");
  EXPECT_EQ(answers_[2s], "500 [-]check failed: it has not run yet\nreadyz check failed\n");
  EXPECT_EQ(answers_[3s], "200 ok");
  EXPECT_EQ(answers_[4s], "500 internal server error: reason withheld\n");
  EXPECT_THAT(answers_[11s], HasSubstr("[-]check failed"));
}

TEST_F(EndpointHealthTest, RunsChecksOnlyForThoseWhoAsk) {
  Listen();
  AddCheck(Kind::kReady);
  Start();
  EXPECT_EQ(runs_, 1);
  executor_->Advance(10min);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  EXPECT_EQ(Ask("/readyz"), "200 ok");
  EXPECT_EQ(runs_, 2);
  executor_->Advance(118s);
  EXPECT_EQ(runs_, 2 + 23);
  executor_->Advance(10min);
  EXPECT_EQ(runs_, 2 + 24);
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  // However often somebody asks, a check runs once a second at most.
  for (int i = 0; i < 100; ++i) Ask("/readyz");
  EXPECT_EQ(runs_, 2 + 24 + 1);
}

TEST_F(EndpointHealthTest, HasNoResultOlderThanFiveSecondsForWhoAsksRegularly) {
  Listen();
  AddCheck(Kind::kReady);
  Start();
  Ask("/readyz");
  for (int i = 0; i < 20; ++i) {
    executor_->Advance(17s);
    passes_ = !passes_;
    executor_->Advance(5s);
    const std::string response = Get("/readyz");
    EXPECT_EQ(StatusOf(response), passes_ ? "200" : "500");
    const std::size_t age = response.find("\r\nage: ");
    ASSERT_NE(age, std::string::npos);
    EXPECT_LE(std::stoi(response.substr(age + 7)), 5);
  }
}

TEST_F(EndpointHealthTest, ReportsAFailedRunOnce) {
  Listen();
  passes_ = false;
  AddCheck(Kind::kReady);
  Start();
  executor_->Advance(10s);
  EXPECT_THAT(reports_->lines, IsEmpty());  // nobody has asked
  for (int i = 0; i < 5; ++i) Ask("/readyz");
  EXPECT_THAT(reports_->lines, ElementsAre(HasSubstr("it is broken"), HasSubstr("it is broken")));
}

TEST_F(EndpointHealthTest, ReportsOnceThatACheckPassesAgain) {
  Listen();
  passes_ = false;
  AddCheck(Kind::kReady);
  Start();
  Ask("/readyz");
  executor_->Advance(6s);  // another run has failed by then
  passes_ = true;
  executor_->Advance(6s);  // nobody has asked for the run that passed
  for (int i = 0; i < 3; ++i) Ask("/readyz");
  ASSERT_THAT(reports_->lines, Not(IsEmpty()));
  EXPECT_THAT(reports_->lines.back(), HasSubstr("check /readyz/check: works again after 2 in "));
  EXPECT_EQ(std::ranges::count_if(reports_->lines, [](const auto& line) { return line.starts_with("check "); }), 1);
}

TEST_F(EndpointHealthTest, DoesNotReportTheEndOfAFailureThatNobodySaw) {
  Listen();
  AddCheck(Kind::kReady);
  Start();
  EXPECT_EQ(Ask("/readyz"), "200 ok");
  passes_ = false;
  executor_->Advance(6s);
  passes_ = true;
  executor_->Advance(6s);
  EXPECT_EQ(Ask("/readyz"), "200 ok");
  EXPECT_THAT(reports_->lines, IsEmpty());
}

}  // namespace
}  // namespace kgen::testing
