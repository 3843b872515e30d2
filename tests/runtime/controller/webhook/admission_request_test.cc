// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What functions see of a request, raw functions, and the declaration of webhooks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <stop_token>
#include <string>

#include "kgen/testing/webhooks.h"
#include "tests/runtime/controller/manager_fixture.h"
#include "tests/runtime/controller/webhook/admission_fixture.h"

namespace kgen {
namespace {

using k8s::apps::v1::Deployment;
using k8s::core::v1::ConfigMap;
using k8s::core::v1::Pod;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json WebPod() {
  return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "web"}, {"namespace", "shop"}}}};
}

class AdmissionRequests : public AdmissionTest {};

TEST_F(AdmissionRequests, AreSeenByFunctions) {
  std::stop_source stop;
  stop.request_stop();
  call_ = {.stop = stop.get_token(), .deadline = TimePoint(std::chrono::seconds(9))};
  int calls = 0;
  For<Pod>().ValidateCreate([&](const Pod&, const Admission& request) -> Result<void> {
    ++calls;
    EXPECT_EQ(request.uid(), "u-1");
    EXPECT_EQ(request.operation(), AdmissionOperation::kCreate);
    EXPECT_EQ(request.kind().str(), "v1, Kind=Pod");
    EXPECT_EQ(request.request_kind().str(), "v0, Kind=Pod");
    EXPECT_EQ(request.resource().resource, "things");
    EXPECT_EQ(request.request_resource().resource, "things");
    EXPECT_EQ(request.subresource(), "resize");
    EXPECT_EQ(request.request_subresource(), "resize");
    EXPECT_EQ(request.key().str(), "shop/web");
    EXPECT_EQ(request.user().username, "jane");
    EXPECT_THAT(request.user().groups, ElementsAre("dev"));
    EXPECT_TRUE(request.dry_run());
    EXPECT_THAT(request.options().text(), HasSubstr("CreateOptions"));
    EXPECT_TRUE(request.stop().stop_requested());
    EXPECT_EQ(request.deadline(), TimePoint(std::chrono::seconds(9)));
    request.Audit("k", "v");
    request.Audit("k", "w");
    request.Log("seen");
    return {};
  });
  Run();
  json review = Review("CREATE", WebPod());
  review["request"]["dryRun"] = true;
  review["request"]["requestKind"]["version"] = "v0";
  review["request"]["subResource"] = "resize";
  const json response = Call("/validate--v1-pod", review);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(response["auditAnnotations"], json({{"k", "w"}}));
  EXPECT_THAT(log_->lines, ElementsAre("info /validate--v1-pod shop/web u-1: seen"));
}

TEST_F(AdmissionRequests, HaveNoClientBeforeTheManagerRuns) {
  For<Pod>().ValidateCreate([](const Pod&, const Admission& request) -> Result<void> {
    return Discard(request.client().Get<Pod>(request.key()));
  });
  EXPECT_EQ(Call("/validate--v1-pod", Review("CREATE", WebPod()))["status"]["code"], 500);
  EXPECT_EQ(routes_->Find("/validate--v1-pod")->panics(), 1u);
}

// ---- Raw functions. ----

class RawAdmissionTest : public AdmissionTest {
 protected:
  json Answer(const json& review, RawWebhookFunction function) {
    EXPECT_TRUE(detail::AddRawWebhook(routes_, "/raw" + std::to_string(++count_), std::move(function)));
    return Call("/raw" + std::to_string(count_), review);
  }
  int count_ = 0;
};

TEST_F(RawAdmissionTest, SeesAnyReviewAndAnswersAPatch) {
  json review = Review("UPDATE", WebPod(), WebPod());
  review["request"]["subResource"] = "exec";
  const json response = Answer(review, [](const RawAdmission& raw) -> Result<AdmissionAnswer> {
    EXPECT_EQ(raw.request.subresource(), "exec");
    EXPECT_EQ(raw.object, raw.old_object);
    raw.request.Warn("w");
    return AdmissionAnswer{.patch = Json(R"([{"op":"remove","path":"/a"}])")};
  });
  EXPECT_EQ(PatchOf(response), json::parse(R"([{"op":"remove","path":"/a"}])"));
  EXPECT_EQ(response["warnings"], json({"w"}));
}

