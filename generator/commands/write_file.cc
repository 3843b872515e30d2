// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "generator/commands/command.h"
#include "generator/disk.h"

namespace kgen::generator::commands {

bool WriteWhenChanged(const std::string& path, std::string_view text, std::string& error) {
  namespace fs = std::filesystem;
  if (const auto there = ReadFile(path); there && *there == text) return true;
  std::error_code code;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, code);
  if (code) {
    error = "cannot create the folder " + parent.native() + ": " + code.message();
    return false;
  }
  // Two runs may write the same depfile at the same time.
  const std::string temporary = path + ".kgen-new-" + std::to_string(::getpid());
  if (WriteNewFile(temporary, text, error)) {
    fs::rename(temporary, path, code);
    if (!code) return true;
    error = "cannot write " + path + ": " + code.message();
  }
  fs::remove(temporary, code);
  return false;
}

}  // namespace kgen::generator::commands
