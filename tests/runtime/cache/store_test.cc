// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The store's invariants X1 to X4 (cache/store/store.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "cache/store/hazard.h"
#include "cache/store/store.h"
#include "cache/store/store_difference.h"
#include "cache/store/store_state.h"
#include "kgen/cache/lister.h"
#include "kgen/client/selector.h"
#include "kgen/core/memory.h"
#include "kgen/core/unstructured.h"
#include "tests/support/replace_all.h"

namespace kgen::cache {
namespace {

using ::testing::AllOf;
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

// Index, value, object and stale mark of every entry of every index.
using Entries = std::set<std::tuple<std::string, std::string, const void*, bool>>;
Entries Indexed(const AnySnapshot& view) {
  Entries entries;
  for (const Index& index : view.state().indexes) {
    index.values.ForEach([&](const ValueLeaf& value) {
      EXPECT_NE(value.size(), 0u);
      value.ForEach([&](const ObjectLeaf& leaf) {
        entries.emplace(index.definition->name, value.key(), leaf.object().object(), leaf.stale());
      });
    });
  }
  return entries;
}

// Collects what the index functions produce for the objects of that version.
class EntrySink final : public IndexSink {
 public:
  EntrySink(std::string index, const ObjectLeaf& leaf, Entries& entries)
      : index_(std::move(index)), leaf_(leaf), entries_(entries) {}
  void Add(String value) override { entries_.emplace(index_, value.str(), leaf_.object().object(), leaf_.stale()); }

 private:
  std::string index_;
  const ObjectLeaf& leaf_;
  Entries& entries_;
};
Entries Expected(const AnySnapshot& view) {
  Entries entries;
  for (const Index& index : view.state().indexes) {
    view.state().objects.ForEach([&](const ObjectLeaf& leaf) {
      EntrySink sink(index.definition->name, leaf, entries);
      index.definition->function(leaf.object(), sink);
    });
  }
  return entries;
}

class StoreTest : public ::testing::Test {
 protected:
  // A line for each fault.
  void Hear(std::vector<std::string>& faults) {
    store_->SetOnFault([&](const StoreFault& fault) { faults.push_back(fault.key.str() + ": " + fault.what); });
  }

  Shared<Store> store_ = MakeShared<Store>();
};

TEST_F(StoreTest, FindsAnObjectByItsKeyAndNothingUnderAnother) {
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

// Contract: invariant X1.
TEST_F(StoreTest, NeverChangesASnapshot) {
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

TEST_F(StoreTest, LooksUpOneObjectByIndex) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  store_->Apply(One(Put(Make("default", "a", "red")), "1"));
  store_->Apply(One(Put(Make("default", "b", "blue")), "2"));
  EXPECT_EQ(store_->LookByIndex("color", "blue"), store_->Look("default", "b"));
  EXPECT_FALSE(store_->LookByIndex("color", "green"));
  EXPECT_FALSE(store_->LookByIndex("size", "blue"));
  store_->Apply(One(Put(Make("default", "b", "red")), "3"));
  EXPECT_FALSE(store_->LookByIndex("color", "blue"));
  EXPECT_TRUE(store_->LookByIndex("color", "red"));
}

// Contract: informer ST-08; invariant X3.
TEST_F(StoreTest, ForgetsAnIndexValueThatNoObjectHasAnyLonger) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  store_->Apply(One(Put(Make("default", "a", "red"))));
  store_->Apply(One(Put(Make("default", "a", "blue"))));
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), ElementsAre("blue"));
  store_->Apply(One(Put(Make("default", "a"))));
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), IsEmpty());
}

// Contract: informer ST-11; invariant X4.
TEST_F(StoreTest, FollowsTheVersionOfTheLastTransactionThatHasOne) {
  store_->Apply(One(Put(Make("default", "a")), "7"));
  store_->Apply(One(Put(Make("default", "b"))));
  EXPECT_EQ(store_->Snapshot().version(), "7");
  store_->Apply({{}, "9"});  // a bookmark
  EXPECT_EQ(store_->Snapshot().version(), "9");
  EXPECT_EQ(store_->Snapshot().size(), 2u);
}

