// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An informer processes all of its objects in tasks of bounded length, and intermediate states are invisible.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Received = std::vector<std::string>;

constexpr std::size_t kPerTask = 16;
constexpr int kObjects = 300;

// Calls out after each task that the informer has posted.
class WatchedExecutor final : public Executor {
 public:
  explicit WatchedExecutor(Shared<Executor> inner) : inner_(std::move(inner)) {}
  std::function<void()> before_task, after_task;

  Shared<Strand> MakeStrand(std::string_view name) override { return inner_->MakeStrand(name); }
  void Post(const Shared<Strand>& strand, Task task) override {
    if (!strand->name().starts_with("informer ")) return inner_->Post(strand, std::move(task));
    inner_->Post(strand, [this, task = std::move(task)]() mutable {
      if (before_task) before_task();
      task();
      task = nullptr;
      if (after_task) after_task();
    });
  }
  void Blocking(std::string name, Task body) override { inner_->Blocking(std::move(name), std::move(body)); }
  void BlockingOn(const Shared<Strand>& strand, Task body) override { inner_->BlockingOn(strand, std::move(body)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return inner_->MakeWaiter(what); }
  Shared<Clock> clock() noexcept override { return inner_->clock(); }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }

 private:
  const Shared<Executor> inner_;
};

class InformerStepsTest : public InformerFixture {
 protected:
  InformerStepsTest() {
    options_.objects_per_task = kPerTask;
    const Connection connection =
        Connection::Over({.transport = MakeShared<FakeTransport>(), .executor = executor_, .observer = seen_});
    core_ = MakeShared<cache::Informer>(connection, source_, Sample::kTable, options_);
  }
  ~InformerStepsTest() override { executor_->before_task = executor_->after_task = nullptr; }

  // Objects o0, o1, ... with `version`.
  static std::vector<std::string> Objects(int from, int to, const std::string& version) {
    std::vector<std::string> items;
    for (int i = from; i < to; ++i) items.push_back(ObjectJson("o" + std::to_string(i), version));
    return items;
  }
  std::size_t Size() { return Core()->store()->Snapshot().size(); }

  // The largest numbers of one task.
  struct Largest {
    std::int64_t freed = 0, indexed = 0, told = 0, tasks = 0;
  };
  void Measure(const Registration& registration) {
    Must(Informer().AddIndex("counted", [this](const Sample&, IndexSink&) { ++indexed_; }));
    executor_->before_task = [&] {
      blocks_before_ = LiveBlocks();
      indexed_ = 0;
      told_before_ = registration.Backlog();
    };
    executor_->after_task = [&] {
      ++largest_.tasks;
      largest_.freed = std::max(largest_.freed, blocks_before_ - LiveBlocks());
      largest_.indexed = std::max(largest_.indexed, indexed_);
      largest_.told = std::max(largest_.told, static_cast<std::int64_t>(registration.Backlog() - told_before_));
    };
  }

  Shared<WatchedExecutor> executor_ = MakeShared<WatchedExecutor>(simulation_.executor());
  Largest largest_;
  std::int64_t blocks_before_ = 0, indexed_ = 0;
  std::size_t told_before_ = 0;
};

TEST_P(InformerStepsTest, AppliesAndDeliversAListInTasksOfBoundedLength) {
  Received received;
  const Registration registration = Listen(received);
  Measure(registration);
  Sync("5", Objects(0, kObjects, "1"));
  EXPECT_EQ(Size(), static_cast<std::size_t>(kObjects));
  EXPECT_EQ(received.size(), static_cast<std::size_t>(kObjects));
  Relist("9", Objects(kObjects / 2, kObjects, "8"));  // half of them are deleted, the others have changed
  EXPECT_EQ(received.size(), static_cast<std::size_t>(2 * kObjects));
  Relist("12", {});
  EXPECT_EQ(Size(), 0u);
  EXPECT_GT(largest_.tasks, 5 * kObjects / static_cast<std::int64_t>(kPerTask));
  EXPECT_GT(largest_.indexed, 0);
  EXPECT_LE(largest_.indexed, static_cast<std::int64_t>(kPerTask));
  EXPECT_GT(largest_.told, 0);
  EXPECT_LE(largest_.told, static_cast<std::int64_t>(kPerTask));
  EXPECT_LE(largest_.freed, 4 * static_cast<std::int64_t>(kPerTask));
}

