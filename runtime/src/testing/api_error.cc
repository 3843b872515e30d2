// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/api_error.h"
#include "core/json/compact_json.h"

#include "core/quoted.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

json Details(const ResourceInfo& resource, std::string_view name, std::string_view kind) {
  json details = json::object();
  if (!name.empty()) details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  if (!kind.empty()) details["kind"] = kind;
  return details;
}

using detail::Quoted;

}  // namespace

json ApiError::ToStatus() const {
  json status = {{"kind", "Status"},   {"apiVersion", "v1"}, {"metadata", metadata}, {"status", "Failure"},
                 {"message", message}, {"reason", reason},   {"code", code}};
  if (reason.empty()) status.erase("reason");
  if (!details.is_null()) status["details"] = details;
  if (retry_after_seconds) status["details"]["retryAfterSeconds"] = *retry_after_seconds;
  return status;
}

// Messages quote client input, which may not be valid UTF-8.
std::string ApiError::Body() const { return detail::CompactJson(ToStatus()) + '\n'; }

std::string Qualified(const ResourceInfo& resource) {
  return resource.group.empty() ? resource.plural : resource.plural + "." + resource.group;
}

ApiError BadRequest(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

ApiError NotFound(const ResourceInfo& resource, std::string_view name) {
  return {.code = 404,
          .reason = "NotFound",
          .message = Qualified(resource) + " " + Quoted(name) + " not found",
          .details = Details(resource, name, resource.plural)};
}

ApiError UnknownPath() {
  return {.code = 404,
          .reason = "NotFound",
          .message = "the server could not find the requested resource",
          .details = json::object()};
}

ApiError AlreadyExists(const ResourceInfo& resource, std::string_view name) {
  return {.code = 409,
          .reason = "AlreadyExists",
          .message = Qualified(resource) + " " + Quoted(name) + " already exists",
          .details = Details(resource, name, resource.plural)};
}

ApiError Conflict(const ResourceInfo& resource, std::string_view name, std::string_view why) {
  return {.code = 409,
          .reason = "Conflict",
          .message =
              "Operation cannot be fulfilled on " + Qualified(resource) + " " + Quoted(name) + ": " + std::string(why),
          .details = Details(resource, name, resource.plural)};
}

ApiError MethodNotAllowed() {
  return {.code = 405,
          .reason = "MethodNotAllowed",
          .message = "the server does not allow this method on the requested resource",
          .details = json::object()};
}

ApiError Forbidden(const ResourceInfo& resource, std::string_view name, std::string_view why) {
  return {.code = 403,
          .reason = "Forbidden",
          .message = Qualified(resource) + " " + Quoted(name) + " is forbidden: " + std::string(why),
          .details = Details(resource, name, resource.plural)};
}

ApiError InternalError(std::string_view why) {
  return {.code = 500,
          .reason = "InternalError",
          .message = "Internal error occurred: " + std::string(why),
          .details = {{"causes", {{{"message", why}}}}}};
}

ApiError NotAcceptable(std::string_view why) {
  return {.code = 406, .reason = "NotAcceptable", .message = std::string(why)};
}

ApiError UnsupportedMediaType(std::string_view why) {
  return {.code = 415, .reason = "UnsupportedMediaType", .message = std::string(why)};
}

ApiError Expired(std::string message) { return {.code = 410, .reason = "Expired", .message = std::move(message)}; }

ApiError TooLargeResourceVersion(std::uint64_t asked, std::uint64_t current) {
  return {.code = 504,
          .reason = "Timeout",
          .message = "Too large resource version: " + std::to_string(asked) + ", current: " + std::to_string(current),
          .details = {{"causes", {{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}}}},
          .retry_after_seconds = 1};
}

ApiError Invalid(const ResourceInfo& resource, std::string_view name, const std::vector<FieldFault>& faults) {
  std::string message;
  json causes = json::array();
  for (const FieldFault& fault : faults) {
    if (!message.empty()) message += ", ";
    message += fault.field + ": " + fault.message;
    causes.push_back({{"reason", fault.reason}, {"message", fault.message}, {"field", fault.field}});
  }
  if (faults.size() > 1) message = '[' + message + ']';
  const std::string kind = resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
  json details = Details(resource, name, resource.kind);
  details["causes"] = std::move(causes);
  return {.code = 422,
          .reason = "Invalid",
          .message = kind + " " + Quoted(name) + " is invalid: " + message,
          .details = std::move(details)};
}

}  // namespace kgen::testing