// Contract: informer ST-05.
TEST_F(StoreTest, ReplacesTheWholeContentAtOnceAndKeepsTheLastOfTwoEqualKeys) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  store_->Apply(One(Put(Make("default", "gone", "red"))));
  ReplaceAll(
      *store_,
      {{Put(Make("default", "a", "red")), Put(Make("x", "b", "blue")), Put(Make("default", "a", "green"))}, "5"});
  const AnySnapshot view = store_->Snapshot();
  EXPECT_THAT(Names(view.List()), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(view.IndexValues("color"), ElementsAre("blue", "green"));
  EXPECT_THAT(view.IndexValues("namespace"), ElementsAre("default", "x"));
}

// Contract: informer ST-05.
TEST_F(StoreTest, AsksTheIndexFunctionsOncePerKeyOfAReplacement) {
  std::vector<std::string> asked;
  ASSERT_TRUE(store_->AddIndex("color", [&](const AnyRef& object, IndexSink& sink) {
    asked.push_back(object.metadata()->name.str() + " " + object.metadata()->labels["color"].str());
    ByColor(object, sink);
  }));
  ReplaceAll(
      *store_,
      {{Put(Make("default", "a", "red")), Put(Make("x", "b", "blue")), Put(Make("default", "a", "green"))}, "5"});
  EXPECT_THAT(asked, UnorderedElementsAre("a green", "b blue"));
  EXPECT_EQ(Indexed(store_->Snapshot()), Expected(store_->Snapshot()));
}

TEST_F(StoreTest, KeepsTheLastGoodStateOfAnObjectThatWasRefusedAndMarksItStale) {
  store_->Apply(One(Put(Make("default", "a", "red"))));
  store_->Apply(One({{"default", "a"}, {}, true}, "2"));
  AnySnapshot view = store_->Snapshot();
  ASSERT_TRUE(view.Get({"default", "a"}));
  EXPECT_TRUE(view.IsStale({"default", "a"}));

  ReplaceAll(*store_, {{{{"default", "a"}, view.Get({"default", "a"}), true}}, "3"});  // also in a relist
  view = store_->Snapshot();
  EXPECT_TRUE(view.IsStale({"default", "a"}));
  EXPECT_EQ(view.size(), 1u);

  store_->Apply(One(Put(Make("default", "a", "blue"))));
  EXPECT_FALSE(store_->Snapshot().IsStale({"default", "a"}));
}

// Contract: informer SI-18.
TEST_F(StoreTest, IndexesStoredObjectsWhenAnIndexIsAddedLater) {
  store_->Apply(One(Put(Make("default", "a", "red"))));
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  EXPECT_THAT(Names(store_->Snapshot().ByIndex("color", "red")), ElementsAre("a"));
}

// Contract: informer ST-10.
TEST_F(StoreTest, RefusesAnIndexNameThatIsTaken) {
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  const Result<void> again = store_->AddIndex("color", ByColor);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(again.error().ToString(), HasSubstr("\"color\""));
  EXPECT_FALSE(store_->AddIndex("namespace", ByColor));
}

TEST_F(StoreTest, AddsNoIndexWhenItsFunctionThrowsForAStoredObject) {
  store_->Apply(One(Put(Make("default", "a"))));
  const Result<void> added =
      store_->AddIndex("bad", [](const AnyRef&, IndexSink&) { throw std::runtime_error("no color"); });
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code(), Code::kUserCode);
  EXPECT_THAT(added.error().ToString(), HasSubstr("no color"));
  EXPECT_FALSE(store_->Snapshot().HasIndex("bad"));
}

// Contract: informer ST-09.
TEST_F(StoreTest, ReportsAnIndexFunctionThatThrowsLaterAndStoresTheObjectAnyway) {
  std::vector<std::string> reports;
  Hear(reports);
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

// Contract: informer ST-07.
TEST_F(StoreTest, LeavesNoEntryBehindWhenAnIndexFunctionChangesItsMind) {
  bool other = false;
  ASSERT_TRUE(store_->AddIndex("moody", [&](const AnyRef&, IndexSink& sink) { sink.Add(other ? "two" : "one"); }));
  store_->Apply(One(Put(Make("default", "a"))));
  other = true;
  store_->Apply(One(Remove("default", "a")));
  EXPECT_THAT(store_->Snapshot().IndexValues("moody"), IsEmpty());
}

// The object has no value in the index, so the store neither calls the function again nor searches all values.
// Contract: informer ST-09.
TEST_F(StoreTest, DoesNotLookForTheValuesOfAnObjectThatTheIndexFunctionThrewFor) {
  int calls = 0;
  ASSERT_TRUE(store_->AddIndex("color", [&](const AnyRef& object, IndexSink& sink) {
    ++calls;
    if (object.metadata()->labels["color"] == "bad") throw std::runtime_error("bad color");
    ByColor(object, sink);
  }));
  store_->Apply(One(Put(Make("default", "b", "red"))));
  store_->Apply(One(Put(Make("default", "a", "bad"))));
  calls = 0;
  store_->Apply(One(Put(Make("default", "a", "bad"))));
  EXPECT_EQ(calls, 1);  // for the new state
  store_->Apply(One({{"default", "a"}, {}, true}));
  EXPECT_EQ(calls, 2);
  store_->Apply(One(Put(Make("default", "a", "blue"))));
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), ElementsAre("blue", "red"));
  store_->Apply(One(Put(Make("default", "a", "bad"))));  // now it had a value
  EXPECT_EQ(calls, 5);
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), ElementsAre("red"));
  store_->Apply(One(Remove("default", "a")));
  EXPECT_EQ(calls, 5);
}

