// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reads and writes whole files. Errors are values.
#ifndef KGEN_GENERATOR_DISK_H_
#define KGEN_GENERATOR_DISK_H_

#include <expected>
#include <string>
#include <string_view>

namespace kgen::generator {

// The bytes of the file, or why they cannot be read ("Is a directory").
std::expected<std::string, std::string> ReadFile(const std::string& path);

// Creates a file without following links; removes what an earlier run left under that name. Returns false, with the
// reason in `error`, on failure; part of the file may exist then.
bool WriteNewFile(const std::string& path, std::string_view text, std::string& error);

// What the name of a file ends in until the file is whole. A run that was killed leaves such a file.
inline constexpr std::string_view kTemporaryEnding = ".kgen-new";

// Lets one run at a time write to a folder; others wait. Does nothing on file systems without locks.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  const int file_;
};

}  // namespace kgen::generator

#endif  // KGEN_GENERATOR_DISK_H_
