// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/list_splitter.h"

#include <random>
#include <string>
#include <vector>

#include "kgen/codec/decode.h"
#include "tests/runtime/codec/codec_fixture.h"

namespace kgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Outcome {
  std::vector<std::string> items;
  std::string envelope;
  std::string resource_version;
  std::string error;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Feeds the text cut at these places, each part in a buffer of its exact size.
Outcome Split(std::string_view text, const std::vector<std::size_t>& cuts = {}, std::size_t max_item_bytes = 1 << 20) {
  Outcome outcome;
  ListSplitter splitter(
      [&](std::string_view item) -> Result<void> {
        outcome.items.emplace_back(item);
        return {};
      },
      max_item_bytes);
  std::size_t from = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t to = i < cuts.size() ? cuts[i] : text.size();
    if (auto fed = splitter.Feed(Exact(text.substr(from, to - from))); !fed) {
      outcome.error = fed.error().message();
      return outcome;
    }
    from = to;
  }
  auto metadata = splitter.Finish();
  if (!metadata) {
    outcome.error = metadata.error().message();
    return outcome;
  }
  EXPECT_EQ(splitter.items(), outcome.items.size());
  outcome.resource_version = metadata->resourceVersion;
  outcome.envelope = splitter.envelope();
  return outcome;
}

const std::string kList =
    R"( { "kind" : "List" ,"apiVersion":"v1","metadata":{"resourceVersion":"7","x":"]}"}, "items" : [ {"a":"\"}\\","items":[1]} , )"
    R"({"b":{"c":[{}]}},null,5,"s,]",[]] ,"late":true, "n":1.5e3 } )";

TEST(ListSplitter, SplitsOffItemsAndKeepsTheEnvelope) {
  const Outcome outcome = Split(kList);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.items,
              ElementsAre(R"({"a":"\"}\\","items":[1]})", R"({"b":{"c":[{}]}})", "null", "5", "\"s,]\"", "[]"));
  EXPECT_EQ(outcome.envelope,
            R"({"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"7","x":"]}"},"late":true,"n":1.5e3})");
  EXPECT_EQ(outcome.resource_version, "7");
}

TEST(ListSplitter, GivesTheSameForEveryPairOfCuts) {
  const Outcome whole = Split(kList);
  for (std::size_t first = 0; first <= kList.size(); ++first) {
    for (std::size_t second = first; second <= kList.size(); ++second) {
      ASSERT_EQ(Split(kList, {first, second}), whole) << first << ' ' << second;
    }
  }
}

TEST(ListSplitter, GivesTheSameByteByByte) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < kList.size(); ++i) cuts.push_back(i);
  EXPECT_EQ(Split(kList, cuts), Split(kList));
}

TEST(ListSplitter, GivesTheSameForRandomCutsOfALargeList) {
  std::mt19937 random(5);
  std::string text = R"({"metadata":{"resourceVersion":"12"},"items":[)";
  std::vector<std::string> items;
  for (int i = 0; i < 2000; ++i) {
    std::string item = R"({"metadata":{"name":"item-)" + std::to_string(i) + R"("},"text":")";
    for (std::size_t n = random() % 300; n > 0; --n)
      item += std::vector<const char*>{"x", "\\\"", "\\\\", "{", "]"}[random() % 5];
    item += R"(","list":[[],{"a":[1,2]}]})";
    text += (i == 0 ? "" : ",") + item;
    items.push_back(item);
  }
  text += "]}";
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> cuts;
    for (std::size_t at = 0; (at += random() % (std::size_t{1} << random() % 16) + 1) < text.size();)
      cuts.push_back(at);
    const Outcome outcome = Split(text, cuts);
    ASSERT_EQ(outcome.error, "");
    ASSERT_EQ(outcome.items, items);
    ASSERT_EQ(outcome.resource_version, "12");
  }
}

TEST(ListSplitter, TakesMetadataAfterTheItemsAndListsWithoutItems) {
  EXPECT_EQ(Split(R"({"items":[{}],"metadata":{"resourceVersion":"9"}})").resource_version, "9");
  EXPECT_EQ(Split(R"({"items":null,"metadata":{}})").error, "");
  EXPECT_EQ(Split(R"({"items":null})").envelope, R"({"items":null})");
  EXPECT_EQ(Split("{}").envelope, "{}");
  EXPECT_EQ(Split(R"({"items":[]})").envelope, "{}");
  EXPECT_THAT(Split(R"({"\u0069tems":[{}]})").items, ElementsAre("{}"));
}

TEST(ListSplitter, RefusesItemsThatAreNotAList) {
  for (const auto& [value, found] :
       {std::pair("\"x\"", "a string"), std::pair("7", "a value"), std::pair("true", "a value"),
        std::pair(R"({"a":[{}]})", "an object"), std::pair("nul", "a value")}) {
    for (const std::vector<std::size_t>& cuts : {std::vector<std::size_t>{}, {1, 10, 11}}) {
      const Outcome outcome = Split(R"({"kind":"List","items":)" + std::string(value) + "}", cuts);
      EXPECT_THAT(outcome.error, HasSubstr("\"items\" must be a list, found " + std::string(found))) << value;
      EXPECT_THAT(outcome.items, ::testing::IsEmpty());
    }
  }
  EXPECT_THAT(Split(R"({"\u0069tems":{}})").error, HasSubstr("must be a list"));
  EXPECT_EQ(Split(R"({"metadata":{"items":7},"items":[]})").error, "");
}

