// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Encodes and decodes URLs, durations and base64 for requests and configs, and checks names.
#ifndef KGEN_SRC_NET_TEXT_H_
#define KGEN_SRC_NET_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "kgen/core/clock.h"

namespace kgen::client {

// Percent-encodes, once, every character that is not allowed in a path segment.
std::string EscapeSegment(std::string_view text);

// Collects "key=value" pairs. Call Add() in byte order of the keys to get a sorted query.
class QueryBuilder {
 public:
  void Add(std::string_view key, std::string_view value);
  void AddIfSet(std::string_view key, std::string_view value) {
    if (!value.empty()) Add(key, value);
  }
  std::string Take() { return std::move(query_); }

 private:
  std::string query_;
};

// Returns a query with one more pair, inserted in the order of the keys. Unchanged if the key is already there.
std::string WithQueryPair(std::string query, std::string_view key, std::string_view value);

// Returns Go's text form, which servers read: "32s", "1m30s", "250ms".
std::string DurationText(Nanos duration);

// Decodes the standard alphabet with padding; ignores blanks and line ends. Returns nothing for any other text.
std::optional<std::string> DecodeBase64(std::string_view text);

std::string_view Trim(std::string_view text) noexcept;

// True for a label value that is not empty; it may also be the name part of a qualified name.
bool IsLabelName(std::string_view text) noexcept;
// True for what most objects may be called: labels of lower-case letters, digits and dashes, separated by dots.
bool IsSubdomain(std::string_view text) noexcept;
// True for a label key: "app", "shop.example.com/app".
bool IsQualifiedName(std::string_view text) noexcept;

}  // namespace kgen::client

#endif  // KGEN_SRC_NET_TEXT_H_
