// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The alerts and the dashboard in docs/operate, read by Prometheus' own promtool. Which metrics a program serves is
// checked in tests/runtime/controller/monitoring_files_test.cc. Nothing here draws the dashboard: Grafana is in no
// registry that the project uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/json/quote.h"
#include "kgen/codec/yaml.h"
#include "tests/support/paths.h"

namespace kgen {
namespace {

using test_support::ReadFile;
using test_support::SourcePath;
using ::testing::HasSubstr;

constexpr std::string_view kAlerts = "docs/operate/alerts.yaml";
constexpr std::string_view kCases = "tests/integration/monitoring/alerts_test.yaml";

// What it prints, and the code it exits with.
std::pair<std::string, int> RunCommand(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {"popen failed", -1};
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  return {output, pclose(pipe)};
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

class PromtoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    promtool_ = SourcePath("build/tools/promtool");
    if (std::filesystem::exists(promtool_)) return;
    promtool_ = "promtool";
    if (RunCommand("command -v promtool").second != 0) GTEST_SKIP() << "no promtool: ./dev setup takes it from Debian";
  }
  std::pair<std::string, int> Promtool(const std::string& arguments) const {
    return RunCommand(promtool_ + " " + arguments);
  }
  // A file in the folder of the test, which is removed at its end.
  std::string Write(const std::string& name, std::string_view text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(folder_);
    std::ofstream(path) << text;
    return path.string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string promtool_;
  const std::filesystem::path folder_ = std::filesystem::absolute(
      std::string("promtool_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(PromtoolTest, AlertsAreRulesOfPrometheus) {
  const auto [output, failed] = Promtool("check rules --lint=all --lint-fatal " + SourcePath(kAlerts));
  EXPECT_EQ(failed, 0) << output;
  EXPECT_THAT(output, HasSubstr("16 rules found"));
}

TEST_F(PromtoolTest, AlertsFireWhenTheyShouldAndOnlyThen) {
  const auto [output, failed] = Promtool("test rules " + SourcePath(kCases));
  EXPECT_EQ(failed, 0) << output;
}

// Otherwise the test above would pass with an alert that never fires, or always.
TEST_F(PromtoolTest, EachAlertHasACaseInWhichItFiresAndOneInWhichItDoesNot) {
  const auto rules = yaml::Parse(ReadFile(SourcePath(kAlerts)));
  const auto cases = yaml::Parse(ReadFile(SourcePath(kCases)));
  ASSERT_TRUE(rules && cases);
  std::set<std::string> alerts, firing, silent;
  for (const yaml::Node& group : rules->documents().front().Find("groups")->items()) {
    for (const yaml::Node& rule : group.Find("rules")->items()) alerts.emplace(rule.Find("alert")->text());
  }
  for (const yaml::Node& each : cases->documents().front().Find("tests")->items()) {
    for (const yaml::Node& expected : each.Find("alert_rule_test")->items()) {
      const std::string name(expected.Find("alertname")->text());
      (expected.Find("exp_alerts")->items().empty() ? silent : firing).insert(name);
    }
  }
  EXPECT_EQ(firing, alerts);
  EXPECT_EQ(silent, alerts);
}

// A panel's query as the expression of a recording rule, which promtool parses. Grafana replaces the variables.
TEST_F(PromtoolTest, EachQueryOfTheDashboardIsAQueryOfPrometheus) {
  const auto stream = yaml::Parse(ReadFile(SourcePath("docs/operate/dashboard.json")));
  ASSERT_TRUE(stream);
  std::string rules;
  std::size_t count = 0;
  for (const yaml::Node& panel : stream->documents().front().Find("panels")->items()) {
    for (const yaml::Node& target : panel.Find("targets")->items()) {
      const std::string query = Replaced(std::string(target.Find("expr")->text()), "$__rate_interval", "5m");
      if (++count > 1) rules += ',';
      rules += "{\"record\":\"query:" + std::to_string(count) + "\",\"expr\":" + detail::QuoteJson(query) + "}";
    }
  }
  ASSERT_GT(count, 20U);
  const std::string text = R"({"groups":[{"name":"dashboard","rules":[)" + rules + "]}]}";
  const auto [output, failed] = Promtool("check rules " + Write("rules.yaml", text));
  EXPECT_EQ(failed, 0) << output;
  EXPECT_THAT(output, HasSubstr(std::to_string(count) + " rules found"));
}

// The tests above can fail.
TEST_F(PromtoolTest, FindsWhatIsWrong) {
  const std::string wrong = R"({"groups":[{"name":"a","rules":[{"record":"query:1","expr":"sum(rate(x[1m]"}]}]})";
  EXPECT_NE(Promtool("check rules " + Write("wrong.yaml", wrong)).second, 0);
  const std::string alerts = ReadFile(SourcePath(kAlerts));
  const std::string cases = Write("cases.yaml", Replaced(ReadFile(SourcePath(kCases)), "../../../docs/operate/", ""));
  Write("alerts.yaml", alerts);
  ASSERT_EQ(Promtool("test rules " + cases).second, 0);
  for (const auto& [from, to] : {std::pair("== 0", "!= 0"), {"for: 10m", "for: 15m"}, {"> 120", "> 119"}}) {
    Write("alerts.yaml", Replaced(alerts, from, to));
    EXPECT_NE(Promtool("test rules " + cases).second, 0) << from;
  }
}

}  // namespace
}  // namespace kgen
