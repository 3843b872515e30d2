// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KeepsWhatIsLost(): the annotation that holds what a spoke cannot say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "controller/webhook/lost_data.h"
#include "tests/runtime/controller/webhook/conversion_fixture.h"

namespace kgen {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const json::json_pointer kAnnotation("/metadata/annotations/kgen.dev~1conversion-data");

class ConversionLostTest : public ConversionFixture {
 protected:
  ConversionLostTest() { orders::DeclareOrders(Builder()).KeepsWhatIsLost(); }

  // A hub object with members that v1 cannot say in every place.
  static std::string Rich() {
    return Object("v2",
                  R"({"item":"cup","amount":5000000000,"lines":[{"item":"a","engraving":"x"},{"item":"b"}],)"
                  R"("named":{"k":{"engraving":"y"}},"gift":{"text":"hi","wrapped":null},"codes":{"a":"b"},)"
                  R"("note":null,"tags":["t"]})",
                  R"(,"status":{"phase":"New","checked":true})");
  }
  json Converted(std::string_view to, const json& object) { return Parse(One(to, object.dump())); }
};

TEST_F(ConversionLostTest, RestoresWhatTheSpokeCannotSay) {
  for (const std::string_view spoke : {"v1", "v3"}) {
    const json there = Converted(spoke, Parse(Rich()));
    EXPECT_TRUE(there.contains(kAnnotation)) << there;
    EXPECT_FALSE(there["spec"].contains("gift"));
    EXPECT_EQ(Converted("v2", there), Parse(Rich()));
  }
  EXPECT_THAT(log_->lines, IsEmpty());
}

TEST_F(ConversionLostTest, RestoresThroughAnotherSpoke) {
  const json v3 = Converted("v3", Converted("v1", Parse(Rich())));
  EXPECT_EQ(Converted("v2", v3), Parse(Rich()));
}

TEST_F(ConversionLostTest, AddsNoAnnotationIfNothingIsLost) {
  const json v1 = Converted("v1", Parse(Object("v2", R"({"item":"cup","amount":3,"lines":[{"count":1}]})")));
  EXPECT_EQ(v1["metadata"], (json{{"name", "first"}, {"namespace", "shop"}, {"uid", "u1"}}));
}

TEST_F(ConversionLostTest, RestoresNullsAndRemovals) {
  const json hub = Parse(Object("v2", R"({"gift":null,"codes":{"a":null},"extra":{"a":[null]},"amount":null})"));
  EXPECT_EQ(Converted("v2", Converted("v1", hub)), hub);

  // The function of v1 writes a member that the hub object did not have.
  routes_ = MakeShared<controller::WebhookRoutes>();
  Builder()
      .Spoke<orders::v1::Order>(
          [](const orders::v1::Order&, orders::v2::Order& to) -> Result<void> {
            to.spec->codes["from"] = "v1";
            to.spec->amount = 1;
            return {};
          },
          orders::ToV1)
      .KeepsWhatIsLost();
  const json plain = Parse(Object("v2", R"({"item":"cup"})"));
  EXPECT_EQ(Converted("v2", Converted("v1", plain)), plain);
}

TEST_F(ConversionLostTest, IgnoresTheDataOfAChangedObject) {
  json v1 = Converted("v1", Parse(Rich()));
  v1["spec"]["item"] = "pot";
  const json hub = Converted("v2", v1);
  EXPECT_EQ(hub["spec"]["item"], "pot");
  EXPECT_FALSE(hub["spec"].contains("gift"));
  EXPECT_FALSE(hub["metadata"].contains("annotations"));
  EXPECT_EQ(hub["status"]["checked"], true) << "the status is a part of its own";
  EXPECT_THAT(log_->lines, ElementsAre(AllOf(HasSubstr("Order shop.example/v1 shop/first: "), HasSubstr("is ignored"),
                                             HasSubstr("somebody has changed the object"))));
}

TEST_F(ConversionLostTest, AWriteOfTheStatusLosesNothingOfTheObject) {
  json v1 = Converted("v1", Parse(Rich()));
  v1["status"]["phase"] = "Done";
  const json hub = Converted("v2", v1);
  EXPECT_EQ(hub["spec"], Parse(Rich())["spec"]);
  EXPECT_EQ(hub["status"], (json{{"phase", "Done"}}));
  EXPECT_THAT(log_->lines, ElementsAre(HasSubstr("somebody has changed the status")));
}

TEST_F(ConversionLostTest, AChangeOfMetadataLosesNothing) {
  json v1 = Converted("v1", Parse(Rich()));
  v1["metadata"]["labels"]["team"] = "a";
  v1["metadata"]["annotations"]["note"] = "b";
  v1["metadata"]["resourceVersion"] = "8";
  v1["metadata"]["managedFields"] = json::array({{{"manager", "m"}}});
  json hub = Converted("v2", v1);
  EXPECT_EQ(hub["metadata"]["annotations"], (json{{"note", "b"}}));
  hub["metadata"] = Parse(Rich())["metadata"];
  EXPECT_EQ(hub, Parse(Rich()));
  EXPECT_THAT(log_->lines, IsEmpty());
}

TEST_F(ConversionLostTest, AServerMaySpellTheObjectInAnotherWay) {
  json v1 = Converted("v1", Parse(Object("v2", R"({"codes":{"a":"b"},"extra":{"x":1.50,"y":[1e3]}})")));
  v1["spec"]["extra"] = Parse(R"({"y":[1000],"x":1.5})");
  EXPECT_EQ(Converted("v2", v1)["spec"]["codes"], (json{{"a", "b"}}));
}

TEST_F(ConversionLostTest, IgnoresAnAnnotationThatSomebodyHasChanged) {
  const json v1 = Converted("v1", Parse(Rich()));
  const std::string data = v1[kAnnotation];
  const auto with = [&](const std::string& text) {
    json changed = v1;
    changed[kAnnotation] = text;
    json hub = Converted("v2", changed);
    EXPECT_FALSE(hub["spec"].contains("gift")) << text;
    EXPECT_FALSE(hub["metadata"].contains("annotations")) << text;
    EXPECT_EQ(hub["metadata"]["name"], "first") << text;
    EXPECT_EQ(log_->lines.size(), 1u) << text;
    log_->lines.clear();
  };
  json forged = Parse(data);
  forged["object"][1]["spec"]["gift"] = {{{"text", "forged"}}};
  with(forged.dump());
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("null"), std::string("{}"), data.substr(0, data.size() - 1),
        data + "}", std::string(3000, '['), std::string(R"({"hub":"v2","object":[]})"),
        std::string(R"({"hub":"v2","object":["x",["y"]]})"),
        std::string(R"({"hub":"v2","object":{"0":"x","1":{}}})")}) {
    with(text);
  }
}

