// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The formats of networks. Each function follows the one of Go that servers call, and accepts the same texts. Sources:
// net, net/netip and net/url of Go 1.26, and the copy of an older net in k8s.io/utils.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "validation/ascii.h"
#include "validation/formats.h"

namespace kgen::validation {
namespace {

// Takes a decimal number of at most `most` from the front of `text`.
bool TakeNumber(std::string_view& text, std::uint32_t most) {
  std::uint32_t value = 0;
  std::size_t size = 0;
  for (; size < text.size() && IsDigit(text[size]); ++size) {
    value = value * 10 + static_cast<std::uint32_t>(text[size] - '0');
    if (value > most) return false;
  }
  text.remove_prefix(size);
  return size > 0;
}

// Takes four numbers with dots between them, which must be all of `text`.
bool IsDotted(std::string_view text, bool with_zeros) {
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && !text.starts_with('.')) return false;
    if (i > 0) text.remove_prefix(1);
    if (!with_zeros && text.size() > 1 && text[0] == '0' && IsDigit(text[1])) return false;
    if (!TakeNumber(text, 255)) return false;
  }
  return text.empty();
}

// The groups of an IPv6 address without a zone. The older functions of servers allow groups of more than four digits,
// and zeros at the front of an IPv4 address at the end.
bool IsColoned(std::string_view text, bool older) {
  bool gap = text.starts_with("::");
  if (gap) text.remove_prefix(2);
  if (gap && text.empty()) return true;
  int groups = 0;  // of 16 bits
  while (groups < 8) {
    std::size_t size = 0;
    std::uint32_t value = 0;
    for (; size < text.size() && IsHex(text[size]); ++size) {
      value = value * 16 + static_cast<std::uint32_t>(HexValue(text[size]));
      if (value > 0xFFFF || (!older && size > 3)) return false;
    }
    if (size == 0) return false;
    if (size < text.size() && text[size] == '.') {
      if ((!gap && groups != 6) || groups > 6 || !IsDotted(text, older)) return false;
      groups += 2;
      text = {};
      break;
    }
    ++groups;
    text.remove_prefix(size);
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return false;
    text.remove_prefix(1);
    if (text[0] != ':') continue;
    if (gap) return false;
    gap = true;
    text.remove_prefix(1);
    if (text.empty()) break;
  }
  return text.empty() && (groups < 8) == gap;
}

// The first of the marks in a text, which decides how an address is read, or '\0'.
char FirstMark(std::string_view text, std::string_view marks = ".:%") {
  const std::size_t at = text.find_first_of(marks);
  return at == std::string_view::npos ? '\0' : text[at];
}

bool IsPortOrNothing(std::string_view text) {
  return text.empty() || (text[0] == ':' && std::ranges::all_of(text.substr(1), IsDigit));
}

// Whether each % begins an escape.
bool HasGoodEscapes(std::string_view text) {
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 3)) {
    if (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) return false;
  }
  return true;
}

bool IsHostCharacter(char c) {
  return static_cast<unsigned char>(c) >= 0x80 || IsAlphanumeric(c) ||
         std::string_view("-_.~!$&'()*+,;=:[]<>\"").contains(c);
}

// A host has escapes for bytes beyond ASCII only. A zone has them for a space, and for what a host may have, too.
bool IsEscapedHost(std::string_view text, bool is_zone) {
  if (!HasGoodEscapes(text)) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (!IsHostCharacter(text[i])) return false;
      continue;
    }
    const int byte = HexValue(text[i + 1]) * 16 + HexValue(text[i + 2]);
    const bool percent = text.substr(i, 3) == "%25";
    if (!is_zone && byte < 0x80 && !percent) return false;
    if (is_zone && !percent && byte != ' ' && (byte >= 0x80 || !IsHostCharacter(static_cast<char>(byte)))) return false;
    i += 2;
  }
  return true;
}

// [fe80::1%25eth0]:80. The brackets contain an address, in which %25 stands before the zone.
bool IsBracketedHost(std::string_view host) {
  const std::size_t end = host.rfind(']');
  if (end == std::string_view::npos || !IsPortOrNothing(host.substr(end + 1))) return false;
  const std::string_view inside = host.substr(1, end - 1);
  const std::size_t zone = inside.find("%25");
  const std::string_view address = inside.substr(0, zone);
  if (address.contains('%') || !IsEscapedHost(address, false)) return false;
  if (zone != std::string_view::npos) {
    if (inside.size() == zone + 3 || !IsEscapedHost(inside.substr(zone), true)) return false;
  }
  return FirstMark(address) == ':' && IsColoned(address, false);
}