TEST_F(RawAdmissionTest, DeniesWithItsOwnWordsOrTheUsualOnes) {
  const json review = Review("CONNECT", WebPod());
  const json plain = Answer(review, [](const RawAdmission& raw) -> Result<AdmissionAnswer> {
    EXPECT_FALSE(raw.old_object.has_value());
    return AdmissionAnswer{.allowed = false, .patch = Json("[1]")};
  });
  EXPECT_EQ(plain["status"]["code"], 403);
  EXPECT_EQ(plain["status"]["reason"], "Forbidden");
  const json own = Answer(review, [](const RawAdmission&) -> Result<AdmissionAnswer> {
    return AdmissionAnswer{.allowed = false, .code = 418, .reason = "Teapot", .message = "short and stout"};
  });
  EXPECT_EQ(own["status"]["code"], 418);
  EXPECT_EQ(own["status"]["reason"], "Teapot");
  EXPECT_EQ(own["status"]["message"], "short and stout");
  const json invalid = Answer(review, [](const RawAdmission&) -> Result<AdmissionAnswer> {
    AdmissionAnswer answer;
    answer.errors.Required("spec");
    return answer;
  });
  EXPECT_FALSE(invalid["allowed"].get<bool>());
  EXPECT_EQ(invalid["status"]["code"], 422);
  EXPECT_EQ(invalid["status"]["message"], "Pod \"web\" is invalid: spec: Required value");
  const json failed =
      Answer(review, [](const RawAdmission&) -> Result<AdmissionAnswer> { return Fail(Code::kNotFound, "no shop"); });
  EXPECT_EQ(failed["status"]["code"], 404);
}

TEST_F(RawAdmissionTest, FailsWithAPatchThatServersRefuse) {
  Json patch;
  ASSERT_TRUE(detail::AddRawWebhook(routes_, "/raw", [&patch](const RawAdmission&) -> Result<AdmissionAnswer> {
    return AdmissionAnswer{.patch = patch};
  }));
  Run();
  const auto code = [&](const json& review, std::string_view text) {
    patch = Json(text);
    const json response = Call("/raw", review);
    return response["allowed"].get<bool>() ? 200 : response["status"]["code"].get<int>();
  };
  EXPECT_EQ(code(Review("CREATE", WebPod()), "{}"), 500);
  EXPECT_EQ(code(Review("CREATE", WebPod()), "[1"), 500);
  EXPECT_EQ(code(Review("DELETE", nullptr, WebPod()), R"([{"op":"remove","path":"/a"}])"), 500);
  EXPECT_EQ(code(Review("CREATE", WebPod()), " [ ] "), 200);
  EXPECT_EQ(PatchOf(Call("/raw", Review("CREATE", WebPod()))), nullptr);
  EXPECT_THAT(log_->lines, ElementsAre(HasSubstr("the patch that it returned is an object"),
                                       HasSubstr("the patch that it returned: not JSON"),
                                       HasSubstr("it returned a patch for a DELETE")));
}

// ---- Declarations. ----

class AdmissionDeclarations : public AdmissionTest {};

Result<void> AllowPod(Pod&, const Admission&) { return {}; }

// Contract: controller 195.
TEST_F(AdmissionDeclarations, RefuseAPathForTwoThings) {
  For<Pod>().MutatingPath("/p").ValidatingPath("/v").Default(AllowPod).Default(AllowPod);
  EXPECT_TRUE(routes_->declared());
  For<Deployment>().MutatingPath("/p").Default([](Deployment&, const Admission&) { return Result<void>(); });
  ASSERT_FALSE(routes_->declared());
  EXPECT_THAT(routes_->declared().error().message(),
              HasSubstr("the path '/p' has functions that set defaults for v1, Kind=Pod"));
  EXPECT_EQ(detail::AddRawWebhook(routes_, "/p", [](const RawAdmission&) { return AdmissionAnswer(); }).error().code(),
            Code::kInvalidArgument);
  EXPECT_THAT(routes_->paths(), ElementsAre("/p"));
}

TEST_F(AdmissionDeclarations, RefuseToValidateWhereDefaultsAreSet) {
  For<Pod>().MutatingPath("/p").ValidatingPath("/p").Default(AllowPod).ValidateCreate(
      [](const Pod&, const Admission&) { return Result<void>(); });
  EXPECT_FALSE(routes_->declared());
}

