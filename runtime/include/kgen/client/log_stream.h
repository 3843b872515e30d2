// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LogStream: the log of a container, line by line as it is written.
//
//   auto log = kgen::Must(kgen::StreamLogs(pods, "web-0", {.follow = true}));
//   while (auto line = log.Next(stop)) std::cout << *line << '\n';
//
// A log stream uses the transport as a watch does: it counts against the share of streams that watches may take, and it
// is not retried. It does not wait at the gate of the informers, and its failure does not park them.
#ifndef KGEN_CLIENT_LOG_STREAM_H_
#define KGEN_CLIENT_LOG_STREAM_H_

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>

#include "kgen/client/options.h"
#include "kgen/client/raw_resource.h"
#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

// An open log. Destroying it ends the stream.
//
// Thread safety: one thread at a time, whether it calls Next() or NextAsync(). Any thread may destroy it.
// Back-pressure: at most one flow-control window is read ahead of the caller; the server is held back beyond that.
// Deadline: LogOptions::timeout bounds the opening, until the response headers arrive. The stream itself has none.
class LogStream {
 public:
  // The longest line, without its line end. Longer ones end the stream with kDecode; Logs() has no such limit.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

  // Blocks until the server has answered. Errors: as ResourceClient.
  static Result<LogStream> Open(const RawResource& resource, std::string_view name, const LogOptions& options);
  // Opens the log without blocking: `done` runs exactly once, as posted work, and must not block.
  static void OpenAsync(const RawResource& resource, std::string_view name,
                        UniqueFunction<void(Result<LogStream>)> done, const LogOptions& options);
  LogStream(LogStream&&) noexcept = default;
  LogStream& operator=(LogStream&& other) noexcept;
  ~LogStream();  // ends the stream; never blocks. A NextAsync() that waits ends with kCancelled

  // Returns the next line as the container wrote it, without its '\n'. Blocks until there is one. The text that follows
  // the last '\n' is a line as well, even when the connection was lost.
  // Errors: kCancelled    `stop` (absent: the token of Connection::With()) was requested; call again
  //         kDecode       a line longer than kMaxLineBytes, or a response that is no text; the stream is over
  //         kStopped      the end of the log: of the lines so far or, with `follow`, of the container
  //         kUnavailable  the connection was lost, or the stream has ended with kDecode before
  // Once the stream has ended, every later call fails.
  [[nodiscard]] Result<std::string> Next(std::stop_token stop = {});
  // Reads a line without blocking: `done` runs exactly once, as posted work, and must not block. It may call
  // NextAsync(). An executor that shuts down destroys it without running it. kInvalidArgument if another call still
  // waits.
  void NextAsync(UniqueFunction<void(Result<std::string>)> done);

 private:
  class State;
  explicit LogStream(Shared<State> state) noexcept;
  Shared<State> state_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_LOG_STREAM_H_
