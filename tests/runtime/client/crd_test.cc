// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// crd::Install: creates, updates, waits.
#include "kgen/client/crd.h"

#include <optional>

#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr std::string_view kCollection = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr std::string_view kManifest =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"orders.shop.dev","labels":{"a":"new"}},)"
    R"("spec":{"group":"shop.dev","names":{"plural":"orders","kind":"Order"},"versions":[{"name":"v1","served":true},{"name":"v0","served":false}]}})";

FakeReply There(std::string_view established, std::string_view spec_more = "") {
  return {
      .body =
          R"({"kind":"CustomResourceDefinition","metadata":{"name":"orders.shop.dev","resourceVersion":"7","labels":{"a":"old","b":"theirs"}},)"
          R"("spec":{"group":"shop.dev","names":{"plural":"orders","kind":"Order"},"versions":[{"name":"v1","served":true}])" +
          std::string(spec_more) + R"(},"status":{"conditions":[{"type":"Established","status":")" +
          std::string(established) + R"(","reason":"Why","message":"so"}]}})"};
}
FakeReply Refusal(int code, std::string_view reason) {
  return {.status = code,
          .body = R"({"kind":"Status","status":"Failure","message":"m","reason":")" + std::string(reason) + "\"}"};
}

class InstallTest : public ClientTest {
 protected:
  Result<std::vector<crd::Installed>> Install(crd::InstallOptions options = {}) {
    const std::string_view manifests[] = {kManifest};
    return crd::Install(connection(), manifests, options);
  }
  // The script of a CRD that is created.
  void ReplyToCreation() {
    transport_->Reply(Refusal(404, "NotFound"));
    transport_->Reply({.status = 201, .body = "{}"});
  }
};

TEST_F(InstallTest, CreatesAndWaitsUntilTheKindIsServed) {
  ReplyToCreation();
  transport_->Reply(There("False"));
  transport_->Reply(There("True"));
  transport_->Reply(Refusal(404, "NotFound"));
  transport_->Reply(There("True"));
  transport_->Reply({.body = R"({"items":[]})"});
  const auto installed = Install();
  ASSERT_TRUE(installed.has_value()) << installed.error();
  EXPECT_EQ(transport_->left(), 0u);
  EXPECT_EQ(transport_->request(0).path, std::string(kCollection) + "/orders.shop.dev");
  EXPECT_EQ(transport_->request(1).method, "POST");
  EXPECT_EQ(transport_->request(1).path, kCollection);
  EXPECT_EQ(transport_->request(4).path, "/apis/shop.dev/v1/orders?limit=1") << "served versions only";
  EXPECT_EQ(Elapsed(), 150ms) << "50 and 100 ms between looks";
  EXPECT_EQ(installed->at(0).str(), "customresourcedefinition orders.shop.dev created");
}

TEST_F(InstallTest, KeepsWhatWasWrittenBetweenItsReadAndItsWrite) {
  transport_->Reply(There("True"));
  transport_->Reply(Refusal(409, "Conflict"));
  transport_->Reply(There("True", R"(,"conversion":{"strategy":"Webhook"})"));
  transport_->Reply({.body = "{}"});
  transport_->Reply(There("True"));
  transport_->Reply({});
  EXPECT_TRUE(Install().has_value());
  EXPECT_EQ(transport_->left(), 0u);
  const HttpRequest& put = transport_->request(3);
  EXPECT_EQ(put.method, "PUT");
  EXPECT_THAT(put.body, AllOf(HasSubstr(R"("resourceVersion":"7")"), HasSubstr(R"("strategy":"Webhook")"),
                              Not(HasSubstr("\"status\""))));
}

TEST_F(InstallTest, ReadsAgainIfAnotherClientCreatesTheCrdOrDeletesIt) {
  transport_->Reply(Refusal(404, "NotFound"));
  transport_->Reply(Refusal(409, "AlreadyExists"));
  transport_->Reply(There("True"));
  transport_->Reply(Refusal(404, "NotFound"));
  ReplyToCreation();
  transport_->Reply(There("True"));
  transport_->Reply({});
  ASSERT_TRUE(Install().has_value());
  EXPECT_EQ(transport_->left(), 0u);
}

