// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Warning headers, from the response to the observer.
#include "client/request/warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kgen/testing/cluster.h"
#include "tests/runtime/client/client_fixture.h"

namespace kgen::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Contract: client WARN-1, WARN-2.
TEST(ParseWarnings, ReadsTheTextsOfCode299) {
  EXPECT_THAT(client::ParseWarnings(R"(299 - "v1beta1 is deprecated")"), ElementsAre("v1beta1 is deprecated"));
  EXPECT_THAT(client::ParseWarnings(R"(299 host:80 "one" "Sun, 06 Nov 1994 08:49:37 GMT", 299 - "two, \"quoted\" \\")"),
              ElementsAre("one", "two, \"quoted\" \\"));
  EXPECT_THAT(client::ParseWarnings(R"(199 - "miscellaneous", 299 - "", 299 - "x")"), ElementsAre("x"));
}

// Contract: client WARN-1.
TEST(ParseWarnings, DropsWhatFollowsAMalformedWarning) {
  EXPECT_THAT(client::ParseWarnings(R"(299 - "fine", 299 "no agent", 299 - "late")"), ElementsAre("fine"));
  EXPECT_THAT(client::ParseWarnings(R"(299 - "fine", 299 - "open)"), ElementsAre("fine"));
  EXPECT_THAT(client::ParseWarnings(R"(299 - "fine" rest)"), IsEmpty());
  for (const char* header : {"", ",", "299", "299 -", "299 - x", "29 - \"x\"", "299 - \"\\"})
    EXPECT_THAT(client::ParseWarnings(header), IsEmpty()) << header;
}

TEST(ParseWarnings, CutsALongText) {
  EXPECT_EQ(client::ParseWarnings("299 - \"" + std::string(100'000, 'x') + "\"").front().size(), 1024u);
}

class WarningObserver final : public Observer {
 public:
  void OnServerWarned(const ServerWarned& event) override {
    warnings.push_back(std::string(event.what) + ": " + std::string(event.message) + " x" +
                       std::to_string(event.count));
  }
  std::vector<std::string> warnings;
};

class WarningTest : public ClientTest {
 protected:
  void ReplyWith(std::vector<HttpHeader> headers, int status = 200) {
    headers.push_back({"content-type", "application/json"});
    transport_->Reply({.status = status, .body = "{}", .headers = std::move(headers)});
  }
  Connection Observed() { return client::ConnectionState::Handle({transport_, executor_, received_}, Defaults()); }
  Shared<WarningObserver> received_ = MakeShared<WarningObserver>();
};

// Contract: controller 163.
TEST_F(WarningTest, GoToTheObserverFromAnswersAndRefusals) {
  const Connection connection = Observed();
  ReplyWith({{"warning", R"(299 - "one")"}, {"warning", R"(299 - "two")"}});
  EXPECT_TRUE(connection.Call(Get()));
  ReplyWith({{"warning", R"(299 - "three")"}}, 404);
  EXPECT_FALSE(connection.Call(Get()));
  EXPECT_THAT(received_->warnings, ElementsAre("get pods default/web-0: one x1", "get pods default/web-0: two x1",
                                               "get pods default/web-0: three x1"));
}

// Contract: controller 163.
TEST_F(WarningTest, AreReportedOnceASecondForEachText) {
  const Connection connection = Observed();
  for (int i = 0; i < 5; ++i) {
    ReplyWith({{"warning", R"(299 - "deprecated")"}});
    EXPECT_TRUE(connection.Call(Get()));
  }
  EXPECT_THAT(received_->warnings, ElementsAre("get pods default/web-0: deprecated x1"));
  executor_->Advance(1s);
  EXPECT_THAT(received_->warnings,
              ElementsAre("get pods default/web-0: deprecated x1", "get pods default/web-0: deprecated x4"));
}

TEST_F(WarningTest, ShareACauseWhenTheServerMakesUpEverNewTexts) {
  const Connection connection = Observed();
  for (int i = 0; i < 300; ++i) {
    ReplyWith({{"warning", "299 - \"text " + std::to_string(i) + "\""}});
    EXPECT_TRUE(connection.Call(Get()));
  }
  EXPECT_LE(received_->warnings.size(), 101u);
}

// Contract: controller 163.
TEST_F(WarningTest, GoToStandardErrorWithoutAnObserver) {
  const Connection connection = client::ConnectionState::Handle({transport_, executor_, {}}, Defaults());
  ReplyWith({{"warning", R"(299 - "v1beta1 is deprecated")"}});
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(connection.Call(Get()));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::EndsWith("Z WARNING kgen: get pods default/web-0: the server warns: v1beta1 is deprecated\n"));
}

TEST(Warnings, ComeFromTheClusterForUnknownFields) {
  const auto received = MakeShared<WarningObserver>();
  Cluster cluster({.observer = received});
  const ApiRequest request{.method = "POST",
                           .path = "/api/v1/namespaces/default/configmaps",
                           .content_type = "application/json",
                           .body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","nme":"b"}})",
                           .what = "create configmaps default/a"};
  EXPECT_TRUE(cluster.Connection().Call(request));
  EXPECT_THAT(received->warnings,
              ElementsAre(HasSubstr("create configmaps default/a: unknown field \"metadata.nme\"")));
}

}  // namespace
}  // namespace kgen::testing
