// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The spans of requests: what starts and ends them, whose children they are, and what the server is sent.
#include "kgen/core/tracer.h"

#include <cstdint>
#include <new>
#include <optional>
#include <stop_token>
#include <utility>

#include "client/request/connection_state.h"
#include "kgen/client/async_client.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/watcher.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/support/recording_tracer.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr KindInfo kTracedPods = {.group = "",
                                  .version = "v1",
                                  .kind = "Pod",
                                  .list_kind = "PodList",
                                  .resource = "pods",
                                  .singular = "pod",
                                  .scope = Scope::kNamespaced,
                                  .list = nullptr};

class IgnoringSink final : public StreamSink {
 public:
  void OnOpen() override {}
  void OnBytes(std::string_view) override {}
  void OnEnd(Result<void>) override {}
};

class TracerTest : public ClientTest {
 protected:
  Connection Traced(Shared<Tracer> tracer) {
    Settings settings = Defaults();
    settings.tracer = std::move(tracer);
    return MakeConnection(std::move(settings));
  }
  Connection Traced() { return Traced(Shared<Tracer>(tracer_)); }
  const RecordedSpan& Only() const {
    EXPECT_EQ(tracer_->spans().size(), 1u);
    return tracer_->spans().back();
  }
  static TraceContext Parent() {
    TraceContext parent;
    parent.trace_id.front() = 0xab;
    parent.span_id.front() = 0xcd;
    return parent;
  }

  Shared<RecordingTracer> tracer_ = MakeShared<RecordingTracer>();
};

TEST(TraceContextTest, IsWrittenAsTheW3cHeader) {
  TraceContext context;
  EXPECT_EQ(context.Traceparent(), "");
  context.trace_id.front() = 0x4b;
  EXPECT_FALSE(context.valid());
  context.span_id.back() = 0xf7;
  EXPECT_EQ(context.Traceparent(), "00-4b000000000000000000000000000000-00000000000000f7-01");
  context.sampled = false;
  EXPECT_EQ(context.Traceparent(), "00-4b000000000000000000000000000000-00000000000000f7-00");
}

TEST_F(TracerTest, SendsTheContextOfASpanToTheServer) {
  transport_->Reply({.body = "{}"});
  ApiRequest request = Get();
  request.query = "labelSelector=app";
  ASSERT_TRUE(Traced().Call(request));
  const RecordedSpan& span = Only();
  EXPECT_EQ(span.kind, SpanKind::kRequest);
  EXPECT_EQ(span.name, "get pods default/web-0");
  EXPECT_EQ(span.method, "GET");
  EXPECT_EQ(span.path, "/api/v1/namespaces/default/pods/web-0");
  EXPECT_FALSE(span.parent.valid());
  EXPECT_EQ(HeaderOf(transport_->request(0), "traceparent"), "00-00000000000000000000000000000001-0000000000000001-01");
  EXPECT_EQ(span.ends, 1);
  EXPECT_EQ(span.error, "");
  EXPECT_EQ(span.status, 200);
  EXPECT_EQ(span.attempts, 1);
}

TEST_F(TracerTest, SendsNothingWithoutATracer) {
  transport_->Reply({.body = "{}"});
  ASSERT_TRUE(connection().With(Parent()).Call(Get()));
  EXPECT_EQ(HeaderOf(transport_->request(0), "traceparent"), "");
}

TEST_F(TracerTest, SendsNothingForARequestThatTheTracerLeavesOut) {
  class Unsampled final : public Tracer {
    Shared<Span> StartSpan(const SpanStart&) override { return {}; }
  };
  transport_->Reply({.body = "{}"});
  ASSERT_TRUE(Traced(MakeShared<Unsampled>()).Call(Get()));
  EXPECT_EQ(HeaderOf(transport_->request(0), "traceparent"), "");
}

TEST_F(TracerTest, HasOneSpanForAllAttempts) {
  transport_->Reply(Busy(503, "2"));
  transport_->Reply({.body = "{}"});
  std::optional<Result<ApiResponse>> response;
  Traced().CallAsync(Get(), [&](Result<ApiResponse> result) { response = std::move(result); });
  executor_->Run();
  EXPECT_TRUE(Only().open());
  executor_->Advance(2s);
  ASSERT_TRUE(response && *response);
  EXPECT_EQ(Only().ends, 1);
  EXPECT_EQ(Only().status, 200);
  EXPECT_EQ(Only().attempts, 2);
  EXPECT_EQ(HeaderOf(transport_->request(0), "traceparent"), HeaderOf(transport_->request(1), "traceparent"));
}

TEST_F(TracerTest, EndsASpanWithTheErrorOfTheCall) {
  transport_->Reply({.status = 404, .body = "no such page"});
  ASSERT_FALSE(Traced().Call(Get()));
  EXPECT_EQ(Only().ends, 1);
  EXPECT_EQ(Only().code, Code::kNotFound);
  EXPECT_EQ(Only().status, 404);
  EXPECT_THAT(Only().error, HasSubstr("get pods default/web-0"));
}

TEST_F(TracerTest, CountsNoAttemptOfARequestThatWasNotSent) {
  ApiRequest request = Get();
  request.timeout = Nanos::zero();
  ASSERT_FALSE(Traced().Call(request));
  EXPECT_EQ(Only().code, Code::kInvalidArgument);
  EXPECT_EQ(Only().status, 0);
  EXPECT_EQ(Only().attempts, 0);
}

