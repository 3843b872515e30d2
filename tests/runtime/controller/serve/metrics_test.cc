// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kgen/controller/queue_metrics.h"
#include "tests/support/prometheus_parser.h"

namespace kgen {
namespace {

using test_support::ParsePrometheus;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string MessageOf(const auto& result) { return result ? "success" : result.error().message(); }

TEST(MetricsTest, WritesEverySeriesFromTheStart) {
  Metrics metrics;
  Must(metrics.AddCounter("b_total", "Bees", {{"result", "success"}}));
  Must(metrics.AddCounter("b_total", "Bees", {{"result", "error"}}));
  Must(metrics.AddGauge("a", "Ants"));
  const double bounds[] = {0.5, 1};
  Must(metrics.AddHistogram("c_seconds", "Cats", bounds, {{"x", "y"}}));
  EXPECT_EQ(Must(metrics.Text()),
            "# HELP a Ants\n# TYPE a gauge\na 0\n"
            "# HELP b_total Bees\n# TYPE b_total counter\nb_total{result=\"error\"} 0\nb_total{result=\"success\"} 0\n"
            "# HELP c_seconds Cats\n# TYPE c_seconds histogram\nc_seconds_bucket{x=\"y\",le=\"0.5\"} 0\n"
            "c_seconds_bucket{x=\"y\",le=\"1\"} 0\nc_seconds_bucket{x=\"y\",le=\"+Inf\"} 0\nc_seconds_sum{x=\"y\"} 0\n"
            "c_seconds_count{x=\"y\"} 0\n");
}

TEST(MetricsTest, CountsInEveryKindOfSeries) {
  Metrics metrics;
  auto counter = Must(metrics.AddCounter("c", ""));
  auto gauge = Must(metrics.AddGauge("g", ""));
  const double bounds[] = {0.5, 1};
  auto histogram = Must(metrics.AddHistogram("h", "", bounds));
  counter.Add();
  counter.Add(41);
  gauge.Set(3);
  gauge.Add(-4.5);
  histogram.Observe(0.5);  // belongs to the bucket of its bound
  histogram.Observe(std::chrono::milliseconds(750));
  histogram.Observe(7);
  const auto values = ParsePrometheus(Must(metrics.Text()));
  EXPECT_EQ(values.at("c"), 42);
  EXPECT_EQ(values.at("g"), -1.5);
  EXPECT_EQ(values.at("h_bucket{le=\"0.5\"}"), 1);
  EXPECT_EQ(values.at("h_bucket{le=\"1\"}"), 2);
  EXPECT_EQ(values.at("h_bucket{le=\"+Inf\"}"), 3);
  EXPECT_EQ(values.at("h_count"), 3);
  EXPECT_EQ(values.at("h_sum"), 8.25);
  EXPECT_EQ(values.size(), 7u);
}

TEST(MetricsTest, WritesNumbersThatAreNotFiniteAndKeepsAllDigitsOfOthers) {
  Metrics metrics;
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& [name, value] : {std::pair("a", inf), std::pair("b", -inf), std::pair("c", std::nan("")),
                                    std::pair("d", 123456789012345.0), std::pair("e", 0.1)}) {
    Must(metrics.AddGauge(name, "")).Set(value);
  }
  EXPECT_THAT(Must(metrics.Text()), HasSubstr("\na +Inf\n"));
  EXPECT_THAT(Must(metrics.Text()), HasSubstr("\nb -Inf\n"));
  EXPECT_THAT(Must(metrics.Text()), HasSubstr("\nc NaN\n"));
  EXPECT_THAT(Must(metrics.Text()), HasSubstr("\nd 123456789012345\n"));
  EXPECT_THAT(Must(metrics.Text()), HasSubstr("\ne 0.1\n"));
}

TEST(MetricsTest, PutsNotANumberIntoTheLastBucket) {
  Metrics metrics;
  const double bounds[] = {1};
  Must(metrics.AddHistogram("h", "", bounds)).Observe(std::nan(""));
  const auto values = ParsePrometheus(Must(metrics.Text()));
  EXPECT_EQ(values.at("h_bucket{le=\"1\"}"), 0);
  EXPECT_EQ(values.at("h_bucket{le=\"+Inf\"}"), 1);
}

TEST(MetricsTest, EscapesHelpTextsAndLabelValues) {
  Metrics metrics;
  Must(metrics.AddGauge("g", "a\\b\nc \"d\"", {{"l", "a\\b\nc \"d\" \xC3\xA4{},=#"}}));
  const std::string text = Must(metrics.Text());
  EXPECT_EQ(text, "# HELP g a\\\\b\\nc \"d\"\n# TYPE g gauge\ng{l=\"a\\\\b\\nc \\\"d\\\" \xC3\xA4{},=#\"} 0\n");
  EXPECT_EQ(ParsePrometheus(text).size(), 1u);
}

TEST(MetricsTest, ReturnsTheSameSeriesForTheSameLabelsInAnyOrder) {
  Metrics metrics;
  Must(metrics.AddCounter("c", "", {{"a", "1"}, {"b", "2"}})).Add();
  Metrics copy = metrics;
  Must(copy.AddCounter("c", "", {{"b", "2"}, {"a", "1"}})).Add();
  EXPECT_THAT(ParsePrometheus(Must(metrics.Text())), ::testing::ElementsAre(Pair("c{a=\"1\",b=\"2\"}", 2)));
}

TEST(MetricsTest, RefusesNamesThatPrometheusDoesNotAccept) {
  Metrics metrics;
  for (const char* name : {"", "1a", "a-b", "a b", "a\n", "\xC3\xA4"}) {
    EXPECT_THAT(MessageOf(metrics.AddCounter(name, "")), HasSubstr("the name must consist of letters")) << name;
  }
  for (const char* name : {"", "1a", "a-b", "a:b", "__a"}) {
    EXPECT_THAT(MessageOf(metrics.AddCounter("c", "", {{name, "v"}})), HasSubstr("must consist of letters")) << name;
  }
  EXPECT_THAT(MessageOf(metrics.AddCounter("c", "", {{"a", "1"}, {"a", "2"}})), HasSubstr("two labels have the name"));
  EXPECT_THAT(MessageOf(metrics.AddCounter("c", "", {{"a", "\xFF"}})), HasSubstr("label a is not UTF-8"));
  EXPECT_THAT(MessageOf(metrics.AddCounter("c", "\xFF")), HasSubstr("help text is not UTF-8"));
  EXPECT_THAT(MessageOf(metrics.AddHistogram("c", "", {}, {{"le", "1"}})), HasSubstr("\"le\""));
  EXPECT_EQ(Must(metrics.Text()), "");
  Must(metrics.AddCounter("aZ_:9", "", {{"_a9Z", ""}, {"le", ""}}));
  EXPECT_EQ(ParsePrometheus(Must(metrics.Text())).size(), 1u);
}

TEST(MetricsTest, RefusesBoundsThatDoNotAscend) {
  Metrics metrics;
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& bounds : {std::vector<double>{1, 1}, {2, 1}, {std::nan("")}, {1, inf}, {-inf, 1}}) {
    EXPECT_THAT(MessageOf(metrics.AddHistogram("h", "", bounds)), HasSubstr("ascending order"));
  }
  Must(metrics.AddHistogram("h", "", {}));
  EXPECT_EQ(ParsePrometheus(Must(metrics.Text())).size(), 3u);
}

