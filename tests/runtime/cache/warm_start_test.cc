// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An informer that starts from the cache that an earlier process has saved: what it serves, what it asks the server,
// and when it is current.
#include "kgen/codec/decode.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/cache/warm_start_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WarmStartTest : public WarmStartFixture {
 protected:
  std::string NodeOf(std::string_view name) {
    const Ref<const Sample> object = Core()->store()->Look("ns", name).As<Sample>();
    return object->spec->nodeName.str();
  }
};

// ----------------------------------------------------------------------------------------- what it serves at once

TEST_P(WarmStartTest, ServesTheSavedStateBeforeTheServerAnswersAndMarksItAsStale) {
  SaveFirst("5", {ObjectJson("a", "1", R"("spec":{"nodeName":"n1"})"), ObjectJson("b", "2")});
  NextProcess();
  Received received;
  const Registration registration = Listen(received);
  Start();
  EXPECT_EQ(Store(), "a@1 b@2");
  EXPECT_EQ(StoreVersion(), "5");
  EXPECT_EQ(NodeOf("a"), "n1");
  EXPECT_THAT(received, ::testing::UnorderedElementsAre("added a@1 saved", "added b@2 saved"));
  EXPECT_THAT(Requests(), ElementsAre("cluster"));
  EXPECT_TRUE(Status().stale);
  EXPECT_FALSE(Status().synced);
  EXPECT_FALSE(Core()->HasSynced());
  EXPECT_FALSE(registration.HasSynced());
  EXPECT_FALSE(Status().current_as_of);
}

TEST_P(WarmStartTest, SaysThatItReadsTheSavedCache) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  held_->Hold();
  Start();
  EXPECT_EQ(Status().state, InformerState::kRestoring);
  EXPECT_FALSE(Status().stale);
  EXPECT_EQ(ToString(Status().state), "reading the saved cache");
  held_->LetGo();
  Run();
  EXPECT_EQ(Status().state, InformerState::kListing);
}

TEST_P(WarmStartTest, RestoresChangesAndDeletionsThatWereAddedToTheFile) {
  SaveFirst("5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3")});
  Send(ModifiedJson("a", "6") + DeletedJson("b", "7") + AddedJson("d", "8"));
  Advance(kEvery);
  Send(DeletedJson("c", "9") + AddedJson("b", "10"));
  Advance(kEvery);
  options_.objects_per_task = 1;
  NextProcess();
  Start();
  EXPECT_EQ(Store(), "a@6 b@10 d@8");
  EXPECT_EQ(StoreVersion(), "10");
}

TEST_P(WarmStartTest, StartsAsAlwaysWithoutAFile) {
  Received received;
  const Registration registration = Listen(received);
  Start();
  AnswerCluster();
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at 0", "watch at 5"));
  EXPECT_THAT(received, ElementsAre("added a@1 initial"));
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_FALSE(Status().stale);
  EXPECT_THAT(seen_->unused, IsEmpty());
}

TEST_P(WarmStartTest, DoesNotTransformSavedObjectsAgain) {
  int calls = 0;
  options_.transform = [&](AnyRef object) -> Result<AnyRef> {
    ++calls;
    Sample changed = *object.As<Sample>();
    changed.spec.emplace().nodeName = "short";
    return AnyRef(MakeRef(std::move(changed)));
  };
  SaveFirst("5", {ObjectJson("a", "1", R"("spec":{"nodeName":"long"})")});
  EXPECT_EQ(calls, 1);
  NextProcess();
  Start();
  EXPECT_EQ(NodeOf("a"), "short");
  EXPECT_EQ(calls, 1);
}

// -------------------------------------------------------------------------------------- resuming and being current

TEST_P(WarmStartTest, ListsAnewInPlaceOfResumingTheWatch) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Start();
  const std::uint64_t number = Core()->ListAnew();
  Run();
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at "));
  EXPECT_LT(Core()->held(), number);
  Answer(ListBody("9", {ObjectJson("a", "8")}));
  EXPECT_EQ(Core()->held(), number);
  EXPECT_EQ(Store(), "a@8");
  EXPECT_FALSE(Status().stale);
}

TEST_P(WarmStartTest, ResumesTheWatchWhereTheSavedStateEndsAndListsNothing) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Start();
  AnswerCluster();
  Open();
  EXPECT_EQ(source_->last().options.limit, 1);  // the check of the history
  EXPECT_THAT(Requests(), ElementsAre("cluster", "watch at 5", "list at "));
  EXPECT_EQ(Status().lists, 0u);
}

