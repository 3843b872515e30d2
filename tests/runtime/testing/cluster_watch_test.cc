// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Now(const Cluster& cluster) { return "resourceVersion=" + std::to_string(cluster.resource_version()); }

// --- Lists

TEST_F(ClusterTest, ListsInTheOrderOfKeysWithTheVersionOfTheStore) {
  for (const char* name : {"b", "c", "a"}) Must(cluster_.Add(MinimalPod("default", name)));
  Must(cluster_.Add(MinimalPod("another", "z")));
  const json all = Get("/api/v1/pods");
  EXPECT_EQ(all["kind"], "PodList");
  EXPECT_EQ(all["metadata"]["resourceVersion"], std::to_string(cluster_.resource_version()));
  ASSERT_EQ(all["items"].size(), 4u);
  EXPECT_EQ(all["items"][0]["metadata"]["name"], "z");
  EXPECT_FALSE(all["items"][0].contains("kind"));
  EXPECT_EQ(Get(kPods)["items"].size(), 3u);
}

TEST_F(ClusterTest, ServesAllPagesFromTheStateOfTheFirst) {
  for (const char* name : {"a", "b", "c", "d", "e"}) Must(cluster_.Add(MinimalPod("default", name)));
  json page = Get(kPods, "limit=2");
  EXPECT_EQ(page["metadata"]["remainingItemCount"], 3);
  const json version = page["metadata"]["resourceVersion"];
  Must(cluster_.Delete("pods", "default", "c"));
  Must(cluster_.Add(MinimalPod("default", "cc")));
  std::vector<std::string> names;
  for (;;) {
    for (const json& item : page["items"]) names.push_back(item["metadata"]["name"]);
    EXPECT_EQ(page["metadata"]["resourceVersion"], version);
    if (!page["metadata"].contains("continue")) break;
    page = Get(kPods, "limit=2&continue=" + page["metadata"]["continue"].get<std::string>());
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(ClusterTest, ForgetsAContinueTokenThatWasCompacted) {
  for (const char* name : {"a", "b", "c"}) Must(cluster_.Add(MinimalPod("default", name)));
  const std::string token = Get(kPods, "limit=1")["metadata"]["continue"];
  Must(cluster_.Add(MinimalPod("default", "d")));
  cluster_.Compact();
  Get(kPods, "limit=1&continue=" + token);
  EXPECT_EQ(last_code_, Code::kExpired);
  Get(kPods, "limit=1&continue=nonsense");
  EXPECT_EQ(last_status_, 400);
}

TEST_F(ClusterTest, ListsAnOldVersionExactlyAndRefusesOneOfTheFuture) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  const std::string then = Now(cluster_);
  Must(cluster_.Add(MinimalPod("default", "b")));
  EXPECT_EQ(Get(kPods, then + "&resourceVersionMatch=Exact")["items"].size(), 1u);
  EXPECT_EQ(Get(kPods, then + "&resourceVersionMatch=NotOlderThan")["items"].size(), 2u);
  EXPECT_EQ(Get(kPods, "resourceVersion=0&limit=1")["items"].size(), 2u);  // from the cache: without pages
  Get(kPods, "resourceVersion=99999");
  EXPECT_EQ(last_status_, 504);
}

TEST_F(ClusterTest, SelectsByLabelsAndFields) {
  Post(kPods, Pod("a", {{"app", "web"}}));
  Post(kPods, Pod("b", {{"app", "db"}}));
  EXPECT_EQ(Get(kPods, "labelSelector=app%20in%20%28web%2Cx%29")["items"][0]["metadata"]["name"], "a");
  EXPECT_EQ(Get(kPods, "fieldSelector=metadata.name%3Db")["items"][0]["metadata"]["name"], "b");
  EXPECT_EQ(Get(kPods, "fieldSelector=status.phase%21%3DPending")["items"].size(), 0u);
  Get(kPods, "fieldSelector=spec.color%3Dred");
  EXPECT_EQ(last_status_, 400);
  Get(kPods, "labelSelector=%3D%3D");
  EXPECT_EQ(last_status_, 400);
}

// --- Watches

TEST_F(ClusterTest, StartsAWatchWithoutAVersionWithTheCurrentState) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  for (const char* query : {"", "resourceVersion=0"}) {
    const auto watch = Watch(kPods, query);
    EXPECT_THAT(watch->lines, ElementsAre("ADDED a"));
    EXPECT_FALSE(watch->end);
  }
  EXPECT_EQ(cluster_.census().watches, 2u);
}