TEST(ListSplitter, AcceptsOnlyTheRequestedList) {
  const KindInfo kind{.group = "apps",
                      .version = "v1",
                      .kind = "Deployment",
                      .list_kind = "DeploymentList",
                      .resource = "deployments",
                      .singular = "deployment",
                      .scope = Scope::kNamespaced,
                      .list = nullptr};
  EXPECT_TRUE(CheckListKind(R"({"apiVersion":"apps/v1","kind":"DeploymentList"})", &kind, true).has_value());
  const auto error = [&](std::string_view envelope) { return CheckListKind(envelope, &kind, true).error().message(); };
  EXPECT_THAT(error(R"({"message":"please log in"})"), HasSubstr("found neither kind nor apiVersion"));
  EXPECT_THAT(error(R"({"apiVersion":"v1","kind":"PodList"})"), HasSubstr("found PodList of v1"));
  EXPECT_THAT(error(R"({"apiVersion":"apps/v1beta1","kind":"DeploymentList"})"),
              HasSubstr("expected DeploymentList of apps/v1, found DeploymentList of apps/v1beta1"));
  EXPECT_THAT(error(R"({"kind":"DeploymentList"})"), HasSubstr("without an apiVersion"));
  EXPECT_THAT(error(R"({"apiVersion":"apps/v1"})"), HasSubstr("found no kind"));
  EXPECT_THAT(error(R"({"apiVersion":"meta.k8s.io/v1","kind":"Table"})"), HasSubstr("found Table"));
  EXPECT_THAT(error(R"({"apiVersion":7,"kind":["DeploymentList"]})"), HasSubstr("found neither"));
  EXPECT_TRUE(CheckListKind(R"({"apiVersion":"v1","kind":"AnyList"})", nullptr, true).has_value());
  EXPECT_FALSE(CheckListKind(R"({"apiVersion":"v1","kind":"Any"})", nullptr, false).has_value());
  EXPECT_TRUE(CheckListKind(R"({"apiVersion":"v1","kind":"Any"})", nullptr, /*has_items=*/true).has_value());
  EXPECT_FALSE(CheckListKind(R"({"message":"please log in"})", nullptr, /*has_items=*/true).has_value());
  EXPECT_FALSE(CheckListKind(R"({"apiVersion":"v1","kind":"Any"})", &kind, /*has_items=*/true).has_value());
}

TEST(ListSplitter, PassesAStatusOnWhole) {
  const std::string status = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","code":410})";
  EXPECT_EQ(Split(status).envelope, status);
  EXPECT_THAT(Split(status).items, ::testing::IsEmpty());
}

TEST(ListSplitter, ReportsABrokenEnvelopeWithItsPosition) {
  EXPECT_EQ(Split("[]").error, "expected a JSON object, at byte 0");
  EXPECT_EQ(Split("{items:[]}").error, "expected a member name in quotes, at byte 1");
  EXPECT_EQ(Split(R"({"items" []})").error, "expected ':' after the member name, at byte 9");
  EXPECT_EQ(Split(R"({"items":[{} {}]})").error, "expected ',' or ']', at byte 13");
  EXPECT_EQ(Split(R"({"items":[{},]})", {13}).error, "expected a value, at byte 13");
  EXPECT_EQ(Split(R"({"items":[,]})").error, "expected a value, at byte 10");
  EXPECT_EQ(Split(R"({"a":1,})").error, "expected a member name in quotes, at byte 7");
  EXPECT_EQ(Split(R"({"items":[]}x)").error, "unexpected text after the list, at byte 12");
  EXPECT_THAT(Split(R"({"metadata":{"x":nope}})").error, HasSubstr("outside of the items: expected a value"));
  EXPECT_THAT(Split(R"({"metadata":[]})").error, HasSubstr("expected a JSON object"));
  for (std::size_t size = 0; size + 1 < kList.size(); ++size) {
    if (size >= kList.rfind('}') + 1) continue;
    EXPECT_THAT(Split(kList.substr(0, size)).error, HasSubstr("the list ends too early")) << size;
  }
}

TEST(ListSplitter, OneBadItemDoesNotAffectOthers) {
  const Outcome outcome =
      Split(R"({"items":[{"a":nope},{"b":[1,],"c":1},{"d":"\x"},{}],"metadata":{"resourceVersion":"3"}})");
  EXPECT_EQ(outcome.resource_version, "3");
  EXPECT_EQ(outcome.items.size(), 4u);
  std::string deep = R"({"items":[)" + std::string(1000, '[') + std::string(1000, ']') + ",{}]}";
  EXPECT_EQ(Split(deep).items.size(), 2u);
}

TEST(ListSplitter, HoldsNoMoreThanTheLimitOfAnItem) {
  const std::string item = R"({"metadata":{"name":"big"},"x":")" + std::string(5000, 'x') + "\"}";
  const std::string text = R"({"items":[)" + item + ",{\"a\":1}]}";
  for (const std::vector<std::size_t>& cuts : {std::vector<std::size_t>{}, {20, 1000, 1001, 4000}}) {
    const Outcome outcome = Split(text, cuts, 100);
    ASSERT_EQ(outcome.items.size(), 2u);
    EXPECT_EQ(outcome.items[0], item.substr(0, 101));
    EXPECT_EQ(outcome.items[1], "{\"a\":1}");
    EXPECT_EQ(PeekIdentity(outcome.items[0]).name, "big");
  }
  EXPECT_THAT(Split(R"({"a":")" + std::string(200, 'x') + "\"}", {}, 100).error, HasSubstr("too large"));
}

TEST(ListSplitter, AnErrorOfTheCallbackEndsTheList) {
  int calls = 0;
  ListSplitter splitter([&](std::string_view) -> Result<void> {
    ++calls;
    return Fail(Code::kCancelled, "enough");
  });
  EXPECT_EQ(splitter.Feed(R"({"items":[1,2,3)").error().message(), "enough");
  EXPECT_EQ(splitter.Feed("]}").error().message(), "enough");
  EXPECT_EQ(splitter.Finish().error().message(), "enough");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace kgen
