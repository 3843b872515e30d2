// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Patterns and string formats, as a real server checks them.
#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/regex.hpp>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "testing/api_validation.h"

namespace kgen::testing {
namespace {

bool IsDate(const std::string& text) {
  static const boost::regex kDate("[0-9]{4}-[0-9]{2}-[0-9]{2}");
  if (!boost::regex_match(text, kDate)) return false;
  return std::chrono::year_month_day(std::chrono::year(std::stoi(text)),
                                     std::chrono::month(static_cast<unsigned>(std::stoi(text.substr(5)))),
                                     std::chrono::day(static_cast<unsigned>(std::stoi(text.substr(8)))))
      .ok();
}

bool IsDateTime(const std::string& text) {
  static const boost::regex kTime(
      "[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})");
  return text.size() > 10 && text.size() < 100 && IsDate(text.substr(0, 10)) &&
         boost::regex_match(text.substr(10), kTime);
}

bool IsAddress(const std::string& text, bool v4, bool v6) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(text, error);
  return !error && !text.contains('%') && (address.is_v4() ? v4 : v6);
}

bool IsCidr(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos || !IsAddress(text.substr(0, slash), true, true)) return false;
  unsigned bits = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + slash + 1, end, bits);
  return read.ec == std::errc() && read.ptr == end && bits <= (text.contains(':') ? 128u : 32u);
}

bool IsBase64(std::string_view text) {
  if (text.size() % 4 != 0) return false;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  });
}

// Returns the pattern of a format that is defined by one, or null.
const boost::regex* PatternOf(std::string_view format) {
  static const boost::regex kUuid("[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}");
  static const boost::regex kEmail("[^\\s@<>]+@[^\\s@<>]+");
  static const boost::regex kUri("([A-Za-z][A-Za-z0-9+.-]*:|/)[^\\s]*");
  static const boost::regex kMac("([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}");
  static const boost::regex kLabels(
      "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\\.?");
  static const boost::regex kDuration(
      "[+-]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)\\s*(ns|us|\xC2\xB5s|\xCE\xBCs|ms|s|m|h|d|w|"
      "(nanosecond|microsecond|millisecond|second|minute|hour|day|week)s?)\\s*)+)");
  constexpr std::pair<std::string_view, const boost::regex*> kPatterns[] = {
      {"uuid", &kUuid}, {"uuid3", &kUuid},      {"uuid4", &kUuid},        {"uuid5", &kUuid}, {"email", &kEmail},
      {"uri", &kUri},   {"hostname", &kLabels}, {"duration", &kDuration}, {"mac", &kMac}};
  for (const auto& [name, pattern] : kPatterns) {
    if (name == format) return pattern;
  }
  return nullptr;
}

}  // namespace

bool IsOfFormat(const std::string& text, std::string_view format) {
  if (format == "date-time" || format == "datetime") return IsDateTime(text);
  if (format == "date") return IsDate(text);
  if (format == "ipv4") return IsAddress(text, true, false);
  if (format == "ipv6") return IsAddress(text, false, true);
  if (format == "cidr") return IsCidr(text);
  if (format == "byte") return IsBase64(text);
  const boost::regex* pattern = PatternOf(format);
  try {
    return pattern == nullptr || boost::regex_match(text, *pattern);
  } catch (const std::runtime_error&) {  // too long to match in reasonable time
    return true;
  }
}

bool MatchesPattern(const std::string& text, const std::string& pattern) {
  try {
    return boost::regex_search(text, boost::regex(pattern), boost::match_single_line | boost::match_not_dot_newline);
  } catch (const std::runtime_error&) {
    return true;
  }
}

}  // namespace kgen::testing
