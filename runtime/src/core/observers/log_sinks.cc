// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>

#include "kgen/core/log.h"

namespace kgen {
namespace {

// Has no mutable state, so it is safe to use from any thread. A line is written with one call, so that lines are not
// mixed.
class Stderr final : public LogSink {
 public:
  void Write(LogLevel, std::string_view line) override {
    while (!line.empty()) {
      const auto written = write(STDERR_FILENO, line.data(), line.size());
      if (written < 0 && errno != EINTR) return;  // nowhere to report it
      if (written > 0) line.remove_prefix(static_cast<std::size_t>(written));
    }
  }
};

class File final : public LogSink {
 public:
  explicit File(std::FILE* file) noexcept : file_(file) {}
  void Write(LogLevel, std::string_view line) override {
    std::fwrite(line.data(), 1, line.size(), file_);  // holds the lock of the file, so that lines are not mixed
    std::fflush(file_);
  }

 private:
  std::FILE* const file_;
};

class FunctionOfLines final : public LogSink {
 public:
  explicit FunctionOfLines(std::function<void(LogLevel, std::string_view)> write) : write_(std::move(write)) {}
  void Write(LogLevel severity, std::string_view line) override { write_(severity, line); }

 private:
  const std::function<void(LogLevel, std::string_view)> write_;
};

}  // namespace

Shared<LogSink> StderrSink() { return MakeShared<Stderr>(); }
Shared<LogSink> FileSink(std::FILE* file) { return MakeShared<File>(file); }
Shared<LogSink> FunctionSink(std::function<void(LogLevel severity, std::string_view line)> write) {
  return MakeShared<FunctionOfLines>(std::move(write));
}

}  // namespace kgen
