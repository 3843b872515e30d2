// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The informer's invariants I1 to I5 (kgen/cache/informer_core.h) and the events that its handlers receive.
#include <optional>
#include <stdexcept>

#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Received = std::vector<std::string>;

class InformerTest : public InformerFixture {};

std::string Broken(std::string_view name, std::string_view version) {
  return R"({"kind":"Sample","metadata":{"name":")" + std::string(name) + R"(","namespace":"ns","resourceVersion":")" +
         std::string(version) + R"("},"spec":{"nodeName":"\ud8"}})";
}
std::string Nameless() { return R"({"kind":"Sample","metadata":{"name":{},"resourceVersion":"9"}})"; }

// ---------------------------------------------------------------------------------------- from list to handler

// Contract: informer CT-06, CT-07, HS-04, KT-06, Q-06, SI-07.
TEST_P(InformerTest, DeliversTheInitialStateThenEveryChange) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  EXPECT_THAT(received, ElementsAre("added a@1 initial", "added b@2 initial"));
  received.clear();
  Send(AddedJson("c", "6") + ModifiedJson("a", "7") + DeletedJson("b", "8"));
  EXPECT_THAT(received, ElementsAre("added c@6 watch", "updated a@1>7 watch", "deleted b@8 watch"));
  EXPECT_EQ(Store(), "a@7 c@6");
  EXPECT_EQ(StoreVersion(), "8");
}

// Contract: informer CT-06.
TEST_P(InformerTest, LetsTheStoreDecideWhetherItIsAnAdditionOrAnUpdate) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  received.clear();
  Send(AddedJson("a", "6") + ModifiedJson("new", "7"));
  EXPECT_THAT(received, ElementsAre("updated a@1>6 watch", "added new@7 watch"));
}

// Contract: informer CT-11.
TEST_P(InformerTest, ShowsEachDeltaOfADrainTheStateAfterTheOneBefore) {
  ApplyAfter(1s);  // so that all of this is one drain
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  Advance(1s);
  received.clear();
  Send(ModifiedJson("a", "6"));
  Send(ModifiedJson("a", "7") + DeletedJson("a", "8") + AddedJson("a", "9") + DeletedJson("a", "10"));
  EXPECT_THAT(received, IsEmpty());
  Advance(1s);
  EXPECT_THAT(received, ElementsAre("updated a@1>6 watch", "updated a@6>7 watch", "deleted a@8 watch",
                                    "added a@9 watch", "deleted a@10 watch"));
  EXPECT_EQ(Store(), "");
  EXPECT_EQ(StoreVersion(), "10");
}

// Contract: informer CT-07, Q-08.
TEST_P(InformerTest, DeliversTheDeletionOfAnObjectThatItNeverHeld) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {});
  Send(DeletedJson("ghost", "6"));
  EXPECT_THAT(received, ElementsAre("deleted ghost@6 watch"));
}

// Contract: informer SI-06; invariant I1.
TEST_P(InformerTest, StoresAChangeBeforeAnyHandlerReceivesIt) {
  int calls = 0;
  const auto check = [&](const ObjectKey& key, std::string_view version) {
    ++calls;
    const AnyRef stored = Core()->store()->Snapshot().Get(key);
    ASSERT_TRUE(stored);
    EXPECT_GE(std::stoi(stored.metadata()->resourceVersion), std::stoi(std::string(version)));
    EXPECT_GE(std::stoi(StoreVersion()), std::stoi(std::string(version)));
  };
  const Registration registration = Informer().AddEventHandler(
      {.on_add = [&](const Added<Sample>& e) { check(e.key, e.now->metadata.resourceVersion); },
       .on_update = [&](const Updated<Sample>& e) { check(e.key, e.now->metadata.resourceVersion); }});
  Sync("5", {ObjectJson("a", "1")});
  Send(ModifiedJson("a", "6") + AddedJson("b", "7"));
  Send(ModifiedJson("b", "8"));
  EXPECT_EQ(calls, 4);
}

