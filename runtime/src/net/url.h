// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Parses Config::host.
#ifndef KGEN_SRC_NET_URL_H_
#define KGEN_SRC_NET_URL_H_

#include <string>
#include <string_view>

#include "kgen/core/result.h"
#include "kgen/net/tls_config.h"

namespace kgen::net {

struct ServerUrl {
  std::string origin;     // "https://10.0.0.1:6443", "http://[::1]:80": scheme, host, and the port if one was given
  std::string base_path;  // "" or "/a/b": the prefix of every request's path
  bool tls = false;
};

// A host without a scheme must not have a path, and means https if the TLS settings require it, otherwise http. "" is
// localhost. Drops the query and the fragment. Errors: kConfig, which names the host.
Result<ServerUrl> ParseServerUrl(std::string_view host, const rest::TlsConfig& tls);

// Returns `host` for messages and logs, without a password or token before '@'.
std::string WithoutUser(std::string_view host);

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_URL_H_
