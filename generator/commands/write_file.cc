// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "generator/commands/command.h"

namespace kgen::generator::commands {

bool WriteWhenChanged(const std::string& path, std::string_view text, std::string& error) {
  namespace fs = std::filesystem;
  {
    std::ifstream in(path, std::ios::binary);
    if (in && std::string(std::istreambuf_iterator<char>(in), {}) == text) return true;
  }
  std::error_code code;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, code);
  if (code) {
    error = "cannot make the folder " + parent.native() + ": " + code.message();
    return false;
  }
  const std::string temporary = path + ".kgen-new";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) {
    error = "cannot write " + temporary + ": " + std::strerror(errno);
    fs::remove(temporary, code);
    return false;
  }
  fs::rename(temporary, path, code);
  if (!code) return true;
  error = "cannot write " + path + ": " + code.message();
  fs::remove(temporary, code);
  return false;
}

}  // namespace kgen::generator::commands