TEST(MetricsTest, RefusesAFamilyThatContradictsAnother) {
  Metrics metrics;
  const double bounds[] = {1};
  Must(metrics.AddCounter("c", "help", {{"a", "1"}}));
  Must(metrics.AddHistogram("h", "", bounds));
  Must(metrics.AddGauge("g_sum", ""));
  EXPECT_THAT(MessageOf(metrics.AddGauge("c", "help", {{"a", "1"}})),
              HasSubstr("metric c: it was added twice, with different types"));
  EXPECT_THAT(MessageOf(metrics.AddCounter("c", "other", {{"a", "1"}})), HasSubstr("different help texts"));
  EXPECT_THAT(MessageOf(metrics.AddCounter("c", "help", {{"b", "1"}})), HasSubstr("one has a and another has b"));
  EXPECT_THAT(MessageOf(metrics.AddCounter("c", "help")), HasSubstr("one has a and another has none"));
  EXPECT_THAT(MessageOf(metrics.AddHistogram("h", "", {})), HasSubstr("different bounds"));
  for (const char* name : {"h_bucket", "h_sum", "h_count"}) {
    EXPECT_THAT(MessageOf(metrics.AddGauge(name, "")), HasSubstr("the histogram h has a part of that name"));
  }
  EXPECT_THAT(MessageOf(metrics.AddHistogram("g", "", bounds)), HasSubstr("the histogram g has a part of that name"));
  Must(metrics.AddGauge("h_counts", ""));
}

