// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The server side of one HTTP/1.1 connection: of the endpoint for health and metrics, of the webhook server, and of the
// in-memory cluster for clients that do not speak HTTP/2. Boost.Beast parses the requests;
// this class frames the responses, with keep-alive, and in chunks if the length is not known at the start.
//
//   the server's connection --bytes--> Http1Session --OnHttp1Request--> the server --ResponseWriter--> Http1Session
//
// The session handles one request at a time; pipelined requests wait. If a request cannot be parsed, the session
// responds with 400 (or the more specific 413, 417 or 431) and ends the connection. After a 413 it reads and discards
// up to 64 MiB of the remaining input, so that the client can read the response. Targets may be URLs, as clients send
// them to proxies. Upgrade headers are ignored.
#ifndef KGEN_SRC_NET_HTTP1_SESSION_H_
#define KGEN_SRC_NET_HTTP1_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kgen/core/shared.h"
#include "net/event_loop.h"
#include "net/response_writer.h"
#include "net/wire.h"

namespace kgen::net {

// All members on the loop's thread.
class Http1Session : public SharedObject {
 public:
  // A response that is there as a whole.
  struct Reply {
    int status = 200;
    std::string content_type{};
    std::string body{};
  };
  class User {
   public:
    // The head of a request with a body has arrived, and `length` if the head says it. Returns the limit of the body;
    // nothing: Limits::max_body.
    virtual std::optional<std::size_t> OnHttp1Head(const ServerRequest& /*head*/,
                                                   std::optional<std::uint64_t> /*length*/) {
      return std::nullopt;
    }
    // The body is larger than that, and is not read. Returns the response; nothing: 413. The connection ends with it.
    virtual std::optional<Reply> OnHttp1TooLarge() { return std::nullopt; }
    // Whether the body may have `bytes` now. If not, the session takes no input until Resume(), and the user should
    // pause the wire.
    virtual bool OnHttp1Body(std::size_t /*bytes*/) { return true; }
    virtual void OnHttp1Request(ServerRequest request, Shared<ResponseWriter> writer) = 0;
    virtual void OnHttp1End() = 0;  // the response to a request has ended, or will never be sent
    // The connection is no longer needed. The user closes the wire and this session.
    virtual void OnHttp1Close() = 0;

   protected:
    ~User() = default;
  };

  struct Limits {
    std::uint32_t max_header = 64 * 1024;  // of the request line and the headers of a request; the response is 431
    std::size_t max_body = 0;              // of a request; the response to a larger one is 413
    std::size_t max_ahead = 1024 * 1024;   // of pipelined input, which arrives before the response has ended
    std::size_t max_output = 256 * 1024;   // of a response, that the wire holds; the rest waits in the writer
  };

  // `wire` is open. `user` must live until Close().
  static Shared<Http1Session> Make(Shared<EventLoop> loop, Shared<Wire> wire, User* user, const Limits& limits);

  virtual void OnBytes(std::string_view plain) = 0;
  virtual void OnBatchEnd() = 0;
  virtual void OnDrained() = 0;
  // OnHttp1Body() may be asked again.
  virtual void Resume() = 0;
  // Closes the connection after the response to the current request, or else to the next one.
  virtual void CloseAfterResponse() = 0;
  // Calls OnHttp1End(), before it returns, if a request is in progress; makes no other calls, and none afterwards.
  // Idempotent.
  virtual void Close() = 0;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_HTTP1_SESSION_H_
