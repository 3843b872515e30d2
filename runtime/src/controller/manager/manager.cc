// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/manager.h"

#include <utility>

#include "controller/manager/manager_core.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "kgen/client/connection.h"

namespace kgen {

Result<Shared<controller::ControllerCore>> detail::AddController(const Shared<controller::ManagerCore>& manager,
                                                                 ControllerSpec spec) {
  return manager->AddController(std::move(spec));
}

Manager::Manager(Shared<controller::ManagerCore> core) noexcept : core_(std::move(core)) {}
Manager::Manager(const Manager&) noexcept = default;
Manager& Manager::operator=(const Manager&) noexcept = default;
Manager::~Manager() = default;

Result<Manager> Manager::New(const rest::Config& config, ManagerOptions options) {
  Result<kgen::Connection> connection = kgen::Connection::Open(config);
  if (!connection) return Fail(connection.error().With("new manager"));
  return New(*connection, std::move(options));
}

Result<Manager> Manager::New(const kgen::Connection& connection, ManagerOptions options) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  auto core = controller::ManagerCore::Make(connection, std::move(options));
  if (!core) return Fail(std::move(core).error());
  return Manager(*std::move(core));
}

Result<void> Manager::Add(std::string name, std::function<Result<void>(std::stop_token)> run,
                          RunnableOptions options) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  using Group = controller::ManagerCore::Group;
  const Group group = options.before_caches  ? Group::kBeforeCaches
                      : options.needs_leader ? Group::kLeader
                                             : Group::kAnyReplica;
  return core_->Add(std::move(name), std::move(run), group);
}

const Client& Manager::client() const noexcept { return core_->client(); }
const Caches& Manager::caches() const noexcept { return core_->caches(); }
const Connection& Manager::connection() const noexcept { return core_->connection(); }
const Metrics& Manager::metrics() const noexcept { return core_->metrics(); }
EventRecorder Manager::events(std::string_view controller) const { return core_->EventsOf(controller); }

Result<void> Manager::AddHealthCheck(std::string_view name, std::function<Result<void>(std::stop_token)> check) const {
  return core_->endpoint().AddHealthCheck(name, std::move(check));
}
Result<void> Manager::AddReadyCheck(std::string_view name, std::function<Result<void>(std::stop_token)> check) const {
  return core_->endpoint().AddReadyCheck(name, std::move(check));
}
Result<void> Manager::AddPage(std::string_view path, Endpoint::Page page) const {
  return core_->endpoint().AddPage(path, std::move(page));
}
const std::string& Manager::endpoint_address() const noexcept { return core_->endpoint().address(); }
const std::string& Manager::endpoint_health_address() const noexcept { return core_->endpoint().health_address(); }

bool Manager::IsLeader() const noexcept { return core_->IsLeader(); }
Result<void> Manager::Run(std::stop_token stop) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return core_->Run(stop);
}

}  // namespace kgen
