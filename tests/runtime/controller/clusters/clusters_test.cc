// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Clusters: which start and end, what each has of its own, and what happens in the others when one fails.
#include <algorithm>

#include "kgen/controller/terminal_error.h"
#include "tests/runtime/controller/clusters/clusters_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

INSTANTIATE_TEST_SUITE_P(Seeds, ClustersTest, ::testing::Range<std::uint64_t>(0, 5));

TEST_P(ClustersTest, RunTheControllersOfEachInItself) {
  for (const char* const name : {"eu-1", "us-1"}) AddMap(Server(name), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  Must(clusters.Each(Mark));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  const Ran ran = Spawn(home);
  Settle();
  Must(clusters.Add("us-1", ConfigOf("us-1")));  // while it runs
  Settle();
  EXPECT_EQ(MarkOf(Server("eu-1"), "source"), "eu-1");
  EXPECT_EQ(MarkOf(Server("us-1"), "source"), "us-1");
  EXPECT_EQ(StateOf(clusters, "eu-1"), "running");
  EXPECT_EQ(Must(clusters.Get("us-1")).cluster(), "us-1");
  EXPECT_EQ(home.cluster(), "");
  End(ran);
  EXPECT_THAT(clusters.status(), ::testing::IsEmpty());
}

TEST_P(ClustersTest, WriteFromOneToAnotherByACapturedClient) {
  AddMap(Server("eu-1"), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  Must(clusters.Each([client = home.client()](const Manager& cluster) -> Result<void> {
    auto added = cluster.Control<ConfigMap>("copy").Reconcile([client](Request& request) -> Result<void> {
      KGEN_TRY(const auto map, request.Get<ConfigMap>());
      if (!map) return {};
      const std::string name = std::string(request.cluster()) + "-" + std::string(map->metadata.name.view());
      KGEN_TRY(const auto made,
               client.Create(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}, .data = map->data}));
      return {};
    });
    return added ? Result<void>() : Fail(added.error());
  }));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  const Ran ran = Spawn(home);
  Settle();
  EXPECT_TRUE(cluster_.Get("configmaps", "default", "eu-1-source"));
  EXPECT_THAT(Server("eu-1").Writes(), ::testing::IsEmpty());
  End(ran);
}

