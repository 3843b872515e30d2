// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// When ApplyIfChanged may leave out an apply: the fields of the manager are those that are wanted, and so are their
// values.
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>

#include <string>
#include <string_view>

#include "kgen/codec/decode.h"
#include "kgen/controller/create_or_update.h"

namespace kgen {
namespace {

using k8s::apps::v1::Deployment;

// What the test's manager wants, with the defaults that a server adds to it, and how the server records it.
constexpr std::string_view kWanted = R"({"apiVersion":"apps/v1","kind":"Deployment",
    "metadata":{"name":"web","namespace":"default","labels":{"app":"web"},"finalizers":["shop/a","shop/b"]},
    "spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
            "template":{"spec":{"containers":[
                {"name":"main","image":"nginx:1","args":["-v"],"resources":{"requests":{"cpu":"1","memory":"1Gi"}},
                 "ports":[{"containerPort":80,"protocol":"TCP"}]},
                {"name":"side","image":"envoy:1"}],
                "volumes":[{"name":"tmp","emptyDir":{}}]}}}})";
constexpr std::string_view kCached = R"({"apiVersion":"apps/v1","kind":"Deployment",
    "metadata":{"name":"web","namespace":"default","uid":"u1","resourceVersion":"7","generation":1,
      "creationTimestamp":"2024-05-01T10:00:00Z","labels":{"app":"web","team":"a"},
      "finalizers":["other","shop/a","shop/b"],
      "managedFields":[
        {"manager":"controller","operation":"Update","apiVersion":"apps/v1","fieldsType":"FieldsV1","subresource":"status",
         "fieldsV1":{"f:status":{"f:replicas":{}}}},
        {"manager":"test","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1",
         "fieldsV1":{"f:metadata":{"f:finalizers":{"v:\"shop/a\"":{},"v:\"shop/b\"":{}},"f:labels":{"f:app":{}}},
           "f:spec":{"f:replicas":{},"f:selector":{},
             "f:template":{"f:spec":{
               "f:containers":{
                 "k:{\"name\":\"main\"}":{".":{},"f:args":{},"f:image":{},"f:name":{},
                   "f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:protocol":{}}},
                   "f:resources":{"f:requests":{"f:cpu":{},"f:memory":{}}}},
                 "k:{\"name\":\"side\"}":{".":{},"f:image":{},"f:name":{}}},
               "f:volumes":{"k:{\"name\":\"tmp\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}}}}]},
    "spec":{"replicas":2,"revisionHistoryLimit":10,"selector":{"matchLabels":{"app":"web"}},
            "template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[
                {"name":"main","image":"nginx:1","args":["-v"],"imagePullPolicy":"Always",
                 "resources":{"requests":{"cpu":"1","memory":"1Gi"}},"ports":[{"containerPort":80,"protocol":"TCP"}]},
                {"name":"injected","image":"proxy:1"},
                {"name":"side","image":"envoy:1","imagePullPolicy":"Always"}],
                "volumes":[{"name":"tmp","emptyDir":{}}],"restartPolicy":"Always"}}},
    "status":{"replicas":2}})";

// The text with `to` in place of the first `from`.
std::string With(std::string_view text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string_view::npos) << from;
  return std::string(text.substr(0, at)) + std::string(to) + std::string(text.substr(at + from.size()));
}

template <typename T = Deployment>
bool Applied(std::string_view wanted, std::string_view cached, std::string_view manager = "test") {
  const T a = Must(Decode<T>(wanted));
  const T b = Must(Decode<T>(cached));
  return detail::AlreadyApplied(&a, &b, T::kTable, manager, nullptr);
}
bool AppliedIfWanted(std::string_view from, std::string_view to) { return Applied(With(kWanted, from, to), kCached); }
bool AppliedIfCached(std::string_view from, std::string_view to) { return Applied(kWanted, With(kCached, from, to)); }

TEST(AlreadyAppliedTest, IsSoBesideDefaultsAndTheFieldsOfOthers) {
  EXPECT_TRUE(Applied(kWanted, kCached));
  EXPECT_TRUE(Applied<Unstructured>(kWanted, kCached));
}