TEST_P(WarmStartTest, IsCurrentWithTheFirstBookmark) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Received received;
  const Registration registration = Listen(received);
  Resume();
  SendToWatch(ModifiedJson("a", "6"));
  EXPECT_FALSE(Core()->HasSynced());
  EXPECT_TRUE(Status().stale);
  EXPECT_FALSE(Status().current_as_of);
  SendToWatch(BookmarkJson("7"));
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_FALSE(Status().stale);
  EXPECT_TRUE(Status().current_as_of);
  EXPECT_EQ(StoreVersion(), "7");
  EXPECT_TRUE(registration.HasSynced());
  EXPECT_THAT(received, ElementsAre("added a@1 saved", "updated a@1>6 watch"));
}

TEST_P(WarmStartTest, WhoWaitsForAVersionWaitsForACurrentState) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Resume();
  const auto wait = simulation_.Spawn([informer = Core()] { return informer->WaitUntil("4", {}, 1min); });
  Run();
  EXPECT_FALSE(wait.done());
  SendToWatch(BookmarkJson("7"));
  EXPECT_TRUE(wait.done() && wait.result());
}

TEST_P(WarmStartTest, DoesNotBelieveABookmarkBeforeTheHistoryWasChecked) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Start();
  AnswerCluster();
  Open();
  SendToWatch(BookmarkJson("7"));
  EXPECT_FALSE(Core()->HasSynced());
  SendToWatch(ModifiedJson("a", "8"));
  Answer(ListBody("9", {}));
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_EQ(Store(), "a@8");
  EXPECT_EQ(StoreVersion(), "8");
}

TEST_P(WarmStartTest, DoesNotBelieveABookmarkThatIsOlderThanTheSavedState) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Resume();
  SendToWatch(BookmarkJson("4"));
  EXPECT_FALSE(Core()->HasSynced());
}

TEST_P(WarmStartTest, ListsWithoutAVersionIfTheHistoryWasReplaced) {
  SaveFirst("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  NextProcess();
  Received received;
  const Registration registration = Listen(received);
  Start();
  AnswerCluster();
  Open();
  SendToWatch(BookmarkJson("5"));
  Answer(ListBody("3", {}));  // the server is behind the file
  EXPECT_FALSE(Core()->HasSynced());
  AnswerCluster();
  EXPECT_EQ(Requests().back(), "list at ");
  received.clear();
  Answer(ListBody("3", {ObjectJson("a", "1", R"("spec":{"nodeName":"n2"})")}));
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_THAT(received, ElementsAre("deleted b@2 relist unknown", "updated a@1>1 relist"));
}

TEST_P(WarmStartTest, ListsIfTheHistoryCannotBeChecked) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Start();
  AnswerCluster();
  Open();
  SendToWatch(BookmarkJson("7"));
  for (int i = 0; i < 5; ++i) {
    Refuse(StatusError(Code::kInternal, 500, "InternalError"));
    Advance(30s);
  }
  AnswerCluster();
  EXPECT_EQ(Requests().back(), "list at 7");
  Answer(ListBody("8", {ObjectJson("a", "1")}));
  EXPECT_TRUE(Core()->HasSynced());
}

TEST_P(WarmStartTest, ListsIfNoBookmarkComes) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Resume();
  SendToWatch(ModifiedJson("a", "6"));
  Advance(170s);
  EXPECT_EQ(Requests().back(), "list at ");  // the check of the history
  Advance(10s);
  EXPECT_THAT(seen_->failed, ElementsAre(HasSubstr("has brought no bookmark for 3 minutes")));
  AnswerCluster();
  EXPECT_EQ(Requests().back(), "list at 6");
  Answer(ListBody("6", {ObjectJson("a", "6")}));
  EXPECT_TRUE(Core()->HasSynced());
}

TEST_P(WarmStartTest, WaitsForTheBookmarkNoLongerBecauseTheWatchIsReopened) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Resume();
  for (int i = 0; i < 2; ++i) {
    Advance(100s);
    source_->last_watch().End();
    Run();
    if (!source_->last().cluster) Open();
  }
  AnswerCluster();
  EXPECT_EQ(Requests().back(), "list at 5");
}

TEST_P(WarmStartTest, RelistsByDifferenceAfterA410) {
  SaveFirst("5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3")});
  NextProcess();
  Received received;
  const Registration registration = Listen(received);
  Start();
  AnswerCluster();
  received.clear();
  Refuse(ExpiredError());
  AnswerCluster();
  EXPECT_EQ(Requests().back(), "list at 5");
  EXPECT_FALSE(Core()->HasSynced());
  Answer(ListBody("9", {ObjectJson("a", "1"), ObjectJson("c", "8"), ObjectJson("d", "9")}));
  EXPECT_THAT(received, ElementsAre("deleted b@2 relist unknown", "updated a@1>1 resync", "updated c@3>8 relist",
                                    "added d@9 relist"));
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_FALSE(Status().stale);
  EXPECT_EQ(Requests().back(), "watch at 9");
}

