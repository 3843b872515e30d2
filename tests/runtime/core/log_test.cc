// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/observers/throttled_observer.h"
#include "core/secrets.h"
#include "kgen/core/object_key.h"
#include "kgen/core/observer.h"
#include "tests/support/manual_executor.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::string_view kTime = "2023-11-14T22:13:20.000Z";

class LogTest : public ::testing::Test {
 protected:
  ~LogTest() override { unsetenv("KGEN_LOG"); }

  Shared<LogObserver> Make(LogFormat format, std::string levels = {}) {
    const auto keep = [this](LogLevel severity, std::string_view line) {
      severities_.push_back(severity);
      lines_.emplace_back(line);
    };
    return MakeLogObserver(
        {.format = format, .sink = FunctionSink(keep), .levels = std::move(levels), .clock = executor_->clock()});
  }
  static void Fail(Observer& log) {
    const Error error(Code::kForbidden, "no \"pods\" for you");
    log.OnListOrWatchFailed({.informer = "pods", .watch = true, .error = &error, .attempt = 3, .retry_in = 500ms});
  }
  // Reports one event of each component, and returns the components whose line was written.
  std::vector<std::string> ComponentsThatWrite(LogObserver& log) {
    const Error error(Code::kUnavailable, "refused");
    const ObjectKey key = ObjectKey::Namespaced("default", "a");
    lines_.clear();
    Fail(log);
    log.OnHandlerFailed({.informer = "pods", .key = &key, .what = "oops"});
    log.OnReconcileFailed({.queue = "web", .key = "default/a", .error = &error});
    log.OnLeadershipChanged({.lease = "shop/web", .identity = "me", .leader = "you", .error = &error});
    log.OnEventDropped({.about = "pods default/a: Started", .why = "no connection"});
    log.OnCheckFailed({.check = "/readyz/caches", .error = &error});
    log.OnConnectionChanged({.host = "api", .error = &error});
    log.OnLimiterWaited({.what = "executor threads"});
    std::vector<std::string> components;
    for (const std::string& line : lines_) {
      const std::size_t at = line.find("component=") + std::string_view("component=").size();
      components.push_back(line.substr(at, line.find(' ', at) - at));
    }
    return components;
  }

  Shared<testing::ManualExecutor> executor_ = MakeShared<testing::ManualExecutor>();
  std::vector<std::string> lines_;
  std::vector<LogLevel> severities_;
};

TEST_F(LogTest, WritesAnEventInEachFormat) {
  Fail(*Make(LogFormat::kText));
  Fail(*Make(LogFormat::kLogfmt));
  Fail(*Make(LogFormat::kJson));
  const std::string time(kTime);
  EXPECT_THAT(
      lines_,
      ElementsAre(time + " WARNING kgen: pods: watch failed: no \"pods\" for you (Forbidden); next attempt in 0.5 s "
                         "after 3 failures in a row\n",
                  "time=" + time +
                      " level=warning component=informer message=\"watch failed\" informer=pods code=Forbidden "
                      "attempt=3 retry_in_seconds=0.5 gave_up=false error=\"no \\\"pods\\\" for you (Forbidden)\"\n",
                  R"({"time":")" + time +
                      R"(","level":"warning","component":"informer","message":"watch failed","informer":"pods",)"
                      R"("code":"Forbidden","attempt":3,"retry_in_seconds":0.5,"gave_up":false,)"
                      R"("error":"no \"pods\" for you )"
                      "(Forbidden)\"}"
                      "\n"));
  EXPECT_THAT(severities_, ElementsAre(LogLevel::kWarning, LogLevel::kWarning, LogLevel::kWarning));
}

