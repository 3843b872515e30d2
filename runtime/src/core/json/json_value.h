// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: compares JSON text by value (kgen/core/json.h defines equality).
//
// Thread safety: the functions are pure and do not block. Comparing texts of equal bytes costs one comparison of bytes;
// other texts are parsed once and compared in O(n log n), on the stack if they are small. If memory runs out, a text is
// equal only to itself.
#ifndef KGEN_SRC_CORE_JSON_JSON_VALUE_H_
#define KGEN_SRC_CORE_JSON_JSON_VALUE_H_

#include <cstdint>
#include <string_view>

namespace kgen::detail {

// True if both texts are the same JSON value. Text that is not JSON, or nested deeper than 1024, equals only itself.
bool SameJson(std::string_view a, std::string_view b) noexcept;

// Equal texts have equal hashes.
std::uint64_t HashJson(std::string_view text) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_JSON_VALUE_H_
