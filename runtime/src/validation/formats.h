// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The formats of strings, as a server of Kubernetes 1.36 checks them: with functions of Go, which accept more than the
// standards say, or less.
#ifndef KGEN_SRC_VALIDATION_FORMATS_H_
#define KGEN_SRC_VALIDATION_FORMATS_H_

#include <string_view>

namespace kgen::validation {

// Whether a text has a format.
using FormatCheck = bool (*)(std::string_view text);

// Returns the check of a format such as "date-time", whose dashes have no meaning, or null if servers ignore it.
FormatCheck FindFormat(std::string_view name);

// Go's net/mail.ParseAddress(): `a@b.example`, and `Ada <a@b.example> (home)`.
bool IsMailAddress(std::string_view text);
// Go's net/url.ParseRequestURI(): a path, or anything with a scheme.
bool IsRequestUri(std::string_view text);
// Go's net.ParseMAC(): 6, 8 or 20 bytes.
bool IsMac(std::string_view text);
// IPv4 as servers read it, where a number may begin with zeros.
bool IsIpv4(std::string_view text);
// Go's net.ParseIP() for addresses with colons: without a zone (fe80::1%eth0).
bool IsIpv6(std::string_view text);
// Go's net.ParseIP(): of either kind, without zeros at the front and without a zone.
bool IsIpAddress(std::string_view text);
// IPv4 or IPv6 as above, with the number of bits: 10.0.0.0/8.
bool IsCidr(std::string_view text);

}  // namespace kgen::validation

#endif  // KGEN_SRC_VALIDATION_FORMATS_H_
