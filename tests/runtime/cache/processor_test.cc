// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Listeners and the processor: invariants L1 to L5 (cache/delivery/listener.h), over many schedules.
#include "cache/delivery/processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kgen/core/executor.h"
#include "kgen/core/memory.h"
#include "kgen/core/unstructured.h"
#include "kgen/testing/simulation.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

AnyRef Metadata(std::string_view name, std::string_view version) {
  return MakeRef(PartialObjectMetadata{.metadata = {.name = name, .resourceVersion = version}});
}
AnyEvent Add(std::string_view name, bool initial = false) {
  return {.type = AnyEvent::Type::kAdded,
          .reason = initial ? Reason::kInitial : Reason::kWatch,
          .key = {{}, name},
          .now = Metadata(name, "1")};
}
AnyEvent Update(std::string_view name, std::string_view before, std::string_view now, Reason reason = Reason::kWatch) {
  return {.type = AnyEvent::Type::kUpdated,
          .reason = reason,
          .key = {{}, name},
          .before = Metadata(name, before),
          .now = Metadata(name, now)};
}
AnyEvent Resync(std::string_view name) { return Update(name, "2", "2", Reason::kResync); }
std::vector<AnyEvent> Events(AnyEvent event) {
  std::vector<AnyEvent> events;
  events.push_back(std::move(event));
  return events;
}

// Records the events that it receives in a list of the test's thread.
struct Told : Observer {
  void OnHandlerFailed(const HandlerFailed& e) override { failed.push_back(e.key->str() + ": " + std::string(e.what)); }
  void OnBacklogHigh(const BacklogHigh& e) override { (e.merging ? merging : backlogs).push_back(e.backlog); }
  std::vector<std::string> failed;
  std::vector<std::size_t> backlogs, merging;
};

class ListenerTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  Shared<Listener> Listen(AnyHandler handler, HandlerOptions options = {}) {
    return MakeShared<Listener>(std::move(handler), std::move(options), "pods", simulation_.executor(), told_);
  }
  // A handler that notes the key, and lets others run in between.
  AnyHandler Noting() {
    return [this](const AnyEvent& e) {
      EXPECT_FALSE(std::exchange(inside_, true)) << "calls overlap";
      Pause();
      calls_.push_back(e.key.name.str());
      inside_ = false;
    };
  }
  void Pause() {
    const auto waiter = simulation_.executor()->MakeWaiter("pause");
    const Timer timer = simulation_.clock()->After(1ms, TimerKind::kProgress, [waiter] { waiter->Notify(); });
    (void)waiter->Wait();
  }
  // Lets the handler of a call wait until Open().
  void WaitForGate() { (void)gate_->Wait(); }
  void Run() { ASSERT_TRUE(simulation_.RunUntilIdle()); }

  std::vector<std::string> calls_;
  bool inside_ = false;
  testing::Simulation simulation_{GetParam()};  // after what the handlers write to: it ends those that still wait
  Shared<Told> told_ = MakeShared<Told>();
  Shared<Waiter> gate_ = simulation_.executor()->MakeWaiter("gate");
};

TEST_P(ListenerTest, MakesShortCallsBeforeTheDeliveryReturns) {
  const auto listener =
      Listen([this](const AnyEvent& e) { calls_.push_back(e.key.name.str()); }, {.short_calls = true});
  std::vector<AnyEvent> events = Events(Add("a", true));
  events.push_back(Update("a", "1", "2"));
  events.push_back(Add("b"));
  listener->Deliver(std::move(events));
  EXPECT_THAT(calls_, ElementsAre("a", "a", "b"));
  EXPECT_EQ(listener->Backlog(), 0u);
  EXPECT_FALSE(listener->HasSynced());
  listener->InitialQueued();
  EXPECT_TRUE(listener->HasSynced());
}

