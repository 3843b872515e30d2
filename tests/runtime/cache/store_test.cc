// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The store's invariants X1 to X4 (kgen/cache/indexer.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cache/hazard.h"
#include "kgen/cache/indexer.h"
#include "kgen/cache/lister.h"
#include "kgen/client/selector.h"
#include "kgen/core/memory.h"
#include "kgen/core/unstructured.h"

namespace kgen::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Object = PartialObjectMetadata;

Ref<const Object> Make(std::string_view namespace_, std::string_view name, std::string_view color = "",
                       std::string_view uid = "") {
  Object object{.metadata = {.name = name, .namespace_ = namespace_, .uid = uid}};
  if (!color.empty()) object.metadata.labels["color"] = color;
  return MakeRef(std::move(object));
}
Change Put(const Ref<const Object>& object, bool stale = false) {
  return {{object->metadata.namespace_, object->metadata.name}, object.any(), stale};
}
Change Remove(std::string_view namespace_, std::string_view name) { return {{namespace_, name}, {}, false}; }
Transaction One(Change change, std::string version = "") {
  Transaction transaction;
  transaction.changes.push_back(std::move(change));
  transaction.version = std::move(version);
  return transaction;
}
void ByColor(const AnyRef& object, IndexSink& sink) {
  if (object.metadata()->labels.contains("color")) sink.Add(object.metadata()->labels["color"]);
}
std::vector<std::string> Names(const std::vector<AnyRef>& objects) {
  std::vector<std::string> names;
  for (const AnyRef& object : objects) names.push_back(object.metadata()->name);
  return names;
}

class StoreTest : public ::testing::Test {
 protected:
  Shared<Store> store_ = MakeShared<Store>();
};

TEST_F(StoreTest, GivesAnObjectByItsKeyAndNothingForAnother) {
  store_->Apply(One(Put(Make("default", "a"))));
  EXPECT_EQ(Names({store_->Snapshot().Get({"default", "a"})}), std::vector<std::string>{"a"});
  EXPECT_FALSE(store_->Snapshot().Get({"other", "a"}));
  EXPECT_FALSE(store_->Look("default", "b"));
}

TEST_F(StoreTest, ShowsAnEmptyStoreBeforeTheFirstTransaction) {
  const AnySnapshot view = store_->Snapshot();
  EXPECT_EQ(view.size(), 0u);
  EXPECT_EQ(view.version(), "");
  EXPECT_THAT(view.List(), IsEmpty());
  EXPECT_EQ(AnySnapshot().size(), 0u);
}

TEST_F(StoreTest, KeepsASnapshotAsItWasWhateverIsAppliedLater_X1) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  store_->Apply(One(Put(Make("default", "a", "red")), "1"));
  const AnySnapshot before = store_->Snapshot();
  store_->Apply(One(Put(Make("default", "a", "blue")), "2"));
  store_->Apply(One(Put(Make("default", "b", "red")), "3"));
  store_->Apply(One(Remove("default", "a"), "4"));

  EXPECT_EQ(before.version(), "1");
  EXPECT_EQ(before.size(), 1u);
  EXPECT_THAT(Names(before.ByIndex("color", "red")), ElementsAre("a"));
  EXPECT_THAT(before.IndexValues("color"), ElementsAre("red"));
  EXPECT_THAT(Names(store_->Snapshot().ByIndex("color", "red")), ElementsAre("b"));
}

TEST_F(StoreTest, ForgetsAnIndexValueThatNoObjectHasAnyMore_X3_ST_08) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  store_->Apply(One(Put(Make("default", "a", "red"))));
  store_->Apply(One(Put(Make("default", "a", "blue"))));
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), ElementsAre("blue"));
  store_->Apply(One(Put(Make("default", "a"))));
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), IsEmpty());
}

TEST_F(StoreTest, FollowsTheVersionOfTheLastTransactionThatHasOne_X4_ST_11) {
  store_->Apply(One(Put(Make("default", "a")), "7"));
  store_->Apply(One(Put(Make("default", "b"))));
  EXPECT_EQ(store_->Snapshot().version(), "7");
  store_->Apply({{}, false, "9"});  // a bookmark
  EXPECT_EQ(store_->Snapshot().version(), "9");
  EXPECT_EQ(store_->Snapshot().size(), 2u);
}

TEST_F(StoreTest, ReplacesTheWholeContentAtOnceAndTheLastOfTwoEqualKeysHolds_ST_05) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  store_->Apply(One(Put(Make("default", "gone", "red"))));
  store_->Apply(
      {{Put(Make("default", "a", "red")), Put(Make("x", "b", "blue")), Put(Make("default", "a", "green"))}, true, "5"});
  const AnySnapshot view = store_->Snapshot();
  EXPECT_THAT(Names(view.List()), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(view.IndexValues("color"), ElementsAre("blue", "green"));
  EXPECT_THAT(view.IndexValues("namespace"), ElementsAre("default", "x"));
}

