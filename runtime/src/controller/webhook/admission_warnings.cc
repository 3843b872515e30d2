// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/admission_warnings.h"

#include <algorithm>
#include <utility>

namespace kgen::controller {
namespace {

constexpr std::size_t kAllCharacters = 4096;
constexpr std::size_t kCharacters = 256;     // of one warning, where all have more than kAllCharacters
constexpr std::size_t kMostDistinct = 1000;  // far more than fit

bool BeginsCharacter(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t CharactersOf(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(text, BeginsCharacter));
}

// Returns the beginning of a text of more than `most` characters, with "..." at its end.
std::string Shortened(std::string_view text, std::size_t most) {
  if (CharactersOf(text) <= most) return std::string(text);
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size(); ++end) {
    if (BeginsCharacter(text[end]) && ++count > most - 3) break;
  }
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace

void AdmissionWarnings::Add(std::string_view text) {
  std::string line(text);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  std::ranges::replace_if(line, is_control, ' ');
  for (std::size_t at = 0; (at = line.find('\xC2', at)) != std::string::npos; ++at) {  // U+0080 to U+009F
    if (at + 1 < line.size() && static_cast<unsigned char>(line[at + 1]) < 0xA0) line.replace(at, 2, " ");
  }
  if (line.find_first_not_of(' ') == std::string::npos || std::ranges::find(distinct_, line) != distinct_.end()) return;
  if (distinct_.size() == kMostDistinct) {
    ++more_;
    return;
  }
  characters_ += CharactersOf(line);
  distinct_.push_back(std::move(line));
}

std::vector<std::string> AdmissionWarnings::Fitting() const {
  if (characters_ <= kAllCharacters && more_ == 0) return distinct_;
  constexpr std::size_t kRoomForCount = 64;
  std::vector<std::string> fitting;
  std::size_t used = 0;
  for (const std::string& warning : distinct_) {
    std::string shortened = Shortened(warning, kCharacters);
    const std::size_t characters = CharactersOf(shortened);
    if (used + characters > kAllCharacters - kRoomForCount) break;
    used += characters;
    fitting.push_back(std::move(shortened));
  }
  const std::size_t left = distinct_.size() - fitting.size() + more_;
  if (left > 0) fitting.push_back("and " + std::to_string(left) + " more warnings, which do not fit");
  return fitting;
}

}  // namespace kgen::controller
