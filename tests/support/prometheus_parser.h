// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A strict reader of Prometheus' text format, version 0.0.4. It accepts less than Prometheus does: each family has one
// HELP and one TYPE line, in this order, and its samples follow; no sample comes twice; histograms are complete and
// cumulative; there are no comments, time stamps and needless blanks.
//
//   const auto metrics = ParsePrometheus(text);
//   EXPECT_EQ(metrics.at("http_requests_total{code=\"200\"}"), 3);
#ifndef KGEN_TESTS_SUPPORT_PROMETHEUS_PARSER_H_
#define KGEN_TESTS_SUPPORT_PROMETHEUS_PARSER_H_

#include <map>
#include <string>
#include <string_view>

namespace kgen::test_support {

// The values by name and labels, with the labels as they are written. Throws std::runtime_error with the number of the
// line and the reason.
std::map<std::string, double> ParsePrometheus(std::string_view text);

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_SUPPORT_PROMETHEUS_PARSER_H_
