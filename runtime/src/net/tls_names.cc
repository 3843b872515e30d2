// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/tls_names.h"

#include <openssl/x509v3.h>

#include <algorithm>
#include <cstddef>
#include <memory>

namespace kgen::net {
namespace {

char LowerAscii(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualText(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, LowerAscii, LowerAscii);
}

bool IsLabel(std::string_view label) noexcept {
  return !label.empty() && label.front() != '-' && std::ranges::all_of(label, [](char c) {
    const char lower = LowerAscii(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// Cuts the text off in front of the first dot, and returns it.
std::string_view TakeLabel(std::string_view& rest) noexcept {
  const std::size_t dot = rest.find('.');
  const std::string_view label = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  return label;
}

// In the pattern of a certificate, the first label may be "*".
bool IsHostName(std::string_view name, bool pattern) noexcept {
  if (name == "*" || name.ends_with('.')) return false;
  if (pattern && name.starts_with("*.")) name.remove_prefix(2);
  do {
    if (!IsLabel(TakeLabel(name))) return false;
  } while (!name.empty());
  return true;
}

}  // namespace

bool NameMatches(std::string_view of_certificate, std::string_view name) {
  std::string_view host = name;
  if (host.ends_with('.')) host.remove_suffix(1);
  if (!IsHostName(host, false) || !IsHostName(of_certificate, true)) {
    return !name.empty() && name != "." && EqualText(of_certificate, name);
  }
  if (of_certificate.starts_with("*.") && host.contains('.')) {
    of_certificate.remove_prefix(2);
    TakeLabel(host);
  }
  return EqualText(of_certificate, host);
}

bool CertificateIsFor(X509* certificate, std::string_view name) {
  const auto free = [](GENERAL_NAMES* names) { GENERAL_NAMES_free(names); };
  const std::unique_ptr<GENERAL_NAMES, decltype(free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)), free);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* each = sk_GENERAL_NAME_value(names.get(), i);
    if (each->type != GEN_DNS) continue;
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(each->d.dNSName)),
                                static_cast<std::size_t>(ASN1_STRING_length(each->d.dNSName)));
    if (NameMatches(text, name)) return true;
  }
  return false;
}

}  // namespace kgen::net
