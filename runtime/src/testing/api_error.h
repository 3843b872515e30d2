// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The errors of the in-memory API server. Each becomes a Status with the wording of a real server, because programs and
// people rely on that wording.
#ifndef KGEN_SRC_TESTING_API_ERROR_H_
#define KGEN_SRC_TESTING_API_ERROR_H_

#include <expected>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/testing/cluster.h"

namespace kgen::testing {

struct ApiError {
  int code = 500;
  std::string reason{};
  std::string message{};
  nlohmann::json details{};  // an object, or null
  std::optional<int> retry_after_seconds{};
  nlohmann::json metadata = nlohmann::json::object();  // ListMeta, for an expired continue token

  std::string Body() const;  // the Status as JSON
  nlohmann::json ToStatus() const;
};

template <typename T>
using ApiResult = std::expected<T, ApiError>;

inline std::unexpected<ApiError> Refuse(ApiError error) { return std::unexpected<ApiError>(std::move(error)); }

ApiError BadRequest(std::string message);
ApiError NotFound(const ResourceInfo& resource, std::string_view name);
ApiError UnknownPath();  // "the server could not find the requested resource"
ApiError AlreadyExists(const ResourceInfo& resource, std::string_view name);
ApiError Conflict(const ResourceInfo& resource, std::string_view name, std::string_view why);
ApiError MethodNotAllowed();
ApiError Forbidden(const ResourceInfo& resource, std::string_view name, std::string_view why);
ApiError InternalError(std::string_view why);
ApiError NotAcceptable(std::string_view why);
ApiError UnsupportedMediaType(std::string_view why);
ApiError Expired(std::string message);
ApiError TooLargeResourceVersion(std::uint64_t asked, std::uint64_t current);

// A validation error of one field of an object.
struct FieldFault {
  std::string reason;   // FieldValueInvalid, FieldValueRequired, FieldValueTypeInvalid, FieldValueTooLong, ...
  std::string field;    // "spec.replicas"
  std::string message;  // "Required value"
};
ApiError Invalid(const ResourceInfo& resource, std::string_view name, const std::vector<FieldFault>& faults);

// The name of a resource in messages: "pods" or "orders.shop.example".
std::string Qualified(const ResourceInfo& resource);

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_API_ERROR_H_
