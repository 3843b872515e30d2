// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/warnings.h"

#include <algorithm>
#include <cstddef>

namespace kgen::client {
namespace {

constexpr std::size_t kLongest = 1024;

class Parser {
 public:
  explicit Parser(std::string_view header) : rest_(header) {}

  std::vector<std::string> All() {
    std::vector<std::string> texts;
    do {
      std::string code, agent, text, date;
      if (!Word(code) || code.size() != 3 || !Word(agent) || !Quoted(text)) break;
      if (Peek() == '"' && !Quoted(date)) break;
      if (Peek() != ',' && !rest_.empty()) break;
      if (text.size() > kLongest) text.resize(kLongest);
      if (code == "299" && !text.empty()) texts.push_back(std::move(text));
    } while (Take(','));
    return texts;
  }

 private:
  // Skips blanks.
  char Peek() noexcept {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool Take(char c) noexcept {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Word(std::string& word) {
    Peek();
    const std::size_t end = std::min(rest_.find_first_of(" \t,\""), rest_.size());
    word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return !word.empty();
  }

  bool Quoted(std::string& text) {
    if (!Take('"')) return false;
    for (; !rest_.empty(); rest_.remove_prefix(1)) {
      if (rest_.front() == '"') {
        rest_.remove_prefix(1);
        return true;
      }
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) break;
      text += rest_.front();
    }
    return false;
  }

  std::string_view rest_;
};

}  // namespace

std::vector<std::string> ParseWarnings(std::string_view header) { return Parser(header).All(); }

}  // namespace kgen::client
