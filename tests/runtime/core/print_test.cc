// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Values on a stream and in the messages of GoogleTest.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <string>

#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/scale.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/core/sample.h"

namespace kgen {
namespace {

using ::testing::PrintToString;
using namespace std::chrono_literals;
using PrintTest = sample::CoreTest;

template <typename T>
std::string Streamed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// Returns what both ways to print give, which must be equal.
template <typename T>
std::string Printed(const T& value) {
  EXPECT_EQ(PrintToString(value), Streamed(value));
  return Streamed(value);
}

sample::Sample SmallSample() {
  sample::Sample small;
  small.metadata = {.name = "web", .labels = {{"app", "web"}, {"on", "yes"}}};
  small.spec->args = {"-v", "two\nlines\n"};
  small.spec->replicas = 3;
  return small;
}

TEST_F(PrintTest, ShowsAnObjectAsYamlWithoutItsAbsentMembers) {
  EXPECT_EQ(Printed(SmallSample()), R"(apiVersion: test.kgen.dev/v1
kind: Sample
metadata:
  name: web
  labels:
    app: web
    "on": "yes"
spec:
  args:
  - -v
  - |
    two
    lines
  replicas: 3)");
}

TEST_F(PrintTest, ShowsPartsOfAnObject) {
  const sample::Sample small = SmallSample();
  EXPECT_EQ(Printed(small.metadata.labels), "app: web\n\"on\": \"yes\"");
  EXPECT_EQ(Printed(*small.metadata.labels.begin()), "app: web");
  EXPECT_EQ(Printed(small.spec->args), "- -v\n- |\n  two\n  lines");
  EXPECT_EQ(Printed(sample::Port{.name = "http", .containerPort = 80}), "name: http\ncontainerPort: 80");
  EXPECT_EQ(Printed(sample::Port()), "{}");
  EXPECT_EQ(Printed(meta::v1::ObjectMeta{.name = "a"}), "name: a");
  EXPECT_EQ(Printed(autoscaling::v1::ScaleSpec{.replicas = 2}), "replicas: 2");
  EXPECT_EQ(Printed(Unstructured{.metadata = {.name = "a"}, .apiVersion = "v1", .kind = "Pod"}),
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a");
}

TEST_F(PrintTest, ShowsAbsentAndEmptyApart) {
  EXPECT_EQ(Printed(Optional<std::int32_t>()), "absent");
  EXPECT_EQ(Printed(Optional<std::int32_t>(0)), "0");
  EXPECT_EQ(Printed(Optional<bool>()), "absent");
  EXPECT_EQ(Printed(Optional<bool>(false)), "false");
  EXPECT_EQ(Printed(Optional<bool>(true)), "true");
  EXPECT_EQ(Printed(Optional<double>(0.5)), "0.5");
  EXPECT_EQ(Printed(Optional<sample::Port>(kAbsent)), "absent");
  EXPECT_EQ(Printed(Optional<sample::Port>{}), "{}");
  EXPECT_EQ(Printed(Optional<sample::Port>(sample::Port{.name = "http"})), "name: http");
  EXPECT_EQ(Printed(List<String>()), "absent");
  EXPECT_EQ(Printed(List<String>().emplace()), "[]");
  EXPECT_EQ(Printed(Map<String>()), "absent");
  EXPECT_EQ(Printed(Map<String>().emplace()), "{}");
}

TEST_F(PrintTest, DoesNotPrintMembersThatWereOnlyRead) {
  sample::Sample looked;
  EXPECT_FALSE(looked.spec->tree->name.has_value());
  EXPECT_EQ(Printed(looked.spec), "absent");
  EXPECT_FALSE(looked.metadata.labels["x"].has_value());
  EXPECT_EQ(Printed(looked.metadata.labels), "absent");
}

TEST_F(PrintTest, ShowsScalarsAsTheyAreWritten) {
  EXPECT_EQ(Printed(Quantity("500m")), "500m");
  EXPECT_EQ(Printed(Quantity()), "absent");
  EXPECT_EQ(Printed(IntOrString(80)), "80");
  EXPECT_EQ(Printed(IntOrString("http")), "http");
  EXPECT_EQ(Printed(Bytes::Of("hunter2")), "aHVudGVyMg==");
  EXPECT_EQ(Printed(Json(R"({"a":1})")), R"({"a":1})");
  EXPECT_EQ(Printed(Json()), "absent");
  EXPECT_EQ(Printed(Time(std::chrono::sys_days(std::chrono::year(2026) / 11 / 21))), "2026-11-21T00:00:00Z");
  EXPECT_EQ(Printed(Time()), "absent");
  EXPECT_EQ(Printed(MicroTime()), "absent");
  EXPECT_EQ(Printed(Duration(90s)), "1m30s");
}

TEST_F(PrintTest, QuotesTextForGoogleTestOnly) {
  EXPECT_EQ(Streamed(String("a \"b\"")), "a \"b\"");
  EXPECT_EQ(PrintToString(String("a \"b\"\n\x01")), "\"a \\\"b\\\"\\n\\x01\"");
  EXPECT_EQ(PrintToString(String()), "absent");
  EXPECT_EQ(PrintToString(String("")), "\"\"");
}

TEST_F(PrintTest, ShowsReferencesAsTheirObjects) {
  const Ref<const sample::Port> port = MakeRef(sample::Port{.name = "http"});
  EXPECT_EQ(Printed(port), "name: http");
  EXPECT_EQ(Printed(port.any()), "name: http");
  EXPECT_EQ(Printed(Ref<const sample::Port>()), "null");
}

TEST_F(PrintTest, ShowsResultsAsTheirValuesOrErrors) {
  EXPECT_EQ(Printed(Code::kNotFound), "NotFound");
  const Error error = Error(Code::kUnavailable, "connection reset").With("get pods default/web-0");
  EXPECT_EQ(Printed(error), "get pods default/web-0: connection reset (Unavailable)");
  EXPECT_EQ(Printed(Result<int>(Fail(error))), "error: get pods default/web-0: connection reset (Unavailable)");
  EXPECT_EQ(Printed(Result<int>(5)), "5");
  EXPECT_EQ(Printed(Result<sample::Port>(sample::Port{.name = "http"})), "name: http");
  EXPECT_EQ(Printed(Result<void>()), "success");
  struct Opaque {};
  EXPECT_EQ(Printed(Result<Opaque>()), "a value");
}

}  // namespace
}  // namespace kgen
