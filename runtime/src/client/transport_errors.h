// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How the message of a transport's kUnavailable tells that there was no connection at all, to whom only an Error comes;
// whether one was lost stands in HttpEnd. [CLI REST-20, REST-21]
#ifndef KGEN_SRC_CLIENT_TRANSPORT_ERRORS_H_
#define KGEN_SRC_CLIENT_TRANSPORT_ERRORS_H_

#include <string_view>

#include "kgen/core/result.h"

namespace kgen::client {

// Begins the message of an error after which no connection came about: refused, unreachable, name not resolved.
inline constexpr std::string_view kCannotConnect = "cannot connect";

inline bool CannotConnect(const Error& error) {
  return error.code() == Code::kUnavailable && error.message().starts_with(kCannotConnect);
}

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_TRANSPORT_ERRORS_H_
