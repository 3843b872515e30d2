// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <kgen/testing/cluster.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "controller.h"
#include "json_tracer.h"

namespace {

using k8s::core::v1::ConfigMap;
using kgen::Must;
using nlohmann::json;
using std::chrono_literals::operator""ms;

// The controller in virtual time, and the lines that its tracer wrote.
class TracingTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  TracingTest() {
    Must(AddKeyCounter(manager_));
    Must(cluster_.Add(ConfigMap{.metadata = {.name = "settings", .namespace_ = "default"}, .data = {{"a", "1"}}}));
    running_ = cluster_.simulation().Spawn([this] { return manager_.Run(stop_.get_token()); });
    cluster_.RunUntilIdle();
  }
  ~TracingTest() override {
    stop_.request_stop();
    cluster_.RunUntilIdle();
  }

  // Passes on to the tracer under test, which needs the clock of the cluster.
  class Later final : public kgen::Tracer {
   public:
    kgen::Shared<kgen::Span> StartSpan(const kgen::SpanStart& start) override {
      return tracer ? tracer->StartSpan(start) : kgen::Shared<kgen::Span>();
    }
    kgen::Shared<kgen::Tracer> tracer{};
  };
  kgen::Connection Connect() {
    later_->tracer =
        kgen::MakeShared<JsonTracer>(cluster_.simulation().clock(), GetParam(),
                                     [this](std::string_view line) { lines_.push_back(json::parse(line)); });
    return cluster_.Connection();
  }
  std::vector<json> Find(std::string_view member, std::string_view value) const {
    std::vector<json> found;
    for (const json& line : lines_) {
      if (line.value(member, "") == value) found.push_back(line);
    }
    return found;
  }

  std::vector<json> lines_;
  const kgen::Shared<Later> later_ = kgen::MakeShared<Later>();
  kgen::testing::Cluster cluster_{
      {.seed = GetParam(), .latency = 5ms, .observer = kgen::NullObserver(), .tracer = later_}};
  const kgen::Manager manager_ = Must(kgen::Manager::New(Connect(), {.name = "tracing"}));
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};

TEST_P(TracingTest, AnUpdateIsWithinTheReconcileThatSentIt) {
  const std::vector<json> updates = Find("method", "PUT");
  ASSERT_EQ(updates.size(), 1u);
  const json& update = updates[0];
  EXPECT_EQ(update.at("kind"), "request");
  EXPECT_EQ(update.at("path"), "/api/v1/namespaces/default/configmaps/settings");
  EXPECT_EQ(update.at("status"), 200);
  EXPECT_EQ(update.at("attempts"), 1);
  const std::vector<json> parents = Find("span_id", update.at("parent_id").get<std::string>());
  ASSERT_EQ(parents.size(), 1u);
  EXPECT_EQ(parents[0].at("kind"), "reconcile");
  EXPECT_EQ(parents[0].at("name"), "keys");
  EXPECT_EQ(parents[0].at("key"), "default/settings");
  EXPECT_EQ(parents[0].at("trace_id"), update.at("trace_id"));
  EXPECT_GE(update.at("duration_us"), 5000);
  EXPECT_GE(parents[0].at("duration_us"), update.at("duration_us"));
}

TEST_P(TracingTest, IdsAreThoseOfW3cAndDiffer) {
  ASSERT_FALSE(lines_.empty());
  const auto is_id = [](const std::string& text, std::size_t digits) {
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos &&
           text.find_first_not_of('0') != std::string::npos;
  };
  std::set<std::string> ids;
  for (const json& line : lines_) {
    EXPECT_TRUE(is_id(line.at("trace_id"), 32)) << line;
    EXPECT_TRUE(is_id(line.at("span_id"), 16)) << line;
    EXPECT_TRUE(ids.insert(line.at("span_id")).second) << line;
  }
}

TEST_P(TracingTest, AFailureIsInTheLine) {
  cluster_.Inject({.verb = "update", .resource = "configmaps", .status = 409, .reason = "Conflict"});
  Must(cluster_.Update(ConfigMap{.metadata = {.name = "settings", .namespace_ = "default"}, .data = {}}));
  cluster_.RunUntilIdle();
  std::vector<json> failed;
  for (const json& line : Find("method", "PUT")) {
    if (line.contains("error")) failed.push_back(line);
  }
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].at("status"), 409);
  EXPECT_NE(failed[0].at("error").get<std::string>().find("Conflict"), std::string::npos);
}

TEST_P(TracingTest, ASpanWithinATraceThatIsNotSampledIsNotWritten) {
  kgen::TraceContext parent;
  parent.trace_id.front() = parent.span_id.front() = 1;
  const std::size_t before = lines_.size();
  for (const bool sampled : {true, false}) {
    parent.sampled = sampled;
    const kgen::Shared<kgen::Span> span = later_->StartSpan({.name = "own", .parent = parent});
    EXPECT_EQ(span->context().trace_id, parent.trace_id);
    EXPECT_EQ(span->context().sampled, sampled);
    span->End({});
    EXPECT_EQ(lines_.size(), before + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TracingTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