TEST_F(InstallTest, GivesUpAfterFiveConflicts) {
  for (int i = 0; i < 6; ++i) {
    transport_->Reply(There("True"));
    transport_->Reply(Refusal(409, "Conflict"));
  }
  EXPECT_EQ(Install().error().code(), Code::kConflict);
  EXPECT_EQ(transport_->left(), 2u);
}

TEST_F(InstallTest, ReportsNoChangeIfTheServerKeptItsVersion) {
  transport_->Reply(There("True"));
  transport_->Reply(There("True"));  // of the PUT
  transport_->Reply(There("True"));
  transport_->Reply({});
  EXPECT_EQ(Install()->at(0).str(), "customresourcedefinition orders.shop.dev unchanged");
}

TEST_F(InstallTest, RefusesATimeoutOfZeroOrLess) {
  for (const Nanos timeout : {Nanos(0), Nanos(-1)}) {
    const auto installed = Install({.timeout = timeout});
    ASSERT_FALSE(installed.has_value());
    EXPECT_EQ(installed.error().code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(InstallTest, HasNoLimitIfToldSo) {
  transport_->Reply(There("True"));
  transport_->Reply(There("True"));  // of the PUT
  transport_->Reply(There("True"));
  transport_->Reply({});
  EXPECT_TRUE(Install({.timeout = kNoLimit}).has_value());
}

TEST_F(InstallTest, TreatsAForbiddenListAsServed) {
  ReplyToCreation();
  transport_->Reply(There("True"));
  transport_->Reply(Refusal(403, "Forbidden"));
  EXPECT_TRUE(Install().has_value());
}

TEST_F(InstallTest, GivesUpAtItsTimeNamingTheCrdAndItsConditions) {
  ReplyToCreation();
  for (int i = 0; i < 100; ++i) transport_->Reply(There("False"));
  const auto installed = Install({.timeout = 5s});
  ASSERT_FALSE(installed.has_value());
  EXPECT_EQ(installed.error().code(), Code::kTimeout);
  EXPECT_THAT(installed.error().ToString(),
              AllOf(HasSubstr("orders.shop.dev: Established=False (Why: so)"), HasSubstr("5s")));
  EXPECT_EQ(Elapsed(), 5s);
}

TEST_F(InstallTest, GivesUpAtItsTimeWhenTheServerDoesNotAnswer) {
  transport_->Hold();
  const auto installed = Install({.timeout = 5s});
  EXPECT_EQ(installed.error().code(), Code::kTimeout);
  EXPECT_THAT(installed.error().ToString(), HasSubstr("orders.shop.dev: not seen yet"));
}

TEST_F(InstallTest, EndsWhenItIsStopped) {
  std::stop_source stop;
  transport_->Hold();
  const Timer timer = executor_->clock()->After(1s, TimerKind::kProgress, [&] { stop.request_stop(); });
  EXPECT_EQ(Install({.stop = stop.get_token()}).error().code(), Code::kCancelled);
}

TEST_F(InstallTest, GivesTheServersRefusal) {
  transport_->Reply(Refusal(404, "NotFound"));
  transport_->Reply(Refusal(422, "Invalid"));
  const auto installed = Install();
  EXPECT_EQ(installed.error().code(), Code::kInvalid);
  EXPECT_THAT(installed.error().ToString(), HasSubstr("install customresourcedefinition orders.shop.dev"));
}

TEST_F(InstallTest, RefusesManifestsThatAreNotCrdsBeforeSendingAnything) {
  for (const std::string_view bad :
       {"", "[]", "{}", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})",
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{}})",
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a"}})"}) {
    const std::string_view manifests[] = {kManifest, bad};
    EXPECT_EQ(crd::Install(connection(), manifests).error().code(), Code::kInvalidArgument) << bad;
  }
  EXPECT_EQ(transport_->size(), 0u);
}

// Contract: design D9.
TEST_F(InstallTest, IsRefusedOnAThreadThatRunsPostedTasks) {
  std::optional<Code> code;
  executor_->Post(executor_->MakeStrand("test"), [&] { code = Install().error().code(); });
  executor_->Run();
  EXPECT_EQ(code, Code::kInvalidArgument);
}

TEST_F(InstallTest, DoesNothingForNoManifests) { EXPECT_TRUE(crd::Install(connection(), {}).has_value()); }

}  // namespace
}  // namespace kgen::testing
