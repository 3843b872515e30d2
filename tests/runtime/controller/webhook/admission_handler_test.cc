// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Typed functions of webhooks: defaults, validation, denials and failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include "tests/runtime/controller/webhook/admission_fixture.h"

namespace kgen {
namespace {

using k8s::apps::v1::Deployment;
using k8s::core::v1::Pod;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kMutate = "/mutate-apps-v1-deployment";
constexpr const char* kValidate = "/validate-apps-v1-deployment";

// What a Go server sends, with a member that nobody knows and values in a spelling of their own.
json WebDeployment() {
  return json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment",
      "metadata":{"name":"web","namespace":"shop","creationTimestamp":null,"annotations":{"a/b":"c~d"}},
      "spec":{"selector":{"matchLabels":{"app":"web"}},"future":{"x":[1.0,null]},"strategy":{},
        "template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[
          {"name":"web","image":"web:1","resources":{"limits":{"cpu":2}},"ports":[{"containerPort":8e1}]}]}}},
      "status":{}})");
}

Result<void> AdmitAll() { return {}; }

class AdmissionHandler : public AdmissionTest {};

// ---- Defaults. ----

// Contract: controller 198.
TEST_F(AdmissionHandler, AnswersDefaultsAsAPatchOfWhatWasAssigned) {
  For<Deployment>().Default([](Deployment& deployment, const Admission&) {
    deployment.spec->replicas = 2;
    deployment.spec->template_->spec->containers[0].imagePullPolicy = "Always";
    deployment.metadata.annotations["x/y"] = "1";
    deployment.metadata.labels["tier"] = "gold";
    return AdmitAll();
  });
  const json object = WebDeployment();
  const json response = Call(kMutate, Review("CREATE", object));
  EXPECT_EQ(response["uid"], "u-1");
  EXPECT_EQ(PatchOf(response), json::parse(R"([
      {"op":"add","path":"/metadata/annotations/x~1y","value":"1"},
      {"op":"add","path":"/metadata/labels","value":{"tier":"gold"}},
      {"op":"add","path":"/spec/replicas","value":2},
      {"op":"add","path":"/spec/template/spec/containers/0/imagePullPolicy","value":"Always"}])"));
}

TEST_F(AdmissionHandler, AnswersNoPatchWhereNothingWasAssigned) {
  For<Deployment>().Default([](Deployment&, const Admission&) { return AdmitAll(); });
  const json response = Call(kMutate, Review("UPDATE", WebDeployment(), WebDeployment()));
  EXPECT_EQ(response, json::parse(R"({"uid":"u-1","allowed":true})"));
  // The spelling of the text that arrives makes no difference either.
  json review = Review("CREATE", nullptr, WebDeployment());
  review["request"]["object"] = "HERE";
  std::string text = review.dump();
  text.replace(text.find("\"HERE\""), 6, R"({ "spec":{"replicas":1.0,"paused":null, "minReadySeconds":"ten",
      "strategy":{"rollingUpdate":{"maxSurge":"25\u0025"}}},"kind":"Deployment","apiVersion":"apps\/v1"})");
  EXPECT_EQ(PatchOf(CallText(kMutate, text)), nullptr);
}

TEST_F(AdmissionHandler, SetsNoDefaultsOnDeletionAndConnect) {
  For<Deployment>().Default([](Deployment& deployment, const Admission&) {
    deployment.spec->replicas = 2;
    return AdmitAll();
  });
  EXPECT_EQ(PatchOf(Call(kMutate, Review("DELETE", nullptr, WebDeployment()))), nullptr);
  EXPECT_EQ(PatchOf(Call(kMutate, Review("CONNECT", WebDeployment()))), nullptr);
}

