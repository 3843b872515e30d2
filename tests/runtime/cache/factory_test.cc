// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Factories with the in-memory API server: the whole path from the bytes of a response to handlers and listers.
#include "kgen/cache/factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kgen/client/options.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using sample::Sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What a generated factory adds to the common one.
class SampleLister : public Lister<Sample> {
 public:
  using Lister::Lister;
  NamespaceLister<Sample> Samples(std::string_view namespace_) const { return In(namespace_); }
};
class Factory : public SharedInformerFactory {
 public:
  using SharedInformerFactory::SharedInformerFactory;
  InformerAccessor<Sample, SampleLister> Samples() const { return InformerAccessor<Sample, SampleLister>(state()); }
};

std::string Json(std::string_view namespace_, std::string_view name, std::string_view rest = "") {
  return R"({"apiVersion":"test.kgen.dev/v1","kind":"Sample","metadata":{"namespace":")" + std::string(namespace_) +
         R"(","name":")" + std::string(name) + "\"" + std::string(rest) + "}}";
}

class FactoryTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  FactoryTest() {
    cluster_.AddResource({.group = "test.kgen.dev",
                          .version = "v1",
                          .plural = "samples",
                          .singular = "sample",
                          .kind = "Sample",
                          .list_kind = "SampleList"});
  }
  void Add(std::string_view namespace_, std::string_view name, std::string_view rest = "") {
    Must(cluster_.Add(std::string_view(Json(namespace_, name, rest))));
  }
  // What every handler's view must come to.
  [[nodiscard]] Registration Fold(const Factory& factory) {
    return factory.Samples().Informer().AddEventHandler(
        {.on_add = [this](const Added<Sample>& e) { folded_[e.key.str()] = e.now->metadata.resourceVersion.str(); },
         .on_update =
             [this](const Updated<Sample>& e) { folded_[e.key.str()] = e.now->metadata.resourceVersion.str(); },
         .on_delete = [this](const Deleted<Sample>& e) { folded_.erase(e.key.str()); }});
  }
  std::map<std::string, std::string> OnServer() {
    std::map<std::string, std::string> objects;
    for (const std::string& json : cluster_.List("samples")) {
      const Sample object = Must(Decode<Sample>(json));
      objects[object.metadata.namespace_ + "/" + object.metadata.name.str()] = object.metadata.resourceVersion.str();
    }
    return objects;
  }
  static std::map<std::string, std::string> InStore(const Factory& factory) {
    std::map<std::string, std::string> objects;
    for (const Ref<const Sample>& object : factory.Samples().Lister().List()) {
      objects[object->metadata.namespace_ + "/" + object->metadata.name.str()] = object->metadata.resourceVersion.str();
    }
    return objects;
  }
  void ExpectAgreement(const Factory& factory) {
    EXPECT_EQ(InStore(factory), OnServer());
    EXPECT_EQ(folded_, OnServer());
  }

  testing::Cluster cluster_{{.seed = GetParam(), .observer = NullObserver()}};
  std::map<std::string, std::string> folded_;
};

TEST_P(FactoryTest, SyncsAndFollowsTheServer) {
  Add("default", "old");
  Factory factory(cluster_.Connection());
  const Registration registration = Fold(factory);
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.handlers = {&registration}}));
  ExpectAgreement(factory);
  Add("default", "new");
  Must(cluster_.Delete("samples", "default", "old"));
  cluster_.RunUntilIdle();
  EXPECT_EQ(folded_.size(), 1u);
  ExpectAgreement(factory);
}

// Contract: informer SI-08.
TEST_P(FactoryTest, AgreesWithTheServerAgainAfterEveryFault) {
  for (int i = 0; i < 5; ++i) Add("default", "s" + std::to_string(i));
  Factory factory(cluster_.Connection(), {.defaults = {.streaming_list = GetParam() % 2 == 0}});
  const Registration registration = Fold(factory);
  factory.Start();
  Must(factory.WaitForCacheSync());
  for (int round = 0; round < 12; ++round) {
    switch (cluster_.simulation().Choose(9)) {
      case 0:
        cluster_.CutWatches();
        break;
      case 1:
        cluster_.EndWatches();
        break;
      case 2:
        cluster_.Compact();
        break;
      case 3:
        cluster_.Restart();
        break;
      case 4:
        cluster_.Inject({.verb = "watch", .status = 429, .reason = "TooManyRequests"});
        break;
      case 5:
        cluster_.Inject({.verb = "list", .status = 500, .reason = "InternalError"});
        break;
      case 6:
        cluster_.Inject({.verb = "watch", .times = 2, .refuse = true});
        break;
      case 7:
        cluster_.Inject({.verb = "watch", .cut_after_bytes = static_cast<int>(cluster_.simulation().Choose(900))});
        break;
      default:
        cluster_.Inject({.verb = "watch", .no_end_marker = true});
        break;
    }
    Add("default", "round" + std::to_string(round));
    if (round % 2 == 0) cluster_.CutWatches();
    if (round % 3 == 2) Must(cluster_.Delete("samples", "default", "round" + std::to_string(round - 2)));
    if (round % 4 == 1) cluster_.Compact();
    cluster_.RunUntilIdle();
  }
  cluster_.ClearFaults();
  cluster_.Advance(30min);
  cluster_.RunUntilIdle();
  ExpectAgreement(factory);
}

