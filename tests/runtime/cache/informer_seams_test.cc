// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What other threads can observe during a task of the strand. The simulation runs each task as a whole, so these tests
// observe from the calls that the strand itself makes: index functions, which run while the next version of the store
// is built, and the executor.
#include "cache/delivery/listener.h"
#include "kgen/cache/factory.h"
#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using Received = std::vector<std::string>;

// Calls a function at every post, before Post() returns.
class CallingExecutor final : public Executor {
 public:
  explicit CallingExecutor(Shared<Executor> inner) : inner_(std::move(inner)) {}
  std::function<void()> on_post;

  Shared<Strand> MakeStrand(std::string_view name) override { return inner_->MakeStrand(name); }
  void Post(const Shared<Strand>& strand, Task task) override {
    inner_->Post(strand, std::move(task));
    if (on_post) on_post();
  }
  void Blocking(std::string name, Task body) override { inner_->Blocking(std::move(name), std::move(body)); }
  void BlockingOn(const Shared<Strand>& strand, Task body) override { inner_->BlockingOn(strand, std::move(body)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return inner_->MakeWaiter(what); }
  Shared<Clock> clock() noexcept override { return inner_->clock(); }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }

 private:
  const Shared<Executor> inner_;
};

class InformerSeamsTest : public InformerFixture {
 protected:
  // Looks whenever the store asks the index function of an object for its values.
  void LookWhileApplying(std::function<void()> look) {
    ASSERT_TRUE(Informer().AddIndex("seam", [look = std::move(look)](const Sample&, IndexSink&) { look(); }));
  }
  // Makes the informer over an executor that calls out.
  Shared<CallingExecutor> CallOut() {
    auto executor = MakeShared<CallingExecutor>(simulation_.executor());
    const Connection connection =
        Connection::Over({.transport = MakeShared<FakeTransport>(), .executor = executor, .observer = seen_});
    core_ = MakeShared<cache::Informer>(connection, source_, Sample::kTable, options_);
    return executor;
  }
};

// Contract: informer SI-06; invariant I1.
TEST_P(InformerSeamsTest, DeliversNoEventBeforeTheStoreHasTheChange) {
  Received received;
  const Registration registration = Listen(received);
  int looks = 0;
  LookWhileApplying([&] {
    ++looks;
    EXPECT_EQ(registration.Backlog(), 0u);
  });
  Sync("5", {ObjectJson("a", "1")});
  Send(ModifiedJson("a", "6") + AddedJson("b", "7"));
  Relist("9", {ObjectJson("c", "8")});
  EXPECT_GT(looks, 4);
  EXPECT_EQ(received.size(), 1u + 2u + 3u);
}

// Contract: informer CT-09, CT-11; design D14.
TEST_P(InformerSeamsTest, ShowsNothingOfATransactionBeforeAllOfIt) {
  ApplyAfter(1s);  // so that the events are one transaction
  std::vector<std::string> stores;
  LookWhileApplying([&] { stores.push_back(Store() + " at " + StoreVersion()); });
  Start();
  Answer(ListBody("5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3")}));
  Open();
  Advance(1s);
  EXPECT_THAT(std::exchange(stores, {}), Each(" at "));
  Send(ModifiedJson("a", "6") + AddedJson("d", "7") + DeletedJson("b", "8") + ModifiedJson("c", "9"));
  Advance(1s);
  EXPECT_THAT(std::exchange(stores, {}), AllOf(Not(IsEmpty()), Each("a@1 b@2 c@3 at 5")));
  Relist("12", {ObjectJson("a", "6"), ObjectJson("c", "11"), ObjectJson("e", "10")});
  Advance(1s);
  EXPECT_THAT(stores, AllOf(Not(IsEmpty()), Each("a@6 c@9 d@7 at 9")));
  EXPECT_EQ(Store(), "a@6 c@11 e@10");
}