// Contract: controller 200.
TEST_F(AdmissionHandler, RunsSeveralDefaultsInOrderForOnePatch) {
  For<Deployment>()
      .Default([](Deployment& deployment, const Admission& request) {
        deployment.spec->replicas = 2;
        request.Warn("first");
        return AdmitAll();
      })
      .Default([](Deployment& deployment, const Admission& request) {
        deployment.spec->replicas = *deployment.spec->replicas + 1;
        request.Warn("second");
        request.Warn("first");
        return AdmitAll();
      });
  const json response = Call(kMutate, Review("CREATE", WebDeployment()));
  EXPECT_EQ(PatchOf(response), json::parse(R"([{"op":"add","path":"/spec/replicas","value":3}])"));
  EXPECT_EQ(response["warnings"], json({"first", "second"}));
}

// Contract: controller 200.
TEST_F(AdmissionHandler, SendsNoPatchWithADenial) {
  int later = 0;
  For<Deployment>()
      .Default([](Deployment& deployment, const Admission&) -> Result<void> {
        deployment.spec->replicas = 2;
        return Fail(Code::kForbidden, "no deployments on Sundays");
      })
      .Default([&later](Deployment&, const Admission&) {
        ++later;
        return AdmitAll();
      });
  const json response = Call(kMutate, Review("CREATE", WebDeployment()));
  EXPECT_FALSE(response["allowed"].get<bool>());
  EXPECT_EQ(response["status"]["message"], "no deployments on Sundays");
  EXPECT_EQ(later, 0);
}

TEST_F(AdmissionHandler, DefaultsObjectsOfAnyKind) {
  For({"shop.example", "v1", "Order"}).Default([](Unstructured& order, const Admission&) {
    return order.Set("spec.lines[0].quantity", 1);
  });
  const json order = {{"apiVersion", "shop.example/v1"},
                      {"kind", "Order"},
                      {"metadata", {{"name", "first"}}},
                      {"spec", {{"lines", {{{"item", "cup"}}}}, {"price", 1.50}}}};
  EXPECT_EQ(PatchOf(Call("/mutate-shop-example-v1-order", Review("CREATE", order))),
            json::parse(R"([{"op":"add","path":"/spec/lines/0/quantity","value":1}])"));
}

TEST_F(AdmissionHandler, DefaultsKindsOfTheCoreGroup) {
  For<Pod>().Default([](Pod& pod, const Admission&) {
    pod.spec->nodeName = "n1";
    return AdmitAll();
  });
  const json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", json::object()}};
  EXPECT_EQ(PatchOf(Call("/mutate--v1-pod", Review("CREATE", pod))),
            json::parse(R"([{"op":"add","path":"/spec","value":{"nodeName":"n1"}}])"));
}

TEST_F(AdmissionHandler, DeniesDefaultsThatAreNoJson) {
  For({"shop.example", "v1", "Order"}).Default([](Unstructured& order, const Admission&) {
    order.unknown_fields.Set("spec", Json("{bad"));
    return AdmitAll();
  });
  Run();
  const json order = {{"apiVersion", "shop.example/v1"}, {"kind", "Order"}, {"metadata", json::object()}};
  EXPECT_EQ(Call("/mutate-shop-example-v1-order", Review("CREATE", order))["status"]["code"], 500);
  EXPECT_THAT(log_->lines, ElementsAre(HasSubstr("the object with its defaults: the text after is not JSON")));
}

// ---- Validation. ----

// Contract: controller 199.
TEST_F(AdmissionHandler, ValidatesEachOperationAtOnePath) {
  std::vector<std::string> calls;
  For<Deployment>()
      .ValidateCreate([&](const Deployment& now, const Admission&) {
        calls.push_back("create " + now.metadata.name.str());
        return AdmitAll();
      })
      .ValidateUpdate([&](const Deployment& before, const Deployment& now, const Admission&) {
        calls.push_back("update " + std::to_string(*before.spec->replicas) + " " + std::to_string(*now.spec->replicas));
        return AdmitAll();
      })
      .ValidateDelete([&](const Deployment& before, const Admission&) {
        calls.push_back("delete " + before.metadata.name.str());
        return AdmitAll();
      });
  json before = WebDeployment(), now = WebDeployment();
  before["spec"]["replicas"] = 1;
  now["spec"]["replicas"] = 2;
  for (const json& review : {Review("CREATE", now), Review("UPDATE", now, before), Review("DELETE", nullptr, before),
                             Review("CONNECT", now)}) {
    EXPECT_EQ(Call(kValidate, review), json::parse(R"({"uid":"u-1","allowed":true})"));
  }
  EXPECT_THAT(calls, ElementsAre("create web", "update 1 2", "delete web"));
}