// Contract: controller 209.
TEST(MetricsTest, MergesTheFamiliesOfSeveralQueues) {
  Metrics metrics;
  for (const char* name : {"orders", "carts"}) {
    metrics.AddCollector([name] { return FamiliesOf(WorkQueueMetrics{.name = name, .depth = {{0, 2}}, .adds = 3}); });
  }
  const auto values = ParsePrometheus(Must(metrics.Text()));
  for (const char* name : {"orders", "carts"}) {
    const std::string labels = "{controller=\"" + std::string(name) + "\",name=\"" + name + "\"";
    EXPECT_EQ(values.at("workqueue_depth" + labels + ",priority=\"0\"}"), 2);
    EXPECT_EQ(values.at("workqueue_adds_total" + labels + "}"), 3);
    EXPECT_THAT(values, Contains(Pair("workqueue_queue_duration_seconds_bucket" + labels + ",le=\"1e-05\"}", 0)));
  }
}

TEST(MetricsTest, FailsInsteadOfWritingATextThatPrometheusRejects) {
  Metrics metrics;
  Must(metrics.AddGauge("g", "", {{"a", "1"}}));
  std::vector<MetricFamily> families;
  metrics.AddCollector([&families] { return families; });
  families = {{.name = "g", .samples = {{.labels = {{"a", "1"}}}}}};
  EXPECT_THAT(MessageOf(metrics.Text()), HasSubstr("metric g: two samples have the same labels (a=1)"));
  families = {{.name = "g", .samples = {{.labels = {{"b", "1"}}}}}};
  EXPECT_THAT(MessageOf(metrics.Text()), HasSubstr("labels of the same names"));
  families = {{.name = "g", .type = MetricType::kCounter}};
  EXPECT_THAT(MessageOf(metrics.Text()), HasSubstr("different types"));
  families = {{.name = "-"}};
  EXPECT_THAT(MessageOf(metrics.Text()), HasSubstr("the name must consist of"));
  families = {{.name = "k", .bounds = {1}}};
  EXPECT_THAT(MessageOf(metrics.Text()), HasSubstr("only a histogram has bounds"));
  families = {{.name = "k", .type = MetricType::kHistogram, .bounds = {1}, .samples = {{.buckets = {1}}}}};
  EXPECT_THAT(MessageOf(metrics.Text()), HasSubstr("1 buckets instead of 2"));
  families = {{.name = "k", .type = MetricType::kHistogram}, {.name = "k_sum"}};
  EXPECT_THAT(MessageOf(metrics.Text()), HasSubstr("the histogram k has a part of that name"));
  families = {{.name = "g", .samples = {{.labels = {{"a", "2"}}, .value = 5}}}, {.name = "without_samples"}};
  EXPECT_EQ(Must(metrics.Text()), "# HELP g \n# TYPE g gauge\ng{a=\"1\"} 0\ng{a=\"2\"} 5\n");
}

TEST(MetricsTest, ReportsACollectorThatThrows) {
  Metrics metrics;
  metrics.AddCollector([]() -> std::vector<MetricFamily> { throw std::runtime_error("no queue"); });
  const auto text = metrics.Text();
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), Code::kUserCode);
  EXPECT_THAT(text.error().message(), HasSubstr("no queue"));
}

