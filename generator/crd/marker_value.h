// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The values of markers, in the spelling of kubebuilder: text, "text", `text`, a;b, {a,b}, {a: 1, b: {c: d}}, and JSON.
#ifndef KGEN_GENERATOR_CRD_MARKER_VALUE_H_
#define KGEN_GENERATOR_CRD_MARKER_VALUE_H_

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::generator::crd {

std::string_view TrimSpaces(std::string_view text);

// Returns the text with the letters A to Z in lower case.
std::string AsciiLower(std::string_view text);

// Whether `text` is a number as JSON writes it, and finite.
bool IsJsonNumber(std::string_view text);

// A value at the start of a text. Errors say what is wrong, for a message.
struct ReadValue {
  std::string text;
  bool quoted = false;
};
// Takes it from the front of `text`, up to one of `ends` outside of quotes and braces, or up to the end.
std::expected<ReadValue, std::string> TakeValue(std::string_view& text, std::string_view ends);
// Takes the elements of a;b or {a,b}. A separator behind the last one is allowed.
std::expected<std::vector<std::string>, std::string> TakeList(std::string_view& text, std::string_view ends);

// A whole value as compact JSON with sorted keys. Braces are an object if a colon follows their first word, else a
// list; a word is a number, a bool or null if JSON reads it as one, else a text.
std::expected<std::string, std::string> ToJson(std::string_view text);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_MARKER_VALUE_H_
