// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Turns the error responses of a server into Errors. The only place where reasons and HTTP codes become a Code.
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

// The reason decides. The HTTP code decides if the reason is empty or unknown, and always for 413 and 429.
Code CodeOf(std::string_view reason, int http_status) noexcept;

// The Error of a response other than 2xx: from the Status in its body, or from the HTTP code and the text.
Error ErrorOf(const Answer& answer);

// Whether an API server gives this reason. If it does, the HTTP code adds nothing.
bool IsKnownReason(std::string_view reason) noexcept;

// The failure in the body of a 2xx response: a Status that is not Success.
std::optional<Error> FailureIn(std::string_view body);

// The Error of the ERROR event of a watch, from its object, which should be a Status. kDecode if it is not.
Error WatchError(std::string_view status);

// What a call ends with when an allocation fails. Each connection asks for it when it is made, so that it needs no
// memory when there is none. `what` stands in front of it as long as that works.
const Error& OutOfMemory();
Error OutOfMemory(std::string_view what);

// Why an answer with a 2xx code that ought to be JSON is something else: the page of a proxy or of a login, mostly.
// `body` may be its beginning. Nothing for what says that it is JSON or looks like a JSON object: the decoder judges
// those.
std::optional<Error> NotJson(const Answer& answer);
// The same for an answer that ought to be plain text.
std::optional<Error> NotText(const Answer& answer);

// Whole seconds; nothing for a date or no header.
std::optional<std::int32_t> ParseRetryAfter(std::string_view value) noexcept;

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_ERRORS_H_
