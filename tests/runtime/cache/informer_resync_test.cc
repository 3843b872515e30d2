// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Periodic resyncs of an informer's handlers.
#include <algorithm>

#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Received = std::vector<std::string>;

class InformerResyncTest : public InformerFixture {};

// Contract: informer CT-10, RS-01, RS-04, RS-06, RS-07, RS-08.
TEST_P(InformerResyncTest, SendsResyncsOnlyToHandlersThatAreDue) {
  options_.resync = 12h;
  Received every60, every5, never;
  const Registration a = Listen(every60, {.resync = 60s});
  const Registration b = Listen(every5, {.resync = 5s});
  const Registration c = Listen(never, {.resync = kNever});
  Sync("5", {ObjectJson("a", "1")});
  Advance(61s);
  EXPECT_EQ(std::count(every5.begin(), every5.end(), "updated a@1>1 resync"), 12);
  EXPECT_EQ(std::count(every60.begin(), every60.end(), "updated a@1>1 resync"), 1);
  EXPECT_EQ(std::count(never.begin(), never.end(), "updated a@1>1 resync"), 0);
  EXPECT_EQ(source_->size(), 2u);  // without a request
}

// Contract: informer RS-01.
TEST_P(InformerResyncTest, NeverResyncsUnlessRequested) {
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  Advance(100s);
  EXPECT_THAT(received, ElementsAre("added a@1 initial"));
}

// Contract: informer RS-03, RS-05.
TEST_P(InformerResyncTest, RaisesAPeriodToOneSecond) {
  options_.resync = 10s;
  Received early;
  const Registration a = Listen(early, {.resync = 1ms});
  Sync("5", {ObjectJson("a", "1")});
  Advance(3s);
  EXPECT_EQ(early.size(), 1u + 3u);
}

// Contract: informer RS-05.
TEST_P(InformerResyncTest, KeepsToThePeriodOfAHandlerThatWasAddedLate) {
  options_.resync = 10s;
  Received early, late, later;
  const Registration a = Listen(early);
  Sync("5", {ObjectJson("a", "1")});
  const Registration b = Listen(late, {.resync = 2s});
  Run();
  Advance(21s);
  EXPECT_EQ(late.size(), 1u + 10u);
  EXPECT_EQ(early.size(), 1u + 2u);
  const Registration c = Listen(later, {.resync = 7s});
  Run();
  Advance(22s);
  EXPECT_GE(later.size(), 1u + 2u);
  EXPECT_LE(later.size(), 1u + 3u);
}

TEST_P(InformerResyncTest, RefusesAPeriodThatIsNotPositive) {
  Received received;
  const Registration zero = Listen(received, {.resync = 0s, .name = "mine"});
  const Registration negative = Listen(received, {.resync = -1s});
  Sync("5", {ObjectJson("a", "1")});
  EXPECT_EQ(zero.status().error().code(), Code::kInvalidArgument);
  EXPECT_THAT(zero.status().error().ToString(),
              HasSubstr("handler of mine: HandlerOptions::resync is 0s, but a period must be positive"));
  EXPECT_EQ(negative.status().error().code(), Code::kInvalidArgument);
  EXPECT_TRUE(received.empty());
  EXPECT_THAT(seen_->thrown, ElementsAre(HasSubstr("not registered: HandlerOptions::resync is 0s"),
                                         HasSubstr("not registered: HandlerOptions::resync is -1s")));
}

TEST_P(InformerResyncTest, RefusesABacklogOfNothing) {
  Received received;
  const Registration warning = Listen(received, {.backlog_warning = 0});
  const Registration bytes = Listen(received, {.backlog_bytes = 0});
  const Registration fine = Listen(received, {.backlog_warning = kUnlimited, .backlog_bytes = kUnlimited});
  EXPECT_EQ(warning.status().error().code(), Code::kInvalidArgument);
  EXPECT_EQ(bytes.status().error().code(), Code::kInvalidArgument);
  EXPECT_TRUE(fine.status());
  EXPECT_THAT(seen_->thrown, ElementsAre(HasSubstr("not registered: HandlerOptions::backlog_warning is 0"),
                                         HasSubstr("not registered: HandlerOptions::backlog_bytes is 0")));
}

// Contract: informer RS-10, TR-03.
TEST_P(InformerResyncTest, TransformsNeitherResyncsNorDeletionsThatARelistFound) {
  options_.resync = 10s;
  int calls = 0;
  ASSERT_TRUE(Informer().SetTransform([&](Sample&) { ++calls; }));
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  Advance(31s);
  EXPECT_EQ(received.size(), 1u + 3u);
  EXPECT_EQ(calls, 1);
  Relist("9", {});
  EXPECT_THAT(received.back(), "deleted a@1 relist unknown");
  EXPECT_EQ(calls, 1);
}

// Contract: informer RS-02.
TEST_P(InformerResyncTest, UsesTheInformersPeriodForHandlersWithoutOne) {
  options_.resync = 10s;
  Received received;
  const Registration registration = Listen(received);
  Sync("5", {ObjectJson("a", "1")});
  Advance(31s);
  EXPECT_EQ(received.size(), 1u + 3u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, InformerResyncTest, ::testing::Range<std::uint64_t>(0, 16));

}  // namespace
}  // namespace kgen::cache
