// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Pages and the typed verbs of ResourceClient.
#include "kgen/client/pages.h"

#include <optional>

#include "kgen/client/async_client.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using widgets::Widget;
using widgets::WidgetList;

constexpr std::string_view kRoot = "/apis/test.kgen.dev/v1/namespaces/default/widgets";

std::string WidgetJson(std::string_view name, std::string_view more = "") {
  return R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":")" + std::string(name) +
         R"(","namespace":"default")" + std::string(more) + "}}";
}
FakeReply Page(std::string_view continue_token, std::vector<std::string> names) {
  std::string body =
      R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList","metadata":{"resourceVersion":"9","continue":")" +
      std::string(continue_token) + "\"},\"items\":[";
  for (std::size_t i = 0; i < names.size(); ++i) body += (i == 0 ? "" : ",") + WidgetJson(names[i]);
  return {.body = body + "]}"};
}
FakeReply Refusal(int code, std::string_view reason) {
  return {.status = code,
          .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":")" +
                  std::string(reason) + R"(","code":)" + std::to_string(code) + "}"};
}

class PagesTest : public ClientTest {
 protected:
  ResourceClient<Widget, WidgetList> Widgets() { return {connection(), "default"}; }
  // The names of all pages; an error as its code.
  std::string Walk(ListOptions options) {
    std::string seen;
    for (const Result<WidgetList>& page : Widgets().Pages(std::move(options))) {
      if (!page) return seen + "error " + std::string(ToString(page.error().code()));
      for (const Widget& widget : page->items) seen += widget.metadata.name.str() + ' ';
      seen += "| ";
    }
    return seen;
  }
  std::string Query(std::size_t i) {
    const std::string& path = transport_->request(i).path;
    return path.substr(path.find('?') + 1);
  }
};

// Contract: client PAGE-1; controller 167.
TEST_F(PagesTest, RequestsOnePageAfterTheOther) {
  transport_->Reply(Page("t1", {"a", "b"}));
  transport_->Reply(Page("t2", {"c"}));
  transport_->Reply(Page("", {"d"}));
  EXPECT_EQ(Walk({.label_selector = "x"}), "a b | c | d | ");
  EXPECT_EQ(Query(0), "labelSelector=x&limit=500");
  EXPECT_EQ(Query(1), "continue=t1&labelSelector=x&limit=500");
  EXPECT_EQ(Query(2), "continue=t2&labelSelector=x&limit=500");
}

