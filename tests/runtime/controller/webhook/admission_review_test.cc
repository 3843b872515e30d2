// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/admission_review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "controller/webhook/admission_warnings.h"

namespace kgen::controller {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

// As a server sends it for `kubectl scale` through a webhook for another version.
constexpr std::string_view kReview = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{
  "uid":"0b4c","kind":{"group":"apps","version":"v1","kind":"Deployment"},
  "resource":{"group":"apps","version":"v1","resource":"deployments"},"subResource":"status",
  "requestKind":{"group":"apps","version":"v1beta1","kind":"Deployment"},
  "requestResource":{"group":"apps","version":"v1beta1","resource":"deployments"},"requestSubResource":"status",
  "name":"web","namespace":"shop","operation":"UPDATE",
  "userInfo":{"username":"jane","uid":"7","groups":["dev","system:authenticated"],"extra":{"scopes":["a","b"]}},
  "object":{"a" : 1.0},"oldObject":{"a":0},"dryRun":true,"options":{"kind":"UpdateOptions"},"future":[{}]}})";

TEST(AdmissionReview, IsReadWithAllThatItSays) {
  AdmissionRequest request;
  ASSERT_TRUE(ReadAdmissionReview(kReview, request));
  EXPECT_FALSE(request.v1beta1);
  EXPECT_EQ(request.uid, "0b4c");
  EXPECT_EQ(request.operation, AdmissionOperation::kUpdate);
  EXPECT_EQ(request.kind.str(), "apps/v1, Kind=Deployment");
  EXPECT_EQ(request.request_kind.str(), "apps/v1beta1, Kind=Deployment");
  EXPECT_EQ(request.resource.str(), "deployments.v1.apps");
  EXPECT_EQ(request.request_resource.str(), "deployments.v1beta1.apps");
  EXPECT_EQ(request.subresource, "status");
  EXPECT_EQ(request.request_subresource, "status");
  EXPECT_EQ(request.key.str(), "shop/web");
  EXPECT_EQ(request.user.username, "jane");
  EXPECT_EQ(request.user.uid, "7");
  EXPECT_THAT(request.user.groups, ElementsAre("dev", "system:authenticated"));
  EXPECT_THAT(request.user.extra, ElementsAre(Pair("scopes", ElementsAre("a", "b"))));
  EXPECT_TRUE(request.dry_run);
  EXPECT_EQ(request.options.text(), R"({"kind":"UpdateOptions"})");
  EXPECT_EQ(request.object, R"({"a" : 1.0})");
  EXPECT_EQ(request.old_object, R"({"a":0})");
}

TEST(AdmissionReview, HasTheOriginalKindOfOlderServers) {
  AdmissionRequest request;
  ASSERT_TRUE(ReadAdmissionReview(R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{
      "uid":"u","kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"version":"v1","resource":"pods"},
      "subResource":"exec","operation":"CONNECT","object":null,"oldObject":null,"options":null,"dryRun":null}})",
                                  request));
  EXPECT_TRUE(request.v1beta1);
  EXPECT_EQ(request.request_kind.str(), request.kind.str());
  EXPECT_EQ(request.request_resource, request.resource);
  EXPECT_EQ(request.request_subresource, "exec");
  EXPECT_EQ(request.object, "");
  EXPECT_FALSE(request.options.has_value());
}

std::string ErrorOf(std::string_view review, AdmissionRequest request = {}) {
  const Result<void> read = ReadAdmissionReview(review, request);
  if (read) return "success";
  EXPECT_EQ(read.error().code(), Code::kDecode);
  return read.error().message();
}

// Contract: controller 196.
TEST(AdmissionReview, IsRefusedWithTheReason) {
  EXPECT_EQ(ErrorOf(""), "the request body is empty");
  EXPECT_EQ(ErrorOf(" \n"), "the request body is empty");
  EXPECT_EQ(ErrorOf(R"({"kind":"AdmissionReview",})"),
            "the body is not JSON: expected a member name in quotes, at byte 26");
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("the review is not an object"));
  EXPECT_THAT(ErrorOf("{} {}"), HasSubstr("unexpected text after the value"));
  EXPECT_THAT(ErrorOf(R"({"kind":"Pod","apiVersion":"v1"})"), HasSubstr(R"(found the kind "Pod" of "v1")"));
  EXPECT_THAT(ErrorOf(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2","request":{}})"),
              HasSubstr("admission.k8s.io/v2"));
  constexpr const char* kNoRequest = "the AdmissionReview has no request";
  EXPECT_EQ(ErrorOf(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})"), kNoRequest);
  EXPECT_EQ(ErrorOf(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{},"request":null})"),
            kNoRequest);
  EXPECT_EQ(ErrorOf(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}})"),
            "request.operation is missing");
}

