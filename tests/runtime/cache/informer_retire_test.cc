// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Informer::Retire(): the end of an informer whose objects leave.
#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using testing::DeletedJson;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ListBody;
using testing::ModifiedJson;
using testing::ObjectJson;
using ::testing::UnorderedElementsAre;
using Received = std::vector<std::string>;

class InformerRetireTest : public InformerFixture {
 protected:
  // A handler that records all of its events.
  [[nodiscard]] Registration ListenToAll(Received& received) {
    return Core()->AddEventHandler(
        [&received](const AnyEvent& e) {
          static constexpr const char* kTypes[] = {"added", "updated", "deleted", "left"};
          received.push_back(std::string(kTypes[static_cast<int>(e.type)]) + " " +
                             (e.key.name.empty() ? "the last event" : e.key.name.str()));
        },
        {});
  }
};

TEST_P(InformerRetireTest, TellsThatEveryObjectHasLeftAndThenNothingMore) {
  options_.objects_per_task = 1 + simulation_.Choose(3);
  Received received, late;
  const Registration registration = ListenToAll(received);
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2"), ObjectJson("c", "3")});
  received.clear();
  Send(DeletedJson("b", "6"));
  Core()->Retire();
  Run();
  ASSERT_EQ(received.size(), 4u);
  EXPECT_EQ(received.front(), "deleted b");
  EXPECT_EQ(received.back(), "left the last event");
  EXPECT_THAT(Received(received.begin() + 1, received.end() - 1), UnorderedElementsAre("left a", "left c"));
  EXPECT_TRUE(Core()->IsRetired());
  EXPECT_FALSE(Core()->IsStopped());
  EXPECT_TRUE(Core()->status().stopped);
  EXPECT_EQ(Store(), "a@1 c@3");  // whoever reads it sees no gap
  const Registration after = ListenToAll(late);
  Core()->Retire();
  Advance(1h);
  EXPECT_THAT(late, ElementsAre("left the last event"));
  EXPECT_EQ(received.size(), 4u);
  Core()->Stop();
  Run();
  EXPECT_TRUE(Core()->IsStopped());
}

TEST_P(InformerRetireTest, AHandlerThatIsJustBeingAddedHearsOfBoth) {
  options_.objects_per_task = 1;
  Sync("5", {ObjectJson("a", "1"), ObjectJson("b", "2")});
  Received received;
  const Registration registration = ListenToAll(received);
  Core()->Retire();
  Run();
  EXPECT_THAT(received, ElementsAre("added a", "added b", "left a", "left b", "left the last event"));
}

TEST_P(InformerRetireTest, WhatWasReceivedAndNotAppliedYetIsNotHeardOf) {
  ApplyAfter(1s);
  Received received;
  const Registration registration = ListenToAll(received);
  Sync("5", {ObjectJson("a", "1")});
  Advance(5s);
  received.clear();
  Send(ModifiedJson("a", "6"));
  Core()->Retire();
  Advance(5s);
  EXPECT_THAT(received, ElementsAre("left a", "left the last event"));
}

TEST_P(InformerRetireTest, NeverStartsIfItWasRetiredBefore) {
  Received received;
  const Registration registration = ListenToAll(received);
  Core()->Retire();
  Run();
  EXPECT_THAT(received, ElementsAre("left the last event"));
  Start();
  EXPECT_EQ(source_->size(), 0u);
}

TEST_P(InformerRetireTest, EndsWaitsForItsChanges) {
  Sync("5", {ObjectJson("a", "1")});
  const auto waited = simulation_.Spawn([this] { return Core()->WaitUntil("9", {}, kNoLimit); });
  Run();
  EXPECT_FALSE(waited.done());
  Core()->Retire();
  Run();
  ASSERT_TRUE(waited.done());
  EXPECT_EQ(waited.result().error().code(), Code::kStopped);
}

INSTANTIATE_TEST_SUITE_P(Seeds, InformerRetireTest, ::testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace kgen::cache
