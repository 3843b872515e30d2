// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What leaves the cache of a shard: in steps, in the backlog of handlers, and over the in-memory cluster.
#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/delivery/event_queue.h"
#include "cache/reflector/list_watch.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/cache/shard_fixture.h"

namespace kgen::cache {
namespace {

using namespace kgen::testing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Received = std::vector<std::string>;

class ShardStepsTest : public ShardInformerTest {
 protected:
  ShardStepsTest() { options_.objects_per_task = 4; }
  static std::vector<std::string> Hundred(const std::string& version) {
    std::vector<std::string> items;
    for (int i = 100; i < 200; ++i) items.push_back(ObjectJson("o" + std::to_string(i), version));
    return items;
  }
  // Every second one.
  static ShardRanges Half() {
    std::vector<std::string> names;
    for (int i = 100; i < 200; i += 2) names.push_back("o" + std::to_string(i));
    return Of(names);
  }
  std::size_t Size() { return Core()->store()->Snapshot().size(); }
};

TEST_P(ShardStepsTest, ShowsEitherAllOrNothingOfWhatLeaves) {
  Received received;
  Core()->Hold(ShardRanges::All());
  Sync("5", Hundred("1"));
  const auto handler = Listen(received);
  Run();
  received.clear();
  std::vector<std::size_t> sizes;
  const auto look = [&](const AnyRef& object, IndexSink& sink) {
    sizes.push_back(Size());
    sink.Add(object.metadata()->name);
  };
  Must(Core()->AddIndex("look", look));
  sizes.clear();
  Core()->Hold(Half());
  simulation_.executor()->Post(simulation_.executor()->MakeStrand("probe"), [&] { sizes.push_back(Size()); });
  Run();
  EXPECT_EQ(Size(), 50u);
  for (const std::size_t size : sizes) EXPECT_TRUE(size == 50 || size == 100) << size;
  EXPECT_EQ(received.size(), 50u);
  EXPECT_TRUE(std::is_sorted(received.begin(), received.end()));
  EXPECT_EQ(Core()->store()->Snapshot().IndexValues("look").size(), 50u);
}

// Who adds an index publishes a state of the store in between.
TEST_P(ShardStepsTest, LetsObjectsGoAlsoIfAnIndexIsAddedMeanwhile) {
  Core()->Hold(ShardRanges::All());
  Sync("5", Hundred("1"));
  Received received;
  const auto handler = Listen(received);
  Run();
  received.clear();
  Core()->Hold(Half());
  for (int i = 0; i < 20; ++i) {
    simulation_.executor()->Blocking("user", [this, i] {
      Must(Core()->AddIndex("index " + std::to_string(i),
                            [](const AnyRef& object, IndexSink& sink) { sink.Add(object.metadata()->name); }));
    });
  }
  Run();
  EXPECT_EQ(Size(), 50u);
  EXPECT_EQ(received.size(), 50u);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Core()->store()->Snapshot().IndexValues("index " + std::to_string(i)).size(), 50u);
  }
}

TEST_P(ShardStepsTest, DropsWhatLeavesIfItIsStoppedMeanwhile) {
  Core()->Hold(ShardRanges::All());
  Sync("5", Hundred("1"));
  Core()->Hold({});
  Core()->Stop();
  Run();
  EXPECT_TRUE(Size() == 100 || Size() == 0) << Size();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShardStepsTest, ::testing::Range<std::uint64_t>(0, 4));

// --- The backlog of a slow handler

AnyEvent EventOf(AnyEvent::Type type, std::string_view before, std::string_view now) {
  const auto object = [](std::string_view version) {
    if (version.empty()) return AnyRef();
    Sample sample;
    sample.metadata.name = "k";
    sample.metadata.resourceVersion = version;
    return AnyRef(MakeRef(std::move(sample)));
  };
  return {.type = type, .reason = Reason::kWatch, .key = {{}, "k"}, .before = object(before), .now = object(now)};
}

// Pushes these events into a queue that merges whenever it can: "+1" added, "1>2" updated, "-2" deleted, "-" deleted
// without a state, "<2" left. Returns what comes out.
Received Merged(const std::vector<std::string>& events) {
  using Type = AnyEvent::Type;
  EventQueue queue(0);
  for (const std::string& event : events) {
    const std::size_t arrow = event.find('>');
    if (event[0] == '+') {
      queue.Push(EventOf(Type::kAdded, "", event.substr(1)), TimePoint());
    } else if (arrow != std::string::npos) {
      queue.Push(EventOf(Type::kUpdated, event.substr(0, arrow), event.substr(arrow + 1)), TimePoint());
    } else {
      queue.Push(EventOf(event[0] == '-' ? Type::kDeleted : Type::kLeft, event.substr(1), ""), TimePoint());
    }
  }
  Received received;
  while (const std::optional<AnyEvent> event = queue.Pop()) {
    const auto version = [](const AnyRef& object) { return object ? object.metadata()->resourceVersion.str() : ""; };
    const std::string before = version(event->before), now = version(event->now);
    switch (event->type) {
      case Type::kAdded:
        received.push_back("+" + now);
        break;
      case Type::kUpdated:
        received.push_back(before + ">" + now);
        break;
      case Type::kDeleted:
        received.push_back("-" + before + (event->final_state_unknown ? "?" : ""));
        break;
      case Type::kLeft:
        received.push_back("<" + before);
        break;
    }
  }
  EXPECT_EQ(queue.bytes(), 0u);
  return received;
}

