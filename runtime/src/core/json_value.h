// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: what JSON text means, for the comparison of values that are kept as text (kgen/core/json.h says what counts
// as the same).
//
// Thread safety: pure. Does not block. Texts that are spelled alike cost one comparison of bytes; others are read once
// and compared in O(n log n), on the stack while they are small. When memory runs out, a text is equal to itself only.
#ifndef KGEN_SRC_CORE_JSON_VALUE_H_
#define KGEN_SRC_CORE_JSON_VALUE_H_

#include <cstdint>
#include <string_view>

namespace kgen::detail {

// Whether both texts are the same JSON value. Text that is not JSON, or nested deeper than 1024, equals itself only.
bool SameJson(std::string_view a, std::string_view b) noexcept;

// The same for texts that are the same.
std::uint64_t HashJson(std::string_view text) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_VALUE_H_
