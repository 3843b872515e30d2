// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/review_deadline.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include "kgen/core/time.h"

namespace kgen::controller {
namespace {

constexpr Nanos kMost = std::chrono::seconds(30);
constexpr Nanos kLeastMargin = std::chrono::milliseconds(100);
constexpr Nanos kMostMargin = std::chrono::seconds(1);

std::optional<Nanos> TimeoutIn(std::string_view target) {
  const std::size_t begin = target.find('?');
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view query = target.substr(begin + 1);
  constexpr std::string_view kName = "timeout=";
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    if (pair.starts_with(kName)) {
      const auto parsed = Duration::Parse(pair.substr(kName.size()));
      if (!parsed || parsed->value() <= Nanos::zero()) return std::nullopt;
      return parsed->value();
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return std::nullopt;
}

}  // namespace

ReviewTime ReviewTimeOf(std::string_view target, Nanos otherwise) {
  const Nanos timeout = std::min(TimeoutIn(target).value_or(otherwise), kMost);
  const Nanos margin = std::clamp(timeout / 10, kLeastMargin, kMostMargin);
  return {.timeout = timeout, .limit = std::max(timeout - margin, timeout / 2)};
}

}  // namespace kgen::controller
