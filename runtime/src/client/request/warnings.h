// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The Warning headers of a response (RFC 7234; RFC 9111 made them obsolete), with which servers report deprecated APIs,
// unknown fields and the like.
#ifndef KGEN_SRC_CLIENT_REQUEST_WARNINGS_H_
#define KGEN_SRC_CLIENT_REQUEST_WARNINGS_H_

#include <string>
#include <string_view>
#include <vector>

namespace kgen::client {

// Returns the texts of the warnings with code 299, each cut to a kilobyte: `299 - "text" "date", 299 ...`. Ignores
// everything after a malformed warning.
std::vector<std::string> ParseWarnings(std::string_view header);

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_WARNINGS_H_
