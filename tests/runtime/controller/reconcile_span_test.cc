// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The spans of reconcile functions, and the requests within them.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/controller/manager_fixture.h"
#include "tests/support/recording_tracer.h"

namespace kgen {
namespace {

using testing::RecordedSpan;
using testing::RecordingTracer;

class ReconcileSpanTest : public ManagerTest {
 protected:
  ReconcileSpanTest() : ReconcileSpanTest(MakeShared<RecordingTracer>()) {}
  explicit ReconcileSpanTest(const Shared<RecordingTracer>& tracer)
      : ManagerTest([&] {
          testing::ClusterOptions options;
          options.tracer = tracer;
          return options;
        }()),
        tracer_(tracer) {}

  const Shared<RecordingTracer> tracer_;
};

TEST_P(ReconcileSpanTest, AReconcileIsTheParentOfItsRequests) {
  AddMap("web", "1");
  const Manager manager = New();
  std::string id;
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request& request) -> Result<Requeue> {
    id = request.id();
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    ConfigMap changed = *map;
    changed.data["value"] = "2";
    KGEN_TRY(changed, request.client().Update(changed));
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  const std::vector<RecordedSpan> calls = tracer_->Of(SpanKind::kReconcile);
  ASSERT_FALSE(calls.empty());
  EXPECT_EQ(calls.back().name, "maps");
  EXPECT_EQ(calls.back().key, "default/web");
  EXPECT_EQ(calls.back().id, id);
  EXPECT_FALSE(calls.back().parent.valid());
  std::size_t updates = 0;
  for (const RecordedSpan& span : tracer_->spans()) {
    if (span.method == "PUT") {
      ++updates;
      EXPECT_EQ(span.parent, calls[updates - 1].context);
      EXPECT_EQ(span.context.trace_id, calls[updates - 1].context.trace_id);
    } else {
      EXPECT_FALSE(span.parent.valid() && span.kind == SpanKind::kWatch) << span.name;
    }
  }
  EXPECT_EQ(updates, calls.size());
  for (const RecordedSpan& call : calls) {
    EXPECT_EQ(call.ends, 1);
    EXPECT_EQ(call.error, "");
  }
  Stop(ran);
}

TEST_P(ReconcileSpanTest, AReconcileThatFailsEndsItsSpanWithTheError) {
  AddMap("web");
  const Manager manager = New();
  int calls = 0;
  Must(manager.Control<ConfigMap>("maps").Reconcile([&](Request&) -> Result<Requeue> {
    if (++calls == 1) return Fail(Error(Code::kInternal, "the shop is closed"));
    return Requeue::Done();
  }));
  const Ran ran = Spawn(manager);
  Settle();
  const std::vector<RecordedSpan> spans = tracer_->Of(SpanKind::kReconcile);
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].ends, 1);
  EXPECT_EQ(spans[0].code, Code::kInternal);
  EXPECT_EQ(spans[1].error, "");
  EXPECT_NE(spans[0].context, spans[1].context);
  Stop(ran);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReconcileSpanTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
}  // namespace kgen