TEST_P(ListenerTest, MakesNoShortCallAfterOneOfThemHasRemovedItsHandler) {
  Shared<Listener> listener;
  auto destroyed = std::make_shared<int>();
  const std::weak_ptr<int> functions = destroyed;
  listener = Listen(
      [this, &listener, alive = std::move(destroyed)](const AnyEvent& e) {
        calls_.push_back(e.key.name.str());
        listener->Remove();
        EXPECT_EQ(alive.use_count(), 1) << "destroyed while they run";
      },
      {.short_calls = true});
  std::vector<AnyEvent> events = Events(Add("a"));
  events.push_back(Add("b"));
  listener->Deliver(std::move(events));
  listener->Deliver(Events(Add("c")));
  Run();
  EXPECT_THAT(calls_, ElementsAre("a"));
  EXPECT_TRUE(functions.expired());
}

TEST_P(ListenerTest, MakesShortCallsThatThrowAndReportsThem) {
  const auto listener = Listen([](const AnyEvent&) { throw std::runtime_error("no"); }, {.short_calls = true});
  listener->Deliver(Events(Add("a", true)));
  EXPECT_THAT(told_->failed, ElementsAre("a: no"));
  listener->InitialQueued();
  EXPECT_TRUE(listener->HasSynced());
}

TEST_P(ListenerTest, RefusesToBlockInAShortCall) {
  Result<void> waited;
  const auto listener = Listen([&](const AnyEvent&) { waited = gate_->Wait(); }, {.short_calls = true});
  simulation_.executor()->Post(simulation_.executor()->MakeStrand("informer"),
                               [&] { listener->Deliver(Events(Add("a"))); });
  Run();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code(), Code::kInvalidArgument);
}

// Contract: invariant L2.
TEST(ListenerThreadsTest, MakesNoShortCallAfterRemoveHasReturnedOnAnotherThread) {
  const Shared<Executor> executor = Must(MakeThreadPool({.threads = 2}));
  const Shared<Strand> informer = executor->MakeStrand("informer");
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> removed = false;
    std::atomic<int> calls = 0;
    const auto listener = MakeShared<Listener>(
        [&](const AnyEvent&) {
          EXPECT_FALSE(removed);
          ++calls;
        },
        HandlerOptions{.short_calls = true}, "pods", executor, Shared<Observer>());
    for (int i = 0; i < 200; ++i) executor->Post(informer, [listener] { listener->Deliver(Events(Add("a"))); });
    const auto rest = executor->MakeWaiter("rest");
    executor->Post(informer, [rest] { rest->Notify(); });
    while (calls == 0) std::this_thread::yield();
    listener->Remove();
    removed = true;
    ASSERT_TRUE(rest->Wait());
  }
}

// Contract: invariant L1.
TEST_P(ListenerTest, MakesCallsOneAtATimeInTheOrderOfDelivery) {
  const auto listener = Listen(Noting());
  std::vector<std::string> expected;
  for (int i = 0; i < 10; ++i) {
    listener->Deliver(Events(Add(std::to_string(i))));
    expected.push_back(std::to_string(i));
    if (i == 4) Run();
  }
  Run();
  EXPECT_EQ(calls_, expected);
  EXPECT_EQ(listener->Backlog(), 0u);
}

// Contract: invariant L2, L5.
TEST_P(ListenerTest, MakesNoCallAfterRemoveHasReturnedAndDropsWaitingEvents) {
  const auto listener = Listen(Noting());
  for (int i = 0; i < 5; ++i) listener->Deliver(Events(Add(std::to_string(i))));
  std::size_t at_return = 0;
  auto removal = simulation_.Spawn([&] {
    Pause();
    Pause();
    listener->Remove();
    EXPECT_FALSE(inside_);
    at_return = calls_.size();
    return true;
  });
  Run();
  ASSERT_TRUE(removal.done());
  EXPECT_EQ(calls_.size(), at_return);
  listener->Deliver(Events(Add("late")));
  Run();
  EXPECT_EQ(calls_.size(), at_return);
}

// Contract: invariant L2.
TEST_P(ListenerTest, WaitsForTheRunningCallWhenItIsRemovedFromElsewhere) {
  bool ended = false;
  const auto listener = Listen([&](const AnyEvent&) {
    WaitForGate();
    ended = true;
  });
  listener->Deliver(Events(Add("a")));
  Run();
  auto removal = simulation_.Spawn([&] {
    listener->Remove();
    return ended;
  });
  Run();
  EXPECT_FALSE(removal.done());
  gate_->Notify();
  Run();
  ASSERT_TRUE(removal.done());
  EXPECT_TRUE(removal.result());
}

