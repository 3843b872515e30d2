// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Unstructured: getters and setters by path.
#include "kgen/core/unstructured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace kgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Unstructured Order() {
  Unstructured order;
  order.apiVersion = "shop.example.com/v1";
  order.kind = "Order";
  order.metadata.name = "first";
  order.metadata.labels["app.kubernetes.io/name"] = "shop";
  order.unknown_fields.Set("spec",
                           Json(R"({"item": "tea\"pot", "quantity":2, "weight":1.50, "big":123456789012345678901,
      "express":true, "gone":null, "lines":[{"item":"cup"},{"item":"saucer"}], "a":{"b":1}, "empty":{}})"));
  return order;
}

template <typename T>
Code CodeOf(const Result<T>& result) {
  return result.error().code();
}

TEST(UnstructuredPath, ReadsValuesOfTheirType) {
  const Unstructured order = Order();
  EXPECT_EQ(Must(order.GetString("spec.item")), "tea\"pot");
  EXPECT_EQ(Must(order.GetInt64("spec.quantity")), 2);
  EXPECT_EQ(Must(order.GetDouble("spec.weight")), 1.5);
  EXPECT_EQ(Must(order.GetDouble("spec.quantity")), 2.0);
  EXPECT_TRUE(Must(order.GetBool("spec.express")));
  EXPECT_EQ(Must(order.GetString("spec.lines[1].item")), "saucer");
  EXPECT_EQ(order.GetInt64("spec['a']['b']").value_or(0), 1);
  EXPECT_EQ(Must(order.Get("spec.big")).text(), "123456789012345678901");
}

TEST(UnstructuredPath, ReadsTheTypedMembersToo) {
  const Unstructured order = Order();
  EXPECT_EQ(Must(order.GetString("kind")), "Order");
  EXPECT_EQ(Must(order.GetString("apiVersion")), "shop.example.com/v1");
  EXPECT_EQ(Must(order.GetString("metadata.name")), "first");
  EXPECT_EQ(Must(order.GetString("metadata.labels['app.kubernetes.io/name']")), "shop");
  EXPECT_EQ(CodeOf(order.GetString("metadata.uid")), Code::kNotFound);
  EXPECT_EQ(CodeOf(Unstructured().GetString("kind")), Code::kNotFound);
}

TEST(UnstructuredPath, ReadsListsAndMaps) {
  const Unstructured order = Order();
  const List<Json> lines = Must(order.GetList("spec.lines"));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].text(), R"({"item":"saucer"})");
  const Map<Json> labels = Must(order.GetMap("metadata.labels"));
  EXPECT_EQ(labels["app.kubernetes.io/name"].text(), R"("shop")");
  EXPECT_EQ(Must(order.GetMap("spec.empty")).size(), 0u);
}

TEST(UnstructuredPath, DistinguishesAbsentFromWrong) {
  const Unstructured order = Order();
  for (const char* absent :
       {"spec.none", "spec.none.deeper[3]", "status.x", "spec.gone", "spec.gone.x", "spec.lines[2]"})
    EXPECT_EQ(CodeOf(order.Get(absent)), Code::kNotFound) << absent;
  EXPECT_EQ(CodeOf(order.GetString("spec.quantity")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.GetInt64("spec.item")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.GetInt64("spec.weight")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.GetInt64("spec.big")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.GetBool("spec.item")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.GetList("spec")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.GetMap("spec.lines")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.Get("spec.item.deeper")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.Get("spec.lines.item")), Code::kDecode);
  EXPECT_EQ(CodeOf(order.Get("spec[0]")), Code::kDecode);
  EXPECT_THAT(order.GetInt64("spec.item").error().ToString(),
              HasSubstr("get \"spec.item\": the value is a string, not a 64-bit integer"));
}

TEST(UnstructuredPath, RefusesMalformedPaths) {
  const Unstructured order = Order();
  for (const char* bad : {"", ".", "spec.", ".spec", "spec..a", "spec[", "spec[]", "spec[x]", "spec['a", "spec['a'",
                          "[0]", "spec[0]x", "spec[-1]", "spec[99999999999999999999999]"})
    EXPECT_EQ(CodeOf(order.Get(bad)), Code::kInvalidArgument) << bad;
  std::string deep = "a";
  for (int i = 0; i < 200; ++i) deep += ".a";
  EXPECT_EQ(CodeOf(Unstructured().Set(deep, 1)), Code::kInvalidArgument);
}

TEST(UnstructuredPath, CreatesWhatIsMissingOnTheWay) {
  Unstructured object;
  Must(object.Set("spec.template.containers[0].image", "nginx"));
  Must(object.Set("spec.template.containers[0].ports[0]", 80));
  Must(object.Set("spec.template.containers[1]", Json("{}")));
  Must(object.Set("data['tls.crt']", "a\nb"));
  EXPECT_EQ(object.unknown_fields["spec"].text(), R"({"template":{"containers":[{"image":"nginx","ports":[80]},{}]}})");
  EXPECT_EQ(object.unknown_fields["data"].text(), R"({"tls.crt":"a\nb"})");
}

