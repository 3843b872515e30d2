// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Turns the error responses of a server into Errors. This is the only place that maps reasons and HTTP codes to a Code.
#ifndef KGEN_SRC_CLIENT_REQUEST_ERRORS_H_
#define KGEN_SRC_CLIENT_REQUEST_ERRORS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "kgen/core/result.h"

namespace kgen::client {

// The parts of a response that errors depend on. The views are not kept.
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

// Returns the Error for a response other than 2xx: from the Status in its body, or else from the HTTP code and the
// text.
Error ErrorOf(const Answer& answer);

// True if API servers use this reason. Then the HTTP code adds no information.
bool IsKnownReason(std::string_view reason) noexcept;

// Adds to a 404 that is not about an object, but about the resource in the path, what may be missing on the server.
Error WithHint(std::string_view path, const Error& error);

// Returns the failure in the body of a 2xx response, which is a Status with the status Failure, or nothing.
std::optional<Error> FailureIn(std::string_view body);

// Returns the Error for an ERROR event of a watch. The object of the event should be a Status; kDecode if it is not.
Error WatchError(std::string_view status);

// The error for a 2xx response that should be JSON but is something else, mostly a page of a proxy or a login. `body`
// may be only the beginning. Returns nothing if the content type is JSON or the body looks like a JSON object; the
// decoder checks those.
std::optional<Error> NotJson(const Answer& answer);
// Returns the error for a 2xx response that should be plain text but is something else.
std::optional<Error> NotText(const Answer& answer);

// Returns whole seconds, or nothing if the header is absent or contains a date.
std::optional<std::int32_t> ParseRetryAfter(std::string_view value) noexcept;

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_ERRORS_H_
