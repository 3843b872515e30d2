// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Warm starts of a factory's informers, with the in-memory API server and files on disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kgen/cache/dynamic_informer.h"
#include "kgen/cache/factory.h"
#include "kgen/cache/lister.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/core/sample.h"
#include "tests/support/private_folder.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using sample::Sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const GroupVersionResource kSamples{"test.kgen.dev", "v1", "samples"};
const GroupVersionResource kSecrets{"", "v1", "secrets"};

class Factory : public SharedInformerFactory {
 public:
  using SharedInformerFactory::SharedInformerFactory;
  InformerAccessor<Sample, Lister<Sample>> Samples() const { return InformerAccessor<Sample, Lister<Sample>>(state()); }
};

struct Refusals : Observer {
  void OnSavedCacheFailed(const SavedCacheFailed& e) override { errors.push_back(e.error->ToString()); }
  std::vector<std::string> errors;
};

class WarmFactoryTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  WarmFactoryTest() {
    cluster_.AddResource({.group = "test.kgen.dev",
                          .version = "v1",
                          .plural = "samples",
                          .singular = "sample",
                          .kind = "Sample",
                          .list_kind = "SampleList"});
  }
  void Add(std::string_view namespace_, std::string_view name, std::string_view rest = "") {
    Must(cluster_.Add(R"({"apiVersion":"test.kgen.dev/v1","kind":"Sample","metadata":{"namespace":")" +
                      std::string(namespace_) + R"(","name":")" + std::string(name) + "\"" + std::string(rest) + "}}"));
  }
  InformerOptions Warm() const { return {.warm_start = WarmStart{.folder = folder_.path()}}; }
  // Starts the informers that `of` asks for, and ends the process when they have saved what they have.
  template <typename Of>
  void FirstProcess(const FactoryOptions& options, Of of) {
    Factory factory(cluster_.Connection(), options);
    of(factory);
    factory.Start();
    Must(factory.WaitForCacheSync());
    cluster_.Advance(11s);
  }
  std::vector<std::string> Files() const { return folder_.Files(".saved"); }

  test_support::PrivateFolder folder_;
  Shared<Refusals> refusals_ = MakeShared<Refusals>();
  testing::Cluster cluster_{{.seed = GetParam(), .latency = 5ms, .observer = refusals_}};
};

TEST_P(WarmFactoryTest, TheNextProcessServesTheSavedStateAndCatchesUpWithoutAList) {
  Add("default", "a");
  Add("default", "b");
  FirstProcess({.defaults = Warm()}, [](Factory& factory) { (void)factory.Samples().Informer(); });
  Must(cluster_.Delete("samples", "default", "a"));
  Add("default", "c");

  Factory factory(cluster_.Connection(), {.defaults = Warm()});
  std::vector<std::string> seen;
  const Registration registration = factory.Samples().Informer().AddEventHandler(
      {.on_add =
           [&](const Added<Sample>& e) {
             seen.push_back("+" + e.key.name.str() + " " + std::string(ToString(e.reason)));
           },
       .on_delete = [&](const Deleted<Sample>& e) { seen.push_back("-" + e.key.name.str()); }});
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.handlers = {&registration}, .stale = true}));
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("+a saved", "+b saved"));
  EXPECT_TRUE(factory.status().front().stale);
  seen.clear();
  Must(factory.WaitForCacheSync({}, {.handlers = {&registration}, .give_up_after = 2min}));
  EXPECT_THAT(seen, ElementsAre("-a", "+c watch"));
  EXPECT_EQ(factory.status().front().lists, 0u);
  EXPECT_FALSE(factory.status().front().stale);
  EXPECT_THAT(factory.Samples().Lister().List(), SizeIs(2));
}

TEST_P(WarmFactoryTest, TheNextProcessListsIfTheServerHasForgottenTheHistory) {
  Add("default", "a");
  FirstProcess({.defaults = Warm()}, [](Factory& factory) { (void)factory.Samples().Informer(); });
  Add("default", "b");
  cluster_.Compact();
  Factory factory(cluster_.Connection(), {.defaults = Warm()});
  (void)factory.Samples().Informer();
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.give_up_after = 10s}));
  EXPECT_EQ(factory.status().front().lists, 1u);
  EXPECT_THAT(factory.Samples().Lister().List(), SizeIs(2));
}