TEST_F(ConversionLostTest, NoAnnotationChangesTheIdentityOfAnObject) {
  const std::string spoke = Object("v1", "{}");
  const controller::LostVersions versions{"v2", "v1"};
  // FindLost() with a back of its own makes a seal that fits.
  for (const std::string_view member : {"metadata", "apiVersion", "kind"}) {
    std::string data = Must(controller::FindLost(versions, R"({"x":1})", "{}", spoke));
    data.replace(data.find("{\"x\""), 4, "{\"" + std::string(member) + "\"");
    const auto restored = Must(controller::RestoreLost(versions, Object("v2", "{}"), spoke, data));
    EXPECT_EQ(restored.hub, Object("v2", "{}"));
    EXPECT_THAT(restored.ignored, HasSubstr("malformed"));
  }
}

TEST_F(ConversionLostTest, IgnoresTheDataOfAnotherHub) {
  const std::string spoke = Object("v1", "{}");
  const std::string data =
      Must(controller::FindLost({"v7", "v1"}, Object("v7", R"({"a":1})"), Object("v7", "{}"), spoke));
  const auto restored = Must(controller::RestoreLost({"v2", "v1"}, Object("v2", "{}"), spoke, data));
  EXPECT_EQ(restored.hub, Object("v2", "{}"));
  EXPECT_EQ(restored.ignored, "it was made for the hub version 'v7', and the hub is v2");
}

