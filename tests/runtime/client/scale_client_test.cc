// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// GetScale and UpdateScale: their requests, and how responses are handled.
#include "kgen/client/async_client.h"

#include <optional>
#include <utility>

#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using autoscaling::v1::Scale;
using autoscaling::v1::ScaleSpec;
using ::testing::StartsWith;
using widgets::Widget;
using widgets::WidgetList;

constexpr char kPath[] = "/apis/test.kgen.dev/v1/namespaces/default/widgets/web/scale";
// A server of 1.36 sends it like this: a 0 is left out.
constexpr char kScale[] =
    R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web","namespace":"default","resourceVersion":"7"},)"
    R"("spec":{},"status":{"replicas":2,"selector":"app=web"}})";

class ScaleClientTest : public ClientTest {
 protected:
  ResourceClient<Widget, WidgetList> Widgets(std::string_view space = "default") { return {connection(), space}; }
  static Scale Three() { return {.spec = ScaleSpec{.replicas = 3}}; }
};

// Contract: generator OP-13.
TEST_F(ScaleClientTest, ReadsTheScaleOfAnObject) {
  transport_->Reply({.body = kScale});
  const Scale scale = Must(Widgets().GetScale("web", {.resource_version = "0"}));
  EXPECT_EQ(transport_->request(0).method, "GET");
  EXPECT_EQ(transport_->request(0).path, std::string(kPath) + "?resourceVersion=0");
  EXPECT_EQ(scale.metadata.resourceVersion, "7");
  EXPECT_FALSE(scale.spec->replicas.has_value());
  EXPECT_EQ(*scale.spec->replicas, 0);
  EXPECT_EQ(scale.status->replicas, 2);
  EXPECT_EQ(scale.status->selector, "app=web");
}

// Contract: generator OP-13.
TEST_F(ScaleClientTest, UpdatesAScaleAndReturnsTheServersResponse) {
  transport_->Reply({.body = kScale});
  transport_->Reply({.body = kScale});
  Scale scale = Must(Widgets().GetScale("web"));
  scale.spec->replicas = 3;
  const Scale answer = Must(Widgets().UpdateScale("web", scale, {.dry_run = true, .field_manager = "me"}));
  EXPECT_EQ(*answer.spec->replicas, 0);
  EXPECT_EQ(transport_->request(1).method, "PUT");
  EXPECT_EQ(transport_->request(1).path, std::string(kPath) + "?dryRun=All&fieldManager=me");
  EXPECT_EQ(HeaderOf(transport_->request(1), "content-type"), "application/json");
  EXPECT_EQ(transport_->request(1).body,
            R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web","namespace":"default",)"
            R"("resourceVersion":"7"},"spec":{"replicas":3},"status":{"replicas":2,"selector":"app=web"}})");
}

TEST_F(ScaleClientTest, NamesAScaleThatHasNoName) {
  transport_->Reply({.body = kScale});
  const Scale scale = Three();
  ASSERT_TRUE(Widgets().UpdateScale("web", scale));
  EXPECT_EQ(transport_->request(0).body,
            R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":3}})");
  EXPECT_EQ(scale, Three());
}

TEST_F(ScaleClientTest, HasAsynchronousForms) {
  transport_->Reply({.body = kScale});
  transport_->Reply({.body = kScale});
  std::optional<Result<Scale>> read, written;
  Widgets().Async().GetScale("web", [&](Result<Scale> result) { read = std::move(result); });
  Widgets().Async().UpdateScale("web", Three(), [&](Result<Scale> result) { written = std::move(result); });
  executor_->Run();
  ASSERT_TRUE(read && written);
  EXPECT_EQ(Must(*std::move(read)).metadata.name, "web");
  EXPECT_EQ(Must(*std::move(written)).metadata.name, "web");
  EXPECT_EQ(transport_->request(0).path, kPath);
  EXPECT_EQ(transport_->request(1).method, "PUT");
}

// Contract: generator CLI-03, CLI-04.
TEST_F(ScaleClientTest, RefusesAnEmptyNameAndAForeignNamespaceWithoutSending) {
  Scale foreign = Three();
  foreign.metadata.namespace_ = "other";
  EXPECT_EQ(Widgets().GetScale("").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Widgets("").GetScale("web").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Widgets().UpdateScale("", Three()).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Widgets().UpdateScale("web", foreign).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(ScaleClientTest, PutsTheOperationBeforeAnError) {
  transport_->Reply({.status = 409,
                     .body = R"({"kind":"Status","status":"Failure","reason":"Conflict","message":"old","code":409})"});
  transport_->Reply({.body = R"({"kind":"Pod","apiVersion":"v1"})"});
  const Result<Scale> conflict = Widgets().UpdateScale("web", Three());
  EXPECT_EQ(conflict.error().code(), Code::kConflict);
  EXPECT_THAT(conflict.error().ToString(),
              StartsWith("update widgets.test.kgen.dev/v1/scale (Widget) default/web: old"));
  const Result<Scale> no_scale = Widgets().GetScale("web");
  EXPECT_EQ(no_scale.error().code(), Code::kDecode);
  EXPECT_THAT(no_scale.error().ToString(), StartsWith("get widgets.test.kgen.dev/v1/scale (Widget) default/web: "));
}

}  // namespace
}  // namespace kgen::testing