// Contract: informer BM-02, BM-04, RF-04.
TEST_P(InformerTest, AdvancesTheVersionOfTheStoreWithBookmarksInTheirOrder) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  received.clear();
  Send(BookmarkJson("17"));
  EXPECT_EQ(StoreVersion(), "17");
  EXPECT_EQ(Core()->status().resource_version, "17");
  EXPECT_THAT(received, IsEmpty());
}

TEST_P(InformerTest, PutsTheVersionOfTheStoreIntoEachEvent) {
  std::vector<std::string> versions;
  const Registration registration =
      Informer().AddEventHandler({.on_add = [&](const Added<Sample>& e) { versions.push_back(e.version.str()); },
                                  .on_delete = [&](const Deleted<Sample>& e) { versions.push_back(e.version.str()); }});
  Sync("5", {ObjectJson("a", "1")});
  Send(AddedJson("b", "6") + DeletedJson("a", "7"));
  EXPECT_THAT(versions, ElementsAre("5", "6", "7"));
}

// ------------------------------------------------------------------------------------------------------------ relists

// Contract: informer CT-08, KT-03, RS-09, SI-10.
TEST_P(InformerTest, DeliversMissedChangesAfterARelistDeletionsFirst) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3"), ObjectJson("d", "4")});
  received.clear();
  Relist("9", {ObjectJson("new", "8"), ObjectJson("b", "7"), ObjectJson("c", "3")});
  EXPECT_THAT(received, ElementsAre("deleted a@1 relist unknown", "deleted d@4 relist unknown", "added new@8 relist",
                                    "updated b@2>7 relist", "updated c@3>3 resync"));
  EXPECT_EQ(Store(), "b@7 c@3 new@8");
  EXPECT_EQ(StoreVersion(), "9");
}

// Contract: informer CT-09.
TEST_P(InformerTest, ShowsTheWholeNewStateToTheFirstCallOfARelist) {
  std::vector<std::string> stores;
  const Registration registration =
      Informer().AddEventHandler({.on_delete = [&](const Deleted<Sample>&) { stores.push_back(Store()); }});
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  Relist("9", {ObjectJson("c", "8")});
  EXPECT_THAT(stores, ElementsAre("c@8", "c@8"));
}

// Contract: informer Q-12.
TEST_P(InformerTest, DeliversTheDeletionOfAKeyThatWasOnlyInTheQueueWhenAListArrived) {
  ApplyAfter(120s);
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  Advance(120s);
  received.clear();
  Send(AddedJson("queued", "6") + DeletedJson("a", "7") + ModifiedJson("b", "8"));
  Relist("12", {});
  EXPECT_THAT(received, IsEmpty());  // all of it in one drain
  Advance(120s);
  EXPECT_THAT(received, ElementsAre("added queued@6 watch", "deleted a@7 watch", "updated b@2>8 watch",
                                    "deleted b@8 relist unknown", "deleted queued@6 relist unknown"));
  EXPECT_EQ(Store(), "");
}

// Contract: design D13.
TEST_P(InformerTest, DeliversAnotherIncarnationAsDeletedAndAdded) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1", "", "first")});
  received.clear();
  Relist("9", {ObjectJson("a", "8", "", "second")});
  EXPECT_THAT(received, ElementsAre("deleted a@1 relist unknown", "added a@8 relist"));
  received.clear();
  Send(EventJson("MODIFIED", ObjectJson("a", "10", "", "third")));
  EXPECT_THAT(received, ElementsAre("deleted a@8 watch unknown", "added a@10 watch"));
  received.clear();
  Send(EventJson("DELETED", ObjectJson("a", "11", "", "third")) +
       EventJson("ADDED", ObjectJson("a", "12", "", "fourth")));
  EXPECT_THAT(received, ElementsAre("deleted a@11 watch", "added a@12 watch"));
  EXPECT_EQ(Store(), "a@12");
}

