// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a server says when it refuses, as an Error. The only place where reasons and HTTP codes become a Code. [CLI ERR]
#ifndef KGEN_SRC_CLIENT_ERRORS_H_
#define KGEN_SRC_CLIENT_ERRORS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "kgen/core/result.h"

namespace kgen::client {

// One answer, as far as errors look at it. Views are not kept.
struct Answer {
  std::string_view method{};
  int status = 0;
  std::string_view content_type{};
  std::string_view location{};  // of a redirect
  std::optional<std::int32_t> retry_after_seconds{};
  std::string_view body{};
};

// The reason decides; the HTTP code where the reason is empty or not known, and for 413 and 429 always. [CLI ERR-1,
// ERR-2]
Code CodeOf(std::string_view reason, int http_status) noexcept;

// Of an answer outside 2xx: the body's Status, or one made from the HTTP code and the text. [CLI REST-28, REST-29,
// ERR-4]
Error ErrorOf(const Answer& answer);

// The failure that a body with a 2xx code holds nevertheless. [CLI REST-31]
std::optional<Error> FailureIn(std::string_view body);

// What a call ends with when an allocation fails. Each connection asks for it when it is made, so that it needs no
// memory when there is none. `what` stands in front of it as long as that works.
const Error& OutOfMemory();
Error OutOfMemory(std::string_view what);

// Why an answer with a 2xx code that ought to be JSON is something else: the page of a proxy or of a login, mostly.
// `body` may be its beginning. Nothing for what says that it is JSON or looks like a JSON object: the decoder judges
// those.
std::optional<Error> NotJson(const Answer& answer);

// Whole seconds; nothing for a date or no header. [CLI REST-19]
std::optional<std::int32_t> ParseRetryAfter(std::string_view value) noexcept;

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_ERRORS_H_
