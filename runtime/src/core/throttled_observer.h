// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ThrottledObserver: sits between a connection and its observer and limits the number of calls.
//
//   reflector, processor, transport --> ThrottledObserver --> the user's Observer, or warnings on standard error
//
// The first event of a cause passes at once. For one second, further events of that cause are counted; then one call
// reports them, with their count, and the next second begins. So the counts of all calls add up to the number of
// events.
//
// For a user's observer, a cause is one kind of refusal (object or field) of one informer, or the text of a server's
// warning; other events pass unchanged. Without one, only warnings pass, each throttled, and all events that are due to
// a missing connection have one cause, however many informers report them.
#ifndef KGEN_RUNTIME_CORE_THROTTLED_OBSERVER_H_
#define KGEN_RUNTIME_CORE_THROTTLED_OBSERVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "core/mutex.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"

namespace kgen {

// Thread safety: all members from any thread. The observer is called without a lock: for the first event of a cause on
// the thread of the event, for those that were counted on a strand of the executor.
// Lifetime: timers keep it alive for up to a second, or until Close().
class ThrottledObserver final : public Observer {
 public:
  // A null `observer` means: write warnings to standard error. Time is that of the executor's clock.
  ThrottledObserver(Shared<Observer> observer, Shared<Executor> executor);

  // Reports the events counted so far and cancels all timers. Later events pass at once.
  void Close() noexcept;

  void OnListOrWatchFailed(const ListOrWatchFailed& event) override;
  void OnObjectRefused(const ObjectRefused& event) override;
  void OnFieldRefused(const FieldRefused& event) override;
  void OnHandlerFailed(const HandlerFailed& event) override;
  void OnReconcileFailed(const ReconcileFailed& event) override;
  void OnLogged(const Logged& event) override;
  void OnLeadershipChanged(const LeadershipChanged& event) override;
  void OnEventDropped(const EventDropped& event) override;
  void OnCheckFailed(const CheckFailed& event) override;
  void OnHandlerSlow(const HandlerSlow& event) override;
  void OnBacklogHigh(const BacklogHigh& event) override;
  void OnRelisted(const Relisted& event) override;
  void OnConnectionChanged(const ConnectionChanged& event) override;
  void OnServerWarned(const ServerWarned& event) override;
  void OnLimiterWaited(const LimiterWaited& event) override;

 private:
  enum class Kind : std::uint8_t {
    kConnection,
    kListOrWatch,
    kObject,
    kField,
    kHandler,
    kReconcile,
    kServer,
    kLease,
    kEvent,
    kCheck
  };
  template <typename Text>
  struct CauseOf {
    Kind kind;
    Code code;
    Text informer;
  };
  using Cause = CauseOf<std::string_view>;
  using KeptCause = CauseOf<std::string>;
  struct Before {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const noexcept {
      return std::tuple(a.kind, a.code, std::string_view(a.informer)) <
             std::tuple(b.kind, b.code, std::string_view(b.informer));
    }
  };
  // Reports `count` events to the observer, with a copy of the first of them.
  using Notice = std::move_only_function<void(Observer&, std::size_t count)>;
  // The second after a call to the observer.
  struct Window {
    std::size_t count = 0;  // events since the call
    Notice notice{};        // of the first of these
    Timer end{};
  };

  bool HasManyCauses();
  template <typename Event>
  bool Admit(const Cause& cause, const Event& event);
  Timer EndOf(const KeptCause& cause);
  void OnWindowEnd(const KeptCause& cause);

  const bool warnings_only_;
  const Shared<Observer> observer_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  Mutex mutex_;
  std::map<KeptCause, Window, Before> windows_ KGEN_GUARDED_BY(mutex_);
  bool connection_warned_ KGEN_GUARDED_BY(mutex_) = false;  // a lost connection was reported, and its recovery was not
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen

#endif  // KGEN_RUNTIME_CORE_THROTTLED_OBSERVER_H_
