// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The handler at "/convert": what a review may hold, and what its answer says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "tests/runtime/controller/webhook/conversion_fixture.h"

namespace kgen {
namespace {

using nlohmann::json;
using orders::DeclareOrders;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class ConversionReviewTest : public ConversionFixture {
 protected:
  ConversionReviewTest() { DeclareOrders(Builder()); }

  std::string Message(const std::string& answer) {
    const json response = Parse(answer)["response"];
    EXPECT_EQ(response["result"]["status"], "Failure") << answer;
    EXPECT_FALSE(response.contains("convertedObjects"));
    return response["result"].value("message", "");
  }
};

// Contract: controller 202.
TEST_F(ConversionReviewTest, AnswersAsManyObjectsAsCameInTheirOrderWithTheUid) {
  const json answer =
      Parse(Answer("shop.example/v2", {Object("v1", R"({"quantity":1})"), Object("v3", R"({"amount":2})"),
                                       Object("v2", R"({"amount":3})"), Object("v1", "{}")}));
  EXPECT_EQ(answer["apiVersion"], "apiextensions.k8s.io/v1");
  EXPECT_EQ(answer["kind"], "ConversionReview");
  const json& response = answer["response"];
  EXPECT_EQ(response["uid"], "705ab4f5");
  EXPECT_EQ(response["result"], json({{"status", "Success"}}));
  ASSERT_EQ(response["convertedObjects"].size(), 4u);
  for (const json& object : response["convertedObjects"]) {
    EXPECT_EQ(object["apiVersion"], "shop.example/v2");
    EXPECT_EQ(object["kind"], "Order");
    EXPECT_EQ(object["metadata"], (json{{"name", "first"}, {"namespace", "shop"}, {"uid", "u1"}}));
  }
  EXPECT_EQ(response["convertedObjects"][0]["spec"]["amount"], 1);
  EXPECT_EQ(response["convertedObjects"][1]["spec"]["amount"], 2);
  EXPECT_EQ(response["convertedObjects"][2]["spec"]["amount"], 3);
  EXPECT_FALSE(response["convertedObjects"][3].value("spec", json::object()).contains("amount"));
}

TEST_F(ConversionReviewTest, AnswersAReviewWithoutObjects) {
  EXPECT_EQ(Parse(Answer("shop.example/v2", {}))["response"]["convertedObjects"], json::array());
  for (const std::string_view objects : {"", R"(,"objects":null)"}) {
    const std::string review =
        R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"1",)"
        R"("desiredAPIVersion":"shop.example/v2")" +
        std::string(objects) + "}}";
    const json answer = Parse(Handler().Answer(review, {}));
    EXPECT_EQ(answer["response"]["result"]["status"], "Success") << answer;
    EXPECT_EQ(answer["response"]["convertedObjects"], json::array());
  }
}

TEST_F(ConversionReviewTest, AnswersTheOlderVersionOfTheReviewInThatVersion) {
  const json answer = Parse(Handler().Answer(
      ReviewOf("shop.example/v2", {Object("v1", R"({"quantity":1})")}, "apiextensions.k8s.io/v1beta1"), {}));
  EXPECT_EQ(answer["apiVersion"], "apiextensions.k8s.io/v1beta1");
  EXPECT_EQ(answer["response"]["convertedObjects"][0]["spec"]["amount"], 1);
}

TEST_F(ConversionReviewTest, ReturnsAnObjectOfTheDesiredVersionByteForByte) {
  const std::string object =
      "{ \"kind\":\"Order\", \"spec\" : {\"amount\":1.0,\"item\":\"\\u0041\"},\n\"metadata\":{\"name\":\"x\"},"
      "\"apiVersion\":\"shop.example/v2\"}";
  EXPECT_EQ(One("v2", object), object);
}

// Contract: controller 202.
TEST_F(ConversionReviewTest, ConvertsASpokeToASpokeThroughTheHub) {
  const json v3 = Parse(One("v3", Object("v1", R"({"item":"cup","quantity":3,"tags":["a"]})")));
  EXPECT_EQ(v3["apiVersion"], "shop.example/v3");
  EXPECT_EQ(v3["spec"], (json{{"title", "cup"}, {"amount", 3}, {"tags", {"a"}}}));
  const json v1 = Parse(One("v1", v3.dump()));
  EXPECT_EQ(v1["spec"], (json{{"item", "cup"}, {"quantity", 3}, {"tags", {"a"}}}));
}

TEST_F(ConversionReviewTest, NamesTheObjectAndTheCauseOfAFailure) {
  const std::string answer = Answer("shop.example/v2", {Object("v1", "{}"), Object("v1", R"({"item":"refused"})")});
  EXPECT_EQ(Message(answer),
            "Order shop.example/v1 shop/first: conversion to v2 failed: spec.item: the shop has no such thing "
            "(Invalid)");
  EXPECT_EQ(Parse(answer)["response"]["uid"], "705ab4f5");
  EXPECT_EQ(Parse(answer)["response"]["result"]["reason"], "Invalid");
  EXPECT_EQ(Parse(answer)["response"]["result"]["code"], 422);
  EXPECT_THAT(log_->lines, ElementsAre(HasSubstr("the shop has no such thing")));
  EXPECT_EQ(Handler().panics(), 0u);
}

// Contract: controller 202.
TEST_F(ConversionReviewTest, AnswersAndCountsAnException) {
  EXPECT_THAT(
      Message(Answer("shop.example/v2", {Object("v1", R"({"item":"thrown"})")})),
      StartsWith("Order shop.example/v1 shop/first: conversion to v2 failed: the conversion function threw: the "
                 "shop is on fire"));
  EXPECT_EQ(Handler().panics(), 1u);
}

TEST_F(ConversionReviewTest, RefusesUnknownVersionsKindsAndGroups) {
  const std::string declared = "; the manager declares v1, v2 (hub), v3 of shop.example";
  EXPECT_EQ(Message(Answer("shop.example/v9", {Object("v1", "{}")})),
            "Order shop.example/v1 shop/first: no conversion from shop.example/v1 to shop.example/v9" + declared);
  EXPECT_EQ(Message(Answer("shop.example/v2", {Object("v9", "{}")})),
            "Order shop.example/v9 shop/first: no conversion from shop.example/v9 to shop.example/v2" + declared);
  EXPECT_THAT(Message(Answer("store.example/v2", {Object("v1", "{}")})),
              HasSubstr("no conversion from shop.example/v1 to store.example/v2; the manager declares no versions"));
  EXPECT_THAT(Message(Answer("shop.example/v2", {R"({"apiVersion":"store.example/v1","kind":"Order"})"})),
              HasSubstr("no conversion from store.example/v1 to shop.example/v2"));
  EXPECT_THAT(Message(Answer("shop.example/v2", {R"({"apiVersion":"shop.example/v1","kind":"Shelf"})"})),
              HasSubstr("no conversion from shop.example/v1 to shop.example/v2; the manager declares no versions"));
}

TEST_F(ConversionReviewTest, RefusesWhatIsNoReview) {
  const auto refuses = [&](const std::string& review, std::string_view why) {
    EXPECT_THAT(Message(Handler().Answer(review, {})), HasSubstr(why)) << review;
  };
  refuses("", "the body is not a JSON object");
  refuses("[]", "the body is not a JSON object");
  refuses("{\"kind\":", "the body is not a JSON object");
  refuses("{}", "it has the kind ''");
  refuses(ReviewOf("shop.example/v2", {}, "apiextensions.k8s.io/v2"), "of 'apiextensions.k8s.io/v2'");
  const std::string head = R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":)";
  refuses(head + "null}", "request.desiredAPIVersion is missing");
  refuses(head + R"({"uid":"1"}})", "request.desiredAPIVersion is missing");
  refuses(head + R"({"desiredAPIVersion":"shop.example/v2","objects":{}}})",
          "request.objects is an object, not a list");
  refuses(head + R"({"desiredAPIVersion":"shop.example/v2","objects":[1]}})", "(request.objects[0])");
  refuses(head + R"({"desiredAPIVersion":"shop.example/v2","objects":[{]}]}})", "");
  refuses(ReviewOf("shop.example/v2", {Object("v1", R"({"quantity":01})")}), "conversion to v2 failed: ");
  refuses(ReviewOf("shop.example/v2", {Object("v2", R"({"quantity":01})")}), "the object is not JSON");
  std::string deep(2000, '[');
  refuses(ReviewOf("shop.example/v2", {Object("v1", R"({"extra":)" + deep + std::string(2000, ']') + "}")}), "deep");
}

TEST_F(ConversionReviewTest, AnswersJsonWhateverTheUidHolds) {
  for (const std::string_view uid : {"\"a\x0c\"", "\"\\\"\"", "7", "null", "\"\xff\""}) {
    const std::string review =
        R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":)" + std::string(uid) +
        R"(,"desiredAPIVersion":"shop.example/v2","objects":[]}})";
    const std::string answer = Handler().Answer(review, {});
    EXPECT_EQ(Parse(answer)["response"]["result"]["status"], "Success") << answer;
  }
}

TEST_F(ConversionReviewTest, EndsWhenTheTimeOfTheReviewHasPassed) {
  std::stop_source stop;
  stop.request_stop();
  const std::string answer =
      Handler().Answer(ReviewOf("shop.example/v2", {Object("v1", "{}")}), {.stop = stop.get_token()});
  EXPECT_THAT(Message(answer), HasSubstr("the time of the review has passed after 0 objects"));
  EXPECT_EQ(Parse(answer)["response"]["result"]["code"], 504);
}

TEST_F(ConversionReviewTest, AnswersAReviewThatIsTooLarge) {
  const std::string answer = Handler().AnswerTooLarge(1000);
  EXPECT_THAT(Message(answer), HasSubstr("more than 1000 bytes"));
  EXPECT_EQ(Parse(answer)["response"]["result"]["code"], 413);
}

TEST_F(ConversionReviewTest, ConvertsAWholeListInOneReview) {
  constexpr int kObjects = 20'000;
  std::vector<std::string> objects;
  objects.reserve(kObjects);
  for (int i = 0; i < kObjects; ++i) {
    objects.push_back(
        Object("v1", R"({"item":")" + std::string(700, 'x') + R"(","quantity":)" + std::to_string(i) + "}"));
  }
  const json answer = Parse(Answer("shop.example/v2", objects));
  ASSERT_EQ(answer["response"]["convertedObjects"].size(), std::size_t{kObjects});
  for (int i = 0; i < kObjects; i += 1000) {
    EXPECT_EQ(answer["response"]["convertedObjects"][static_cast<std::size_t>(i)]["spec"]["amount"], i);
  }
}

class ConversionDeclarationTest : public ConversionFixture {
 protected:
  std::string Declared() {
    const Result<void> declared = routes_->declared();
    return declared ? "" : declared.error().message();
  }
};

TEST_F(ConversionDeclarationTest, RefusesAVersionThatIsDeclaredTwice) {
  DeclareOrders(DeclareOrders(Builder()));
  EXPECT_EQ(Declared(), "conversion: Order shop.example/v1 is declared twice");
}

// Contract: controller 202.
TEST_F(ConversionDeclarationTest, RefusesASpokeOfAnotherGroup) {
  Builder().Spoke<orders::Shelf>([](const orders::Shelf&, orders::v2::Order&) -> Result<void> { return {}; },
                                 [](const orders::v2::Order&, orders::Shelf&) -> Result<void> { return {}; });
  EXPECT_EQ(
      Declared(),
      "conversion: the spoke Shelf store.example/v1 has another group or kind than the hub Order shop.example/v2");
}

TEST_F(ConversionDeclarationTest, RefusesASecondHub) {
  Builder().Spoke<orders::v1::Order>(orders::FromV1, orders::ToV1);
  ConversionBuilder<orders::v3::Order>(routes_).KeepsWhatIsLost();
  EXPECT_EQ(Declared(), "conversion of Order: the hub is v2 already, so v3 cannot be one; declare it with Spoke()");
}

TEST_F(ConversionDeclarationTest, ConvertsSeveralKindsWithOneHandler) {
  DeclareOrders(Builder());
  ConversionBuilder<orders::Shelf>(routes_).KeepsWhatIsLost();
  EXPECT_EQ(Declared(), "");
  const std::string shelf = R"({"apiVersion":"store.example/v1","kind":"Shelf","metadata":{"name":"a"}})";
  EXPECT_EQ(Parse(Answer("store.example/v1", {shelf}))["response"]["convertedObjects"][0], Parse(shelf));
  EXPECT_EQ(Parse(One("v2", Object("v1", R"({"quantity":7})")))["spec"]["amount"], 7);
  EXPECT_THAT(routes_->paths(), ElementsAre("/convert"));
  EXPECT_THAT(log_->lines, IsEmpty());
}

}  // namespace
}  // namespace kgen
