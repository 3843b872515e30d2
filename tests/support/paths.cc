// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "tests/support/paths.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace kgen::test_support {

namespace fs = std::filesystem;

std::string SourcePath(std::string_view relative) { return (fs::path(KGEN_SOURCE_DIR) / relative).string(); }

std::optional<std::string> SharedPath(std::string_view relative) {
  const fs::path folder = KGEN_SHARED_DIR;
  if (folder.empty()) return std::nullopt;
  const fs::path path = folder / relative;
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  return path.lexically_normal().string();
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::cerr << "test input is missing: " << path << "\n";
    std::abort();
  }
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace kgen::test_support
