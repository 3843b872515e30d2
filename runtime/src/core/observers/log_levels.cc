// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/observers/log_levels.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/quoted.h"

namespace kgen {
namespace {

constexpr std::string_view kLevelNames[] = {"off", "error", "warning", "info", "debug", "trace"};
constexpr std::string_view kComponentNames[] = {"informer", "handler",  "controller", "election",
                                                "events",   "endpoint", "client",     "executor"};

}  // namespace

std::string_view ToString(LogLevel level) noexcept { return kLevelNames[static_cast<std::size_t>(level)]; }
std::string_view ToString(LogComponent component) noexcept {
  return kComponentNames[static_cast<std::size_t>(component)];
}

namespace detail {
namespace {

std::string Joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

// A piece of the text, without the spaces around it.
struct Piece {
  std::string_view text{};
  std::size_t at = 0;  // where it begins
};

Piece Trimmed(Piece piece) {
  const std::size_t first = std::min(piece.text.find_first_not_of(" \t"), piece.text.size());
  piece = {piece.text.substr(first), piece.at + first};
  piece.text = piece.text.substr(0, piece.text.find_last_not_of(" \t") + 1);
  return piece;
}

// Returns the index of the name.
Result<std::size_t> Find(const Piece& piece, std::span<const std::string_view> names, std::string_view what) {
  const auto found = std::ranges::find(names, piece.text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  return Fail(Error(Code::kInvalidArgument, Quoted(piece.text) + " at character " + std::to_string(piece.at + 1) +
                                                " is no " + std::string(what) + " (" + Joined(names) + ")"));
}

}  // namespace

LogLevels::LogLevels() noexcept {
  for (auto& level : levels_) level.store(LogLevel::kInfo, std::memory_order_relaxed);
}

Result<void> LogLevels::Set(std::string_view levels) {
  std::array<std::optional<LogLevel>, kComponents> named{};
  std::optional<LogLevel> others;
  for (std::size_t at = 0; at <= levels.size();) {
    const std::size_t end = std::min(levels.find(',', at), levels.size());
    const Piece item{levels.substr(at, end - at), at};
    const std::size_t equals = item.text.find('=');
    const bool names = equals != std::string_view::npos;
    const Piece value = names ? Piece{item.text.substr(equals + 1), at + equals + 1} : item;
    auto* level = &others;
    if (names) {
      const auto component = Find(Trimmed({item.text.substr(0, equals), at}), kComponentNames, "component");
      if (!component) return Fail(component.error());
      level = &named[*component];
    }
    const auto found = Find(Trimmed(value), kLevelNames, "level");
    if (!found) return Fail(found.error());
    *level = static_cast<LogLevel>(*found);
    at = end + 1;
  }
  for (std::size_t i = 0; i < kComponents; ++i) {
    if (const auto level = named[i] ? named[i] : others) levels_[i].store(*level, std::memory_order_relaxed);
  }
  return {};
}

}  // namespace detail
}  // namespace kgen