TEST(AlreadyAppliedTest, IsNotSoForAnotherValue) {
  EXPECT_FALSE(AppliedIfWanted(R"("replicas":2)", R"("replicas":3)"));
  EXPECT_FALSE(AppliedIfWanted("nginx:1", "nginx:2"));
  EXPECT_FALSE(AppliedIfWanted(R"("labels":{"app":"web"})", R"("labels":{"app":"api"})"));
  EXPECT_FALSE(AppliedIfWanted(R"("matchLabels":{"app":"web"})", R"("matchLabels":{"app":"api"})"));
  EXPECT_FALSE(AppliedIfWanted(R"(["-v"])", R"(["-v","-v"])"));
  EXPECT_FALSE(AppliedIfWanted("shop/b", "shop/c"));
}

TEST(AlreadyAppliedTest, IsNotSoForAFieldThatIsNoLongerWanted) {
  EXPECT_FALSE(AppliedIfWanted(R"("replicas":2,)", ""));
  EXPECT_FALSE(AppliedIfWanted(R"(,"labels":{"app":"web"})", ""));
  EXPECT_FALSE(AppliedIfWanted(R"(,"finalizers":["shop/a","shop/b"])", ""));
  EXPECT_FALSE(AppliedIfWanted(R"(,"shop/b")", ""));
  EXPECT_FALSE(AppliedIfWanted(R"(,
                {"name":"side","image":"envoy:1"})",
                               ""));
  EXPECT_FALSE(AppliedIfWanted(R"("args":["-v"],)", ""));
  // The members of what is owned as a whole are not recorded.
  EXPECT_FALSE(AppliedIfCached(R"("matchLabels":{"app":"web"})", R"("matchLabels":{"app":"web","tier":"gold"})"));
  EXPECT_FALSE(AppliedIfCached(R"("emptyDir":{})", R"("emptyDir":{"medium":"Memory"})"));
}

TEST(AlreadyAppliedTest, IsNotSoForAFieldThatTheManagerDoesNotOwnYet) {
  EXPECT_FALSE(AppliedIfWanted(R"("replicas":2)", R"("replicas":2,"revisionHistoryLimit":10)"));
  EXPECT_FALSE(AppliedIfWanted(R"("labels":{"app":"web"})", R"("labels":{"app":"web","team":"a"})"));
  EXPECT_FALSE(AppliedIfWanted(R"({"name":"side")", R"({"name":"injected","image":"proxy:1"},{"name":"side")"));
  EXPECT_FALSE(AppliedIfCached(R"("f:replicas":{},"f:selector")", R"("f:paused":{},"f:selector")"));
}

TEST(AlreadyAppliedTest, ComparesQuantitiesByValueWhereTheTypeIsKnown) {
  EXPECT_TRUE(AppliedIfWanted(R"("cpu":"1")", R"("cpu":"1000m")"));
  EXPECT_FALSE(AppliedIfWanted(R"("cpu":"1")", R"("cpu":"1001m")"));
  EXPECT_FALSE(Applied<Unstructured>(With(kWanted, R"("cpu":"1")", R"("cpu":"1000m")"), kCached));
}

TEST(AlreadyAppliedTest, IsNotSoForAnotherOrder) {
  EXPECT_FALSE(AppliedIfWanted(R"("shop/a","shop/b")", R"("shop/b","shop/a")"));
  const std::string side = R"({"name":"side","image":"envoy:1"})";
  const std::string without = With(kWanted, ",\n                " + side, "");
  EXPECT_FALSE(Applied(With(without, R"({"name":"main")", side + R"(,{"name":"main")"), kCached));
}

TEST(AlreadyAppliedTest, IsNotSoIfAnotherWriterHasRemovedSomething) {
  EXPECT_FALSE(AppliedIfCached(R"("labels":{"app":"web","team":"a"})", R"("labels":{"team":"a"})"));
  EXPECT_FALSE(AppliedIfCached(R"("shop/a","shop/b"])", R"("shop/a"])"));
  EXPECT_FALSE(AppliedIfCached(R"({"name":"side","image")", R"({"name":"edge","image")"));
}