TEST_P(InformerTest, DeliversTheCachedIncarnationWhenAnotherOneIsDeleted) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1", "", "first")});
  received.clear();
  Send(EventJson("DELETED", ObjectJson("a", "9", "", "second")));
  EXPECT_THAT(received, ElementsAre("deleted a@1 watch unknown"));
  EXPECT_EQ(Store(), "");
}

// Contract: informer ST-05.
TEST_P(InformerTest, KeepsTheLastOfTwoItemsWithTheSameKey) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("a", "3")});
  EXPECT_THAT(received, ElementsAre("added b@2 initial", "added a@3 initial"));
  EXPECT_EQ(Store(), "a@3 b@2");
}

// ---------------------------------------------------------------------------------------------------- refused objects

// Contract: design D6.
TEST_P(InformerTest, KeepsTheLastGoodStateOfAnObjectAndMarksIt) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  received.clear();
  Send(EventJson("MODIFIED", Broken("a", "6")));
  EXPECT_EQ(Store(), "a@1(stale)");
  EXPECT_EQ(StoreVersion(), "6");
  EXPECT_EQ(Core()->status().refused, 1u);
  EXPECT_THAT(received, IsEmpty());
  Send(ModifiedJson("a", "7"));
  EXPECT_EQ(Store(), "a@7");
  EXPECT_EQ(Core()->status().refused, 0u);
  EXPECT_THAT(received, ElementsAre("updated a@1>7 watch"));
}

// Contract: design D6.
TEST_P(InformerTest, SyncsDespiteItemsThatCannotBeDecoded) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1"), Broken("bad", "2")});
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_EQ(Core()->status().refused, 1u);
  EXPECT_THAT(received, ElementsAre("added a@1 initial"));
  Relist("9", {Broken("a", "8"), ObjectJson("bad", "7")});
  EXPECT_EQ(Store(), "a@1(stale) bad@7");
}

// Contract: design D6.
TEST_P(InformerTest, KeepsAnObjectThatIsOnlyInTheQueueWhenItsListItemIsRefused) {
  ApplyAfter(120s);
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {});
  Advance(120s);
  Send(AddedJson("a", "6"));
  Relist("12", {Broken("a", "11")});
  Advance(120s);
  EXPECT_THAT(received, ElementsAre("added a@6 watch"));
  EXPECT_EQ(Store(), "a@6(stale)");
}

// Contract: design D6.
TEST_P(InformerTest, DeletesNothingForAListWithAnObjectWhoseNameCannotBeRead) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  received.clear();
  Relist("9", {ObjectJson("b", "8"), Nameless()});
  EXPECT_THAT(received, ElementsAre("updated b@2>8 relist"));
  EXPECT_EQ(Store(), "a@1(stale) b@8");
  received.clear();
  Relist("12", {ObjectJson("b", "8")});
  EXPECT_THAT(received, ElementsAre("deleted a@1 relist unknown", "updated b@8>8 resync"));
}

// Contract: design D6.
TEST_P(InformerTest, RefusesAnItemWhoseNamespaceCannotBeRead) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  received.clear();
  const auto homeless = [](std::string_view namespace_) {
    return R"({"kind":"Sample","metadata":{"name":"a","namespace":)" + std::string(namespace_) +
           R"(,"resourceVersion":"7"}})";
  };
  Relist("9", {ObjectJson("b", "8"), homeless("{}")});
  EXPECT_THAT(received, ElementsAre("updated b@2>8 relist"));  // and no deletion of a
  EXPECT_EQ(Store(), "a@1(stale) b@8");
  Relist("12", {ObjectJson("a", "11"), ObjectJson("b", "8")});
  Send(EventJson("DELETED", homeless("[1]")));
  EXPECT_EQ(Store(), "a@11 b@8");
  WaitOut();
  Answer(ListBody("15", {ObjectJson("b", "8")}));  // it cannot be found otherwise
  EXPECT_EQ(Store(), "b@8");
}