// Contract: informer LW-06.
TEST_F(PagesTest, SendsNoVersionWithATokenAfterTheFirstPage) {
  transport_->Reply(Page("t1", {"a"}));
  transport_->Reply(Page("", {"b"}));
  EXPECT_EQ(Walk({.limit = 1, .resource_version = "7", .resource_version_match = "NotOlderThan"}), "a | b | ");
  EXPECT_EQ(Query(0), "limit=1&resourceVersion=7&resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(Query(1), "continue=t1&limit=1");
}

// Contract: informer LW-08.
TEST_F(PagesTest, ListsInFullOnceWhenATokenHasExpired) {
  transport_->Reply(Page("t1", {"a"}));
  transport_->Reply(Refusal(410, "Expired"));
  transport_->Reply(Page("", {"a", "b", "c"}));
  EXPECT_EQ(Walk({.limit = 1, .resource_version = "7", .resource_version_match = "NotOlderThan"}), "a | a b c | ");
  EXPECT_EQ(Query(2), "resourceVersion=7&resourceVersionMatch=NotOlderThan") << "the version of the first page is back";
}

// Contract: informer LW-08.
TEST_F(PagesTest, FallsBackOnlyOnce) {
  transport_->Reply(Page("t1", {"a"}));
  transport_->Reply(Refusal(410, "Expired"));
  transport_->Reply(Refusal(410, "Expired"));
  EXPECT_EQ(Walk({}), "a | error Expired");
  EXPECT_EQ(transport_->left(), 0u);
}

// Contract: informer LW-08.
TEST_F(PagesTest, ReturnsTheErrorOfAnExpiredFirstPage) {
  transport_->Reply(Refusal(410, "Expired"));
  EXPECT_EQ(Walk({.resource_version = "1"}), "error Expired");
  EXPECT_EQ(transport_->size(), 1u);
}

// Contract: informer LW-08.
TEST_F(PagesTest, DoesNotTreatGoneAsAnExpiredToken) {
  transport_->Reply(Page("t1", {"a"}));
  transport_->Reply(Refusal(410, "Gone"));
  EXPECT_EQ(Walk({}), "a | error Expired");
  EXPECT_EQ(transport_->size(), 2u);
}

TEST_F(PagesTest, EndsWithTheFirstError) {
  transport_->Reply(Page("t1", {"a"}));
  transport_->Reply(Refusal(403, "Forbidden"));
  EXPECT_EQ(Walk({}), "a | error Forbidden");
}

TEST_F(PagesTest, NamesAListThatCouldNotBeRead) {
  transport_->Reply({.body = "{\"items\": nonsense"});
  std::string error;
  for (const Result<WidgetList>& page : Widgets().Pages()) error = page.error().ToString();
  EXPECT_THAT(error, StartsWith("list widgets.test.kgen.dev/v1 (Widget) in default: "));
}

TEST_F(PagesTest, FailsAListWhoseTokensRepeat) {
  for (int i = 0; i < 20; ++i) transport_->Reply(Page("again", {"a"}));
  std::string error;
  for (const Result<WidgetList>& page : Widgets().Pages()) error = page ? "" : page.error().ToString();
  EXPECT_THAT(error, AllOf(StartsWith("list widgets.test.kgen.dev/v1 (Widget) in default: "),
                           HasSubstr("the same continue token twice")));
  EXPECT_EQ(transport_->size(), 2u);
}

TEST_F(PagesTest, DetectsACycleOfTokens) {
  for (int i = 0; i < 50; ++i) transport_->Reply(Page(i == 0 ? "start" : "t" + std::to_string(i % 3), {}));
  EXPECT_THAT(Walk({}), ::testing::EndsWith("error Decode"));
  EXPECT_LT(transport_->size(), 12u);
}

TEST_F(PagesTest, DoesNotTreatAnotherResponseAsAnEmptyPage) {
  transport_->Reply(Page("t1", {"a"}));
  transport_->Reply({.body = R"({"message":"please log in"})"});
  EXPECT_EQ(Walk({}), "a | error Decode");
}

class ResourceClientTest : public PagesTest {};

TEST_F(ResourceClientTest, DoesNotTreatAnotherResponseAsAnEmptyList) {
  const std::string head = R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList","metadata":{"resourceVersion":"9"})";
  for (const std::string& body : {std::string(R"({"message":"please log in"})"), head + R"(,"items":"x"})",
                                  head + R"(,"items":7})", head + R"(,"items":{}})", head + R"(,"items":[)",
                                  std::string(R"({"apiVersion":"v1","kind":"PodList","items":[]})"),
                                  std::string(R"({"apiVersion":"meta.k8s.io/v1","kind":"Table","rows":[]})")}) {
    transport_->Reply({.body = body});
    const Result<WidgetList> list = Widgets().List();
    ASSERT_FALSE(list.has_value()) << body;
    EXPECT_EQ(list.error().code(), Code::kDecode);
    EXPECT_THAT(list.error().ToString(), StartsWith("list widgets.test.kgen.dev/v1 (Widget) in default: ")) << body;
    transport_->Reply({.body = body});
    std::optional<Result<WidgetList>> later;
    Widgets().Async().List([&](Result<WidgetList> answer) { later = std::move(answer); });
    executor_->Run();
    ASSERT_TRUE(later.has_value());
    EXPECT_FALSE(later->has_value()) << body;
  }
}

TEST_F(ResourceClientTest, RefusesAListWithoutItems) {
  for (const char* rest : {"", R"(,"metadata":{"annotations":{"items":"[]"}})"}) {
    transport_->Reply({.body = R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList")" + std::string(rest) + "}"});
    const Result<WidgetList> list = Widgets().List();
    ASSERT_FALSE(list.has_value()) << rest;
    EXPECT_EQ(list.error().code(), Code::kDecode);
    EXPECT_THAT(list.error().ToString(), ::testing::HasSubstr("without the member items"));
  }
}

TEST_F(ResourceClientTest, AcceptsAListWithoutAVersion) {
  for (const char* rest : {R"(,"items":null)", R"(,"items":[])", R"(,"items":[],"metadata":{})"}) {
    transport_->Reply({.body = R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList")" + std::string(rest) + "}"});
    const Result<WidgetList> list = Widgets().List();
    ASSERT_TRUE(list.has_value()) << rest;
    EXPECT_TRUE(list->items.empty());
  }
}

// Contract: client TYP-1.
TEST_F(ResourceClientTest, GetsAnObject) {
  transport_->Reply({.body = WidgetJson("a", R"(,"resourceVersion":"3")")});
  const Result<Widget> widget = Widgets().Get("a");
  ASSERT_TRUE(widget.has_value()) << widget.error();
  EXPECT_EQ(widget->metadata.resourceVersion, "3");
  EXPECT_EQ(transport_->request(0).path, std::string(kRoot) + "/a");
}

// Contract: generator CLI-08; controller 154.
TEST_F(ResourceClientTest, CreatesWithTypeAndGetsTheNameFromTheAnswer) {
  transport_->Reply({.status = 201, .body = WidgetJson("a-x7")});
  Widget widget;
  widget.metadata.generateName = "a-";
  EXPECT_EQ(Must(Widgets().Create(widget)).metadata.name, "a-x7");
  EXPECT_EQ(transport_->request(0).body,
            R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"generateName":"a-"}})");
  EXPECT_EQ(transport_->request(0).path, kRoot);
}

