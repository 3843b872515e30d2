// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Typed lists, which are decoded while they arrive: their size, their items, and other responses.
#include <optional>

#include "kgen/client/async_client.h"
#include "kgen/codec/decode.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using widgets::Widget;
using widgets::WidgetList;
using namespace std::chrono_literals;

std::string Item(std::string_view name, std::size_t bytes = 0) {
  return R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":")" + std::string(name) +
         R"(","namespace":"default","annotations":{"a":")" + std::string(bytes, 'x') + R"("}}})";
}

std::string Body(const std::vector<std::string>& items) {
  std::string body = R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList","items":[)";
  for (const std::string& item : items) body += (body.ends_with('[') ? "" : ",") + item;
  return body + R"(],"metadata":{"resourceVersion":"9"},"novel":{"kept":1.0}})";
}

class ListTest : public ClientTest {
 protected:
  ResourceClient<Widget, WidgetList> Widgets() { return {connection(), "default"}; }
  std::string Fault(FakeReply reply, const ListOptions& options = {}) {
    transport_->Reply(std::move(reply));
    const Result<WidgetList> list = Widgets().List(options);
    return list ? "no fault" : list.error().ToString();
  }
};

TEST_F(ListTest, EqualsDecodingTheWholeResponse) {
  for (const std::string& body :
       {Body({}), Body({Item("a")}), Body({Item("a"), Item("b"), Item("c")}),
        std::string(
            R"({"kind":"WidgetList","apiVersion":"test.kgen.dev/v1","metadata":{"continue":"t"},"items":null})")}) {
    const WidgetList whole = Must(Decode<WidgetList>(body));
    for (const std::size_t piece : {1u, 7u, 100000u}) {
      transport_->Reply({.body = body, .piece = piece});
      const Result<WidgetList> list = Widgets().List();
      ASSERT_TRUE(list.has_value()) << list.error();
      EXPECT_EQ(Encode(*list), Encode(whole)) << body;
      EXPECT_EQ(list->items.has_value(), whole.items.has_value()) << body;
    }
  }
}

TEST_F(ListTest, MayBeLargerThanAnObject) {
  std::vector<std::string> items;
  for (int i = 0; i < 20; ++i) items.push_back(Item("w" + std::to_string(i), 1u << 20));
  transport_->Reply({.body = Body(items), .piece = 1u << 16});
  const Result<WidgetList> list = Widgets().List();
  ASSERT_TRUE(list.has_value()) << list.error();
  EXPECT_EQ(list->items.size(), 20u);
  EXPECT_EQ(list->items[19].metadata.name, "w19");
  EXPECT_EQ(list->metadata.resourceVersion, "9");
}

TEST_F(ListTest, DecodesItemsBeforeTheAnswerIsComplete) {
  transport_->Hold();
  std::optional<Result<WidgetList>> list;
  Widgets().Async().List([&](Result<WidgetList> answer) { list = std::move(answer); });
  executor_->Run();
  transport_->last().Head(200);
  transport_->last().Bytes(R"({"items":[)" + Item("a") + ",7,");
  executor_->Run();
  ASSERT_TRUE(list.has_value()) << "nothing that comes later can make the list good";
  EXPECT_THAT(list->error().ToString(), HasSubstr("items[1]"));
  EXPECT_TRUE(transport_->last().cancelled());
}

TEST_F(ListTest, NamesAnItemThatCannotBeRead) {
  EXPECT_THAT(
      Fault({.body = Body({Item("a"), "7"})}),
      StartsWith("list widgets.test.kgen.dev/v1 (Widget) in default: items[1]: Widget: expected a JSON object"));
  EXPECT_THAT(Fault({.body = Body({Item("a"), Item("b", 17u << 20)}), .piece = 1u << 20}),
              StartsWith("list widgets.test.kgen.dev/v1 (Widget) in default: items[1] (default/b): Widget: larger than "
                         "16777216 bytes"));
}

TEST_F(ListTest, IsBoundedByAnOption) {
  const std::string body = Body({Item("a")});
  EXPECT_EQ(Fault({.body = body}, {.max_answer_bytes = body.size()}), "no fault");
  EXPECT_THAT(Fault({.body = body, .piece = 10}, {.max_answer_bytes = body.size() - 1}),
              HasSubstr("the response is larger than the " + std::to_string(body.size() - 1) +
                        " bytes of max_answer_bytes; list in pages, or raise the bound"));
  EXPECT_EQ(Fault({.body = body}, {.max_answer_bytes = kUnlimited}), "no fault");
  EXPECT_GE(ListOptions().max_answer_bytes, std::uint64_t{2} << 30);
}

TEST_F(ListTest, RefusesABoundOfZeroBeforeAnythingIsSent) {
  const auto listed = Widgets().List({.max_answer_bytes = 0});
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(listed.error().ToString(), HasSubstr("max_answer_bytes is 0"));
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(ListTest, RestartsWhenTheConnectionIsLost) {
  transport_->Reply({.body = R"({"items":[)" + Item("a") + ",", .broken = kReset, .lost = true});
  transport_->Reply({.body = Body({Item("b")})});
  const Result<WidgetList> list = Widgets().List();
  ASSERT_TRUE(list.has_value()) << list.error();
  ASSERT_EQ(list->items.size(), 1u);
  EXPECT_EQ(list->items[0].metadata.name, "b");
}

TEST_F(ListTest, RefusesAPartialListAnotherKindAndAStatus) {
  EXPECT_THAT(Fault({.body = R"({"items":[)" + Item("a")}), HasSubstr("the list ends too early"));
  EXPECT_THAT(Fault({.body = "<html>"}), HasSubstr("instead of JSON"));
  EXPECT_THAT(Fault({.body = R"({"kind":"GadgetList","apiVersion":"test.kgen.dev/v1","items":[]})"}),
              HasSubstr("GadgetList"));
  EXPECT_THAT(
      Fault({.body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"old"})"}),
      HasSubstr("old"));
}

TEST_F(ListTest, ReturnsCreditForDecodedBytes) {
  transport_->Hold();
  Widgets().Async().List([](const Result<WidgetList>&) {});
  executor_->Run();
  transport_->last().Head(200);
  const std::string begin = R"({"items":[)" + Item("a") + ',';
  transport_->last().Bytes(begin);
  executor_->Run();
  EXPECT_EQ(transport_->last().consumed(), begin.size());
}

TEST_F(ListTest, EndsWithAnErrorWhenMemoryRunsOut) {
  transport_->Reply({.throws = true});
  EXPECT_THAT(Fault({}), HasSubstr("out of memory"));
}

}  // namespace
}  // namespace kgen::testing
