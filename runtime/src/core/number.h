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

// False if the value is no integer, or not within 64 bits. `1.0` and `1e3` are integers; the decision is exact.
bool ParseInteger(std::string_view number, bool plain, std::int64_t& value) noexcept;

// The nearest double. False if it is too large for one, or an integer of 64 bits that would go back as another: of all
// numbers that a double changes only these reach us as somebody wrote them, since a server holds the others as doubles.
bool ParseDouble(std::string_view number, double& value) noexcept;

// The one spelling of a number: integers in digits (with an exponent beyond 20 of them), everything else as the
// shortest text of the nearest double. Two numbers are the same JSON value if their canonical spellings are equal.
std::string CanonicalNumber(std::string_view number);

// Room for any number that the two below write.
inline constexpr std::size_t kNumberRoom = 32;
char* WriteInteger(std::int64_t value, char* to) noexcept;
// The shortest text that reads back as this double, with and without an exponent as Go's encoding/json decides it, so
// that most numbers of a server are spelled as it spelled them. `null` for what JSON cannot say: NaN and infinities.
char* WriteDouble(double value, char* to) noexcept;
// Whether WriteDouble() writes `value`, which was parsed from `number`, as just that. `plain` as above.
bool IsWrittenSo(double value, std::string_view number, bool plain) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_NUMBER_H_
