// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// When an informer saves its cache, what it does if it cannot, and how it stops meanwhile.
#include <stdexcept>

#include "cache/wait_for_sync.h"
#include "tests/runtime/cache/warm_start_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WarmSavingTest : public WarmStartFixture {
 protected:
  std::string File() { return files_->Names().empty() ? "" : files_->Content(files_->Names().front()); }
  // The watch has expired, and the list after it is older than what was watched.
  void ReplaceHistory() {
    SendToWatch(kExpiredEvent);
    AnswerCluster();
    Answer(ListBody("3", {ObjectJson("b", "2")}));
    EXPECT_EQ(Store(), "b@2");
  }
  std::string StoreOfTheNextProcess() {
    NextProcess();
    Start();
    return Store();
  }

  static constexpr std::string_view kExpiredEvent =
      R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}})"
      "\n";
};

// An executor that has no thread for blocking work.
class FullExecutor final : public Executor {
 public:
  explicit FullExecutor(Shared<Executor> inner) : inner_(std::move(inner)) {}
  Shared<Strand> MakeStrand(std::string_view name) override { return inner_->MakeStrand(name); }
  void Post(const Shared<Strand>& strand, Task task) override { inner_->Post(strand, std::move(task)); }
  Shared<ReservedPost> ReservePost(const Shared<Strand>& strand) override { return inner_->ReservePost(strand); }
  void Blocking(std::string, Task) override { throw std::runtime_error("no thread is left"); }
  void BlockingOn(const Shared<Strand>& strand, Task work) override { inner_->BlockingOn(strand, std::move(work)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return inner_->MakeWaiter(what); }
  Shared<Clock> clock() noexcept override { return inner_->clock(); }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }

 private:
  const Shared<Executor> inner_;
};

TEST_P(WarmSavingTest, SavesOnlyWhatIsCurrent) {
  Start();
  AnswerCluster();
  Advance(2 * kEvery);
  EXPECT_EQ(File(), "");
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  Advance(kEvery);
  EXPECT_NE(File(), "");
}

TEST_P(WarmSavingTest, DoesNotSaveARestoredStateBeforeItIsCurrent) {
  SaveFirst("5", {ObjectJson("a", "1")});
  const std::string saved = File();
  NextProcess();
  Resume();
  SendToWatch(ModifiedJson("a", "6"));
  Advance(2 * kEvery);
  EXPECT_EQ(File(), saved);
  SendToWatch(BookmarkJson("7"));
  Advance(kEvery);
  EXPECT_GT(File().size(), saved.size());
  EXPECT_EQ(held_->saves(), 1) << "the changes belong behind the base";
}

TEST_P(WarmSavingTest, SavesOnlyWhatHasChanged) {
  SaveFirst("5", {ObjectJson("a", "1")});
  const std::uint64_t operations = files_->operations();
  Advance(3 * kEvery);
  EXPECT_EQ(files_->operations(), operations);
  Send(BookmarkJson("6"));  // so that a restart resumes from there
  Advance(kEvery);
  EXPECT_GT(files_->operations(), operations);
}

TEST_P(WarmSavingTest, SavesOneStateAtATime) {
  Start();
  AnswerCluster();
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  Open();
  held_->Hold();
  Advance(kEvery);
  EXPECT_TRUE(held_->waits());
  Send(ModifiedJson("a", "6"));
  EXPECT_EQ(Store(), "a@6") << "a slow disk delays no change";
  Advance(3 * kEvery);
  EXPECT_EQ(held_->saves(), 1);
  held_->LetGo();
  Advance(kEvery);
  NextProcess();
  Start();
  EXPECT_EQ(Store(), "a@6");
}

TEST_P(WarmSavingTest, TheFileLosesALostHistoryAtOnce) {
  SaveFirst("5", {ObjectJson("a", "1")});
  ReplaceHistory();
  EXPECT_EQ(StoreOfTheNextProcess(), "b@2");
}

