// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/watch_errors.h"

#include <algorithm>
#include <string_view>

#include "client/request/errors.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {
namespace {

constexpr std::string_view kTooLarge = "Too large resource version";

// A known reason decides, regardless of the code.
bool HasReasonOrElseCode(const meta::v1::Status& status, std::string_view reason, int code) {
  return status.reason == reason || (status.code.value_or(0) == code && !client::IsKnownReason(status.reason));
}

}  // namespace

bool IsExpired(const Error& error) {
  const meta::v1::Status* status = error.status();
  if (status == nullptr) return error.code() == Code::kExpired;
  return status->reason == "Expired" || HasReasonOrElseCode(*status, "Gone", 410);
}

bool HasReasonExpired(const Error& error) { return error.status() != nullptr && error.status()->reason == "Expired"; }

bool IsVersionTooLarge(const Error& error) {
  const meta::v1::Status* status = error.status();
  if (status == nullptr) return false;
  const bool timeout = HasReasonOrElseCode(*status, "Timeout", 504);
  if (timeout && status->message.contains(kTooLarge)) return true;
  if (!status->details) return false;
  return std::any_of(status->details->causes.begin(), status->details->causes.end(),
                     [&](const meta::v1::StatusCause& cause) {
                       return cause.reason == "ResourceVersionTooLarge" || (timeout && cause.message == kTooLarge);
                     });
}

bool IsNoConnection(const Error& error) {
  return error.status() == nullptr && (error.code() == Code::kUnavailable || error.code() == Code::kTls);
}

bool MayBeStarting(const Error& error) {
  if (error.status() == nullptr || IsVersionTooLarge(error)) return false;
  const int code = error.status()->code.value_or(0);
  return code == 401 || code == 403 || code == 404 || code == 500 || (code >= 502 && code <= 504);
}

bool IsRefusal(const Error& error) {
  const Code code = error.code();
  return code == Code::kUnauthorized || code == Code::kForbidden || code == Code::kNotFound || code == Code::kInvalid;
}

}  // namespace kgen::cache