TEST_F(LogTest, NamesTheClusterInEachFormat) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kLogfmt, LogFormat::kJson}) {
    const auto log = MakeShared<ThrottledObserver>(Make(format), executor_);
    log->ForCluster("eu-1").observer->OnServerWarned({.what = "get", .message = "old"});
  }
  ASSERT_THAT(lines_, SizeIs(3));
  EXPECT_THAT(lines_[0], ::testing::HasSubstr(" kgen: cluster eu-1: get: "));
  EXPECT_THAT(lines_[1], ::testing::HasSubstr(" message=\"the server warns\" cluster=eu-1 request=get "));
  EXPECT_THAT(lines_[2], ::testing::HasSubstr(R"("message":"the server warns","cluster":"eu-1","request":"get")"));
}

TEST_F(LogTest, LimitsRepetitionsOfEachClusterApartWithWarningsAlone) {
  const auto warnings = MakeShared<ThrottledObserver>(Shared<Observer>(), executor_);
  const auto eu = warnings->ForCluster("eu-1"), us = warnings->ForCluster("us-1");
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    Fail(*eu.observer);
    Fail(*us.observer);
  }
  const std::string written = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(written, '\n'), 2) << written;
  EXPECT_THAT(written,
              AllOf(::testing::HasSubstr("cluster eu-1: pods: "), ::testing::HasSubstr("cluster us-1: pods: ")));
  ::testing::internal::CaptureStderr();
  eu.throttle->Close();
  us.throttle->Close();
  const std::string last = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(last, '\n'), 2) << "what was counted until the end: " << last;
}

TEST_F(LogTest, WritesFieldsOfAProgramInEachFormat) {
  const std::string text = "two words";
  const LogField fields[] = {{"item", text},
                             {"count", -3},
                             {"bytes", std::size_t{7}},
                             {"share", 0.25},
                             {"at", 1700000000.5},
                             {"done", true},
                             {"nan", std::numeric_limits<double>::quiet_NaN()},
                             {"a b", "x"},
                             {"level", "my own"},
                             {"id", ""},
                             {"bad", "\xFF!"},
                             {"none", static_cast<const char*>(nullptr)}};
  const Observer::Logged event = {
      .source = "web", .key = "default/a", .message = "shipping", .id = "0123456789abcdef", .fields = fields};
  Make(LogFormat::kText)->OnLogged(event);
  Make(LogFormat::kLogfmt)->OnLogged(event);
  Make(LogFormat::kJson)->OnLogged(event);
  ASSERT_THAT(lines_, SizeIs(3));
  EXPECT_THAT(lines_[0],
              EndsWith(" INFO kgen: web default/a: reconcile 0123456789abcdef: shipping item=\"two words\" "
                       "count=-3 bytes=7 share=0.25 at=1700000000.5 done=true nan=nan a_b=x level=\"my own\" id=\"\" "
                       "bad=\"\xEF\xBF\xBD!\" none=\"\"\n"));
  EXPECT_THAT(lines_[1],
              EndsWith(" message=shipping controller=web object=default/a id=0123456789abcdef "
                       "item=\"two words\" count=-3 bytes=7 share=0.25 at=1700000000.5 done=true nan=nan a_b=x "
                       "level_=\"my own\" id_=\"\" bad=\"\xEF\xBF\xBD!\" none=\"\"\n"));
  EXPECT_THAT(
      lines_[2],
      EndsWith(R"("controller":"web","object":"default/a","id":"0123456789abcdef",)"
               R"("item":"two words","count":-3,"bytes":7,"share":0.25,"at":1700000000.5,"done":true,"nan":"nan",)"
               R"("a b":"x","level_":"my own","id_":"","bad":")"
               "\xEF\xBF\xBD"
               R"(!","none":""})"
               "\n"));
}

