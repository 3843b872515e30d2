// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs of subresources: their requests, and how responses are handled.
#include "kgen/client/subresources.h"

#include <optional>
#include <string>

#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using widgets::Claim;
using widgets::Widget;
using widgets::WidgetList;
using namespace std::chrono_literals;

// A Claim stands for a type of another group.
using ExtendedWidgetsClient =
    ResourceClient<Widget, WidgetList, Verbs::kStandard | Verbs::kStatus,
                   Subresource<"approval", Widget, Verbs::kGet | Verbs::kUpdate | Verbs::kPatch>,
                   Subresource<"binding", Claim, Verbs::kCreate>,
                   Subresource<"ephemeralcontainers", Widget, Verbs::kGet | Verbs::kUpdate>,
                   Subresource<"eviction", Claim, Verbs::kCreate>, Subresource<"log", std::string, Verbs::kGet>,
                   Subresource<"resize", Widget, Verbs::kGet | Verbs::kUpdate | Verbs::kPatch>,
                   Subresource<"token", Claim, Verbs::kCreate>>;

constexpr char kSuccess[] = R"({"kind":"Status","apiVersion":"v1","status":"Success","code":201})";
constexpr char kWidgetWithUid[] =
    R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"a","uid":"7"}})";
constexpr char kForbidden[] =
    R"({"kind":"Status","status":"Failure","reason":"Forbidden","message":"not you","code":403})";

class SubresourceClientTest : public ClientTest {
 protected:
  ExtendedWidgetsClient Widgets(std::string_view space = "default") { return {connection(), space}; }
  std::string Asked(std::size_t i) { return transport_->request(i).method + ' ' + transport_->request(i).path; }
  static std::string At(std::string_view rest) {
    return "/apis/test.kgen.dev/v1/namespaces/default/widgets/a/" + std::string(rest);
  }
};

template <typename Client>
concept Evicts = requires(const Client& client, const Claim& claim) { Evict(client, "a", claim); };
template <typename Client>
concept CreatesTokens = requires(const Client& client, const Claim& claim) { CreateToken(client, "a", claim); };
template <typename Client>
concept Resizes =
    requires(const Client& client, const Widget& widget) { client.template UpdateSubresource<"resize">(widget); };
template <typename Client>
concept PatchesEphemeralContainers =
    requires(const Client& client) { client.template PatchSubresource<"ephemeralcontainers">("a", MergePatch("{}")); };
template <typename Client>
concept ReadsLogs = requires(const Client& client) {
  Logs(client, "a");
  StreamLogs(client, "a");
};
template <typename Client>
concept GetsTheLogAsAnObject = requires(const Client& client) { client.template GetSubresource<"log">("a"); };

// Contract: generator OP-14.
TEST(Subresources, HaveTheVerbsOfTheDocumentOnly) {
  using Plain = ResourceClient<Widget, WidgetList>;
  EXPECT_TRUE(Evicts<ExtendedWidgetsClient> && CreatesTokens<ExtendedWidgetsClient>);
  EXPECT_TRUE(Resizes<ExtendedWidgetsClient> && ReadsLogs<ExtendedWidgetsClient>);
  EXPECT_FALSE(Evicts<Plain> || CreatesTokens<Plain> || Resizes<Plain> || ReadsLogs<Plain>);
  EXPECT_FALSE(PatchesEphemeralContainers<ExtendedWidgetsClient>);
  EXPECT_FALSE(GetsTheLogAsAnObject<ExtendedWidgetsClient>);
}

TEST_F(SubresourceClientTest, EvictionIsPostedToTheObject) {
  transport_->Reply({.status = 201, .body = kSuccess});
  EXPECT_TRUE(Evict(Widgets(), "a", {}, {.dry_run = true}));
  EXPECT_EQ(Asked(0), "POST " + At("eviction?dryRun=All"));
  EXPECT_EQ(HeaderOf(transport_->request(0), "content-type"), "application/json");
  EXPECT_THAT(transport_->request(0).body, HasSubstr(R"("kind":"Claim","metadata":{"name":"a"})"))
      << "servers want the name here as well";
}

