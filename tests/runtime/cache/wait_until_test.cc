// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Waiting until a cache contains a resource version, or is in a certain state.
#include "tests/runtime/cache/informer_fixture.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;
using namespace kgen::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

class WaitUntilTest : public InformerFixture {
 protected:
  TaskResult<Result<void>> Wait(std::string version, Nanos limit = 5s, std::stop_token stop = {}) {
    return simulation_.Spawn([this, version, limit, stop] { return Informer().WaitUntil(version, stop, limit); });
  }
  static std::string Item(std::string_view name, std::string_view version) {
    return R"({"metadata":{"namespace":"default","name":")" + std::string(name) + R"(","resourceVersion":")" +
           std::string(version) + "\"}}";
  }
};

TEST_P(WaitUntilTest, EndsWithTheEventThatReachesTheVersion) {
  Sync("5", {});
  auto five = Wait("5");
  auto seven = Wait("7");
  Run();
  EXPECT_TRUE(five.done());
  EXPECT_FALSE(seven.done());
  Send(EventJson("ADDED", Item("a", "6")));
  EXPECT_FALSE(seven.done());
  Send(EventJson("ADDED", Item("b", "8")));
  ASSERT_TRUE(seven.done());
  EXPECT_TRUE(seven.result());
  EXPECT_TRUE(five.result());
  EXPECT_EQ(Store(), "a@6 b@8");
}

TEST_P(WaitUntilTest, ComparesVersionsAsNumbers) {
  Sync("9", {});
  auto wait = Wait("10");
  Run();
  EXPECT_FALSE(wait.done());
  Send(EventJson("ADDED", Item("a", "10")));
  ASSERT_TRUE(wait.done());
}

TEST_P(WaitUntilTest, EndsWithABookmarkAndWithTheFirstList) {
  auto listed = Wait("5");
  Start();
  EXPECT_FALSE(listed.done());
  Answer(ListBody("5", {}));
  Open();
  ASSERT_TRUE(listed.done());
  auto marked = Wait("6");
  Run();
  EXPECT_FALSE(marked.done());
  Send(EventJson("BOOKMARK", R"({"metadata":{"resourceVersion":"6"}})"));
  EXPECT_TRUE(marked.done());
}

TEST_P(WaitUntilTest, FailsAfterItsLimitAndNamesBothVersions) {
  Sync("5", {});
  const TimePoint start = simulation_.clock()->Now();
  auto wait = Wait("7", 3s);
  Advance(2999ms);
  EXPECT_FALSE(wait.done());
  Advance(1ms);
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(simulation_.clock()->Now() - start, 3s);
  ASSERT_FALSE(wait.result());
  EXPECT_EQ(wait.result().error().code(), Code::kTimeout);
  EXPECT_THAT(wait.result().error().ToString(),
              AllOf(HasSubstr("wait for resource version 7 of "), HasSubstr("the cache is at \"5\"")));
}

TEST_P(WaitUntilTest, EndsWithItsStopAndWithTheInformer) {
  Sync("5", {});
  std::stop_source stop;
  auto stopped = Wait("7", 5s, stop.get_token());
  auto left = Wait("7");
  Run();
  stop.request_stop();
  Run();
  ASSERT_TRUE(stopped.done());
  EXPECT_EQ(stopped.result().error().code(), Code::kCancelled);
  EXPECT_FALSE(left.done());
  Core()->Stop();
  Run();
  ASSERT_TRUE(left.done());
  EXPECT_EQ(left.result().error().code(), Code::kStopped);
  auto reached = Wait("5");
  Run();
  ASSERT_TRUE(reached.done());
  EXPECT_TRUE(reached.result());
}

TEST_P(WaitUntilTest, LooksOnceWithALimitOfZeroAndForEverWithoutALimit) {
  Sync("5", {});
  const TimePoint start = simulation_.clock()->Now();
  auto there = Wait("5", 0s);
  auto late = Wait("7", 0s);
  auto patient = Wait("7", kNoLimit);
  Run();
  ASSERT_TRUE(there.done() && late.done());
  EXPECT_EQ(simulation_.clock()->Now(), start);
  EXPECT_TRUE(there.result());
  EXPECT_EQ(late.result().error().code(), Code::kTimeout);
  Advance(24h);
  EXPECT_FALSE(patient.done());
  Core()->Stop();
  Run();
}

TEST_P(WaitUntilTest, RefusesANegativeLimit) {
  Sync("5", {});
  const Result<void> waited = Informer().WaitUntil("5", {}, -1s);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(waited.error().ToString(), HasSubstr("`limit` is -1s, but it must not be negative"));
}

TEST_P(WaitUntilTest, RefusesWhatIsNoNumberAndThreadsThatMustNotBlock) {
  Sync("5", {});
  for (const char* version : {"", "abc", "7a", "-1", "99999999999999999999999"}) {
    const Result<void> waited = Informer().WaitUntil(version);
    ASSERT_FALSE(waited) << version;
    EXPECT_EQ(waited.error().code(), Code::kInvalidArgument) << version;
  }
  std::optional<Result<void>> posted;
  simulation_.executor()->Post(simulation_.executor()->MakeStrand("test"), [&] { posted = Informer().WaitUntil("7"); });
  Run();
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->error().code(), Code::kInvalidArgument);
}

TEST_P(WaitUntilTest, WaitForReturnsTheFirstStateThatItSawToBeRight) {
  Sync("5", {});
  const auto has_b = [](const AnySnapshot& view) { return static_cast<bool>(view.Get({"default", "b"})); };
  auto wait = simulation_.Spawn([&] { return Core()->WaitFor("b", has_b, {}, Waiter::kNoDeadline); });
  Send(EventJson("ADDED", Item("a", "6")));
  EXPECT_FALSE(wait.done());
  Send(EventJson("ADDED", Item("b", "7")));
  ASSERT_TRUE(wait.done());
  EXPECT_EQ(wait.result()->version(), "7");
  Send(EventJson("DELETED", Item("b", "8")));
  EXPECT_TRUE(wait.result()->Get({"default", "b"}));
}

TEST_P(WaitUntilTest, AnExceptionOfThePredicateReachesTheCaller) {
  Sync("5", {});
  const auto throws = [](const AnySnapshot&) -> bool { throw std::runtime_error("no"); };
  EXPECT_THROW((void)Core()->WaitFor("x", throws, {}, Waiter::kNoDeadline), std::runtime_error);
  Send(EventJson("ADDED", Item("a", "6")));
  EXPECT_EQ(Store(), "a@6");
}

INSTANTIATE_TEST_SUITE_P(Seeds, WaitUntilTest, ::testing::Range<std::uint64_t>(0, 20));

}  // namespace
}  // namespace kgen::cache
