// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "controller/metrics/metric_names.h"
#include "kgen/controller/metrics.h"

namespace kgen {
namespace {

using controller::CheckDistinct;
using controller::CheckFamily;
using controller::CheckSame;
using controller::CheckSameNames;
using controller::SortLabels;

// Independent of the locale, and the shortest text of this number.
std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, value);
  return {text, written.ptr};
}

// Only label values are in quotes, in which '"' must be escaped too.
void AppendEscaped(std::string& to, std::string_view text, bool quoted) {
  for (const char c : text) {
    if (c == '\n') {
      to += "\\n";
      continue;
    }
    if (c == '\\' || (quoted && c == '"')) to += '\\';
    to += c;
  }
}

std::string_view Name(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
  }
  return "untyped";
}

// Appends one line: name, suffix, labels, and `le` as the last label if it is not empty.
void AppendSample(std::string& to, std::string_view name, std::string_view suffix, const MetricSample& sample,
                  std::string_view le, double value) {
  to.append(name).append(suffix);
  char before = '{';
  for (const MetricLabel& label : sample.labels) {
    to += std::exchange(before, ',');
    to.append(label.name).append("=\"");
    AppendEscaped(to, label.value, true);
    to += '"';
  }
  if (!le.empty()) {
    to += std::exchange(before, ',');
    to.append("le=\"").append(le).append("\"");
  }
  if (before == ',') to += '}';
  to.append(" ").append(Number(value)).append("\n");
}

void AppendHistogram(std::string& to, const MetricFamily& family, const MetricSample& sample) {
  std::uint64_t upto = 0;
  for (std::size_t i = 0; i < sample.buckets.size(); ++i) {
    upto += sample.buckets[i];
    const std::string bound = i < family.bounds.size() ? Number(family.bounds[i]) : "+Inf";
    AppendSample(to, family.name, "_bucket", sample, bound, static_cast<double>(upto));
  }
  AppendSample(to, family.name, "_sum", sample, {}, sample.value);
  AppendSample(to, family.name, "_count", sample, {}, static_cast<double>(upto));
}

void AppendFamily(std::string& to, const MetricFamily& family) {
  to.append("# HELP ").append(family.name).append(" ");
  AppendEscaped(to, family.help, false);
  to.append("\n# TYPE ").append(family.name).append(" ").append(Name(family.type)).append("\n");
  for (const MetricSample& sample : family.samples) {
    if (family.type == MetricType::kHistogram) {
      AppendHistogram(to, family, sample);
    } else {
      AppendSample(to, family.name, {}, sample, {}, sample.value);
    }
  }
}

using FamiliesByName = std::map<std::string, MetricFamily, std::less<>>;

// Adds a family, and the samples of later ones of the same name to the first.
Result<void> Merge(FamiliesByName& all, const MetricFamily& family) {
  if (auto valid = CheckFamily(family); !valid) return valid;
  auto [found, added] = all.try_emplace(family.name, family);
  MetricFamily& merged = found->second;
  if (!added) {
    if (auto same = CheckSame(merged, family); !same) return same;
    merged.samples.insert(merged.samples.end(), family.samples.begin(), family.samples.end());
  }
  return {};
}

Result<void> SortSamples(MetricFamily& family) {
  auto& samples = family.samples;
  for (MetricSample& sample : samples) {
    if (auto sorted = SortLabels(family, sample.labels); !sorted) return sorted;
    if (auto same = CheckSameNames(family.name, samples.front().labels, sample.labels); !same) return same;
    const std::size_t buckets = family.type == MetricType::kHistogram ? family.bounds.size() + 1 : 0;
    if (sample.buckets.size() != buckets) {
      return Fail(Code::kInvalidArgument, "metric " + family.name + ": a sample has " +
                                              std::to_string(sample.buckets.size()) + " buckets instead of " +
                                              std::to_string(buckets));
    }
  }
  std::ranges::sort(samples, {}, &MetricSample::labels);
  const auto twice = std::ranges::adjacent_find(samples, {}, &MetricSample::labels);
  if (twice == samples.end()) return {};
  std::string labels;
  for (const MetricLabel& label : twice->labels)
    labels += (labels.empty() ? "" : ", ") + label.name + "=" + label.value;
  return Fail(Code::kInvalidArgument, "metric " + family.name + ": two samples have the same labels (" + labels + ")");
}

}  // namespace

Result<std::string> PrometheusText(std::span<const MetricFamily> families) {
  FamiliesByName all;
  for (const MetricFamily& family : families) {
    if (auto merged = Merge(all, family); !merged) return Fail(merged.error());
  }
  std::string text;
  for (auto& [name, family] : all) {
    if (family.type == MetricType::kHistogram) {
      for (const auto& [other_name, other] : all) {
        if (auto distinct = CheckDistinct(family, other); !distinct) return Fail(distinct.error());
      }
    }
    if (auto sorted = SortSamples(family); !sorted) return Fail(sorted.error());
    if (!family.samples.empty()) AppendFamily(text, family);
  }
  return text;
}

}  // namespace kgen
