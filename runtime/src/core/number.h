// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// JSON numbers into C++ numbers and back. Independent of the locale.
#ifndef KGEN_SRC_CORE_NUMBER_H_
#define KGEN_SRC_CORE_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kgen::detail {

// Whether the text is a number as JSON spells them. All functions below take such text.
bool IsJsonNumber(std::string_view text) noexcept;

// False if the value is not an integer, or not within 64 bits. `1.0` and `1e3` are integers; the decision is exact.
bool ParseInteger(std::string_view number, bool plain, std::int64_t& value) noexcept;

// The nearest double. False if the value is too large, or a 64-bit integer that a double would change. Servers store
// other numbers as doubles anyway, so only such integers can be received exactly.
bool ParseDouble(std::string_view number, double& value) noexcept;

// The one spelling of a number: integers in digits (with an exponent beyond 20 of them), everything else as the
// shortest text of the nearest double. Two numbers are the same JSON value if their canonical spellings are equal.
std::string CanonicalNumber(std::string_view number);

// Room for any number that the two functions below write.
inline constexpr std::size_t kNumberRoom = 32;
char* WriteInteger(std::int64_t value, char* to) noexcept;
// The shortest text that reads back as this double, with or without an exponent by the rules of Go's encoding/json, so
// that most numbers keep the server's spelling. `null` for NaN and infinities, which JSON does not have.
char* WriteDouble(double value, char* to) noexcept;
// Whether WriteDouble() writes `value`, which was parsed from `number`, with the same spelling. `plain` as above.
bool IsWrittenSo(double value, std::string_view number, bool plain) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_NUMBER_H_