TEST(UnstructuredPath, ReplacesOneValueAndKeepsTheBytesOfTheOthers) {
  Unstructured order = Order();
  Must(order.Set("spec.quantity", std::int64_t{3}));
  Must(order.Set("spec.gone.x", false));
  Must(order.Set("spec.a.b", 0.5));
  Must(order.Set("kind", "Offer"));
  const std::string text(order.unknown_fields["spec"].text());
  EXPECT_THAT(text, HasSubstr("\"quantity\":3, \"weight\":1.50, \"big\":123456789012345678901,"));
  EXPECT_THAT(text, HasSubstr(R"("gone":{"x":false})"));
  EXPECT_EQ(Must(order.GetDouble("spec.a.b")), 0.5);
  EXPECT_EQ(order.kind, "Offer");
  Must(order.Set("spec.a", std::uint64_t{18446744073709551615u}));
  EXPECT_EQ(Must(order.Get("spec.a")).text(), "18446744073709551615");
}

TEST(UnstructuredPath, DoesNotChangeCopies) {
  const Unstructured before = Order();
  Unstructured copy = before;
  Must(copy.Set("spec.quantity", 7));
  EXPECT_EQ(Must(before.GetInt64("spec.quantity")), 2);
  EXPECT_EQ(Must(copy.GetInt64("spec.quantity")), 7);
}

TEST(UnstructuredPath, RefusesPathsThatCannotBeSetAndChangesNothing) {
  Unstructured order = Order();
  const Unstructured before = order;
  EXPECT_EQ(CodeOf(order.Set("metadata.labels.a", "b")), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(order.Set("spec.lines[5]", 1)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(order.Set("spec.item.x", 1)), Code::kDecode);
  EXPECT_EQ(CodeOf(order.Set("spec.x", Json())), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(order.Set("spec.x", std::numeric_limits<double>::quiet_NaN())), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(order.Set("kind", 1)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(order.Set("kind.x", 1)), Code::kDecode);
  EXPECT_EQ(order, before);
  EXPECT_FALSE(detail::JsonOf(std::numeric_limits<double>::infinity()).has_value());
}

TEST(UnstructuredPath, RemovesMembersAndElements) {
  Unstructured order;
  order.kind = "Order";
  order.unknown_fields.Set("spec", Json(R"({ "a":1, "b":[1,2,3], "a":{"x":1,"y":2} })"));
  EXPECT_TRUE(Must(order.Remove("spec.a.x")));
  EXPECT_EQ(Must(order.Get("spec.a")).text(), R"({"y":2})") << "the last one of a name counts";
  EXPECT_TRUE(Must(order.Remove("spec.b[1]")));
  EXPECT_EQ(Must(order.Get("spec.b")).text(), "[1,3]");
  EXPECT_TRUE(Must(order.Remove("spec.a")));
  EXPECT_EQ(order.unknown_fields["spec"].text(), R"({"b":[1,3]})") << "all of that name are gone";
  EXPECT_FALSE(Must(order.Remove("spec.a")));
  EXPECT_FALSE(Must(order.Remove("status.x")));
  EXPECT_TRUE(Must(order.Remove("spec")));
  EXPECT_TRUE(Must(order.Remove("kind")));
  EXPECT_FALSE(order.kind.has_value());
  EXPECT_EQ(CodeOf(order.Remove("metadata.name")), Code::kInvalidArgument);
}

TEST(UnstructuredPath, FindsMembersWhoseNamesAreEscaped) {
  Unstructured object;
  object.unknown_fields.Set("data", Json(R"({"a\u0062":1,"q\"":2})"));
  EXPECT_EQ(Must(object.GetInt64("data.ab")), 1);
  EXPECT_EQ(Must(object.GetInt64("data['q\"']")), 2);
  Must(object.Set("data['x\"y']", 3));
  EXPECT_EQ(Must(object.GetInt64("data['x\"y']")), 3);
}

TEST(UnstructuredPath, EndsWithAnErrorOnTextThatIsNotJson) {
  for (const char* bad : {"{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{\"a\":[1}",
                          "[1,,2]", "{\"a\":\"x", "{\"a\":1 \"b\":2}", "nonsense", "{\"a\\", "}", "{\"a\":}"}) {
    Unstructured object;
    object.unknown_fields.Set("spec", Json(std::string(bad)));
    for (const char* path : {"spec.zz", "spec.a.b", "spec.a[0]"}) {
      const Result<Json> got = object.Get(path);
      EXPECT_FALSE(got.has_value()) << bad << ' ' << path;
      Unstructured copy = object;
      static_cast<void>(copy.Set(path, 1));
      static_cast<void>(copy.Remove(path));
    }
    static_cast<void>(object.GetList("spec"));
    static_cast<void>(object.GetMap("spec"));
    static_cast<void>(object.GetString("spec"));
  }
}

TEST(Unstructured, ShowsAValueThatIsNestedTooDeeplyAsNull) {
  Unstructured order = Order();
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  Must(order.Set("spec", Json(deep)));
  EXPECT_TRUE(order.json()["spec"].is_null());
  EXPECT_TRUE(Json(deep).Parse<nlohmann::json>().is_discarded());
  const std::string fits = std::string(256, '[') + std::string(256, ']');
  EXPECT_FALSE(Json(fits).Parse<nlohmann::json>().is_discarded());
  EXPECT_EQ(Json(deep), Json(deep));
  EXPECT_NE(Json(deep), Json(" " + deep));
}

}  // namespace
}  // namespace kgen
