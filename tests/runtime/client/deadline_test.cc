// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The deadline of a single call: what it includes, that it leaks nothing, and that every verb passes it on.
#include <optional>

#include "kgen/client/resource_client.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using widgets::Widget;
using widgets::WidgetList;
using namespace std::chrono_literals;

class DeadlineTest : public ClientTest {
 protected:
  ResourceClient<Widget, WidgetList> Widgets() { return {connection(), "default"}; }
  static ApiRequest Within(Nanos timeout) {
    ApiRequest request = Get();
    request.timeout = timeout;
    return request;
  }
};

TEST_F(DeadlineTest, EndsTheCallAndItsExchange) {
  transport_->Hold();
  const Result<ApiResponse> response = connection().Call(Within(3s));
  EXPECT_EQ(response.error().code(), Code::kTimeout);
  EXPECT_THAT(response.error().ToString(), StartsWith("get pods default/web-0: no answer within 3s"));
  EXPECT_EQ(Elapsed(), 3s);
  EXPECT_TRUE(transport_->last().cancelled());
  EXPECT_THAT(transport_->request(0).path, EndsWith("?timeout=3s")) << "the server stops working then, too";
}

TEST_F(DeadlineTest, ReplacesTheTimeoutOfTheConfig) {
  Settings settings = Defaults();
  settings.timeout = 1s;
  transport_->Hold();
  EXPECT_EQ(MakeConnection(settings).Call(Within(7s)).error().code(), Code::kTimeout);
  EXPECT_EQ(Elapsed(), 7s);
  EXPECT_THAT(transport_->request(0).path, EndsWith("?timeout=7s"));
}

TEST_F(DeadlineTest, CountsTheWaitForTheLimiter) {
  Settings settings = Defaults();
  settings.qps = 0.1;
  settings.burst = 1;
  const Connection connection = MakeConnection(settings);
  transport_->Reply({});
  ASSERT_TRUE(connection.Call(Within(3s)).has_value());
  EXPECT_EQ(connection.Call(Within(3s)).error().code(), Code::kTimeout);
  EXPECT_EQ(Elapsed(), 3s);
  EXPECT_EQ(transport_->size(), 1u) << "the second was never sent";
}

TEST_F(DeadlineTest, CountsEveryAttemptAndPauseAndNamesTheFailureBefore) {
  transport_->Reply({.status = 0, .broken = kReset, .lost = true});
  transport_->Hold();
  const Result<ApiResponse> response = connection().Call(Within(5s));
  EXPECT_EQ(response.error().code(), Code::kTimeout);
  EXPECT_THAT(response.error().message(), "no answer within 5s; the attempt before failed: connection reset");
  EXPECT_EQ(Elapsed(), 5s);
  EXPECT_EQ(transport_->size(), 2u);
}

