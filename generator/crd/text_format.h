// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Texts that have to match a pattern or a format of a schema.
#ifndef KGEN_GENERATOR_CRD_TEXT_FORMAT_H_
#define KGEN_GENERATOR_CRD_TEXT_FORMAT_H_

#include <string>
#include <string_view>

namespace kgen::generator::crd {

// Whether a pattern is found in a text. True if this program cannot compile the pattern, or would take too long: a
// server has RE2.
bool MatchesPattern(const std::string& text, const std::string& pattern);

// Whether a text has a format that both a server and the types of kgen read: date-time, duration, byte, date, uuid,
// ipv4, ipv6, cidr. True for all other formats.
bool HasFormat(const std::string& text, std::string_view format);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_TEXT_FORMAT_H_