TEST_P(ClustersTest, NameTheClusterInRequestsRecordsAndMetrics) {
  AddMap(Server("eu-1"), "source");
  AddMap("at-home");
  const Manager home = New();
  const auto control = [](const Manager& manager) -> Result<void> {
    auto added = manager.Control<ConfigMap>("maps").Reconcile([](Request& request) -> Result<void> {
      request.Log("seen in " + (request.cluster().empty() ? "home" : std::string(request.cluster())));
      return TerminalError(Error(Code::kInternal, "no"));
    });
    return added ? Result<void>() : Fail(added.error());
  };
  Must(control(home));
  const Clusters clusters = Make(home, Options());
  Must(clusters.Each(control));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  const Ran ran = Spawn(home);
  Settle();
  EXPECT_THAT(told_->clustered, Contains("eu-1 maps: seen in eu-1"));
  EXPECT_THAT(told_->clustered, Contains("eu-1 maps failed"));
  EXPECT_THAT(told_->logged, Contains(HasSubstr("seen in home")));
  EXPECT_THAT(told_->clustered, Not(Contains(HasSubstr("seen in home"))));
  const std::string metrics = Must(home.metrics().Text());
  const std::string family = "controller_runtime_reconcile_errors_total";
  EXPECT_THAT(metrics, HasSubstr(family + "{cluster=\"eu-1\",controller=\"maps\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr(family + "{cluster=\"\",controller=\"maps\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("kgen_clusters{state=\"running\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("kgen_cluster_up{cluster=\"eu-1\"} 1\n"));
  End(ran);
}

TEST_P(ClustersTest, WaitForTheCallsOfARemovedOneAndStopItsWrites) {
  AddMap(Server("eu-1"), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  std::optional<CachedClient> kept;
  std::vector<std::string> calls;
  Must(clusters.Each([&](const Manager& cluster) -> Result<void> {
    kept = cluster.client();
    auto added = cluster.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<void> {
      calls.emplace_back("begin");
      WaitForStop(request.stop());
      (void)Pause(3s);
      calls.emplace_back("end");
      return {};
    });
    return added ? Result<void>() : Fail(added.error());
  }));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  const Ran ran = Spawn(home);
  cluster_.Advance(1s);
  EXPECT_THAT(calls, ElementsAre("begin"));
  Must(clusters.Remove("eu-1"));
  cluster_.Advance(1s);
  EXPECT_EQ(StateOf(clusters, "eu-1"), "stopping");
  EXPECT_FALSE(clusters.Get("eu-1"));
  EXPECT_FALSE(clusters.Remove("eu-1")) << "it is removed already";
  cluster_.Advance(4s);
  EXPECT_THAT(calls, ElementsAre("begin", "end"));
  EXPECT_EQ(StateOf(clusters, "eu-1"), "none");
  const auto written = cluster_.simulation().Spawn([&]() -> Result<void> {
    auto made = kept->Create(ConfigMap{.metadata = {.name = "late", .namespace_ = "default"}});
    return made ? Result<void>() : Fail(made.error());
  });
  Settle();
  ASSERT_TRUE(written.done());
  EXPECT_THAT(written.result().error().ToString(), HasSubstr("cluster eu-1 has ended or was removed"));
  kept.reset();
  End(ran);
}

TEST_P(ClustersTest, GiveUpACallThatDoesNotReturn) {
  AddMap(Server("eu-1"), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  std::stop_source release;
  Must(clusters.Each([&](const Manager& cluster) -> Result<void> {
    auto added = cluster.Control<ConfigMap>("maps").Reconcile([&](Request&) -> Result<void> {
      WaitForStop(release.get_token());
      return {};
    });
    return added ? Result<void>() : Fail(added.error());
  }));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  const Ran ran = Spawn(home);
  cluster_.Advance(1s);
  Must(clusters.Remove("eu-1"));
  cluster_.Advance(40s);
  EXPECT_EQ(StateOf(clusters, "eu-1"), "none");
  EXPECT_THAT(told_->clustered, Contains(HasSubstr("maps (default/source for 1")));
  release.request_stop();
  End(ran);
}

TEST_P(ClustersTest, AddARemovedOneAgainOnceItHasEnded) {
  AddMap(Server("eu-1"), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  int starts = 0;
  Must(clusters.Each([&](const Manager& cluster) { return ++starts, Mark(cluster); }));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  EXPECT_FALSE(clusters.Add("eu-1", ConfigOf("eu-1"))) << "the name is taken";
  const Ran ran = Spawn(home);
  Settle();
  Must(clusters.Remove("eu-1"));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  Settle();
  EXPECT_EQ(starts, 2);
  EXPECT_EQ(StateOf(clusters, "eu-1"), "running");
  AddMap(Server("eu-1"), "second");
  Settle();
  EXPECT_EQ(MarkOf(Server("eu-1"), "second"), "eu-1");
  End(ran);
}

// Each of these fails in its own way, and the last one works.
TEST_P(ClustersTest, KeepTheFailureOfOneFromTheOthers) {
  Server("refuses").Inject({.times = testing::kAlways, .refuse = true});
  Server("forbids").Inject({.times = testing::kAlways, .status = 401});
  Server("hangs").Inject({.times = testing::kAlways, .stall = true});
  for (const char* const name : {"fails", "throws", "fine"}) AddMap(Server(name), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  Must(clusters.Each([](const Manager& cluster) -> Result<void> {
    if (cluster.cluster() == "fails") return Fail(Code::kInternal, "not this one");
    if (cluster.cluster() == "throws") throw std::runtime_error("not this one either");
    return Mark(cluster);
  }));
  for (const char* const name : {"refuses", "forbids", "hangs", "fails", "throws", "fine", "unknown"}) {
    Must(clusters.Add(name, ConfigOf(name)));
  }
  const Ran ran = Spawn(home);
  cluster_.Advance(5min);
  EXPECT_FALSE(ran.done());
  EXPECT_EQ(StateOf(clusters, "fine"), "running");
  EXPECT_EQ(MarkOf(Server("fine"), "source"), "fine");
  for (const char* const name : {"refuses", "forbids", "hangs", "fails", "throws", "unknown"}) {
    const ClusterStatus status = StatusOf(clusters, name);
    EXPECT_NE(status.state, ClusterStatus::State::kRunning) << name;
    EXPECT_GT(status.failures, 0) << name;
    ASSERT_TRUE(status.error) << name;
  }
  EXPECT_THAT(StatusOf(clusters, "fails").error->ToString(), HasSubstr("not this one"));
  EXPECT_EQ(StatusOf(clusters, "throws").error->code(), Code::kUserCode);
  EXPECT_EQ(StatusOf(clusters, "forbids").error->code(), Code::kUnauthorized);
  EXPECT_THAT(StatusOf(clusters, "unknown").error->ToString(), HasSubstr("no route"));
  // Those that are mended work again.
  for (const char* const name : {"refuses", "forbids", "hangs"}) {
    Server(name).ClearFaults();
    AddMap(Server(name), "source");
  }
  cluster_.Advance(15min);
  for (const char* const name : {"refuses", "forbids", "hangs"}) {
    EXPECT_EQ(StateOf(clusters, name), "running") << name;
    EXPECT_EQ(MarkOf(Server(name), "source"), name);
  }
  End(ran);
}

TEST_P(ClustersTest, DoubleThePauseAfterEachFailure) {
  const Manager home = New();
  ClustersOptions options = Options();
  options.longest_pause = 4s;
  const Clusters clusters = Make(home, options);
  std::vector<TimePoint> starts;
  Must(clusters.Each([&](const Manager&) -> Result<void> {
    starts.push_back(Now());
    return Fail(Code::kInternal, "never");
  }));
  Server("eu-1");
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  const Ran ran = Spawn(home);
  cluster_.Advance(14s);
  ASSERT_GE(starts.size(), 4u);
  const auto between = [&](std::size_t i, Nanos low) {
    const Nanos pause = starts[i] - starts[i - 1];
    EXPECT_GE(pause, low) << i;
    EXPECT_LE(pause, low + low / 5) << i;
  };
  between(1, 1s);
  between(2, 2s);
  between(3, 4s);
  End(ran);
}

TEST_P(ClustersTest, StartOneAgainThatHasLostItsLeaseAlone) {
  for (const char* const name : {"eu-1", "us-1"}) AddMap(Server(name), "source");
  const Manager home = New();
  ClustersOptions options = Options();
  options.manager.leader_election = {.name = "fleet", .namespace_ = "default", .identity = "first"};
  const Clusters clusters = Make(home, options);
  std::map<std::string, int> starts;
  Must(clusters.Each([&](const Manager& cluster) { return ++starts[cluster.cluster()], Mark(cluster); }));
  for (const char* const name : {"eu-1", "us-1"}) Must(clusters.Add(name, ConfigOf(name)));
  const Ran ran = Spawn(home);
  cluster_.Advance(5s);
  EXPECT_TRUE(StatusOf(clusters, "eu-1").leads);
  Server("eu-1").Inject({.resource = "leases", .times = testing::kAlways, .status = 500});
  cluster_.Advance(30s);
  EXPECT_FALSE(StatusOf(clusters, "eu-1").leads);
  EXPECT_TRUE(StatusOf(clusters, "us-1").leads);
  Server("eu-1").ClearFaults();
  cluster_.Advance(1min);
  EXPECT_TRUE(StatusOf(clusters, "eu-1").leads);
  EXPECT_EQ(starts["us-1"], 1);
  EXPECT_GE(starts["eu-1"], 2);
  End(ran);
}

TEST_P(ClustersTest, WaitForTheLeaseOfHomeWithoutOneOfTheirOwn) {
  AddMap(Server("eu-1"), "source");
  const Manager home = New({.leader_election = {.name = "fleet", .namespace_ = "default", .identity = "first"}});
  const Clusters clusters = Make(home, Options());
  Must(clusters.Each(Mark));
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 500});
  const Ran ran = Spawn(home);
  cluster_.Advance(10s);
  EXPECT_EQ(MarkOf(Server("eu-1"), "source"), "");
  cluster_.ClearFaults();
  cluster_.Advance(10s);
  EXPECT_EQ(MarkOf(Server("eu-1"), "source"), "eu-1");
  End(ran);
}

TEST_P(ClustersTest, GoOnWithANewTokenWithoutAnotherList) {
  AddMap(Server("eu-1"), "source");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  Must(clusters.Each(Mark));
  Must(clusters.Add("eu-1", ConfigOf("eu-1", "first")));
  const Ran ran = Spawn(home);
  Settle();
  const int lists = told_->lists["eu-1"];
  Must(clusters.Update("eu-1", ConfigOf("eu-1", "second")));
  AddMap(Server("eu-1"), "second");
  Settle();
  EXPECT_EQ(MarkOf(Server("eu-1"), "second"), "eu-1");
  EXPECT_EQ(told_->lists["eu-1"], lists);
  EXPECT_EQ(configs_.size(), 1u);
  rest::Config moved = ConfigOf("us-1", "second");  // another server takes another run
  AddMap(Server("us-1"), "source");
  Must(clusters.Update("eu-1", moved));
  Settle();
  EXPECT_EQ(configs_.size(), 2u);
  EXPECT_EQ(MarkOf(Server("us-1"), "source"), "eu-1");
  End(ran);
}

TEST_P(ClustersTest, RefuseOptionsThatOnlyTheHomeManagerCanHave) {
  const Manager home = New();
  const auto error = [&](ClustersOptions options) {
    const auto made = Clusters::New(home, std::move(options));
    return made ? "" : made.error().ToString();
  };
  EXPECT_THAT(error({.manager = {.endpoint = {.address = ":8080"}}}), HasSubstr("has an endpoint"));
  EXPECT_THAT(error({.manager = {.controllers = {.max_concurrent_reconciles = 0}}}), HasSubstr("at least one call"));
  EXPECT_THAT(error({.secrets = {{}}}), HasSubstr("namespace_ is empty"));
  EXPECT_THAT(error({.secrets = {{.namespace_ = "fleet", .label_selector = "a in ("}}}), HasSubstr("label_selector"));
  EXPECT_THAT(error({.timeout = 0s}), HasSubstr("timeout is 0"));
  const Clusters clusters = Make(home, Options());
  EXPECT_FALSE(clusters.Add("eu/1", ConfigOf("eu-1")));
  EXPECT_FALSE(clusters.Each({}));
  EXPECT_FALSE(clusters.Update("eu-1", ConfigOf("eu-1")));
  EXPECT_FALSE(clusters.Get("eu-1"));
}

TEST_P(ClustersTest, LetGoOfEverythingWhenTheExecutorEndsBeforeTheyDo) {
  const auto held = std::make_shared<int>();
  {
    testing::Cluster server({.seed = GetParam(), .observer = NullObserver()});
    AddMap(server, "source");
    const Manager home = Must(Manager::New(server.Connection()));
    ClustersOptions options;
    options.connect = [&](const rest::Config& config) -> Result<Connection> {
      return server.Connection(config.observer);
    };
    const Clusters clusters = Make(home, options);
    Must(clusters.Each([held](const Manager& cluster) -> Result<void> {
      auto added =
          cluster.Control<ConfigMap>("maps").Reconcile([held, cluster](Request&) -> Result<void> { return {}; });
      return added ? Result<void>() : Fail(added.error());
    }));
    for (const char* const name : {"eu-1", "us-1"}) Must(clusters.Add(name, ConfigOf(name)));
    const auto ran = server.simulation().Spawn([home, stop = stop_.get_token()] { return home.Run(stop); });
    server.RunUntilIdle();
    ASSERT_EQ(StateOf(clusters, "us-1"), "running");
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(ClustersTest, RefuseToRunTheManagerOfOneByItself) {
  Server("eu-1");
  const Manager home = New();
  const Clusters clusters = Make(home, Options());
  Must(clusters.Add("eu-1", ConfigOf("eu-1")));
  const Ran ran = Spawn(home);
  Settle();
  const Manager cluster = Must(clusters.Get("eu-1"));
  EXPECT_THAT(cluster.Run(stop_.get_token()).error().ToString(), HasSubstr("runs with its kgen::Clusters"));
  End(ran);
}

}  // namespace
}  // namespace kgen