// Contract: informer ST-05, ST-09.
TEST_F(StoreTest, KnowsAfterAReplacementWhichObjectsTheIndexFunctionThrewFor) {
  int calls = 0;
  ASSERT_TRUE(store_->AddIndex("color", [&](const AnyRef& object, IndexSink& sink) {
    ++calls;
    if (object.metadata()->labels["color"] == "bad") throw std::runtime_error("bad color");
    ByColor(object, sink);
  }));
  ReplaceAll(*store_, {{Put(Make("default", "a", "bad")), Put(Make("default", "b", "red"))}, "1"});
  ReplaceAll(*store_, {{Put(Make("default", "a", "red")), Put(Make("default", "b", "bad"))}, "2"});
  calls = 0;
  store_->Apply(One(Remove("default", "b")));
  EXPECT_EQ(calls, 0);
  store_->Apply(One(Remove("default", "a")));
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), IsEmpty());
}

// A list may hold the very object that is there.
// Contract: informer ST-07.
TEST_F(StoreTest, ForgetsAtAReplacementWhatTheIndexFunctionThrewForBefore) {
  bool bad = true;
  ASSERT_TRUE(store_->AddIndex("moody", [&](const AnyRef&, IndexSink& sink) {
    if (bad) throw std::runtime_error("bad mood");
    sink.Add("some");
  }));
  const auto object = Make("default", "a");
  store_->Apply(One(Put(object)));
  bad = false;
  ReplaceAll(*store_, {{Put(object)}, "2"});
  EXPECT_THAT(store_->Snapshot().IndexValues("moody"), ElementsAre("some"));
  store_->Apply(One(Remove("default", "a")));
  EXPECT_THAT(store_->Snapshot().IndexValues("moody"), IsEmpty());
}

TEST_F(StoreTest, ShowsTheChangesOfADifferenceAtOnceAndAsksTheIndexFunctionsForNothingElse) {
  std::vector<std::string> asked;
  ASSERT_TRUE(store_->AddIndex("color", [&](const AnyRef& object, IndexSink& sink) {
    asked.push_back(object.metadata()->name);
    ByColor(object, sink);
  }));
  ReplaceAll(*store_, {{Put(Make("n", "a", "red")), Put(Make("n", "b", "red")), Put(Make("n", "c", "red"))}, "1"});
  const AnySnapshot before = store_->Snapshot();
  asked.clear();
  Store::Difference next(*store_);
  next.Put(Put(Make("n", "b", "blue")));
  next.Put(Put(Make("n", "d", "green")));
  next.Put(Remove("n", "c"));
  EXPECT_EQ(store_->Snapshot().size(), 3u);
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), ElementsAre("red"));
  ASSERT_TRUE(next.Publish("2"));
  const AnySnapshot view = store_->Snapshot();
  EXPECT_EQ(view.version(), "2");
  EXPECT_THAT(Names(view.List()), UnorderedElementsAre("a", "b", "d"));
  EXPECT_EQ(Indexed(view), Expected(view));
  EXPECT_THAT(Names(before.List()), UnorderedElementsAre("a", "b", "c"));
  EXPECT_EQ(Indexed(before), Expected(before));
}