TEST_F(AdmissionHandler, DeniesAsServersDenyInvalidObjects) {
  For<Deployment>().ValidateCreate([](const Deployment&, const Admission&) -> Result<FieldErrors> {
    FieldErrors errors;
    errors.Invalid("spec.replicas", 0, "must be positive");
    errors.Required("spec.template");
    return errors;
  });
  const json response = Call(kValidate, Review("CREATE", WebDeployment()));
  EXPECT_FALSE(response["allowed"].get<bool>());
  const json& status = response["status"];
  EXPECT_EQ(status["code"], 422);
  EXPECT_EQ(status["reason"], "Invalid");
  EXPECT_EQ(status["status"], "Failure");
  EXPECT_EQ(status["message"],
            "Deployment.apps \"web\" is invalid: [spec.replicas: Invalid value: 0: must be positive, "
            "spec.template: Required value]");
  EXPECT_EQ(status["details"], json::parse(R"({"name":"web","group":"apps","kind":"Deployment","causes":[
      {"reason":"FieldValueInvalid","message":"Invalid value: 0: must be positive","field":"spec.replicas"},
      {"reason":"FieldValueRequired","message":"Required value","field":"spec.template"}]})"));
}

TEST_F(AdmissionHandler, JoinsTheErrorsOfSeveralFunctions) {
  For<Pod>()
      .ValidateCreate([](const Pod&, const Admission& request) {
        request.Warn("a");
        FieldErrors errors;
        errors.Required("spec.a");
        return Result<FieldErrors>(errors);
      })
      .ValidateCreate([](const Pod&, const Admission& request) {
        request.Warn("b");
        FieldErrors errors;
        errors.Required("spec.b");
        return Result<FieldErrors>(errors);
      });
  const json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}}}};
  const json response = Call("/validate--v1-pod", Review("CREATE", pod));
  EXPECT_EQ(response["status"]["message"], "Pod \"p\" is invalid: [spec.a: Required value, spec.b: Required value]");
  EXPECT_EQ(response["warnings"], json({"a", "b"}));
}

TEST_F(AdmissionHandler, LetsTheFirstFailureWinOverErrorsOfMembers) {
  For<Deployment>()
      .ValidateDelete([](const Deployment&, const Admission&) {
        FieldErrors errors;
        errors.Required("spec.a");
        return Result<FieldErrors>(errors);
      })
      .ValidateDelete([](const Deployment&, const Admission&) { return Result<void>(Fail(Code::kConflict, "first")); })
      .ValidateDelete(
          [](const Deployment&, const Admission&) { return Result<void>(Fail(Code::kForbidden, "second")); });
  const json status = Call(kValidate, Review("DELETE", nullptr, WebDeployment()))["status"];
  EXPECT_EQ(status["code"], 409);
  EXPECT_EQ(status["reason"], "Conflict");
  EXPECT_EQ(status["message"], "first");
}

TEST_F(AdmissionHandler, AllowsOperationsWithoutAFunction) {
  For<Deployment>().ValidateCreate(
      [](const Deployment&, const Admission&) { return Result<void>(Fail(Code::kForbidden, "no")); });
  // The objects are not looked at.
  EXPECT_TRUE(Call(kValidate, Review("UPDATE", WebDeployment()))["allowed"].get<bool>());
}

// ---- Denials and failures. ----

