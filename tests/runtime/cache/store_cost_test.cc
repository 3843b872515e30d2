// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The cost of a transaction of the store, in allocated blocks: it shows on any machine whether work is proportional to
// the changes or to the whole store. And transactions and destructors that run out of memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cache/delivery/listener.h"
#include "cache/store/store.h"
#include "client/request/connection_state.h"
#include "kgen/cache/dynamic_informer.h"
#include "kgen/cache/factory.h"
#include "kgen/core/field_path.h"
#include "kgen/core/memory.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/unstructured.h"
#include "tests/support/fake_transport.h"
#include "tests/support/replace_all.h"

// ThreadSanitizer has an operator new of its own, in place of ours. Without ours only blocks of the process heap are
// counted, and none can be refused; these tests have one thread.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KGEN_TEST_WITHOUT_OWN_NEW 1
#endif
#endif

namespace {
std::atomic<std::int64_t> taken = 0;
[[maybe_unused]] thread_local bool none_is_left = false;
[[maybe_unused]] std::atomic<std::int64_t> until_none_is_left = -1;  // so many more are given; less than 0: any number
}  // namespace

#ifndef KGEN_TEST_WITHOUT_OWN_NEW
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  taken.fetch_add(1, std::memory_order_relaxed);
  if (none_is_left) throw std::bad_alloc();
  if (until_none_is_left.load(std::memory_order_relaxed) >= 0 && until_none_is_left.fetch_sub(1) == 0) {
    throw std::bad_alloc();
  }
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif

namespace kgen::cache {
namespace {

constexpr int kObjects = 5'000;
constexpr int kShared = 10;  // values that many objects have

AnyRef Make(int i, std::string_view mood = "") {
  PartialObjectMetadata object{.metadata = {.name = "object-" + std::to_string(i), .namespace_ = "default"}};
  object.metadata.labels["own"] = "a-value-of-its-own-" + std::to_string(i);
  object.metadata.labels["shared"] = "value-" + std::to_string(i % kShared);
  object.metadata.labels["pair"] = "a-value-of-two-objects-" + std::to_string(i / 2);
  object.metadata.labels["mood"] = mood;
  return MakeRef(std::move(object)).any();
}
Change Put(AnyRef object) {
  return {{object.metadata()->namespace_, object.metadata()->name}, std::move(object), false};
}
Transaction All() {
  Transaction all{.changes = {}, .version = "1"};
  for (int i = 0; i < kObjects; ++i) all.changes.push_back(Put(Make(i)));
  return all;
}
IndexFunction ByLabel(std::string label) {
  return [label = std::move(label)](const AnyRef& object, IndexSink& sink) {
    if (object.metadata()->labels["mood"] == "bad") throw std::runtime_error("no");
    sink.Add(object.metadata()->labels[label]);
  };
}
std::int64_t Taken() { return taken + GetHeapUse().allocations; }
std::int64_t TakenBy(Store& store, Transaction transaction) {
  const std::int64_t before = Taken();
  store.Apply(std::move(transaction));
  return Taken() - before;
}

TEST(StoreCostTest, ChangesAnObjectThatTheIndexFunctionThrowsForWithoutVisitingEveryValue) {
  auto store = MakeShared<Store>();
  ASSERT_TRUE(store->AddIndex("own", ByLabel("own")));
  ReplaceAll(*store, All());
  store->Apply({{Put(Make(7, "bad"))}, "2"});
  EXPECT_LT(TakenBy(*store, {{Put(Make(7, "bad"))}, "3"}), 100);
  EXPECT_LT(TakenBy(*store, {{Put(Make(7))}, "4"}), 100);
  EXPECT_EQ(store->Snapshot().IndexValues("own").size(), static_cast<std::size_t>(kObjects));
}

// The sets of objects are filled in place. A version of the set for each object would be a dozen blocks for each.
TEST(StoreCostTest, MakesNoVersionOfASetOfObjectsForEachObjectOfAList) {
  auto store = MakeShared<Store>();
  ASSERT_TRUE(store->AddIndex("shared", ByLabel("shared")));
  Transaction all = All();
  const std::int64_t before = Taken();
  ReplaceAll(*store, std::move(all));
  EXPECT_LT(Taken() - before, 6 * kObjects);
  EXPECT_EQ(store->Snapshot().ByIndex("shared", "value-3").size(), static_cast<std::size_t>(kObjects / kShared));
}

// Neither for the text, which is the object's, nor for the object. What is left is nodes for several values each.
TEST(StoreCostTest, TakesNoBlockForAnIndexValueThatASingleObjectHas) {
  auto store = MakeShared<Store>();
  ReplaceAll(*store, All());
  const std::int64_t before = LiveBlocks();
  ASSERT_TRUE(store->AddIndex("own", ByLabel("own")));
  const ResolvedPath path = *ResolvedPath::Resolve(FieldPath("metadata.labels['own']"), PartialObjectMetadata::kTable);
  ASSERT_TRUE(store->AddIndex("path", [&](const AnyRef& object, IndexSink& sink) {
    path.Visit(object.object(), [&](const String& value) { sink.Add(value); });
  }));
  EXPECT_LT(LiveBlocks() - before, kObjects);
  EXPECT_EQ(store->Snapshot().ByIndex("own", "a-value-of-its-own-17").size(), 1u);
  EXPECT_EQ(store->Snapshot().ByIndex("path", "a-value-of-its-own-17").size(), 1u);
}

#ifndef KGEN_TEST_WITHOUT_OWN_NEW
// Wherever it fails, its changes are undone. Index functions belong to the user, so their exceptions are reported.
TEST(StoreCostTest, DoesNotChangeTheStoreWhenATransactionRunsOutOfMemory) {
  const std::int64_t before = LiveBlocks();
  int failed = 0;
  for (std::int64_t given = 0;; ++given) {
    auto store = MakeShared<Store>();
    ASSERT_TRUE(store->AddIndex("shared", ByLabel("shared")));
    ASSERT_TRUE(store->AddIndex("pair", ByLabel("pair")));
    Transaction some{.changes = {}, .version = "1"};
    for (int i = 0; i < 100; ++i) some.changes.push_back(Put(Make(i)));
    ReplaceAll(*store, std::move(some));
    const std::int64_t blocks = LiveBlocks();
    const std::vector<ObjectKey> keys = store->Snapshot().Keys();
    Transaction changes{.changes = {}, .version = "a version that is too long to stand in a string"};
    for (int i = 90; i < 110; ++i) changes.changes.push_back(Put(Make(i)));
    changes.changes.push_back({{"default", "another"}, Make(1), false});  // reported as a fault, which allocates memory
    for (int i = 0; i < 95; i += 2) changes.changes.push_back({keys[static_cast<std::size_t>(i)], {}, false});
    changes.changes.push_back({{"default", "another"}, Make(1), false});
    until_none_is_left = given;
    bool threw = false;
    try {
      store->Apply(std::move(changes));
    } catch (const std::bad_alloc&) {
      threw = true;
    }
    const bool enough = until_none_is_left.exchange(-1) >= 0;
    if (enough) break;
    if (!threw) continue;
    ++failed;
    changes = {};
    ASSERT_EQ(LiveBlocks(), blocks) << given;
    ASSERT_EQ(store->Snapshot().Keys(), keys) << given;
    ASSERT_EQ(store->Snapshot().version(), "1") << given;
    store->Apply({{Put(Make(1'000))}, "2"});
    ASSERT_EQ(store->Snapshot().ByIndex("shared", "value-0").size(), 11u) << given;
    ASSERT_EQ(store->Snapshot().ByIndex("pair", "a-value-of-two-objects-4").size(), 2u) << given;
  }
  EXPECT_GT(failed, 5);
  EXPECT_EQ(LiveBlocks(), before);
}

// A pool that knows when a thread begins to wait.
class WatchedPool final : public Executor {
 public:
  Shared<Strand> MakeStrand(std::string_view name) override { return inner_->MakeStrand(name); }
  void Post(const Shared<Strand>& strand, Task task) override { inner_->Post(strand, std::move(task)); }
  Shared<ReservedPost> ReservePost(const Shared<Strand>& strand) override { return inner_->ReservePost(strand); }
  void Blocking(std::string name, Task work) override { inner_->Blocking(std::move(name), std::move(work)); }
  void BlockingOn(const Shared<Strand>& strand, Task work) override { inner_->BlockingOn(strand, std::move(work)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override {
    return MakeShared<Watched>(inner_->MakeWaiter(what), Shared<WatchedPool>(this));
  }
  Shared<Clock> clock() noexcept override { return inner_->clock(); }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }

  void AwaitAWait() const { waits_.wait(false); }

 private:
  class Watched final : public Waiter {
   public:
    Watched(Shared<Waiter> inner, Shared<WatchedPool> pool) : inner_(std::move(inner)), pool_(std::move(pool)) {}
    void Notify() noexcept override { inner_->Notify(); }
    Result<void> Wait(std::stop_token stop, TimePoint deadline) override {
      pool_->waits_ = true;
      pool_->waits_.notify_all();
      return inner_->Wait(std::move(stop), deadline);
    }

   private:
    const Shared<Waiter> inner_;
    const Shared<WatchedPool> pool_;
  };
  const Shared<Executor> inner_ = Must(MakeThreadPool({.threads = 2, .max_threads = 4}));
  std::atomic<bool> waits_ = false;
};

TEST(WithoutMemoryTest, ARegistrationIsDestroyedWhileItsHandlerRuns) {
  const std::int64_t before = LiveBlocks();
  const auto pool = MakeShared<WatchedPool>();
  std::atomic<bool> called = false, returned = false;
  const auto listener = MakeShared<Listener>(
      [&](const AnyEvent&) {
        called = true;
        called.notify_all();
        pool->AwaitAWait();
        returned = true;
      },
      HandlerOptions(), "pods", pool, NullObserver());
  std::vector<AnyEvent> events;
  events.push_back({.type = AnyEvent::Type::kAdded, .reason = Reason::kWatch, .key = {"default", "a"}, .now = Make(1)});
  listener->Deliver(std::move(events));
  called.wait(false);
  none_is_left = true;
  listener->Remove();  // as the destructor of a Registration does
  none_is_left = false;
  EXPECT_TRUE(returned);
  // A thread of the pool still lets go of the event, whose blocks another test would count.
  while (LiveBlocks() > before) std::this_thread::yield();
}

TEST(WithoutMemoryTest, AFactoryIsDestroyed) {
  const auto pool = Must(MakeThreadPool({.threads = 2, .max_threads = 4}));
  const auto transport = MakeShared<testing::FakeTransport>();
  const Connection connection =
      client::ConnectionState::Handle({transport, pool, NullObserver()}, {.host = "https://test"});
  std::optional<SharedInformerFactory> factory(std::in_place, connection);
  (void)factory->ForResource({"", "v1", "pods"});
  factory->Start({});
  none_is_left = true;
  factory.reset();
  none_is_left = false;
}
#endif

}  // namespace
}  // namespace kgen::cache