TEST_P(WarmFactoryTest, NoticesThatTheClusterIsAnotherOne) {
  Add("default", "a");
  FirstProcess({.defaults = Warm()}, [](Factory& factory) { (void)factory.Samples().Informer(); });
  cluster_.RestoreCopy();  // to what a new cluster has
  Must(cluster_.Delete("namespaces", "", "kube-system"));
  cluster_.RunUntilIdle();
  Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", "kube-system")));
  for (int i = 0; i < 20; ++i) Add("default", "other" + std::to_string(i));  // beyond the version of the file
  Must(cluster_.Delete("samples", "default", "other0"));
  Factory factory(cluster_.Connection(), {.defaults = Warm()});
  (void)factory.Samples().Informer();
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.give_up_after = 10s}));
  EXPECT_THAT(factory.Samples().Lister().List(), SizeIs(19));
}

TEST_P(WarmFactoryTest, EachScopeHasAFileOfItsOwn) {
  Add("one", "a");
  Add("two", "b");
  const auto both = [](const Factory& factory) {
    (void)factory.Samples().In({.namespace_ = "one"}).Informer();
    (void)factory.Samples().In({.namespace_ = "two"}).Informer();
  };
  FirstProcess({.defaults = Warm()}, both);
  EXPECT_THAT(Files(), SizeIs(2));
  Factory factory(cluster_.Connection(), {.defaults = Warm()});
  both(factory);
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.stale = true}));
  EXPECT_EQ(factory.Samples().In({.namespace_ = "one"}).Lister().List().at(0)->metadata.name, "a");
  EXPECT_EQ(factory.Samples().In({.namespace_ = "two"}).Lister().List().at(0)->metadata.name, "b");
  EXPECT_THAT(refusals_->errors, IsEmpty());
}

TEST_P(WarmFactoryTest, AnInformerWithoutGeneratedCodeHasAFileOfItsOwnForm) {
  Add("default", "a");
  FirstProcess({.defaults = Warm()}, [](Factory& factory) {
    (void)factory.Samples().Informer();
    (void)factory.ForResource(kSamples).Informer();
  });
  EXPECT_THAT(Files(), SizeIs(2));
  Factory factory(cluster_.Connection(), {.defaults = Warm()});
  const DynamicInformer samples = factory.ForResource(kSamples);
  (void)samples.Informer();
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.stale = true}));
  const auto object = samples.Lister().List().at(0);
  EXPECT_EQ(object->kind, "Sample");
  EXPECT_EQ(object->apiVersion, "test.kgen.dev/v1");
}

TEST_P(WarmFactoryTest, AFileWithManagedFieldsIsNotForAnInformerThatDropsThem) {
  Add("default", "a", R"(,"managedFields":[{"manager":"kubectl","operation":"Update"}])");
  const auto samples = [](const Factory& factory) { (void)factory.Samples().Informer(); };
  InformerOptions dropping = Warm();
  dropping.drop_managed_fields = true;
  FirstProcess({.defaults = Warm()}, samples);
  FirstProcess({.defaults = dropping}, samples);
  EXPECT_THAT(refusals_->errors, SizeIs(1));
  Factory factory(cluster_.Connection(), {.defaults = dropping});
  samples(factory);
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.stale = true}));
  const auto object = factory.Samples().Lister().List().at(0);
  EXPECT_THAT(object->metadata.managedFields, IsEmpty());
  EXPECT_THAT(refusals_->errors, SizeIs(1));
}

TEST_P(WarmFactoryTest, SavesSecretsOnlyIfAskedTo) {
  Must(cluster_.Add(testing::MinimalObject("v1", "Secret", "default", "token")));
  const auto secrets = [](const Factory& factory) { (void)factory.ForResource(kSecrets).Informer(); };
  InformerOptions options = Warm();
  FirstProcess({.defaults = options}, secrets);
  EXPECT_THAT(folder_.Files(""), IsEmpty());
  options.warm_start->secrets = true;
  FirstProcess({.defaults = options}, secrets);
  EXPECT_THAT(Files(), SizeIs(1));
  options.warm_start->secrets = false;
  Factory factory(cluster_.Connection(), {.defaults = options});
  secrets(factory);
  factory.Start();
  Must(factory.WaitForCacheSync({}, {.stale = true}));
  EXPECT_EQ(factory.status().front().stale, false);
  EXPECT_EQ(factory.status().front().lists, 1u);
}

TEST_P(WarmFactoryTest, ATransformThatIsSetLaterNeedsAName) {
  const auto set = [](const Factory& factory) { return factory.Samples().Informer().SetTransform([](Sample&) {}); };
  Factory unnamed(cluster_.Connection(), {.defaults = Warm()});
  const Result<void> refused = set(unnamed);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("set WarmStart::transform"));
  InformerOptions options = Warm();
  options.warm_start->transform = "nothing";
  Factory named(cluster_.Connection(), {.defaults = options});
  EXPECT_TRUE(set(named));
}

INSTANTIATE_TEST_SUITE_P(Seeds, WarmFactoryTest, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace kgen
