// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LogLevels: the level of each component, as SetLevels() of a log sets them ("info,client=debug").
#ifndef KGEN_SRC_CORE_OBSERVERS_LOG_LEVELS_H_
#define KGEN_SRC_CORE_OBSERVERS_LOG_LEVELS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <string_view>

#include "kgen/core/log_record.h"
#include "kgen/core/result.h"

namespace kgen::detail {

// Thread safety: all members from any thread. Never blocks.
class LogLevels {
 public:
  LogLevels() noexcept;  // info

  // Errors: kInvalidArgument, with the position of what is wrong; then nothing has changed.
  Result<void> Set(std::string_view levels);
  bool IsEnabled(LogComponent component, LogLevel severity) const noexcept {
    return severity <= levels_[static_cast<std::size_t>(component)].load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t kComponents = static_cast<std::size_t>(LogComponent::kExecutor) + 1;
  std::array<std::atomic<LogLevel>, kComponents> levels_;
};

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_OBSERVERS_LOG_LEVELS_H_
