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

#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/net/transport.h"
#include "net/client_identity.h"
#include "net/dial.h"
#include "net/http2_options.h"

namespace kgen {

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
