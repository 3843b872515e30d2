// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Parses Config::host.
#ifndef KGEN_SRC_CLIENT_URL_H_
#define KGEN_SRC_CLIENT_URL_H_

#include <string>
#include <string_view>

#include "kgen/client/config.h"
#include "kgen/core/result.h"

namespace kgen::client {

struct ServerUrl {
  std::string origin;     // "https://10.0.0.1:6443", "http://[::1]:80": scheme, host, and the port if one was given
  std::string base_path;  // "" or "/a/b": put in front of every request's path
  bool tls = false;
};

// Without a scheme: https if the TLS settings ask for it, else http; and then no path. "" is localhost. Query and
// fragment are dropped. Errors: kConfig, naming the host.
Result<ServerUrl> ParseServerUrl(std::string_view host, const rest::TlsConfig& tls);

// `host` for messages and logs: a password or token before '@' does not belong there.
std::string WithoutUser(std::string_view host);

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_URL_H_