TEST_F(TracerTest, ShowsNoTokenThatTheServerSendsBack) {
  Settings settings = Defaults();
  settings.tracer = tracer_;
  settings.token = "a-token-of-some-length";
  transport_->Reply({.status = 400, .body = "bad header: Bearer a-token-of-some-length"});
  ASSERT_FALSE(MakeConnection(std::move(settings)).Call(Get()));
  EXPECT_THAT(Only().error, HasSubstr("bad header"));
  EXPECT_THAT(Only().error, Not(HasSubstr("a-token-of-some-length")));
}

TEST_F(TracerTest, MakesEveryRequestOfAConnectionAChildOfItsSpan) {
  const Connection child = Traced().With(Parent());
  const Connection with_stop = child.With(std::stop_token());  // keeps the parent
  const RawResource pods(with_stop, kTracedPods, "default");
  for (int i = 0; i < 6; ++i) transport_->Hold();
  (void)child.Stream(Get(), executor_->MakeStrand("stream"), MakeShared<IgnoringSink>());
  child.CallAsync(Get(), [](const Result<ApiResponse>&) {});
  detail::CallForListAsync(with_stop, pods.List({}), UnstructuredList::kTable, kTracedPods,
                           [](const Result<AnyRef>&) {});
  AnyWatcher::OpenAsync(pods, Unstructured::kTable, [](const Result<AnyWatcher>&) {}, {});
  executor_->Run();
  ApiRequest own = Get();
  own.parent.trace_id.back() = 1;
  own.parent.span_id.back() = 2;
  child.CallAsync(own, [](const Result<ApiResponse>&) {});
  executor_->Run();
  ASSERT_EQ(tracer_->spans().size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(tracer_->spans()[i].parent, Parent()) << i;
  EXPECT_EQ(tracer_->spans()[4].parent, own.parent);
  EXPECT_THAT(HeaderOf(transport_->request(0), "traceparent"), HasSubstr("00-ab0000000000000000000000000000"));
}

TEST_F(TracerTest, LeavesTheSpanOfAWatchOpenUntilItsStreamEnds) {
  transport_->Hold();
  ApiRequest request = Get("/api/v1/pods");
  request.watch = true;
  const auto stream = Traced().Stream(request, executor_->MakeStrand("watch"), MakeShared<IgnoringSink>());
  executor_->Run();
  transport_->last().Head(200);
  executor_->Run();
  EXPECT_EQ(Only().kind, SpanKind::kWatch);
  EXPECT_TRUE(Only().open());
  transport_->last().End();
  executor_->Run();
  EXPECT_EQ(Only().ends, 1);
  EXPECT_EQ(Only().error, "");
  stream->Cancel();
  executor_->Run();
  EXPECT_EQ(Only().ends, 1);
}

TEST_F(TracerTest, EndsTheSpanOfAWatchThatIsCancelled) {
  transport_->Hold();
  ApiRequest request = Get("/api/v1/pods");
  request.watch = true;
  const auto stream = Traced().Stream(request, executor_->MakeStrand("watch"), MakeShared<IgnoringSink>());
  executor_->Run();
  stream->Cancel();
  executor_->Run();
  EXPECT_EQ(Only().ends, 1);
  EXPECT_EQ(Only().code, Code::kCancelled);
}

TEST_F(TracerTest, EndsTheSpanOfARequestThatTheExecutorDropped) {
  Traced().CallAsync(Get(), [](const Result<ApiResponse>&) {});
  EXPECT_TRUE(Only().open());
  executor_->Shutdown();
  EXPECT_EQ(Only().ends, 1);
  EXPECT_EQ(Only().code, Code::kCancelled);
}

// Throws where it is told to.
class FailingTracer final : public Tracer {
 public:
  enum class Where : std::uint8_t { kStart, kContext, kEnd };
  explicit FailingTracer(Where where) : where_(where) {}
  Shared<Span> StartSpan(const SpanStart&) override {
    if (where_ == Where::kStart) throw std::bad_alloc();
    return MakeShared<Failing>(where_);
  }

 private:
  class Failing final : public Span {
   public:
    explicit Failing(Where where) : where_(where) {}
    TraceContext context() const override {
      if (where_ == Where::kContext) throw std::bad_alloc();
      return Parent();
    }
    void End(const SpanEnd&) override { throw std::bad_alloc(); }

   private:
    const Where where_;
  };
  static TraceContext Parent() {
    TraceContext context;
    context.trace_id.back() = context.span_id.back() = 1;
    return context;
  }
  const Where where_;
};

TEST_F(TracerTest, SurvivesTheExceptionsOfATracer) {
  for (const auto where : {FailingTracer::Where::kStart, FailingTracer::Where::kContext, FailingTracer::Where::kEnd}) {
    transport_->Reply({.body = "{}"});
    EXPECT_TRUE(Traced(MakeShared<FailingTracer>(where)).Call(Get()));
    const bool started = where == FailingTracer::Where::kEnd;
    EXPECT_EQ(HeaderOf(transport_->last().request(), "traceparent").empty(), !started);
  }
}

}  // namespace
}  // namespace kgen::testing