TEST_P(WarmSavingTest, TheFileLosesALostHistoryWhenTheRunningSaveHasEnded) {
  Start();
  AnswerCluster();
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  Open();
  held_->Hold();
  Advance(kEvery);
  ASSERT_TRUE(held_->waits());
  ReplaceHistory();
  held_->LetGo();
  Run();
  EXPECT_EQ(StoreOfTheNextProcess(), "b@2");
}

TEST_P(WarmSavingTest, ListsIfTheReadingCannotBegin) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  connection_ = Connection::Over({.transport = MakeShared<FakeTransport>(),
                                  .executor = MakeShared<FullExecutor>(simulation_.executor()),
                                  .observer = seen_});
  Start();
  EXPECT_THAT(seen_->unused,
              ElementsAre(HasSubstr("failed to start reading it: the executor threw no thread is left")));
  AnswerCluster();
  Answer(ListBody("6", {ObjectJson("b", "6")}));
  EXPECT_EQ(Store(), "b@6");
  Advance(kEvery);
  EXPECT_THAT(seen_->unsaved, ElementsAre(HasSubstr("the executor threw no thread is left")));
  Advance(kEvery);
  EXPECT_THAT(seen_->unsaved, SizeIs(2)) << "it tries again";
}

TEST_P(WarmSavingTest, ReportsThatItCannotSaveAndTriesAgain) {
  files_->FillDisk(true);
  Start();
  AnswerCluster();
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  Advance(2 * kEvery);
  EXPECT_THAT(seen_->unsaved, SizeIs(2));
  EXPECT_THAT(seen_->unsaved.front(), HasSubstr("the simulated disk is full"));
  EXPECT_THAT(seen_->recovered, IsEmpty());
  EXPECT_TRUE(Core()->HasSynced());
  files_->FillDisk(false);
  Advance(2 * kEvery);
  EXPECT_THAT(seen_->unsaved, SizeIs(2));
  EXPECT_THAT(seen_->recovered, ElementsAre("saved cache samples"));
  NextProcess();
  Start();
  EXPECT_EQ(Store(), "a@1");
}

TEST_P(WarmSavingTest, AFileHasOneWriter) {
  SaveFirst("5", {ObjectJson("a", "1")});
  const auto other_source = MakeShared<FakeListWatch>(simulation_.executor());
  const OwnedInformer other = MakeShared<cache::Informer>(connection_, other_source, Sample::kTable, options_);
  other->Start({});
  Run();
  other_source->last().Answer(ListBody("6", {ObjectJson("b", "6")}));
  Advance(2 * kEvery);
  EXPECT_TRUE(other->HasSynced());
  EXPECT_THAT(seen_->unsaved, ::testing::Contains(HasSubstr("is locked")));
}

TEST_P(WarmSavingTest, JoinWaitsForTheRunningSaveAndGivesBackTheLock) {
  Start();
  AnswerCluster();
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  held_->Hold();
  Advance(kEvery);
  ASSERT_TRUE(held_->waits());
  Core()->Stop();
  Run();
  EXPECT_TRUE(Core()->IsStopped());
  const auto first = simulation_.Spawn([informer = Core()] { return informer->Join({}); });
  const auto second = simulation_.Spawn([informer = Core()] { return informer->Join({}); });
  Run();
  EXPECT_FALSE(first.done());
  EXPECT_FALSE(second.done());
  held_->LetGo();
  Run();
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(second.done());
  EXPECT_TRUE(files_->Lock(Binding().FileName()));
}

TEST_P(WarmSavingTest, AStopEndsTheReading) {
  std::vector<std::string> items;
  for (int i = 0; i < 120; ++i) {
    items.push_back(
        ObjectJson("o" + std::to_string(i), "1", R"("spec":{"nodeName":")" + std::string(9000, 'n') + "\"}"));
  }
  SaveFirst("5", items);
  NextProcess();
  Received received;
  const Registration registration = Listen(received);
  Core()->Start({});
  for (std::uint32_t steps = simulation_.Choose(40); steps > 0; --steps) (void)Core()->status();
  Core()->Stop();
  Run();
  const auto joined = simulation_.Spawn([informer = Core()] { return informer->Join({}); });
  Run();
  EXPECT_TRUE(joined.done());
  EXPECT_THAT(received, IsEmpty());
  EXPECT_EQ(simulation_.census().blocking, 0u);
}

