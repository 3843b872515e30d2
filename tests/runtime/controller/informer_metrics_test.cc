// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The metrics kgen_informer_*, of a manager and of a factory, in virtual time.
#include <map>
#include <string>

#include "kgen/cache/factory.h"
#include "kgen/controller/caches.h"
#include "tests/runtime/controller/manager_fixture.h"
#include "tests/support/prometheus_parser.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

class InformerMetricsTest : public ManagerTest {
 protected:
  static double Value(const std::map<std::string, double>& values, const std::string& name,
                      const std::string& more = {}) {
    const auto found = values.find(name + "{" + more + "informer=\"configmaps\",kind=\"ConfigMap\",manager=\"shop\"}");
    EXPECT_NE(found, values.end()) << name;
    return found == values.end() ? -1 : found->second;
  }
  // A metric that the only handler has.
  static double OfHandler(const std::map<std::string, double>& values, const std::string& name) {
    return Value(values, "kgen_informer_handler_" + name, "handler=\"mine\",");
  }
  std::map<std::string, double> Read(const Metrics& metrics) {
    return test_support::ParsePrometheus(Must(metrics.Text()));
  }
  // The caches of a manager, with one handler.
  void Follow(const Caches& caches, EventHandler<ConfigMap> handler) {
    registration_ = Must(caches.Of<ConfigMap>()).AddEventHandler(std::move(handler), {.name = "mine"});
    caches.Start(stop_.get_token());
  }
  CacheRegistration registration_;
};

class Factory : public SharedInformerFactory {
 public:
  using SharedInformerFactory::SharedInformerFactory;
  SharedInformer<k8s::core::v1::ConfigMap> Maps() const {
    return SharedInformer<k8s::core::v1::ConfigMap>(detail::InformerFor(state(), k8s::core::v1::ConfigMap::kTable));
  }
};

INSTANTIATE_TEST_SUITE_P(Seeds, InformerMetricsTest, ::testing::Range<std::uint64_t>(0, 8));

// Contract: controller 142; informer MT-01.
TEST_P(InformerMetricsTest, CountTheObjectsTheirBytesAndWhatAnInformerDoes) {
  AddMap("a", std::string(1000, 'x'));
  AddMap("b");
  const Manager manager = New({.name = "shop"});
  Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
  const Ran ran = Spawn(manager);
  Settle();
  UpdateMap("b", "new");
  Settle();
  cluster_.Advance(10s);
  const auto values = Read(manager.metrics());
  EXPECT_EQ(Value(values, "kgen_informer_objects"), 2);
  EXPECT_THAT(Value(values, "kgen_informer_object_bytes"), ::testing::AllOf(::testing::Gt(1500), ::testing::Lt(6000)));
  EXPECT_EQ(Value(values, "kgen_informer_refused_objects"), 0);
  EXPECT_EQ(Value(values, "kgen_informer_synced"), 1);
  EXPECT_EQ(Value(values, "kgen_informer_stale"), 0);
  EXPECT_EQ(Value(values, "kgen_informer_lists_total"), 1);
  EXPECT_EQ(Value(values, "kgen_informer_watches_total"), 1);
  EXPECT_EQ(Value(values, "kgen_informer_consecutive_failures"), 0);
  EXPECT_GE(Value(values, "kgen_informer_events_total"), 1);
  EXPECT_EQ(std::to_string(static_cast<std::uint64_t>(Value(values, "kgen_informer_resource_version"))),
            manager.caches().status().front().resource_version);
  const std::string handler = "handler=\"controller maps\",";
  EXPECT_EQ(Value(values, "kgen_informer_handler_calls_total", handler), 3);
  Stop(ran);
}

// Contract: controller 142.
TEST_P(InformerMetricsTest, GrowOlderUntilTheServerSendsSomething) {
  AddMap("a");
  const Manager manager = New({.name = "shop"});
  Follow(manager.caches(), {});
  EXPECT_THAT(Read(manager.metrics()), Not(Contains(Key(HasSubstr("kgen_informer_age_seconds")))));
  Settle();
  UpdateMap("a", "new");
  Settle();
  EXPECT_LT(Value(Read(manager.metrics()), "kgen_informer_age_seconds"), 1);
  cluster_.Advance(20s);
  const double age = Value(Read(manager.metrics()), "kgen_informer_age_seconds");
  EXPECT_GE(age, 20);
  EXPECT_LT(age, 21);
}

