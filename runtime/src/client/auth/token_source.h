// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// TokenSource: the bearer token, which is fixed or comes from a file that may be replaced at any time.
#ifndef KGEN_SRC_CLIENT_AUTH_TOKEN_SOURCE_H_
#define KGEN_SRC_CLIENT_AUTH_TOKEN_SOURCE_H_

#include <optional>
#include <string>
#include <utility>

#include "core/memory/mutex.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::client {

// Thread safety: all members from any thread. Only Read() blocks (on the file).
class TokenSource {
 public:
  // A token from a file is good for a minute. It is read again ten seconds before that ends.
  static constexpr Nanos kFresh = std::chrono::seconds(50);

  TokenSource(std::string token, std::string file) : token_(std::move(token)), file_(std::move(file)) {}

  // Returns the token to send now, "" for none, or nothing if Read() must be called first.
  std::optional<std::string> Current(TimePoint now) const;
  // Reads the file. On failure the last token stays in use, and the next request tries again.
  // Errors: kConfig  unreadable or empty, and there is no token to fall back on
  Result<std::string> Read(TimePoint now);
  // Replaces a token that does not come from a file.
  void Replace(std::string token) {
    const MutexLock lock(mutex_);
    if (file_.empty()) token_ = std::move(token);
  }
  // The server responded with 401 to a request that began at `started`. If the token was read before that, the file is
  // read again before the next request.
  void Reject(TimePoint started);

 private:
  mutable Mutex mutex_;
  std::string token_ KGEN_GUARDED_BY(mutex_);
  const std::string file_;
  std::optional<TimePoint> read_at_ KGEN_GUARDED_BY(mutex_){};
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_AUTH_TOKEN_SOURCE_H_
