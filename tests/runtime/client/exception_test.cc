// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Exceptions during a call: the call ends with an error, so that its caller does not wait forever.
#include <new>
#include <optional>

#include "kgen/client/async_client.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using widgets::Widget;
using widgets::WidgetList;
using namespace std::chrono_literals;

class ExceptionTest : public ClientTest {
 protected:
  ResourceClient<Widget, WidgetList> Widgets() { return {connection(), "default"}; }
};

TEST_F(ExceptionTest, EndsACallWithoutMemoryWithAnError) {
  transport_->Reply({.throws = true});
  const Result<ApiResponse> response = connection().Call(Get());
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code(), Code::kInternal);
  EXPECT_THAT(response.error().ToString(), StartsWith("get pods default/web-0: out of memory"));
}

TEST_F(ExceptionTest, EndsACallThatRunsOutOfMemoryInARetry) {
  transport_->Reply(Busy(503, "1"));
  transport_->Reply({.throws = true});
  EXPECT_THAT(connection().Call(Get()).error().message(), "out of memory");
  EXPECT_EQ(Elapsed(), 1s);
}

TEST_F(ExceptionTest, ReportsMissingMemoryToTheAsynchronousCaller) {
  transport_->Reply({.throws = true});
  std::optional<Error> error;
  Widgets().Async().Get("a", [&](Result<Widget> widget) { error = widget.error(); });
  executor_->Run();
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message(), "out of memory");
}

TEST_F(ExceptionTest, EndsTheOpeningOfAWatchWithoutMemoryWithAnError) {
  transport_->Reply({.throws = true});
  EXPECT_THAT(Widgets().Watch().error().message(), "out of memory");
}

class ThrowingSink final : public StreamSink {
 public:
  explicit ThrowingSink(bool no_memory) : no_memory_(no_memory) {}
  void OnOpen() override {}
  void OnBytes(std::string_view) override {
    if (no_memory_) throw std::bad_alloc();
    throw std::runtime_error("oops");
  }
  void OnEnd(Result<void> result) override { end = std::move(result); }
  std::optional<Result<void>> end;

 private:
  const bool no_memory_;
};

TEST_F(ExceptionTest, EndsAStreamWhoseSinkThrows) {
  for (const bool no_memory : {false, true}) {
    transport_->Hold();
    auto sink = MakeShared<ThrowingSink>(no_memory);
    const auto call = connection().Stream(Get(), executor_->MakeStrand("test"), sink);
    executor_->Run();
    transport_->last().Head(200);
    transport_->last().Bytes("x");
    executor_->Run();
    ASSERT_TRUE(sink->end.has_value());
    EXPECT_EQ(sink->end->error().code(), no_memory ? Code::kInternal : Code::kUserCode);
    EXPECT_THAT(sink->end->error().ToString(), HasSubstr(no_memory ? "out of memory" : "oops"));
    EXPECT_TRUE(transport_->last().cancelled()) << "nobody reads the rest";
  }
}

}  // namespace
}  // namespace kgen::testing
