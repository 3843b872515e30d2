// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <system_error>

#include "generator/commands/command.h"
#include "generator/disk.h"

namespace kgen::generator::commands {

namespace {

std::string TemporaryOf(const std::string& path) { return path + std::string(kTemporaryEnding); }

}  // namespace

bool WriteWhenChanged(const std::string& path, std::string_view text, std::string& error) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, code);
  if (code) {
    error = "cannot create the folder " + parent.native() + ": " + code.message();
    return false;
  }
  const FolderLock lock(parent.empty() ? "." : parent.native());  // two runs may write the same depfile
  const std::string temporary = TemporaryOf(path);
  if (const auto there = ReadFile(path); there && *there == text) {
    fs::remove(temporary, code);  // of a run that was killed
    return true;
  }
  if (WriteNewFile(temporary, text, error)) {
    fs::rename(temporary, path, code);
    if (!code) return true;
    error = "cannot write " + path + ": " + code.message();
  }
  fs::remove(temporary, code);
  return false;
}

int CheckLeftover(const std::string& path, const Streams& streams) {
  std::error_code code;
  const std::string temporary = TemporaryOf(path);
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(temporary, code))) return kFine;
  streams.err << "remove " << temporary << "\n";
  return kBadInput;
}

}  // namespace kgen::generator::commands
