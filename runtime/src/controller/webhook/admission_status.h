// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The Status of a denied review.
//
// Thread safety: the functions are pure and do not block.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_STATUS_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_STATUS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "kgen/core/field_errors.h"
#include "kgen/core/object_key.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/result.h"

namespace kgen::controller {

meta::v1::Status DeniedStatus(std::int32_t code, std::string_view reason, std::string_view message);

// Returns what a server answers to an object with these errors: code 422, reason Invalid, and a cause for each.
meta::v1::Status InvalidStatus(const GroupVersionKind& kind, std::string_view name, const FieldErrors& errors);

// Returns the Status that an error of a function stands for: its own, or one for its code. Nothing for an error that a
// client must not see: it is not about the request, but about what the webhook does.
std::optional<meta::v1::Status> StatusOf(const Error& error);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_STATUS_H_