TEST_F(AdmissionDeclarations, RefuseEmptyFunctions) {
  For<Pod>().Default(std::function<Result<void>(Pod&, const Admission&)>());
  EXPECT_THAT(routes_->declared().error().message(), HasSubstr("a function of v1, Kind=Pod is empty"));
  EXPECT_FALSE(detail::AddRawWebhook(routes_, "/r", {}));
  EXPECT_FALSE(detail::AddRawWebhook(routes_, "r", [](const RawAdmission&) { return AdmissionAnswer(); }));
}

TEST_F(AdmissionDeclarations, RefuseWhatComesAfterTheManagerRuns) {
  For<Pod>().Default(AllowPod);
  Run();
  For<Pod>().Default(AllowPod);
  EXPECT_THAT(routes_->declared().error().message(), HasSubstr("was added after Manager::Run()"));
  EXPECT_THAT(log_->lines, ElementsAre(HasSubstr("error webhooks")));
  EXPECT_FALSE(detail::AddRawWebhook(routes_, "/r", [](const RawAdmission&) { return AdmissionAnswer(); }));
}

// ---- With a manager. ----

class ManagedAdmission : public ManagerTest {};
INSTANTIATE_TEST_SUITE_P(Seeds, ManagedAdmission, ::testing::Values(1));

std::string ReviewOfPod(bool dry_run) {
  const json review = {{"apiVersion", "admission.k8s.io/v1"},
                       {"kind", "AdmissionReview"},
                       {"request",
                        {{"uid", "u"},
                         {"kind", {{"group", ""}, {"version", "v1"}, {"kind", "Pod"}}},
                         {"operation", "CREATE"},
                         {"dryRun", dry_run},
                         {"object", WebPod()}}}};
  return review.dump();
}

TEST_P(ManagedAdmission, WritesNothingInADryRun) {
  const Manager manager = New();
  std::vector<std::string> codes;
  manager.Webhook<Pod>().ValidateCreate([&codes](const Pod&, const Admission& request) -> Result<void> {
    const Result<ConfigMap> made =
        request.client().Create(ConfigMap{.metadata = {.name = "seen", .namespace_ = "default"}});
    codes.emplace_back(made ? "made" : std::string(ToString(made.error().code())));
    return {};
  });
  const Ran ran = Spawn(manager);
  Settle();
  const Shared<controller::WebhookHandler> handler = detail::WebhookRoutesOf(manager)->Find("/validate--v1-pod");
  for (const bool dry_run : {true, false}) {
    const auto answered = cluster_.simulation().Spawn([handler, dry_run]() -> Result<void> {
      handler->Answer(ReviewOfPod(dry_run), {});
      return {};
    });
    Settle();
    EXPECT_TRUE(answered.done());
  }
  EXPECT_THAT(codes, ElementsAre("Forbidden", "made"));
  Stop(ran);
}

TEST_P(ManagedAdmission, TellsWhetherDefaultsAreIdempotent) {
  const Manager manager = New();
  manager.Webhook<Pod>().Default([](Pod& pod, const Admission&) -> Result<void> {
    if (!pod.spec->nodeName.has_value()) pod.spec->nodeName = "n1";
    return {};
  });
  manager.Webhook<Deployment>().Default([](Deployment& deployment, const Admission&) -> Result<void> {
    if (deployment.metadata.name == "bad") return Fail(Code::kForbidden, "a bad name");
    deployment.spec->replicas = deployment.spec->replicas.value_or(0) + 1;
    return {};
  });
  const std::string pod = WebPod().dump();
  EXPECT_TRUE(testing::DefaultsAreIdempotent(manager, "/mutate--v1-pod", pod));
  const auto deployment = [&](std::string_view name) {
    return testing::DefaultsAreIdempotent(
               manager, "/mutate-apps-v1-deployment",
               R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + std::string(name) + "\"}}")
        .error()
        .ToString();
  };
  EXPECT_THAT(deployment("web"), HasSubstr(R"([{"op":"replace","path":"/spec/replicas","value":2}])"));
  EXPECT_THAT(deployment("bad"), HasSubstr("denied: a bad name"));
  EXPECT_EQ(testing::DefaultsAreIdempotent(manager, "/nothing", pod).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(testing::DefaultsAreIdempotent(manager, "/mutate--v1-pod", "[]").error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace kgen
