// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LogObserver: writes everything that a connection and its informers, controllers and elections report as a log.
//
//   const kgen::Shared<kgen::LogObserver> log = kgen::MakeLogObserver({.format = kgen::LogFormat::kJson});
//   config.observer = log;
//   ...
//   KGEN_TRY(log->SetLevels("warning,controller=debug"));  // later, from any thread
//
// A record is one line, in one of three formats:
//
//   kText    2026-11-23T07:35:34.123Z WARNING kgen: pods: list failed: ...; next attempt in 1.2 s
//   kLogfmt  time=2026-11-23T07:35:34.123Z level=warning component=informer message="list failed" informer=pods ...
//   kJson    {"time":"2026-11-23T07:35:34.123Z","level":"warning","component":"informer","message":"list failed", ...}
//
// docs/logging.md lists the messages and fields. A key of the program's own fields that the record already has gets an
// underscore: "time_". A line has at most kLogLineBytes: the value that does not fit is cut and ends with "...", and
// fields after it are left out. Text of servers and programs is escaped, so that a record stays one line.
//
// Levels: each component writes what is at most as verbose as its level. All begin at LogLevel::kInfo.
// LoggingOptions::levels changes that, then the environment variable KGEN_LOG, then SetLevels(). A connection without
// an observer obeys KGEN_LOG, too: it has a log with the default options, behind a limit on repetitions
// (kgen/core/observer.h). All three have this form:
//
//   info                        all components
//   warning,controller=debug    controller at debug, all others at warning
//   informer=off                leaves the others as they are
//
// A value of another form is ignored as a whole: SetLevels() returns an error; for the option and the variable, the
// log's first line is a warning with the position of what is wrong.
#ifndef KGEN_CORE_LOG_H_
#define KGEN_CORE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "kgen/core/clock.h"
#include "kgen/core/log_record.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

inline constexpr std::size_t kLogLineBytes = 16 * 1024;  // of a line with its line feed

// Where lines go. Thread safety: Write() is called by several threads at once, on the thread of the event, and must not
// block for long: an informer or the I/O thread may wait for it. An exception is ignored, and the line is lost.
class LogSink : public SharedObject {
 public:
  // Takes one line, which ends with a line feed and is valid only during the call.
  virtual void Write(LogLevel severity, std::string_view line) = 0;
};

// Returns a sink that writes each line to standard error with one call of write(), so that lines are not mixed.
Shared<LogSink> StderrSink();
// Returns a sink that writes to `file` and flushes after each line. The file stays the caller's and must stay open for
// as long as anything uses the sink. What cannot be written is lost.
Shared<LogSink> FileSink(std::FILE* file);
// Returns a sink that calls `write`, which follows the rules of LogSink::Write().
Shared<LogSink> FunctionSink(std::function<void(LogLevel severity, std::string_view line)> write);

// The form of a line, as above.
enum class LogFormat : std::uint8_t { kText, kLogfmt, kJson };

// Options of a log.
struct LoggingOptions {
  LogFormat format = LogFormat::kText;  // of each line
  Shared<LogSink> sink{};               // null: StderrSink()
  std::string levels{};                 // as above; "": info
  Shared<Clock> clock{};                // of the time stamps; null: SystemClock()
};

// Thread safety: all members from any thread. Nothing blocks but the sink.
// Lifetime: a connection shares it. Keep a reference of your own to change the levels.
class LogObserver : public Observer {
 public:
  // Changes the levels of the components that `levels` names, or of all. What other threads report meanwhile may still
  // have the earlier level.
  // Errors: kInvalidArgument: `levels` has another form than the one above; nothing has changed
  virtual Result<void> SetLevels(std::string_view levels) = 0;
  // Returns whether a record of that component and severity would be written.
  bool IsEnabled(LogComponent component, LogLevel severity) const noexcept override = 0;
};

// Returns a new log. Reads KGEN_LOG now, once.
Shared<LogObserver> MakeLogObserver(LoggingOptions options = {});

}  // namespace kgen

#endif  // KGEN_CORE_LOG_H_
