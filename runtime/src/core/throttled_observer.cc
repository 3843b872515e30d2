// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/throttled_observer.h"

#include <chrono>
#include <optional>
#include <utility>

#include "core/notify_observer.h"

namespace kgen {
namespace {

constexpr Nanos kWindow = std::chrono::seconds(1);
constexpr std::size_t kManyCauses = 100;

template <typename T>
std::optional<T> CopyOf(const T* value) {
  return value != nullptr ? std::optional<T>(*value) : std::nullopt;
}

template <typename T>
const T* PointerTo(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

// Copies of events for a later report, since the text in an event is valid only during the call.

auto Keep(const Observer::ListOrWatchFailed& event) {
  return [kept = Observer::ListOrWatchFailed(event), informer = std::string(event.informer),
          error = CopyOf(event.error)](Observer& to, std::size_t count) mutable {
    kept.informer = informer;
    kept.error = PointerTo(error);
    kept.count = count;
    to.OnListOrWatchFailed(kept);
  };
}

auto Keep(const Observer::ObjectRefused& event) {
  return [informer = std::string(event.informer), key = CopyOf(event.key), error = CopyOf(event.error)](
             Observer& to, std::size_t count) {
    to.OnObjectRefused({.informer = informer, .key = PointerTo(key), .error = PointerTo(error), .count = count});
  };
}

auto Keep(const Observer::FieldRefused& event) {
  return [informer = std::string(event.informer), key = CopyOf(event.key), path = std::string(event.path),
          message = std::string(event.message)](Observer& to, std::size_t count) {
    to.OnFieldRefused({.informer = informer, .key = PointerTo(key), .path = path, .message = message, .count = count});
  };
}

auto Keep(const Observer::HandlerFailed& event) {
  return [informer = std::string(event.informer), key = CopyOf(event.key), what = std::string(event.what)](
             Observer& to, std::size_t count) {
    to.OnHandlerFailed({.informer = informer, .key = PointerTo(key), .what = what, .count = count});
  };
}

auto Keep(const Observer::ReconcileFailed& event) {
  return [kept = Observer::ReconcileFailed(event), queue = std::string(event.queue), key = std::string(event.key),
          error = CopyOf(event.error)](Observer& to, std::size_t count) mutable {
    kept.queue = queue;
    kept.key = key;
    kept.error = PointerTo(error);
    kept.count = count;
    to.OnReconcileFailed(kept);
  };
}

auto Keep(const Observer::ConnectionChanged& event) {
  return [host = std::string(event.host), up = event.up, error = CopyOf(event.error)](Observer& to, std::size_t count) {
    to.OnConnectionChanged({.host = host, .up = up, .error = PointerTo(error), .count = count});
  };
}

auto Keep(const Observer::ServerWarned& event) {
  return [what = std::string(event.what), message = std::string(event.message)](Observer& to, std::size_t count) {
    to.OnServerWarned({.what = what, .message = message, .count = count});
  };
}

auto Keep(const Observer::LeadershipChanged& event) {
  return [leading = event.leading, lease = std::string(event.lease), identity = std::string(event.identity),
          leader = std::string(event.leader), error = CopyOf(event.error)](Observer& to, std::size_t count) {
    to.OnLeadershipChanged({.lease = lease,
                            .identity = identity,
                            .leader = leader,
                            .leading = leading,
                            .error = PointerTo(error),
                            .count = count});
  };
}

auto Keep(const Observer::EventDropped& event) {
  return [about = std::string(event.about), why = std::string(event.why)](Observer& to, std::size_t count) {
    to.OnEventDropped({.about = about, .why = why, .count = count});
  };
}

auto Keep(const Observer::CheckFailed& event) {
  return [check = std::string(event.check), error = CopyOf(event.error)](Observer& to, std::size_t count) {
    to.OnCheckFailed({.check = check, .error = PointerTo(error), .count = count});
  };
}

// True if no server has responded.
bool LacksConnection(const Error& error) {
  return error.status() == nullptr && (error.code() == Code::kUnavailable || error.code() == Code::kTls);
}

}  // namespace

ThrottledObserver::ThrottledObserver(Shared<Observer> observer, Shared<Executor> executor)
    : warnings_only_(!observer),
      observer_(observer ? std::move(observer) : StderrObserver()),
      executor_(std::move(executor)),
      strand_(executor_->MakeStrand("observer")) {}

void ThrottledObserver::Close() noexcept {
  std::map<KeptCause, Window, Before> windows;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    windows.swap(windows_);
  }
  for (auto& [cause, window] : windows) {
    if (window.count > 0) NotifyObserver(observer_, [&](Observer& o) { window.notice(o, window.count); });
  }
}

void ThrottledObserver::OnListOrWatchFailed(const ListOrWatchFailed& event) {
  if (!warnings_only_) return observer_->OnListOrWatchFailed(event);
  const Code code = event.error != nullptr ? event.error->code() : Code::kInternal;
  // Servers routinely forget old versions, and a new list follows.
  if (code == Code::kExpired && event.attempt <= 1) return;
  Cause cause{Kind::kListOrWatch, code, event.informer};
  if (code == Code::kUnauthorized) cause.informer = {};  // all informers of a connection have the same credentials
  if (event.error != nullptr && LacksConnection(*event.error)) cause = {Kind::kConnection, {}, {}};
  if (Admit(cause, event)) observer_->OnListOrWatchFailed(event);
}

void ThrottledObserver::OnObjectRefused(const ObjectRefused& event) {
  if (Admit({Kind::kObject, {}, event.informer}, event)) observer_->OnObjectRefused(event);
}

void ThrottledObserver::OnFieldRefused(const FieldRefused& event) {
  if (Admit({Kind::kField, {}, event.informer}, event)) observer_->OnFieldRefused(event);
}

void ThrottledObserver::OnHandlerFailed(const HandlerFailed& event) {
  if (!warnings_only_ || Admit({Kind::kHandler, {}, event.informer}, event)) observer_->OnHandlerFailed(event);
}

void ThrottledObserver::OnReconcileFailed(const ReconcileFailed& event) {
  if (!warnings_only_ || Admit({Kind::kReconcile, {}, event.queue}, event)) observer_->OnReconcileFailed(event);
}

void ThrottledObserver::OnLogged(const Logged& event) { observer_->OnLogged(event); }

// A change of the leader always passes; failures to acquire or renew the lease are throttled.
void ThrottledObserver::OnLeadershipChanged(const LeadershipChanged& event) {
  if (!warnings_only_ || event.error == nullptr || Admit({Kind::kLease, event.error->code(), event.lease}, event)) {
    observer_->OnLeadershipChanged(event);
  }
}

void ThrottledObserver::OnEventDropped(const EventDropped& event) {
  if (!warnings_only_ || Admit({Kind::kEvent, {}, event.why}, event)) observer_->OnEventDropped(event);
}

void ThrottledObserver::OnCheckFailed(const CheckFailed& event) {
  if (!warnings_only_ || Admit({Kind::kCheck, {}, event.check}, event)) observer_->OnCheckFailed(event);
}

void ThrottledObserver::OnConnectionChanged(const ConnectionChanged& event) {
  if (!warnings_only_) return observer_->OnConnectionChanged(event);
  if (!event.up) {
    if (Admit({Kind::kConnection, {}, {}}, event)) observer_->OnConnectionChanged(event);
    return;
  }
  {
    const MutexLock lock(mutex_);
    if (!std::exchange(connection_warned_, false)) return;
  }
  observer_->OnConnectionChanged(event);
}

void ThrottledObserver::OnHandlerSlow(const HandlerSlow& event) {
  if (!warnings_only_) observer_->OnHandlerSlow(event);
}
void ThrottledObserver::OnBacklogHigh(const BacklogHigh& event) {
  if (!warnings_only_) observer_->OnBacklogHigh(event);
}
void ThrottledObserver::OnRelisted(const Relisted& event) {
  if (!warnings_only_) observer_->OnRelisted(event);
}
// The server chooses the texts. Once there are many, all further ones share one cause.
void ThrottledObserver::OnServerWarned(const ServerWarned& event) {
  const Cause cause{Kind::kServer, {}, HasManyCauses() ? std::string_view() : event.message};
  if (Admit(cause, event)) observer_->OnServerWarned(event);
}
bool ThrottledObserver::HasManyCauses() {
  const MutexLock lock(mutex_);
  return windows_.size() >= kManyCauses;
}
void ThrottledObserver::OnLimiterWaited(const LimiterWaited& event) {
  if (!warnings_only_) observer_->OnLimiterWaited(event);
}

// Returns true if nothing with this cause was reported within the last second; then the caller reports this event.
template <typename Event>
bool ThrottledObserver::Admit(const Cause& cause, const Event& event) {
  const MutexLock lock(mutex_);
  if (closed_) return true;
  if (const auto found = windows_.find(cause); found != windows_.end()) {
    Window& window = found->second;
    if (window.count++ == 0) window.notice = Keep(event);
    return false;
  }
  KeptCause kept{cause.kind, cause.code, std::string(cause.informer)};
  Timer end = EndOf(kept);
  windows_[std::move(kept)].end = std::move(end);
  if (cause.kind == Kind::kConnection) connection_warned_ = true;
  return true;
}

// A housekeeping timer, since nothing waits for it: the events have already happened.
Timer ThrottledObserver::EndOf(const KeptCause& cause) {
  return executor_->clock()->After(kWindow, TimerKind::kHousekeeping, [self = Shared<ThrottledObserver>(this), cause] {
    self->executor_->Post(self->strand_, [self, cause] { self->OnWindowEnd(cause); });
  });
}

void ThrottledObserver::OnWindowEnd(const KeptCause& cause) {
  Window ended;
  {
    const MutexLock lock(mutex_);
    const auto found = windows_.find(cause);
    if (found == windows_.end()) return;  // closed
    ended = std::exchange(found->second, {});
    if (ended.count == 0) {
      windows_.erase(found);
      return;
    }
    found->second.end = EndOf(cause);
  }
  NotifyObserver(observer_, [&](Observer& o) { ended.notice(o, ended.count); });
}

}  // namespace kgen
