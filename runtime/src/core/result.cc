// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/result.h"

#include <algorithm>

#include "core/secrets.h"
#include "kgen/core/object_meta.h"

namespace kgen {

std::string_view ToString(Code code) noexcept {
  switch (code) {
    case Code::kInvalidArgument:
      return "InvalidArgument";
    case Code::kConfig:
      return "Config";
    case Code::kCancelled:
      return "Cancelled";
    case Code::kTimeout:
      return "Timeout";
    case Code::kDecode:
      return "Decode";
    case Code::kStopped:
      return "Stopped";
    case Code::kUserCode:
      return "UserCode";
    case Code::kDeadlock:
      return "Deadlock";
    case Code::kInternal:
      return "Internal";
    case Code::kUnavailable:
      return "Unavailable";
    case Code::kTls:
      return "Tls";
    case Code::kUnauthorized:
      return "Unauthorized";
    case Code::kForbidden:
      return "Forbidden";
    case Code::kNotFound:
      return "NotFound";
    case Code::kMethodNotAllowed:
      return "MethodNotAllowed";
    case Code::kAlreadyExists:
      return "AlreadyExists";
    case Code::kConflict:
      return "Conflict";
    case Code::kExpired:
      return "Expired";
    case Code::kRequestTooLarge:
      return "RequestEntityTooLarge";
    case Code::kUnsupportedMedia:
      return "UnsupportedMediaType";
    case Code::kInvalid:
      return "Invalid";
    case Code::kTooManyRequests:
      return "TooManyRequests";
    case Code::kServer:
      return "ServerError";
  }
  return "Unknown";
}

namespace {

void HideIn(String& text) {
  std::string shown = text.str();
  detail::HideSecrets(shown);
  if (shown != text) text = shown;
}

// Nothing that kgen reads.
void HideIn(UnknownFields& fields) {
  const bool secret = std::ranges::any_of(fields, [](const UnknownField& field) {
    std::string shown(field.value.text());
    detail::HideSecrets(shown);
    return shown != field.value.text();
  });
  if (secret) fields.clear();
}

// The Status is stored once, however many operations are added to the error.
struct Answer : SharedObject {
  explicit Answer(const meta::v1::Status& from) : status(from) {
    HideIn(status.message);
    HideIn(status.reason);
    HideIn(status.unknown_fields);
    if (!status.details) return;
    meta::v1::StatusDetails& details = *status.details;
    for (String* text : {&details.name, &details.group, &details.kind, &details.uid}) HideIn(*text);
    HideIn(details.unknown_fields);
    for (meta::v1::StatusCause& cause : details.causes) {
      for (String* text : {&cause.field, &cause.message, &cause.reason}) HideIn(*text);
      HideIn(cause.unknown_fields);
    }
  }
  meta::v1::Status status;
};

// Appends text with control characters replaced, so that a message stays on one line of a log.
void AppendLine(std::string& out, std::string_view text) {
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    out += is_control ? ' ' : c;
  }
}

}  // namespace

struct Error::State : SharedObject {
  Code code = Code::kInternal;
  std::string message;
  std::string doing;  // "get pods default/web-0: list pods: "
  Shared<const Answer> answer;
  std::int32_t retry_after_seconds = 0;
  bool not_connected = false;
  const ErrorTag* tag = nullptr;

  // SharedObject itself is not copied: a copy is a new object.
  static Shared<State> CopyOf(const State* from) {
    auto copy = MakeShared<State>();
    if (from == nullptr) return copy;
    copy->code = from->code;
    copy->message = from->message;
    copy->doing = from->doing;
    copy->answer = from->answer;
    copy->retry_after_seconds = from->retry_after_seconds;
    copy->not_connected = from->not_connected;
    copy->tag = from->tag;
    return copy;
  }
};

Error::Error(Shared<const State> state) noexcept : state_(std::move(state)) {}

Error::Error(Code code, std::string_view message) {
  auto state = MakeShared<State>();
  state->code = code;
  state->message = message;
  detail::HideSecrets(state->message);
  state_ = state;
}

Error Error::FromStatus(const meta::v1::Status& status, Code code) {
  auto state = MakeShared<State>();
  state->code = code;
  auto answer = MakeShared<const Answer>(status);
  state->message = answer->status.message.str();
  if (state->message.empty()) state->message = answer->status.reason.str();
  if (state->message.empty()) state->message = "the server gave no message";
  state->answer = std::move(answer);
  state->retry_after_seconds = *status.details->retryAfterSeconds;
  return Error(Shared<const State>(state));
}

Error Error::NotConnected(std::string_view message, Code code) {
  auto state = MakeShared<State>();
  state->code = code;
  state->message = message;
  detail::HideSecrets(state->message);
  state->not_connected = true;
  return Error(Shared<const State>(state));
}

// A moved-from Error reads as an internal one without a message.
Code Error::code() const noexcept { return state_ ? state_->code : Code::kInternal; }

const std::string& Error::message() const noexcept {
  static const std::string& none = *new std::string;  // never destroyed, since it may be read while the process exits
  return state_ ? state_->message : none;
}

const meta::v1::Status* Error::status() const noexcept {
  return state_ && state_->answer ? &state_->answer->status : nullptr;
}

std::int32_t Error::retry_after_seconds() const noexcept { return state_ ? state_->retry_after_seconds : 0; }

bool Error::not_connected() const noexcept { return state_ && state_->not_connected; }

bool Error::HasTag(const ErrorTag& tag) const noexcept { return state_ && state_->tag == &tag; }

Error Error::With(std::string_view doing) const {
  const std::string step = std::string(doing) + ": ";
  if (state_ && state_->doing.starts_with(step)) return *this;
  auto state = State::CopyOf(state_.get());
  state->doing.insert(0, step);
  return Error(Shared<const State>(state));
}

Error Error::WithRetryAfter(std::int32_t seconds) const {
  auto state = State::CopyOf(state_.get());
  state->retry_after_seconds = seconds;
  return Error(Shared<const State>(state));
}

Error Error::WithTag(const ErrorTag& tag) const {
  auto state = State::CopyOf(state_.get());
  state->tag = &tag;
  return Error(Shared<const State>(state));
}

std::string Error::ToString() const {
  std::string line;
  if (state_) AppendLine(line, state_->doing);
  AppendLine(line, message());
  line.append(" (").append(kgen::ToString(code()));
  const meta::v1::Status* answer = status();
  if (answer != nullptr && answer->code) line += ", " + std::to_string(*answer->code);
  if (retry_after_seconds() > 0) line += ", retry after " + std::to_string(retry_after_seconds()) + " s";
  line += ')';
  if (answer == nullptr) return line;
  std::string_view separator = ": ";
  for (const meta::v1::StatusCause& cause : answer->details->causes) {
    // Servers write the causes into the message as well.
    if (!cause.message.empty() && message().contains(std::string_view(cause.message))) continue;
    line += separator;
    separator = "; ";
    std::string_view between;
    for (const String* part : {&cause.field, &cause.reason, &cause.message}) {
      if (part->empty()) continue;
      line += between;
      AppendLine(line, *part);
      between = part == &cause.field ? ": " : " - ";
    }
  }
  return line;
}

Exception::Exception(Error error) : error_(std::move(error)), text_(error_.ToString()) {}

namespace detail {

void ThrowError(Error error) { throw Exception(std::move(error)); }

}  // namespace detail
}  // namespace kgen
