// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/text_format.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/regex.hpp>
#include <charconv>
#include <stdexcept>

#include "kgen/core/time.h"

namespace kgen::generator::crd {
namespace {

bool Is(const std::string& text, const char* pattern) {
  try {
    return boost::regex_match(text, boost::regex(pattern));
  } catch (const std::runtime_error&) {  // too long to match in reasonable time
    return true;
  }
}

bool IsAddress(const std::string& text, int family) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(family, text.c_str(), address.data()) == 1;
}

bool IsCidr(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  unsigned bits = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + slash + 1, end, bits);
  const std::string address = text.substr(0, slash);
  const bool v4 = IsAddress(address, AF_INET);
  return read.ec == std::errc() && read.ptr == end && bits <= (v4 ? 32u : 128u) && (v4 || IsAddress(address, AF_INET6));
}

bool IsBase64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  });
}

}  // namespace

bool MatchesPattern(const std::string& text, const std::string& pattern) {
  try {
    return boost::regex_search(text, boost::regex(pattern), boost::match_single_line | boost::match_not_dot_newline);
  } catch (const std::runtime_error&) {
    return true;
  }
}

bool HasFormat(const std::string& text, std::string_view format) {
  if (format == "date-time") return Time::Parse(text).has_value();
  if (format == "duration") return Duration::Parse(text).has_value();
  if (format == "date") return Time::Parse(text + "T00:00:00Z").has_value();
  if (format == "byte") return IsBase64(text);
  if (format == "ipv4") return IsAddress(text, AF_INET);
  if (format == "ipv6") return IsAddress(text, AF_INET6);
  if (format == "cidr") return IsCidr(text);
  if (format == "uuid") return Is(text, "[0-9A-Fa-f]{8}(-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}");
  return true;
}

}  // namespace kgen::generator::crd
