// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SentTokens: the tokens that a connection sends, so that no error or event shows one that comes back.
#ifndef KGEN_SRC_CLIENT_REQUEST_SENT_TOKENS_H_
#define KGEN_SRC_CLIENT_REQUEST_SENT_TOKENS_H_

#include <optional>
#include <string>

#include "core/memory/mutex.h"
#include "core/secrets.h"

namespace kgen::client {

// Keeps the last two: answers to requests with the old token may still come after a new one was read. Any thread.
class SentTokens {
 public:
  void Add(const std::string& token) {
    const MutexLock lock(mutex_);
    if (tokens_[newest_] && tokens_[newest_]->text() == token) return;
    newest_ = 1 - newest_;
    tokens_[newest_].emplace(token);
  }

 private:
  Mutex mutex_;
  std::optional<detail::Secret> tokens_[2] KGEN_GUARDED_BY(mutex_){};
  int newest_ KGEN_GUARDED_BY(mutex_) = 0;
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_SENT_TOKENS_H_
