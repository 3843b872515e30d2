// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/metrics/metric_names.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/json/lexer.h"
#include "core/json/utf8.h"
#include "core/quoted.h"

namespace kgen::controller {
namespace {

using detail::IsDigit;
using detail::Quoted;

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool IsLabelName(std::string_view name) {
  return !name.empty() && IsLetter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return IsLetter(c) || IsDigit(c); });
}

bool IsMetricName(std::string_view name) {
  return !name.empty() && !IsDigit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return IsLetter(c) || IsDigit(c) || c == ':'; });
}

bool IsUtf8(std::string_view text) {
  const char* const end = text.data() + text.size();
  return detail::FindInvalidUtf8(text.data(), end) == end;
}

std::unexpected<Error> Refused(std::string_view family, std::string_view why) {
  return Fail(Code::kInvalidArgument, "metric " + std::string(family) + ": " + std::string(why));
}

}  // namespace

Result<void> CheckFamily(const MetricFamily& family) {
  if (!IsMetricName(family.name)) {
    return Refused(Quoted(family.name),
                   "the name must consist of letters, digits, '_' and ':', and not begin with a "
                   "digit");
  }
  if (!IsUtf8(family.help)) return Refused(family.name, "the help text is not UTF-8");
  const auto& bounds = family.bounds;
  if (family.type != MetricType::kHistogram && !bounds.empty()) {
    return Refused(family.name, "only a histogram has bounds");
  }
  if (!std::ranges::all_of(bounds, [](double bound) { return std::isfinite(bound); }) ||
      std::ranges::adjacent_find(bounds, std::ranges::greater_equal()) != bounds.end()) {
    return Refused(family.name, "the bounds of the histogram must be finite numbers in ascending order");
  }
  return {};
}

Result<void> SortLabels(const MetricFamily& family, std::vector<MetricLabel>& labels) {
  std::ranges::sort(labels);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const MetricLabel& label = labels[i];
    if (!IsLabelName(label.name) || label.name.starts_with("__")) {
      return Refused(family.name, "the label " + Quoted(label.name) +
                                      " must consist of letters, digits and '_', and begin with a letter or a single "
                                      "'_'");
    }
    if (label.name == "le" && family.type == MetricType::kHistogram) {
      return Refused(family.name, "the label \"le\" is that of the histogram's buckets");
    }
    if (i > 0 && labels[i - 1].name == label.name) {
      return Refused(family.name, "two labels have the name " + Quoted(label.name));
    }
    if (!IsUtf8(label.value)) return Refused(family.name, "the value of the label " + label.name + " is not UTF-8");
  }
  return {};
}

Result<void> CheckSame(const MetricFamily& a, const MetricFamily& b) {
  const std::string_view what = a.type != b.type       ? "types"
                                : a.help != b.help     ? "help texts"
                                : a.bounds != b.bounds ? "bounds"
                                                       : std::string_view();
  if (what.empty()) return {};
  return Refused(a.name, "it was added twice, with different " + std::string(what));
}

Result<void> CheckSameNames(std::string_view family, const std::vector<MetricLabel>& a,
                            const std::vector<MetricLabel>& b) {
  if (std::ranges::equal(a, b, {}, &MetricLabel::name, &MetricLabel::name)) return {};
  const auto names = [](const std::vector<MetricLabel>& labels) {
    std::string text;
    for (const MetricLabel& label : labels) text += (text.empty() ? "" : ", ") + label.name;
    return text.empty() ? "none" : text;
  };
  return Refused(family, "its series must have labels of the same names, but one has " + names(a) +
                             " and another has " + names(b));
}

Result<void> CheckDistinct(const MetricFamily& a, const MetricFamily& b) {
  const auto is_part = [](const MetricFamily& whole, std::string_view name) {
    if (whole.type != MetricType::kHistogram || !name.starts_with(whole.name)) return false;
    const std::string_view rest = name.substr(whole.name.size());
    return rest == "_bucket" || rest == "_sum" || rest == "_count";
  };
  if (is_part(a, b.name)) return Refused(b.name, "the histogram " + a.name + " has a part of that name");
  if (is_part(b, a.name)) return Refused(a.name, "the histogram " + b.name + " has a part of that name");
  return {};
}

}  // namespace kgen::controller
