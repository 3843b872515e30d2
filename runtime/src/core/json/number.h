// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Converts JSON numbers to C++ numbers and back, independently of the locale.
#ifndef KGEN_SRC_CORE_JSON_NUMBER_H_
#define KGEN_SRC_CORE_JSON_NUMBER_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kgen::detail {

// std::from_chars() for a double, which libc++ before version 20 does not have.
std::from_chars_result ReadDouble(std::string_view text, double& value) noexcept;

// True if the text is a number in JSON syntax. All functions below take such text.
bool IsJsonNumber(std::string_view text) noexcept;

// Returns false if the value is not an integer, or not within 64 bits. `1.0` and `1e3` are integers; the decision is
// exact.
bool ParseInteger(std::string_view number, bool plain, std::int64_t& value) noexcept;

// Sets `value` to the nearest double. Returns false if the number is too large, or is a 64-bit integer that a double
// cannot represent exactly. Servers store all other numbers as doubles anyway, so no other number loses precision here.
bool ParseDouble(std::string_view number, double& value) noexcept;

// Returns the canonical spelling of a number: integers in digits (with an exponent if there are more than 20),
// everything else as the shortest text of the nearest double. Two numbers are the same JSON value if their canonical
// spellings are equal.
std::string CanonicalNumber(std::string_view number);

// The size of a buffer that holds any number that the two functions below write.
inline constexpr std::size_t kNumberRoom = 32;
char* WriteInteger(std::int64_t value, char* to) noexcept;
// Writes the shortest text that reads back as this double, with or without an exponent by the rules of Go's
// encoding/json, so that most numbers keep the server's spelling. Writes `null` for NaN and infinities, which JSON does
// not have.
char* WriteDouble(double value, char* to) noexcept;
// True if WriteDouble() writes `value`, which was parsed from `number`, with the same spelling. `plain` is as above.
bool IsWrittenSo(double value, std::string_view number, bool plain) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_JSON_NUMBER_H_
