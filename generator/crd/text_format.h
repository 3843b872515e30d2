// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Texts that have to match a pattern or a format of a schema.
#ifndef KGEN_GENERATOR_CRD_TEXT_FORMAT_H_
#define KGEN_GENERATOR_CRD_TEXT_FORMAT_H_

#include <string_view>

namespace kgen::generator::crd {

// Whether a server finds a pattern in a text. True if this program cannot compile the pattern, which is an error of its
// own.
bool MatchesPattern(std::string_view text, std::string_view pattern);

// Whether a server and the types of kgen take a text for one of the format. A server reads more as a time or a duration
// than kgen::Time and kgen::Duration do.
bool HasFormat(std::string_view text, std::string_view format);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_TEXT_FORMAT_H_
