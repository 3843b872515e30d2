// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The Warning headers of a response (RFC 9111, formerly RFC 7234), by which servers tell of deprecated APIs, unknown
// fields and the like.
#ifndef KGEN_SRC_CLIENT_WARNINGS_H_
#define KGEN_SRC_CLIENT_WARNINGS_H_

#include <string>
#include <string_view>
#include <vector>

namespace kgen::client {

// The texts of the warnings with code 299, each cut to a kilobyte: `299 - "text" "date", 299 ...`. What follows a
// malformed warning is dropped.
std::vector<std::string> ParseWarnings(std::string_view header);

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_WARNINGS_H_