TEST_P(InformerTest, DeliversTheDeletionOfAnObjectWhoseFinalStateCannotBeDecoded) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  received.clear();
  Send(EventJson("DELETED", Broken("a", "6")) + EventJson("DELETED", Broken("ghost", "7")));
  EXPECT_THAT(received, ElementsAre("deleted a@1 watch unknown", "deleted ghost@? watch unknown"));
  EXPECT_EQ(Store(), "");
}

// ----------------------------------------------------------------------------------------------------- late handlers

// Contract: informer SI-05, SI-13; invariant I2.
TEST_P(InformerTest, ReplaysTheStoreToALateHandlerOnceAndThenEveryChange) {
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  // Additions of handlers and changes race; whichever wins, nothing is missed and nothing comes twice.
  std::vector<Received> received(8);
  std::vector<Registration> registrations;
  for (Received& one : received) {
    registrations.push_back(Listen(one));
    source_->last().Send(ModifiedJson("a", std::to_string(10 + registrations.size())));
    source_->last().Send(
        AddedJson("n" + std::to_string(registrations.size()), std::to_string(20 + registrations.size())));
  }
  Run();
  for (const Received& one : received) {
    std::map<std::string, std::string> folded;
    for (const std::string& text : one) {
      const std::string object = text.substr(text.find(' ') + 1, text.rfind(' ') - text.find(' ') - 1);
      const std::string name = object.substr(0, object.find('@'));
      const std::string versions = object.substr(object.find('@') + 1);
      if (text.starts_with("added")) {
        EXPECT_FALSE(folded.contains(name)) << text;
        folded[name] = versions;
      } else {
        EXPECT_EQ(folded[name], versions.substr(0, versions.find('>'))) << text;
        folded[name] = versions.substr(versions.find('>') + 1);
      }
    }
    EXPECT_EQ(folded.size(), 10u);
    EXPECT_EQ(folded["a"], "18");
  }
}

// Contract: informer HS-04; controller 103.
TEST_P(InformerTest, MarksOnlyTheReplayToALateHandlerAsInitial) {
  Sync("5", {ObjectJson("a", "1")});
  Received received;
  const Registration registration = Listen(received);
  EXPECT_FALSE(registration.HasSynced());
  Run();
  EXPECT_TRUE(registration.HasSynced());
  Send(AddedJson("b", "6"));
  EXPECT_THAT(received, ElementsAre("added a@1 initial", "added b@6 watch"));
}

// Contract: informer HS-01, HS-03.
TEST_P(InformerTest, HasNotSyncedAHandlerBeforeItsReplayIsComplete) {
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  int synced_too_early = 0, calls = 0;
  std::optional<Registration> registration;
  registration.emplace(Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) {
    ++calls;
    synced_too_early += registration->HasSynced() ? 1 : 0;
  }}));
  Run();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(synced_too_early, 0);
  EXPECT_TRUE(registration->HasSynced());
}

// Contract: informer HS-04.
TEST_P(InformerTest, DoesNotMarkAdditionsFoundByARelistAsInitial) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {});
  Relist("9", {ObjectJson("a", "8")});
  EXPECT_THAT(received, ElementsAre("added a@8 relist"));
}

// Contract: informer SI-14.
TEST_P(InformerTest, RemovesAHandlerOnceHoweverOftenItIsAsked) {
  Received received;
  Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  registration.Remove();
  registration.Remove();
  Send(ModifiedJson("a", "6"));
  EXPECT_THAT(received, ElementsAre("added a@1 initial"));
  Core()->Stop();
  Run();
  registration.Remove();
  EXPECT_TRUE(registration.status().has_value());
}