TEST_P(WarmSavingTest, AStopDuringTheReadingAppliesNothing) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  held_->Hold();
  Start();
  Core()->Stop();
  Run();
  const auto joined = simulation_.Spawn([informer = Core()] { return informer->Join({}); });
  Run();
  EXPECT_FALSE(joined.done()) << "the file is still open";
  held_->LetGo();
  Run();
  EXPECT_TRUE(joined.done());
  EXPECT_EQ(Store(), "");
  EXPECT_EQ(source_->size(), 0u);
}

TEST_P(WarmSavingTest, ReadsALargeFileInPartsThatDelayNothing) {
  std::vector<std::string> items;
  for (int i = 0; i < 120; ++i) {
    items.push_back(
        ObjectJson("o" + std::to_string(i), "1", R"("spec":{"nodeName":")" + std::string(9000, 'n') + "\"}"));
  }
  SaveFirst("5", items);
  NextProcess();
  Start();
  EXPECT_EQ(Core()->store()->Snapshot().size(), 120u);
}

// ------------------------------------------------------------------------------------------------ waiting for sync

TEST_P(WarmSavingTest, AWaitForTheSyncMayAcceptTheSavedState) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  const auto wait = [&](SyncOptions options) {
    options.give_up_after = 5s;
    return WaitForSync(*simulation_.executor(), {}, {Core()}, options);
  };
  Core()->Start({});
  EXPECT_TRUE(wait({.stale = true}));
  EXPECT_EQ(Store(), "a@1");
  EXPECT_FALSE(Core()->HasSynced());
  const Result<void> current = wait({});
  ASSERT_FALSE(current);
  EXPECT_THAT(current.error().ToString(), HasSubstr("it holds a saved cache, and waits for a bookmark or a list"));
}

TEST_P(WarmSavingTest, AWaitThatAcceptsTheSavedStateWaitsUntilHandlersHaveHandledIt) {
  SaveFirst("5", {ObjectJson("a", "1")});
  NextProcess();
  const Shared<Waiter> gate = simulation_.executor()->MakeWaiter("gate");
  const Registration registration =
      Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) { (void)gate->Wait(); }});
  Start();
  const auto wait = simulation_.Spawn(
      [&] { return WaitForSync(*simulation_.executor(), {}, {Core()}, {.handlers = {&registration}, .stale = true}); });
  const auto current = simulation_.Spawn(
      [&] { return WaitForSync(*simulation_.executor(), {}, {Core()}, {.handlers = {&registration}}); });
  Run();
  EXPECT_FALSE(wait.done());
  gate->Notify();
  Run();
  EXPECT_TRUE(wait.done() && wait.result());
  EXPECT_FALSE(current.done());
  AnswerCluster();
  Open();
  Answer(ListBody("7", {}));
  SendToWatch(BookmarkJson("7"));
  EXPECT_TRUE(current.done() && current.result());
}

TEST_P(WarmSavingTest, AWaitThatAcceptsASavedStateWaitsForTheListIfThereIsNone) {
  Core()->Start({});
  const auto wait =
      simulation_.Spawn([&] { return WaitForSync(*simulation_.executor(), {}, {Core()}, {.stale = true}); });
  Run();
  EXPECT_FALSE(wait.done());
  AnswerCluster();
  Answer(ListBody("5", {ObjectJson("a", "1")}));
  EXPECT_TRUE(wait.done() && wait.result());
}

INSTANTIATE_TEST_SUITE_P(Seeds, WarmSavingTest, ::testing::Range<std::uint64_t>(0, 8));

}  // namespace
}  // namespace kgen::cache
