// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: writes a tree of nlohmann_json as text.
#ifndef KGEN_SRC_CORE_JSON_COMPACT_JSON_H_
#define KGEN_SRC_CORE_JSON_COMPACT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

namespace kgen::detail {

// The text on one line, without spaces. Bytes that are not UTF-8 become U+FFFD, where dump() alone would throw.
// Json: nlohmann::json or ordered_json.
template <typename Json = nlohmann::json>
std::string CompactJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_COMPACT_JSON_H_
