// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace kgen::generator {
namespace {

std::string Reason(int error) { return std::strerror(error); }

}  // namespace

std::expected<std::string, std::string> ReadFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::unexpected(Reason(errno));
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t n = ::read(file, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    const int error = errno;
    if (n <= 0) ::close(file);
    if (n < 0) return std::unexpected(Reason(error));
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

bool WriteNewFile(const std::string& path, std::string_view text, std::string& error) {
  ::unlink(path.c_str());
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  int reason = file < 0 ? errno : 0;
  while (reason == 0 && !text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) reason = n < 0 ? errno : EIO;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (file >= 0 && ::close(file) != 0 && reason == 0) reason = errno;
  if (reason != 0) error = "cannot write " + path + ": " + Reason(reason);
  return reason == 0;
}

FolderLock::FolderLock(const std::string& folder) : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FolderLock::~FolderLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace kgen::generator