TEST(AlreadyAppliedTest, IsNotSoWhenItCannotBeDecided) {
  EXPECT_FALSE(Applied(kWanted, kCached, "another"));
  EXPECT_FALSE(AppliedIfCached(R"("operation":"Apply")", R"("operation":"Update")"));
  EXPECT_FALSE(AppliedIfCached(R"("operation":"Apply","apiVersion":"apps/v1")",
                               R"("operation":"Apply","apiVersion":"apps/v1beta1")"));
  EXPECT_FALSE(AppliedIfCached(R"("operation":"Apply",)", R"("operation":"Apply","subresource":"status",)"));
  EXPECT_FALSE(AppliedIfCached(R"("operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1")",
                               R"("operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV2")"));
  // A second entry, of another version.
  EXPECT_FALSE(AppliedIfCached(R"({"manager":"controller","operation":"Update","apiVersion":"apps/v1",)",
                               R"({"manager":"test","operation":"Apply","apiVersion":"apps/v1beta1","fieldsV1":{}},
                                  {"manager":"controller","operation":"Update","apiVersion":"apps/v1",)"));
  EXPECT_FALSE(AppliedIfWanted(R"("namespace":"default",)", R"("namespace":"default","uid":"u1",)"));
  EXPECT_FALSE(AppliedIfWanted(R"("replicas":2)", R"("replicas":2,"paused":null)"));
  EXPECT_FALSE(AppliedIfCached(R"("f:selector":{})", R"("f:selector":[])"));
  EXPECT_FALSE(AppliedIfCached(R"("f:args":{})", R"("f:args":{"i:0":{}})"));
}

// The protocol is a key of the list, and has a default. A server records the key with the default, and no field for it.
TEST(AlreadyAppliedTest, AnElementMayLackAKeyThatTheServerFillsIn) {
  const std::string filled = With(kCached, R"("f:containerPort":{},"f:protocol":{})", R"("f:containerPort":{})");
  const std::string without = With(kWanted, R"(,"protocol":"TCP")", "");
  EXPECT_TRUE(Applied(without, filled));
  EXPECT_TRUE(Applied<Unstructured>(without, filled));
  EXPECT_FALSE(Applied(kWanted, filled)) << "the manager does not own the protocol yet";
  EXPECT_FALSE(Applied(without, kCached)) << "the manager owns the protocol, and does not want it any more";
  EXPECT_FALSE(Applied(With(without, R"("containerPort":80)", R"("containerPort":81)"), filled));
  // Two elements that differ in the key with a default only.
  const std::string two =
      With(without, R"({"containerPort":80})", R"({"containerPort":80},{"containerPort":80,"protocol":"UDP"})");
  const std::string both =
      With(With(filled, R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}")",
                R"("k:{\"containerPort\":80,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{}},
                   "k:{\"containerPort\":80,\"protocol\":\"TCP\"}")"),
           R"({"containerPort":80,"protocol":"TCP"})",
           R"({"containerPort":80,"protocol":"TCP"},{"containerPort":80,"protocol":"UDP"})");
  EXPECT_TRUE(Applied(two, both));
  EXPECT_FALSE(Applied(without, both));
}

TEST(AlreadyAppliedTest, KnowsAnObjectOfWhichNothingButTheNameIsWanted) {
  const std::string wanted = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}})";
  const auto cached = [](std::string_view fields) {
    return R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"a":"b"},"managedFields":[
        {"manager":"test","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":)" +
           std::string(fields) + "}]}}";
  };
  EXPECT_TRUE(Applied(wanted, cached("{}")));
  EXPECT_FALSE(Applied(wanted, cached(R"({"f:metadata":{"f:labels":{"f:a":{}}}})")));
  EXPECT_FALSE(Applied(wanted, cached("null")));
}

}  // namespace
}  // namespace kgen