TEST_F(DeadlineTest, OfZeroOrLessIsRefusedBeforeAnythingIsSent) {
  for (const Nanos timeout : {Nanos(0), Nanos(-1s)}) {
    const Result<ApiResponse> response = connection().Call(Within(timeout));
    EXPECT_EQ(response.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(response.error().ToString(), StartsWith("get pods default/web-0: the timeout is "));
    EXPECT_THAT(response.error().message(), HasSubstr("kgen::kNoLimit"));
  }
  EXPECT_EQ(Widgets().Watch({.timeout = 0s}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Widgets().DeleteCollection({.timeout = 1s}, {.timeout = 0s}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(transport_->size(), 0u);
  EXPECT_EQ(Elapsed(), 0s);
}

TEST_F(DeadlineTest, NoLimitReplacesTheTimeoutOfTheConfig) {
  Settings settings = Defaults();
  settings.timeout = 1s;
  transport_->Hold();
  std::optional<Result<ApiResponse>> response;
  MakeConnection(settings).CallAsync(Within(kNoLimit), [&](Result<ApiResponse> done) { response = std::move(done); });
  executor_->Run();
  executor_->Advance(24h);
  EXPECT_FALSE(response.has_value());
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
  EXPECT_THAT(transport_->request(0).path, EndsWith("/web-0")) << "the server gets no limit either";
  transport_->last().Head(200);
  transport_->last().End();
  executor_->Run();
  EXPECT_TRUE(response.has_value());
}

TEST_F(DeadlineTest, AbsentInBothPlacesThereIsNone) {
  for (const std::optional<Nanos> config : {std::optional<Nanos>(), std::optional<Nanos>(kNoLimit)}) {
    Settings settings = Defaults();
    settings.timeout = config;
    transport_->Reply({});
    ASSERT_TRUE(MakeConnection(settings).Call(Get()).has_value());
    EXPECT_THAT(transport_->request(transport_->size() - 1).path, EndsWith("/web-0"));
  }
}

TEST_F(DeadlineTest, LeavesNoTimerBehind) {
  transport_->Reply({});
  ASSERT_TRUE(connection().Call(Within(30s)).has_value());
  EXPECT_EQ(executor_->manual_clock()->armed(), 0u);
}

TEST_F(DeadlineTest, BoundsTheOpeningOfAWatchAndNothingMore) {
  transport_->Hold();
  EXPECT_EQ(Widgets().Watch({.timeout = 2s}).error().code(), Code::kTimeout);
  EXPECT_EQ(Elapsed(), 2s);
  EXPECT_THAT(transport_->request(0).path, Not(HasSubstr("timeout")));

  transport_->Hold();
  const Timer timer = executor_->clock()->After(1s, TimerKind::kProgress, [&] { transport_->last().Head(200); });
  auto watcher = Widgets().Watch({.timeout = 2s});
  ASSERT_TRUE(watcher.has_value()) << watcher.error();
  executor_->Advance(1h);
  EXPECT_FALSE(transport_->last().cancelled());
}

TEST_F(DeadlineTest, HoldsForEachPage) {
  transport_->Reply(
      {.body = R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList","items":[],"metadata":{"continue":"t1"}})"});
  transport_->Hold();
  std::string seen;
  for (const auto& page : Widgets().Pages({.timeout = 4s})) seen += page ? "page " : ToString(page.error().code());
  EXPECT_EQ(seen, "page Timeout");
  EXPECT_EQ(Elapsed(), 4s);
}

TEST_F(DeadlineTest, IsAnOptionOfEveryVerb) {
  const auto expect_timeout = [&](const char* verb, auto call) {
    transport_->Hold();
    const TimePoint before = executor_->manual_clock()->Now();
    const auto result = call();
    ASSERT_FALSE(result.has_value()) << verb;
    EXPECT_EQ(result.error().code(), Code::kTimeout) << verb;
    EXPECT_EQ(executor_->manual_clock()->Now() - before, 2s) << verb;
  };
  Widget widget;
  widget.metadata.name = "a";
  const autoscaling::v1::Scale scale;
  expect_timeout("create", [&] { return Widgets().Create(widget, {.timeout = 2s}); });
  expect_timeout("update", [&] { return Widgets().Update(widget, {.timeout = 2s}); });
  expect_timeout("update status", [&] { return Widgets().UpdateStatus(widget, {.timeout = 2s}); });
  expect_timeout("get", [&] { return Widgets().Get("a", {.timeout = 2s}); });
  expect_timeout("list", [&] { return Widgets().List({.timeout = 2s}); });
  expect_timeout("watch", [&] { return Widgets().Watch({.timeout = 2s}); });
  expect_timeout("patch", [&] { return Widgets().Patch("a", MergePatch("{}"), {.timeout = 2s}); });
  expect_timeout("patch status", [&] { return Widgets().PatchStatus("a", MergePatch("{}"), {.timeout = 2s}); });
  expect_timeout("apply", [&] { return Widgets().Apply(widget, {.field_manager = "me", .timeout = 2s}); });
  expect_timeout("delete", [&] { return Widgets().Delete("a", {.timeout = 2s}); });
  expect_timeout("delete collection", [&] { return Widgets().DeleteCollection({.timeout = 2s}, {}); });
  expect_timeout("delete collection", [&] { return Widgets().DeleteCollection({}, {.timeout = 2s}); });
  expect_timeout("get scale", [&] { return Widgets().GetScale("a", {.timeout = 2s}); });
  expect_timeout("update scale", [&] { return Widgets().UpdateScale("a", scale, {.timeout = 2s}); });
}

}  // namespace
}  // namespace kgen::testing
