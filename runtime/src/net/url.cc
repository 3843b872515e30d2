// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "net/trim.h"

namespace kgen::net {
namespace {

bool AsksForTls(const rest::TlsConfig& tls) {
  return tls.insecure_skip_verify || !tls.ca_data.empty() || !tls.ca_file.empty() || !tls.certificate_data.empty() ||
         !tls.certificate_file.empty();
}

bool IsPort(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port < 65536;
}

bool IsHostName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

// "host", "host:port", "[::1]", "[::1]:port". Returns what is wrong, or "".
std::string_view CheckAuthority(std::string_view authority) {
  if (authority.find('@') != std::string_view::npos) return "it must not contain user information";
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return "']' is missing";
    const std::string_view address = authority.substr(1, close - 1);
    if (address.find(':') == std::string_view::npos ||
        address.find_first_not_of("0123456789abcdefABCDEF:.%") != std::string_view::npos) {
      return "no IPv6 address between the brackets";
    }
    const std::string_view rest = authority.substr(close + 1);
    if (rest.empty()) return "";
    if (rest[0] != ':') return "only a port may follow ']'";
    return IsPort(rest.substr(1)) ? "" : "the port is not a number from 1 to 65535";
  }
  const std::size_t colon = authority.find(':');
  if (!IsHostName(authority.substr(0, colon))) return "no host name";
  if (colon == std::string_view::npos) return "";
  if (authority.find(':', colon + 1) != std::string_view::npos) return "an IPv6 address needs brackets";
  return IsPort(authority.substr(colon + 1)) ? "" : "the port is not a number from 1 to 65535";
}

}  // namespace

// Hides everything up to the last '@', because in a malformed URL the password may contain any character.
std::string WithoutUser(std::string_view host) {
  const std::size_t at = host.rfind('@');
  if (at == std::string_view::npos) return std::string(host);
  std::size_t scheme = host.substr(0, at).find("://");
  scheme = scheme == std::string_view::npos ? 0 : scheme + 3;
  if (host.substr(0, scheme).find(':') + 3 != scheme) scheme = 0;  // "user:password://...", no scheme
  return std::string(host.substr(0, scheme)) + "(hidden)" + std::string(host.substr(at));
}

Result<ServerUrl> ParseServerUrl(std::string_view host, const rest::TlsConfig& tls) {
  const auto failed = [&](std::string_view why) {
    return Fail(Code::kConfig, "host \"" + WithoutUser(host) + "\": " + std::string(why));
  };
  std::string_view rest = Trim(host);
  if (rest.empty()) rest = "localhost";
  ServerUrl url;
  const std::size_t scheme_end = rest.find("://");
  const bool has_scheme = scheme_end != std::string_view::npos;
  if (has_scheme) {
    std::string scheme(rest.substr(0, scheme_end));
    std::ranges::transform(scheme, scheme.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (scheme != "https" && scheme != "http") return failed("the scheme is neither https nor http");
    url.tls = scheme == "https";
    rest.remove_prefix(scheme_end + 3);
  } else {
    url.tls = AsksForTls(tls);
  }
  rest = rest.substr(0, rest.find_first_of("?#"));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  std::string_view path = rest.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (!has_scheme && !path.empty()) return failed("with a path it needs a scheme, as in https://host/path");
  if (const std::string_view wrong = CheckAuthority(authority); !wrong.empty()) return failed(wrong);
  if (path.find_first_of(" \t\r\n") != std::string_view::npos) return failed("blanks in the path");
  url.origin = (url.tls ? "https://" : "http://") + std::string(authority);
  url.base_path = path;
  return url;
}

}  // namespace kgen::net
