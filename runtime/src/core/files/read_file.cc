// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/files/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/files/file_handle.h"

namespace kgen::detail {
namespace {

// Returns why this cannot be read as a file, or "" if it can. Reading a FIFO or a terminal might never end.
std::string_view Unfit(const struct stat& status) {
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
      return "";
    case S_IFDIR:
      return "is a folder, not a file";
    case S_IFIFO:
      return "is a FIFO, not a regular file; copy its content into a file";
    case S_IFSOCK:
      return "is a socket, not a regular file";
    default:
      return "is a device, not a regular file";
  }
}

}  // namespace

Result<std::string> ReadFile(std::string_view what, const std::string& path, std::size_t max_bytes) {
  const auto failed = [&](std::string_view why) {
    return Fail(Code::kConfig, std::string(what) + ' ' + path + ": " + std::string(why));
  };
  const auto system_failed = [&] { return failed(std::generic_category().message(errno)); };
  if (path.contains('\0')) return failed("the path contains a NUL, at which the system would cut it off");
  struct stat status{};
  // Checked before opening, because merely opening a FIFO or a device may have side effects, and once more afterwards,
  // because the path may have been replaced. Without O_NONBLOCK, open() itself could block.
  if (::stat(path.c_str(), &status) != 0) return system_failed();
  if (const std::string_view unfit = Unfit(status); !unfit.empty()) return failed(unfit);
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return system_failed();
  if (const std::string_view unfit = Unfit(status); !unfit.empty()) return failed(unfit);
  std::string text;
  char piece[16384];
  for (;;) {
    const ssize_t size = ::read(file.get(), piece, sizeof piece);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return system_failed();
    if (size == 0) return text;
    text.append(piece, static_cast<std::size_t>(size));
    if (text.size() > max_bytes) return failed("larger than " + std::to_string(max_bytes) + " bytes");
  }
}

}  // namespace kgen::detail
