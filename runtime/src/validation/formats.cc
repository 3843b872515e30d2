// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Sources: pkg/apiserver/validation/formats.go of k8s.io/apiextensions-apiserver, for which formats there are, and
// pkg/validation/strfmt of k8s.io/kube-openapi, for what they accept.
#include "validation/formats.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>

#include "kgen/core/time.h"
#include "validation/ascii.h"
#include "validation/pattern.h"

namespace kgen::validation {
namespace {

// A pattern of this file, which is never destroyed.
const Pattern& Must(std::string_view text) { return *new Pattern(*Pattern::Compile(text)); }

int Number(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

bool IsDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const std::string_view year = text.substr(0, 4), month = text.substr(5, 2), day = text.substr(8);
  for (const std::string_view part : {year, month, day}) {
    if (!std::ranges::all_of(part, IsDigit)) return false;
  }
  return std::chrono::year_month_day(std::chrono::year(Number(year)),
                                     std::chrono::month(static_cast<unsigned>(Number(month))),
                                     std::chrono::day(static_cast<unsigned>(Number(day))))
      .ok();
}

// A server ignores what follows a second T. The separator before the fraction may be any character.
bool IsDateTime(std::string_view text) {
  static const Pattern& time = Must("^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$");
  const std::string lower = Lower(text);
  const std::size_t first = lower.find('t');
  if (first == std::string::npos || !IsDate(std::string_view(lower).substr(0, first))) return false;
  return time.Matches(std::string_view(lower).substr(first + 1, lower.find('t', first + 1) - first - 1));
}

// Whether one of the units of Scala, in lower case, is the unit: the last name of each is a prefix of longer ones.
bool IsUnit(std::string_view unit) {
  for (const std::string_view whole : {"ns", "us", "\u00b5s", "ms", "s", "m", "h", "hr", "d", "w", "wk"}) {
    if (unit == whole) return true;
  }
  for (const std::string_view start : {"nano", "micro", "milli", "sec", "min", "hour", "day", "week"}) {
    if (unit.starts_with(start)) return true;
  }
  return false;
}

// A duration of Go, or a text that has one of Scala in it: "1h30m", "3 days", "in 5 minutes".
bool IsDuration(std::string_view text) {
  if (Duration::Parse(text)) return true;
  static const re2::RE2& term = *new re2::RE2("(\\d+)\\s*([A-Za-z\u00b5]+)");
  re2::StringPiece rest(text.data(), text.size()), digits, unit;
  bool found = false;
  while (re2::RE2::FindAndConsume(&rest, term, &digits, &unit)) {
    std::int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc()) return false;
    found = found || IsUnit(Lower({unit.data(), unit.size()}));
  }
  return found;
}

// A server's pattern also counts the characters of a label, which the limit of 63 bytes makes superfluous. With counts
// and the letters of all scripts it would be large. It takes one name without dots only if a dash comes second, if at
// all.
bool IsHostname(std::string_view text) {
  static const Pattern& name = Must(
      "^([a-zA-Z0-9\\p{S}\\p{L}]-?[a-zA-Z0-9\\p{S}\\p{L}]*|"
      "([a-zA-Z0-9\\p{S}\\p{L}]([a-zA-Z0-9\\p{S}\\p{L}-]*[a-zA-Z0-9\\p{S}\\p{L}])?\\.)+[a-zA-Z\\p{L}]{2,})$");
  if (text.size() > 255 || !name.Matches(text)) return false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view label = rest.substr(0, rest.find('.'));
    if (label.size() > 63) return false;
    rest.remove_prefix(std::min(label.size() + 1, rest.size()));
  }
  return true;
}

bool IsObjectId(std::string_view text) {
  static const Pattern& id = Must("^[0-9a-fA-F]{24}$");
  return id.Matches(text);
}

bool IsUuid(std::string_view text) {
  static const Pattern& id = Must("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$");
  return id.Matches(text);
}

bool IsUuid3(std::string_view text) {
  static const Pattern& id = Must("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$");
  return id.Matches(text);
}

bool IsUuid4(std::string_view text) {
  static const Pattern& id = Must("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$");
  return id.Matches(text);
}

