// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Percent-encoding of the paths and queries of requests.
#ifndef KGEN_SRC_CLIENT_REQUEST_URL_ENCODING_H_
#define KGEN_SRC_CLIENT_REQUEST_URL_ENCODING_H_

#include <string>
#include <string_view>
#include <utility>

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

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_URL_ENCODING_H_
