// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HttpPort: one address of an HTTP/1.1 server. It decides which connections stay when there are too many.
//
//   TcpListener --> HttpConnection (Wire, Http1Session) --requests--> HttpSite
//
// A connection that has sent no complete request, or waits for its next one, costs its client nothing. So it may not
// keep others out: if there are too many connections, the port closes the oldest of these for a new one. If all have a
// complete request, `cuts_requests` decides: either a request is cut short, the oldest one that yields if there is any
// (HttpSite::Yields), or the new connection waits, unread. Requests that yield are also limited in number while there
// is room.
//
// Among the connections that may be closed, the address that has most of them loses one first. That protects the others
// from one address, and changes nothing where all clients have the same address, as behind a translating router.
#ifndef KGEN_SRC_CONTROLLER_HTTP_HTTP_PORT_H_
#define KGEN_SRC_CONTROLLER_HTTP_HTTP_PORT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "controller/http/byte_budget.h"
#include "controller/http/http_site.h"
#include "controller/http/running_work.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "net/event_loop.h"
#include "net/http1_session.h"
#include "net/tls.h"

namespace kgen::controller {

class HttpConnection;

struct HttpPortOptions {
  std::string address{};
  // For messages: who listens, and what to do if the address cannot be used.
  std::string who = "the server";
  std::string remedy = "choose another address";
  // The certificate of a new connection; null: the connection is closed. No function: plain HTTP.
  std::function<Shared<net::TlsContext>()> certificate{};
  // `max_body` is what HttpSite::MaxBody() says.
  net::Http1Session::Limits limits = {
      .max_header = 16 * 1024, .max_body = 0, .max_ahead = 64 * 1024, .max_output = 64 * 1024};
  std::size_t max_connections = 256;
  std::size_t max_yielding = 64;  // connections with a request that yields
  bool cuts_requests = true;
  // What bodies and answers hold together. A connection whose body does not fit is not read.
  std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
  Nanos request_limit = std::chrono::seconds(32);  // for a whole request, and the handshake before it
  Nanos answer_limit = std::chrono::seconds(90);
  Nanos idle_limit = std::chrono::seconds(90);
};

// Thread safety: the members above the line from any thread; none blocks. The rest on the loop's thread.
// Lifetime: the loop and the connections hold it until Close() or the end of the loop.
class HttpPort final : public SharedObject, private net::EventLoop::User {
 public:
  // Connections are accepted, and wait until Open(). `clock` is for HttpCall::begun.
  // Errors: kConfig       the address is malformed
  //         kUnavailable  it is in use or not one of this machine
  static Result<Shared<HttpPort>> Bind(HttpPortOptions options, Shared<net::EventLoop> loop, Shared<Clock> clock,
                                       Shared<HttpSite> site, Shared<RunningWork> running);
  // The IP address in an address; "" if that names none. Errors: kConfig  as of Bind()
  static Result<std::string> IpOf(const std::string& address, std::string_view who);

  void Open();
  // From now on, each connection is closed after the response to its request.
  void Drain();
  // Stops accepting, and closes the connections once they have no request.
  void Finish();
  void Close();
  const std::string& address() const noexcept { return address_; }

  HttpPort(HttpPortOptions options, Shared<net::EventLoop> loop, Shared<Clock> clock, Shared<HttpSite> site,
           Shared<RunningWork> running);

  // ---- For connections. ----
  void OnClosed(HttpConnection* connection);
  // `connection` has a request that yields.
  void MakeRoomToYield(const HttpConnection* connection);
  // A connection has no request any more.
  void OnIdle() { AdmitWaiting(); }
  // `connection` waits for room for its body.
  void WaitForBytes(HttpConnection* connection);
  HttpSite& site() noexcept { return *site_; }
  const HttpPortOptions& options() const noexcept { return options_; }
  const Shared<net::EventLoop>& loop() const noexcept { return loop_; }
  const Shared<RunningWork>& running() const noexcept { return running_; }
  const Shared<ByteBudget>& budget() const noexcept { return budget_; }
  TimePoint Now() noexcept { return clock_->Now(); }
  bool drains() const noexcept { return drains_; }
  // Grows with each call.
  std::uint64_t NextTurn() noexcept { return ++turns_; }

 private:
  using Connections = std::vector<Shared<HttpConnection>>;

  Result<void> Listen();
  void Accept(Shared<net::TcpStream> stream);
  void Serve(const Shared<net::TcpStream>& stream);
  bool MakeRoom();
  void AdmitWaiting();
  void ServeWaiting();
  void OnRoomForBytes();
  void ResumeWaiting();
  // The connections for which `which` returns true.
  template <typename Which>
  Connections Select(Which which) const;
  void BeginStop();
  void CloseAll();
  void OnLoopStop() noexcept override { CloseAll(); }

  const HttpPortOptions options_;
  const Shared<net::EventLoop> loop_;
  const Shared<Clock> clock_;
  const Shared<HttpSite> site_;
  const Shared<RunningWork> running_;
  const Shared<ByteBudget> budget_;
  std::string address_;  // set by Bind()

  // The members below are used on the loop's thread.
  Shared<net::TcpListener> listener_;
  std::vector<Shared<net::TcpStream>> waiting_;  // connections before Open(), or for which there is no room
  Connections connections_;
  Connections short_of_bytes_;  // those that wait for room for a body, the oldest first
  std::uint64_t turns_ = 0;
  bool open_ = false, drains_ = false, closed_ = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_HTTP_HTTP_PORT_H_