// Contract: invariant L3.
TEST_P(ListenerTest, ReturnsAtOnceWhenItRemovesItselfAndDestroysTheFunctionsAfterThatCall) {
  auto captured = std::make_shared<int>(7);
  std::weak_ptr<int> alive = captured;
  Shared<Listener> listener;
  bool was_alive_after_remove = false;
  listener = Listen([&, captured](const AnyEvent&) {
    listener->Remove();
    was_alive_after_remove = !alive.expired() && *captured == 7;
    calls_.push_back("once");
  });
  captured.reset();
  listener->Deliver(Events(Add("a")));
  listener->Deliver(Events(Add("b")));
  Run();
  EXPECT_THAT(calls_, ElementsAre("once"));
  EXPECT_TRUE(was_alive_after_remove);
  EXPECT_TRUE(alive.expired());
}

// Contract: invariant L2, L3.
TEST_P(ListenerTest, WaitsForTheEndOfTheFunctionsTooWhenItIsRemovedTwice) {
  const auto slowly = [this](const int* gone) {  // what the functions captured goes with them, and takes its time
    WaitForGate();
    calls_.push_back("destroyed " + std::to_string(*gone));
  };
  static constexpr int kCaptured = 7;
  Shared<Listener> listener;
  listener =
      Listen([&, captured = std::shared_ptr<const int>(&kCaptured, slowly)](const AnyEvent&) { listener->Remove(); });
  listener->Deliver(Events(Add("a")));
  Run();
  auto removal = simulation_.Spawn([&] {
    listener->Remove();
    return calls_.size();
  });
  Run();
  EXPECT_FALSE(removal.done());
  gate_->Notify();
  Run();
  ASSERT_TRUE(removal.done());
  EXPECT_EQ(removal.result(), 1u);
}

TEST_P(ListenerTest, LetsTwoHandlersRemoveEachOther) {
  Shared<Listener> a, b;
  a = Listen([&](const AnyEvent&) {
    Pause();
    b->Remove();
    calls_.push_back("a");
  });
  b = Listen([&](const AnyEvent&) {
    Pause();
    a->Remove();
    calls_.push_back("b");
  });
  a->Deliver(Events(Add("x")));
  b->Deliver(Events(Add("x")));
  Run();
  EXPECT_FALSE(calls_.empty());
  EXPECT_EQ(simulation_.census().blocking, 0u);
}

// Contract: informer HS-01, HS-03; invariant L4.
TEST_P(ListenerTest, IsSyncedOnceEveryInitialCallHasReturnedAndNotBefore) {
  const auto listener = Listen([&](const AnyEvent& e) {
    WaitForGate();
    calls_.push_back(e.key.name.str());
  });
  listener->Deliver(Events(Add("a", true)));
  Run();
  EXPECT_FALSE(listener->HasSynced());
  gate_->Notify();
  Run();
  EXPECT_THAT(calls_, ElementsAre("a"));
  EXPECT_FALSE(listener->HasSynced()) << "the informer has not said yet that these were all";
  bool told = false;
  const auto watch = listener->NotifySynced([&] { told = true; });
  listener->InitialQueued();
  Run();
  EXPECT_TRUE(listener->HasSynced());
  EXPECT_TRUE(told);
}

// Contract: informer HS-01.
TEST_P(ListenerTest, NotifiesTheWaiterForTheSyncEvenWhileALaterCallIsStuck) {
  const auto listener = Listen([&](const AnyEvent& e) {
    calls_.push_back(e.key.name.str());
    if (e.reason != Reason::kInitial) WaitForGate();
  });
  bool told = false;
  const auto watch = listener->NotifySynced([&] { told = true; });
  listener->Deliver(Events(Add("initial", true)));
  listener->InitialQueued();
  listener->Deliver(Events(Add("stuck")));
  Run();
  EXPECT_THAT(calls_, ElementsAre("initial", "stuck"));
  EXPECT_TRUE(told);
  gate_->Notify();
  Run();
}