// Contract: controller 199.
TEST_F(AdmissionHandler, PassesTheStatusOfAnErrorOn) {
  For<Deployment>().ValidateCreate([](const Deployment&, const Admission&) -> Result<void> {
    meta::v1::Status status;
    status.code = 503;
    status.reason = "ServiceUnavailable";
    status.message = "slow down";
    status.details->retryAfterSeconds = 7;
    status.details->causes.push_back({.field = "spec", .message = "m", .reason = "r"});
    return Fail(Error::FromStatus(status, Code::kTooManyRequests));
  });
  const json status = Call(kValidate, Review("CREATE", WebDeployment()))["status"];
  EXPECT_EQ(status["code"], 503);
  EXPECT_EQ(status["reason"], "ServiceUnavailable");
  EXPECT_EQ(status["message"], "slow down");
  EXPECT_EQ(status["details"]["retryAfterSeconds"], 7);
  EXPECT_EQ(status["details"]["causes"][0]["field"], "spec");
}

TEST_F(AdmissionHandler, MapsTheCodesOfTheServerToTheirHttpStatus) {
  Code code = Code::kServer;
  For<Deployment>().ValidateCreate(
      [&code](const Deployment&, const Admission&) -> Result<void> { return Fail(code, "why"); });
  const auto status = [&](Code each) {
    code = each;
    const json found = Call(kValidate, Review("CREATE", WebDeployment()))["status"];
    return found["code"].dump() + " " + found["reason"].get<std::string>() + ": " + found["message"].get<std::string>();
  };
  EXPECT_EQ(status(Code::kUnauthorized), "401 Unauthorized: why");
  EXPECT_EQ(status(Code::kForbidden), "403 Forbidden: why");
  EXPECT_EQ(status(Code::kNotFound), "404 NotFound: why");
  EXPECT_EQ(status(Code::kMethodNotAllowed), "405 MethodNotAllowed: why");
  EXPECT_EQ(status(Code::kAlreadyExists), "409 AlreadyExists: why");
  EXPECT_EQ(status(Code::kConflict), "409 Conflict: why");
  EXPECT_EQ(status(Code::kExpired), "410 Expired: why");
  EXPECT_EQ(status(Code::kRequestTooLarge), "413 RequestEntityTooLarge: why");
  EXPECT_EQ(status(Code::kUnsupportedMedia), "415 UnsupportedMediaType: why");
  EXPECT_EQ(status(Code::kInvalid), "422 Invalid: why");
  EXPECT_EQ(status(Code::kTooManyRequests), "429 TooManyRequests: why");
  EXPECT_EQ(status(Code::kServer), "500 InternalError: why");
}

TEST_F(AdmissionHandler, KeepsTheCauseOfAFailureForTheLog) {
  For<Deployment>().ValidateCreate([](const Deployment&, const Admission&) -> Result<void> {
    return Fail(Code::kUnavailable, "connect to 10.0.0.7: password=hunter2");
  });
  Run();
  const json status = Call(kValidate, Review("CREATE", WebDeployment()))["status"];
  EXPECT_EQ(status["code"], 500);
  EXPECT_EQ(status["reason"], "InternalError");
  EXPECT_EQ(status["message"], "webhook /validate-apps-v1-deployment failed; its log has the cause, with the id u-1");
  EXPECT_THAT(log_->lines, ElementsAre("error /validate-apps-v1-deployment shop/web u-1: the webhook failed, so the "
                                       "request was denied: connect to 10.0.0.7: password=hunter2 (Unavailable)"));
  EXPECT_EQ(routes_->Find(kValidate)->panics(), 0u);
}

