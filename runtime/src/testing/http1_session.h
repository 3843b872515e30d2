// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// One HTTP/1.1 connection on the side of the server, for clients that speak no HTTP/2. Boost.Beast parses the requests;
// framing the answers is done here: keep-alive, and chunks where the length is not known at the start.
//
//   ServerSession (http2_server.cc) --bytes--> Http1Session --OnHttp1Request--> ServerSession --> HttpHandler
//
// Requests are answered one after the other; what a client sends ahead waits. A request that cannot be parsed gets 400
// (413, 417 or 431 where that says more) and the connection ends; after 413 what the client still sends is read and
// dropped, up to 64 MiB, so that it gets the answer. Targets may be URLs, as clients send them to proxies. Upgrade
// headers are ignored.
#ifndef KGEN_SRC_TESTING_HTTP1_SESSION_H_
#define KGEN_SRC_TESTING_HTTP1_SESSION_H_

#include <cstddef>
#include <string_view>

#include "client/event_loop.h"
#include "client/wire.h"
#include "kgen/core/shared.h"
#include "testing/http2_server.h"

namespace kgen::testing {

// All members on the loop's thread.
class Http1Session : public SharedObject {
 public:
  class User {
   public:
    virtual void OnHttp1Request(ServerRequest request, Shared<ResponseWriter> writer) = 0;
    virtual void OnHttp1End() = 0;  // a request has been answered, or will never be
    // The connection has served its purpose: closes the wire and this session.
    virtual void OnHttp1Close() = 0;

   protected:
    ~User() = default;
  };

  // `wire` is open. `user` must live until Close().
  static Shared<Http1Session> Make(Shared<net::EventLoop> loop, Shared<net::Wire> wire, User* user,
                                   std::size_t max_body);

  virtual void OnBytes(std::string_view plain) = 0;
  virtual void OnBatchEnd() = 0;
  virtual void OnDrained() = 0;
  // Nothing is called afterwards but OnHttp1End() for a request under way, within this call. Idempotent.
  virtual void Close() = 0;
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_HTTP1_SESSION_H_
