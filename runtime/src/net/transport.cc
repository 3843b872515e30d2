// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/net/transport.h"

namespace kgen {

std::string_view HttpHead::Header(std::string_view name) const noexcept {
  for (const HttpHeader& header : headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

}  // namespace kgen