// Contract: informer FA-02.
TEST_P(FactoryTest, MakesOneInformerPerKind) {
  const Factory factory(cluster_.Connection());
  EXPECT_EQ(factory.Samples().Informer().informer(), factory.Samples().Informer().informer());
  EXPECT_EQ(factory.status().size(), 1u);
}

// Contract: informer FA-04, FA-05, FA-08.
TEST_P(FactoryTest, StartsWhatWasAskedForAndMayStartMoreLater) {
  Factory factory(cluster_.Connection());
  static_cast<void>(factory.Samples());  // asks for nothing
  factory.Start();
  EXPECT_TRUE(factory.WaitForCacheSync().has_value());  // nothing was started
  EXPECT_THAT(factory.status(), IsEmpty());
  const SampleLister lister = factory.Samples().Lister();
  cluster_.RunUntilIdle();
  EXPECT_FALSE(factory.status().at(0).started);
  const Result<void> early = factory.WaitForCacheSync();
  ASSERT_FALSE(early.has_value());
  EXPECT_EQ(early.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(early.error().ToString(),
              HasSubstr("samples.test.kgen.dev/v1 (Sample): the informer has not been started"));
  Add("default", "a");
  factory.Start();
  Must(factory.WaitForCacheSync());
  EXPECT_TRUE(lister.Samples("default").Get("a"));
}

// Contract: informer FA-01, FA-12.
TEST_P(FactoryTest, KeepsToItsNamespaceAndSelector) {
  Add("one", "a", R"(,"labels":{"tier":"gold"})");
  Add("one", "b");
  Add("two", "c", R"(,"labels":{"tier":"gold"})");
  Factory factory(cluster_.Connection(), {.namespace_ = "one", .defaults = {.label_selector = "tier=gold"}});
  const Registration registration = Fold(factory);
  factory.Start();
  Must(factory.WaitForCacheSync());
  Add("one", "d", R"(,"labels":{"tier":"gold"})");
  Add("one", "e");
  Add("two", "f", R"(,"labels":{"tier":"gold"})");
  cluster_.RunUntilIdle();
  EXPECT_EQ(factory.status().at(0).name, "samples.test.kgen.dev/v1 in one with tier=gold");
  std::vector<std::string> keys;
  for (const auto& [key, version] : folded_) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("one/a", "one/d"));
  EXPECT_EQ(InStore(factory), folded_);
}

TEST_P(FactoryTest, FollowsSeveralScopesOfAKind) {
  Add("one", "a", R"(,"labels":{"tier":"gold"})");
  Add("one", "b");
  Add("two", "c", R"(,"labels":{"tier":"gold"})");
  const Factory factory(cluster_.Connection(), {.namespace_ = "one", .defaults = {.label_selector = "tier=gold"}});
  const auto names = [](const auto& samples) {
    std::vector<std::string> names;
    for (const auto& each : samples.Lister().List()) names.push_back(each->metadata.name.str());
    std::sort(names.begin(), names.end());
    return names;
  };
  const auto own = factory.Samples();
  const auto everywhere = own.In({});
  const auto all = own.In({.label_selector = ""});
  const auto two = own.In({.namespace_ = "two"});
  const auto named = own.In({.label_selector = "", .field_selector = "metadata.name=b"});
  EXPECT_EQ(own.In({.namespace_ = "one"}).Informer().informer(), own.Informer().informer());
  EXPECT_EQ(own.In({.namespace_ = "two"}).Informer().informer(), two.Informer().informer());
  const_cast<Factory&>(factory).Start();
  Must(factory.WaitForCacheSync());
  EXPECT_EQ(factory.status().size(), 5u);
  EXPECT_EQ(cluster_.census().watches, 5u);
  EXPECT_THAT(names(own), ElementsAre("a"));
  EXPECT_THAT(names(everywhere), ElementsAre("a", "c"));
  EXPECT_THAT(names(all), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names(two), ElementsAre("c"));
  EXPECT_THAT(names(named), ElementsAre("b"));
  EXPECT_EQ(two.Informer().status().name, "samples.test.kgen.dev/v1 in two with tier=gold");
  EXPECT_EQ(named.Informer().status().name, "samples.test.kgen.dev/v1 with metadata.name=b");
}

