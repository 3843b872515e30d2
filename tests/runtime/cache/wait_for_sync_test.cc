// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Waiting for the sync, and the errors when it fails.
#include "cache/wait_for_sync.h"

#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

class WaitForSyncTest : public InformerFixture {
 protected:
  TaskResult<Result<void>> Wait(SyncOptions options = {}, std::stop_token stop = {}) {
    return simulation_.Spawn(
        [this, options, stop] { return WaitForSync(*simulation_.executor(), stop, {Core()}, options); });
  }
  static Error Forbidden() { return StatusError(Code::kForbidden, 403, "Forbidden", "samples is forbidden: no role"); }
};

// Contract: informer SI-20.
TEST_P(WaitForSyncTest, EndsWhenTheFirstListWasApplied) {
  Start();
  auto wait = Wait();
  Run();
  EXPECT_FALSE(wait.done());
  Answer(ListBody("5", {}));
  ASSERT_TRUE(wait.done());
  EXPECT_TRUE(wait.result().has_value());
}

TEST_P(WaitForSyncTest, IsCancelledByAnEarlierStopEvenIfAllAreSynced) {
  Sync("5", {});
  std::stop_source stop;
  stop.request_stop();
  auto wait = Wait({}, stop.get_token());
  Run();
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(wait.result().error().code(), Code::kCancelled);
}

TEST_P(WaitForSyncTest, GivesUpAfterThreeRefusalsWithTheReason) {
  Start();
  auto wait = Wait();
  for (int i = 0; i < 3; ++i) {
    Run();
    EXPECT_FALSE(wait.done());
    Refuse(Forbidden());
    if (i < 2) WaitOut();
  }
  ASSERT_TRUE(wait.done());
  ASSERT_FALSE(wait.result().has_value());
  const Error& error = wait.result().error();
  EXPECT_EQ(error.code(), Code::kForbidden);
  EXPECT_THAT(error.ToString(), HasSubstr("samples: forbidden after 3 attempts"));
  EXPECT_THAT(error.ToString(), HasSubstr("samples is forbidden: no role"));
  ASSERT_NE(error.status(), nullptr);  // the server's own words
}

TEST_P(WaitForSyncTest, GivesUpWhenTheServerDoesNotSupportTheSelector) {
  Start();
  auto wait = Wait();
  for (int i = 0; i < 3; ++i) {
    Run();
    Refuse(StatusError(Code::kInvalid, 400, "BadRequest", "field label not supported: spec.color"));
    if (i < 2) Advance(10s);
  }
  Run();
  ASSERT_TRUE(wait.done());  // or it waits forever
  EXPECT_EQ(wait.result().error().code(), Code::kInvalid);
  EXPECT_THAT(wait.result().error().ToString(), AllOf(HasSubstr("samples: invalid request after 3 attempts"),
                                                      HasSubstr("field label not supported: spec.color")));
}

TEST_P(WaitForSyncTest, LooksOnceIfItsTimeIsZero) {
  Start();
  auto wait = Wait({.give_up_after = 0s});
  Run();
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(wait.result().error().code(), Code::kTimeout);
}

