// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/endpoint.h"

#include <utility>

#include "controller/serve/endpoint_server.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "net/event_loop.h"

namespace kgen {

using controller::EndpointRoutes;
using controller::EndpointServer;

// The server outlives the handles for as long as the loop uses it.
class Endpoint::Handle final : public SharedObject {
 public:
  explicit Handle(Shared<EndpointServer> of) : server(std::move(of)) {}
  ~Handle() override { server->Close(); }

  const Shared<EndpointServer> server;
};

namespace {

EndpointRoutes::Function FunctionOf(Endpoint::Check check) {
  if (!check) return {};
  return [check = std::move(check)](std::stop_token stop) -> Result<std::string> {
    if (auto passed = check(std::move(stop)); !passed) return Fail(std::move(passed).error());
    return std::string();
  };
}

}  // namespace

Endpoint::Endpoint(Shared<Handle> handle) noexcept : handle_(std::move(handle)) {}

Result<Endpoint> Endpoint::Listen(const EndpointOptions& options) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  auto server = EndpointServer::Listen(options, net::EventLoop::ForEndpoints());
  if (!server) return Fail(std::move(server).error());
  return Endpoint(MakeShared<Handle>(*std::move(server)));
}

Result<void> Endpoint::AddHealthCheck(std::string_view name, Check check) {
  return handle_->server->Add(EndpointRoutes::Kind::kHealth, name, FunctionOf(std::move(check)));
}

Result<void> Endpoint::AddReadyCheck(std::string_view name, Check check) {
  return handle_->server->Add(EndpointRoutes::Kind::kReady, name, FunctionOf(std::move(check)));
}

Result<void> Endpoint::AddDebugSection(std::string_view name, Section section) {
  if (!section) return AddDebugSectionOf(name, {});
  return AddDebugSectionOf(name,
                           [section = std::move(section)] { return controller::DebugSection{.text = section()}; });
}

Result<void> Endpoint::AddDebugSectionOf(std::string_view name, std::function<controller::DebugSection()> section) {
  return handle_->server->AddSection(name, std::move(section));
}

Result<void> Endpoint::AddPage(std::string_view path, Page page) {
  return handle_->server->AddPage(path, std::move(page));
}

Result<void> Endpoint::Start() {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return handle_->server->Start();
}

Result<void> Endpoint::Stop(Nanos limit) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return handle_->server->Stop(limit);
}

const std::string& Endpoint::address() const noexcept { return handle_->server->address(); }

const std::string& Endpoint::health_address() const noexcept { return handle_->server->health_address(); }

const std::string& Endpoint::debug_address() const noexcept { return handle_->server->debug_address(); }

}  // namespace kgen