// Contract: invariant L4.
TEST_P(ListenerTest, HasHandledASavedStateBeforeItHasSynced) {
  const auto listener = Listen([&](const AnyEvent& e) {
    WaitForGate();
    calls_.push_back(e.key.name.str());
  });
  bool saved = false, synced = false;
  const auto saved_watch = listener->NotifySynced([&] { saved = true; }, true);
  const auto synced_watch = listener->NotifySynced([&] { synced = true; });
  listener->Deliver(Events(Add("saved")));
  listener->SavedQueued();
  listener->Deliver(Events(Update("saved", "1", "2")));
  listener->InitialQueued();
  Run();
  EXPECT_FALSE(listener->HasHandledSaved());
  gate_->Notify();
  Run();
  EXPECT_TRUE(listener->HasHandledSaved());
  EXPECT_FALSE(listener->HasSynced()) << "the second call is running";
  EXPECT_TRUE(saved);
  EXPECT_FALSE(synced);
  gate_->Notify();
  Run();
  EXPECT_TRUE(listener->HasSynced());
  EXPECT_TRUE(synced);
}

// Contract: informer SI-12.
TEST_P(ListenerTest, NotifiesTheWaiterForTheSyncThatItWasRejected) {
  const auto listener = Listen(Noting());
  bool told = false;
  const auto watch = listener->NotifySynced([&] { told = true; });
  listener->Reject(Error(Code::kStopped, "the informer has been stopped"));
  Run();
  EXPECT_TRUE(told);
}

TEST_P(ListenerTest, DropsTheWaiterThatNoLongerWaitsForTheSync) {
  const auto listener = Listen(Noting());
  auto captured = std::make_shared<int>(7);
  const std::weak_ptr<int> alive = captured;
  auto watch = listener->NotifySynced([&, captured = std::move(captured)] { calls_.push_back("gave up"); });
  EXPECT_FALSE(alive.expired());
  watch = {};
  EXPECT_TRUE(alive.expired());
  listener->InitialQueued();
  Run();
  EXPECT_THAT(calls_, IsEmpty());
  const auto late = listener->NotifySynced([&] { calls_.push_back("late"); });
  Run();
  EXPECT_THAT(calls_, ElementsAre("late"));
}

// Contract: informer PL-08.
TEST_P(ListenerTest, CountsAnInitialCallThatThrewAndReportsIt) {
  const auto listener = Listen([](const AnyEvent&) { throw std::runtime_error("no luck"); });
  listener->Deliver(Events(Add("a", true)));
  listener->InitialQueued();
  Run();
  EXPECT_TRUE(listener->HasSynced());
  EXPECT_THAT(told_->failed, ElementsAre("a: no luck"));
}

// Contract: informer PL-06.
TEST_P(ListenerTest, DiscardsWaitingEventsWhenTheInformerStops) {
  const auto listener = Listen([&](const AnyEvent& e) {
    calls_.push_back(e.key.name.str());
    WaitForGate();
  });
  listener->Deliver(Events(Add("a")));
  listener->Deliver(Events(Add("b")));
  Run();
  listener->StopDelivery();
  gate_->Notify();
  Run();
  EXPECT_THAT(calls_, ElementsAre("a"));
  EXPECT_TRUE(listener->Join({}));
}

// Contract: informer PL-03; controller 273.
TEST_P(ListenerTest, ReportsAHighBacklogOnceUntilItHasShrunk) {
  const auto listener = Listen([&](const AnyEvent&) { WaitForGate(); }, {.backlog_warning = 4});
  listener->Deliver(Events(Add("first")));
  Run();
  for (int i = 0; i < 8; ++i) listener->Deliver(Events(Add(std::to_string(i))));
  EXPECT_THAT(told_->backlogs, ElementsAre(4u));
  EXPECT_EQ(listener->Backlog(), 8u);
  listener->StopDelivery();
  gate_->Notify();
  Run();
}

TEST_P(ListenerTest, ReportsABacklogOf1024EventsUnlessItsLevelIsAnother) {
  const auto reported = [&](std::optional<std::size_t> level) {
    told_->backlogs.clear();
    const auto listener = Listen([&](const AnyEvent&) { WaitForGate(); }, {.backlog_warning = level});
    listener->Deliver(Events(Add("first")));
    Run();
    for (int i = 0; i < 2000; ++i) listener->Deliver(Events(Add(std::to_string(i))));
    listener->StopDelivery();
    gate_->Notify();
    Run();
    return told_->backlogs;
  };
  EXPECT_THAT(reported(std::nullopt), ElementsAre(1024u));
  EXPECT_THAT(reported(1500), ElementsAre(1500u));
  EXPECT_THAT(reported(kUnlimited), IsEmpty());
}

