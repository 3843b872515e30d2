// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The dashboard, the alerts and the list of metrics in docs/operate name the metrics that a program really serves.
#include <algorithm>
#include <cctype>
#include <map>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/codec/yaml.h"
#include "kgen/controller/caches.h"
#include "tests/runtime/controller/clusters/clusters_fixture.h"
#include "tests/support/paths.h"
#include "tests/support/prometheus_parser.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::IsSupersetOf;

// A query of Prometheus, as far as a test needs it: brackets match, and each name is a metric, a function, a keyword,
// or a label in the parentheses of `by`.
class Query {
 public:
  explicit Query(std::string_view text) : rest_(text) {
    std::string brackets;
    bool labels = false;
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      const char c = rest_.front();
      if (c == '(' || c == '[' || c == '{') brackets += c;
      if (c == ')' || c == ']' || c == '}') {
        EXPECT_FALSE(brackets.empty()) << text;
        EXPECT_EQ(std::string_view("([{")[std::string_view(")]}").find(c)], brackets.empty() ? ' ' : brackets.back())
            << text;
        if (!brackets.empty()) brackets.pop_back();
        labels = false;
      }
      if (c == '"') rest_.remove_prefix(std::min(rest_.find('"', 1), rest_.size() - 1));
      if (!IsLetter(c)) continue;
      const std::string_view name = Name();
      const bool inside = !brackets.empty() && brackets.back() != '(';
      if (name == "by") {
        labels = true;
      } else if (labels) {
        labels_.emplace(name);
      } else if (!inside && name != "and" && name != "bool" && !rest_.substr(name.size()).starts_with("(") &&
                 name != "sum" && name != "max") {
        metrics_.emplace(name);
      }
      rest_.remove_prefix(name.size() - 1);
    }
    EXPECT_EQ(brackets, "") << text;
    EXPECT_FALSE(metrics_.empty()) << text;
  }
  const std::set<std::string>& metrics() const { return metrics_; }
  const std::set<std::string>& labels() const { return labels_; }

 private:
  static bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  std::string_view Name() const {
    const auto end = std::ranges::find_if(
        rest_, [](char c) { return !IsLetter(c) && std::isdigit(static_cast<unsigned char>(c)) == 0; });
    return rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
  }

  std::string_view rest_;
  std::set<std::string> metrics_, labels_;
};

yaml::Stream Parse(const std::string& path) {
  auto stream = yaml::Parse(test_support::ReadFile(test_support::SourcePath(path)));
  if (!stream) throw std::runtime_error(path + ": " + stream.error().message);
  return *std::move(stream);
}

std::string_view TextOf(const yaml::Node& node, std::string_view key) {
  const yaml::Node* found = node.Find(key);
  EXPECT_TRUE(found != nullptr && found->is_string() && !found->text().empty()) << key;
  return found != nullptr ? found->text() : std::string_view();
}

class MonitoringFilesTest : public ClustersTest {
 protected:
  // Names without the suffixes of histograms, and the labels of each: of a manager with a leader, an informer that has
  // failed, a call, and another cluster; and of one with shards.
  void SetUp() override {
    cluster_.Inject({.resource = "configmaps", .times = 1, .status = 503});
    AddMap("a");
    const Manager manager = New({.leader_election = {.name = "shop", .namespace_ = "default", .identity = "me"}});
    Must(manager.Control<ConfigMap>("maps").Reconcile([](Request&) -> Result<void> { return {}; }));
    Server("eu-1");
    const Clusters clusters = Make(manager, Options());
    Must(clusters.Add("eu-1", ConfigOf("eu-1")));
    const Manager sharded = New({.name = "sharded", .shards = {.name = "orders", .namespace_ = "default"}});
    Must(sharded.Control<ConfigMap>("orders").Reconcile([](Request&) -> Result<void> { return {}; }));
    const Ran ran = Spawn(manager), other = Spawn(sharded);
    cluster_.Advance(1min);
    Note(Must(manager.metrics().Text()));
    Note(Must(sharded.metrics().Text()));
    cluster_.Inject({.resource = "leases", .times = testing::kAlways, .status = 403});
    cluster_.Advance(5s);  // less than the deadline of a renewal
    Note(Must(manager.metrics().Text()));
    cluster_.ClearFaults();
    stop_.request_stop();
    cluster_.Advance(1min);
  }
  void Note(const std::string& text) {
    for (const auto& [series, value] : test_support::ParsePrometheus(text)) {
      std::set<std::string>& labels = served_[series.substr(0, series.find('{'))];
      for (std::size_t at = series.find('{'); at != std::string::npos; at = series.find("\",", at + 1)) {
        const std::size_t begin = at + (series[at] == '{' ? 1 : 2);
        labels.insert(series.substr(begin, series.find('=', begin) - begin));
      }
      labels.insert({"instance", "job"});  // Prometheus adds these
    }
  }
  void Check(const yaml::Node& holder) {
    const Query query(TextOf(holder, "expr"));
    for (const std::string& metric : query.metrics()) {
      ASSERT_TRUE(served_.contains(metric)) << "no program serves " << metric;
      EXPECT_THAT(served_[metric], IsSupersetOf(query.labels())) << metric;
    }
  }
  std::map<std::string, std::set<std::string>> served_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, MonitoringFilesTest, ::testing::Values(std::uint64_t{1}));

