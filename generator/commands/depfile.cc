// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/commands/depfile.h"

#include <filesystem>

namespace kgen::generator::commands {
namespace {

std::string MakeEscaped(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

}  // namespace

std::string AbsolutePath(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().native();
}

std::string Depfile(const std::string& target, const std::vector<std::string>& inputs) {
  std::string text = MakeEscaped(target) + ":";
  for (const std::string& input : inputs) text += " \\\n  " + MakeEscaped(input);
  text += "\n";
  return text;
}

}  // namespace kgen::generator::commands