TEST_P(InformerTest, LetsAHandlerAddAnotherHandler) {
  Received received;
  std::optional<Registration> inner;
  const Registration registration = Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) {
    if (!inner) inner.emplace(Listen(received));
  }});
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  EXPECT_THAT(received, UnorderedElementsAre("added a@1 initial", "added b@2 initial"));
}

TEST_P(InformerTest, NeverCallsAHandlerThatWasRemovedBeforeItWasAdded) {
  Sync("5", {ObjectJson("a", "1")});
  Received received;
  {
    const Registration registration = Listen(received);
  }
  Run();
  Send(ModifiedJson("a", "6"));
  EXPECT_THAT(received, IsEmpty());
}

// ------------------------------------------------------------------------------------------------------------ syncing

// Contract: informer SI-03, SI-04; invariant I3.
TEST_P(InformerTest, HasSyncedWhenTheFirstListWasAppliedAndStaysSo) {
  Start();
  EXPECT_FALSE(Core()->HasSynced());
  source_->last().Open();
  source_->last().Send(ListBody("5", {ObjectJson("a", "1")}));
  Run();
  EXPECT_FALSE(Core()->HasSynced());  // the list has not ended
  source_->last().End();
  Run();
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_EQ(Store(), "a@1");
  Core()->Stop();
  Run();
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_TRUE(Core()->IsStopped());
}

// Contract: informer WL-03; invariant I3.
TEST_P(InformerTest, DoesNotSyncBeforeTheMarkerOfAStreamingList) {
  source_->streaming = options_.streaming_list = true;
  Start();
  Open();
  Send(AddedJson("a", "1") + BookmarkJson("4"));
  EXPECT_FALSE(Core()->HasSynced());
  EXPECT_EQ(Store(), "");
  Send(BookmarkJson("5", "true"));
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_EQ(Store(), "a@1");
}

// Contract: informer HS-02, HS-05.
TEST_P(InformerTest, GivesAHandlerAddedBeforeTheSyncTheReplayAndTheRest) {
  ApplyAfter(10s);
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1")}));  // in the queue
  Received received;
  const Registration registration = Listen(received);
  Run();
  EXPECT_FALSE(registration.HasSynced());
  Advance(10s);
  EXPECT_TRUE(registration.HasSynced());
  EXPECT_THAT(received, ElementsAre("added a@1 initial"));
}

// Contract: informer Q-15.
TEST_P(InformerTest, SyncsWithAnEmptyList) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {});
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_TRUE(registration.HasSynced());
}

// Contract: informer SI-04.
TEST_P(InformerTest, IsNotSyncedWhenStoppedBefore) {
  Start();
  Core()->Stop();
  Run();
  EXPECT_FALSE(Core()->HasSynced());
  EXPECT_TRUE(Core()->IsStopped());
}

// --------------------------------------------------------------------------------------------------- start and stop

// Contract: informer CT-03; invariant I4.
TEST_P(InformerTest, AppliesNothingMoreAfterItsStop) {
  ApplyAfter(1s);
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  Advance(1s);
  received.clear();
  Send(ModifiedJson("a", "6"));  // queued
  Core()->Stop();
  Advance(1h);
  EXPECT_EQ(Store(), "a@1");
  EXPECT_THAT(received, IsEmpty());
  EXPECT_EQ(source_->open(), 0u);
  EXPECT_EQ(simulation_.census().timers, 0u);
}

// Contract: informer FA-05, RF-02.
TEST_P(InformerTest, StopsWithItsTokenWhateverItDoes) {
  source_->streaming = options_.streaming_list = GetParam() % 2 == 0;
  options_.resync = 1h;
  Received received;
  const Registration registration = Listen(received);
  std::stop_source stop;
  Core()->Start(stop.get_token());
  const int steps = static_cast<int>(GetParam() % 5);
  if (steps > 0) Run();
  if (steps > 1) Open();
  if (steps > 2) Send(source_->streaming ? AddedJson("a", "1") + BookmarkJson("2", "true") : "{\"kind\":");
  if (steps > 3) Refuse(LostError());
  stop.request_stop();
  Run();
  EXPECT_TRUE(Core()->IsStopped());
  EXPECT_EQ(source_->open(), 0u);
  EXPECT_EQ(simulation_.census().timers, 0u);
}