TEST_F(StoreTest, ReportsTheFaultsOfADifferenceOnceItIsVisible) {
  std::vector<std::string> seen;
  store_->SetOnFault([&](const StoreFault& fault) {
    seen.push_back(fault.key.str() + " at " + std::string(store_->Snapshot().version()));
  });
  ASSERT_TRUE(store_->AddIndex("bad", [](const AnyRef&, IndexSink&) { throw std::runtime_error("bad"); }));
  EXPECT_FALSE(store_->HasUnindexed());
  {
    Store::Difference given_up(*store_);
    given_up.Put(Put(Make("n", "a")));
  }
  Store::Difference next(*store_);
  next.Put(Put(Make("n", "b")));
  ASSERT_TRUE(next.Publish("7"));
  EXPECT_THAT(seen, ElementsAre("n/b at 7"));
  EXPECT_TRUE(store_->HasUnindexed());
}

TEST_F(StoreTest, ShowsNoDifferenceToAStoreThatHasANewIndexMeanwhile) {
  ReplaceAll(*store_, {{Put(Make("n", "a", "red"))}, "1"});
  Store::Difference next(*store_);
  next.Put(Put(Make("n", "a", "blue")));
  ASSERT_TRUE(store_->AddIndex("color", ByColor));
  EXPECT_FALSE(next.Publish("2"));
  EXPECT_EQ(store_->Snapshot().version(), "1");
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), ElementsAre("red"));
}

TEST_F(StoreTest, ReportsAFaultOnceTheTransactionIsVisible) {
  std::vector<std::string> seen;
  store_->SetOnFault([&](const StoreFault& fault) {
    EXPECT_EQ(fault.kind, StoreFault::Kind::kIndexFunctionThrew);
    seen.push_back(fault.key.str() + " at " + std::string(store_->Snapshot().version()));
  });
  ASSERT_TRUE(store_->AddIndex("bad", [](const AnyRef&, IndexSink&) { throw std::runtime_error("bad"); }));
  store_->Apply(One(Put(Make("default", "a")), "7"));
  ReplaceAll(*store_, {{Put(Make("default", "b"))}, "8"});
  store_->Apply(One(Remove("default", "b"), "9"));
  EXPECT_THAT(seen, ElementsAre("default/a at 7", "default/b at 8"));
}

TEST_F(StoreTest, SkipsAnObjectUnderAForeignKeyAndReportsABug) {
  std::vector<StoreFault> faults;
  store_->SetOnFault([&](const StoreFault& fault) { faults.push_back(fault); });
  store_->Apply(One({{"default", "b"}, Make("default", "a").any(), false}));
  ReplaceAll(*store_, {{{{"default", "b"}, Make("default", "a").any(), false}, {{"default", "c"}, {}, true}}, "2"});
  ASSERT_EQ(faults.size(), 3u);
  for (const StoreFault& fault : faults) EXPECT_EQ(fault.kind, StoreFault::Kind::kMisplacedObject);
  EXPECT_EQ(faults[0].key, (ObjectKey{"default", "b"}));
  EXPECT_THAT(faults[0].what, AllOf(HasSubstr("kgen"), HasSubstr("default/a"), HasSubstr("default/b")));
  EXPECT_EQ(faults[1].what, faults[0].what);
  EXPECT_THAT(faults[2].what, AllOf(HasSubstr("no object"), HasSubstr("default/c")));
  EXPECT_EQ(store_->Snapshot().size(), 0u);
}

// Contract: informer LS-01, LS-03, LS-04.
TEST_F(StoreTest, ListsByNamespaceAndBySelector) {
  for (const auto& object :
       {Make("a", "1", "red"), Make("a", "2", "blue"), Make("b", "3", "red"), Make("", "4", "red")}) {
    store_->Apply(One(Put(object)));
  }
  const Selector red = Must(Selector::Parse("color=red"));
  const Selector nothing = Selector::Nothing();
  EXPECT_THAT(Names(detail::ListFromStore(store_, "a", nullptr)), UnorderedElementsAre("1", "2"));
  EXPECT_THAT(Names(detail::ListFromStore(store_, "", &red)), UnorderedElementsAre("1", "3", "4"));
  EXPECT_THAT(Names(detail::ListFromStore(store_, "a", &red)), UnorderedElementsAre("1"));
  EXPECT_THAT(detail::ListFromStore(store_, "", &nothing), IsEmpty());
  EXPECT_THAT(detail::ListFromStore(store_, "none", nullptr), IsEmpty());
  EXPECT_TRUE(detail::GetFromStore(store_, "", "4"));
}

