// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EndpointPort: one address of an endpoint. It decides which connections stay when there are too many.
//
//   TcpListener --> EndpointConnection (Wire, Http1Session) --requests--> EndpointRoutes
//
// A connection that has sent no complete request, or waits for its next one, costs its client nothing; and one that
// waits for a page (/metrics, /debug, ...) may wait for user code, for the API server or for a client that does not
// read. Neither may keep a probe of the kubelet out. So a new connection is never refused. Instead the port closes, in
// this order:
//   - the oldest connection without a complete request;
//   - the oldest one with a request for a page. These are also limited in number while there is room;
//   - the oldest one.
// Among these, the address that has most of them loses one first. That protects the others from one address, and
// changes nothing where all clients have the same address, as behind a translating router.
#ifndef KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_PORT_H_
#define KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_PORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "controller/serve/endpoint_routes.h"
#include "controller/serve/running_work.h"
#include "kgen/core/result.h"
#include "net/event_loop.h"
#include "net/tls.h"

namespace kgen::controller {

class EndpointConnection;

struct PortOptions {
  std::string address;
  EndpointRoutes::Pages pages = EndpointRoutes::Pages::kAll;
  // The certificate of a new connection. Empty: plain HTTP.
  std::function<Shared<net::TlsContext>()> certificate{};
};

// Thread safety: the members above the line from any thread; none blocks. The rest on the loop's thread.
// Lifetime: the loop and the connections hold it until Close() or the end of the loop.
class EndpointPort final : public SharedObject, private net::EventLoop::User {
 public:
  // Connections are accepted, and wait until Open().
  // Errors: kConfig       the address is malformed
  //         kUnavailable  it is in use or not one of this machine
  static Result<Shared<EndpointPort>> Bind(PortOptions options, Shared<net::EventLoop> loop,
                                           Shared<EndpointRoutes> routes, Shared<RunningWork> running);
  // The IP address in an address; "" if that names none.
  static Result<std::string> IpOf(const std::string& address);

  void Open();
  // Stops accepting, and closes the connections once they have no request.
  void Finish();
  void Close();
  const std::string& address() const noexcept { return address_; }

  EndpointPort(PortOptions options, Shared<net::EventLoop> loop, Shared<EndpointRoutes> routes,
               Shared<RunningWork> running);

  // ---- For connections. ----
  void OnClosed(EndpointConnection* connection);
  // `connection` has a request for a page.
  void MakeRoomForPage(const EndpointConnection* connection);
  EndpointRoutes& routes() noexcept { return *routes_; }
  EndpointRoutes::Pages pages() const noexcept { return options_.pages; }
  const Shared<net::EventLoop>& loop() const noexcept { return loop_; }
  const Shared<RunningWork>& running() const noexcept { return running_; }
  // Grows with each call.
  std::uint64_t NextTurn() noexcept { return ++turns_; }

 private:
  using Connections = std::vector<Shared<EndpointConnection>>;

  Result<void> Listen();
  void Accept(Shared<net::TcpStream> stream);
  void Serve(const Shared<net::TcpStream>& stream);
  void MakeRoom();
  // The connections for which `which` returns true.
  template <typename Which>
  Connections Select(Which which) const;
  void BeginStop();
  void CloseAll();
  void OnLoopStop() noexcept override { CloseAll(); }

  const PortOptions options_;
  const Shared<net::EventLoop> loop_;
  const Shared<EndpointRoutes> routes_;
  const Shared<RunningWork> running_;
  std::string address_;  // set by Bind()

  // The members below are used on the loop's thread.
  Shared<net::TcpListener> listener_;
  std::vector<Shared<net::TcpStream>> early_;  // connections before Open()
  Connections connections_;
  std::uint64_t turns_ = 0;
  bool open_ = false, closed_ = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_PORT_H_