// Objects in the order of their keys, of which one in ten is new.
std::vector<std::string> InOrder(int count, const std::string& version) {
  std::vector<std::string> items;
  for (int i = 0; i < count; ++i) {
    items.push_back(ObjectJson("o" + std::to_string(1'000 + i), i % 10 == 0 ? version : "1"));
  }
  return items;
}

TEST_P(InformerStepsTest, AppliesADifferenceInTasksOfBoundedLength) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", InOrder(kObjects, "1"));
  received.clear();
  Measure(registration);
  std::set<std::string> versions;
  const auto measure = std::exchange(executor_->after_task, nullptr);
  std::int64_t indexed = 0;
  executor_->after_task = [&] {
    measure();
    indexed += indexed_;
    versions.emplace(Core()->store()->Snapshot().Get({"ns", "o1290"}).metadata()->resourceVersion);
  };
  Relist("9", InOrder(kObjects, "8"));
  EXPECT_EQ(received.size(), static_cast<std::size_t>(kObjects));
  EXPECT_THAT(versions, ElementsAre("1", "8"));
  EXPECT_EQ(indexed, 2 * kObjects / 10);  // the old and the new state of each that has changed
  EXPECT_GT(largest_.indexed, 0);
  EXPECT_LE(largest_.indexed, static_cast<std::int64_t>(kPerTask));
  EXPECT_LE(largest_.told, static_cast<std::int64_t>(kPerTask));
  EXPECT_LE(largest_.freed, 4 * static_cast<std::int64_t>(kPerTask));
}

TEST_P(InformerStepsTest, AppliesAListAlthoughAnIndexIsAddedMeanwhile) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", InOrder(kObjects, "1"));
  received.clear();
  int tasks = 0;
  executor_->after_task = [&] {
    if (++tasks != 5 + 10 * static_cast<int>(GetParam())) return;
    Must(Informer().AddIndex("late", [](const Sample& s, IndexSink& sink) { sink.Add(s.metadata.resourceVersion); }));
  };
  Relist("9", InOrder(kObjects, "8"));
  const AnySnapshot view = Core()->store()->Snapshot();
  EXPECT_EQ(view.ByIndex("late", "8").size(), static_cast<std::size_t>(kObjects / 10));
  EXPECT_EQ(view.ByIndex("late", "1").size(), static_cast<std::size_t>(kObjects - kObjects / 10));
  EXPECT_EQ(view.version(), "9");
  EXPECT_EQ(received.size(), static_cast<std::size_t>(kObjects));
}

TEST_P(InformerStepsTest, ReplaysToALateHandlerAndResyncsInTasksOfBoundedLength) {
  Sync("5", Objects(0, kObjects, "1"));
  Received received;
  const Registration registration = Listen(received, {.resync = 10s});
  Measure(registration);
  Run();
  EXPECT_EQ(received.size(), static_cast<std::size_t>(kObjects));
  EXPECT_TRUE(registration.HasSynced());
  EXPECT_GT(largest_.told, 0);
  EXPECT_LE(largest_.told, static_cast<std::int64_t>(kPerTask));
}

TEST_P(InformerStepsTest, DeliversAResyncInTasksOfBoundedLength) {
  options_.resync = 30s;
  core_ = MakeShared<cache::Informer>(
      Connection::Over({.transport = MakeShared<FakeTransport>(), .executor = executor_, .observer = seen_}), source_,
      Sample::kTable, options_);
  Received received;
  const Registration registration = Listen(received);
  Sync("5", Objects(0, kObjects, "1"));
  received.clear();
  Measure(registration);
  Advance(30s);
  EXPECT_EQ(received.size(), static_cast<std::size_t>(kObjects));
  EXPECT_GT(largest_.told, 0);
  EXPECT_LE(largest_.told, static_cast<std::int64_t>(kPerTask));
}

TEST_P(InformerStepsTest, FreesAllObjectsInTasksOfBoundedLengthWhenTheInformerIsDestroyed) {
  Received received;
  const Registration registration = Listen(received);
  std::vector<std::string> objects;  // with text that is shared, so that there is something to free besides them
  for (int i = 0; i < kObjects; ++i) {
    const std::string text = R"("spec":{"nodeName":"node )" + std::to_string(i) + R"( with a name of its own"})";
    objects.push_back(ObjectJson("o" + std::to_string(i), "1", text));
  }
  Sync("5", objects);
  std::int64_t before = 0, most = 0;
  executor_->before_task = [&] { before = LiveBlocks(); };
  executor_->after_task = [&] { most = std::max(most, before - LiveBlocks()); };
  const std::int64_t full = LiveBlocks();
  core_ = {};
  Run();
  EXPECT_GE(full - LiveBlocks(), kObjects);
  EXPECT_LE(most, 4 * static_cast<std::int64_t>(kPerTask));
}

TEST_P(InformerStepsTest, ShowsAListAtOnceAndIsSyncedOnlyThen) {
  std::set<std::size_t> sizes;
  executor_->after_task = [&] {
    sizes.insert(Size());
    EXPECT_TRUE(!Core()->HasSynced() || Size() == static_cast<std::size_t>(kObjects));
  };
  Sync("5", Objects(0, kObjects, "1"));
  EXPECT_THAT(sizes, ElementsAre(0u, static_cast<std::size_t>(kObjects)));
  sizes.clear();
  executor_->after_task = [&] { sizes.insert(Size()); };
  Relist("9", Objects(0, 10, "8"));
  EXPECT_THAT(sizes, ElementsAre(10u, static_cast<std::size_t>(kObjects)));
}

// Whenever it is added, it receives one consistent state as initial and every later change once.
TEST_P(InformerStepsTest, DeliversOneStateAndLaterChangesToAHandlerAddedDuringAList) {
  Received first_received;
  const Registration first = Listen(first_received);
  Sync("5", Objects(0, kObjects, "1"));
  std::map<std::string, std::string> view;
  std::size_t initial = 0;
  std::optional<Registration> late;
  int tasks = 0;
  const int when = static_cast<int>(GetParam()) * 9;
  executor_->after_task = [&] {
    if (++tasks != when + 1) return;
    late = Informer().AddEventHandler(
        {.on_add =
             [&](const Added<Sample>& e) {
               EXPECT_TRUE(view.emplace(e.key.name.str(), e.now->metadata.resourceVersion.str()).second);
               if (e.reason == Reason::kInitial) ++initial;
             },
         .on_update =
             [&](const Updated<Sample>& e) {
               EXPECT_EQ(view[e.key.name.str()], e.before->metadata.resourceVersion.str());
               view[e.key.name.str()] = e.now->metadata.resourceVersion.str();
             },
         .on_delete = [&](const Deleted<Sample>& e) { EXPECT_EQ(view.erase(e.key.name.str()), 1u); }});
    source_->last().Send(ModifiedJson("o7", "20") + DeletedJson("o8", "21") + AddedJson("new", "22"));
  };
  Relist("9", Objects(0, kObjects / 2, "8"));
  Send(ModifiedJson("o7", "30") + DeletedJson("o9", "31"));
  ASSERT_TRUE(late.has_value());
  EXPECT_TRUE(late->HasSynced());
  EXPECT_TRUE(initial == static_cast<std::size_t>(kObjects) || initial == static_cast<std::size_t>(kObjects / 2) ||
              initial == static_cast<std::size_t>(kObjects / 2))
      << initial;
  std::map<std::string, std::string> stored;
  for (const AnyRef& object : Core()->store()->Snapshot().List()) {
    stored.emplace(object.metadata()->name.str(), object.metadata()->resourceVersion.str());
  }
  EXPECT_EQ(view, stored);
}

TEST_P(InformerStepsTest, AppliesWatchEventsThatArriveDuringAListAfterIt) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", Objects(0, kObjects, "1"));
  received.clear();
  int tasks = 0;
  executor_->after_task = [&] {
    if (++tasks == 3) source_->last().Send(ModifiedJson("o0", "20") + AddedJson("new", "21"));
  };
  Send(EventJson("ERROR", StatusJson(410, "Expired")));
  WaitOut();
  tasks = 0;
  source_->last().Answer(ListBody("9", Objects(0, kObjects, "8")), 4096);
  Run();
  ASSERT_EQ(received.size(), static_cast<std::size_t>(kObjects + 2));
  EXPECT_EQ(received[received.size() - 2], "updated o0@8>20 watch");
  EXPECT_EQ(received.back(), "added new@21 watch");
  EXPECT_EQ(StoreVersion(), "21");
}