// X2 over random histories: every index agrees with a scan of the same snapshot.
// Contract: invariant X2.
TEST_F(StoreTest, AgreesInEveryIndexWithAScanOfTheSameSnapshot) {
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

// ------------------------------------------------------------------------------ AddIndex() beside Apply()

// Anything that the informer may apply, at random. `more` is applied with it.
void ApplyAny(Store& store, std::mt19937& random, std::vector<Change> more = {}) {
  const AnySnapshot now = store.Snapshot();
  const std::vector<std::string> colors = {"", "red", "green", "blue"};
  const auto any = [&] { return Make("n", "o" + std::to_string(random() % 60), colors[random() % colors.size()]); };
  Transaction transaction;
  const bool replace = random() % 4 == 0;
  for (std::uint32_t i = random() % 6 + (replace ? 30 : 0); i > 0; --i) {
    const ObjectKey key{"n", "o" + std::to_string(random() % 60)};
    const AnyRef there = now.Get(key);
    if (there && random() % 3 == 0) {
      transaction.changes.push_back({key, there, random() % 2 == 0});  // the same object, marked or not
    } else if (replace || random() % 3 != 0) {
      transaction.changes.push_back(Put(any(), random() % 5 == 0));
    } else {
      transaction.changes.push_back({key, {}, random() % 2 == 0});  // deleted, or refused
    }
  }
  std::ranges::move(more, std::back_inserter(transaction.changes));
  replace ? ReplaceAll(store, std::move(transaction)) : store.Apply(std::move(transaction));
}

// The index function calls back: it applies a transaction while the index is built, and one in each of the two passes
// after that. Each transaction changes the object "marker", so that the next pass calls the function for it; the last
// change is left to the pass under the lock.
// Contract: invariant X2.
TEST_F(StoreTest, AddsChangesThatWereAppliedWhileAnIndexWasBuilt) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    store_ = MakeShared<Store>();
    const auto marker = [](int k) { return Put(Make("n", "marker", "", "m" + std::to_string(k))); };
    store_->Apply(One(marker(0)));
    for (int i = 0; i < 10; ++i) ApplyAny(*store_, random);
    store_->Apply(One(marker(0)));
    int applied = 0;
    ASSERT_TRUE(store_->AddIndex("color", [&](const AnyRef& object, IndexSink& sink) {
      if (applied < 3 && object.metadata()->uid == "m" + std::to_string(applied)) {
        ++applied;
        ApplyAny(*store_, random, {marker(applied)});
      }
      ByColor(object, sink);
    }));
    ASSERT_EQ(applied, 3);
    ASSERT_EQ(store_->Snapshot().Get({"n", "marker"}).metadata()->uid, "m3");
    ASSERT_EQ(Indexed(store_->Snapshot()), Expected(store_->Snapshot())) << seed;
    for (int i = 0; i < 5; ++i) ApplyAny(*store_, random);
    ASSERT_EQ(Indexed(store_->Snapshot()), Expected(store_->Snapshot())) << seed;
  }
}

TEST_F(StoreTest, CallsANewIndexFunctionAgainOnlyForObjectsThatHaveChangedMeanwhile) {
  for (int i = 0; i < 1000; ++i) store_->Apply(One(Put(Make("n", "o" + std::to_string(i), "red"))));
  int calls = 0;
  ASSERT_TRUE(store_->AddIndex("color", [&](const AnyRef& object, IndexSink& sink) {
    if (++calls == 500) store_->Apply(One(Put(Make("n", "o7", "blue"))));
    ByColor(object, sink);
  }));
  EXPECT_EQ(calls, 1002);  // the state of o7 that went, and the one that came
  EXPECT_THAT(Names(store_->Snapshot().ByIndex("color", "blue")), ElementsAre("o7"));
}

TEST_F(StoreTest, AddsNoIndexWhenItsFunctionThrowsForAnObjectThatArrivedMeanwhile) {
  store_->Apply(One(Put(Make("n", "a", "red"))));
  bool first = true;
  const Result<void> added = store_->AddIndex("color", [&](const AnyRef& object, IndexSink&) {
    if (std::exchange(first, false)) store_->Apply(One(Put(Make("n", "b", "bad"))));
    if (object.metadata()->labels["color"] == "bad") throw std::runtime_error("bad color");
  });
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code(), Code::kUserCode);
  EXPECT_THAT(added.error().ToString(), AllOf(HasSubstr("\"color\""), HasSubstr("bad color")));
  EXPECT_FALSE(store_->Snapshot().HasIndex("color"));
  EXPECT_TRUE(store_->AddIndex("color", ByColor));
}