bool IsUuid5(std::string_view text) {
  static const Pattern& id = Must("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$");
  return id.Matches(text);
}

std::string Without(std::string_view text, bool (*dropped)(char)) {
  std::string kept(text);
  std::erase_if(kept, dropped);
  return kept;
}

bool IsSpaceOrDash(char c) { return c == '-' || std::string_view("\t\n\f\r ").contains(c); }

bool IsIsbn10(std::string_view text) {
  const std::string kept = Without(text, IsSpaceOrDash);
  if (kept.size() != 10 || !std::all_of(kept.begin(), kept.end() - 1, IsDigit)) return false;
  if (!IsDigit(kept[9]) && kept[9] != 'X') return false;
  int sum = 0;
  for (int i = 0; i < 10; ++i)
    sum += (i + 1) * (kept[static_cast<std::size_t>(i)] == 'X' ? 10 : kept[static_cast<std::size_t>(i)] - '0');
  return sum % 11 == 0;
}

bool IsIsbn13(std::string_view text) {
  const std::string kept = Without(text, IsSpaceOrDash);
  if (kept.size() != 13 || !std::ranges::all_of(kept, IsDigit)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < 12; ++i) sum += (i % 2 == 0 ? 1 : 3) * (kept[i] - '0');
  return kept[12] - '0' == (10 - sum % 10) % 10;
}

bool IsIsbn(std::string_view text) { return IsIsbn10(text) || IsIsbn13(text); }

bool IsCreditCard(std::string_view text) {
  static const Pattern& number = Must(
      "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|"
      "3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11})$");
  const std::string kept = Without(text, [](char c) { return !IsDigit(c); });
  if (!number.Matches(kept)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const int digit = kept[kept.size() - 1 - i] - '0';
    sum += i % 2 == 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
  }
  return sum % 10 == 0;
}

bool IsSsn(std::string_view text) {
  static const Pattern& number = Must("^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$");
  return text.size() == 11 && number.Matches(text);
}

bool IsHexColor(std::string_view text) {
  static const Pattern& color = Must("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$");
  return color.Matches(text);
}

bool IsRgbColor(std::string_view text) {
  static const Pattern& color = Must(
      "^rgb\\(\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*,"
      "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*\\)$");
  return color.Matches(text);
}

// An empty text is none.
bool IsBase64(std::string_view text) {
  static const Pattern& data =
      Must("^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})$");
  return data.Matches(text);
}

bool IsShortName(std::string_view text) {
  static const Pattern& name = Must("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$");
  return text.size() <= 63 && name.Matches(text);
}

bool IsLongName(std::string_view text) {
  static const Pattern& name = Must("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");
  return text.size() <= 253 && name.Matches(text);
}

bool IsAnything(std::string_view) { return true; }

struct NamedFormat {
  std::string_view name;  // without dashes
  FormatCheck check;
};

constexpr NamedFormat kFormats[] = {
    {"bsonobjectid", IsObjectId},
    {"uri", IsRequestUri},
    {"email", IsMailAddress},
    {"hostname", IsHostname},
    {"ipv4", IsIpv4},
    {"ipv6", IsIpv6},
    {"cidr", IsCidr},
    {"mac", IsMac},
    {"uuid", IsUuid},
    {"uuid3", IsUuid3},
    {"uuid4", IsUuid4},
    {"uuid5", IsUuid5},
    {"isbn", IsIsbn},
    {"isbn10", IsIsbn10},
    {"isbn13", IsIsbn13},
    {"creditcard", IsCreditCard},
    {"ssn", IsSsn},
    {"hexcolor", IsHexColor},
    {"rgbcolor", IsRgbColor},
    {"byte", IsBase64},
    {"password", IsAnything},
    {"date", IsDate},
    {"duration", IsDuration},
    {"datetime", IsDateTime},
    {"k8sshortname", IsShortName},
    {"k8slongname", IsLongName},
};

}  // namespace

FormatCheck FindFormat(std::string_view name) {
  const std::string plain = Without(name, [](char c) { return c == '-'; });
  const auto found = std::ranges::find(kFormats, plain, &NamedFormat::name);
  return found == std::end(kFormats) ? nullptr : found->check;
}

}  // namespace kgen::validation