bool IsHost(std::string_view host, std::string_view scheme) {
  const std::size_t bracket = host.rfind('[');
  if (bracket != std::string_view::npos) return bracket == 0 && IsBracketedHost(host);
  std::size_t colon = host.find(':');
  if (colon != std::string_view::npos) {
    const std::string lower = Lower(scheme);
    if (lower != "http" && lower != "https") colon = host.rfind(':');
    if (!IsPortOrNothing(host.substr(colon))) return false;
  }
  return IsEscapedHost(host, false);
}

bool IsAuthority(std::string_view authority, std::string_view scheme) {
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return IsHost(authority, scheme);
  const std::string_view user = authority.substr(0, at);
  const auto good = [](char c) {
    return IsDigit(c) || IsLetter(c) || std::string_view("-._:~!$&'()*+,;=%@").contains(c);
  };
  if (!std::ranges::all_of(user, good)) return false;
  // An escape ends at the colon between the name and the password.
  const std::size_t colon = user.find(':');
  return IsHost(authority.substr(at + 1), scheme) && HasGoodEscapes(user.substr(0, colon)) &&
         (colon == std::string_view::npos || HasGoodEscapes(user.substr(colon + 1)));
}

// The size of the scheme at the front of a URI, 0 if there is none, or nothing if the URI begins with the colon.
std::size_t SchemeSize(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') return i;
    if (!IsLetter(c) && (i == 0 || !(IsDigit(c) || c == '+' || c == '-' || c == '.'))) return 0;
  }
  return 0;
}

// Whether `text` begins with two hexadecimal digits, and `after` follows them unless they are the end.
bool BeginsWithByte(std::string_view text, char after) {
  return text.size() >= 2 && IsHex(text[0]) && IsHex(text[1]) && (text.size() == 2 || text[2] == after);
}

}  // namespace

bool IsIpv4(std::string_view text) {
  const char mark = FirstMark(text, ".:");
  if (mark == '.') return IsDotted(text, true);
  return mark == ':' && text.contains('.') && IsColoned(text, true);  // ::1.2.3.4 passes, as on servers
}

bool IsIpv6(std::string_view text) { return FirstMark(text) == ':' && IsColoned(text, false); }

bool IsIpAddress(std::string_view text) {
  const char mark = FirstMark(text);
  return (mark == '.' && IsDotted(text, false)) || (mark == ':' && IsColoned(text, false));
}

bool IsCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash);
  std::string_view bits = text.substr(slash + 1);
  const bool v4 = IsDotted(address, true);
  return (v4 || IsColoned(address, true)) && TakeNumber(bits, v4 ? 32 : 128) && bits.empty();
}

bool IsMac(std::string_view text) {
  if (text.size() < 12) return false;
  const char mark = text[2] == ':' || text[2] == '-' ? text[2] : text[4] == '.' ? '.' : '\0';
  const std::size_t marked = mark == '.' ? 4 : 2;  // digits between two marks
  const std::size_t step = mark == '\0' ? 2 : marked + 1;
  const std::size_t size = mark == '\0' ? text.size() : text.size() + 1;
  if (size % step != 0) return false;
  const std::size_t bytes = size / step * marked / 2;
  if (bytes != 6 && bytes != 8 && bytes != 20) return false;
  for (; !text.empty(); text.remove_prefix(std::min(step, text.size()))) {
    if (mark == '.' && !BeginsWithByte(text.substr(2), mark)) return false;
    if (!BeginsWithByte(text.substr(0, mark == '.' || mark == '\0' ? 2 : text.size()), mark)) return false;
  }
  return true;
}

bool IsRequestUri(std::string_view text) {
  if (text.empty() ||
      std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; }))
    return false;
  if (text == "*") return true;
  if (text[0] == ':') return false;
  const std::string_view scheme = text.substr(0, SchemeSize(text));
  std::string_view rest = text.substr(scheme.empty() ? 0 : scheme.size() + 1);
  rest = rest.substr(0, rest.find('?'));
  if (!rest.starts_with('/')) return !scheme.empty();
  if (!scheme.empty() && rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    if (!IsAuthority(authority, scheme)) return false;
    rest.remove_prefix(authority.size());
  }
  return HasGoodEscapes(rest);
}

}  // namespace kgen::validation
