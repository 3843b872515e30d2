// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/admission_status.h"

#include <string>

#include "core/quoted.h"
#include "kgen/core/list.h"

namespace kgen::controller {
namespace {

// Returns the HTTP status of a code that a server has; 0 for the others.
std::int32_t HttpStatusOf(Code code) noexcept {
  switch (code) {
    case Code::kUnauthorized:
      return 401;
    case Code::kForbidden:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kMethodNotAllowed:
      return 405;
    case Code::kAlreadyExists:
    case Code::kConflict:
      return 409;
    case Code::kExpired:
      return 410;
    case Code::kRequestTooLarge:
      return 413;
    case Code::kUnsupportedMedia:
      return 415;
    case Code::kInvalid:
      return 422;
    case Code::kTooManyRequests:
      return 429;
    case Code::kServer:
      return 500;
    default:
      return 0;
  }
}

std::string_view ReasonOf(Code code) noexcept { return code == Code::kServer ? "InternalError" : ToString(code); }

}  // namespace

meta::v1::Status DeniedStatus(std::int32_t code, std::string_view reason, std::string_view message) {
  meta::v1::Status status;
  status.status = "Failure";
  status.code = code;
  if (!reason.empty()) status.reason = reason;
  if (!message.empty()) status.message = message;
  return status;
}

meta::v1::Status InvalidStatus(const GroupVersionKind& kind, std::string_view name, const FieldErrors& errors) {
  std::string message = kind.kind.str();
  if (!kind.group.empty()) message.append(".").append(kind.group);
  message.append(" ").append(detail::Quoted(name)).append(" is invalid: ").append(errors.ToString());
  meta::v1::Status status = DeniedStatus(422, "Invalid", message);
  meta::v1::StatusDetails& details = *status.details;
  if (!name.empty()) details.name = name;
  if (!kind.group.empty()) details.group = kind.group;
  details.kind = kind.kind;
  for (const FieldError& error : errors) {
    details.causes.push_back({.field = error.field, .message = error.message, .reason = error.reason()});
  }
  return status;
}

std::optional<meta::v1::Status> StatusOf(const Error& error) {
  const std::int32_t code = HttpStatusOf(error.code());
  const meta::v1::Status* const own = error.status();
  if (own == nullptr) {
    if (code == 0) return std::nullopt;
    meta::v1::Status status = DeniedStatus(code, ReasonOf(error.code()), error.message());
    if (error.retry_after_seconds() > 0) status.details->retryAfterSeconds = error.retry_after_seconds();
    return status;
  }
  meta::v1::Status status = *own;
  status.status = "Failure";
  if (!status.code || *status.code < 400) status.code = code != 0 ? code : 500;
  return status;
}

}  // namespace kgen::controller