// Contract: informer PL-03.
TEST_P(ListenerTest, ReportsABacklogAgainThatShrankAndGrewAtOnce) {
  const auto listener = Listen(Noting(), {.backlog_warning = 4});
  for (int round = 0; round < 2; ++round) {
    std::vector<AnyEvent> events;
    for (int i = 0; i < 9; ++i) events.push_back(Add(std::to_string(i)));
    listener->Deliver(std::move(events));
    Run();
    EXPECT_EQ(listener->Backlog(), 0u);
  }
  EXPECT_THAT(told_->backlogs, ElementsAre(9u, 9u));
}

// The first call is stuck until the gate opens.
class CoalescingTest : public ListenerTest {
 protected:
  Shared<Listener> Stuck(HandlerOptions options) {
    const auto listener = Listen(
        [this](const AnyEvent& e) {
          if (std::exchange(first_, false)) return WaitForGate();
          constexpr const char* kWords[] = {"added ", "updated ", "deleted "};
          std::string text = kWords[static_cast<int>(e.type)] + e.key.name.str();
          if (e.before) text += " " + e.before.metadata()->resourceVersion.str();
          if (e.now) text += ">" + e.now.metadata()->resourceVersion.str();
          calls_.push_back(text + " " + std::string(ToString(e.reason)));
        },
        std::move(options));
    listener->Deliver(Events(Add("stuck")));
    Run();
    return listener;
  }
  static AnyEvent Delete(std::string_view name, std::string_view before) {
    return {.type = AnyEvent::Type::kDeleted,
            .reason = Reason::kWatch,
            .key = {{}, name},
            .before = Metadata(name, before)};
  }
  void Open() {
    gate_->Notify();
    Run();
  }
  bool first_ = true;
};

// Contract: controller 273.
TEST_P(CoalescingTest, MergesTheEventsOfAKeyBeyondTheLimitAndKeepsTheLastState) {
  const auto listener = Stuck({.backlog_bytes = 1});
  for (AnyEvent& event :
       std::vector<AnyEvent>{Update("u", "1", "2"), Update("u", "2", "3"), Add("a"), Update("a", "1", "2"),
                             Update("d", "1", "2"), Delete("d", "3"), Delete("r", "1"), Add("r"), Update("r", "1", "2"),
                             Update("u", "3", "4", Reason::kResync)}) {
    listener->Deliver(Events(std::move(event)));
  }
  EXPECT_EQ(listener->Backlog(), 5u);
  Open();
  EXPECT_THAT(calls_, ElementsAre("updated u 1>4 watch", "added a>2 watch", "deleted d 3 watch", "deleted r 1 watch",
                                  "added r>2 watch"));
  EXPECT_EQ(listener->Backlog(), 0u);
}

