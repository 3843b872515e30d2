// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ThrottledObserver: sits between a connection and its observer and limits the number of calls.
//
//   reflector, processor, transport --> ThrottledObserver --> the user's Observer, or warnings on standard error
//
// The first event of a cause passes at once. For an interval, further events of that cause are counted; then one call
// reports them, with their count, and the next interval begins. So the counts of all calls add up to the number of
// events.
//
// For a user's observer, a cause is one kind of refusal (object or field) of one informer, or the text of a server's
// warning, and the interval is a second; other events pass unchanged.
//
// Without an observer, only warnings pass, each throttled, and what becomes of them. The interval doubles with each
// call, up to a minute, and is a second again after a quiet minute. A cause is then
//   no connection       whatever reports it: informers, reconcile functions, the lease
//   a list or watch     the code and the text of the error, whichever informers have it
//   a saved cache       the code of the error, and whether it was to be read or saved, whichever informers have it
//   a reconcile         the queue, the key and the text of the error
//   anything else       what failed, and the text
// At most kMostCauses are remembered. Beyond that, the first failure of a key and a terminal one pass at once, and
// further ones share a cause for each queue; events of other kinds pass at once.
#ifndef KGEN_SRC_CORE_OBSERVERS_THROTTLED_OBSERVER_H_
#define KGEN_SRC_CORE_OBSERVERS_THROTTLED_OBSERVER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/function.h"
#include "kgen/core/observer.h"

namespace kgen {

// Thread safety: all members from any thread. The observer is called without a lock: for the first event of a cause on
// the thread of the event, for those that were counted on a strand of the executor.
// Lifetime: its timer keeps it alive while there is something to report, at most for a minute, or until Close().
class ThrottledObserver final : public Observer {
 public:
  static constexpr std::size_t kMostCauses = 1000;

  // A null `observer` means: write warnings to standard error. Time comes from the executor's clock.
  ThrottledObserver(Shared<Observer> observer, Shared<Executor> executor);

  // Treats the events of a cluster as this one does, counting them apart from others', and passes them on with its
  // name. `throttle` is null or the same object; its owner closes it at the end of the cluster.
  struct OfCluster {
    Shared<Observer> observer{};
    Shared<ThrottledObserver> throttle{};
  };
  OfCluster ForCluster(const std::string& cluster) const;

  // Reports the events counted so far and cancels the timer. Later events pass at once.
  void Close() noexcept;

  bool IsEnabled(LogComponent component, LogLevel level) const noexcept override;
  void OnListOrWatchFailed(const ListOrWatchFailed& event) override;
  void OnRecovered(const Recovered& event) override;
  void OnObjectRefused(const ObjectRefused& event) override;
  void OnFieldRefused(const FieldRefused& event) override;
  void OnSavedCacheFailed(const SavedCacheFailed& event) override;
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
  void OnRequested(const Requested& event) override;
  void OnLimiterWaited(const LimiterWaited& event) override;

 private:
  ThrottledObserver(bool warnings_only, Shared<Observer> observer, Shared<Executor> executor);
  enum class Kind : std::uint8_t {
    kConnection,
    kListOrWatch,
    kObject,
    kField,
    kSavedCache,
    kHandler,
    kReconcile,
    kServer,
    kLease,
    kEvent,
    kCheck,
    kBacklog
  };
  // The text is hashed, because it can be long and others choose it.
  struct Cause {
    Kind kind;
    std::uint64_t source;  // a hash of the informer, queue, check, ...
    std::uint64_t text;    // a hash of the rest
    friend auto operator<=>(const Cause&, const Cause&) = default;
  };
  // The names of different things, for "12 informers (pods, services and 10 more)".
  class Names {
   public:
    void Add(std::string_view name);
    std::size_t size() const noexcept { return seen_.size(); }
    std::string Text(std::string_view things) const;  // the name, if it is only one

   private:
    std::vector<std::string> first_;
    std::set<std::uint64_t> seen_;
  };
  // Reports `count` events to the observer, with a copy of the first of them and with the names in all of them.
  using Notice = UniqueFunction<void(Observer&, std::size_t count, const Names& names)>;
  struct Entry {
    Nanos interval{};
    TimePoint next{};       // when the next call may come
    std::size_t count = 0;  // events since the last call
    Notice notice{};        // of the first of these
    Names names{};          // in these
  };
  // Failures that are over and were written, of informers (queue is empty) or of one queue.
  struct Over {
    TimePoint due{};
    Names names{};
    std::size_t failures = 0;
    Nanos after{};
  };
  struct Due {
    Notice notice;
    std::size_t count;
    Names names;
  };

  template <typename Event>
  bool Admit(const Cause& cause, const Event& event, std::string_view name = {});
  bool HasRoom(TimePoint now) KGEN_REQUIRES(mutex_);
  void ForgetQuiet(TimePoint now) KGEN_REQUIRES(mutex_);
  void Began(TimePoint now, Entry& entry) const noexcept;
  void NoteFailing(std::string_view source, std::string_view key);
  void TakeDue(TimePoint now, std::vector<Due>& due) KGEN_REQUIRES(mutex_);
  static Notice NoticeOf(const std::string& queue, const Over& over);
  void Arm(TimePoint due) KGEN_REQUIRES(mutex_);
  void OnTime();
  void Report(std::vector<Due>& due) noexcept;

  const bool warnings_only_;
  const Shared<Executor> executor_;
  const Shared<Clock> clock_;
  const Shared<Observer> observer_;
  // Made with the first timer, because a connection that is only opened must not start threads.
  Shared<ReservedPost> post_;  // set before timer_, whose task uses it
  Mutex mutex_;
  Shared<ReservedTimer> timer_ KGEN_GUARDED_BY(mutex_);
  std::map<Cause, Entry> entries_ KGEN_GUARDED_BY(mutex_);
  std::set<std::uint64_t> failing_ KGEN_GUARDED_BY(mutex_);  // hashes of informers, and of queues with keys
  std::map<std::string, Over> over_ KGEN_GUARDED_BY(mutex_);
  TimePoint armed_for_ KGEN_GUARDED_BY(mutex_) = TimePoint::max();
  bool connection_warned_ KGEN_GUARDED_BY(mutex_) = false;  // a lost connection was reported, and its recovery was not
  bool closed_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen

#endif  // KGEN_SRC_CORE_OBSERVERS_THROTTLED_OBSERVER_H_
