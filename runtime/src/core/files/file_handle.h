// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// FileHandle: owns a file descriptor.
#ifndef KGEN_SRC_CORE_FILES_FILE_HANDLE_H_
#define KGEN_SRC_CORE_FILES_FILE_HANDLE_H_

#include <unistd.h>

#include <utility>

namespace kgen::detail {

// Closes the descriptor when it is destroyed. A negative number is none.
class FileHandle {
 public:
  FileHandle() noexcept = default;
  explicit FileHandle(int number) noexcept : number_(number) {}
  FileHandle(FileHandle&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileHandle() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const noexcept { return number_; }
  void Close() noexcept { const FileHandle closed = std::move(*this); }

 private:
  int number_ = -1;
};

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_FILES_FILE_HANDLE_H_