TEST_F(SubresourceClientTest, EvictionReturnsTheServersRefusal) {
  transport_->Reply({.status = 429,
                     .body = R"({"kind":"Status","status":"Failure","reason":"TooManyRequests",)"
                             R"("message":"the budget needs 1 and has 1","code":429})"});
  const Result<void> evicted = Evict(Widgets(), "a", {});
  ASSERT_FALSE(evicted.has_value());
  EXPECT_EQ(evicted.error().code(), Code::kTooManyRequests);
  EXPECT_THAT(evicted.error().ToString(),
              StartsWith("create widgets.test.kgen.dev/v1/eviction (Widget) default/a: the budget needs 1"));
  EXPECT_EQ(transport_->size(), 1u) << "nothing says when to try again";
}

TEST_F(SubresourceClientTest, ABindingNamesTheObjectThatItBinds) {
  transport_->Reply({.status = 201, .body = kSuccess});
  EXPECT_TRUE(Bind(Widgets(), {.metadata = {.name = "a"}}));
  EXPECT_EQ(Asked(0), "POST " + At("binding"));
  EXPECT_EQ(Bind(Widgets(), {}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(Bind(Widgets(), {.metadata = {.name = "a", .namespace_ = "other"}}).error().code(), Code::kInvalidArgument);
  EXPECT_EQ(transport_->size(), 1u);
}

TEST_F(SubresourceClientTest, ATokenIsWhatTheServerMadeOfTheRequest) {
  transport_->Reply({.status = 201, .body = R"({"metadata":{"name":"a"},"spec":{"token":"secret"}})"});
  const Claim claim = Must(CreateToken(Widgets(), "a", {}, {.dry_run = true}));
  EXPECT_EQ(Asked(0), "POST " + At("token?dryRun=All"));
  EXPECT_EQ(claim.spec->token, "secret");
}

TEST_F(SubresourceClientTest, UpdatesGoToThePathOfTheSubresource) {
  for (int i = 0; i < 3; ++i) transport_->Reply({.body = kWidgetWithUid});
  const Widget widget{.metadata = {.name = "a"}};
  EXPECT_EQ(Must(Widgets().UpdateSubresource<"approval">(widget, {.field_manager = "me"})).metadata.uid, "7");
  EXPECT_TRUE(Widgets().UpdateSubresource<"ephemeralcontainers">(widget));
  EXPECT_TRUE(Widgets().UpdateSubresource<"resize">(widget));
  EXPECT_EQ(Asked(0), "PUT " + At("approval?fieldManager=me"));
  EXPECT_EQ(Asked(1), "PUT " + At("ephemeralcontainers"));
  EXPECT_EQ(Asked(2), "PUT " + At("resize"));
}

// Contract: controller 153.
TEST_F(SubresourceClientTest, AnySubresourceIsReachedByItsName) {
  for (int i = 0; i < 3; ++i) transport_->Reply({.body = kWidgetWithUid});
  transport_->Reply({.status = 201, .body = kSuccess});
  EXPECT_EQ(Must(Widgets().GetSubresource<"resize">("a", {.resource_version = "0"})).metadata.uid, "7");
  EXPECT_TRUE(Widgets().UpdateSubresource<"resize">({.metadata = {.name = "a"}}));
  EXPECT_TRUE(Widgets().PatchSubresource<"resize">("a", MergePatch("{}"), {.dry_run = true}));
  EXPECT_TRUE(Widgets().CreateSubresource<"binding">("a", {}));
  EXPECT_EQ(Asked(0), "GET " + At("resize?resourceVersion=0"));
  EXPECT_EQ(Asked(1), "PUT " + At("resize"));
  EXPECT_EQ(Asked(2), "PATCH " + At("resize?dryRun=All"));
  EXPECT_EQ(Asked(3), "POST " + At("binding"));
}

TEST_F(SubresourceClientTest, AsynchronousFormsReportByPostedWork) {
  int reported = 0;
  const auto note = [&](const auto& result) { reported += result.has_value() ? 1 : 100; };
  const Widget widget{.metadata = {.name = "a"}};
  const Claim claim{.metadata = {.name = "a"}};
  for (int i = 0; i < 9; ++i) transport_->Reply({.body = kSuccess});
  const auto widgets = Widgets().Async();
  Evict(widgets, "a", claim, note);
  Bind(widgets, claim, note);
  widgets.GetSubresource<"resize">("a", note);
  widgets.UpdateSubresource<"resize">(widget, note);
  widgets.PatchSubresource<"resize">("a", MergePatch("{}"), note);
  CreateToken(widgets, "a", claim, note, {.dry_run = true});
  widgets.ApplyStatus(widget, note, {.field_manager = "me"});
  Evict(widgets, "a", claim, note, {.dry_run = true});
  Bind(widgets, claim, note, {.dry_run = true});
  transport_->Reply({.body = "text", .headers = {{"content-type", "text/plain"}}});
  Logs(widgets, "a", note, {.tail_lines = 1});
  EXPECT_EQ(reported, 0);
  executor_->Run();
  EXPECT_EQ(reported, 10);
  EXPECT_EQ(Asked(0), "POST " + At("eviction"));
  EXPECT_EQ(Asked(5), "POST " + At("token?dryRun=All"));
  EXPECT_EQ(Asked(7), "POST " + At("eviction?dryRun=All"));
  EXPECT_EQ(Asked(8), "POST " + At("binding?dryRun=All"));
  EXPECT_EQ(Asked(9), "GET " + At("log?tailLines=1"));
}

// Contract: client TYP-4.
TEST_F(SubresourceClientTest, ApplyStatusSendsAnApplyPatchToTheStatus) {
  transport_->Reply({.body = kWidgetWithUid});
  EXPECT_TRUE(Widgets().ApplyStatus({.metadata = {.name = "a"}}, {.field_manager = "me"}));
  EXPECT_EQ(Asked(0), "PATCH " + At("status?fieldManager=me&force=false"));
  EXPECT_EQ(HeaderOf(transport_->request(0), "content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(Widgets().ApplyStatus({}, {.field_manager = "me"}).error().code(), Code::kInvalidArgument);
}

// Contract: client TYP-8.
TEST_F(SubresourceClientTest, LogsSendsTheOptionsThatAreSet) {
  const std::vector<HttpHeader> text = {{"content-type", "text/plain"}};
  for (int i = 0; i < 2; ++i) transport_->Reply({.body = "one\ntwo", .headers = text});
  EXPECT_EQ(Must(Logs(Widgets(), "a")), "one\ntwo");
  EXPECT_TRUE(Logs(
      Widgets(), "a",
      {.container = "c", .previous = true, .since = 1500ms, .tail_lines = 0, .timestamps = true, .limit_bytes = 9}));
  EXPECT_EQ(Asked(0), "GET " + At("log"));
  EXPECT_EQ(Asked(1),
            "GET " + At("log?container=c&limitBytes=9&previous=true&sinceSeconds=2&tailLines=0&timestamps=true"));
}

TEST_F(SubresourceClientTest, LogsRefusesToFollow) {
  const Result<std::string> log = Logs(Widgets(), "a", {.follow = true});
  EXPECT_EQ(log.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(log.error().ToString(), HasSubstr("StreamLogs()"));
  EXPECT_EQ(transport_->size(), 0u);
}

TEST_F(SubresourceClientTest, LogsRefusesToBeginZeroOrLessBeforeNow) {
  for (const Nanos since : {Nanos(0), Nanos(-1s)}) {
    EXPECT_EQ(Logs(Widgets(), "a", {.since = since}).error().code(), Code::kInvalidArgument);
    EXPECT_EQ(StreamLogs(Widgets(), "a", {.since = since}).error().code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(transport_->size(), 0u);
}

// Contract: generator OP-15.
TEST_F(SubresourceClientTest, LogsReturnsTheTextAsItIs) {
  transport_->Reply({.body = kForbidden, .headers = {{"content-type", "text/plain"}}});
  transport_->Reply({.status = 204});
  EXPECT_EQ(Must(Logs(Widgets(), "a")), kForbidden) << "which the container wrote";
  EXPECT_EQ(Must(Logs(Widgets(), "a")), "");
}

TEST_F(SubresourceClientTest, LogsFailsWithTheServersErrorAndForAnotherMediaType) {
  transport_->Reply({.status = 403, .body = kForbidden});
  transport_->Reply({.body = "<html>log in", .headers = {{"content-type", "text/html; charset=utf-8"}}});
  EXPECT_EQ(Logs(Widgets(), "a").error().code(), Code::kForbidden);
  const Result<std::string> page = Logs(Widgets(), "a");
  EXPECT_EQ(page.error().code(), Code::kDecode);
  EXPECT_THAT(page.error().ToString(), HasSubstr("text/html instead of plain text"));
  EXPECT_THAT(page.error().ToString(), HasSubstr("<html>log in"));
}

}  // namespace
}  // namespace kgen::testing
