// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The real transport: HTTP/2 over TLS (https://) or over TCP with prior knowledge (http://).
//
//   Http2Transport --Post--> Pool (queues, connections) --> Session (one connection) --> Wire (TLS) --> TcpStream
//
// All of this runs on the I/O thread of the process, which is started by the first request and joined at exit. Names
// are resolved and certificate files are read in Executor::BlockingShort; the observer is called on a strand.
#ifndef KGEN_SRC_NET_HTTP2_TRANSPORT_H_
#define KGEN_SRC_NET_HTTP2_TRANSPORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/net/transport.h"
#include "net/client_identity.h"
#include "net/dial.h"
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
  Shared<net::EventLoop> loop{};                       // null: that of the process
};

// Reads the certificate files that `config` names, but does not connect. `observer` and `identity` may be null. After a
// change of `identity`, new connections use its client certificate. Errors: kConfig  host or certificates malformed,
// files unreadable
Result<Shared<Transport>> MakeHttp2Transport(const net::ServerConfig& config, Shared<Executor> executor,
                                             Shared<Observer> observer);
Result<Shared<Transport>> MakeHttp2Transport(const net::ServerConfig& config, Shared<Executor> executor,
                                             Shared<Observer> observer, const Http2Options& options,
                                             Shared<net::ClientIdentity> identity = {});

}  // namespace kgen

#endif  // KGEN_SRC_NET_HTTP2_TRANSPORT_H_