TEST_P(WaitForSyncTest, RefusesANegativeTime) {
  Start();
  auto wait = Wait({.give_up_after = -1s});
  Run();
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(wait.result().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(wait.result().error().ToString(), HasSubstr("SyncOptions::give_up_after is -1s"));
}

TEST_P(WaitForSyncTest, GivesAStartingServerFifteenSecondsHoweverOftenItRefuses) {
  Start();
  auto wait = Wait();
  int refusals = 0;
  const TimePoint first = simulation_.clock()->Now();
  while (!wait.done()) {
    ASSERT_LT(simulation_.clock()->Now() - first, 15s + 1ms);
    if (source_->last().open()) {
      ++refusals;
      Refuse(Forbidden());
    }
    Advance(1ms);
  }
  EXPECT_GE(simulation_.clock()->Now() - first, 15s);
  EXPECT_GE(refusals, 8);  // every 0.5 to 2 seconds
  EXPECT_EQ(wait.result().error().code(), Code::kForbidden);
}

TEST_P(WaitForSyncTest, SyncsWhenAStartingServerFinallyAllowsIt) {
  Start();
  auto wait = Wait();
  const TimePoint first = simulation_.clock()->Now();
  while (simulation_.clock()->Now() - first < 14s) {
    if (source_->last().open()) Refuse(Forbidden());
    Advance(100ms);
  }
  EXPECT_FALSE(wait.done());
  while (!source_->last().open()) Advance(100ms);
  Answer(ListBody("5", {}));
  ASSERT_TRUE(wait.done());
  EXPECT_TRUE(wait.result().has_value());
}

TEST_P(WaitForSyncTest, IsCancelledByATokenThatAlsoStopsTheInformers) {
  std::stop_source stop;
  Start(stop.get_token());
  Refuse(Forbidden());
  auto before = Wait({}, stop.get_token());
  if (simulation_.Choose(2) == 0) Run();
  stop.request_stop();
  if (simulation_.Choose(2) == 0) Run();
  auto after = Wait({}, stop.get_token());
  Run();
  ASSERT_TRUE(before.done() && after.done());
  for (const auto* wait : {&before, &after}) {
    EXPECT_EQ(wait->result().error().code(), Code::kCancelled);
    EXPECT_THAT(wait->result().error().ToString(), HasSubstr("samples is forbidden: no role"));
  }
}

TEST_P(WaitForSyncTest, CountsRefusalsInARowOnly) {
  Start();
  auto wait = Wait();
  for (int i = 0; i < 3; ++i) {
    Refuse(Forbidden());
    WaitOut();
    Refuse(Forbidden());
    WaitOut();
    Refuse(LostError());
    WaitOut();
  }
  EXPECT_FALSE(wait.done());
  Answer(ListBody("5", {}));
  EXPECT_TRUE(wait.done());
}

TEST_P(WaitForSyncTest, KeepsWaitingWhenItIsPatient) {
  Start();
  auto wait = Wait({.patient = true});
  for (int i = 0; i < 5; ++i) {
    Refuse(Forbidden());
    WaitOut();
  }
  EXPECT_FALSE(wait.done());
  Answer(ListBody("5", {}));
  ASSERT_TRUE(wait.done());
  EXPECT_TRUE(wait.result().has_value());
}

// Contract: informer FA-09.
TEST_P(WaitForSyncTest, NamesStateAttemptsAndLastErrorWhenItsTimeIsUp) {
  Start();
  auto wait = Wait({.give_up_after = 10s});
  Refuse(LostError());
  Advance(10s);
  ASSERT_TRUE(wait.done());
  ASSERT_FALSE(wait.result().has_value());
  EXPECT_EQ(wait.result().error().code(), Code::kTimeout);
  EXPECT_THAT(wait.result().error().ToString(),
              AllOf(HasSubstr("samples: listing after 1 failure"), HasSubstr("the connection was reset")));
}

// Contract: informer SI-21.
TEST_P(WaitForSyncTest, EndsWithItsToken) {
  Start();
  std::stop_source stop;
  auto wait = Wait({}, stop.get_token());
  Run();
  stop.request_stop();
  Run();
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(wait.result().error().code(), Code::kCancelled);
  EXPECT_THAT(wait.result().error().ToString(), HasSubstr("samples: listing"));
}

// Contract: informer SI-04.
TEST_P(WaitForSyncTest, EndsWhenAnInformerIsStoppedBeforeItHasSynced) {
  Start();
  auto wait = Wait();
  Run();
  Core()->Stop();
  Run();
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(wait.result().error().code(), Code::kStopped);
}

// Contract: informer FA-09.
TEST_P(WaitForSyncTest, NamesEveryInformerThatIsMissing) {
  auto other_source = MakeShared<FakeListWatch>(simulation_.executor());
  other_source->name = "others in ns";
  const testing::OwnedInformer other = MakeShared<cache::Informer>(connection_, other_source, Sample::kTable, options_);
  Start();
  other->Start({});
  auto wait = simulation_.Spawn([&] { return WaitForSync(*simulation_.executor(), {}, {Core(), other.get()}, {}); });
  for (int i = 0; i < 3; ++i) {
    Run();
    other_source->last().End(Fail(Forbidden()));
    if (i < 2) Advance(10s);
  }
  Run();
  ASSERT_TRUE(wait.done());
  EXPECT_THAT(wait.result().error().ToString(),
              AllOf(HasSubstr("samples: listing"), HasSubstr("others in ns: forbidden after 3 attempts")));
}

// Contract: informer FA-10, HS-01.
TEST_P(WaitForSyncTest, WaitsForHandlersToo) {
  const Shared<Waiter> gate = simulation_.executor()->MakeWaiter("the test's gate");
  const Registration registration =
      Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) { static_cast<void>(gate->Wait()); }});
  Sync("5", {ObjectJson("a", "1")});
  auto wait = Wait({.handlers = {&registration}});
  Run();
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_FALSE(wait.done());
  gate->Notify();
  Run();
  ASSERT_TRUE(wait.done());
  EXPECT_TRUE(wait.result().has_value());
}