TEST_P(InformerTest, StopsAtOnceWithATokenThatWasStoppedBefore) {
  std::stop_source stop;
  stop.request_stop();
  Start(stop.get_token());
  EXPECT_TRUE(Core()->IsStopped());
  EXPECT_EQ(source_->open(), 0u);
}

// Contract: informer FA-06, SI-01.
TEST_P(InformerTest, StartsOnceAndNeverAgain) {
  Start();
  Core()->Start({});
  Run();
  EXPECT_EQ(source_->size(), 1u);
  Core()->Stop();
  Run();
  Core()->Start({});
  Run();
  EXPECT_EQ(source_->size(), 1u);
}

TEST_P(InformerTest, DoesNotStartAfterAStop) {
  Core()->Stop();
  Start();
  EXPECT_EQ(source_->size(), 0u);
  EXPECT_TRUE(Core()->IsStopped());
}

// Contract: design D11.
TEST_P(InformerTest, StopsWhenItsLastHandleIsDestroyed) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  const Indexer<Sample> indexer = Informer().Indexer();
  core_ = {};
  Run();
  EXPECT_EQ(source_->open(), 0u);
  EXPECT_EQ(indexer.Snapshot().size(), 1u);  // answers from the last state
}

// Contract: design D11.
TEST_P(InformerTest, CanBeDestroyedFromItsOwnHandler) {
  Received received;
  std::optional<Registration> registration;
  registration.emplace(Informer().AddEventHandler({.on_add = [&](const Added<Sample>& e) {
    received.push_back(e.key.str());
    core_ = {};
    registration.reset();
  }}));
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  EXPECT_THAT(received, ElementsAre("ns/a"));
  EXPECT_EQ(source_->open(), 0u);
}

// Contract: informer SI-02.
TEST_P(InformerTest, JoinsFromOutsideAfterTheRunningCall) {
  const Shared<Waiter> gate = simulation_.executor()->MakeWaiter("the test's gate");
  bool ended = false;
  const Registration registration = Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) {
    static_cast<void>(gate->Wait());
    ended = true;
  }});
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  Core()->Stop();
  auto join = simulation_.Spawn([&] { return Core()->Join({}); });
  Run();
  EXPECT_FALSE(join.done());
  gate->Notify();
  Run();
  ASSERT_TRUE(join.done());
  EXPECT_TRUE(join.result().has_value());
  EXPECT_TRUE(ended);
}

// Contract: informer SI-02.
TEST_P(InformerTest, JoinsAfterTheRunningCallOfARemovedHandler) {
  const Shared<Waiter> gate = simulation_.executor()->MakeWaiter("the test's gate");
  std::optional<Registration> registration;
  registration.emplace(Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) {
    registration->Remove();
    static_cast<void>(gate->Wait());
  }}));
  Sync("5", {ObjectJson("a", "1")});
  Received received;
  const Registration another = Listen(received);  // whoever comes must not make the informer forget who still runs
  Core()->Stop();
  auto join = simulation_.Spawn([&] { return Core()->Join({}); });
  Run();
  EXPECT_FALSE(join.done());
  gate->Notify();
  Run();
  ASSERT_TRUE(join.done());
}

// Contract: informer SI-17.
TEST_P(InformerTest, JoinsFromItsOwnHandlerWithoutWaitingForIt) {
  bool joined = false;
  const Registration registration = Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) {
    Core()->Stop();
    joined = Core()->Join({}).has_value();
  }});
  Sync("5", {ObjectJson("a", "1")});
  EXPECT_TRUE(joined);
}