TEST_F(ClusterTest, ResumesAWatchAfterItsVersion) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  const std::string then = Now(cluster_);
  Must(cluster_.Add(MinimalPod("default", "b")));
  Must(cluster_.Delete("pods", "default", "a"));
  const auto watch = Watch(kPods, then);
  EXPECT_THAT(watch->lines, ElementsAre("ADDED b", "DELETED a"));
  EXPECT_EQ(watch->events[1]["object"]["metadata"]["resourceVersion"], std::to_string(cluster_.resource_version()));
  Must(cluster_.Add(MinimalPod("default", "c")));
  Must(cluster_.Add(MinimalPod("another", "d")));
  cluster_.RunUntilIdle();
  EXPECT_THAT(watch->lines, ElementsAre("ADDED b", "DELETED a", "ADDED c"));
}

TEST_F(ClusterTest, AnswersAWatchFromForgottenHistoryWithAnErrorEvent) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  const std::string then = Now(cluster_);
  Must(cluster_.Add(MinimalPod("default", "b")));
  cluster_.Compact();
  const auto watch = Watch(kPods, then);
  ASSERT_EQ(watch->events.size(), 1u);
  EXPECT_EQ(watch->events[0]["type"], "ERROR");
  EXPECT_EQ(watch->events[0]["object"]["code"], 410);
  EXPECT_EQ(watch->events[0]["object"]["reason"], "Expired");
  EXPECT_TRUE(watch->end);
  EXPECT_FALSE(Watch(kPods, Now(cluster_))->end);  // from now on is still possible
}

class ShortHistoryTest : public ClusterTest {
 protected:
  ShortHistoryTest() : ClusterTest({.seed = 1, .history = 3}) {}
};

TEST_F(ShortHistoryTest, KeepsOnlySoManyEvents) {
  const std::string start = Now(cluster_);
  Must(cluster_.Add(MinimalPod("default", "a")));
  const std::string after_first = Now(cluster_);
  for (const char* name : {"b", "c", "d"}) Must(cluster_.Add(MinimalPod("default", name)));
  EXPECT_THAT(Watch(kPods, start)->lines, ElementsAre("ERROR"));
  EXPECT_THAT(Watch(kPods, after_first)->lines, ElementsAre("ADDED b", "ADDED c", "ADDED d"));
}

TEST_F(ClusterTest, SendsChangesInAndOutOfASelectorAsAdditionsAndDeletions) {
  json pod = Post(kPods, Pod("a", {{"app", "web"}}));
  const auto watch = Watch(kPods, "labelSelector=app%3Dweb");
  pod["metadata"]["labels"]["app"] = "db";
  pod = Put(std::string(kPods) + "/a", pod);
  pod["metadata"]["labels"]["app"] = "web";
  pod = Put(std::string(kPods) + "/a", pod);
  Post(kPods, Pod("b", {{"app", "db"}}));
  cluster_.RunUntilIdle();
  EXPECT_THAT(watch->lines, ElementsAre("ADDED a", "DELETED a", "ADDED a"));
  EXPECT_EQ(watch->events[1]["object"]["metadata"]["labels"]["app"], "web");  // as it was when it still matched
}