TEST_F(LogTest, CutsALineAtItsLimitAndKeepsItWhole) {
  const std::string controls(kLogLineBytes, '\x01');  // each becomes several bytes
  std::string umlauts;
  while (umlauts.size() < 2 * kLogLineBytes) umlauts += "\xC3\xA4";
  for (const std::string& text : {std::string(kLogLineBytes, 'x'), controls, umlauts, "y" + umlauts}) {
    for (const LogFormat format : {LogFormat::kText, LogFormat::kLogfmt, LogFormat::kJson}) {
      const LogField fields[] = {{"first", text}, {"second", 7}};
      lines_.clear();
      Make(format)->OnLogged({.source = "web", .key = "default/a", .message = text, .id = "1", .fields = fields});
      ASSERT_THAT(lines_, SizeIs(1));
      const std::string& line = lines_.front();
      EXPECT_THAT(line.size(), AllOf(::testing::Le(kLogLineBytes), ::testing::Ge(kLogLineBytes - 100)));
      EXPECT_TRUE(line.contains("...") && !line.contains("second") && !line.contains("\xEF\xBF\xBD")) << line;
      if (format == LogFormat::kJson) {
        EXPECT_TRUE(line.contains(R"(...","controller":"web","object":"default/a","id":"1","first":")")) << line;
        EXPECT_TRUE(line.ends_with("...\"}\n")) << line;
      }
    }
  }
}

TEST_F(LogTest, WritesEachComponentUpToItsLevel) {
  const auto log = Make(LogFormat::kLogfmt);
  EXPECT_THAT(ComponentsThatWrite(*log),
              ElementsAre("informer", "handler", "controller", "election", "events", "endpoint", "client", "executor"));
  EXPECT_TRUE(log->SetLevels(" informer=off , executor=error,client = trace").has_value());
  EXPECT_THAT(ComponentsThatWrite(*log),
              ElementsAre("handler", "controller", "election", "events", "endpoint", "client"));
  EXPECT_TRUE(log->SetLevels("controller=warning,error").has_value());
  EXPECT_THAT(ComponentsThatWrite(*log), ElementsAre("handler", "controller"));
  EXPECT_TRUE(log->SetLevels("off").has_value());
  EXPECT_THAT(ComponentsThatWrite(*log), IsEmpty());
}

TEST_F(LogTest, TakesLevelsFromItsOptionThenFromTheEnvironmentThenFromTheFunction) {
  setenv("KGEN_LOG", "client=error", 1);
  const auto log = Make(LogFormat::kText, "warning,informer=debug,client=info");
  EXPECT_TRUE(log->IsEnabled(LogComponent::kInformer, LogLevel::kDebug));
  EXPECT_FALSE(log->IsEnabled(LogComponent::kInformer, LogLevel::kTrace));
  EXPECT_TRUE(log->IsEnabled(LogComponent::kEvents, LogLevel::kWarning));
  EXPECT_FALSE(log->IsEnabled(LogComponent::kEvents, LogLevel::kInfo));
  EXPECT_FALSE(log->IsEnabled(LogComponent::kClient, LogLevel::kWarning));
  setenv("KGEN_LOG", "off", 1);  // read once
  EXPECT_TRUE(log->SetLevels("client=trace").has_value());
  EXPECT_TRUE(log->IsEnabled(LogComponent::kClient, LogLevel::kTrace));
  EXPECT_TRUE(log->IsEnabled(LogComponent::kClient, LogLevel::kError));
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(LogTest, RefusesMalformedLevelsAsAWholeAndSaysWhere) {
  const auto log = Make(LogFormat::kText);
  const auto error = [&](std::string_view levels) {
    const auto set = log->SetLevels(levels);
    EXPECT_TRUE(log->IsEnabled(LogComponent::kClient, LogLevel::kInfo)) << levels;
    return set ? "" : set.error().ToString();
  };
  EXPECT_EQ(error("off,client=inof"),
            "\"inof\" at character 12 is no level (off, error, warning, info, debug, trace) (InvalidArgument)");
  EXPECT_EQ(error("off, clients=info"),
            "\"clients\" at character 6 is no component (informer, handler, controller, election, events, endpoint, "
            "client, executor) (InvalidArgument)");
  EXPECT_THAT(error("off,"), StartsWith("\"\" at character 5 is no level"));
  EXPECT_THAT(error(""), StartsWith("\"\" at character 1 is no level"));
  EXPECT_THAT(error("client=debug=info"), StartsWith("\"debug=info\" at character 8 is no level"));
}

TEST_F(LogTest, WarnsOnceOfMalformedLevelsInTheOptionAndTheEnvironment) {
  setenv("KGEN_LOG", "WARN", 1);
  const auto log = Make(LogFormat::kText, "client=loud,off");
  const std::string begin = std::string(kTime) + " WARNING kgen: ";
  EXPECT_THAT(lines_,
              ElementsAre(StartsWith(begin + "LoggingOptions::levels is ignored: \"client=loud,off\": \"loud\" at "
                                             "character 8 is no level"),
                          StartsWith(begin + "KGEN_LOG is ignored: \"WARN\": \"WARN\" at character 1 is no ")));
  EXPECT_TRUE(log->IsEnabled(LogComponent::kClient, LogLevel::kInfo));
}

TEST_F(LogTest, LosesALineWhoseSinkThrowsAndNothingElse) {
  int calls = 0;
  const auto log = MakeLogObserver({.sink = FunctionSink([&](LogLevel, std::string_view) {
                                      ++calls;
                                      throw std::runtime_error("the disk is full");
                                    }),
                                    .levels = "nonsense"});
  log->OnRelisted({.informer = "pods", .resource_version = "7"});
  EXPECT_EQ(calls, 2);
}

TEST_F(LogTest, WritesToAFileAtOnceAndLeavesItOpen) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_NE(file, nullptr);
  MakeLogObserver({.sink = FileSink(file.get()), .clock = executor_->clock()})
      ->OnRelisted({.informer = "pods", .resource_version = "7"});
  char line[200] = "";
  EXPECT_GT(::pread(::fileno(file.get()), line, sizeof line - 1, 0), 0);
  EXPECT_THAT(line, AllOf(StartsWith(std::string(kTime) + " INFO kgen: pods: listed 0 objects"), EndsWith("\n")));
  EXPECT_EQ(std::fclose(file.release()), 0);
}