// Contract: design D6.
TEST_F(ResourceClientTest, UpdatesSendBackWhatTheSchemaDoesNotKnow) {
  transport_->Reply(
      {.body = R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"a"},"novel":{"x":[1.0]}})"});
  Widget widget = Must(Widgets().Get("a"));
  transport_->Reply({.body = WidgetJson("a")});
  ASSERT_TRUE(Widgets().Update(widget).has_value());
  EXPECT_THAT(transport_->request(1).body, HasSubstr(R"("novel":{"x":[1.0]})"));
  EXPECT_EQ(transport_->request(1).method, "PUT");
  transport_->Reply({.body = WidgetJson("a")});
  ASSERT_TRUE(Widgets().UpdateStatus(widget).has_value());
  EXPECT_EQ(transport_->request(2).path, std::string(kRoot) + "/a/status");
}

// Contract: generator CLI-04.
TEST_F(ResourceClientTest, RefusesAnUpdateWithoutNameLocally) {
  EXPECT_EQ(Widgets().Update(Widget{}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Widgets().Apply(Widget{}, {.field_manager = "me"}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(ResourceClientTest, DeletesAndAcceptsAnyResponse) {
  transport_->Reply({.body = R"({"kind":"Status","apiVersion":"v1","status":"Success"})"});
  EXPECT_TRUE(Widgets().Delete("a").has_value());
  transport_->Reply({.status = 202, .body = WidgetJson("a")});
  EXPECT_TRUE(Widgets().Delete("a").has_value());
  transport_->Reply(Refusal(404, "NotFound"));
  EXPECT_EQ(Widgets().Delete("a").error().code(), Code::kNotFound);
}

// Contract: client REST-31.
TEST_F(ResourceClientTest, NamesTheObjectWhenAResponseCannotBeDecoded) {
  transport_->Reply({.body = ""});
  const Result<Widget> widget = Widgets().Get("a");
  EXPECT_EQ(widget.error().code(), Code::kDecode);
  EXPECT_THAT(widget.error().ToString(), StartsWith("get widgets.test.kgen.dev/v1 (Widget) default/a: "));
}

// Contract: design D17.
TEST_F(ResourceClientTest, ReportsARefusedAsynchronousCallInAPostedTask) {
  std::optional<Code> code;
  Widgets().Async().Get("", [&](Result<Widget> widget) { code = widget.error().code(); });
  EXPECT_FALSE(code.has_value());
  executor_->Run();
  EXPECT_EQ(code, Code::kInvalidArgument);
}

// Contract: design D17.
TEST_F(ResourceClientTest, AnswersAsynchronously) {
  transport_->Reply({.body = WidgetJson("a")});
  transport_->Reply({});
  std::string name;
  bool deleted = false;
  Widgets().Async().Get("a", [&](Result<Widget> widget) { name = widget->metadata.name; });
  Widgets().Async().Delete("a", [&](Result<void> done) { deleted = done.has_value(); });
  executor_->Run();
  EXPECT_EQ(name, "a");
  EXPECT_TRUE(deleted);
}

// One request for each call, in the order of the calls.
TEST_F(ResourceClientTest, HasEveryVerbWithoutBlockingAndWithoutOptions) {
  const auto widgets = Widgets().Async();
  Widget widget;
  widget.metadata.name = "a";
  int answers = 0;
  const auto count = [&](const auto& result) { answers += result.has_value(); };
  for (int i = 0; i < 9; ++i) transport_->Reply({.body = WidgetJson("a")});
  widgets.Get("a", count);
  widgets.Create(widget, count);
  widgets.Update(widget, count);
  widgets.UpdateStatus(widget, count);
  widgets.Patch("a", MergePatch("{}"), count);
  widgets.PatchStatus("a", MergePatch("{}"), count);
  widgets.Apply(widget, count, {.field_manager = "me"});
  widgets.Delete("a", count);
  widgets.DeleteCollection({.label_selector = "a=b"}, count);
  transport_->Reply({.body = R"({"apiVersion":"test.kgen.dev/v1","kind":"WidgetList","metadata":{},"items":[]})"});
  widgets.List(count);
  const std::string scale = R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"}})";
  transport_->Reply({.body = scale});
  transport_->Reply({.body = scale});
  widgets.GetScale("a", count);
  widgets.UpdateScale("a", autoscaling::v1::Scale{}, count);
  executor_->Run();
  EXPECT_EQ(answers, 12);
  std::vector<std::string> sent;
  for (std::size_t i = 0; i < transport_->size(); ++i) {
    const HttpRequest& request = transport_->request(i);
    sent.push_back(request.method + request.path.substr(request.path.find("/widgets") + 8));
  }
  EXPECT_THAT(sent, ::testing::ElementsAre("GET/a", "POST", "PUT/a", "PUT/a/status", "PATCH/a", "PATCH/a/status",
                                           "PATCH/a?fieldManager=me&force=false", "DELETE/a",
                                           "DELETE?labelSelector=a%3Db", "GET", "GET/a/scale", "PUT/a/scale"));
}

template <typename Client>
concept Gets = requires(const Client& client) { client.Get("a"); };
template <typename Client>
concept GetsWithoutBlocking =
    requires(const Client& client, Callback<Widget> done) { client.Async().Get("a", std::move(done)); };
template <typename Client>
concept Deletes = requires(const Client& client) { client.Delete("a"); };
template <typename Client>
concept DeletesWithoutBlocking =
    requires(const Client& client, Callback<void> done) { client.Async().Delete("a", std::move(done)); };
template <typename Client>
concept HasPages = requires(const Client& client) { client.Pages(); };

TEST(VerbsOfAResource, AreThoseThatItsClientNames) {
  using ReadOnly = ResourceClient<Widget, WidgetList, Verbs::kGet | Verbs::kWatch>;
  EXPECT_TRUE(Gets<ReadOnly>);
  EXPECT_TRUE(GetsWithoutBlocking<ReadOnly>);
  EXPECT_FALSE(Deletes<ReadOnly>);
  EXPECT_FALSE(DeletesWithoutBlocking<ReadOnly>);
  EXPECT_FALSE(HasPages<ReadOnly>);
  EXPECT_FALSE((Gets<ResourceClient<Widget, WidgetList, Verbs::kDelete>>));
  EXPECT_TRUE((Deletes<ResourceClient<Widget, WidgetList, Verbs::kStandard>>));
  EXPECT_TRUE((DeletesWithoutBlocking<ResourceClient<Widget, WidgetList, Verbs::kStandard>>));
}

TEST(ResourceClientType, IsNotForObjectsThatDoNotNameTheirResource) {
  EXPECT_TRUE((std::is_constructible_v<ResourceClient<Widget, WidgetList>, Connection, std::string_view>));
  EXPECT_FALSE((std::is_constructible_v<ResourceClient<Unstructured, UnstructuredList>, Connection, std::string_view>));
  EXPECT_FALSE(
      (std::is_constructible_v<ResourceClient<PartialObjectMetadata, UnstructuredList>, Connection, std::string_view>));
}

}  // namespace
}  // namespace kgen::testing