// An event takes some hundred bytes here, with the state that it replaces.
TEST_P(CoalescingTest, DeliversEveryEventBelowTheLimit) {
  const auto listener = Stuck({.backlog_bytes = 10'000});
  for (int version = 1; version < 8; ++version) {
    listener->Deliver(Events(Update("u", std::to_string(version), std::to_string(version + 1))));
  }
  EXPECT_EQ(listener->Backlog(), 7u);
  EXPECT_THAT(told_->merging, IsEmpty());
  Open();
  EXPECT_EQ(calls_.size(), 7u);
}

// Contract: informer PL-03; controller 273.
TEST_P(CoalescingTest, MergesByDefaultBeforeTheBacklogFillsTheMemoryAndReportsItOnce) {
  const auto listener = Stuck({});
  const std::string text(1u << 20, 'x');
  const auto state = [&](int version) {
    return AnyRef(MakeRef(PartialObjectMetadata{
        .metadata = {.name = "u", .annotations = {{"a", text}}, .resourceVersion = std::to_string(version)}}));
  };
  for (int version = 1; version < 200; ++version) {
    listener->Deliver(Events({.type = AnyEvent::Type::kUpdated,
                              .reason = Reason::kWatch,
                              .key = {{}, "u"},
                              .before = state(version),
                              .now = state(version + 1)}));
  }
  EXPECT_LE(listener->Backlog(), 66u);  // 64 MiB and what two events of a key hold
  EXPECT_GE(listener->Backlog(), 63u);
  EXPECT_EQ(told_->merging.size(), 1u);
  Open();
  EXPECT_THAT(calls_.front(), ::testing::StartsWith("updated u 1>2"));
  EXPECT_THAT(calls_.back(), ::testing::EndsWith(">200 watch"));
}

TEST_P(CoalescingTest, KeepsEveryStateForAHandlerThatAsksForNoLimit) {
  const auto listener = Stuck({.backlog_bytes = kUnlimited});
  for (int version = 1; version < 2000; ++version) {
    listener->Deliver(Events(Update("u", std::to_string(version), std::to_string(version + 1))));
  }
  EXPECT_EQ(listener->Backlog(), 1999u);
  EXPECT_THAT(told_->merging, IsEmpty());
  Open();
  EXPECT_EQ(calls_.size(), 1999u);
}

// What a handler that was added late gets first, and what a resync repeats, are the objects of the cache.
TEST_P(CoalescingTest, CountsOnlyWhatTheCacheHasReplaced) {
  const auto listener = Stuck({.backlog_bytes = 1u << 20});
  const std::string text(1u << 20, 'x');
  for (int i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    const AnyRef object(MakeRef(PartialObjectMetadata{.metadata = {.name = name, .annotations = {{"a", text}}}}));
    listener->Deliver(
        Events({.type = AnyEvent::Type::kAdded, .reason = Reason::kWatch, .key = {{}, name}, .now = object}));
    listener->Deliver(Events({.type = AnyEvent::Type::kUpdated,
                              .reason = Reason::kResync,
                              .key = {{}, name},
                              .before = object,
                              .now = object}));
  }
  EXPECT_EQ(listener->Backlog(), 200u);
  Open();
}

TEST_P(CoalescingTest, StaysSmallHoweverOftenObjectsComeAndGo) {
  const auto listener = Stuck({.backlog_bytes = 1});
  for (int round = 0; round < 1000; ++round) {
    for (const char* name : {"a", "b", "c"}) listener->Deliver(Events(Add(name)));
    for (const char* name : {"b", "a", "c"}) listener->Deliver(Events(Delete(name, "1")));
    EXPECT_LE(listener->Backlog(), 6u);
  }
  listener->Deliver(Events(Add("b")));
  Open();
  EXPECT_LE(calls_.size(), 3u);
  EXPECT_EQ(calls_.back(), "added b>1 watch");
}

// Contract: invariant L4.
TEST_P(CoalescingTest, IsSyncedEvenIfAnInitialObjectIsDeletedBeforeItsDelivery) {
  const auto listener = Stuck({.backlog_bytes = 1});
  listener->Deliver(Events(Add("gone", true)));
  listener->Deliver(Events(Add("stays", true)));
  listener->InitialQueued();
  listener->Deliver(Events(Delete("gone", "1")));
  EXPECT_FALSE(listener->HasSynced());
  Open();
  EXPECT_TRUE(listener->HasSynced());
  EXPECT_THAT(calls_, ElementsAre("added stays>1 initial"));
}

// The running call is for the object before them.
// Contract: invariant L4.
TEST_P(CoalescingTest, IsNotSyncedWhileACallIsRunningBehindWhichAllOthersWereCancelled) {
  const auto listener = Listen([this](const AnyEvent&) { WaitForGate(); }, {.backlog_bytes = 1});
  listener->Deliver(Events(Add("running", true)));
  listener->Deliver(Events(Add("gone", true)));
  listener->InitialQueued();
  Run();
  listener->Deliver(Events(Delete("gone", "1")));
  Run();
  EXPECT_EQ(listener->Backlog(), 0u);
  EXPECT_FALSE(listener->HasSynced());
  gate_->Notify();
  Run();
  EXPECT_TRUE(listener->HasSynced());
}

// Contract: informer SI-12.
TEST_P(ListenerTest, ReportsThatItIsNotRegisteredWhenTheInformerHadStopped) {
  const auto listener = Listen(Noting());
  listener->Reject(Error(Code::kStopped, "the informer has been stopped"));
  ASSERT_FALSE(listener->status());
  EXPECT_EQ(listener->status().error().code(), Code::kStopped);
  listener->Deliver(Events(Add("a")));
  Run();
  EXPECT_THAT(calls_, IsEmpty());
}

// The queue shrinks below the level from which it knows the keys, and grows again.
TEST(EventQueue, MergesWithTheNewestEventOfAKeyWheneverThatCame) {
  EventQueue probe(1u << 20);
  probe.Push(Resync("k"), TimePoint());
  const std::size_t each = probe.bytes();
  const auto state = [](std::string_view version) {
    AnyEvent event = Resync("k");
    event.before = event.now = Metadata("k", version);
    return event;
  };
  EventQueue queue(8 * each);
  for (const char* filler : {"a", "b", "c", "d"}) queue.Push(Add(filler), TimePoint());
  queue.Push(state("1"), TimePoint());
  for (int i = 0; i < 3; ++i) queue.Pop();
  queue.Push(state("2"), TimePoint());
  for (const char* filler : {"e", "f", "g", "h", "i", "j"}) queue.Push(Add(filler), TimePoint());
  queue.Push(state("3"), TimePoint());
  std::vector<std::string> versions;
  while (const std::optional<AnyEvent> event = queue.Pop()) {
    if (event->key.name == "k") versions.push_back(event->now.metadata()->resourceVersion.str());
  }
  EXPECT_THAT(versions, ElementsAre("1", "3"));
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(EventQueue, KnowsSinceWhenItsOldestEventWaits) {
  EventQueue queue(0);  // merges whenever it can
  EXPECT_FALSE(queue.oldest());
  queue.Push(Add("a"), TimePoint(1s));
  queue.Push(Add("b"), TimePoint(2s));
  AnyEvent update = Resync("a");
  update.type = AnyEvent::Type::kUpdated;
  queue.Push(std::move(update), TimePoint(3s));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.oldest(), TimePoint(1s));
  queue.Pop();
  EXPECT_EQ(queue.oldest(), TimePoint(2s));
  queue.Pop();
  EXPECT_FALSE(queue.oldest());
}

// Not with malloc, which would keep the memory for ever: the events of a first list wait all at once.
TEST(EventQueue, KeepsEventsOnTheHeapThatReturnsFreeMemory) {
  constexpr int kEvents = 2000;
  const AnyEvent event = Add("a");
  EventQueue queue(std::nullopt);
  const std::int64_t before = GetHeapUse().bytes;
  for (int i = 0; i < kEvents; ++i) queue.Push(event, TimePoint());
  const std::int64_t waiting = GetHeapUse().bytes - before;
  EXPECT_GE(waiting, kEvents * std::int64_t{sizeof(AnyEvent)});
  while (queue.Pop()) {
  }
  EXPECT_LT(GetHeapUse().bytes - before, waiting / 20);
}

using ProcessorTest = ListenerTest;

// Contract: informer RS-08, SI-10.
TEST_P(ProcessorTest, GivesAnUnchangedObjectOnlyToListenersThatAreDue) {
  Processor processor;
  std::vector<std::string> often, never;
  processor.Add(Listen([&](const AnyEvent& e) { often.push_back(e.key.name.str()); }), 10s, simulation_.clock()->Now());
  processor.Add(Listen([&](const AnyEvent& e) { never.push_back(e.key.name.str()); }), kNever,
                simulation_.clock()->Now());

  // Before the first check every listener gets unchanged objects.
  processor.Distribute(Events(Update("early", "1", "1", Reason::kResync)));
  EXPECT_FALSE(processor.ShouldResync(simulation_.clock()->Now() + 9s));
  processor.Distribute(Events(Update("not-due", "1", "1", Reason::kResync)));
  processor.Distribute(Events(Update("changed", "1", "2")));
  EXPECT_TRUE(processor.ShouldResync(simulation_.clock()->Now() + 10s));
  Processor::Deliver(processor.TakeDue(), Events(Resync("due")));
  Processor::Deliver(processor.TakeDue(), Events(Resync("told")));
  Run();
  EXPECT_THAT(often, ElementsAre("early", "changed", "due"));
  EXPECT_THAT(never, ElementsAre("early", "changed"));
}

// Contract: informer RS-07.
TEST_P(ProcessorTest, DoesNotSendAResyncThatWasQueuedBeforeTheListenerWasAdded) {
  Processor processor;
  const TimePoint start = simulation_.clock()->Now();
  std::vector<std::string> asked, late;
  processor.Add(Listen([&](const AnyEvent& e) { asked.push_back(e.key.name.str()); }), 10s, start);
  EXPECT_TRUE(processor.ShouldResync(start + 10s));
  processor.Add(Listen([&](const AnyEvent& e) { late.push_back(e.key.name.str()); }), 10s, start + 10s);
  Processor::Deliver(processor.TakeDue(), Events(Resync("a")));
  Run();
  EXPECT_THAT(asked, ElementsAre("a"));
  EXPECT_THAT(late, IsEmpty());
}

// Contract: informer RS-08.
TEST_P(ProcessorTest, SendsAResyncEvenIfItIsAppliedAfterTheNextCheck) {
  Processor processor;
  const TimePoint start = simulation_.clock()->Now();
  processor.Add(Listen(Noting()), 10s, start);
  EXPECT_TRUE(processor.ShouldResync(start + 10s));
  EXPECT_FALSE(processor.ShouldResync(start + 15s));  // changes are applied with a delay
  Processor::Deliver(processor.TakeDue(), Events(Resync("a")));
  Run();
  EXPECT_THAT(calls_, ElementsAre("a"));
}

// Contract: informer RS-07.
TEST_P(ProcessorTest, CountsTheNextPeriodFromTheCheckAndNotFromTheDueTime) {
  Processor processor;
  const TimePoint start = simulation_.clock()->Now();
  processor.Add(Listen(Noting()), 10s, start);
  EXPECT_TRUE(processor.ShouldResync(start + 14s));
  EXPECT_FALSE(processor.ShouldResync(start + 23s));
  EXPECT_TRUE(processor.ShouldResync(start + 24s));
}

// Contract: informer RS-07.
TEST_P(ProcessorTest, NeverResyncsWithAnInfinitePeriod) {
  Processor processor;
  const TimePoint start = simulation_.clock()->Now() + 1h;
  processor.Add(Listen(Noting()), Nanos::max(), start);
  EXPECT_FALSE(processor.ShouldResync(start + 24h));
}

// Contract: informer PL-01.
TEST_P(ProcessorTest, DoesNotDelayOthersForOneSlowHandler) {
  Processor processor;
  processor.Add(Listen([&](const AnyEvent&) { WaitForGate(); }), kNever, simulation_.clock()->Now());
  processor.Add(Listen(Noting()), kNever, simulation_.clock()->Now());
  for (const char* name : {"a", "b", "c"}) processor.Distribute(Events(Add(name)));
  Run();
  EXPECT_THAT(calls_, ElementsAre("a", "b", "c"));
  processor.StopAll();
  gate_->Notify();
  Run();
}

// Contract: informer HS-05.
TEST_P(ProcessorTest, TellsALateListenerThatItsInitialStateIsComplete) {
  Processor processor;
  processor.InitialQueued();
  const auto listener = Listen(Noting());
  listener->Deliver(Events(Add("replayed", true)));
  processor.Add(listener, kNever, simulation_.clock()->Now());
  EXPECT_FALSE(listener->HasSynced());
  Run();
  EXPECT_TRUE(listener->HasSynced());
}

INSTANTIATE_TEST_SUITE_P(Seeds, ListenerTest, ::testing::Range<std::uint64_t>(0, 50));
INSTANTIATE_TEST_SUITE_P(Seeds, CoalescingTest, ::testing::Range<std::uint64_t>(0, 10));
INSTANTIATE_TEST_SUITE_P(Seeds, ProcessorTest, ::testing::Range<std::uint64_t>(0, 50));

}  // namespace
}  // namespace kgen::cache
