// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/token_source.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "client/text.h"

namespace kgen::client {

Result<std::string> ReadFile(std::string_view what, const std::string& path, std::size_t max_bytes) {
  const auto failed = [&](std::string_view why) {
    return Fail(Code::kConfig, std::string(what) + ' ' + path + ": " + std::string(why));
  };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return failed(std::generic_category().message(errno == 0 ? EIO : errno));
  std::string text;
  char piece[16384];
  // A folder opens, and fails only when it is read.
  while (file.read(piece, sizeof piece), file.gcount() > 0) {
    text.append(piece, static_cast<std::size_t>(file.gcount()));
    if (text.size() > max_bytes) return failed("larger than " + std::to_string(max_bytes) + " bytes");
  }
  if (file.bad() || !file.eof()) return failed("cannot be read");
  return text;
}

std::optional<std::string> TokenSource::Current(TimePoint now) const {
  const std::scoped_lock lock(mutex_);
  if (file_.empty()) return token_;
  if (!read_at_ || now - *read_at_ >= kFresh) return std::nullopt;
  return token_;
}

Result<std::string> TokenSource::Read(TimePoint now) {
  Result<std::string> text = ReadFile("token file", file_, 1u << 20);
  std::string token(text ? Trim(*text) : std::string_view());
  if (text && token.empty()) text = Fail(Code::kConfig, "token file " + file_ + " is empty");
  const std::scoped_lock lock(mutex_);
  if (!text) {
    if (token_.empty()) return text;
    return token_;
  }
  token_ = std::move(token);
  read_at_ = now;
  return token_;
}

void TokenSource::Reject(TimePoint started) {
  const std::scoped_lock lock(mutex_);
  if (read_at_ && *read_at_ <= started) read_at_.reset();
}

}  // namespace kgen::client
