// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/controller_core.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "client/errors.h"
#include "client/text.h"
#include "core/jitter.h"
#include "core/notify_observer.h"
#include "kgen/controller/metrics.h"

namespace kgen {
namespace controller {
namespace {

WorkQueueOptions QueueOptions(const detail::ControllerSpec& spec, const ControllerCore::Environment& environment) {
  return {.name = spec.name,
          .executor = environment.executor,
          .rate_limiter = environment.settings.rate_limiter,
          .observer = environment.observer,
          .priorities = environment.settings.priorities};
}

// A conflict that comes back more often than this is one that a newer cache does not resolve, such as that of an apply.
constexpr int kQuietConflicts = 5;

Cause CauseOf(const AnyEvent& event) noexcept {
  if (event.type == AnyEvent::Type::kDeleted) return Cause::kDeleted;
  if (event.reason == Reason::kInitial) return Cause::kInitial;
  if (event.reason == Reason::kResync) return Cause::kResync;
  return Cause::kChanged;
}

// What a related object's event means for the object that is reconciled: its own cause where nothing has happened.
Cause CauseOr(Cause related, const AnyEvent& event) noexcept {
  const Cause own = CauseOf(event);
  return own == Cause::kInitial || own == Cause::kResync ? own : related;
}

// An exception counts as a pass: an event must not be lost to a fault of its predicate.
template <typename F>
bool Passes(const F& predicate, const AnyEvent& event, std::exception_ptr& thrown) {
  try {
    return predicate(event);
  } catch (...) {
    thrown = std::current_exception();
    return true;
  }
}

// The same error without the id if there is no memory for it.
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

// The stop token of one call of the function: requested with that of the controller, or at the deadline.
class ControllerCore::Call {
 public:
  Call(const ControllerCore& core, const std::stop_token& stop) : forward_(stop, Forward{source_}) {
    const Nanos limit = core.environment_.settings.deadline;
    if (limit <= Nanos::zero()) return;
    const Shared<Executor>& executor = core.environment_.executor;
    const Shared<Clock> clock = executor->clock();
    deadline_ = Later(clock->Now(), limit);
    // The timer only posts, because callbacks of the token are code of the user.
    timer_ = clock->At(deadline_, TimerKind::kProgress,
                       [executor, source = source_, strand = executor->MakeStrand("deadline of " + core.name_)] {
                         executor->Post(strand, [source] {
                           source->expired.store(true);
                           source->stop.request_stop();
                         });
                       });
  }

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
  const Shared<Source> source_ = MakeShared<Source>();
  TimePoint deadline_ = Waiter::kNoDeadline;
  Timer timer_;
  const std::stop_callback<Forward> forward_;
};

const KindInfo* ControllerCore::KindOf(const std::vector<Watch>& watches) noexcept {
  for (const Watch& watch : watches) {
    if (watch.spec.role == detail::WatchSpec::Role::kFor) return &watch.cache.kind();
  }
  return nullptr;
}

ControllerCore::ControllerCore(detail::ControllerSpec spec, std::vector<Watch> watches, Environment environment)
    : name_(spec.name),
      reconcile_(std::move(spec.reconcile)),
      passes_(std::move(spec.passes)),
      watches_(std::move(watches)),
      environment_(std::move(environment)),
      metrics_(environment_.metrics),
      reconciled_(KindOf(watches_)),
      queue_(QueueOptions(spec, environment_)),
      ids_(SeedFrom(*environment_.executor->clock()) ^ std::hash<std::string>()(name_)) {}

void RequestState::Log(std::string_view message, bool warning) const {
  NotifyObserver(observer, [&](Observer& o) {
    const std::string text = key.str();
    const std::string line = "reconcile " + std::string(id_text()) + ": " + std::string(message);
    o.OnLogged({.source = controller, .key = text, .message = line, .warning = warning});
  });
}

// -------------------------------------------------------------------------------------------------- events to keys

void ControllerCore::Enqueue(const ObjectKey& key) {
  if (queue_.ShuttingDown()) return;
  reasons_.Add(key, Cause::kRequested, reconciled_ != nullptr ? reconciled_->kind : std::string_view(), key);
  queue_.Add(key);
}

void ControllerCore::Add(const ObjectKey& key, Cause cause, const Watch& watch, const AnyEvent& event) {
  reasons_.Add(key, cause, watch.cache.kind().kind, event.key);
  AddOptions options = detail::AddFor(event.reason);
  if (event.type == AnyEvent::Type::kDeleted) options = {};
  queue_.Add(key, options);
}

// Runs in the handler of one informer; those of several may run at once.
void ControllerCore::OnEvent(const Watch& watch, const AnyEvent& event) {
  std::exception_ptr thrown;
  const bool passes =
      (!passes_ || Passes(*passes_, event, thrown)) && (!watch.spec.passes || Passes(watch.spec.passes, event, thrown));
  if (passes) AddKeys(watch, event);
  if (thrown) std::rethrow_exception(thrown);
}

void ControllerCore::AddKeys(const Watch& watch, const AnyEvent& event) {
  switch (watch.spec.role) {
    case detail::WatchSpec::Role::kFor:
      return Add(event.key, CauseOf(event), watch, event);
    case detail::WatchSpec::Role::kOwns:
      return AddOwners(watch, event, CauseOr(Cause::kOwned, event));
    case detail::WatchSpec::Role::kWatches:
      return AddMapped(watch, event, CauseOr(Cause::kWatched, event));
  }
}

void ControllerCore::AddOwners(const Watch& watch, const AnyEvent& event, Cause cause) {
  std::vector<ObjectKey> added;
  for (const AnyRef* object : {&event.before, &event.now}) {
    const meta::v1::ObjectMeta* metadata = object->metadata();
    if (metadata == nullptr) continue;
    for (ObjectKey& key : detail::OwnerKeys(*metadata, *reconciled_, watch.spec.owners)) {
      if (std::find(added.begin(), added.end(), key) != added.end()) continue;
      Add(key, cause, watch, event);
      added.push_back(std::move(key));
    }
  }
}

void ControllerCore::AddMapped(const Watch& watch, const AnyEvent& event, Cause cause) {
  Requests requests;
  std::exception_ptr thrown;
  for (const AnyRef* object : {&event.before, &event.now}) {
    if (!*object) continue;
    try {
      watch.spec.map(*object, requests);
    } catch (...) {
      thrown = std::current_exception();  // what it added before counts
    }
  }
  std::vector<ObjectKey> keys = requests.keys();
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const ObjectKey& key : keys) Add(key, cause, watch, event);
  if (thrown) std::rethrow_exception(thrown);
}

// ----------------------------------------------------------------------------------------------------- running

// The queue destroys the function, which may refer to the caller, before this returns or after the last call.
Result<void> ControllerCore::Run(const std::stop_token& stop) {
  const Shared<ControllerCore> self(this);
  const auto reconcile = [self, stop, function = std::exchange(reconcile_, {})](const ObjectKey& key) {
    return self->ReconcileOne(key, stop, function);
  };
  std::vector<CacheRegistration> registrations;
  for (const Watch& watch : watches_) {
    registrations.push_back(watch.cache.AddEventHandler(
        [self, &watch](const AnyEvent& event) { self->OnEvent(watch, event); }, {.name = "controller " + name_}));
    if (Result<void> added = registrations.back().status(); !added) return added;
  }
  if (Result<void> ready = WaitForInitialEvents(registrations, stop); !ready) {
    queue_.ShutDown();
    if (stop.stop_requested()) return {};
    return ready;
  }
  return queue_.Process(environment_.settings.workers, stop, reconcile);
}

// Only then does the queue hold every object of the first lists, so that priorities mean something and the first call
// sees full caches.
Result<void> ControllerCore::WaitForInitialEvents(const std::vector<CacheRegistration>& registrations,
                                                  const std::stop_token& stop) {
  SyncOptions options{.give_up_after = environment_.sync_timeout};
  for (const CacheRegistration& each : registrations) {
    for (const Registration& part : each.parts()) options.handlers.push_back(&part);
  }
  return detail::WaitForSync(*environment_.executor, stop, {}, options);
}

Result<Requeue> ControllerCore::ReconcileOne(const ObjectKey& key, const std::stop_token& stop,
                                             const Function& function) {
  const Call call(*this, stop);
  const TimePoint started = environment_.executor->clock()->Now();
  RequestState state{.key = key,
                     .controller = name_,
                     .id = NextId(),
                     .reasons = reasons_.Take(key),
                     .failures = queue_.NumRequeues(key),
                     .client = environment_.client.With(call.token()),
                     .stop = call.token(),
                     .deadline = call.deadline(),
                     .events = environment_.events,
                     .observer = environment_.observer};
  if (state.reasons.count == 0) {  // another call has taken the reason together with its own
    state.reasons = {{{Cause::kRequeued, reconciled_ != nullptr ? reconciled_->kind : std::string_view(), key}}, 1};
  }
  metrics_.active.Add(1);
  Result<Requeue> result = CallFunction(function, state);
  metrics_.active.Add(-1);
  metrics_.time.Observe(environment_.executor->clock()->Now() - started);
  return Conclude(state, std::move(result), call.expired(), stop.stop_requested());
}

// Different numbers give different ids.
RequestId ControllerCore::NextId() noexcept {
  std::uint64_t rest = Jitter(ids_.fetch_add(1)).Next();
  RequestId id;
  for (char& digit : id) {
    digit = "0123456789abcdef"[rest & 15];
    rest >>= 4;
  }
  return id;
}

// An exception becomes the error of this call.
Result<Requeue> ControllerCore::CallFunction(const Function& function, RequestState& state) {
  Request request(state);
  try {
    return function(request);
  } catch (const Exception& thrown) {
    return Fail(thrown.error());  // of Must(), or of Request::Get()
  } catch (const std::bad_alloc&) {
    metrics_.panics.Add();
    return Fail(client::OutOfMemory());
  } catch (const std::exception& thrown) {
    metrics_.panics.Add();
    return Fail(Code::kUserCode, std::string("the reconcile function threw: ") + thrown.what());
  } catch (...) {
    metrics_.panics.Add();
    return Fail(Code::kUserCode, "the reconcile function threw something that is not a std::exception");
  }
}

// Counts the result, and says what the queue does with the key. The queue reports the errors that it gets.
Result<Requeue> ControllerCore::Conclude(const RequestState& state, Result<Requeue> result, bool timed_out,
                                         bool stopping) {
  const ObjectKey& key = state.key;
  const std::string_view kind = reconciled_ != nullptr ? reconciled_->kind : std::string_view();
  if (timed_out) metrics_.timeouts.Add();
  if (result) {
    const Requeue& requeue = *result;
    const bool after = requeue.after > Nanos::zero() && !requeue.back_off;
    if (requeue.back_off) metrics_.requeued.Add();
    if (after) metrics_.requeued_after.Add();
    if (!requeue.back_off && !after) metrics_.succeeded.Add();
    if (requeue.back_off) reasons_.SetFallback(key, Cause::kRetried, kind);
    if (after) reasons_.SetFallback(key, Cause::kRequeued, kind);
    return result;
  }
  if (stopping && result.error().code() == Code::kCancelled) return Requeue::Done();  // nobody processes it any more
  if (!result.error().terminal()) reasons_.SetFallback(key, Cause::kRetried, kind);
  if (result.error().code() == Code::kConflict && !result.error().terminal() && state.failures < kQuietConflicts) {
    // The cache will soon have what the other one wrote.
    metrics_.requeued.Add();
    return Requeue::BackOff();
  }
  metrics_.failed.Add();
  metrics_.errors.Add();
  Error error = std::move(result).error();
  if (!error.terminal()) {
    if (timed_out) {
      const std::string limit = client::DurationText(environment_.settings.deadline);
      error = Error(Code::kTimeout, "the deadline of " + limit + " passed: " + error.ToString());
    }
    return Fail(WithId(std::move(error), state));
  }
  error = WithId(std::move(error), state);
  metrics_.terminal_errors.Add();
  NotifyObserver(environment_.observer, [&](Observer& o) {
    const std::string text = key.str();
    o.OnReconcileFailed({.queue = name_, .key = text, .error = &error, .terminal = true});
  });
  return Requeue::Done();
}

}  // namespace controller

// ---------------------------------------------------------------------------------------------------- public faces

const ObjectKey& Request::key() const noexcept { return state_->key; }
std::string_view Request::controller() const noexcept { return state_->controller; }
std::string_view Request::id() const noexcept { return state_->id_text(); }
std::span<const RequestReason> Request::reasons() const noexcept { return state_->reasons.first; }
std::size_t Request::merged() const noexcept { return state_->reasons.count; }
int Request::failures() const noexcept { return state_->failures; }
const Client& Request::client() const noexcept { return state_->client; }
const std::stop_token& Request::stop() const noexcept { return state_->stop; }
TimePoint Request::deadline() const noexcept { return state_->deadline; }
const EventRecorder& Request::events() const noexcept { return state_->events; }

void Request::log(std::string_view message) const { state_->Log(message, false); }
void Request::warn(std::string_view message) const { state_->Log(message, true); }

Controller::Controller(Shared<controller::ControllerCore> core) noexcept : core_(std::move(core)) {}
Controller::Controller(const Controller&) noexcept = default;
Controller& Controller::operator=(const Controller&) noexcept = default;
Controller::~Controller() = default;
const std::string& Controller::name() const noexcept { return core_->name(); }
void Controller::Enqueue(const ObjectKey& key) const { core_->Enqueue(key); }

}  // namespace kgen