TEST(AdmissionReview, EchoesTheUidThatStandsBehindAnError) {
  AdmissionRequest request;
  const Result<void> read = ReadAdmissionReview(
      R"({"request":{"name":7,"operation":"PATCH","object":[],"dryRun":1,"userInfo":{"groups":["a",2]},"uid":"u-9"},
          "kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"})",
      request);
  EXPECT_EQ(read.error().message(), "request.name is not a string, at byte 19");
  EXPECT_EQ(request.uid, "u-9");
  EXPECT_TRUE(request.v1beta1);
}

TEST(AdmissionReview, NamesTheMemberOfTheWrongType) {
  const auto with = [](std::string_view members) {
    return ErrorOf(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"CREATE",)" +
                   std::string(members) + "}}");
  };
  EXPECT_THAT(with(R"("uid":{})"), StartsWith("request.uid is not a string"));
  EXPECT_THAT(with(R"("kind":"Pod")"), StartsWith("request.kind is not an object"));
  EXPECT_THAT(with(R"("kind":{"kind":1})"), StartsWith("request.kind is not a string"));
  EXPECT_THAT(with(R"("object":[{}])"), StartsWith("request.object is not an object"));
  EXPECT_THAT(with(R"("dryRun":"true")"), StartsWith("request.dryRun is not a boolean"));
  EXPECT_THAT(with(R"("userInfo":{"groups":{}})"), StartsWith("request.userInfo.groups is not a list of strings"));
  EXPECT_THAT(with(R"("operation":"create")"), StartsWith(R"(request.operation is "create", expected CREATE,)"));
}

TEST(AdmissionReview, HasTheLimitsOfAnObject) {
  const auto with = [](std::size_t depth) {
    return ErrorOf(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"operation":"CREATE",
        "object":{"a":)" +
                   std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}}}");
  };
  EXPECT_EQ(with(256), "success");
  EXPECT_THAT(with(257), HasSubstr("nested too deeply"));
  std::string many = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"object":{"a":1)";
  for (int i = 0; i < 1'000'000; ++i) many += ",\"a\":1";
  EXPECT_THAT(ErrorOf(many + "}}}"), HasSubstr("too many members"));
}

TEST(AdmissionReview, IsAnsweredInItsVersion) {
  EXPECT_EQ(
      WriteAdmissionReview({.uid = "a\"b"}, {}),
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"a\"b","allowed":true}})");
  const json answer = json::parse(WriteAdmissionReview(
      {.v1beta1 = true, .uid = "u"}, {.patch = "[1]", .warnings = {"a", "b\n"}, .audit = {{"k", "v"}, {"l", "w"}}}));
  EXPECT_EQ(answer, json::parse(R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{
      "uid":"u","allowed":true,"patchType":"JSONPatch","patch":"WzFd","warnings":["a","b\n"],
      "auditAnnotations":{"k":"v","l":"w"}}})"));
}

// ---- Warnings. ----

TEST(AdmissionWarnings, CountOnceAndStayOnOneLine) {
  AdmissionWarnings warnings;
  for (const char* text : {"a", "", "b\nc", "a", "b\tc", "\xC2\x85 x", " "}) warnings.Add(text);
  EXPECT_THAT(warnings.Fitting(), ElementsAre("a", "b c", "  x"));
}

TEST(AdmissionWarnings, AreWholeUpTo4096Characters) {
  AdmissionWarnings warnings;
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "\xC3\xA9";
  warnings.Add(text);
  warnings.Add(std::string(96, 'x'));
  EXPECT_THAT(warnings.Fitting(), ElementsAre(text, std::string(96, 'x')));
  warnings.Add("y");
  const std::vector<std::string> fitting = warnings.Fitting();
  ASSERT_EQ(fitting.size(), 3u);
  EXPECT_EQ(fitting[0], text.substr(0, 2 * 253) + "...");
  EXPECT_EQ(fitting[1], std::string(96, 'x'));
  EXPECT_EQ(fitting[2], "y");
}

TEST(AdmissionWarnings, AreCountedWhereTheyDoNotFit) {
  AdmissionWarnings warnings;
  for (int i = 0; i < 1200; ++i) warnings.Add(std::to_string(i) + std::string(300, 'x'));
  const std::vector<std::string> fitting = warnings.Fitting();
  std::size_t characters = 0;
  for (const std::string& each : fitting) characters += each.size();
  EXPECT_LE(characters, 4096u);
  ASSERT_EQ(fitting.size(), 16u);
  EXPECT_THAT(fitting[14], EndsWith("..."));
  EXPECT_EQ(fitting[14].size(), 256u);
  EXPECT_EQ(fitting[15], "and 1185 more warnings, which do not fit");
}

}  // namespace
}  // namespace kgen::controller
