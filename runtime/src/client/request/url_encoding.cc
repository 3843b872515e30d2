// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/url_encoding.h"

#include <algorithm>
#include <cstddef>

namespace kgen::client {
namespace {

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

}  // namespace kgen::client