TEST_P(InformerStepsTest, DropsAnUnfinishedListWhenItIsStoppedAndKeepsTheOldState) {
  const std::int64_t blocks = LiveBlocks();
  {
    Received received;
    const Registration registration = Listen(received);
    Sync("5", Objects(0, kObjects, "1"));
    received.clear();
    int tasks = 0;
    const int when = 2 + static_cast<int>(GetParam());  // while it is being built
    executor_->after_task = [&] {
      if (++tasks == when) Core()->Stop();
    };
    Send(EventJson("ERROR", StatusJson(410, "Expired")));
    WaitOut();
    tasks = 0;
    source_->last().Answer(ListBody("9", Objects(0, kObjects / 2, "8")), 4096);
    Run();
    EXPECT_TRUE(Core()->IsStopped());
    EXPECT_EQ(Size(), static_cast<std::size_t>(kObjects));
    EXPECT_EQ(StoreVersion(), "5");
    EXPECT_THAT(received, IsEmpty());
    EXPECT_TRUE(simulation_.RunUntilIdle());
    executor_->after_task = nullptr;
    core_ = {};
  }
  Run();
  EXPECT_LE(LiveBlocks() - blocks, 16);  // what the fakes keep of their requests
}

TEST_P(InformerStepsTest, StopsCallingALateHandlerWhenItIsStoppedDuringTheReplay) {
  Sync("5", Objects(0, kObjects, "1"));
  int calls = 0;
  int late = 0;
  const Registration registration = Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) {
    ++calls;
    late += Core()->IsStopped() ? 1 : 0;
  }});
  executor_->after_task = [&] {
    if (registration.Backlog() > 0) Core()->Stop();
  };
  Run();
  executor_->after_task = nullptr;
  EXPECT_TRUE(Core()->IsStopped());
  EXPECT_LT(calls, kObjects);
  EXPECT_EQ(late, 0);
  EXPECT_EQ(registration.Backlog(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, InformerStepsTest, ::testing::Range<std::uint64_t>(0, 8));

}  // namespace
}  // namespace kgen::cache
