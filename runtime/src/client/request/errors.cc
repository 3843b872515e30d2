// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/errors.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <new>
#include <string>
#include <utility>

#include "kgen/codec/decode.h"
#include "kgen/core/object_meta.h"
#include "net/trim.h"

namespace kgen::client {
namespace {

// The reasons that API servers use.
struct Row {
  std::string_view reason;
  Code code;
};

constexpr Row kReasons[] = {
    {"Unauthorized", Code::kUnauthorized},
    {"Forbidden", Code::kForbidden},
    {"NotFound", Code::kNotFound},
    {"MethodNotAllowed", Code::kMethodNotAllowed},
    {"NotAcceptable", Code::kUnsupportedMedia},
    {"AlreadyExists", Code::kAlreadyExists},
    {"Conflict", Code::kConflict},
    {"Gone", Code::kExpired},
    {"Expired", Code::kExpired},
    {"RequestEntityTooLarge", Code::kRequestTooLarge},
    {"UnsupportedMediaType", Code::kUnsupportedMedia},
    {"Invalid", Code::kInvalid},
    {"BadRequest", Code::kInvalid},
    {"TooManyRequests", Code::kTooManyRequests},
    {"InternalError", Code::kServer},
    {"ServerTimeout", Code::kServer},
    {"StoreReadError", Code::kServer},
    {"ServiceUnavailable", Code::kUnavailable},
    {"Timeout", Code::kTimeout},
};

const Row* RowOf(std::string_view reason) noexcept {
  const Row* row = std::ranges::find(kReasons, reason, &Row::reason);
  return row != std::end(kReasons) ? row : nullptr;
}

struct Synthetic {
  std::string_view reason;
  std::string_view message;
};

// The reason and message for a response without a Status.
Synthetic SyntheticOf(int http_status, std::string_view method) noexcept {
  switch (http_status) {
    case 400:
      return {"BadRequest", "the server refused the request"};
    case 401:
      return {"Unauthorized", "the server does not accept the credentials"};
    case 403:
      return {"Forbidden", "the server does not allow this"};
    case 404:
      return {"NotFound", "the server has no such resource"};
    case 405:
      return {"MethodNotAllowed", "the server does not support this verb for the resource"};
    case 406:
      return {"NotAcceptable", "the server cannot respond in JSON"};
    case 409:
      if (method == "POST") return {"AlreadyExists", "the object already exists"};
      return {"Conflict", "the object has been changed since it was read"};
    case 410:
      return {"Gone", "no longer exists on the server"};
    case 413:
      return {"RequestEntityTooLarge", "the request is larger than the server accepts"};
    case 415:
      return {"UnsupportedMediaType", "the server does not support this media type"};
    case 422:
      return {"Invalid", "the server rejected the object as invalid"};
    case 429:
      return {"TooManyRequests", "the server has received too many requests"};
    case 503:
      return {"ServiceUnavailable", "the server is not available"};
    case 504:
      return {"Timeout", "the server did not answer in time"};
    default:
      break;
  }
  if (http_status >= 500) return {"InternalError", "the server reported an internal error"};
  return {"", "the server sent an unexpected response"};
}

std::optional<meta::v1::Status> ParseStatus(std::string_view body) {
  const std::string_view text = net::Trim(body);
  if (!text.starts_with('{')) return std::nullopt;
  const Identity identity = PeekIdentity(text);
  if (identity.kind != "Status" || (!identity.api_version.empty() && identity.api_version != "v1")) return std::nullopt;
  Result<meta::v1::Status> status = Decode<meta::v1::Status>(text);
  if (!status) return std::nullopt;
  return *std::move(status);
}

Error FromStatus(meta::v1::Status status, int http_status) {
  if (status.code.value_or(0) == 0 && http_status != 0) status.code = http_status;
  const Code code = CodeOf(status.reason, status.code.value_or(0));
  if (status.message.empty()) {
    status.message = !status.reason.empty()         ? status.reason.str()
                     : status.code.value_or(0) != 0 ? "HTTP " + std::to_string(*status.code)
                                                    : "the server sent a Status without message, reason and code";
  }
  return Error::FromStatus(status, code);
}

// Returns "text/html" for "Text/HTML; charset=utf-8".
std::string MediaType(std::string_view content_type) {
  std::string type(net::Trim(content_type.substr(0, content_type.find(';'))));
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

// Quotes a response that is not a Status, if it is text.
std::string Quote(const Answer& answer) {
  constexpr std::size_t kQuoted = 2048;
  const std::string type = MediaType(answer.content_type);
  if (!type.empty() && !type.starts_with("text/")) return "unknown";
  std::string_view text = net::Trim(answer.body);
  if (text.size() > kQuoted) {
    std::size_t end = kQuoted;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // do not cut a code point
    text = text.substr(0, end);
  }
  return std::string(text);
}

// The target of a redirect, without parts that may be secret: credentials, the query and the fragment.
std::string Destination(std::string_view location) {
  constexpr std::size_t kMost = 200;
  const std::size_t scheme = location.find("://");
  std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  if (scheme == std::string_view::npos && location.starts_with("//")) begin = 2;
  std::string_view rest = location.substr(begin, location.find_first_of("?#", begin) - begin);
  if (begin != 0) {
    const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
    if (at != std::string_view::npos) rest.remove_prefix(at + 1);
  }
  return std::string(location.substr(0, begin)) + std::string(rest.substr(0, kMost));
}

// Describes the form of the response: " (HTTP 502, text/html)".
std::string Form(const Answer& answer) {
  const std::string type = MediaType(answer.content_type);
  return " (HTTP " + std::to_string(answer.status) + (type.empty() ? "" : ", " + type) + ")";
}

Error FromText(const Answer& answer) {
  Synthetic made = SyntheticOf(answer.status, answer.method);
  std::string redirect;
  if (answer.status >= 300 && answer.status < 400 && !answer.location.empty()) {
    redirect = "the server redirects to " + Destination(answer.location) +
               ", and kgen follows no redirects; if that is the API server, name it in the config";
    made.message = redirect;
  }
  const std::string quoted = Quote(answer);
  meta::v1::Status status;
  status.status = "Failure";
  status.code = answer.status;
  if (!made.reason.empty()) status.reason = made.reason;
  std::string message = std::string(made.message) + Form(answer);
  if (!quoted.empty() && quoted != "unknown") message += ": " + quoted;
  status.message = message;
  meta::v1::StatusDetails details;
  details.causes.push_back({.message = quoted, .reason = "UnexpectedServerResponse"});
  if (answer.retry_after_seconds) details.retryAfterSeconds = *answer.retry_after_seconds;
  status.details = std::move(details);
  return Error::FromStatus(status, CodeOf(made.reason, answer.status));
}

}  // namespace

bool IsKnownReason(std::string_view reason) noexcept { return RowOf(reason) != nullptr; }

Code CodeOf(std::string_view reason, int http_status) noexcept {
  if (http_status == 429) return Code::kTooManyRequests;
  if (http_status == 413) return Code::kRequestTooLarge;
  if (const Row* row = RowOf(reason)) return row->code;
  switch (http_status) {
    case 400:
    case 422:
      return Code::kInvalid;
    case 401:
      return Code::kUnauthorized;
    case 403:
      return Code::kForbidden;
    case 404:
      return Code::kNotFound;
    case 405:
      return Code::kMethodNotAllowed;
    case 406:
    case 415:
      return Code::kUnsupportedMedia;
    case 409:
      return Code::kConflict;
    case 410:
      return Code::kExpired;
    case 503:
      return Code::kUnavailable;
    case 504:
      return Code::kTimeout;
    default:
      return Code::kServer;
  }
}

Error ErrorOf(const Answer& answer) {
  std::optional<meta::v1::Status> status = ParseStatus(answer.body);
  Error error =
      status && status->status == "Failure" ? FromStatus(*std::move(status), answer.status) : FromText(answer);
  if (answer.retry_after_seconds && error.retry_after_seconds() == 0) {
    error = error.WithRetryAfter(*answer.retry_after_seconds);
  }
  return error;
}

Error WithHint(std::string_view path, const Error& error) {
  constexpr std::string_view kApis = "/apis/";
  const meta::v1::Status* const status = error.status();
  if (status == nullptr || error.code() != Code::kNotFound || !status->details->name.empty()) return error;
  if (!path.starts_with(kApis)) return error;
  path.remove_prefix(kApis.size());
  const std::string_view group = path.substr(0, path.find('/'));
  if (!group.contains('.')) return error;  // "apps", "batch": no CRD can have these
  std::string_view version = path.substr(std::min(group.size() + 1, path.size()));
  version = version.substr(0, version.find('/'));
  meta::v1::Status hinted = *status;
  hinted.message = hinted.message.str() + "; does the server have " + std::string(group) + '/' + std::string(version) +
                   ", and is the CustomResourceDefinition of this kind installed?";
  const Error made = Error::FromStatus(hinted, error.code());
  return error.retry_after_seconds() == 0 ? made : made.WithRetryAfter(error.retry_after_seconds());
}

std::optional<Error> FailureIn(std::string_view body) {
  constexpr std::size_t kLargestStatus = 1u << 20;
  // Nearly every body is an object or a list, and costs only this search.
  if (body.size() > kLargestStatus || body.find("\"Status\"") == std::string_view::npos) return std::nullopt;
  std::optional<meta::v1::Status> status = ParseStatus(body);
  if (!status || status->status != "Failure") return std::nullopt;
  return FromStatus(*std::move(status), 0);
}

namespace {

Error NotAs(std::string_view expected, std::string_view type, const Answer& answer) {
  constexpr std::size_t kQuoted = 200;
  const bool is_text = type.empty() || type.starts_with("text/");
  return {Code::kDecode, "the server answered " + (type.empty() ? "without a media type" : "in " + std::string(type)) +
                             " instead of " + std::string(expected) + " (HTTP " + std::to_string(answer.status) +
                             "); is this the address of an API server, or is a proxy or a login page in between?" +
                             (is_text ? " It begins: " + std::string(net::Trim(answer.body).substr(0, kQuoted)) : "")};
}

}  // namespace

std::optional<Error> NotJson(const Answer& answer) {
  const std::string type = MediaType(answer.content_type);
  const std::string_view text = net::Trim(answer.body);
  if (type == "application/json" || type.ends_with("+json") || text.empty() || text.starts_with('{')) {
    return std::nullopt;
  }
  return NotAs("JSON", type, answer);
}

std::optional<Error> NotText(const Answer& answer) {
  const std::string type = MediaType(answer.content_type);
  if (type == "text/plain") return std::nullopt;
  return NotAs("plain text", type, answer);
}

std::optional<std::int32_t> ParseRetryAfter(std::string_view value) noexcept {
  value = net::Trim(value);
  std::int32_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size() || seconds < 0) return std::nullopt;
  return seconds;
}

Error WatchError(std::string_view status) {
  std::optional<meta::v1::Status> parsed = ParseStatus(status);
  if (parsed) return FromStatus(*std::move(parsed), 0);
  return {Code::kDecode, "the ERROR event has an object that is not a Status"};
}

}  // namespace kgen::client
