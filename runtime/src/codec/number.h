// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// JSON numbers into C++ numbers and back. Independent of the locale. [COD-16]
#ifndef KGEN_SRC_CODEC_NUMBER_H_
#define KGEN_SRC_CODEC_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kgen::codec {

// All of these take the spelling of a valid JSON number.

// False if the value is no integer, or not within 64 bits. `1.0` and `1e3` are integers; the decision is exact.
// [COD-09]
bool ParseInteger(std::string_view number, bool plain, std::int64_t& value) noexcept;

// The nearest double. False if it is too large for one, or an integer of 64 bits that would go back as another: of all
// numbers that a double changes only these reach us as somebody wrote them, since a server holds the others as doubles.
bool ParseDouble(std::string_view number, double& value) noexcept;

// The one spelling of a number: integers in digits, everything else as the shortest text of the nearest double.
std::string CanonicalNumber(std::string_view number);

// Room for any number that the two below write.
inline constexpr std::size_t kNumberRoom = 32;
char* WriteInteger(std::int64_t value, char* to) noexcept;
char* WriteDouble(double value, char* to) noexcept;  // `null` for what JSON cannot say: NaN and infinities

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_NUMBER_H_