TEST_P(MonitoringFilesTest, EachAlertIsCompleteAndNamesWhatAProgramServes) {
  const yaml::Stream stream = Parse("docs/operate/alerts.yaml");
  std::set<std::string_view> names;
  for (const yaml::Node& group : stream.documents().front().Find("groups")->items()) {
    EXPECT_NE(TextOf(group, "name"), "");
    for (const yaml::Node& rule : group.Find("rules")->items()) {
      EXPECT_TRUE(names.insert(TextOf(rule, "alert")).second);
      SCOPED_TRACE(TextOf(rule, "alert"));
      Check(rule);
      for (const yaml::Entry& entry : rule.entries()) {
        EXPECT_THAT((std::vector<std::string_view>{"alert", "expr", "for", "labels", "annotations"}),
                    Contains(entry.key));
      }
      EXPECT_THAT((std::vector<std::string_view>{"critical", "warning"}),
                  Contains(TextOf(*rule.Find("labels"), "severity")));
      EXPECT_NE(TextOf(*rule.Find("annotations"), "summary"), "");
      EXPECT_NE(TextOf(*rule.Find("annotations"), "description"), "");
    }
  }
  EXPECT_EQ(names.size(), 16u);
}

TEST_P(MonitoringFilesTest, EachPanelOfTheDashboardShowsWhatAProgramServes) {
  const yaml::Stream stream = Parse("docs/operate/dashboard.json");
  const yaml::Node& dashboard = stream.documents().front();
  ASSERT_TRUE(stream.json());
  std::set<std::int64_t> ids;
  for (const yaml::Node& panel : dashboard.Find("panels")->items()) {
    SCOPED_TRACE(TextOf(panel, "title"));
    EXPECT_TRUE(ids.insert(panel.Find("id")->AsInt64().value()).second);
    EXPECT_EQ(TextOf(*panel.Find("datasource"), "uid"), "${datasource}");
    ASSERT_FALSE(panel.Find("targets")->items().empty());
    for (const yaml::Node& target : panel.Find("targets")->items()) {
      Check(target);
      EXPECT_NE(TextOf(target, "legendFormat"), "");
    }
  }
  EXPECT_EQ(ids.size(), 20u);
  EXPECT_EQ(TextOf(dashboard.Find("templating")->Find("list")->items()[0], "name"), "datasource");
}

TEST_P(MonitoringFilesTest, TheDocumentNamesEveryMetricThatAProgramServes) {
  const std::string text = test_support::ReadFile(test_support::SourcePath("docs/reference/metrics.md"));
  for (std::string_view name : std::views::keys(served_)) {
    for (const std::string_view part : {"_bucket", "_sum", "_count"}) {
      if (name.ends_with(part)) name.remove_suffix(part.size());
    }
    if (name.starts_with("process_")) continue;
    EXPECT_NE(text.find("`" + std::string(name) + "`"), std::string::npos) << name;
  }
}

TEST_P(MonitoringFilesTest, ReadsQueries) {
  const Query query("sum by (a, b) (rate(x_total{c=\"y\"}[5m])) / 2 > 1 and deriv(z[1m]) > 0");
  EXPECT_EQ(query.metrics(), (std::set<std::string>{"x_total", "z"}));
  EXPECT_EQ(query.labels(), (std::set<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace kgen
