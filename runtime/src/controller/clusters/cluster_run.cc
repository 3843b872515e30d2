// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/clusters/cluster_run.h"

#include <utility>

#include "client/request/connection_state.h"
#include "core/thrown.h"

namespace kgen::controller {

ClusterGuard::ClusterGuard(const std::string& cluster, Shared<SendGuard> next)
    : next_(std::move(next)),
      refusal_(Code::kCancelled, "not sent, because cluster " + cluster + " has ended or was removed") {}

Result<void> ClusterGuard::MaySend() noexcept {
  if (closed_.load(std::memory_order_acquire)) return Fail(refusal_);
  return next_ ? next_->MaySend() : Result<void>();
}

ClusterRun::ClusterRun(std::string name, rest::Config config, const Shared<const ClusterSetup>& setup)
    : name_(std::move(name)),
      setup_(setup),
      observers_(setup->observer->ForCluster(name_)),
      guard_(MakeShared<ClusterGuard>(name_, setup->home_guard)),
      config_(Complete(std::move(config))) {}

// Reports what was counted, while the cluster is still known.
ClusterRun::~ClusterRun() {
  if (observers_.throttle) observers_.throttle->Close();
}

// A config has an observer of its own if that is to be told of this cluster alone.
rest::Config ClusterRun::Complete(rest::Config config) const {
  config.executor = setup_->executor;
  if (!config.observer) config.observer = observers_.observer;
  if (!config.timeout) config.timeout = setup_->timeout;
  return config;
}

void ClusterRun::Begin(const Functions& functions, const Wrap& wrap, Done done) {
  done_ = std::move(done);
  if (stop_.stop_requested()) return End({});
  Result<Shared<ManagerState>> made = Fail(Code::kInternal, "");
  try {
    made = Make(functions, wrap);
  } catch (...) {
    made = Fail(kgen::detail::ErrorOfThrown("ClustersOptions::connect or a function of Each()"));
  }
  if (!made || stop_.stop_requested()) return End(made ? Result<void>() : Fail(made.error()));
  (*made)->Start(stop_.get_token(), [self = Shared<ClusterRun>(this)](Result<void> r) { self->End(std::move(r)); });
}

Result<Shared<ManagerState>> ClusterRun::Make(const Functions& functions, const Wrap& wrap) {
  rest::Config config;
  {
    const MutexLock lock(mutex_);
    config = config_;
  }
  Result<Connection> connection = setup_->connect ? setup_->connect(config) : Connection::Open(config);
  if (!connection) return Fail(connection.error());
  ManagerOptions options = setup_->manager;
  options.endpoint.metrics = metrics_;
  Result<Shared<ManagerState>> manager =
      ManagerState::Make(*connection, std::move(options), {.cluster = name_, .guard = guard_});
  if (!manager) return manager;
  {
    const MutexLock lock(mutex_);
    connection_ = *connection;
    manager_ = *manager;
  }
  for (const auto& function : functions) {
    if (Result<void> done = (*function)(wrap(*manager)); !done) return Fail(done.error());
  }
  return manager;
}

void ClusterRun::End(Result<void> result) {
  Close();
  Shared<ManagerState> manager;  // destroyed without the lock
  std::optional<Connection> connection;
  {
    const MutexLock lock(mutex_);
    manager = std::move(manager_);
    connection = std::exchange(connection_, std::nullopt);
  }
  // What was not started still holds the functions of its controllers, which may hold the manager.
  if (manager) manager->Discard();
  manager = {};
  connection.reset();
  Done done = std::move(done_);
  if (done) done(std::move(result));
}

void ClusterRun::Abandon() {
  Close();
  stop_.request_stop();
  if (const Shared<ManagerState> started = manager()) started->Abandon();
  done_ = {};
  const MutexLock lock(mutex_);
  manager_ = {};
}

bool ClusterRun::ReplaceCredentials(const rest::Config& config) {
  rest::Config complete = Complete(config);
  const MutexLock lock(mutex_);
  if (!connection_) return false;
  if (!client::ConnectionState::Of(*connection_)->ReplaceCredentials(config_, complete)) return false;
  config_ = std::move(complete);
  return true;
}

Shared<ManagerState> ClusterRun::manager() const {
  const MutexLock lock(mutex_);
  return manager_;
}

bool ClusterRun::synced() const {
  const MutexLock lock(mutex_);
  return manager_ && manager_->synced();
}

}  // namespace kgen::controller
