// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/clusters.h"

#include <utility>

#include "controller/clusters/clusters_state.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"

namespace kgen {

Clusters::Clusters(Shared<controller::ClustersState> state) noexcept : state_(std::move(state)) {}
Clusters::Clusters(const Clusters&) noexcept = default;
Clusters& Clusters::operator=(const Clusters&) noexcept = default;
Clusters::~Clusters() = default;

Result<Clusters> Clusters::New(const Manager& home, ClustersOptions options) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  auto state = controller::ClustersState::Make(home, std::move(options));
  if (!state) return Fail(std::move(state).error());
  return Clusters(*std::move(state));
}

Result<void> Clusters::Each(Function function) const { return state_->Each(std::move(function)); }
Result<void> Clusters::Add(std::string_view name, const rest::Config& config) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return state_->Add(name, config);
}
Result<void> Clusters::Update(std::string_view name, const rest::Config& config) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return state_->Update(name, config);
}
Result<void> Clusters::Remove(std::string_view name) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return state_->Remove(name);
}
Result<Manager> Clusters::Get(std::string_view name) const {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  return state_->Get(name);
}
std::vector<ClusterStatus> Clusters::status() const {
  if (detail::ForkedChild()) return {};
  return state_->Status();
}

}  // namespace kgen