TEST(LeftInTheBacklog, IsMergedLikeADeletion) {
  EXPECT_THAT(Merged({"+1", "<1"}), IsEmpty());
  EXPECT_THAT(Merged({"+1", "1>2", "<2"}), IsEmpty());
  EXPECT_THAT(Merged({"1>2", "<2"}), ElementsAre("<2"));
  EXPECT_THAT(Merged({"1>2", "<2", "+2", "2>3"}), ElementsAre("<2", "+3"));
  EXPECT_THAT(Merged({"1>2", "<2", "+2", "<2"}), ElementsAre("<2"));
  EXPECT_THAT(Merged({"1>2", "<2", "+2", "-3"}), ElementsAre("<2"));
  EXPECT_THAT(Merged({"-2", "+3", "<3", "+3"}), ElementsAre("-2", "+3"));
}

// As when an object that could not be decoded is deleted after its shard came back.
TEST(LeftInTheBacklog, GivesWayToADeletionWithoutAnAdditionInBetween) {
  EXPECT_THAT(Merged({"1>2", "<2", "-"}), ElementsAre("-2?"));
  EXPECT_THAT(Merged({"1>2", "<2", "-4"}), ElementsAre("-4"));
  EXPECT_THAT(Merged({"-2", "<2"}), ElementsAre("-2"));
}

// --- Over the in-memory cluster

class ShardOverClusterTest : public ::testing::TestWithParam<bool> {
 protected:
  ShardOverClusterTest() : cluster_({.seed = 1, .sharded_lists = GetParam(), .kinds = sample::kKinds}) {
    const KindInfo& kind = *Sample::kTable.kind;
    cluster_.AddResource({.group = std::string(kind.group),
                          .version = std::string(kind.version),
                          .plural = std::string(kind.resource),
                          .singular = std::string(kind.singular),
                          .kind = std::string(kind.kind),
                          .list_kind = std::string(kind.list_kind)});
    for (const char* in : {"x", "y", "z"}) Add(in, "a");
  }
  void Add(std::string_view in, std::string_view name) {
    Must(cluster_.Add(MinimalObject("test.kgen.dev/v1", "Sample", in, name)));
  }
  void Start(bool streaming, bool protobuf) {
    connection_.emplace(cluster_.Connection());
    InformerSettings settings{.streaming_list = streaming, .shard_by = ShardBy::kNamespace};
    const ObjectForm form = protobuf ? FormOf(Sample::kTable) : ObjectForm();
    informer_ = MakeShared<cache::Informer>(*connection_, MakeListWatch(*connection_, *Sample::kTable.kind, {}, form),
                                            Sample::kTable, settings);
    registration_.emplace(
        SharedInformer<Sample>(informer_.get())
            .AddEventHandler({.on_add = [this](const Added<Sample>& e) { told_.insert(e.key.str()); },
                              .on_delete =
                                  [this](const Deleted<Sample>& e) {
                                    told_.erase(e.key.str());
                                    ++deletions_;
                                  },
                              .on_left = [this](const Left<Sample>& e) { told_.erase(e.key.str()); }}));
    informer_->Start({});
    cluster_.RunUntilIdle();
  }
  void Hold(const std::vector<std::string>& namespaces) {
    const std::uint64_t number = informer_->Hold(RangesOf(namespaces));
    cluster_.RunUntilIdle();
    EXPECT_EQ(informer_->held(), number);
  }
  std::set<std::string> Cached() {
    std::set<std::string> keys;
    for (const ObjectKey& key : informer_->store()->Snapshot().Keys()) keys.insert(key.str());
    EXPECT_EQ(keys, told_);
    return keys;
  }

  Cluster cluster_;
  std::optional<Connection> connection_;
  OwnedInformer informer_;
  std::optional<Registration> registration_;
  std::set<std::string> told_;
  int deletions_ = 0;
};

TEST_P(ShardOverClusterTest, HoldsTheObjectsOfItsRangesInEveryForm) {
  for (const bool streaming : {false, true}) {
    for (const bool protobuf : {false, true}) {
      Start(streaming, protobuf);
      EXPECT_THAT(Cached(), IsEmpty());
      Hold({"x", "z"});
      EXPECT_THAT(Cached(), ElementsAre("x/a", "z/a"));
      Add("y", "b");
      Add("z", "b");
      Must(cluster_.Delete("samples", "y", "b"));
      Must(cluster_.Delete("samples", "x", "a"));
      cluster_.RunUntilIdle();
      EXPECT_THAT(Cached(), ElementsAre("z/a", "z/b"));
      Hold({"x", "y"});
      EXPECT_THAT(Cached(), ElementsAre("y/a"));
      EXPECT_EQ(deletions_, 1);
      Add("x", "a");
      Must(cluster_.Delete("samples", "z", "b"));
      cluster_.RunUntilIdle();
      EXPECT_THAT(Cached(), ElementsAre("x/a", "y/a"));
      Hold({});
      EXPECT_THAT(Cached(), IsEmpty());
      EXPECT_EQ(cluster_.census().watches, 0u);
      EXPECT_EQ(deletions_, 1);
      deletions_ = 0;
      registration_.reset();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gate, ShardOverClusterTest, ::testing::Bool());

}  // namespace
}  // namespace kgen::cache
