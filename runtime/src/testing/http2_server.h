// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A small HTTP/2 server on loopback that can simulate the faults of a server. It does not depend on Kubernetes. It can
// speak HTTP/1.1 with clients that do not offer HTTP/2 (net/http1_session.h).
//
//   Http2Server --OnRequest(request, writer)--> HttpHandler;   HttpHandler --Head, Write, End--> ResponseWriter
//
//   auto server = Must(Http2Server::Start({}, handler));
//   rest::Config config{.host = server->url(), .tls = {.ca_data = server->ca_pem()}};
#ifndef KGEN_SRC_TESTING_HTTP2_SERVER_H_
#define KGEN_SRC_TESTING_HTTP2_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/response_writer.h"
#include "testing/certificates.h"

namespace kgen::testing {

using net::ResponseWriter;
using net::ServerRequest;

class HttpHandler : public SharedObject {
 public:
  // Called on the server's thread with the whole request; must not block. The handler may respond immediately or keep
  // the writer for later.
  virtual void OnRequest(ServerRequest request, Shared<ResponseWriter> writer) = 0;
};

struct Http2ServerOptions {
  bool tls = true;         // else HTTP/2 with prior knowledge
  std::uint16_t port = 0;  // 0: any free port
  std::uint32_t max_concurrent_streams = 250;
  std::size_t max_body = 64 * 1024 * 1024;   // of a request; the response to a larger one is 413
  Shared<CertificateAuthority> authority{};  // null: a new one
  std::optional<CertificateOptions> certificate{};
  bool client_certificate = false;  // requires a client certificate issued by `authority`
  std::string alpn = "h2";          // "http/1.1": a server that speaks no HTTP/2
  // Speaks HTTP/1.1 with clients that do not offer "h2", and with all clients if `tls` is false. Overrides `alpn`.
  bool http1 = false;
  std::function<void()> on_change{};
};

// Thread safety: all members from any thread; those that return nothing take effect soon.
// Lifetime: the destructor, or Stop(), ends every connection and joins the thread, so neither may run on the server's
// own thread.
class Http2Server : public SharedObject {
 public:
  // Errors: kUnavailable  the port is taken; kInternal  no certificate
  static Result<Shared<Http2Server>> Start(const Http2ServerOptions& options, Shared<HttpHandler> handler);

  virtual void Stop() noexcept = 0;
  virtual std::uint16_t port() const noexcept = 0;
  virtual std::string url() const = 0;                     // "https://127.0.0.1:port"
  virtual const std::string& ca_pem() const noexcept = 0;  // "" without TLS

  // ---- Faults. ----
  // Stops reading and sending on all connections, including later ones. TCP still acknowledges what the client sends.
  virtual void Freeze(bool freeze) = 0;
  virtual void SendGoAway() = 0;
  virtual void ResetStreams(std::uint32_t http2_error) = 0;
  // The next `count` requests are refused unprocessed (REFUSED_STREAM).
  virtual void RefuseNext(int count) = 0;
  // Ends each connection accepted from now on after the server has sent `bytes` bytes, including the handshake. nullopt
  // switches this off.
  virtual void CutAfter(std::optional<std::size_t> bytes) = 0;
  virtual void CutNow() = 0;
  virtual void SetMaxConcurrentStreams(std::uint32_t streams) = 0;

  // ---- Statistics. ----
  virtual std::size_t connections() const noexcept = 0;  // accepted since the start
  virtual std::size_t open_connections() const noexcept = 0;
  virtual std::size_t open_streams() const noexcept = 0;
  virtual std::size_t peak_streams() const noexcept = 0;  // on one connection
  virtual std::size_t pings() const noexcept = 0;         // received
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_HTTP2_SERVER_H_
