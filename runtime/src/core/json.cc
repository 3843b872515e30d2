// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/json.h"

#include <nlohmann/json.hpp>

namespace kgen {

Json Json::From(const nlohmann::json& value) {
  // Text that is not UTF-8 becomes U+FFFD: what a server could not read would be worse.
  return Json(std::string_view(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

nlohmann::json Json::Parse() const { return nlohmann::json::parse(text(), /*cb=*/nullptr, /*allow_exceptions=*/false); }

}  // namespace kgen