// ------------------------------------------------------------------------------------------------- which cluster

TEST_P(WarmStartTest, ListsWithoutAVersionInAnotherCluster) {
  SaveFirst("5", {ObjectJson("a", "1", "", "uid-1"), ObjectJson("b", "2"), ObjectJson("c", "3")});
  NextProcess();
  Received received;
  const Registration registration = Listen(received);
  Start();
  received.clear();
  AnswerCluster("cluster-2");
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at "));
  Answer(ListBody("4", {ObjectJson("a", "1", "", "uid-2"), ObjectJson("c", "3", R"("spec":{"nodeName":"n"})")}));
  EXPECT_THAT(received, ElementsAre("deleted b@2 relist unknown", "deleted a@1 relist unknown", "added a@1 relist",
                                    "updated c@3>3 relist"));
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_EQ(StoreVersion(), "4");
}

TEST_P(WarmStartTest, ListsWithoutAVersionIfItMayNotAskForTheCluster) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Start();
  Refuse(StatusError(Code::kForbidden, 403, "Forbidden"));
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at "));
  EXPECT_THAT(seen_->failed, IsEmpty());
  Answer(ListBody("6", {ObjectJson("a", "1")}));
  EXPECT_TRUE(Core()->HasSynced());
}

TEST_P(WarmStartTest, ListsWithoutAVersionIfTheFileNamesNoCluster) {
  source_->knows_cluster = false;
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  Open();
  Advance(kEvery);
  NextProcess();
  Start();
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at "));
}

TEST_P(WarmStartTest, AsksAgainIfTheServerIsBusyAndGivesUpAfterAWhile) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Start();
  Refuse(TooManyRequestsError());
  EXPECT_EQ(Status().state, InformerState::kBackingOff);
  EXPECT_EQ(Store(), "a@1");
  WaitOut();
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "cluster", "watch at 5"));
  NextProcess();
  Start();
  for (int i = 0; i < 4; ++i) {
    Refuse(StatusError(Code::kUnavailable, 503, "ServiceUnavailable"));
    WaitOut();
  }
  EXPECT_THAT(Requests(), ElementsAre("cluster", "cluster", "cluster", "cluster", "list at "));
  EXPECT_THAT(seen_->failed.back(), HasSubstr("failed to ask which cluster this is"));
}

TEST_P(WarmStartTest, AsksAgainAfterAMinuteWithoutAnAnswer) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Start();
  Advance(90s);
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "cluster", "watch at 5"));
}

TEST_P(WarmStartTest, ServesTheSavedStateWithoutAConnectionAndGoesOnWhenThereIsOne) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Start();
  Refuse(RefusedError());
  EXPECT_EQ(Status().state, InformerState::kDisconnected);
  EXPECT_EQ(Store(), "a@1");
  EXPECT_TRUE(Status().stale);
  Advance(5s);
  EXPECT_TRUE(source_->last().cluster);
  AnswerCluster();
  EXPECT_EQ(Requests().back(), "watch at 5");
}

TEST_P(WarmStartTest, AsksWhichClusterItIsBeforeEachList) {
  SaveFirst("5", {ObjectJson("a", "1")});
  Advance(10s);
  Send(EventJson("ERROR", StatusJson(410, "Expired")));
  AnswerCluster("cluster-2");
  EXPECT_EQ(Requests().back(), "list at ");  // versions of another cluster are no bounds
  Answer(ListBody("7", {ObjectJson("a", "1")}));
  Open();
  Advance(kEvery);
  NextProcess();
  Start();
  AnswerCluster("cluster-2");
  EXPECT_EQ(Requests().back(), "watch at 7");
}

// --------------------------------------------------------------------------------------------- files not to resume

TEST_P(WarmStartTest, ListsIfTheServerHadObjectsThatCouldNotBeDecoded) {
  SaveFirst("5", {ObjectJson("a", "1"), ObjectJson("b", "2", R"("spec":{"nodeName":"\ud8"})")});
  NextProcess();
  Start();
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at 5"));
}

TEST_P(WarmStartTest, ListsIfTheFileIsOld) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Advance(11min);
  Start();
  EXPECT_EQ(Store(), "a@1");
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at 5"));
}

TEST_P(WarmStartTest, ListsTheNewestStateIfTheProcessMayKnowMoreThanTheFile) {
  SaveFirst("5", {ObjectJson("a", "1")});
  options_.first_list_newest = true;
  NextProcess();
  Start();
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at "));
}

