// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/auth/token_source.h"

#include <utility>

#include "core/files/read_file.h"
#include "net/trim.h"

namespace kgen::client {

std::optional<std::string> TokenSource::Current(TimePoint now) const {
  const MutexLock lock(mutex_);
  if (file_.empty()) return token_;
  if (!read_at_ || now - *read_at_ >= kFresh) return std::nullopt;
  return token_;
}

Result<std::string> TokenSource::Read(TimePoint now) {
  Result<std::string> text = detail::ReadFile("token file", file_, 1u << 20);
  std::string token(text ? net::Trim(*text) : std::string_view());
  if (text && token.empty()) text = Fail(Code::kConfig, "token file " + file_ + " is empty");
  const MutexLock lock(mutex_);
  if (!text) {
    if (token_.empty()) return text;
    return token_;
  }
  token_ = std::move(token);
  read_at_ = now;
  return token_;
}

void TokenSource::Reject(TimePoint started) {
  const MutexLock lock(mutex_);
  if (read_at_ && *read_at_ <= started) read_at_.reset();
}

}  // namespace kgen::client
