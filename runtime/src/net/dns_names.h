// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks DNS names, as RFC 1123 and the API server define them.
#ifndef KGEN_SRC_NET_DNS_NAMES_H_
#define KGEN_SRC_NET_DNS_NAMES_H_

#include <string_view>

namespace kgen::net {

// True for lower-case letters, digits and inner dashes, at most 63 characters: namespaces.
bool IsDnsLabel(std::string_view text) noexcept;
// True for what most objects may be called: lower-case letters, digits and inner dashes, in parts separated by dots, at
// most 253 characters. As on the server, a part may be longer than a label.
bool IsDnsSubdomain(std::string_view text) noexcept;

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_DNS_NAMES_H_
