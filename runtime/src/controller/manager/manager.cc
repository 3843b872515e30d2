// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/manager.h"

#include <optional>
#include <utility>

#include "controller/manager/manager_state.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "kgen/client/connection.h"

namespace kgen {

Result<Shared<controller::ControllerRunner>> detail::AddController(const Shared<controller::ManagerState>& manager,
                                                                   ControllerSpec spec) {
  return manager->AddController(std::move(spec));
}

Manager::Manager(Shared<controller::ManagerState> state) noexcept : state_(std::move(state)) {}
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
  auto state = controller::ManagerState::Make(connection, std::move(options));
  if (!state) return Fail(std::move(state).error());
  return Manager(*std::move(state));
}

Result<void> Manager::Add(std::string name, std::function<Result<void>(std::stop_token)> run,
                          RunnableOptions options) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  using Group = controller::ManagerState::Group;
  const Group group = options.before_caches          ? Group::kBeforeCaches
                      : options.need_leader_election ? Group::kLeader
                                                     : Group::kAnyReplica;
  return state_->Add(std::move(name), std::move(run), group);
}

Shared<controller::WebhookRoutes> detail::WebhookRoutesOf(const Manager& manager) { return manager.webhook_routes(); }
Shared<controller::WebhookRoutes> Manager::webhook_routes() const { return state_->webhooks(); }
Result<void> Manager::RawWebhook(std::string path, RawWebhookFunction function) const {
  return detail::AddRawWebhook(webhook_routes(), std::move(path), std::move(function));
}

const std::string& Manager::cluster() const noexcept { return state_->cluster(); }
const CachedClient& Manager::client() const noexcept { return state_->client(); }
const Caches& Manager::caches() const noexcept { return state_->caches(); }
const Connection& Manager::connection() const noexcept { return state_->connection(); }
const Metrics& Manager::metrics() const noexcept { return state_->metrics(); }
std::vector<AccessRule> Manager::Rules() const { return state_->Rules(); }
EventRecorder Manager::events(std::string_view controller) const { return state_->EventsOf(controller); }

Result<void> Manager::AddHealthCheck(std::string_view name, std::function<Result<void>(std::stop_token)> check) const {
  return state_->endpoint().AddHealthCheck(name, std::move(check));
}
Result<void> Manager::AddReadyCheck(std::string_view name, std::function<Result<void>(std::stop_token)> check) const {
  return state_->endpoint().AddReadyCheck(name, std::move(check));
}
Result<void> Manager::AddPage(std::string_view path, Endpoint::Page page) const {
  return state_->endpoint().AddPage(path, std::move(page));
}
const std::string& Manager::endpoint_address() const noexcept { return state_->endpoint().address(); }
const std::string& Manager::endpoint_debug_address() const noexcept { return state_->endpoint().debug_address(); }
const std::string& Manager::endpoint_health_address() const noexcept { return state_->endpoint().health_address(); }

const std::string& Manager::webhook_address() const noexcept { return state_->webhook_address(); }

std::optional<ShardStatus> Manager::shards() const {
  const std::optional<ShardMember>& member = state_->member();
  return member ? std::optional(member->status()) : std::nullopt;
}
bool Manager::IsLeader() const noexcept { return state_->IsLeader(); }
Result<void> Manager::Run(std::stop_token stop) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (!cluster().empty()) {
    return Fail(Code::kInvalidArgument, "run manager: it is the manager of cluster " + cluster() +
                                            ", which runs with its kgen::Clusters; call Run() of their manager");
  }
  return state_->Run(stop);
}

}  // namespace kgen