TEST(MetricsTest, ASeriesOutlivesItsRegistryAndADefaultOneCountsNothing) {
  Metrics::Counter counter;
  Metrics::Gauge gauge;
  Metrics::Histogram histogram;
  counter.Add();
  gauge.Set(1);
  gauge.Add(1);
  histogram.Observe(1);
  counter = Must(Metrics().AddCounter("c", ""));
  counter.Add();
}

TEST(MetricsTest, CountsFromManyThreads) {
  Metrics metrics;
  const double bounds[] = {1};
  constexpr int kThreads = 4, kTimes = 5000;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([metrics, &bounds]() mutable {
      auto counter = Must(metrics.AddCounter("c", ""));
      auto gauge = Must(metrics.AddGauge("g", ""));
      auto histogram = Must(metrics.AddHistogram("h", "", bounds));
      for (int j = 0; j < kTimes; ++j) {
        counter.Add();
        gauge.Add(1);
        histogram.Observe(j % 3);
        if (j % 1000 == 0) ParsePrometheus(Must(metrics.Text()));
      }
    });
  }
  threads.clear();
  const auto values = ParsePrometheus(Must(metrics.Text()));
  EXPECT_EQ(values.at("c"), kThreads * kTimes);
  EXPECT_EQ(values.at("g"), kThreads * kTimes);
  EXPECT_EQ(values.at("h_count"), kThreads * kTimes);
}

// Contract: controller 208.
TEST(MetricsTest, HasTheBoundsOfControllerRuntime) {
  Metrics metrics;
  Must(metrics.AddHistogram("controller_runtime_reconcile_time_seconds", "", ReconcileTimeBounds()));
  const auto values = ParsePrometheus(Must(metrics.Text()));
  EXPECT_EQ(ReconcileTimeBounds().size(), 40u);
  EXPECT_THAT(values, Contains(Pair("controller_runtime_reconcile_time_seconds_bucket{le=\"0.005\"}", 0)));
  EXPECT_THAT(values, Contains(Pair("controller_runtime_reconcile_time_seconds_bucket{le=\"60\"}", 0)));
}

TEST(MetricsTest, TellsOfTheProcessOnce) {
  Metrics metrics;
  metrics.AddProcess();
  metrics.AddProcess();
  const std::string text = Must(metrics.Text());
  const auto values = ParsePrometheus(text);
  for (const char* name : {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes",
                           "process_threads", "process_open_fds", "process_max_fds", "process_start_time_seconds"}) {
    EXPECT_THAT(values, Contains(Pair(name, ::testing::Gt(0)))) << name;
  }
  EXPECT_THAT(values, Contains(Pair("process_start_time_seconds", ::testing::Gt(1.7e9))));
  EXPECT_THAT(text, HasSubstr("kgen_build_info{compiler=\""));
  EXPECT_THAT(text, HasSubstr(",version=\"0."));
}

// The reader of the tests above rejects what it should.
TEST(PrometheusParserTest, RejectsBadTexts) {
  const std::string head = "# HELP a x\n# TYPE a gauge\n";
  const std::string histogram = "# HELP a x\n# TYPE a histogram\n";
  for (const std::string& text :
       {std::string("a 1\n"), head + "a 1", head + "a 1\na 1\n", head + "a 1\n" + head, head + "b 1\n", head + "a  1\n",
        head + "a{b=\"c\",} 1\n", head + "a{b=\"\\x\"} 1\n", head + "a{b=\"c\" 1\n", head + "a 1x\n", head + "a nan\n",
        std::string("# TYPE a gauge\n"), std::string("# HELP a x\n"), histogram + "a_bucket{le=\"1\"} 0\n",
        histogram + "a_bucket{le=\"+Inf\"} 1\na_sum 0\na_count 2\n", histogram + "a_bucket{le=\"+Inf\"} 1\na_sum 0\n",
        histogram + "a_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 0\na_count 1\n"}) {
    EXPECT_THROW(ParsePrometheus(text), std::runtime_error) << text;
  }
  EXPECT_EQ(ParsePrometheus(histogram + "a_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\na_sum 0\na_count 1\n").size(),
            4u);
}

}  // namespace
}  // namespace kgen
