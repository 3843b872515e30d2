// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What becomes of the responses to the verbs of a typed client.
#include "kgen/client/resource_client.h"

#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;
using widgets::Widget;
using widgets::WidgetList;

class CreateResponseTest : public ClientTest {
 protected:
  ResourceClient<Widget, WidgetList> Widgets() { return {connection(), "default"}; }
};

// This is how API servers answer to the creation of a Binding.
TEST_F(CreateResponseTest, ReturnsADefaultObjectWhenTheServerReportsSuccessInsteadOfTheObject) {
  transport_->Reply({.status = 201, .body = R"({"kind":"Status","apiVersion":"v1","status":"Success","code":201})"});
  const Result<Widget> created = Widgets().Create({.metadata = {.name = "a"}});
  ASSERT_TRUE(created.has_value()) << created.error();
  EXPECT_EQ(*created, Widget{});
}

TEST_F(CreateResponseTest, FailsWhenAResponseOfSuccessHoldsAFailure) {
  transport_->Reply({.status = 200,
                     .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict",)"
                             R"("message":"somebody else was faster","code":409})"});
  const Result<Widget> created = Widgets().Create({.metadata = {.name = "a"}});
  ASSERT_FALSE(created.has_value());
  EXPECT_EQ(created.error().code(), Code::kConflict);
  EXPECT_THAT(created.error().ToString(), HasSubstr("somebody else was faster"));
}

}  // namespace
}  // namespace kgen::testing
