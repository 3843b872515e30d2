// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How a transport tells "there was no connection" from "the connection was lost": both are kUnavailable, only the
// second is worth another attempt of a GET at once. [CLI REST-20, REST-21]
#ifndef KGEN_SRC_CLIENT_TRANSPORT_ERRORS_H_
#define KGEN_SRC_CLIENT_TRANSPORT_ERRORS_H_

#include <string_view>

#include "kgen/core/result.h"

namespace kgen::client {

// Begins the message of an error after which no connection came about: refused, unreachable, name not resolved.
inline constexpr std::string_view kCannotConnect = "cannot connect";

inline bool IsConnectionLost(const Error& error) {
  return error.code() == Code::kUnavailable && !error.message().starts_with(kCannotConnect);
}

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_TRANSPORT_ERRORS_H_
