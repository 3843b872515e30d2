// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace kgen::client {
namespace {

bool IsAlnum(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

bool IsUnreserved(unsigned char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void AppendEscaped(std::string_view text, std::string_view also, std::string& out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char byte : text) {
    const auto c = static_cast<unsigned char>(byte);
    if (IsUnreserved(c) || also.find(byte) != std::string_view::npos) {
      out += byte;
    } else {
      out += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
}

int Base64Value(char c) noexcept {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

// Returns "1.5" for 1500 milliseconds: the whole part, and the fraction without trailing zeros.
std::string Decimal(std::int64_t value, std::int64_t unit) {
  std::string out = std::to_string(value / unit);
  std::int64_t rest = value % unit;
  if (rest == 0) return out;
  out += '.';
  while (rest != 0) {
    unit /= 10;
    out += static_cast<char>('0' + rest / unit);
    rest %= unit;
  }
  return out;
}

}  // namespace

std::string EscapeSegment(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  AppendEscaped(text, "$&+=:@", out);
  return out;
}

void QueryBuilder::Add(std::string_view key, std::string_view value) {
  if (!query_.empty()) query_ += '&';
  AppendEscaped(key, "", query_);
  query_ += '=';
  AppendEscaped(value, "", query_);
}

std::string WithQueryPair(std::string query, std::string_view key, std::string_view value) {
  QueryBuilder builder;
  builder.Add(key, value);
  const std::string pair = builder.Take();
  std::size_t at = 0;
  while (at < query.size()) {
    const std::size_t end = std::min(query.find('&', at), query.size());
    const std::string_view here = std::string_view(query).substr(at, end - at);
    const std::string_view here_key = here.substr(0, here.find('='));
    if (here_key == key) return query;
    if (here_key > key) return query.insert(at, pair + '&');
    at = end + 1;
  }
  if (!query.empty()) query += '&';
  return query += pair;
}

std::string DurationText(Nanos duration) {
  const std::int64_t n = duration.count();
  if (n == 0) return "0s";
  if (n < 0) return '-' + DurationText(-duration);
  if (n < 1000) return std::to_string(n) + "ns";
  if (n < 1'000'000) return Decimal(n, 1000) + "\u00b5s";
  if (n < 1'000'000'000) return Decimal(n, 1'000'000) + "ms";
  const std::int64_t minutes = n / 60'000'000'000;
  std::string seconds = Decimal(n % 60'000'000'000, 1'000'000'000) + 's';
  if (minutes == 0) return seconds;
  if (minutes < 60) return std::to_string(minutes) + 'm' + seconds;
  return std::to_string(minutes / 60) + 'h' + std::to_string(minutes % 60) + 'm' + seconds;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  unsigned count = 0;  // of characters, padding included
  unsigned padding = 0;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    const int value = c == '=' ? 0 : Base64Value(c);
    if (value < 0) return std::nullopt;
    if (c == '=') {
      ++padding;
    } else if (padding != 0) {
      return std::nullopt;
    }
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++count % 4 != 0) continue;
    if (padding > 2) return std::nullopt;
    for (unsigned i = 0; i < 3 - padding; ++i) out += static_cast<char>(bits >> (16 - 8 * i) & 0xff);
    bits = 0;
  }
  if (count % 4 != 0) return std::nullopt;
  return out;
}

std::string_view Trim(std::string_view text) noexcept {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

bool IsLabelName(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 63 && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsSubdomain(std::string_view text) noexcept {
  if (text.empty() || text.size() > 253) return false;
  while (true) {
    const std::string_view label = text.substr(0, text.find('.'));
    const auto good = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-'; };
    if (label.empty() || label.front() == '-' || label.back() == '-' || !std::ranges::all_of(label, good)) return false;
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

bool IsQualifiedName(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return IsLabelName(text);
  return IsSubdomain(text.substr(0, slash)) && IsLabelName(text.substr(slash + 1));
}

}  // namespace kgen::client
