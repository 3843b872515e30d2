// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Transport: carries bytes to and from an API server. It is the interface between the client and HTTP/2, or a simulated
// server.
//
//   Connection --Start(request, sink)--> Transport --I/O thread--> sink.OnHead, OnBytes..., OnEnd
//
// A transport knows nothing about Kubernetes. It never decodes, never runs user code and never blocks. A slow reader
// holds back its own stream and nothing else, because only Exchange::Consumed() returns flow-control credit.
#ifndef KGEN_NET_TRANSPORT_H_
#define KGEN_NET_TRANSPORT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

// A header of a request or a response.
struct HttpHeader {
  std::string name;  // lower case
  std::string value;
};

// Decides, at the last moment, whether a request may still be sent: a write of a leader, for example, only while its
// lease lasts. Shared by all requests of a Connection::With().
//
// Thread safety: called on any thread, the I/O thread included; must be short and must not block.
class SendGuard : public SharedObject {
 public:
  // An error ends the request instead of sending it. Make the error beforehand: this must not throw.
  virtual Result<void> MaySend() noexcept = 0;
  // How long a request that is sent now may take at most. A client shortens the request's own time limit to that, which
  // servers get as `timeout`. Called after MaySend(), and must not throw either. Default: no limit.
  virtual Nanos TimeLeft() noexcept { return kNoLimit; }
};

// A request as a transport sends it.
struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // with the query
  std::vector<HttpHeader> headers{};
  std::string body{};
  bool long_lived = false;  // a watch: counts against the share of streams that watches may take
  // If set, asked immediately before the request is sent, after any wait for a connection or a free stream. A transport
  // that ignores it may send requests too late.
  Shared<SendGuard> guard{};
};

// The beginning of a response.
struct HttpHead {
  int status = 0;                     // of HTTP, such as 200
  std::vector<HttpHeader> headers{};  // in the order of the response
  // Returns the first header of that name (lower case), or "".
  std::string_view Header(std::string_view name) const noexcept;
};

// Says how an exchange ended.
struct HttpEnd {
  // Take a success or an error, and whether the connection broke.
  HttpEnd(Result<void> how = {}, bool lost = false) : result(std::move(how)), connection_lost(lost) {}
  HttpEnd(std::unexpected<Error> how, bool lost = false) : HttpEnd(Result<void>(std::move(how)), lost) {}
  Result<void> result;  // success if the response is complete
  // The connection broke during this exchange, so a GET is worth another attempt. False if there was no connection at
  // all, or if only this exchange was reset.
  bool connection_lost;
  // How far a cancelled exchange had come, for the message of a timeout: "still connecting to 10.0.0.1:6443: no answer
  // yet". May be empty.
  std::string progress{};
};

// Receives one response. Calls come one after the other, on the transport's I/O thread (or the simulation), must be
// short and must not block: they post. OnEnd is the last call, and comes exactly once for every started exchange,
// cancelled ones included.
class ResponseSink : public SharedObject {
 public:
  // The status and the headers have arrived. Called at most once, before any OnBytes().
  virtual void OnHead(HttpHead head) = 0;
  // The next part of the body has arrived. The reader calls Exchange::Consumed() when it has processed it.
  virtual void OnBytes(std::string bytes) = 0;
  // Errors: kUnavailable  refused, reset, GOAWAY, frozen peer (PING without answer), name not resolved
  //         kTls          certificate or handshake
  //         not_connected() is set if there was no connection at all.
  //         kCancelled    Cancel() was called, or the transport was closed
  virtual void OnEnd(HttpEnd end) = 0;
};

// A handle to a request that is under way. Thread safety: all members from any thread; none blocks. Dropping the handle
// does not cancel the request.
class Exchange : public SharedObject {
 public:
  // The reader has processed this many bytes of the body, so the peer may send as many more.
  virtual void Consumed(std::size_t bytes) noexcept = 0;
  // Gives back a string that OnBytes() passed on, so that its memory can be used for a later one. Optional.
  virtual void Recycle(std::string&& /*bytes*/) noexcept {}
  // OnEnd(kCancelled) follows, unless the end came first. Idempotent.
  virtual void Cancel() noexcept = 0;
};

// Thread safety: all members from any thread; none blocks.
class Transport : public SharedObject {
 public:
  // Starts a request. It does not fail: errors go to the sink. Requests beyond the server's stream limit wait their
  // turn; short ones never wait behind watches.
  virtual Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) = 0;
  // Cancels everything; later Start() ends with kCancelled at once. Idempotent.
  virtual void Close() noexcept = 0;
};

}  // namespace kgen

#endif  // KGEN_NET_TRANSPORT_H_
