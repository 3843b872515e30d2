// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/manager/controller_runner.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "client/request/connection_state.h"
#include "client/request/errors.h"
#include "controller/caches/deliberate_bugs.h"
#include "controller/caches/kind_cache.h"
#include "controller/queue/queue_state.h"
#include "core/execution/jitter.h"
#include "core/execution/post_timer.h"
#include "core/observers/notify_observer.h"
#include "core/thrown.h"
#include "kgen/controller/metrics.h"
#include "kgen/controller/terminal_error.h"
#include "net/duration_text.h"

namespace kgen {
namespace controller {
namespace {

// Counts the exceptions of the user's formula. The queue reports them.
class CountedLimiter final : public RateLimiter {
 public:
  CountedLimiter(Shared<RateLimiter> limiter, Metrics::Counter panics) noexcept
      : limiter_(std::move(limiter)), panics_(std::move(panics)) {}
  Nanos When(int failures, TimePoint now) override {
    try {
      return limiter_->When(failures, now);
    } catch (...) {
      panics_.Add();
      throw;
    }
  }

 private:
  const Shared<RateLimiter> limiter_;
  Metrics::Counter panics_;
};

WorkQueueOptions QueueOptions(const detail::ControllerSpec& spec, const ControllerRunner::Environment& environment) {
  Shared<RateLimiter> limiter = environment.settings.rate_limiter;
  if (limiter) limiter = MakeShared<CountedLimiter>(std::move(limiter), environment.metrics.function_panics);
  return {.name = spec.name,
          .executor = environment.executor,
          .rate_limiter = std::move(limiter),
          .observer = environment.observer,
          .priorities = environment.settings.use_priority_queue,
          .measure_durations = true};
}

// A conflict that comes back more often than this is one that a newer cache does not resolve, such as the conflict of
// an apply.
constexpr int kQuietConflicts = 5;

Cause CauseOf(const AnyEvent& event) noexcept {
  if (event.type == AnyEvent::Type::kDeleted) return Cause::kDeleted;
  if (event.reason == Reason::kInitial || event.reason == Reason::kSaved) return Cause::kInitial;
  if (event.reason == Reason::kResync) return Cause::kResync;
  return Cause::kChanged;
}

// What a related object's event means for the object that is reconciled: its own cause where nothing has happened.
Cause CauseOr(Cause related, const AnyEvent& event) noexcept {
  const Cause own = CauseOf(event);
  return own == Cause::kInitial || own == Cause::kResync ? own : related;
}

// Returns the error with the id of the call, or as it is if there is no memory for that.
Error WithId(Error error, const RequestState& state) noexcept {
  try {
    return error.With("reconcile " + std::string(state.id_text()));
  } catch (const std::bad_alloc&) {
    return error;
  }
}

}  // namespace

Result<ControllerMetrics> ControllerMetrics::Make(Metrics& metrics, const std::string& controller, int workers) {
  const std::vector<MetricLabel> name = {{"controller", controller}};
  std::optional<Error> failure;
  const auto counter = [&](std::string_view family, std::string_view help, const char* result = nullptr) {
    std::vector<MetricLabel> labels = name;
    if (result != nullptr) labels.push_back({"result", result});
    Result<Metrics::Counter> made = metrics.AddCounter(family, help, std::move(labels));
    if (!made) failure = made.error();
    return made ? *made : Metrics::Counter();
  };
  const auto gauge = [&](std::string_view family, std::string_view help) {
    Result<Metrics::Gauge> made = metrics.AddGauge(family, help, name);
    if (!made) failure = made.error();
    return made ? *made : Metrics::Gauge();
  };
  constexpr std::string_view kTotal = "controller_runtime_reconcile_total";
  constexpr std::string_view kTotalHelp = "Calls of the reconcile function, by result";
  ControllerMetrics m;
  m.succeeded = counter(kTotal, kTotalHelp, "success");
  m.failed = counter(kTotal, kTotalHelp, "error");
  m.requeued = counter(kTotal, kTotalHelp, "requeue");
  m.requeued_after = counter(kTotal, kTotalHelp, "requeue_after");
  m.errors = counter("controller_runtime_reconcile_errors_total", "Calls that failed");
  m.terminal_errors = counter("controller_runtime_terminal_reconcile_errors_total",
                              "Calls that failed in a way that another attempt cannot mend");
  m.panics = counter("controller_runtime_reconcile_panics_total", "Calls that threw an exception");
  m.skipped =
      counter("kgen_controller_own_writes_skipped_total", "Calls that were not made for the controller's own write");
  m.function_panics = counter("kgen_controller_function_panics_total",
                              "Exceptions of predicates, functions of Watches() and rate limiters");
  m.timeouts =
      counter("controller_runtime_reconcile_timeouts_total", "Calls that were still running at their deadline");
  m.workers = gauge("controller_runtime_max_concurrent_reconciles", "How many calls may run at once");
  m.active = gauge("controller_runtime_active_workers", "How many calls run");
  auto time = metrics.AddHistogram("controller_runtime_reconcile_time_seconds", "How long a call takes",
                                   ReconcileTimeBounds(), name);
  if (!time) failure = time.error();
  if (failure) return Fail(failure->With("metrics of controller " + controller));
  m.time = *time;
  m.workers.Set(workers);
  return m;
}

// One call of the function, with its stop token, which is requested with the controller's or at the deadline.
class ControllerRunner::Call {
 public:
  // Either of two tokens stops it; the other one may be of nobody.
  Call(ControllerRunner& runner, const ObjectKey& key, const std::stop_token& stop, std::stop_token other)
      : runner_(runner),
        key_(key),
        started_(runner.environment_.executor->clock()->Now()),
        forward_(stop, Forward{source_}),
        forward_other_(std::move(other), Forward{source_}) {
    {
      const MutexLock lock(runner_.mutex_);
      runner_.calls_.push_back(this);
    }
    const Nanos limit = runner.environment_.settings.reconciliation_timeout.value_or(kNoLimit);
    if (limit == kNoLimit) return;
    const Shared<Executor>& executor = runner.environment_.executor;
    deadline_ = Later(started_, limit);
    // The timer only posts, because callbacks of the token are code of the user.
    timer_ = kgen::detail::PostAt(*executor, executor->MakeStrand("deadline of " + runner_.name_), deadline_,
                                  TimerKind::kProgress, [source = source_] {
                                    source->expired.store(true);
                                    source->stop.request_stop();
                                  });
  }