TEST_F(ConversionLostTest, ReplacesAnOldAnnotationOfAHubObject) {
  json hub = Parse(Rich());
  hub[kAnnotation] = "old";
  EXPECT_EQ(Converted("v2", Converted("v1", hub)), Parse(Rich()));
  json poor = Parse(Object("v2", R"({"item":"cup"})"));
  poor[kAnnotation] = "old";
  EXPECT_FALSE(Converted("v1", poor)["metadata"].contains("annotations"));
  EXPECT_THAT(log_->lines, IsEmpty());
}

TEST_F(ConversionLostTest, KeepsNothingThatIsTooLargeAndSaysSoOnceForEachKind) {
  const auto with_codes = [](std::size_t bytes) {
    return Object("v2", R"({"codes":{"a":")" + std::string(bytes, 'x') + R"("}})");
  };
  EXPECT_TRUE(Parse(One("v1", with_codes(120u << 10))).contains(kAnnotation));
  EXPECT_THAT(log_->lines, IsEmpty());
  for (int i = 0; i < 3; ++i) {
    const json v1 = Parse(One("v1", with_codes(130u << 10)));
    EXPECT_EQ(v1["spec"], json::object());
    EXPECT_FALSE(v1.contains(kAnnotation));
  }
  EXPECT_THAT(log_->lines,
              ElementsAre(AllOf(HasSubstr("Order shop.example/v2 shop/first: what version v1 cannot say is "
                                          "not kept"),
                                HasSubstr("Further objects of this kind are not reported"))));
}

TEST_F(ConversionLostTest, NeverMakesTheAnnotationsTooLargeForAServer) {
  const auto with_annotation = [](std::size_t bytes) {
    return Object("v2", R"({"codes":{"a":")" + std::string(100u << 10, 'x') + R"("}})", "",
                  R"(,"annotations":{"big":")" + std::string(bytes, 'y') + R"("})");
  };
  EXPECT_TRUE(Parse(One("v1", with_annotation(155u << 10))).contains(kAnnotation));
  EXPECT_FALSE(Parse(One("v1", with_annotation(157u << 10))).contains(kAnnotation));
  EXPECT_EQ(log_->lines.size(), 1u);
}

TEST_F(ConversionLostTest, ConvertsAnObjectThatCannotBeConvertedBack) {
  const json v1 = Parse(One("v1", Object("v2", R"({"item":"one way","codes":{"a":"b"}})")));
  EXPECT_EQ(v1["spec"], (json{{"item", "refused"}}));
  EXPECT_FALSE(v1.contains(kAnnotation));
  EXPECT_THAT(log_->lines, ElementsAre(HasSubstr("cannot be converted back to v2")));
}

TEST_F(ConversionLostTest, TheAnnotationIsAnOrdinaryOneForOtherConversions) {
  routes_ = MakeShared<controller::WebhookRoutes>();
  orders::DeclareOrders(Builder());
  json v1 = Parse(Object("v1", "{}"));
  v1[kAnnotation] = "old";
  EXPECT_TRUE(Converted("v2", v1).contains(kAnnotation));
}

// The format is stored in objects, so a later version of this library must read it.
TEST_F(ConversionLostTest, TheFormatDoesNotChange) {
  const json v1 = Converted("v1", Parse(Object("v2", R"({"item":"cup","codes":{"a":"b"},"gift":null})")));
  EXPECT_EQ(v1[kAnnotation],
            R"({"hub":"v2","object":["2f718268f324f555",{"spec":{"codes":[{"a":"b"}],"gift":[null]}}]})");
}

}  // namespace
}  // namespace kgen