TEST_F(ClusterTest, StreamsAListWithAnEndMarker) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  const auto watch = Watch(kPods, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  EXPECT_THAT(watch->lines, ElementsAre("ADDED a", "BOOKMARK end"));
  EXPECT_EQ(watch->events[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
  EXPECT_EQ(watch->events[1]["object"]["metadata"]["resourceVersion"], std::to_string(cluster_.resource_version()));
  const auto refused = Watch(kPods, "sendInitialEvents=true");
  ASSERT_TRUE(refused->end && !*refused->end);
  EXPECT_EQ(refused->end->error().code(), Code::kInvalid);
}

class NoStreamingTest : public ClusterTest {
 protected:
  NoStreamingTest() : ClusterTest({.seed = 1, .streaming_lists = false}) {}
};

TEST_F(NoStreamingTest, RefusesAStreamingListIfConfigured) {
  const auto watch = Watch(kPods, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  ASSERT_TRUE(watch->end && !*watch->end);
  EXPECT_EQ(watch->end->error().code(), Code::kInvalid);
}

TEST_F(ClusterTest, SendsBookmarksEveryMinuteIfRequested) {
  const auto with = Watch(kPods, "allowWatchBookmarks=true"), without = Watch(kPods, "");
  Must(cluster_.Add({MinimalObject("v1", "ConfigMap", "default", "other")}));
  cluster_.Advance(61s);
  EXPECT_THAT(with->lines, ElementsAre("BOOKMARK"));
  EXPECT_EQ(with->events[0]["object"]["metadata"]["resourceVersion"], std::to_string(cluster_.resource_version()));
  EXPECT_THAT(without->lines, IsEmpty());
}

TEST_F(ClusterTest, EndsAWatchAtItsTimeout) {
  const auto watch = Watch(kPods, "timeoutSeconds=5");
  EXPECT_FALSE(watch->end);
  cluster_.Advance(5s);
  ASSERT_TRUE(watch->end);
  EXPECT_TRUE(watch->end->has_value());
  EXPECT_EQ(cluster_.census().watches, 0u);
}

TEST_F(ClusterTest, ForgetsAWatchThatWasCancelled) {
  const auto watch = Watch(kPods, "");
  calls_.front()->Cancel();
  cluster_.RunUntilIdle();
  ASSERT_TRUE(watch->end && !*watch->end);
  EXPECT_EQ(watch->end->error().code(), Code::kCancelled);
  EXPECT_EQ(cluster_.census().watches + cluster_.census().requests, 0u);
  EXPECT_EQ(cluster_.simulation().census().timers, 0u);
}

// --- Faults

TEST_F(ClusterTest, CutsAndEndsWatches) {
  const auto cut = Watch(kPods, "");
  cluster_.CutWatches();
  cluster_.RunUntilIdle();
  ASSERT_TRUE(cut->end && !*cut->end);
  EXPECT_EQ(cut->end->error().code(), Code::kUnavailable);
  const auto ended = Watch(kPods, "");
  Must(cluster_.Add(MinimalPod("default", "last")));
  cluster_.EndWatches();
  cluster_.RunUntilIdle();
  ASSERT_TRUE(ended->end);
  EXPECT_TRUE(ended->end->has_value());
  EXPECT_THAT(ended->lines, ElementsAre("ADDED last"));
}

TEST_F(ClusterTest, LosesConnectionsAndHistoryInARestartButNoObject) {
  const std::string then = Now(cluster_);
  Must(cluster_.Add(MinimalPod("default", "a")));
  const auto watch = Watch(kPods, "");
  cluster_.Restart();
  cluster_.RunUntilIdle();
  ASSERT_TRUE(watch->end && !*watch->end);
  EXPECT_THAT(Watch(kPods, then)->lines, ElementsAre("ERROR"));
  EXPECT_EQ(Get(kPods)["items"].size(), 1u);
}

// Contract: controller 162.
TEST_F(ClusterTest, RespondsWithAnInjectedStatusTheGivenNumberOfTimes) {
  cluster_.Inject({.verb = "list", .resource = "pods", .times = 2, .skip = 1, .status = 403, .reason = "Forbidden"});
  std::vector<int> statuses;
  for (int i = 0; i < 4; ++i) {
    Get(kPods);
    statuses.push_back(last_status_);
  }
  EXPECT_THAT(statuses, ElementsAre(200, 403, 403, 200));
  cluster_.Inject({.times = testing::kAlways, .status = 403});
  Get("/api/v1/nodes");
  EXPECT_EQ(last_status_, 403);
  cluster_.ClearFaults();
  Get("/api/v1/nodes");
  EXPECT_EQ(last_status_, 200);
  for (const Fault& wrong : {Fault{.times = 0}, Fault{.skip = -1}, Fault{.status = 200}, Fault{.status = 0},
                             Fault{.retry_after_seconds = -1}}) {
    EXPECT_THROW(cluster_.Inject(wrong), Exception);
  }
}

TEST_F(ClusterTest, RespondsAfterAnInjectedDelay) {
  cluster_.Inject({.verb = "get", .delay = 3s});
  Must(cluster_.Add(MinimalPod("default", "a")));
  Get(std::string(kPods) + "/a");
  EXPECT_EQ(last_status_, 200);
  EXPECT_EQ(cluster_.simulation().clock()->Now().time_since_epoch(), 3s);
}

TEST_F(ClusterTest, BreaksAStreamAfterTheGivenNumberOfBytes) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  cluster_.Inject({.verb = "watch", .cut_after_bytes = 10});
  const auto watch = Watch(kPods, "");
  ASSERT_TRUE(watch->end && !*watch->end);
  EXPECT_EQ(watch->rest.size(), 10u);
  EXPECT_EQ(watch->end->error().code(), Code::kUnavailable);
}

TEST_F(ClusterTest, OmitsTheEndMarkerAndBookmarksIfConfigured) {
  cluster_.Inject({.verb = "watch", .no_end_marker = true});
  EXPECT_THAT(Watch(kPods, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")->lines,
              IsEmpty());
  cluster_.Inject({.verb = "watch", .drop_bookmarks = true});
  const auto watch = Watch(kPods, "allowWatchBookmarks=true");
  cluster_.Advance(2min);
  EXPECT_THAT(watch->lines, IsEmpty());
}

TEST_F(ClusterTest, ServesStaleReadsAsFarAsTheRequestAllows) {
  for (const char* name : {"a", "b", "c"}) Must(cluster_.Add(MinimalPod("default", name)));
  Must(cluster_.Delete("pods", "default", "a"));
  const std::uint64_t newest = cluster_.resource_version();
  const auto list = [&](std::string_view version) {
    cluster_.Inject({.verb = "list", .behind = 2});
    const json body = Get(kPods, "resourceVersion=" + std::string(version));
    std::string text;
    for (const json& item : body["items"]) text += item["metadata"]["name"].get<std::string>();
    return text + " at newest-" +
           std::to_string(newest - std::stoull(body["metadata"]["resourceVersion"].get<std::string>()));
  };
  EXPECT_EQ(list("0"), "ab at newest-2");
  EXPECT_EQ(list(std::to_string(newest - 1)), "abc at newest-1");
  EXPECT_EQ(list(""), "bc at newest-0");  // a consistent read
  cluster_.Compact();
  EXPECT_EQ(list("0"), "bc at newest-0");  // versions that were forgotten cannot be served
}

constexpr char kStream[] = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

TEST_F(ClusterTest, StreamsAListFromAStaleCacheUpToTheNewestState) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  const std::string then = Now(cluster_);
  Must(cluster_.Delete("pods", "default", "a"));
  Must(cluster_.Add(MinimalPod("default", "b")));
  cluster_.Inject({.verb = "watch", .times = 2, .behind = 2});
  EXPECT_THAT(Watch(kPods, kStream)->lines, ElementsAre("ADDED a", "DELETED a", "ADDED b", "BOOKMARK end"));
  const auto watch = Watch(kPods, std::string(kStream) + "&" + then);
  EXPECT_THAT(watch->lines, ElementsAre("ADDED a", "BOOKMARK end", "DELETED a", "ADDED b"));
  EXPECT_EQ("resourceVersion=" + watch->events[1]["object"]["metadata"]["resourceVersion"].get<std::string>(), then);
}

TEST_F(ClusterTest, SendsTheMarkerAfterTheEventsBeforeIt) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  cluster_.Inject({.verb = "watch", .late_marker = 3s});
  auto log = MakeShared<WatchLog>();
  ApiRequest request{.path = kPods, .query = "watch=true&" + std::string(kStream), .what = "watch"};
  request.watch = true;
  const auto call = connection_.Stream(std::move(request), connection_.executor().MakeStrand("watcher"), log);
  cluster_.Advance(2s);
  Must(cluster_.Delete("pods", "default", "a"));
  cluster_.Advance(2s);
  EXPECT_THAT(log->lines, ElementsAre("ADDED a", "DELETED a", "BOOKMARK end"));
  EXPECT_EQ(log->events.back()["object"]["metadata"]["resourceVersion"], std::to_string(cluster_.resource_version()));
}

TEST_F(ClusterTest, EndsWatchesWithAnErrorEvent) {
  const auto watch = Watch(kPods, "");
  cluster_.FailWatches(429, "TooManyRequests");
  cluster_.RunUntilIdle();
  ASSERT_THAT(watch->lines, ElementsAre("ERROR"));
  EXPECT_EQ(watch->events[0]["object"]["code"], 429);
  EXPECT_EQ(watch->events[0]["object"]["reason"], "TooManyRequests");
  ASSERT_TRUE(watch->end);
  EXPECT_TRUE(watch->end->has_value());
  EXPECT_EQ(cluster_.census().watches, 0u);
}

TEST_F(ClusterTest, TruncatesABodyAsIfItWereComplete) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  cluster_.Inject({.verb = "watch", .cut_after_bytes = 10, .ends_well = true});
  const auto watch = Watch(kPods, "");
  ASSERT_TRUE(watch->end);
  EXPECT_TRUE(watch->end->has_value());
  EXPECT_EQ(watch->rest.size(), 10u);
}