TEST_F(StoreTest, KeepsTheLastGoodStateOfAnObjectThatWasRefusedAndMarksItStale) {
  store_->Apply(One(Put(Make("default", "a", "red"))));
  store_->Apply(One({{"default", "a"}, {}, true}, "2"));
  AnySnapshot view = store_->Snapshot();
  ASSERT_TRUE(view.Get({"default", "a"}));
  EXPECT_TRUE(view.IsStale({"default", "a"}));

  store_->Apply({{{{"default", "a"}, {}, true}, {{"default", "unknown"}, {}, true}}, true, "3"});  // also in a relist
  view = store_->Snapshot();
  EXPECT_TRUE(view.IsStale({"default", "a"}));
  EXPECT_EQ(view.size(), 1u);

  store_->Apply(One(Put(Make("default", "a", "blue"))));
  EXPECT_FALSE(store_->Snapshot().IsStale({"default", "a"}));
}

TEST_F(StoreTest, IndexesWhatIsThereWhenAnIndexIsAddedLater_SI_18) {
  store_->Apply(One(Put(Make("default", "a", "red"))));
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  EXPECT_THAT(Names(store_->Snapshot().ByIndex("color", "red")), ElementsAre("a"));
}

TEST_F(StoreTest, RefusesAnIndexNameThatIsTaken_ST_10) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  const Result<void> again = store_->AddIndex("color", ByColor);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(again.error().ToString(), HasSubstr("\"color\""));
  EXPECT_FALSE(store_->AddIndex("namespace", ByColor));
}

TEST_F(StoreTest, AddsNothingWhenAnIndexFunctionThrowsForAnObjectThatIsThere) {
  store_->Apply(One(Put(Make("default", "a"))));
  const Result<void> added =
      store_->AddIndex("bad", [](const AnyRef&, IndexSink&) { throw std::runtime_error("no color"); });
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code(), Code::kUserCode);
  EXPECT_THAT(added.error().ToString(), HasSubstr("no color"));
  EXPECT_FALSE(store_->Snapshot().HasIndex("bad"));
}

TEST_F(StoreTest, ReportsAnIndexFunctionThatThrowsLaterAndStoresTheObjectAllTheSame_ST_09) {
  std::vector<std::string> reports;
  store_->SetOnThrow(
      [&](const ObjectKey& key, std::string_view what) { reports.push_back(key.str() + ": " + std::string(what)); });
  ASSERT_TRUE(store_->AddIndex("color", [](const AnyRef& object, IndexSink& sink) {
    sink.Add("some");
    if (object.metadata()->labels["color"] == "bad") throw std::runtime_error("bad color");
  }));
  store_->Apply(One(Put(Make("default", "a", "good"))));
  store_->Apply(One(Put(Make("default", "a", "bad"))));
  EXPECT_THAT(reports, ElementsAre("default/a: index \"color\": bad color"));
  EXPECT_TRUE(store_->Look("default", "a"));
  EXPECT_THAT(store_->Snapshot().ByIndex("color", "some"), IsEmpty());
}

TEST_F(StoreTest, LeavesNoEntryBehindWhenAnIndexFunctionChangesItsMind_ST_07) {
  bool other = false;
  ASSERT_TRUE(store_->AddIndex("moody", [&](const AnyRef&, IndexSink& sink) { sink.Add(other ? "two" : "one"); }));
  store_->Apply(One(Put(Make("default", "a"))));
  other = true;
  store_->Apply(One(Remove("default", "a")));
  EXPECT_THAT(store_->Snapshot().IndexValues("moody"), IsEmpty());
}

TEST_F(StoreTest, RefusesAnObjectUnderAForeignKey) {
  std::vector<std::string> reports;
  store_->SetOnThrow([&](const ObjectKey& key, std::string_view) { reports.push_back(key.str()); });
  store_->Apply(One({{"default", "b"}, Make("default", "a").any(), false}));
  EXPECT_THAT(reports, ElementsAre("default/b"));
  EXPECT_EQ(store_->Snapshot().size(), 0u);
}