TEST_F(LogTest, HidesSecretsInTheFieldsOfAProgram) {
  const detail::Secret secret("a-token-of-some-length");
  const auto throttled = MakeShared<ThrottledObserver>(Make(LogFormat::kLogfmt), executor_);
  const LogField fields[] = {{"first", "Bearer a-token-of-some-length"}, {"second", secret.text()}, {"third", 3}};
  throttled->OnLogged({.source = "web", .key = "a", .message = "x", .fields = fields});
  throttled->Close();
  EXPECT_THAT(lines_, ElementsAre(EndsWith("first=\"Bearer (hidden)\" second=(hidden) third=3\n")));
}

TEST_F(LogTest, ObeysTheEnvironmentWithoutAnObserver) {
  setenv("KGEN_LOG", "informer=error", 1);
  ::testing::internal::CaptureStderr();
  const auto throttled = MakeShared<ThrottledObserver>(Shared<Observer>(), executor_);
  Fail(*throttled);
  throttled->OnEventDropped({.about = "pods a: Started", .why = "no connection"});
  throttled->Close();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            std::string(kTime) + " WARNING kgen: event of pods a: Started dropped: no connection\n");
}

TEST_F(LogTest, OtherObserversWantNoDebugMessagesUnlessTheySaySo) {
  const auto throttled = MakeShared<ThrottledObserver>(NullObserver(), executor_);
  EXPECT_TRUE(throttled->IsEnabled(LogComponent::kController, LogLevel::kInfo));
  EXPECT_FALSE(throttled->IsEnabled(LogComponent::kController, LogLevel::kDebug));
  const auto passes = MakeShared<ThrottledObserver>(Make(LogFormat::kText, "trace"), executor_);
  EXPECT_TRUE(passes->IsEnabled(LogComponent::kController, LogLevel::kTrace));
}

}  // namespace
}  // namespace kgen
