// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EndpointServer: the life of an endpoint, with its addresses.
//
//   HttpPort, ... --requests--> EndpointRoutes
#ifndef KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_SERVER_H_
#define KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_SERVER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/http/certificate_watcher.h"
#include "controller/http/http_port.h"
#include "controller/http/running_work.h"
#include "controller/serve/endpoint_routes.h"
#include "core/memory/mutex.h"
#include "kgen/controller/endpoint.h"
#include "net/event_loop.h"

namespace kgen::controller {

// Thread safety: all members from any thread; Stop() blocks.
class EndpointServer final : public SharedObject {
 public:
  // Errors: as of Endpoint::Listen()
  static Result<Shared<EndpointServer>> Listen(const EndpointOptions& options, Shared<net::EventLoop> loop);

  Result<void> Add(EndpointRoutes::Kind kind, std::string_view name, EndpointRoutes::Function function);
  Result<void> AddSection(std::string_view name, EndpointRoutes::Section section);
  Result<void> AddPage(std::string_view path, Endpoint::Page page);
  Result<void> Start();
  Result<void> Stop(Nanos limit);
  // Closes everything. Running functions go on until they return.
  void Close();
  const std::string& address() const noexcept { return address_; }
  const std::string& health_address() const noexcept { return health_address_; }
  const std::string& debug_address() const noexcept { return debug_address_; }

  EndpointServer(const EndpointOptions& options, Shared<net::EventLoop> loop);

 private:
  Result<void> CheckNew(std::string_view name) const KGEN_REQUIRES(mutex_);
  Result<void> Open(const EndpointOptions& options);
  Result<void> LoadCertificate(const EndpointOptions& options);
  Result<std::string> Bind(EndpointRoutes::Pages pages, HttpPortOptions options);
  Result<void> OpenDebug(const std::string& address);
  void StopFunctions();

  const Shared<net::EventLoop> loop_;
  const Shared<Executor> executor_;
  const Shared<RunningWork> running_ = MakeShared<RunningWork>("the endpoint");
  const Shared<EndpointRoutes> routes_;
  // Set by Listen().
  Shared<CertificateWatcher> certificate_;  // or null
  std::vector<Shared<HttpPort>> ports_;
  std::string address_, health_address_, debug_address_;
  Mutex mutex_;
  enum class State : std::uint8_t { kNew, kStarted, kStopped } state_ KGEN_GUARDED_BY(mutex_) = State::kNew;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_SERVER_H_
