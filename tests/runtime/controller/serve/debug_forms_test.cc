// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The three forms of /debug, and which of them a request gets.
#include "controller/debug/forms.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "controller/debug/plot.h"
#include "tests/runtime/controller/serve/endpoint_fixture.h"

namespace kgen::testing {
namespace {

using controller::BytesCell;
using controller::Cell;
using controller::CountCell;
using controller::DebugForm;
using controller::DebugMood;
using controller::DebugSection;
using controller::ShortTime;
using controller::TimeCell;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr float kGap = std::numeric_limits<float>::quiet_NaN();

DebugSection Orders() {
  return {.text = "open\n",
          .tables = {{.title = "Last calls",
                      .columns = {"Object", "Took", "Last error"},
                      .rows = {{Cell("a"), TimeCell(1500us), Cell("")},
                               {Cell("lönger"), TimeCell(20s), Cell("two\nlines", DebugMood::kBad)}},
                      .note = "3 more"}},
          .plots = {{.title = "Queue depth",
                     .step = 5s,
                     .lines = {{"orders", {kGap, 1, 2, kGap, 4}}, {"users", {kGap, kGap, kGap, kGap, kGap}}}}}};
}

TEST(DebugFormsTest, TheTextHasAlignedTablesAndTheNewestValueOfEachLine) {
  const DebugSection orders = Orders();
  EXPECT_EQ(controller::DebugText({{"orders", &orders}, {"broken", nullptr}}),
            "# orders\n"
            "open\n"
            "Queue depth: orders 4, users -\n"
            "Last calls:\n"
            "  Object  Took    Last error\n"
            "  a       1.5 ms  -\n"
            "  lönger  20 s    two lines\n"
            "  3 more\n"
            "\n"
            "# broken\n"
            "failed: reason withheld\n");
}

TEST(DebugFormsTest, TheJsonHasNumbersInBaseUnitsAndNullForGaps) {
  const DebugSection orders = Orders();
  const auto json = nlohmann::json::parse(controller::DebugJson({{"orders", &orders}, {"broken", nullptr}}));
  EXPECT_EQ(json, nlohmann::json::parse(R"({
      "orders": {"text": "open\n",
                 "last_calls": [{"object": "a", "took": 0.0015, "last_error": ""},
                                {"object": "lönger", "took": 20, "last_error": "two\nlines"}],
                 "last_calls_note": "3 more",
                 "plots": {"queue_depth": {"step_seconds": 5, "lines": {"orders": [null, 1, 2, null, 4],
                                                                        "users": [null, null, null, null, null]}}}},
      "broken": {"error": "failed: reason withheld"}})"));
}

TEST(DebugFormsTest, ThePageEscapesWhatItShows) {
  const std::string evil = "<b a='1' b=\"2\">&</main></script>\x01";
  const DebugSection section{.text = evil,
                             .tables = {{.title = evil, .columns = {evil}, .rows = {{Cell(evil)}}, .note = evil}},
                             .plots = {{.title = evil, .lines = {{evil, {1}}}, .note = evil}}};
  const DebugSection plain{.text = evil};
  const std::string page = controller::DebugHtml({{"a", &section}, {"b", &plain}}, "n");
  EXPECT_THAT(page, Not(HasSubstr("<b a")));
  EXPECT_THAT(page, Not(HasSubstr("\x01")));
  EXPECT_THAT(page, HasSubstr("<pre>&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;&lt;/main&gt;&lt;/script&gt; </pre>"));
  EXPECT_EQ(page.find("</main>"), page.rfind("</main>", page.find("<script")));
}

TEST(DebugFormsTest, ThePageHasALongTextInARowOfItsOwnButNotTheNameOfARow) {
  const std::string text(70, 'x');
  const DebugSection section{.tables = {{.title = "t", .columns = {"a", "b"}, .rows = {{Cell(text), Cell(text)}}}}};
  EXPECT_THAT(controller::DebugHtml({{"s", &section}}, "n"),
              HasSubstr("<tr class=\"above\"><td data-column=\"a\">" + text +
                        "</td><td data-column=\"b\"></td></tr>"
                        "<tr class=\"long\"><td data-column=\"b\" colspan=\"2\">" +
                        text + "</td></tr>"));
}

TEST(DebugFormsTest, APlotHasOneLineForEachPartWithoutGaps) {
  std::string figure;
  controller::AppendFigure(figure, Orders().plots.front());
  EXPECT_THAT(figure,
              HasSubstr("<polyline class=\"l0\" points=\"80.0,80.0 160.0,60.0\"><title>orders</title></polyline>"
                        "<polyline class=\"l0\" points=\"320.0,20.0 320.0,20.0\"><title>orders</title>"
                        "</polyline></svg>"));
  EXPECT_THAT(figure, AllOf(HasSubstr("0 to 5, the last 25 s"), HasSubstr("users <b>-</b>")));
}

TEST(DebugFormsTest, ThePolicyAdmitsNothingButTheStyleAndTheScriptOfThePage) {
  const std::string nonce = controller::NewNonce();
  EXPECT_EQ(nonce.size(), 64u);
  EXPECT_NE(nonce, controller::NewNonce());
  EXPECT_EQ(controller::PolicyFor("x"),
            "default-src 'none'; img-src data:; connect-src 'self'; style-src 'nonce-x'; script-src 'nonce-x'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  EXPECT_THAT(controller::PolicyFor(""), Not(HasSubstr("nonce")));
}

TEST(DebugFormsTest, WritesTimesAndBytesInThreeDigits) {
  const std::vector<std::pair<Nanos, std::string>> times = {
      {0s, "0 s"},   {999ns, "999 ns"}, {1234ns, "1.23 us"}, {45600us, "45.6 ms"}, {1s, "1 s"},
      {90s, "90 s"}, {3min, "3m"},      {185s, "3m05s"},     {2h + 5min, "2h05m"}, {-1s, "0 s"}};
  for (const auto& [time, text] : times) EXPECT_EQ(ShortTime(time), text);
  EXPECT_EQ(BytesCell(0).text, "0 B");
  EXPECT_EQ(BytesCell(999).text, "999 B");
  EXPECT_EQ(BytesCell(1'234'567).text, "1.23 MB");
  EXPECT_EQ(CountCell(1'234'567).text, "1234567");
}

TEST(DebugFormsTest, ABrowserGetsThePageAndOtherClientsGetText) {
  EXPECT_EQ(controller::FormFor("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), DebugForm::kHtml);
  EXPECT_EQ(controller::FormFor("Application/JSON"), DebugForm::kJson);
  EXPECT_EQ(controller::FormFor("text/plain"), DebugForm::kText);
  EXPECT_EQ(controller::FormFor("*/*"), DebugForm::kText);
  EXPECT_EQ(controller::FormFor(""), DebugForm::kText);
}

class DebugEndpointTest : public EndpointTest {};

TEST_F(DebugEndpointTest, AnswersInTheFormThatTheRequestAccepts) {
  Listen();
  Must(server_->AddSection("orders", Orders));
  Start();
  const std::string page = Get("/debug", "Accept: text/html,*/*\r\n");
  const std::string nonce = page.substr(page.find("nonce-") + 6, 64);
  EXPECT_THAT(page, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("content-type: text/html; charset=utf-8\r\n"),
                          HasSubstr("content-security-policy: " + controller::PolicyFor(nonce) + "\r\n"),
                          HasSubstr("cache-control: no-store\r\n"), HasSubstr("vary: accept\r\n"),
                          HasSubstr("<script nonce=\"" + nonce + "\">"), HasSubstr("<style nonce=\"" + nonce + "\">")));
  EXPECT_THAT(Get("/debug", "Accept: text/html\r\n"), Not(HasSubstr(nonce)));
  const std::string json = Get("/debug", "Accept: application/json\r\n");
  EXPECT_THAT(json, HasSubstr("content-type: application/json\r\n"));
  EXPECT_TRUE(nlohmann::json::parse(BodyOf(json)).contains("orders"));
  EXPECT_THAT(Get("/debug", "Accept: */*\r\n"),
              AllOf(HasSubstr("content-type: text/plain; charset=utf-8\r\n"), HasSubstr("\r\n\r\n# orders\nopen\n")));
}

TEST_F(DebugEndpointTest, MakesTheSectionsOnceForReadersOfDifferentForms) {
  Listen();
  int made = 0;
  Must(server_->AddSection("orders", [&made] { return DebugSection{.text = std::to_string(++made)}; }));
  Start();
  const auto browser = loop_->Dial(), curl = loop_->Dial();
  browser->Receive(Request("/debug", "Accept: text/html\r\n"));
  curl->Receive(Request("/debug"));
  executor_->Run();
  EXPECT_THAT(browser->sent(), HasSubstr("<pre>1</pre>"));
  EXPECT_THAT(curl->sent(), HasSubstr("# orders\n1\n"));
}

class DebugAddressTest : public EndpointTest {
 protected:
  std::string AskAt(std::uint16_t port, std::string_view target, std::string_view host) {
    const auto client = loop_->Dial("127.0.0.1", port);
    client->Receive("GET " + std::string(target) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
    executor_->Run();
    return StatusOf(client->sent()) + " " + BodyOf(client->sent());
  }
};

TEST_F(DebugAddressTest, ServesDebugWithoutATokenAndNothingElse) {
  Listen({.address = "127.0.0.1:81", .debug_address = "127.0.0.1:83", .metrics = Metrics()});
  EXPECT_EQ(server_->debug_address(), "127.0.0.1:83");
  Must(server_->AddSection("a", [] { return DebugSection{.text = "b"}; }));
  Start();
  EXPECT_EQ(AskAt(83, "/debug", "localhost:6060"), "200 # a\nb\n");
  EXPECT_EQ(AskAt(83, "/debug/", "127.0.0.1"), "200 # a\nb\n");
  EXPECT_EQ(AskAt(83, "/debug", "[::1]:6060"), "200 # a\nb\n");
  for (const std::string_view target : {"/metrics", "/healthz", "/readyz", "/"}) {
    EXPECT_THAT(AskAt(83, target, "localhost"), StartsWith("404 ")) << target;
  }
  EXPECT_THAT(AskAt(81, "/healthz", "h"), StartsWith("200 "));
}

TEST_F(DebugAddressTest, RefusesPagesOfOtherSitesWhoseNameIsMadeToMeanThisMachine) {
  Listen({.address = "", .debug_address = "127.0.0.1:83"});
  Must(server_->AddSection("a", [] { return DebugSection{.text = "b"}; }));
  Start();
  for (const std::string_view host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"}) {
    EXPECT_THAT(AskAt(83, "/debug", host), StartsWith("403 ")) << host;
  }
}

TEST_F(DebugAddressTest, MustBeALoopbackAddress) {
  for (const std::string address : {":6060", "0.0.0.0:6060", "10.0.0.1:6060", "[::]:6060"}) {
    const auto server = Server::Listen({.address = "", .debug_address = address, .executor = executor_}, loop_);
    ASSERT_FALSE(server) << address;
    EXPECT_EQ(server.error().code(), Code::kConfig);
    EXPECT_THAT(server.error().message(), HasSubstr("'" + address + "' is no loopback address"));
  }
}

}  // namespace
}  // namespace kgen::testing
