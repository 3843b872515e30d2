// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/observers/throttled_observer.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "core/observers/cluster_observer.h"
#include "core/observers/notify_observer.h"
#include "core/observers/text_log.h"
#include "core/secrets.h"
#include "kgen/core/function.h"

namespace kgen {
namespace {

constexpr Nanos kShortest = std::chrono::seconds(1);
constexpr Nanos kLongest = std::chrono::minutes(1);
constexpr std::ptrdiff_t kMostTexts = 100;  // of servers' warnings
constexpr std::size_t kMostFailing = 10 * ThrottledObserver::kMostCauses;

template <typename T>
std::optional<T> CopyOf(const T* value) {
  return value != nullptr ? std::optional<T>(*value) : std::nullopt;
}

template <typename T>
const T* PointerTo(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

// The text without secrets: what others wrote, outside of an Error.
std::string Shown(std::string_view text) {
  std::string shown(text);
  detail::HideSecrets(shown);
  return shown;
}

// Copies of events for a later report, since the text in an event is valid only during the call.

auto Keep(const Observer::ListOrWatchFailed& event) {
  return [kept = Observer::ListOrWatchFailed(event), informer = std::string(event.informer),
          error = CopyOf(event.error)](Observer& to, std::size_t count, const auto& names) mutable {
    const std::string all = names.size() > 1 ? names.Text("informers") : informer;
    kept.informer = all;
    kept.informers = std::max<std::size_t>(names.size(), 1);
    kept.error = PointerTo(error);
    kept.count = count;
    to.OnListOrWatchFailed(kept);
  };
}

auto Keep(const Observer::ObjectRefused& event) {
  return [informer = std::string(event.informer), key = CopyOf(event.key), error = CopyOf(event.error)](
             Observer& to, std::size_t count, const auto&) {
    to.OnObjectRefused({.informer = informer, .key = PointerTo(key), .error = PointerTo(error), .count = count});
  };
}

auto Keep(const Observer::FieldRefused& event) {
  return [informer = std::string(event.informer), key = CopyOf(event.key), path = std::string(event.path),
          message = std::string(event.message)](Observer& to, std::size_t count, const auto&) {
    to.OnFieldRefused({.informer = informer, .key = PointerTo(key), .path = path, .message = message, .count = count});
  };
}

auto Keep(const Observer::SavedCacheFailed& event) {
  return
      [kept = Observer::SavedCacheFailed(event), informer = std::string(event.informer), path = std::string(event.path),
       error = CopyOf(event.error)](Observer& to, std::size_t count, const auto& names) mutable {
        const std::string all = names.size() > 1 ? names.Text("informers") : informer;
        kept.informer = all;
        kept.informers = std::max<std::size_t>(names.size(), 1);
        kept.path = path;
        kept.error = PointerTo(error);
        kept.count = count;
        to.OnSavedCacheFailed(kept);
      };
}

auto Keep(const Observer::HandlerFailed& event) {
  return [informer = std::string(event.informer), key = CopyOf(event.key), what = std::string(event.what)](
             Observer& to, std::size_t count, const auto&) {
    to.OnHandlerFailed({.informer = informer, .key = PointerTo(key), .what = what, .count = count});
  };
}

auto Keep(const Observer::ReconcileFailed& event) {
  return [kept = Observer::ReconcileFailed(event), queue = std::string(event.queue), key = std::string(event.key),
          error = CopyOf(event.error)](Observer& to, std::size_t count, const auto& names) mutable {
    kept.queue = queue;
    kept.key = key;
    kept.objects = std::max<std::size_t>(names.size(), 1);
    kept.error = PointerTo(error);
    kept.count = count;
    to.OnReconcileFailed(kept);
  };
}

auto Keep(const Observer::ConnectionChanged& event) {
  return [host = std::string(event.host), up = event.up, error = CopyOf(event.error)](Observer& to, std::size_t count,
                                                                                      const auto&) {
    to.OnConnectionChanged({.host = host, .up = up, .error = PointerTo(error), .count = count});
  };
}

auto Keep(const Observer::ServerWarned& event) {
  return [what = std::string(event.what), message = std::string(event.message)](Observer& to, std::size_t count,
                                                                                const auto&) {
    to.OnServerWarned({.what = what, .message = message, .count = count});
  };
}

auto Keep(const Observer::LeadershipChanged& event) {
  return
      [leading = event.leading, lease = std::string(event.lease), identity = std::string(event.identity),
       leader = std::string(event.leader), error = CopyOf(event.error)](Observer& to, std::size_t count, const auto&) {
        to.OnLeadershipChanged({.lease = lease,
                                .identity = identity,
                                .leader = leader,
                                .leading = leading,
                                .error = PointerTo(error),
                                .count = count});
      };
}

auto Keep(const Observer::EventDropped& event) {
  return
      [about = std::string(event.about), why = std::string(event.why)](Observer& to, std::size_t count, const auto&) {
        to.OnEventDropped({.about = about, .why = why, .count = count});
      };
}

auto Keep(const Observer::CheckFailed& event) {
  return [check = std::string(event.check), error = CopyOf(event.error)](Observer& to, std::size_t count, const auto&) {
    to.OnCheckFailed({.check = check, .error = PointerTo(error), .count = count});
  };
}

auto Keep(const Observer::BacklogHigh& event) {
  return [kept = Observer::BacklogHigh(event), informer = std::string(event.informer),
          handler = std::string(event.handler)](Observer& to, std::size_t count, const auto&) mutable {
    kept.informer = informer;
    kept.handler = handler;
    kept.count = count;
    to.OnBacklogHigh(kept);
  };
}

// True if no server has responded.
bool LacksConnection(const Error* error) {
  return error != nullptr && error->status() == nullptr &&
         (error->code() == Code::kUnavailable || error->code() == Code::kTls);
}

std::uint64_t HashOf(std::string_view text) { return std::hash<std::string_view>()(text); }
std::uint64_t HashOf(std::string_view first, std::string_view second) {
  return HashOf(first) * 0x9E3779B97F4A7C15u + HashOf(second);
}
// The innermost message and the code: what does not depend on the operation.
std::uint64_t HashOf(const Error* error) {
  if (error == nullptr) return 0;
  return HashOf(error->message()) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(error->code());
}

}  // namespace

void ThrottledObserver::Names::Add(std::string_view name) {
  constexpr std::size_t kListed = 3;
  if (name.empty() || seen_.size() >= kMostCauses || !seen_.insert(HashOf(name)).second) return;
  if (first_.size() < kListed) first_.emplace_back(name);
}

std::string ThrottledObserver::Names::Text(std::string_view things) const {
  if (first_.empty()) return {};
  if (seen_.size() == 1) return first_.front();
  std::string text = std::to_string(seen_.size()).append(" ").append(things).append(" (");
  for (const std::string& name : first_) {
    if (&name != &first_.front()) text += &name == &first_.back() && first_.size() == seen_.size() ? " and " : ", ";
    text += name;
  }
  if (first_.size() < seen_.size()) text += " and " + std::to_string(seen_.size() - first_.size()) + " more";
  return text += ")";
}

ThrottledObserver::ThrottledObserver(Shared<Observer> observer, Shared<Executor> executor)
    : warnings_only_(!observer),
      executor_(std::move(executor)),
      clock_(executor_->clock()),
      observer_(observer                  ? std::move(observer)
                : clock_ == SystemClock() ? StderrObserver()
                                          : detail::MakeTextLog(clock_)) {}

ThrottledObserver::ThrottledObserver(bool warnings_only, Shared<Observer> observer, Shared<Executor> executor)
    : warnings_only_(warnings_only),
      executor_(std::move(executor)),
      clock_(executor_->clock()),
      observer_(std::move(observer)) {}

// With warnings only, a quiet observer in between counts the causes of this cluster.
ThrottledObserver::OfCluster ThrottledObserver::ForCluster(const std::string& cluster) const {
  auto named = MakeShared<ClusterObserver>(cluster, observer_);
  if (!warnings_only_) return {.observer = std::move(named)};
  const Shared<ThrottledObserver> throttle(new ThrottledObserver(true, std::move(named), executor_));
  return {.observer = throttle, .throttle = throttle};
}

void ThrottledObserver::Close() noexcept {
  std::vector<Due> due;
  try {
    const MutexLock lock(mutex_);
    closed_ = true;
    if (timer_) timer_->Cancel();
    TakeDue(TimePoint::max(), due);
  } catch (const std::bad_alloc&) {
    due.clear();  // the counts are lost
  }
  Report(due);
}

// ------------------------------------------------------------------------------------------------------ events

bool ThrottledObserver::IsEnabled(LogComponent component, LogLevel level) const noexcept {
  return observer_->IsEnabled(component, level);
}

void ThrottledObserver::OnListOrWatchFailed(const ListOrWatchFailed& event) {
  if (!warnings_only_) return observer_->OnListOrWatchFailed(event);
  const Code code = event.error != nullptr ? event.error->code() : Code::kInternal;
  // Servers routinely forget old versions, and a new list follows.
  if (code == Code::kExpired && event.attempt <= 1) return;
  NoteFailing(event.informer, {});
  Cause cause{Kind::kListOrWatch, 0, HashOf(event.error)};
  // All informers of a connection have the same credentials, whatever the server says about each.
  if (code == Code::kUnauthorized) cause.text = static_cast<std::uint64_t>(code);
  if (LacksConnection(event.error)) cause = {Kind::kConnection, 0, 0};
  if (Admit(cause, event, event.informer)) observer_->OnListOrWatchFailed(event);
}

// Waits a second for others: many recover at the same time.
void ThrottledObserver::OnRecovered(const Recovered& event) {
  if (!warnings_only_) return observer_->OnRecovered(event);
  const MutexLock lock(mutex_);
  if (closed_ || failing_.erase(HashOf(event.source, event.key)) == 0) return;
  const bool informer = event.key.empty();
  const TimePoint due = Later(clock_->Now(), kShortest);
  const auto [found, added] = over_.try_emplace(informer ? std::string() : std::string(event.source));
  Over& over = found->second;
  if (added) over.due = due;
  over.names.Add(informer ? event.source : event.key);
  over.failures = std::max(over.failures, event.failures);
  over.after = std::max(over.after, event.after);
  if (added) Arm(due);
}

void ThrottledObserver::OnObjectRefused(const ObjectRefused& event) {
  if (Admit({Kind::kObject, HashOf(event.informer), 0}, event)) observer_->OnObjectRefused(event);
}

void ThrottledObserver::OnFieldRefused(const FieldRefused& refused) {
  FieldRefused event = refused;
  const std::string message = Shown(refused.message);
  event.message = message;
  if (Admit({Kind::kField, HashOf(event.informer), 0}, event)) observer_->OnFieldRefused(event);
}

// The informers of a program share a folder, so the cause is usually the same, but the text names the file.
void ThrottledObserver::OnSavedCacheFailed(const SavedCacheFailed& event) {
  if (!warnings_only_) return observer_->OnSavedCacheFailed(event);
  if (event.saving) NoteFailing("saved cache", event.informer);
  const Code code = event.error != nullptr ? event.error->code() : Code::kInternal;
  const Cause cause{Kind::kSavedCache, event.saving ? 1U : 0U, 1 + static_cast<std::uint64_t>(code)};
  if (Admit(cause, event, event.informer)) observer_->OnSavedCacheFailed(event);
}

void ThrottledObserver::OnHandlerFailed(const HandlerFailed& failed) {
  HandlerFailed event = failed;
  const std::string what = Shown(failed.what);
  event.what = what;
  if (!warnings_only_ || Admit({Kind::kHandler, HashOf(event.informer), HashOf(event.what)}, event)) {
    observer_->OnHandlerFailed(event);
  }
}

void ThrottledObserver::OnReconcileFailed(const ReconcileFailed& event) {
  if (!warnings_only_) return observer_->OnReconcileFailed(event);
  if (LacksConnection(event.error) && !event.terminal) {
    if (Admit({Kind::kConnection, 0, 0}, event)) observer_->OnReconcileFailed(event);
    return;
  }
  if (!event.terminal) {
    NoteFailing(event.queue, event.key);
  } else {  // the queue has done with it, which is no recovery
    const MutexLock lock(mutex_);
    failing_.erase(HashOf(event.queue, event.key));
  }
  Cause cause{Kind::kReconcile, HashOf(event.queue), HashOf(event.key) ^ HashOf(event.error) * 31};
  {
    const MutexLock lock(mutex_);
    const bool repeated = event.attempt > 1 && !event.terminal;
    if (repeated && !entries_.contains(cause) && !HasRoom(clock_->Now())) cause.text = 0;
  }
  if (Admit(cause, event, event.key)) observer_->OnReconcileFailed(event);
}

void ThrottledObserver::OnLogged(const Logged& logged) {
  Logged event = logged;
  const std::string message = Shown(logged.message);
  event.message = message;
  std::vector<std::string> texts;
  texts.reserve(logged.fields.size());
  std::vector<LogField> fields(logged.fields.begin(), logged.fields.end());
  for (LogField& field : fields) {
    if (field.value.is_text()) field.value = texts.emplace_back(Shown(field.value.text()));
  }
  event.fields = fields;
  observer_->OnLogged(event);
}

// A change of the leader always passes; failures to acquire or renew the lease are throttled.
void ThrottledObserver::OnLeadershipChanged(const LeadershipChanged& event) {
  if (!warnings_only_ || event.error == nullptr) return observer_->OnLeadershipChanged(event);
  const Cause cause = {Kind::kLease, HashOf(event.lease), static_cast<std::uint64_t>(event.error->code())};
  if (Admit(cause, event)) observer_->OnLeadershipChanged(event);
}

void ThrottledObserver::OnEventDropped(const EventDropped& dropped) {
  EventDropped event = dropped;
  const std::string why = Shown(dropped.why);
  event.why = why;
  if (!warnings_only_ || Admit({Kind::kEvent, 0, HashOf(event.why)}, event)) observer_->OnEventDropped(event);
}

void ThrottledObserver::OnCheckFailed(const CheckFailed& event) {
  if (!warnings_only_) return observer_->OnCheckFailed(event);
  NoteFailing("check", event.check);
  if (Admit({Kind::kCheck, HashOf(event.check), HashOf(event.error)}, event)) observer_->OnCheckFailed(event);
}

void ThrottledObserver::OnConnectionChanged(const ConnectionChanged& event) {
  if (!warnings_only_) return observer_->OnConnectionChanged(event);
  if (!event.up) {
    if (Admit({Kind::kConnection, 0, 0}, event)) observer_->OnConnectionChanged(event);
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
// A handler that misses states is a warning; a long backlog is not.
void ThrottledObserver::OnBacklogHigh(const BacklogHigh& event) {
  if (!warnings_only_) return observer_->OnBacklogHigh(event);
  if (!event.merging) return;
  if (Admit({Kind::kBacklog, HashOf(event.informer), HashOf(event.handler)}, event)) observer_->OnBacklogHigh(event);
}
void ThrottledObserver::OnRelisted(const Relisted& event) {
  if (!warnings_only_) observer_->OnRelisted(event);
}
// The server chooses the texts. Once there are many causes, all further texts share one.
void ThrottledObserver::OnServerWarned(const ServerWarned& warned) {
  ServerWarned event = warned;
  const std::string message = Shown(warned.message);
  event.message = message;
  Cause cause{Kind::kServer, 0, HashOf(event.message)};
  {
    const MutexLock lock(mutex_);
    const TimePoint now = clock_->Now();
    const auto many = [this]() KGEN_REQUIRES(mutex_) {
      return std::ranges::count(entries_, Kind::kServer, [](const auto& e) { return e.first.kind; }) >= kMostTexts;
    };
    if (!entries_.contains(cause)) {
      if (many()) ForgetQuiet(now);
      if (many() || !HasRoom(now)) cause.text = 0;
    }
  }
  if (Admit(cause, event)) observer_->OnServerWarned(event);
}
// Whoever reports it has asked IsEnabled().
void ThrottledObserver::OnRequested(const Requested& requested) {
  Requested event = requested;
  const std::string url = Shown(requested.url);
  const std::string what = Shown(requested.what);
  event.url = url;
  event.what = what;
  observer_->OnRequested(event);
}
// Running out of threads is worth a warning; the executor reports it once.
void ThrottledObserver::OnLimiterWaited(const LimiterWaited& event) {
  if (!warnings_only_ || event.what == "executor threads") observer_->OnLimiterWaited(event);
}

// ------------------------------------------------------------------------------------------------------- causes

// Returns true if the caller reports this event now.
template <typename Event>
bool ThrottledObserver::Admit(const Cause& cause, const Event& event, std::string_view name) {
  const MutexLock lock(mutex_);
  if (closed_) return true;
  if (cause.kind == Kind::kConnection) connection_warned_ = true;
  const TimePoint now = clock_->Now();
  const auto found = entries_.find(cause);
  if (found == entries_.end()) {
    // What several texts share (text 0) is always remembered: there are few of these.
    if (cause.text == 0 || HasRoom(now)) Began(now, entries_[cause]);
    return true;
  }
  Entry& entry = found->second;
  if (entry.count == 0 && now >= entry.next) {
    Began(now, entry);
    return true;
  }
  if (entry.count == 0) {
    entry.notice = Keep(event);
    Arm(entry.next);
  }
  ++entry.count;
  entry.names.Add(name);
  return false;
}

// Returns whether another cause can be remembered.
bool ThrottledObserver::HasRoom(TimePoint now) {
  if (entries_.size() >= kMostCauses) ForgetQuiet(now);
  return entries_.size() < kMostCauses;
}

void ThrottledObserver::ForgetQuiet(TimePoint now) {
  std::erase_if(entries_, [&](const auto& entry) {
    return entry.second.count == 0 && now >= Later(entry.second.next, warnings_only_ ? kLongest : Nanos(0));
  });
}

// A call was made: begins the next interval.
void ThrottledObserver::Began(TimePoint now, Entry& entry) const noexcept {
  const bool quiet = entry.interval == Nanos(0) || now >= Later(entry.next, kLongest);
  entry.interval = quiet || !warnings_only_ ? kShortest : std::min(entry.interval * 2, kLongest);
  entry.next = Later(now, entry.interval);
}

void ThrottledObserver::NoteFailing(std::string_view source, std::string_view key) {
  const MutexLock lock(mutex_);
  if (failing_.size() < kMostFailing) failing_.insert(HashOf(source, key));
}

void ThrottledObserver::Arm(TimePoint due) {
  if (due >= armed_for_) return;
  if (!timer_) {
    post_ = executor_->ReservePost(executor_->MakeStrand("observer"));
    timer_ = clock_->ReserveTimer();
  }
  armed_for_ = due;
  // A housekeeping timer, since nothing waits for it: the events have already happened.
  timer_->Set(due, TimerKind::kHousekeeping,
              [self = Shared<ThrottledObserver>(this)] { self->post_->Post([self = self] { self->OnTime(); }); });
}

void ThrottledObserver::OnTime() {
  std::vector<Due> due;
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    armed_for_ = TimePoint::max();
    TakeDue(clock_->Now(), due);
    TimePoint next = TimePoint::max();
    for (const auto& [cause, entry] : entries_) {
      if (entry.count > 0) next = std::min(next, entry.next);
    }
    for (const auto& [queue, over] : over_) next = std::min(next, over.due);
    if (next != TimePoint::max()) Arm(next);
  }
  Report(due);
}

void ThrottledObserver::TakeDue(TimePoint now, std::vector<Due>& due) {
  const auto take = [&](Entry& entry) {
    due.push_back(
        {std::exchange(entry.notice, nullptr), std::exchange(entry.count, 0), std::exchange(entry.names, {})});
    Began(now, entry);
  };
  for (auto& [cause, entry] : entries_) {
    if (entry.count > 0 && entry.next <= now) take(entry);
  }
  for (auto over = over_.begin(); over != over_.end();) {
    if (over->second.due > now) {
      ++over;
      continue;
    }
    // First what has not been written about their failures.
    for (auto& [cause, entry] : entries_) {
      const bool informers = cause.kind == Kind::kConnection || cause.kind == Kind::kListOrWatch;
      const bool queue = cause.kind == Kind::kReconcile && cause.source == HashOf(over->first);
      if (entry.count > 0 && (over->first.empty() ? informers : queue)) take(entry);
    }
    due.push_back({NoticeOf(over->first, over->second), over->second.names.size(), {}});
    over = over_.erase(over);
  }
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it does not follow texts into a UniqueFunction

ThrottledObserver::Notice ThrottledObserver::NoticeOf(const std::string& queue, const Over& over) {
  return [queue, over](Observer& to, std::size_t count, const Names&) {
    const std::string names = over.names.Text(queue.empty() ? "informers" : "objects");
    to.OnRecovered({.source = queue.empty() ? std::string_view(names) : queue,
                    .key = queue.empty() ? std::string_view() : names,
                    .failures = over.failures,
                    .after = over.after,
                    .count = count});
  };
}

void ThrottledObserver::Report(std::vector<Due>& due) noexcept {
  for (Due& one : due) {
    NotifyObserver(observer_, [&](Observer& o) { one.notice(o, one.count, one.names); });
  }
}

}  // namespace kgen
