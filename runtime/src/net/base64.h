// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Decodes base64 in configs.
#ifndef KGEN_SRC_NET_BASE64_H_
#define KGEN_SRC_NET_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace kgen::net {

// Decodes the standard alphabet with padding; ignores blanks and line ends. Returns nothing for any other text.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_BASE64_H_