TEST_F(StoreTest, ListsByNamespaceAndBySelector_LS_01_LS_03_LS_04) {
  for (const auto& object :
       {Make("a", "1", "red"), Make("a", "2", "blue"), Make("b", "3", "red"), Make("", "4", "red")}) {
    store_->Apply(One(Put(object)));
  }
  const Selector red = Must(Selector::Parse("color=red"));
  const Selector nothing = Selector::Nothing();
  EXPECT_THAT(Names(detail::ListFromStore(*store_, "a", nullptr)), UnorderedElementsAre("1", "2"));
  EXPECT_THAT(Names(detail::ListFromStore(*store_, "", &red)), UnorderedElementsAre("1", "3", "4"));
  EXPECT_THAT(Names(detail::ListFromStore(*store_, "a", &red)), UnorderedElementsAre("1"));
  EXPECT_THAT(detail::ListFromStore(*store_, "", &nothing), IsEmpty());
  EXPECT_THAT(detail::ListFromStore(*store_, "none", nullptr), IsEmpty());
  EXPECT_TRUE(detail::GetFromStore(*store_, "", "4"));
}

// X2 over random histories: every index agrees with a scan of the same snapshot.
TEST_F(StoreTest, AgreesInEveryIndexWithAScanOfTheSameSnapshot_X2) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  const std::vector<std::string> colors = {"", "red", "green", "blue"};
  std::mt19937 random(3);
  for (int step = 0; step < 600; ++step) {
    const std::string name = "o" + std::to_string(random() % 40);
    const std::string namespace_ = random() % 2 == 0 ? "a" : "b";
    if (random() % 3 == 0) {
      store_->Apply(One(Remove(namespace_, name)));
    } else {
      store_->Apply(One(Put(Make(namespace_, name, colors[random() % colors.size()]))));
    }
    const AnySnapshot view = store_->Snapshot();
    std::map<std::string, std::set<std::string>> scan;
    for (const AnyRef& object : view.List()) {
      const Map<String>& labels = object.metadata()->labels;
      if (labels.contains("color"))
        scan[labels["color"]].insert(object.metadata()->namespace_ + "/" + object.metadata()->name);
    }
    std::map<std::string, std::set<std::string>> namespaces;
    for (const AnyRef& object : view.List()) namespaces[object.metadata()->namespace_].insert(object.metadata()->name);
    for (const char* each : {"a", "b"}) {
      const std::vector<std::string> listed = Names(view.InNamespace(each));
      ASSERT_EQ(std::set<std::string>(listed.begin(), listed.end()), namespaces[each]) << step;
    }
    ASSERT_EQ(view.IndexValues("color").size(), scan.size());
    for (const auto& [color, keys] : scan) {
      std::set<std::string> indexed;
      for (const AnyRef& object : view.ByIndex("color", color)) {
        indexed.insert(object.metadata()->namespace_ + "/" + object.metadata()->name);
      }
      ASSERT_EQ(indexed, keys);
    }
  }
}

TEST_F(StoreTest, LetsReadersReadWhileTheWriterWrites) {
  std::atomic<bool> stop = false;
  std::atomic<int> torn = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const AnySnapshot view = store_->Snapshot();  // each transaction writes both, with one uid
        const AnyRef a = view.Get({"n", "a"});
        const AnyRef b = view.Get({"n", "b"});
        if (static_cast<bool>(a) != static_cast<bool>(b) || (a && a.metadata()->uid != b.metadata()->uid)) ++torn;
        if (const AnyRef look = store_->Look("n", "a"); look && look.metadata()->name != "a") ++torn;
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    const std::string uid = std::to_string(i);
    store_->Apply({{Put(Make("n", "a", "", uid)), Put(Make("n", "b", "", uid))}, i % 10 == 0, uid});
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
}

// A reader that stands between its announcement and its reference to the state, for as long as it likes.
TEST(StoreLifetimeTest, KeepsAStateThatAReaderHasAnnounced) {
  auto store = MakeShared<Store>();
  const std::int64_t empty = LiveBlocks();
  store->Apply(One(Put(Make("default", "a"))));
  const std::int64_t one = LiveBlocks();
  ASSERT_GT(one, empty);
  ThisThreadsSlot().announced = &store->Snapshot().state();
  store->Apply(One(Remove("default", "a"), "2"));
  store->Apply({{}, false, "3"});
  EXPECT_EQ(LiveBlocks(), one);
  ThisThreadsSlot().announced = nullptr;
  store->Apply({{}, false, "4"});
  EXPECT_EQ(LiveBlocks(), empty);
}

TEST(StoreLifetimeTest, FreesEveryObjectWithTheLastSnapshot) {
  const std::int64_t before = LiveBlocks();
  AnySnapshot kept;
  {
    auto store = MakeShared<Store>();
    for (int i = 0; i < 100; ++i)
      store->Apply(One(Put(Make("default", "a-rather-long-name-" + std::to_string(i), "red"))));
    kept = store->Snapshot();
  }
  EXPECT_EQ(kept.size(), 100u);
  EXPECT_GT(LiveBlocks(), before);
  kept = AnySnapshot();
  EXPECT_EQ(LiveBlocks(), before);
}

}  // namespace
}  // namespace kgen::cache
