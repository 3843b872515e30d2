// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The spans of an informer: one for each list, with its pages as children, and one for each watch.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kgen/cache/dynamic_informer.h"
#include "kgen/cache/factory.h"
#include "kgen/core/observer.h"
#include "kgen/testing/cluster.h"
#include "tests/support/recording_tracer.h"

namespace kgen {
namespace {

using testing::RecordedSpan;
using namespace std::chrono_literals;

class ListSpanTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void AddPods(int number) {
    for (int i = 0; i < number; ++i) {
      Must(cluster_.Add(testing::MinimalPod("default", "pod-" + std::to_string(i))));
    }
  }
  void Start() {
    (void)factory_.ForResource({"", "v1", "pods"});
    factory_.Start();
    cluster_.RunUntilIdle();
  }
  std::vector<RecordedSpan> ChildrenOf(const RecordedSpan& parent) const {
    std::vector<RecordedSpan> children;
    for (const RecordedSpan& span : tracer_->spans()) {
      if (span.parent == parent.context) children.push_back(span);
    }
    return children;
  }

  const Shared<testing::RecordingTracer> tracer_ = MakeShared<testing::RecordingTracer>();
  testing::Cluster cluster_{
      {.seed = GetParam(), .streaming_lists = false, .observer = NullObserver(), .tracer = tracer_}};
  SharedInformerFactory factory_{cluster_.Connection(), {.defaults = {.page_size = 2}}};
};

// The server sends pages only of its newest state, which the informer asks for when its version has expired.
TEST_P(ListSpanTest, AListIsTheParentOfItsRetriesAndPages) {
  AddPods(5);
  cluster_.Inject({.verb = "list", .resource = "pods", .status = 410, .reason = "Expired"});
  Start();
  const std::vector<RecordedSpan> lists = tracer_->Of(SpanKind::kList);
  ASSERT_EQ(lists.size(), 1u);
  EXPECT_EQ(lists[0].name, "pods");
  EXPECT_EQ(lists[0].ends, 1);
  EXPECT_EQ(lists[0].error, "");
  const std::vector<RecordedSpan> pages = ChildrenOf(lists[0]);
  ASSERT_EQ(pages.size(), 4u);
  EXPECT_EQ(pages[0].status, 410);
  for (const RecordedSpan& page : pages) {
    EXPECT_EQ(page.kind, SpanKind::kRequest);
    EXPECT_EQ(page.path, "/api/v1/pods");
    EXPECT_EQ(page.context.trace_id, lists[0].context.trace_id);
    EXPECT_EQ(page.ends, 1);
  }
}

TEST_P(ListSpanTest, AWatchIsASpanOfItsOwn) {
  AddPods(1);
  Start();
  const std::vector<RecordedSpan> before = tracer_->Of(SpanKind::kWatch);
  ASSERT_FALSE(before.empty());
  EXPECT_FALSE(before.back().parent.valid());
  EXPECT_TRUE(before.back().open());
  cluster_.EndWatches();
  cluster_.RunUntilIdle();
  const std::vector<RecordedSpan> after = tracer_->Of(SpanKind::kWatch);
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(after[before.size() - 1].ends, 1);
  EXPECT_TRUE(after.back().open());
}

TEST_P(ListSpanTest, AListThatFailsEndsItsSpanWithTheError) {
  AddPods(1);
  cluster_.Inject({.verb = "list", .resource = "pods", .times = 1, .status = 500});
  Start();
  const std::vector<RecordedSpan> lists = tracer_->Of(SpanKind::kList);
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].ends, 1);
  EXPECT_NE(lists[0].error, "");
  EXPECT_NE(lists[0].code, Code::kCancelled);
  EXPECT_EQ(lists[1].error, "");
}

TEST_P(ListSpanTest, AListThatCannotConnectEndsItsSpanWithTheError) {
  AddPods(1);
  cluster_.Inject({.verb = "list", .resource = "pods", .times = 1, .refuse = true});
  Start();
  const std::vector<RecordedSpan> lists = tracer_->Of(SpanKind::kList);
  ASSERT_EQ(lists.size(), 2u);
  EXPECT_EQ(lists[0].ends, 1);
  EXPECT_EQ(lists[0].code, Code::kUnavailable);
  EXPECT_EQ(lists[1].error, "");
}

TEST_P(ListSpanTest, AnInformerThatIsStoppedEndsItsSpans) {
  cluster_.Inject({.verb = "list", .resource = "pods", .times = testing::kAlways, .stall = true});
  (void)factory_.ForResource({"", "v1", "pods"});
  factory_.Start();
  cluster_.Advance(1s);
  ASSERT_EQ(tracer_->Of(SpanKind::kList).size(), 1u);
  EXPECT_TRUE(tracer_->Of(SpanKind::kList)[0].open());
  factory_.Shutdown();
  cluster_.RunUntilIdle();
  for (const RecordedSpan& span : tracer_->spans()) EXPECT_EQ(span.ends, 1) << span.name;
  EXPECT_EQ(tracer_->Of(SpanKind::kList)[0].code, Code::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ListSpanTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
}  // namespace kgen
