// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The times and sizes of the transport, and the loop that it runs on.
#ifndef KGEN_SRC_NET_HTTP2_OPTIONS_H_
#define KGEN_SRC_NET_HTTP2_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "kgen/core/clock.h"
#include "kgen/core/shared.h"
#include "net/event_loop.h"

namespace kgen {

// Only tests change these times or pass a separate loop.
struct Http2Options {
  Nanos connect_timeout = std::chrono::seconds(30);    // names and TCP
  Nanos handshake_timeout = std::chrono::seconds(10);  // TLS and the server's first settings
  Nanos ping_interval = std::chrono::seconds(5);       // of silence while there are requests
  Nanos ping_timeout = std::chrono::seconds(5);        // until a connection without a response is closed
  Nanos idle_timeout = std::chrono::minutes(5);        // without a request, until a connection is closed
  Nanos file_check = std::chrono::minutes(1);          // between reads of certificate files, while there are requests
  Nanos file_check_on_401 = std::chrono::seconds(1);   // and after a 401, when the certificate may be outdated
  std::uint32_t stream_window = 256 * 1024;            // the most that a stalled reader can hold back
  std::uint32_t connection_window = 16 * 1024 * 1024;  // for all streams; returned at once
  std::size_t max_head_bytes = 256 * 1024;             // of a response
  Shared<net::EventLoop> loop{};                       // null: the loop of the process
};

}  // namespace kgen

#endif  // KGEN_SRC_NET_HTTP2_OPTIONS_H_