// An exception without a text is one as well.
TEST_F(StoreTest, AddsNoIndexWhenItsFunctionThrowsAnUnknownException) {
  store_->Apply(One(Put(Make("n", "a"))));
  EXPECT_EQ(store_->AddIndex("mute", [](const AnyRef&, IndexSink&) { throw std::runtime_error(""); }).error().code(),
            Code::kUserCode);
  EXPECT_FALSE(store_->Snapshot().HasIndex("mute"));
}

// Contract: informer ST-10.
TEST_F(StoreTest, RefusesTheSecondOfTwoIndexesOfTheSameNameThatAreBuiltAtOnce) {
  store_->Apply(One(Put(Make("n", "a", "red"))));
  bool first = true;
  Result<void> other;
  const Result<void> late = store_->AddIndex("color", [&](const AnyRef&, IndexSink& sink) {
    if (std::exchange(first, false)) std::thread([&] { other = store_->AddIndex("color", ByColor); }).join();
    sink.Add("late");
  });
  EXPECT_TRUE(other);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), ElementsAre("red"));
}

TEST_F(StoreTest, RefusesAnIndexThatAnIndexFunctionOfTheSameStoreWantsToAdd) {
  auto other = MakeShared<Store>();
  other->Apply(One(Put(Make("n", "a"))));
  store_->Apply(One(Put(Make("n", "a"))));
  std::vector<std::string> results;
  const auto add = [&](const AnyRef&, IndexSink&) {
    const Result<void> added = store_->AddIndex("inner", ByColor);
    results.push_back(added ? "added" : added.error().ToString());
  };
  ASSERT_TRUE(store_->AddIndex("outer", add));        // while it is made
  store_->Apply(One(Put(Make("n", "b"))));            // while a transaction is applied
  ReplaceAll(*store_, {{Put(Make("n", "c"))}, "2"});  // and a list
  ASSERT_TRUE(store_->AddIndex("via another store", [&](const AnyRef&, IndexSink&) {
    if (!other->Snapshot().HasIndex("their")) Must(other->AddIndex("their", add));  // it may add to another store
  }));
  ASSERT_EQ(results.size(), 4u);
  for (const std::string& result : results) {
    EXPECT_THAT(result, AllOf(HasSubstr("\"inner\""), HasSubstr("an index function cannot add an index")));
  }
  EXPECT_FALSE(store_->Snapshot().HasIndex("inner"));
  EXPECT_TRUE(store_->AddIndex("inner", ByColor));  // it is only from within one that it cannot be done
}

TEST_F(StoreTest, AddsAnIndexFromTheCallbackOfAFault) {
  ASSERT_TRUE(store_->AddIndex("bad", [](const AnyRef&, IndexSink&) { throw std::runtime_error("bad"); }));
  Result<void> added = Fail(Code::kInternal, "not called");
  store_->SetOnFault([&](const StoreFault&) { added = store_->AddIndex("color", ByColor); });
  store_->Apply(One(Put(Make("n", "a", "red"))));
  EXPECT_TRUE(added);
  EXPECT_THAT(store_->Snapshot().IndexValues("color"), ElementsAre("red"));
}

// Contract: invariant X2.
TEST_F(StoreTest, AgreesInIndexesThatWereAddedWhileTheWriterWrote) {
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    std::mt19937 random(5);
    while (!stop) ApplyAny(*store_, random);
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(store_->AddIndex("color " + std::to_string(i), ByColor));
    const AnySnapshot view = store_->Snapshot();
    EXPECT_EQ(Indexed(view), Expected(view)) << i;
  }
  stop = true;
  writer.join();
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
    Transaction both{{Put(Make("n", "a", "", uid)), Put(Make("n", "b", "", uid))}, uid};
    if (i % 10 == 0) {
      ReplaceAll(*store_, std::move(both));
    } else {
      store_->Apply(std::move(both));
    }
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
}

// A reader that stops between its announcement and taking its reference to the state.
TEST(StoreLifetimeTest, KeepsAStateThatAReaderHasAnnounced) {
  auto store = MakeShared<Store>();
  const std::int64_t empty = LiveBlocks();
  store->Apply(One(Put(Make("default", "a"))));
  const std::int64_t one = LiveBlocks();
  ASSERT_GT(one, empty);
  ThisThreadsSlot().announced = &store->Snapshot().state();
  store->Apply(One(Remove("default", "a"), "2"));
  store->Apply({{}, "3"});
  EXPECT_EQ(LiveBlocks(), one);
  ThisThreadsSlot().announced = nullptr;
  store->Apply({{}, "4"});
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