TEST_P(WaitForSyncTest, EndsWhenAHandlerWillNeverReceiveItsInitialEvents) {
  const Shared<Waiter> gate = simulation_.executor()->MakeWaiter("the test's gate");
  Registration registration =
      Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) { static_cast<void>(gate->Wait()); }});
  Sync("5", {ObjectJson("a", "1")});
  auto wait = Wait({.handlers = {&registration}});
  Run();
  Core()->Stop();
  Run();
  gate->Notify();
  Run();
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(wait.result().error().code(), Code::kStopped);
}

// Contract: design D6.
TEST_P(WaitForSyncTest, ReportsObjectsThatCouldNotBeDecodedIfAsked) {
  Sync("5", {R"({"kind":"Sample","metadata":{"name":"bad","namespace":"ns"},"spec":{"nodeName":"\ud8"}})"});
  auto satisfied = Wait();
  auto strict = Wait({.complete = true});
  Run();
  ASSERT_TRUE(satisfied.done() && strict.done());
  EXPECT_TRUE(satisfied.result().has_value());
  EXPECT_EQ(strict.result().error().code(), Code::kDecode);
  EXPECT_EQ(Core()->status().refused, 1u);
}

// Contract: design D6.
TEST_P(WaitForSyncTest, CountsAnObjectWhoseNameCannotBeReadToo) {
  const std::string nameless = R"({"kind":"Sample","metadata":{"name":{},"namespace":"ns","resourceVersion":"3"}})";
  Sync("5", {ObjectJson("a", "1"), nameless});
  auto strict = Wait({.complete = true});
  Run();
  ASSERT_TRUE(strict.done());
  ASSERT_FALSE(strict.result().has_value());
  EXPECT_EQ(strict.result().error().code(), Code::kDecode);
  Relist("9", {ObjectJson("a", "1")});
  EXPECT_EQ(Core()->status().refused, 0u);
  Send(EventJson("ADDED", nameless));
  EXPECT_EQ(Core()->status().refused, 1u);
}

TEST_P(WaitForSyncTest, RefusesToWaitForAnInformerThatWasNotStarted) {
  const Result<void> waited = WaitForSync(*simulation_.executor(), {}, {Core()}, {});
  ASSERT_FALSE(waited.has_value());
  EXPECT_EQ(waited.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(waited.error().ToString(), HasSubstr("samples: the informer has not been started"));
}

TEST_P(WaitForSyncTest, RefusesToWaitForAHandlerOfAnInformerThatWasNotStarted) {
  const testing::OwnedInformer other = MakeShared<cache::Informer>(connection_, source_, Sample::kTable, options_);
  const Registration registration = other->AddEventHandler([](const AnyEvent&) {}, {.name = "late"});
  Sync("5", {});
  auto wait = Wait({.handlers = {&registration}});
  Run();
  ASSERT_TRUE(wait.done());  // or it waits forever
  ASSERT_FALSE(wait.result().has_value());
  EXPECT_EQ(wait.result().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(wait.result().error().ToString(), HasSubstr("handler late: its informer has not been started"));
  other->Start({});
  auto again = Wait({.handlers = {&registration}});
  Run();
  EXPECT_FALSE(again.done());
  Answer(ListBody("5", {}));
  ASSERT_TRUE(again.done());
  EXPECT_TRUE(again.result().has_value());
}

INSTANTIATE_TEST_SUITE_P(Seeds, WaitForSyncTest, ::testing::Range<std::uint64_t>(0, 16));

}  // namespace
}  // namespace kgen::cache