TEST_P(FactoryTest, SaysWhichOptionIsWrong) {
  const auto error_of = [&](const FactoryOptions& options, const InformerScope& scope) {
    Factory factory(cluster_.Connection(), options);
    static_cast<void>(factory.Samples().In(scope));
    factory.Start();
    const auto wait = cluster_.simulation().Spawn([&] { return factory.WaitForCacheSync(); });
    cluster_.Advance(1min);
    const Result<void> synced = wait.done() ? wait.result() : Result<void>(Fail(Code::kInternal, "it waits for ever"));
    EXPECT_EQ(factory.status().at(0).synced, false);
    return synced ? std::string("no error") : synced.error().ToString();
  };
  EXPECT_THAT(error_of({}, {.label_selector = "tier in gold"}),
              AllOf(HasSubstr("(InvalidArgument)"), HasSubstr("with tier in gold"), HasSubstr("label selector")));
  EXPECT_THAT(error_of({.defaults = {.field_selector = "=x"}}, {}), HasSubstr("field selector"));
  EXPECT_THAT(error_of({.defaults = {.resync = 0s}}, {}),
              HasSubstr("InformerOptions::resync is 0s, but a period must be positive; kgen::kNever"));
  EXPECT_THAT(error_of({.defaults = {.resync = -5s}}, {}), HasSubstr("InformerOptions::resync is -5s"));
  EXPECT_THAT(error_of({.of = {{&Sample::kTable, {.page_size = 0}}}}, {}),
              HasSubstr("InformerOptions::page_size is 0, but it must be positive"));
  EXPECT_THAT(error_of({.defaults = {.warm_start = WarmStart{}}}, {}),
              HasSubstr("InformerOptions::warm_start has no folder"));
  EXPECT_THAT(error_of({.defaults = {.transform = [](AnyRef object) -> Result<AnyRef> { return object; },
                                     .warm_start = WarmStart{.folder = "/nonexistent/cache"}}},
                       {}),
              HasSubstr("InformerOptions::warm_start has no name for the transform"));
  EXPECT_THAT(error_of({.defaults = {.warm_start = WarmStart{.folder = "/nonexistent/cache", .save_every = 0s}}}, {}),
              HasSubstr("WarmStart::save_every is 0s, but a period must be positive"));
}

TEST_P(FactoryTest, ResyncsEveryTenHoursATenthMoreOrLessUnlessToldOtherwise) {
  Add("default", "a");
  const auto resync_after = [&](const FactoryOptions& options, Nanos limit) {
    Factory factory(cluster_.Connection(), options);
    std::optional<Nanos> after;
    const TimePoint start = cluster_.simulation().clock()->Now();
    const Registration registration =
        factory.Samples().Informer().AddEventHandler({.on_update = [&](const Updated<Sample>& e) {
          if (e.reason == Reason::kResync && !after) after = cluster_.simulation().clock()->Now() - start;
        }});
    factory.Start();
    Must(factory.WaitForCacheSync());
    cluster_.Advance(limit);
    return after;
  };
  const std::optional<Nanos> after = resync_after({}, 12h);
  ASSERT_TRUE(after);
  EXPECT_GE(*after, 9h);
  EXPECT_LE(*after, 11h + 1min);
  EXPECT_FALSE(resync_after({.defaults = {.resync = kNever}}, 24h));
}

// Contract: informer FA-02.
TEST_P(FactoryTest, GivesSingleKindsTheirOwnResync) {
  Add("default", "a");
  Factory factory(cluster_.Connection(), {.defaults = {.resync = 1h}, .of = {{&Sample::kTable, {.resync = 10s}}}});
  int resyncs = 0;
  const Registration registration = factory.Samples().Informer().AddEventHandler(
      {.on_update = [&](const Updated<Sample>& e) { resyncs += e.reason == Reason::kResync ? 1 : 0; }});
  factory.Start();
  Must(factory.WaitForCacheSync());
  cluster_.RunUntilIdle();
  cluster_.Advance(35s);
  EXPECT_EQ(resyncs, 3);
}