// Contract: informer SI-12.
TEST_P(InformerTest, RegistersNoHandlerOnceStopped) {
  Core()->Stop();
  Run();
  Received received;
  const Registration registration = Listen(received);
  ASSERT_FALSE(registration.status().has_value());
  EXPECT_EQ(registration.status().error().code(), Code::kStopped);
}

TEST_P(InformerTest, LeaksNoBlock) {
  const std::int64_t before = LiveBlocks();
  {
    Received received;
    Registration registration = Listen(received);
    Sync("5", {ObjectJson("a", "1", R"("spec":{"nodeName":"a name that is longer than fifteen bytes"})")});
    Send(AddedJson("b", "6") + EventJson("MODIFIED", Broken("a", "7")));
    Relist("9", {ObjectJson("c", "8")});
    registration.Remove();
    core_ = {};
    Run();
  }
  source_ = {};
  EXPECT_EQ(LiveBlocks(), before);
}

// ------------------------------------------------------------------------------------- indexes, transforms, user code

// Contract: informer SI-18.
TEST_P(InformerTest, IndexesByFieldAndByFunctionAlsoWhileItRuns) {
  const std::string on1 = R"("spec":{"nodeName":"n1"})";
  ASSERT_TRUE(Informer().AddIndex("node", FieldPath("spec.nodeName")));
  Sync("5", {ObjectJson("a", "1", on1), ObjectJson("b", "2", on1)});
  ASSERT_TRUE(Informer().AddIndex("first letter",
                                  [](const Sample& s, IndexSink& sink) { sink.Add(s.metadata.name.substr(0, 1)); }));
  auto view = Informer().Indexer().Snapshot();
  EXPECT_EQ(view.ByIndex("node", "n1").size(), 2u);
  EXPECT_THAT(view.IndexValues("first letter"), ElementsAre("a", "b"));
  Send(EventJson("MODIFIED", ObjectJson("a", "6", R"("spec":{"nodeName":"n2"})")) + DeletedJson("b", "7"));
  view = Informer().Indexer().Snapshot();
  EXPECT_THAT(view.IndexValues("node"), ElementsAre("n2"));
  EXPECT_EQ(Informer().AddIndex("node", FieldPath("spec.replicas")).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Informer().AddIndex("odd", FieldPath("spec.nodeNaem")).error().code(), Code::kInvalidArgument);
  Core()->Stop();
  Run();
  EXPECT_EQ(Informer().AddIndex("late", FieldPath("spec.nodeName")).error().code(), Code::kStopped);
}

// Contract: informer ST-09; invariant I5.
TEST_P(InformerTest, ReportsAnIndexFunctionThatThrows) {
  ASSERT_TRUE(Informer().AddIndex("bad", [](const Sample& s, IndexSink& sink) {
    if (s.metadata.name == "a") throw std::runtime_error("no index");
    sink.Add(s.metadata.name);
  }));
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  EXPECT_EQ(Store(), "a@1 b@2");
  EXPECT_THAT(Informer().Indexer().Snapshot().IndexValues("bad"), ElementsAre("b"));
  EXPECT_THAT(seen_->thrown, ElementsAre(HasSubstr("no index")));
}

// Contract: informer SI-19, TR-01.
TEST_P(InformerTest, TransformsBeforeStoreAndHandlersSeeAnObject) {
  ASSERT_TRUE(Informer().SetTransform([](Sample& s) {
    s.spec = kAbsent;
    if (s.metadata.name == "b") throw std::runtime_error("no transform");
  }));
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1", R"("spec":{"nodeName":"n1"})"), ObjectJson("b", "2")});
  EXPECT_FALSE(Informer().Indexer().Snapshot().Get({"ns", "a"}).get()->spec.has_value());
  EXPECT_THAT(received, ElementsAre("added a@1 initial"));
  EXPECT_THAT(seen_->refused, ElementsAre(HasSubstr("no transform")));
  EXPECT_EQ(Informer().SetTransform([](Sample&) {}).error().code(), Code::kInvalidArgument);
}