TEST_P(WarmStartTest, ReportsADamagedFileOnceAndLists) {
  SaveFirst("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  const std::string name = files_->Names().front();
  std::string content = files_->Content(name);
  content[content.size() / 2] ^= 1;
  files_->SetContent(name, content);
  NextProcess();
  Received received;
  const Registration registration = Listen(received);
  Start();
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at 0"));
  EXPECT_THAT(seen_->unused, ElementsAre(HasSubstr("is damaged")));
  EXPECT_EQ(Store(), "");
  Answer(ListBody("6", {ObjectJson("a", "1")}));
  EXPECT_THAT(received, ElementsAre("added a@1 initial"));
  Open();
  Advance(kEvery);
  NextProcess();
  Start();
  EXPECT_EQ(Store(), "a@1");  // it was written anew
  EXPECT_THAT(seen_->unused, SizeIs(1));
}

TEST_P(WarmStartTest, RefusesAFileOfAnotherBinding) {
  SaveFirst("5", {ObjectJson("a", "1")});
  options_.saved->binding.transform = "short names";
  options_.saved->binding.authorities = "other";
  NextProcess();
  Start();
  EXPECT_EQ(Store(), "");
  AnswerCluster();
  EXPECT_THAT(Requests(), ElementsAre("cluster", "list at 0"));
  EXPECT_THAT(seen_->unused, SizeIs(1));
}

TEST_P(WarmStartTest, RefusesAFileWithAnObjectThatCannotBeDecoded) {
  const auto store = MakeShared<cache::Store>();
  const auto put = [&](std::string_view name, const std::string& json) {
    store->Apply({.changes = {{{"ns", name}, MakeRef(Must(Decode<Unstructured>(json)))}}, .version = "5"});
  };
  put("a", ObjectJson("a", "1"));
  put("b", R"({"apiVersion":"v1","kind":"Other","metadata":{"namespace":"ns","name":"b"}})");
  (void)Must(SavedWriter(files_, Binding()).Save(store->Snapshot(), "cluster-1", true, 0));
  Received received;
  const Registration registration = Listen(received);
  Start();
  EXPECT_EQ(Store(), "");
  EXPECT_THAT(seen_->unused, ElementsAre(AllOf(HasSubstr("is not used: object ns/b"), HasSubstr("found string"))));
  AnswerCluster();
  Answer(ListBody("6", {ObjectJson("a", "1")}));
  EXPECT_THAT(received, ElementsAre("added a@1 initial"));
}

// ------------------------------------------------------------------------------------------------------- handlers

TEST_P(WarmStartTest, HandlersGetTheSavedStateWheneverTheyAreAdded) {
  SaveFirst("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  NextProcess();
  Received before, during, stale, current;
  const Registration first = Listen(before);
  held_->Hold();
  Start();
  const Registration second = Listen(during);
  Run();
  held_->LetGo();
  Run();
  const Registration third = Listen(stale);
  Run();
  for (const Received* each : {&before, &during, &stale}) {
    EXPECT_THAT(*each, ::testing::UnorderedElementsAre("added a@1 saved", "added b@2 saved"));
  }
  AnswerCluster();
  Open();
  Answer(ListBody("7", {}));
  SendToWatch(BookmarkJson("7"));
  const Registration last = Listen(current);
  Run();
  EXPECT_THAT(current, ::testing::UnorderedElementsAre("added a@1 initial", "added b@2 initial"));
  for (const Registration* each : {&first, &second, &third, &last}) EXPECT_TRUE(each->HasSynced());
}

TEST_P(WarmStartTest, ARegistrationHasSyncedWhenItHasHandledWhatCameBeforeTheBookmark) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  const Shared<Waiter> gate = simulation_.executor()->MakeWaiter("gate");
  Received received;
  const Registration registration = Informer().AddEventHandler({.on_update = [&](const Updated<Sample>& e) {
    (void)gate->Wait();
    received.push_back("updated " + Text(e.now));
  }});
  Resume();
  SendToWatch(ModifiedJson("a", "6") + BookmarkJson("7"));
  EXPECT_TRUE(Core()->HasSynced());
  EXPECT_FALSE(registration.HasSynced());
  gate->Notify();
  Run();
  EXPECT_THAT(received, ElementsAre("updated a@6"));
  EXPECT_TRUE(registration.HasSynced());
}

TEST_P(WarmStartTest, MakesShortCallsForTheSavedState) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  Received received;
  const Registration registration = Listen(received, {.short_calls = true});
  Resume();
  EXPECT_THAT(received, ElementsAre("added a@1 saved"));
  EXPECT_FALSE(registration.HasSynced());
  SendToWatch(BookmarkJson("7"));
  EXPECT_TRUE(registration.HasSynced());
}

INSTANTIATE_TEST_SUITE_P(Seeds, WarmStartTest, ::testing::Range<std::uint64_t>(0, 8));

}  // namespace
}  // namespace kgen::cache
