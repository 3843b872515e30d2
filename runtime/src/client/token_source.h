// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The bearer token: fixed, or from a file that may be replaced at any time.
#ifndef KGEN_SRC_CLIENT_TOKEN_SOURCE_H_
#define KGEN_SRC_CLIENT_TOKEN_SOURCE_H_

#include <optional>
#include <string>

#include "core/mutex.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::client {

// The whole text of a regular file. Blocks. Errors: kConfig, with `what` and the path; for a FIFO, socket or device
// too, which could be read for ever.
Result<std::string> ReadFile(std::string_view what, const std::string& path, std::size_t max_bytes = 16u << 20);

// Thread safety: all members from any thread. Only Read() blocks (on the file).
class TokenSource {
 public:
  // A file's token is good for a minute and counts as stale ten seconds before.
  static constexpr Nanos kFresh = std::chrono::seconds(50);

  TokenSource(std::string token, std::string file) : token_(std::move(token)), file_(std::move(file)) {}

  // The token to send now, "" for none; nothing if Read() has to come first.
  std::optional<std::string> Current(TimePoint now) const;
  // Reads the file. On failure the last token stays in use, and the next request tries again.
  // Errors: kConfig  unreadable or empty, and there is no token to fall back on
  Result<std::string> Read(TimePoint now);
  // The server said 401 to a request that began at `started`: an older token is not used again.
  void Reject(TimePoint started);

 private:
  mutable Mutex mutex_;
  std::string token_ KGEN_GUARDED_BY(mutex_);
  const std::string file_;
  std::optional<TimePoint> read_at_ KGEN_GUARDED_BY(mutex_){};
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_TOKEN_SOURCE_H_