TEST_P(InformerTest, ReportsRefusedObjectsOfAListToTheObserverOnceASecond) {
  std::vector<std::string> items;
  for (int i = 0; i < 1000; ++i) items.push_back(ObjectJson("a" + std::to_string(i), "1", R"("kind":"Other")"));
  Sync("5", items);
  EXPECT_EQ(seen_->refused.size(), 1u);
  Advance(1s);
  EXPECT_EQ(seen_->refused.size(), 2u);
  EXPECT_EQ(seen_->refusals, 1000u);
}

// Contract: informer TR-01.
TEST_P(InformerTest, SharesTextAndSubtreesOfTransformedObjects) {
  ASSERT_TRUE(
      Informer().SetTransform([](Sample& s) { s.metadata.annotations["seen"] = "by the transform of this test"; }));
  const std::string spec = R"("spec":{"nodeName":"a name of more than fifteen bytes"})";
  Sync("5", {ObjectJson("a", "1", spec), ObjectJson("b", "2", spec)});
  const auto snapshot = Informer().Indexer().Snapshot();
  const Ref<const Sample> a = snapshot.Get({"ns", "a"}), b = snapshot.Get({"ns", "b"});
  EXPECT_EQ(a->spec->nodeName, "a name of more than fifteen bytes");
  EXPECT_EQ(a->metadata.annotations["seen"], "by the transform of this test");
  EXPECT_EQ(a->spec->nodeName.data(), b->spec->nodeName.data());
  EXPECT_EQ(a->metadata.annotations["seen"].data(), b->metadata.annotations["seen"].data());
}

// Contract: informer TR-01.
TEST_P(InformerTest, KeepsValuesThatATransformSetsAndNoDecoderAccepts) {
  ASSERT_TRUE(
      Informer().SetTransform([](Sample& s) { s.spec->nodeName = "no \xff UTF-8, and more than fifteen bytes"; }));
  Sync("5", {ObjectJson("a", "1")});
  const Ref<const Sample> a = Informer().Indexer().Snapshot().Get({"ns", "a"});
  EXPECT_EQ(a->spec->nodeName, "no \xff UTF-8, and more than fifteen bytes");
}

// Contract: informer PL-08.
TEST_P(InformerTest, CountsAnInitialEventAsHandledWhenItsHandlerThrows) {
  const Registration registration =
      Informer().AddEventHandler({.on_add = [](const Added<Sample>&) { throw std::runtime_error("no handler"); }});
  Sync("5", {ObjectJson("a", "1")});
  EXPECT_TRUE(registration.HasSynced());
  EXPECT_THAT(seen_->thrown, ElementsAre("ns/a: no handler"));
}

TEST_P(InformerTest, AppliesMoreEventsThanOneDrainTakes) {
  Received received;
  const Registration registration = Listen(received);
  Sync("1", {});
  std::string text;
  for (int i = 0; i < 10'100; ++i) text += ModifiedJson("a" + std::to_string(i % 7), std::to_string(i + 2));
  Send(text);
  EXPECT_EQ(received.size(), 10'100u);
  EXPECT_EQ(StoreVersion(), "10101");
}

TEST_P(InformerTest, AppliesTheRestOfADrainWithoutWaitingAgain) {
  ApplyAfter(5s);
  Sync("1", {});
  Advance(5s);
  std::string text;
  for (int i = 0; i < 10'100; ++i) text += ModifiedJson("a" + std::to_string(i % 7), std::to_string(i + 2));
  Send(text);
  EXPECT_EQ(StoreVersion(), "1");
  Advance(5s);
  EXPECT_EQ(StoreVersion(), "10101");  // else a storm of more than 2,000 events a second fills the memory
}

INSTANTIATE_TEST_SUITE_P(Seeds, InformerTest, ::testing::Range<std::uint64_t>(0, 16));

}  // namespace
}  // namespace kgen::cache