// Contract: controller 201.
TEST_F(AdmissionHandler, AnswersAndCountsExceptions) {
  std::function<void()> fail;
  For<Deployment>().Default([&fail](Deployment&, const Admission&) {
    fail();
    return AdmitAll();
  });
  Run();
  meta::v1::Status forbidden;
  forbidden.code = 403;
  const std::vector<std::function<void()>> failures = {
      [] { throw std::runtime_error("secret"); }, [] { throw std::bad_alloc(); }, [] { throw 7; },
      [&] { Must(Result<void>(Fail(Error::FromStatus(forbidden, Code::kForbidden)))); }};
  for (const auto& each : failures) {
    fail = each;
    const json status = Call(kMutate, Review("CREATE", WebDeployment()))["status"];
    EXPECT_EQ(status["code"], 500);
    EXPECT_THAT(status["message"].get<std::string>(), Not(HasSubstr("secret")));
  }
  EXPECT_EQ(routes_->Find(kMutate)->panics(), 4u);
  ASSERT_EQ(log_->lines.size(), 4u);
  EXPECT_THAT(log_->lines[0], HasSubstr("its function threw: secret"));
  EXPECT_THAT(log_->lines[1], HasSubstr("out of memory"));
}

// Contract: controller 204.
TEST_F(AdmissionHandler, RefusesAnotherKindThanItsOwn) {
  For<Deployment>().Default([](Deployment&, const Admission&) { return AdmitAll(); });
  Run();
  json review = Review("CREATE", WebDeployment());
  review["request"]["kind"]["version"] = "v1beta1";
  const json status = Call(kMutate, review)["status"];
  EXPECT_EQ(status["code"], 400);
  EXPECT_EQ(status["reason"], "BadRequest");
  EXPECT_THAT(
      status["message"].get<std::string>(),
      HasSubstr("takes apps/v1, Kind=Deployment, and the review has apps/v1beta1, Kind=Deployment: let the rules"));
  EXPECT_THAT(status["message"].get<std::string>(), HasSubstr("matchPolicy"));
  EXPECT_THAT(log_->lines, ElementsAre(HasSubstr("warning /mutate-apps-v1-deployment shop/web u-1: webhook")));
}

TEST_F(AdmissionHandler, RefusesObjectsThatCannotBeDecoded) {
  For<Deployment>().ValidateUpdate([](const Deployment&, const Deployment&, const Admission&) { return AdmitAll(); });
  json review = Review("UPDATE", WebDeployment(), WebDeployment());
  review["request"]["oldObject"]["metadata"]["name"] = 7;
  json status = Call(kValidate, review)["status"];
  EXPECT_EQ(status["code"], 400);
  EXPECT_THAT(status["message"].get<std::string>(), HasSubstr("oldObject: "));
  EXPECT_THAT(status["message"].get<std::string>(), HasSubstr("metadata.name"));
  review = Review("UPDATE", WebDeployment());
  status = Call(kValidate, review)["status"];
  EXPECT_EQ(status["code"], 400);
  EXPECT_EQ(status["message"], "the review has no oldObject");
}

// Contract: controller 196.
TEST_F(AdmissionHandler, AnswersWhatIsNoReviewWithAReview) {
  For<Deployment>().Default([](Deployment&, const Admission&) { return AdmitAll(); });
  Run();
  for (const std::string_view body : {"", "{", "[]", R"({"kind":"Pod","apiVersion":"v1"})"}) {
    const json response = CallText(kMutate, body);
    EXPECT_EQ(response["uid"], "");
    EXPECT_EQ(response["status"]["code"], 400);
    EXPECT_EQ(response["status"]["reason"], "BadRequest");
  }
  EXPECT_THAT(log_->lines, IsEmpty());  // whoever sends such bodies does not fill the log
  const json large = json::parse(routes_->Find(kMutate)->AnswerTooLarge(7 << 20));
  EXPECT_EQ(large["response"]["status"]["code"], 413);
  EXPECT_EQ(large["response"]["status"]["reason"], "RequestEntityTooLarge");
  EXPECT_THAT(large["response"]["status"]["message"].get<std::string>(), HasSubstr("limit is 7340032 bytes"));
}

}  // namespace
}  // namespace kgen
