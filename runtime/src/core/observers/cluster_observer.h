// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ClusterObserver: passes every event on, with the name of a cluster.
#ifndef KGEN_SRC_CORE_OBSERVERS_CLUSTER_OBSERVER_H_
#define KGEN_SRC_CORE_OBSERVERS_CLUSTER_OBSERVER_H_

#include <string>
#include <utility>

#include "kgen/core/observer.h"

namespace kgen {

// Thread safety: all members from any thread.
class ClusterObserver final : public Observer {
 public:
  ClusterObserver(std::string cluster, Shared<Observer> next) : cluster_(std::move(cluster)), next_(std::move(next)) {}

  bool IsEnabled(LogComponent component, LogLevel level) const noexcept override {
    return next_->IsEnabled(component, level);
  }
  void OnListOrWatchFailed(const ListOrWatchFailed& event) override { next_->OnListOrWatchFailed(Named(event)); }
  void OnRecovered(const Recovered& event) override { next_->OnRecovered(Named(event)); }
  void OnObjectRefused(const ObjectRefused& event) override { next_->OnObjectRefused(Named(event)); }
  void OnFieldRefused(const FieldRefused& event) override { next_->OnFieldRefused(Named(event)); }
  void OnSavedCacheFailed(const SavedCacheFailed& event) override { next_->OnSavedCacheFailed(Named(event)); }
  void OnHandlerFailed(const HandlerFailed& event) override { next_->OnHandlerFailed(Named(event)); }
  void OnReconcileFailed(const ReconcileFailed& event) override { next_->OnReconcileFailed(Named(event)); }
  void OnLogged(const Logged& event) override { next_->OnLogged(Named(event)); }
  void OnLeadershipChanged(const LeadershipChanged& event) override { next_->OnLeadershipChanged(Named(event)); }
  void OnEventDropped(const EventDropped& event) override { next_->OnEventDropped(Named(event)); }
  void OnCheckFailed(const CheckFailed& event) override { next_->OnCheckFailed(Named(event)); }
  void OnHandlerSlow(const HandlerSlow& event) override { next_->OnHandlerSlow(Named(event)); }
  void OnBacklogHigh(const BacklogHigh& event) override { next_->OnBacklogHigh(Named(event)); }
  void OnRelisted(const Relisted& event) override { next_->OnRelisted(Named(event)); }
  void OnConnectionChanged(const ConnectionChanged& event) override { next_->OnConnectionChanged(Named(event)); }
  void OnServerWarned(const ServerWarned& event) override { next_->OnServerWarned(Named(event)); }
  void OnRequested(const Requested& event) override { next_->OnRequested(Named(event)); }
  void OnLimiterWaited(const LimiterWaited& event) override { next_->OnLimiterWaited(Named(event)); }

 private:
  template <typename Event>
  Event Named(Event event) const {
    event.cluster = cluster_;
    return event;
  }

  const std::string cluster_;
  const Shared<Observer> next_;
};

}  // namespace kgen

#endif  // KGEN_SRC_CORE_OBSERVERS_CLUSTER_OBSERVER_H_