  ~Call() {
    const MutexLock lock(runner_.mutex_);
    std::erase(runner_.calls_, this);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const ObjectKey& key() const noexcept { return key_; }
  TimePoint started() const noexcept { return started_; }
  std::stop_token token() const { return source_->stop.get_token(); }
  TimePoint deadline() const noexcept { return deadline_; }
  bool expired() const noexcept { return source_->expired.load(); }

 private:
  struct Source : SharedObject {
    std::stop_source stop;
    std::atomic<bool> expired{false};
  };
  struct Forward {
    Shared<Source> source;
    void operator()() const { source->stop.request_stop(); }
  };
  ControllerRunner& runner_;
  const ObjectKey& key_;
  const TimePoint started_;
  const Shared<Source> source_ = MakeShared<Source>();
  TimePoint deadline_ = Waiter::kNoDeadline;
  Timer timer_;
  const std::stop_callback<Forward> forward_, forward_other_;
};

const KindInfo* ControllerRunner::KindOf(const std::vector<Watch>& watches) noexcept {
  for (const Watch& watch : watches) {
    if (watch.spec.role == detail::WatchSpec::Role::kFor) return &watch.cache.kind();
  }
  return nullptr;
}

ControllerRunner::ControllerRunner(detail::ControllerSpec spec, std::vector<Watch> watches, Environment environment)
    : name_(spec.name),
      reconcile_(std::move(spec.reconcile)),
      passes_(std::move(spec.passes)),
      watches_(std::move(watches)),
      environment_(std::move(environment)),
      metrics_(environment_.metrics),
      reconciled_(KindOf(watches_)),
      queue_(QueueOptions(spec, environment_)),
      ids_(SeedFrom(*environment_.executor->clock()) ^ std::hash<std::string>()(name_)) {}

void RequestState::Log(LogLevel level, std::string_view message, std::span<const LogField> fields) const {
  NotifyObserver(observer, [&](Observer& o) {
    if (!o.IsEnabled(LogComponent::kController, level)) return;
    const std::string text = key.str();
    o.OnLogged(
        {.source = controller, .key = text, .message = message, .level = level, .id = id_text(), .fields = fields});
  });
}

// -------------------------------------------------------------------------------------------------- events to keys

void ControllerRunner::Enqueue(const ObjectKey& key, const RequestOptions& options) {
  if (queue_.ShuttingDown() || IsElsewhere(key, nullptr)) return;
  reasons_->Add(key, Cause::kRequested, reconciled_ != nullptr ? reconciled_->kind : std::string_view(), key);
  queue_.Add(key, {.after = options.after, .priority = options.priority.value_or(kNormalPriority)});
}

// This process may become the owner of a key that is elsewhere now. Then the key is added again.
bool ControllerRunner::IsElsewhere(const ObjectKey& key, const ShardRanges* only) const {
  if (!environment_.shards) return false;
  const std::uint64_t hash = ShardHash(key.namespace_);
  return (only != nullptr && !only->Contains(hash)) || !environment_.shards->IsActive(hash);
}

void ControllerRunner::Add(const ObjectKey& key, Cause cause, const Watch& watch, const AnyEvent& event,
                           const ShardRanges* only, const RequestOptions& asked) {
  if (IsElsewhere(key, only)) return;
  const meta::v1::ObjectMeta* const now = event.now.metadata();
  const bool state = environment_.settings.skip_own_writes && watch.spec.role != detail::WatchSpec::Role::kWatches &&
                     event.type != AnyEvent::Type::kDeleted && event.reason == Reason::kWatch && now != nullptr;
  if (state) {
    const WriteLog::Entry entry{now->uid, now->resourceVersion};
    reasons_->Add(key, cause, watch.cache.kind().kind, event.key, &entry);
  } else {
    reasons_->Add(key, cause, watch.cache.kind().kind, event.key);
  }
  AddOptions options = detail::AddFor(event.reason);
  if (event.type == AnyEvent::Type::kDeleted) options = {};
  options.after = asked.after;
  options.priority = asked.priority.value_or(options.priority);
  queue_.Add(key, options);
}

// Runs in an informer's handler. Handlers of several informers may run at once.
void ControllerRunner::OnEvent(const Watch& watch, const AnyEvent& event, const ShardRanges* only) {
  if (event.type == AnyEvent::Type::kLeft) return;  // whoever works on the object now has seen it come
  if (passes_ && !Passes(*passes_, watch, event)) return;
  if (watch.spec.passes && !Passes(*watch.spec.passes, watch, event)) return;
  AddKeys(watch, event, only);
}

// An exception counts as a pass: an event must not be lost to a fault of its predicate.
template <typename F>
bool ControllerRunner::Passes(const F& predicate, const Watch& watch, const AnyEvent& event) {
  try {
    return predicate(event);
  } catch (...) {
    ReportThrown("a predicate", watch, event);
    return true;
  }
}

// Call it in a catch block.
void ControllerRunner::ReportThrown(std::string_view who, const Watch& watch, const AnyEvent& event) noexcept {
  metrics_.function_panics.Add();
  NotifyObserver(environment_.observer, [&](Observer& o) {
    const Error error = detail::ErrorOfThrown(who);
    const std::string handler = "controller " + name_ + ", " + watch.cache.name();
    const std::string what = error.ToString();
    o.OnHandlerFailed({.informer = handler, .key = &event.key, .what = what});
  });
}

void ControllerRunner::AddKeys(const Watch& watch, const AnyEvent& event, const ShardRanges* only) {
  switch (watch.spec.role) {
    case detail::WatchSpec::Role::kFor:
      return Add(event.key, CauseOf(event), watch, event, only);
    case detail::WatchSpec::Role::kOwns:
      return AddOwners(watch, event, CauseOr(Cause::kOwned, event), only);
    case detail::WatchSpec::Role::kWatches:
      return AddMapped(watch, event, CauseOr(Cause::kWatched, event), only);
  }
}

void ControllerRunner::AddOwners(const Watch& watch, const AnyEvent& event, Cause cause, const ShardRanges* only) {
  std::vector<ObjectKey> added;
  for (const AnyRef* object : {&event.before, &event.now}) {
    const meta::v1::ObjectMeta* metadata = object->metadata();
    if (metadata == nullptr) continue;
    for (ObjectKey& key : detail::OwnerKeys(*metadata, *reconciled_, watch.spec.owners)) {
      if (std::find(added.begin(), added.end(), key) != added.end()) continue;
      Add(key, cause, watch, event, only);
      added.push_back(std::move(key));
    }
  }
}

void ControllerRunner::AddMapped(const Watch& watch, const AnyEvent& event, Cause cause, const ShardRanges* only) {
  Requests requests;
  const auto call = [&](const auto& function, const auto& argument) {
    try {
      function(argument, requests);
    } catch (...) {  // what it added before counts
      ReportThrown("the function of Watches()", watch, event);
    }
  };
  if (watch.spec.handle) call(watch.spec.handle, event);
  for (const AnyRef* object : {&event.before, &event.now}) {
    if (watch.spec.map && *object) call(watch.spec.map, *object);
  }
  // The queue combines equal keys that ask for something else.
  std::vector<Requests::Entry> entries = requests.entries();
  const auto order = [](const Requests::Entry& entry) {
    return std::tie(entry.key, entry.options.after, entry.options.priority);
  };
  const auto same = [&](const auto& a, const auto& b) { return order(a) == order(b); };
  std::ranges::sort(entries, {}, order);
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  for (const Requests::Entry& entry : entries) {
    CheckMapped(watch, event, entry.key);
    Add(entry.key, cause, watch, event, only, entry.options);
  }
}

// The process that owns a key need not hold an object of another namespace, and would never see its events.
void ControllerRunner::CheckMapped(const Watch& watch, const AnyEvent& event, const ObjectKey& key) {
  if (!environment_.shards || key.namespace_ == event.key.namespace_) return;
  const KindInfo& kind = watch.cache.kind();
  if (!environment_.shards->Divides(kind)) return;
  {
    const MutexLock lock(mutex_);
    if (misplaced_) return;
    misplaced_.emplace(Code::kInvalidArgument,
                       "the function of Watches() for " + watch.cache.name() + " maps " + event.key.str() + " to " +
                           key.str() + ", in another namespace, whose owner may be a replica that does not hold " +
                           std::string(kind.kind) + " " + event.key.str() +
                           "; add the kind to ManagerOptions::shards_everywhere, so that every replica holds it whole");
  }
  stop_.request_stop();
}

// ------------------------------------------------------------------------------------------------------ shards

void ControllerRunner::Replay(const ShardRanges& ranges) {
  for (const Watch& watch : watches_) {
    for (AnyRef& object : watch.cache.kind_cache()->Held(ranges)) {
      const meta::v1::ObjectMeta& metadata = *object.metadata();
      AnyEvent event{.type = AnyEvent::Type::kAdded,
                     .reason = Reason::kInitial,
                     .key = {metadata.namespace_, metadata.name},
                     .version = metadata.resourceVersion};
      event.now = std::move(object);
      OnEvent(watch, event, &ranges);
    }
  }
}

// Their keys are dropped when their turn comes.
void ControllerRunner::Forget(const ShardRanges& ranges) {
  const MutexLock lock(mutex_);
  std::erase_if(last_calls_, [&](const auto& each) { return ranges.Contains(ShardHash(each.first.namespace_)); });
}

void ControllerRunner::CountObjects(std::unordered_map<std::uint64_t, double>& loads) const {
  for (const Watch& watch : watches_) {
    if (watch.spec.role != detail::WatchSpec::Role::kFor) continue;
    std::unordered_map<String, double> counts;
    for (const AnyRef& object : watch.cache.kind_cache()->Held(ShardRanges::All())) {
      counts[object.metadata()->namespace_] += 1;
    }
    for (const auto& [name, count] : counts) loads[ShardHash(name)] += count;
  }
}

// ----------------------------------------------------------------------------------------------------- running

Result<Requeue> ControllerRunner::ReconcileOne(const ObjectKey& key, const std::stop_token& stop,
                                               const Function& function) {
  if (!environment_.shards) return Reconcile(key, stop, function, nullptr);
  ShardedWork::Call shard(*environment_.shards, key);
  if (shard) return Reconcile(key, stop, function, &shard);
  (void)reasons_->Take(key);
  return Requeue::Done();
}

// `shard` may be null.
Result<Requeue> ControllerRunner::Reconcile(const ObjectKey& key, const std::stop_token& stop, const Function& function,
                                            ShardedWork::Call* shard) {
  Reasons reasons = reasons_->Take(key);
  if (HasLeft(key)) {
    const MutexLock lock(mutex_);
    last_calls_.erase(key);
    return Requeue::Done();
  }
  const bool skips = environment_.settings.skip_own_writes;
  if (skips) {
    if (const std::optional<Requeue> skipped = SkipOwnWrites(key, reasons)) return *skipped;
  }
  const Shared<WriteLog> log = skips || shard != nullptr ? MakeShared<WriteLog>() : Shared<WriteLog>();
  const Call call(*this, key, stop, shard != nullptr ? shard->stop() : std::stop_token());
  const RequestId id = NextId();
  OpenSpan span = StartSpan(key, id);
  RequestState state{.key = key,
                     .controller = name_,
                     .id = id,
                     .reasons = std::move(reasons),
                     .failures = queue_.NumRequeues(key),
                     .client = environment_.client.With(call.token()).With(log),
                     .stop = call.token(),
                     .deadline = call.deadline(),
                     .events = environment_.events,
                     .observer = environment_.observer,
                     .cluster = environment_.cluster};
  if (shard != nullptr) {
    state.fence = shard->fence();
    if (!Injected(ManagerBug::kNoFence)) state.client = state.client.With(shard->guard());
  }
  if (span) state.client = state.client.With(span.context());
  if (state.reasons.count == 0) {  // another call has taken the reason together with its own
    state.reasons = {{{Cause::kRequeued, reconciled_ != nullptr ? reconciled_->kind : std::string_view(), key}}, 1};
  }
  metrics_.active.Add(1);
  Result<Requeue> result = CallFunction(function, state);
  if (result) {
    if (Result<void> valid = CheckRequeue(*result); !valid) result = Fail(std::move(valid).error());
  }
  if (!result && HasLeft(key)) result = Requeue::Done();  // its reads cannot succeed any more
  metrics_.active.Add(-1);
  const TimePoint ended = environment_.executor->clock()->Now();
  metrics_.time.Observe(ended - call.started());
  span.End({.error = result ? nullptr : &result.error()});
  if (shard != nullptr && log->unsure()) shard->SetUnsure();
  if (skips) NoteOwnWrites(key, log->Take(), result);
  PastCall past{.key = key,
                .id = state.id,
                .merged = state.reasons.count,
                .ended = ended,
                .took = ended - call.started(),
                .timed_out = call.expired()};
  if (result) {
    past.requeue = *result;
  } else {
    past.error = result.error().code();
    past.terminal = IsTerminal(result.error());
  }
  result = Conclude(state, std::move(result), call.expired(), stop.stop_requested());
  past.reasons = std::move(state.reasons.first);
  recent_->Add(std::move(past));
  return result;
}

bool ControllerRunner::HasLeft(const ObjectKey& key) const noexcept {
  const auto reconciled =
      std::ranges::find(watches_, detail::WatchSpec::Role::kFor, [](const Watch& watch) { return watch.spec.role; });
  if (reconciled == watches_.end() || key.namespace_.empty()) return false;
  const KindCache& cache = *reconciled->cache.kind_cache();
  return cache.changes() && !cache.Has(key.namespace_);
}

OpenSpan ControllerRunner::StartSpan(const ObjectKey& key, const RequestId& id) const {
  const Shared<Tracer>& tracer = client::ConnectionState::Of(environment_.client.connection())->tracer;
  if (!tracer) return {};
  const std::string text = key.str();
  return {tracer, {.kind = SpanKind::kReconcile, .name = name_, .key = text, .id = {id.data(), id.size()}}};
}

// Whether this call would only be made for what the last one has written. Everything that is not known to be that leads
// to a call.
std::optional<Requeue> ControllerRunner::SkipOwnWrites(const ObjectKey& key, const Reasons& reasons) {
  const bool retried = reasons.fallback && reasons.fallback->cause != Cause::kRequeued;
  if (reasons.other || reasons.states.empty() || retried) return std::nullopt;
  Requeue result = Requeue::Done();
  {
    const MutexLock lock(mutex_);
    const auto last = last_calls_.find(key);
    if (last == last_calls_.end()) return std::nullopt;
    std::vector<WriteLog::Entry>& writes = last->second.writes;
    const auto own = [&](const WriteLog::Entry& state) { return std::ranges::find(writes, state) != writes.end(); };
    if (!std::ranges::all_of(reasons.states, own)) return std::nullopt;
    if (last->second.due) {
      const Nanos left = *last->second.due - environment_.executor->clock()->Now();
      if (left <= Nanos::zero()) return std::nullopt;
      result = Requeue::After(left);
    }
    for (const WriteLog::Entry& state : reasons.states) std::erase(writes, state);
    if (writes.empty()) last_calls_.erase(last);
  }
  metrics_.skipped.Add();
  if (result.after) {
    reasons_->SetFallback(key, Cause::kRequeued, reconciled_ != nullptr ? reconciled_->kind : std::string_view());
  }
  return result;
}

void ControllerRunner::NoteOwnWrites(const ObjectKey& key, std::vector<WriteLog::Entry> writes,
                                     const Result<Requeue>& result) {
  const MutexLock lock(mutex_);
  if (!result || result->back_off || writes.empty()) {
    last_calls_.erase(key);
    return;
  }
  LastCall& last = last_calls_[key];
  last = {.writes = std::move(writes)};
  if (ComesBack(*result)) last.due = Later(environment_.executor->clock()->Now(), *result->after);
}

std::string ControllerRunner::Doing() const {
  constexpr std::size_t kMost = 5;
  const TimePoint now = environment_.executor->clock()->Now();
  const MutexLock lock(mutex_);
  std::string text;
  for (std::size_t i = 0; i < std::min(calls_.size(), kMost); ++i) {
    if (i > 0) text += ", ";
    text += calls_[i]->key().str() + " for " + net::DurationText(now - calls_[i]->started());
  }
  if (calls_.size() > kMost) text += " and " + std::to_string(calls_.size() - kMost) + " more";
  return text;
}

// Different numbers give different ids.
RequestId ControllerRunner::NextId() noexcept {
  std::uint64_t rest = Jitter(ids_.fetch_add(1)).Next();
  RequestId id;
  for (char& digit : id) {
    digit = "0123456789abcdef"[rest & 15];
    rest >>= 4;
  }
  return id;
}

namespace {

// Catches an error in the form of an exception, and nothing else.
[[gnu::noinline]] Result<Requeue> CallCatchingErrors(const std::function<Result<Requeue>(Request&)>& function,
                                                     Request& request) {
  try {
    return function(request);
  } catch (const Exception&) {
    return Fail(detail::ErrorOfThrown({}));
  }
}

// Every other exception ends the process. This is a function of its own, without a handler and not inlined, so that the
// search for one ends here, before the stack is unwound.
[[gnu::noinline]] Result<Requeue> CallOrTerminate(const std::function<Result<Requeue>(Request&)>& function,
                                                  Request& request) noexcept {
  return CallCatchingErrors(function, request);
}

}  // namespace

// An exception becomes the error of this call.
Result<Requeue> ControllerRunner::CallFunction(const Function& function, RequestState& state) {
  Request request(state);
  if (!environment_.settings.recover_panic) return CallOrTerminate(function, request);
  try {
    return function(request);
  } catch (const Exception&) {  // an error in another form, not a fault of the function
    return Fail(detail::ErrorOfThrown({}));
  } catch (...) {
    metrics_.panics.Add();
    return Fail(detail::ErrorOfThrown("the reconcile function"));
  }
}

// Counts the result, and says what the queue does with the key. The queue reports the errors that it gets.
Result<Requeue> ControllerRunner::Conclude(const RequestState& state, Result<Requeue> result, bool timed_out,
                                           bool stopping) {
  const ObjectKey& key = state.key;
  const std::string_view kind = reconciled_ != nullptr ? reconciled_->kind : std::string_view();
  if (timed_out) metrics_.timeouts.Add();
  if (result) {
    const Requeue& requeue = *result;
    const bool after = ComesBack(requeue) && !requeue.back_off;
    if (requeue.back_off) metrics_.requeued.Add();
    if (after) metrics_.requeued_after.Add();
    if (!requeue.back_off && !after) metrics_.succeeded.Add();
    if (requeue.back_off) reasons_->SetFallback(key, Cause::kRetried, kind);
    if (after) reasons_->SetFallback(key, Cause::kRequeued, kind);
    return result;
  }
  // Nobody processes it any more, and it has neither failed nor succeeded.
  if (stopping && result.error().code() == Code::kCancelled) return Requeue::BackOff();
  if (!IsTerminal(result.error())) reasons_->SetFallback(key, Cause::kRetried, kind);
  if (result.error().code() == Code::kConflict && !IsTerminal(result.error()) && state.failures < kQuietConflicts) {
    // The cache will soon have what the other one wrote.
    metrics_.requeued.Add();
    return Requeue::BackOff();
  }
  metrics_.failed.Add();
  metrics_.errors.Add();
  Error error = std::move(result).error();
  if (IsTerminal(error)) {
    metrics_.terminal_errors.Add();
  } else if (timed_out) {
    const std::string limit = net::DurationText(*environment_.settings.reconciliation_timeout);
    error = Error(Code::kTimeout, "the deadline of " + limit + " passed: " + error.ToString());
  }
  return Fail(WithId(std::move(error), state));
}

}  // namespace controller

// ---------------------------------------------------------------------------------------------------- public faces

const ObjectKey& Request::key() const noexcept { return state_->key; }
std::string_view Request::controller() const noexcept { return state_->controller; }
std::string_view Request::cluster() const noexcept { return state_->cluster; }
std::string_view Request::id() const noexcept { return state_->id_text(); }
std::span<const RequestReason> Request::reasons() const noexcept { return state_->reasons.first; }
std::size_t Request::merged() const noexcept { return state_->reasons.count; }
int Request::failures() const noexcept { return state_->failures; }
const CachedClient& Request::client() const noexcept { return state_->client; }
const std::stop_token& Request::stop() const noexcept { return state_->stop; }
TimePoint Request::deadline() const noexcept { return state_->deadline; }
const EventRecorder& Request::events() const noexcept { return state_->events; }
std::uint64_t Request::fence() const noexcept { return state_->fence; }

void Request::Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) const {
  state_->Log(level, message, {fields.begin(), fields.size()});
}

Controller::Controller(Shared<controller::ControllerRunner> runner) noexcept : runner_(std::move(runner)) {}
Controller::Controller(const Controller&) noexcept = default;
Controller& Controller::operator=(const Controller&) noexcept = default;
Controller::~Controller() = default;
const std::string& Controller::name() const noexcept { return runner_->name(); }
void Controller::Enqueue(const ObjectKey& key, const RequestOptions& options) const { runner_->Enqueue(key, options); }

}  // namespace kgen