// Contract: informer FA-01.
TEST_P(FactoryTest, TransformsEveryObjectOfEveryInformer) {
  Add("default", "a");
  Factory factory(cluster_.Connection(), {.defaults = {.transform = [](AnyRef object) -> Result<AnyRef> {
                                            Sample changed = *object.As<Sample>();
                                            changed.metadata.labels["seen"] = "yes";
                                            return AnyRef(MakeRef(std::move(changed)));
                                          }}});
  static_cast<void>(factory.Samples().Informer());
  factory.Start();
  Must(factory.WaitForCacheSync());
  EXPECT_EQ(factory.Samples().Lister().Samples("default").Get("a").get()->metadata.labels["seen"], "yes");
}

// Contract: informer FA-06, FA-07.
TEST_P(FactoryTest, ShutsDownAndStartsNothingAnyMore) {
  Add("default", "a");
  Factory factory(cluster_.Connection());
  const Registration registration = Fold(factory);
  factory.Start();
  Must(factory.WaitForCacheSync());
  factory.Shutdown();
  factory.Shutdown();
  cluster_.RunUntilIdle();  // the server receives the cancelled watch
  EXPECT_TRUE(factory.Samples().Informer().IsStopped());
  EXPECT_EQ(cluster_.census().watches, 0u);
  Add("default", "b");
  factory.Start();
  cluster_.RunUntilIdle();
  EXPECT_EQ(InStore(factory).size(), 1u);  // the last state
  const Registration late = Fold(factory);
  EXPECT_EQ(late.status().error().code(), Code::kStopped);
}

// Contract: informer FA-05.
TEST_P(FactoryTest, StopsWithTheTokenOfItsStart) {
  std::stop_source stop;
  Factory factory(cluster_.Connection());
  static_cast<void>(factory.Samples().Informer());
  factory.Start(stop.get_token());
  Must(factory.WaitForCacheSync());
  stop.request_stop();
  cluster_.RunUntilIdle();
  EXPECT_TRUE(factory.Samples().Informer().IsStopped());
  EXPECT_EQ(cluster_.census().watches, 0u);
}

// Contract: design D11.
TEST_P(FactoryTest, CanBeDestroyedBeforeEverythingThatItReturned) {
  Add("default", "a");
  std::optional<Factory> factory(std::in_place, cluster_.Connection());
  const auto accessor = factory->Samples();
  const SampleLister lister = accessor.Lister();
  const SharedInformer<Sample> informer = accessor.Informer();
  const Registration registration = Fold(*factory);
  factory->Start();
  Must(factory->WaitForCacheSync());
  factory.reset();
  cluster_.RunUntilIdle();
  EXPECT_EQ(cluster_.census().watches, 0u);
  EXPECT_TRUE(lister.Samples("default").Get("a"));
  EXPECT_TRUE(informer.IsStopped());
  EXPECT_EQ(accessor.Informer().informer(), informer.informer());
  EXPECT_EQ(informer.Indexer().Snapshot().size(), 1u);
}

// Contract: design D11.
TEST_P(FactoryTest, CanBeDestroyedFromAHandler) {
  Add("default", "a");
  std::optional<Factory> factory(std::in_place, cluster_.Connection());
  int calls = 0;
  const Registration registration = factory->Samples().Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) {
    ++calls;
    factory.reset();
  }});
  factory->Start();
  cluster_.RunUntilIdle();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(factory.has_value());
  EXPECT_EQ(cluster_.census().watches, 0u);
}

// Contract: design D11.
TEST_P(FactoryTest, WaitsForARunningHandlerWhenItIsDestroyed) {
  Add("default", "a");
  bool ended = false;
  {
    Factory factory(cluster_.Connection());
    const Registration registration =
        factory.Samples().Informer().AddEventHandler({.on_add = [&](const Added<Sample>&) {
          const auto waiter = cluster_.simulation().executor()->MakeWaiter("a slow handler");
          static_cast<void>(waiter->Wait({}, cluster_.simulation().clock()->Now() + 10s));
          ended = true;
        }});
    factory.Start();
    Must(factory.WaitForCacheSync());
    cluster_.Advance(1s);
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

TEST_P(FactoryTest, LeaksNothing) {
  const std::int64_t blocks = LiveBlocks();
  {
    Factory factory(cluster_.Connection());
    const Registration registration = Fold(factory);
    factory.Start();
    Must(factory.WaitForCacheSync());
  }
  cluster_.RunUntilIdle();
  EXPECT_EQ(LiveBlocks(), blocks);
  EXPECT_EQ(cluster_.census().watches, 0u);
  EXPECT_EQ(cluster_.census().requests, 0u);
  const auto census = cluster_.simulation().census();
  EXPECT_EQ(census.blocking, 0u);
  EXPECT_EQ(census.tasks, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FactoryTest, ::testing::Range<std::uint64_t>(0, 32));

}  // namespace
}  // namespace kgen