TEST_F(ClusterTest, StallsAndRefuses) {
  cluster_.Inject({.verb = "watch", .stall = true});
  const auto stalled = Watch(kPods, "");
  EXPECT_FALSE(stalled->open);
  EXPECT_FALSE(stalled->end);
  EXPECT_EQ(cluster_.census().requests, 1u);
  cluster_.Inject({.verb = "watch", .refuse = true});
  const auto refused = Watch(kPods, "");
  ASSERT_TRUE(refused->end && !*refused->end);
  EXPECT_EQ(refused->end->error().code(), Code::kUnavailable);
  EXPECT_TRUE(refused->end->error().not_connected());  // as with the real transport
}

TEST_F(ClusterTest, StoresInvalidObjectsWhenConfigured) {
  Must(cluster_.Add(MinimalPod("default", "a")));
  const auto watch = Watch(kPods, Now(cluster_));
  ASSERT_TRUE(cluster_.Corrupt("pods", "default", "a", R"({"metadata":{"name":"a","namespace":"default"},"spec":7})"));
  cluster_.RunUntilIdle();
  ASSERT_THAT(watch->lines, ElementsAre("MODIFIED a"));
  EXPECT_EQ(watch->events[0]["object"]["spec"], 7);
}

// --- The in-process endpoint in simulation

class CutsTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CutsTest, DeliverTheSameBytesInEverySplit) {
  Cluster cluster({.seed = GetParam()});
  for (int i = 0; i < 20; ++i) Must(cluster.Add(MinimalPod("default", "pod-" + std::to_string(i))));
  const auto connection = cluster.Connection();
  auto log = MakeShared<WatchLog>();
  ApiRequest request{.path = kPods, .query = "watch=true", .what = "watch"};
  request.watch = true;
  const auto call = connection.Stream(std::move(request), connection.executor().MakeStrand("watcher"), log);
  for (int i = 0; i < 20; ++i) Must(cluster.Delete("pods", "default", "pod-" + std::to_string(i)));
  cluster.RunUntilIdle();
  // However the deletions and the opening of the watch fell, the end is the same.
  int there = 0;
  for (const std::string& line : log->lines) there += line.starts_with("ADDED") ? 1 : -1;
  EXPECT_EQ(there, 0);
  EXPECT_EQ(log->rest, "");
  call->Cancel();
  cluster.RunUntilIdle();
  EXPECT_EQ(cluster.simulation().census().tasks + cluster.simulation().census().timers, 0u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, CutsTest, ::testing::Range<std::uint64_t>(0, 100));

// Contract: design D11.
TEST(Cluster, CanBeDestroyedBeforeItsClients) {
  std::optional<Cluster> cluster(ClusterOptions{.seed = 3});
  const auto connection = cluster->Connection();
  auto log = MakeShared<WatchLog>();
  ApiRequest request{.path = kPods, .query = "watch=true", .what = "watch"};
  request.watch = true;
  const auto call = connection.Stream(std::move(request), connection.executor().MakeStrand("watcher"), log);
  cluster->RunUntilIdle();
  cluster.reset();
  call->Cancel();
  const auto answer = connection.Call({.path = kPods, .what = "list"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::kCancelled);
}

}  // namespace
}  // namespace kgen::testing