// Contract: design D14, D6.
TEST_P(InformerSeamsTest, ShowsNoStateOfARelistWithoutItsStaleMark) {
  ApplyAfter(120s);
  std::vector<std::string> stores;
  LookWhileApplying([&] { stores.push_back(Store() + " at " + StoreVersion()); });
  Sync("5", {});
  Advance(120s);
  Send(AddedJson("a", "6"));
  Relist("12", {R"({"kind":"Sample","metadata":{"name":"a","namespace":"ns"},"spec":{"nodeName":"\ud8"}})"});
  Advance(120s);
  EXPECT_EQ(Store(), "a@6(stale)");
  EXPECT_EQ(StoreVersion(), "12");
  EXPECT_THAT(stores, AllOf(Not(IsEmpty()), Each(AnyOf(" at 5", "a@6 at 6"))));  // what was queued before the list
}

// Contract: design D6; invariant I3.
TEST_P(InformerSeamsTest, HasSyncedOnlyWhenItsStatusCountsRefusedObjects) {
  const auto executor = CallOut();
  Received received;
  const Registration registration = Listen(received);
  const auto watch = registration.listener()->NotifySynced([] {});  // is posted as soon as it is synced
  int looks = 0;
  executor->on_post = [&] {
    if (!Core()->HasSynced()) return;
    ++looks;
    EXPECT_TRUE(Core()->status().synced);
    EXPECT_EQ(Core()->status().refused, 1u);
  };
  Sync("5", {R"({"kind":"Sample","metadata":{"name":"bad","namespace":"ns"},"spec":{"nodeName":"\ud8"}})"});
  EXPECT_GT(looks, 0);
  executor->on_post = nullptr;
}

// Contract: informer SI-02.
TEST_P(InformerSeamsTest, IsStoppedOnlyWhenNoCallCanStartAnyMore) {
  const auto executor = CallOut();
  Received received;
  const Registration first = Listen(received), second = Listen(received);
  const auto watch = first.listener()->NotifySynced([] {});  // is posted as soon as it is closed
  bool looked = false;
  executor->on_post = [&] {
    if (!first.listener()->closed()) return;
    looked = true;
    EXPECT_FALSE(Core()->IsStopped() && !second.listener()->closed()) << "Join() would not wait for its next call";
  };
  if (GetParam() % 2 == 0) Start();  // else they still wait for the start
  Core()->Stop();
  Run();
  EXPECT_TRUE(looked);
  EXPECT_TRUE(Core()->IsStopped());
  executor->on_post = nullptr;
}

// Contract: informer FA-08.
TEST_P(InformerSeamsTest, WaitsForNoInformerOfAFactoryThatIsJustBeingStarted) {
  static const TypeTable other = Sample::kTable;
  struct Factory : SharedInformerFactory {
    using SharedInformerFactory::SharedInformerFactory;
    using SharedInformerFactory::state;
  };
  const auto executor = CallOut();
  Factory factory(
      Connection::Over({.transport = MakeShared<FakeTransport>(), .executor = executor, .observer = seen_}));
  for (const TypeTable* table : {&Sample::kTable, &other})
    static_cast<void>(detail::InformerFor(factory.state(), *table));
  bool looked = false;
  executor->on_post = [&] {  // where another thread may wait
    if (std::exchange(looked, true)) return;
    const Result<void> waited = factory.WaitForCacheSync({}, {.give_up_after = 1ns});
    EXPECT_TRUE(waited || waited.error().code() == Code::kTimeout) << waited.error().ToString();
  };
  factory.Start();
  EXPECT_TRUE(looked);
  executor->on_post = nullptr;
  EXPECT_EQ(factory.WaitForCacheSync({}, {.give_up_after = 1s}).error().code(), Code::kTimeout);
  factory.Shutdown();
}

INSTANTIATE_TEST_SUITE_P(Seeds, InformerSeamsTest, ::testing::Range<std::uint64_t>(0, 16));

}  // namespace
}  // namespace kgen::cache
