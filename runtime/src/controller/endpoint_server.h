// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EndpointServer: the connections of an endpoint, and their time limits.
//
//   TcpListener --> EndpointConnection (Wire, Http1Session) --requests--> EndpointRoutes
#ifndef KGEN_SRC_CONTROLLER_ENDPOINT_SERVER_H_
#define KGEN_SRC_CONTROLLER_ENDPOINT_SERVER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/event_loop.h"
#include "controller/activity.h"
#include "controller/certificate_watcher.h"
#include "controller/endpoint_routes.h"
#include "core/mutex.h"
#include "kgen/controller/endpoint.h"

namespace kgen::controller {

class EndpointConnection;

// Thread safety: the members above the line from any thread; Stop() blocks. The rest on the loop's thread.
// Lifetime: the loop and the connections hold it until Close() or the end of the loop.
class EndpointServer final : public SharedObject, private net::EventLoop::User {
 public:
  // Errors: as of Endpoint::Listen()
  static Result<Shared<EndpointServer>> Listen(const EndpointOptions& options, Shared<net::EventLoop> loop);

  Result<void> Add(EndpointRoutes::Kind kind, std::string_view name, SharedCall::Function function);
  Result<void> Start();
  Result<void> Stop(Nanos limit);
  // Closes everything. Running functions go on until they return.
  void Close();
  const std::string& address() const noexcept { return address_; }

  EndpointServer(const EndpointOptions& options, Shared<net::EventLoop> loop);

  // ---- For connections. ----
  void OnClosed(EndpointConnection* connection);
  EndpointRoutes& routes() noexcept { return *routes_; }
  const Shared<net::EventLoop>& loop() const noexcept { return loop_; }
  const Shared<Activity>& activity() const noexcept { return activity_; }
  // Grows with each call.
  std::uint64_t NextTurn() noexcept { return ++turns_; }

 private:
  Result<void> LoadCertificate(const EndpointOptions& options);
  Result<void> Bind(const std::string& address);
  void Accept(Shared<net::TcpStream> stream);
  void Open(Shared<net::TcpStream> stream);
  void BeginStop();
  void CloseAll();
  void OnLoopStop() noexcept override { CloseAll(); }

  const Shared<net::EventLoop> loop_;
  const Shared<Executor> executor_;
  const Shared<Activity> activity_ = MakeShared<Activity>();
  const Shared<EndpointRoutes> routes_;
  // Set by Listen(). TLS is with one of the first two, if at all.
  Shared<CertificateWatcher> certificate_;  // of files
  Shared<net::TlsContext> self_signed_;
  std::string address_;
  Mutex mutex_;
  enum class State : std::uint8_t { kNew, kStarted, kStopped } state_ KGEN_GUARDED_BY(mutex_) = State::kNew;

  // On the loop's thread, except that Listen() sets the listener.
  Shared<net::TcpListener> listener_;
  std::vector<Shared<net::TcpStream>> early_;  // connections before Start()
  std::vector<Shared<EndpointConnection>> connections_;
  std::uint64_t turns_ = 0;
  bool open_ = false, closed_ = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_ENDPOINT_SERVER_H_