TEST_P(InformerMetricsTest, CountFailuresByTheirCode) {
  cluster_.Inject({.resource = "configmaps", .times = 2, .status = 503});
  const Manager manager = New({.name = "shop"});
  Follow(manager.caches(), {});
  cluster_.Advance(1min);
  cluster_.Inject({.resource = "configmaps", .times = testing::kAlways, .status = 403});
  cluster_.CutWatches();
  cluster_.Advance(1min);
  const auto values = Read(manager.metrics());
  const auto failures = [&](const std::string& code) {
    return values.at("kgen_informer_failures_total{code=\"" + code +
                     "\",informer=\"configmaps\",kind=\"ConfigMap\",manager=\"shop\"}");
  };
  EXPECT_EQ(failures("Unavailable"), 2);
  EXPECT_GE(failures("Forbidden"), 1);
  const double in_a_row = Value(values, "kgen_informer_consecutive_failures");
  EXPECT_GT(in_a_row, 1);
  EXPECT_GE(failures("Forbidden"), in_a_row);
}

// Contract: informer MT-01.
TEST_P(InformerMetricsTest, MeasureTheCallsOfAHandlerAndWhatWaitsForIt) {
  const Manager manager = New({.name = "shop"});
  Follow(manager.caches(), {.on_add = [this](const Added<ConfigMap>&) { (void)Pause(3s); }});
  Settle();
  AddMap("a");
  cluster_.Advance(1s);
  AddMap("b");
  AddMap("c");
  cluster_.Advance(1s);
  auto values = Read(manager.metrics());
  EXPECT_EQ(OfHandler(values, "calls_total"), 0);
  EXPECT_EQ(OfHandler(values, "backlog"), 2);
  EXPECT_GT(OfHandler(values, "backlog_bytes"), 0);
  EXPECT_NEAR(OfHandler(values, "backlog_age_seconds"), 1, 0.1);  // b, which waits for a
  EXPECT_NEAR(OfHandler(values, "running_seconds"), 2, 0.5);
  cluster_.Advance(10s);
  values = Read(manager.metrics());
  EXPECT_EQ(OfHandler(values, "calls_total"), 3);
  EXPECT_EQ(OfHandler(values, "slow_calls_total"), 3);
  EXPECT_NEAR(OfHandler(values, "seconds_total"), 9, 0.1);
  EXPECT_EQ(OfHandler(values, "running_seconds"), 0);
  EXPECT_EQ(OfHandler(values, "backlog"), 0);
  EXPECT_EQ(OfHandler(values, "backlog_bytes"), 0);
  EXPECT_EQ(OfHandler(values, "backlog_age_seconds"), 0);
  registration_.Remove();
  EXPECT_THAT(Read(manager.metrics()), Each(Key(Not(HasSubstr("kgen_informer_handler_")))));
}

// Contract: informer MT-02.
TEST_P(InformerMetricsTest, AddTheInformersOfSeveralFactoriesUpWhereTheyHaveEqualLabels) {
  AddMap("a");
  Metrics metrics;
  {
    Factory first(cluster_.Connection()), second(cluster_.Connection());
    metrics.AddInformersOf(first, "shop");
    metrics.AddInformersOf(second, "shop");
    for (Factory* each : {&first, &second}) {
      (void)each->Maps();
      each->Start(stop_.get_token());
    }
    Settle();
    EXPECT_EQ(Value(Read(metrics), "kgen_informer_objects"), 2);
    EXPECT_EQ(Value(Read(metrics), "kgen_informer_lists_total"), 2);
    EXPECT_EQ(Value(Read(metrics), "kgen_informer_synced"), 1);
  }
  EXPECT_EQ(Value(Read(metrics), "kgen_informer_objects"), 2);  // the factories are gone
}

}  // namespace
}  // namespace kgen
