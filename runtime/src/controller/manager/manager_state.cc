// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/manager/manager_state.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "client/verbs/kind_registry.h"
#include "controller/election/elector_state.h"
#include "core/execution/thread_pool.h"
#include "core/metadata_table.h"
#include "core/out_of_memory.h"
#include "core/thrown.h"
#include "kgen/client/rest_mapper.h"
#include "kgen/controller/queue_metrics.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

constexpr Nanos kEventsLimit = std::chrono::seconds(5);    // to write the last Events
constexpr Nanos kReleaseLimit = std::chrono::seconds(5);   // to release the lease
constexpr Nanos kEndpointLimit = std::chrono::seconds(5);  // to end requests under way
constexpr Nanos kWebhookLimit = std::chrono::seconds(10);  // to answer reviews under way

struct Flag : SharedObject {
  std::atomic<bool> set{false};
};

std::string NameOf(const ManagerOptions& options) {
  if (!options.name.empty()) return options.name;
  return options.leader_election.name.empty() ? "kgen" : options.leader_election.name;
}

CachedClient PlainClient(const Caches& caches, const std::string& name, const Shared<SendGuard>& guard) {
  const CachedClient plain(caches, name);
  return guard ? plain.With(guard) : plain;
}

CachedClient GuardedClient(const CachedClient& plain, const std::optional<LeaderElector>& elector) {
  return elector ? plain.With(elector->guard()) : plain;
}

// The first failure, followed by what went wrong while ending.
Result<void> Join(Result<void> first, const Result<void>& second) {
  if (second) return first;
  if (first) return second;
  return Fail(first.error().code(), first.error().ToString() + "; then: " + second.error().ToString());
}

// Why the lease cannot be acquired or renewed; without samples while nothing is wrong.
MetricFamily FailureOf(const LeaderElector& elector, const std::string& name) {
  MetricFamily family{.name = "kgen_leader_election_failing",
                      .help = "1 while acquiring or renewing the lease fails, by the reason of the last failure"};
  if (const std::optional<Error> failure = elector.failure()) {
    const std::string reason(ToString(failure->code()));
    family.samples.push_back({.labels = {{"name", name}, {"reason", reason}}, .value = 1});
  }
  return family;
}

constexpr int kMoreThreads = 1;  // for event handlers, without which no work gets into the queues

// Calls of controllers that hold `threads` threads at a time must leave some to event handlers.
Result<void> CheckThreads(const Executor& executor, int threads) {
  const std::optional<int> limit = detail::BlockingLimitOf(executor);
  if (!limit || threads + kMoreThreads <= *limit) return {};
  return Fail(Code::kInvalidArgument,
              "too many workers: controllers of this manager could hold " + std::to_string(threads) +
                  " threads (one for each of their workers) and event handlers need " + std::to_string(kMoreThreads) +
                  ", but the executor has " + std::to_string(*limit) +
                  " for blocking work; use fewer workers, or raise ExecutorOptions::max_threads by " +
                  std::to_string(threads + kMoreThreads - *limit));
}

Result<void> CheckCalls(std::string_view option, std::optional<int> calls) {
  if (!calls || *calls >= 1) return {};
  return Fail(Code::kInvalidArgument,
              std::string(option) + " is " + std::to_string(*calls) + ", but a controller needs at least one call");
}

Result<void> CheckTimeout(std::string_view option, std::optional<Nanos> timeout) {
  if (!timeout || *timeout > Nanos::zero()) return {};
  return Fail(Code::kInvalidArgument, std::string(option) + " is " + net::DurationText(*timeout) +
                                          ", but it must be positive; kgen::kNoLimit means no timeout");
}

Result<void> CheckOptions(const ManagerOptions& options) {
  const ControllerDefaults& defaults = options.controllers;
  if (Result<void> fine = CheckCalls("max_concurrent_reconciles", defaults.max_concurrent_reconciles); !fine) {
    return fine;
  }
  for (const auto& [kind, calls] : defaults.group_kind_concurrency) {
    if (Result<void> fine = CheckCalls("group_kind_concurrency of '" + kind + "'", calls); !fine) return fine;
  }
  if (Result<void> fine = CheckTimeout("reconciliation_timeout", defaults.reconciliation_timeout); !fine) return fine;
  if (options.graceful_shutdown_timeout < Nanos::zero()) {
    return Fail(Code::kInvalidArgument, "graceful_shutdown_timeout is " +
                                            net::DurationText(options.graceful_shutdown_timeout) +
                                            ", but a time is not negative; kgen::kNoLimit means forever");
  }
  return Check(options.caches);
}

// A projection may lack what the controller reads of the metadata. Its functions cannot ask for what is not there.
Result<void> CheckFits(const detail::WatchSpec& watch, const std::optional<AnyPredicate>& passes) {
  if (watch.passes) {
    if (Result<void> fits = watch.passes->Fits(*watch.table); !fits) return fits;
  }
  if (passes) {
    if (Result<void> fits = passes->Fits(*watch.table); !fits) return fits;
  }
  if (watch.role != detail::WatchSpec::Role::kOwns || detail::KeepsMetadata(*watch.table, "ownerReferences")) return {};
  return Fail(Code::kInvalidArgument,
              std::string("Owns() reads metadata.ownerReferences, which ") + watch.table->name +
                  " does not have; add metadata.ownerReferences to the members of the projection");
}

}  // namespace

Result<Shared<ManagerState>> ManagerState::Make(const Connection& connection, ManagerOptions options,
                                                ClusterMembership membership) {
  if (Result<void> fine = CheckOptions(options); !fine) return Fail(fine.error().With("new manager"));
  if (Result<void> fine = CheckShards(options); !fine) return Fail(fine.error().With("new manager"));
  if (Result<void> enough = CheckThreads(connection.executor(), options.controllers.max_concurrent_reconciles);
      !enough) {
    return Fail(enough.error().With("new manager"));
  }
  std::optional<LeaderElector> elector;
  const LeaderElectionOptions& election = options.leader_election;
  if (election.name.empty() && !(election.namespace_.empty() && election.identity.empty())) {
    return Fail(Code::kInvalidArgument,
                "new manager: the leader election has no name; without one, every replica would do the work");
  }
  if (!election.name.empty()) {
    Result<LeaderElector> made = LeaderElector::New(connection, options.leader_election);
    if (!made) return Fail(made.error().With("new manager"));
    elector.emplace(*std::move(made));
  }
  if (!options.endpoint.metrics) options.endpoint.metrics.emplace();
  if (!options.endpoint.observer) options.endpoint.observer = Shared<Observer>(&connection.observer());
  Result<Endpoint> endpoint = Endpoint::Listen(options.endpoint);
  if (!endpoint) return Fail(endpoint.error().With("new manager"));
  auto state = MakeShared<ManagerState>(connection, std::move(options), std::move(membership), std::move(elector),
                                        *std::move(endpoint));
  if (Result<void> opened = state->OpenShards(); !opened) return Fail(opened.error().With("new manager"));
  if (Result<void> opened = state->OpenWebhooks(); !opened) return Fail(opened.error().With("new manager"));
  if (Result<void> added = state->AddPages(); !added) return Fail(added.error().With("new manager"));
  return state;
}

ManagerState::ManagerState(const Connection& connection, ManagerOptions options, ClusterMembership membership,
                           std::optional<LeaderElector> elector, Endpoint endpoint)
    : membership_(std::move(membership)),
      connection_(connection),
      executor_(connection.shared_executor()),
      observer_(&connection.observer()),
      options_(std::move(options)),
      name_(NameOf(options_)),
      elector_(std::move(elector)),
      endpoint_(std::move(endpoint)),
      metrics_(*options_.endpoint.metrics),
      caches_(connection, options_.caches),
      history_(MakeShared<History>(executor_)),
      plain_(PlainClient(caches_, name_, membership_.guard)),
      guarded_(GuardedClient(plain_, elector_)) {
  metrics_.AddRequestsOf(connection_);
  if (membership_.cluster.empty()) metrics_.AddProcess();
  metrics_.AddInformersOf(caches_, name_);
  if (!elector_) return;
  metrics_.AddCollector([elector = *elector_, name = options_.leader_election.name] {
    return std::vector<MetricFamily>{
        {.name = "leader_election_master_status",
         .help = "1 if this process leads, else 0",
         .samples = {{.labels = {{"name", name}}, .value = elector.IsLeader() ? 1.0 : 0.0}}},
        {.name = "leader_election_slowpath_total",
         .help = "Renewals that had to read the lease first",
         .type = MetricType::kCounter,
         .samples = {{.labels = {{"name", name}}, .value = static_cast<double>(elector.slow_paths())}}},
        FailureOf(elector, name)};
  });
}

ManagerState::~ManagerState() {
  if (webhook_server_) webhook_server_->Close();
}

// --------------------------------------------------------------------------------------------- before and during Run

Result<void> ManagerState::Check(const detail::ControllerSpec& spec) const {
  if (spec.name.empty()) return Fail(Code::kInvalidArgument, "a controller needs a name");
  if (Result<void> fine = CheckCalls("MaxConcurrentReconciles()", spec.max_concurrent_reconciles); !fine) return fine;
  if (Result<void> fine = CheckTimeout("ReconciliationTimeout()", spec.reconciliation_timeout); !fine) return fine;
  if (spec.watches.empty()) return Fail(Code::kInvalidArgument, "it watches nothing; use Control<T>() or Watches()");
  if (!spec.reconcile) return Fail(Code::kInvalidArgument, "the function of Reconcile() is empty");
  for (const detail::WatchSpec& watch : spec.watches) {
    if (watch.role == detail::WatchSpec::Role::kWatches && !watch.map && !watch.handle) {
      return Fail(Code::kInvalidArgument,
                  "the function of Watches() for " + std::string(watch.table->name) + " is empty");
    }
    if (watch.kind == nullptr && !watch.dynamic) {
      return Fail(Code::kInvalidArgument,
                  std::string(watch.table->name) + " names no kind; use a generated type, or pass a GroupVersionKind");
    }
  }
  return {};
}

ControllerDefaults ManagerState::SettingsOf(const detail::ControllerSpec& spec, const KindInfo* kind) const {
  ControllerDefaults settings = options_.controllers;
  if (kind != nullptr) {
    std::string name(kind->kind);
    if (!kind->group.empty()) name.append(".").append(kind->group);
    for (const auto& [each, workers] : settings.group_kind_concurrency) {
      if (each == name) settings.max_concurrent_reconciles = workers;
    }
  }
  settings.max_concurrent_reconciles = spec.max_concurrent_reconciles.value_or(settings.max_concurrent_reconciles);
  if (spec.rate_limiter) settings.rate_limiter = spec.rate_limiter;
  settings.use_priority_queue = spec.use_priority_queue.value_or(settings.use_priority_queue);
  if (spec.reconciliation_timeout) settings.reconciliation_timeout = spec.reconciliation_timeout;
  settings.need_leader_election = spec.need_leader_election.value_or(settings.need_leader_election);
  settings.skip_own_writes = spec.skip_own_writes.value_or(settings.skip_own_writes);
  settings.recover_panic = spec.recover_panic.value_or(settings.recover_panic);
  return settings;
}

Result<void> ManagerState::TakeName(const std::string& name) {
  const MutexLock lock(mutex_);
  if (phase_ >= Phase::kStopping) return Fail(Code::kStopped, "the manager has stopped");
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    return Fail(Code::kInvalidArgument, "the name is taken; names of controllers are labels of metrics");
  }
  names_.push_back(name);
  return {};
}

Result<void> ManagerState::TakeThreads(int threads) {
  const MutexLock lock(mutex_);
  Result<void> enough = CheckThreads(*executor_, threads_ + threads);
  if (enough) threads_ += threads;
  return enough;
}

// May ask the server, for dynamic kinds.
Result<std::vector<ControllerRunner::Watch>> ManagerState::Resolve(std::vector<detail::WatchSpec> specs,
                                                                   const std::optional<AnyPredicate>& passes) {
  std::vector<ControllerRunner::Watch> watches;
  for (detail::WatchSpec& spec : specs) {
    if (Result<void> fits = CheckFits(spec, passes); !fits) return Fail(std::move(fits).error());
    if (spec.dynamic) {
      Result<ResourceMapping> mapping = plain_.mapper().ForKind(*spec.dynamic);
      if (!mapping) return Fail(mapping.error());
      spec.kind = &client::KindOf(*mapping);
    }
    Result<AnyCache> cache = caches_.Of(*spec.table, *spec.kind);
    if (!cache) return Fail(cache.error());
    watches.push_back({std::move(spec), *std::move(cache)});
  }
  return watches;
}

Result<Shared<ControllerRunner>> ManagerState::AddController(detail::ControllerSpec spec) {
  const std::string doing = "controller " + spec.name;
  if (Result<void> fine = Check(spec); !fine) return Fail(fine.error().With(doing));
  if (Result<void> taken = TakeName(spec.name); !taken) return Fail(taken.error().With(doing));
  int threads = 0;
  std::vector<AccessRule> rules;
  const auto make = [&]() -> Result<Shared<ControllerRunner>> {
    auto watches = Resolve(std::move(spec.watches), spec.passes);
    if (!watches) return Fail(watches.error());
    if (Result<void> divided = CheckDivided(*watches); !divided) return Fail(divided.error());
    for (const ControllerRunner::Watch& watch : *watches) {
      if (sharded_ && watch.spec.role == detail::WatchSpec::Role::kFor) sharded_->AddCounted(watch.cache.kind_cache());
    }
    rules = RulesOf(*watches);
    ControllerDefaults settings = SettingsOf(spec, ControllerRunner::KindOf(*watches));
    if (Result<void> enough = TakeThreads(settings.max_concurrent_reconciles); !enough) return Fail(enough.error());
    threads = settings.max_concurrent_reconciles;
    auto metrics = ControllerMetrics::Make(metrics_, spec.name, settings.max_concurrent_reconciles);
    if (!metrics) return Fail(metrics.error());
    ControllerRunner::Environment environment{.executor = executor_,
                                              .observer = observer_,
                                              .client = settings.need_leader_election && !sharded_ ? guarded_ : plain_,
                                              .events = EventsOf(spec.name),
                                              .metrics = *metrics,
                                              .sync_timeout = options_.caches.sync_timeout,
                                              .settings = std::move(settings),
                                              .cluster = membership_.cluster,
                                              .shards = sharded_};
    auto runner = MakeShared<ControllerRunner>(std::move(spec), *std::move(watches), std::move(environment));
    const auto run = [runner](const std::stop_token& stop, Done done) { runner->Start(stop, std::move(done)); };
    const auto doing = [runner] { return runner->Doing(); };
    if (Result<void> added =
            AddAsync("controller " + runner->name(), run,
                     runner->need_leader_election() && !sharded_ ? Group::kLeader : Group::kAnyReplica, doing);
        !added)
      return Fail(added.error());
    // It must not keep the controller alive.
    metrics_.AddCollector([queue = runner->queue()] { return FamiliesOf(queue.metrics()); });
    history_->Add(runner->name(), runner->queue());
    shown_->Add({runner->name(), threads, runner->queue(), runner->reasons(), runner->recent()});
    return runner;
  };
  const std::string name = spec.name;
  Result<Shared<ControllerRunner>> made = make();
  const MutexLock lock(mutex_);
  if (made) {
    controllers_.push_back(*made);
    std::ranges::move(rules, std::back_inserter(rules_));
    return made;
  }
  std::erase(names_, name);
  threads_ -= threads;
  return Fail(made.error().With(doing));
}

// Not guarded by the lease: an Event tells what happened while this process led, and is written after that, too.
EventRecorder ManagerState::EventsOf(std::string_view controller) {
  const MutexLock lock(mutex_);
  for (const Recorder& each : recorders_) {
    if (each.controller == controller) return each.recorder;
  }
  recorders_.push_back({std::string(controller), EventRecorder(connection_, {.controller = std::string(controller)})});
  return recorders_.back().recorder;
}

Result<void> ManagerState::Add(std::string name, Run1 run, Group group, std::function<std::string()> doing) {
  if (!run) return Fail(Code::kInvalidArgument, "add " + name + ": the function is empty");
  // The function is destroyed before its end counts, since it may refer to the caller of Run().
  auto async = [run = std::move(run)](std::stop_token stop, Done done) mutable {
    Result<void> result;
    try {
      result = run(std::move(stop));
    } catch (...) {
      result = Fail(detail::ErrorOfThrown("it"));
    }
    run = {};
    done(std::move(result));
  };
  return AddAsync(std::move(name), std::move(async), group, std::move(doing));
}

Result<void> ManagerState::AddAsync(std::string name, RunAsync run, Group group, std::function<std::string()> doing) {
  const MutexLock lock(mutex_);
  if (phase_ >= Phase::kStopping) return Fail(Code::kStopped, "add " + name + ": the manager has stopped");
  runnables_.push_back({.name = std::move(name), .run = std::move(run), .doing = std::move(doing), .group = group});
  if (started_[static_cast<std::size_t>(group)]) Launch(runnables_.size() - 1);
  return {};
}

void ManagerState::StartGroup(Group group) {
  const MutexLock lock(mutex_);
  if (phase_ != Phase::kRunning) return;
  started_[static_cast<std::size_t>(group)] = true;
  for (std::size_t i = 0; i < runnables_.size(); ++i) {
    if (runnables_[i].group == group) Launch(i);
  }
}

void ManagerState::Launch(std::size_t index) {
  Runnable& runnable = runnables_[index];
  if (std::exchange(runnable.started, true)) return;
  runnable.running = true;
  ++running_;
  executor_->Blocking(runnable.name, [self = Shared<ManagerState>(this), index, run = std::exchange(runnable.run, {}),
                                      stop = work_.get_token()]() mutable {
    run(std::move(stop), [self, index](Result<void> result) { self->OnEnd(index, std::move(result)); });
  });
}

void ManagerState::OnEnd(std::size_t index, Result<void> result) {
  Shared<Waiter> waiter;
  std::vector<Runnable> late;  // of functions that ended after Run(); destroyed without the lock
  bool failed = false;
  {
    const MutexLock lock(mutex_);
    runnables_[index].running = false;
    --running_;
    // A stop that was requested is no failure.
    failed = !result && !(result.error().code() == Code::kCancelled && work_.stop_requested());
    if (failed) {
      const Error error = result.error().With(runnables_[index].name);
      first_error_ = first_error_ ? Join(Fail(*first_error_), Fail(error)).error() : error;
    }
    waiter = waiter_;
    if (phase_ == Phase::kEnded && running_ == 0) late.swap(runnables_);
  }
  if (failed) end_.request_stop();
  if (waiter) waiter->Notify();
}

// ------------------------------------------------------------------------------------------------------------- Run

Result<void> ManagerState::Enter() {
  const MutexLock lock(mutex_);
  if (phase_ != Phase::kNew) return Fail(Code::kInvalidArgument, "run manager: it can run only once");
  phase_ = Phase::kRunning;
  return {};
}

Result<void> ManagerState::Run(const std::stop_token& stop) {
  const Shared<ManagerState> self(this);
  if (executor_->InPostedTask()) {
    return Fail(Code::kInvalidArgument, "run manager: a blocking call on a thread that must not block");
  }
  if (Result<void> entered = Enter(); !entered) return entered;
  const std::stop_callback forward(stop, [self] { self->end_.request_stop(); });
  Result<void> outcome;
  try {
    outcome = Begin();
    if (outcome) outcome = Work();
  } catch (const std::bad_alloc&) {
    outcome = Fail(detail::OutOfMemory("start"));
  }
  return Finish(std::move(outcome));
}

// Returns when a stop is requested, or something has failed.
Result<void> ManagerState::Work() {
  const std::stop_token end = end_.get_token();
  const Shared<Waiter> waiter = executor_->MakeWaiter("manager " + name_);
  for (;;) {
    if (std::optional<Result<void>> outcome = Advance(waiter)) return *std::move(outcome);
    const Result<void> waited = waiter->Wait(end, look_again_);
    if (waited || waited.error().code() == Code::kTimeout || end.stop_requested()) continue;
    return syncing_ ? syncing_->EndedBy(waited.error()) : waited;
  }
}

Result<void> ManagerState::Begin() {
  if (Result<void> declared = webhooks_->declared(); !declared) return declared;
  webhooks_->SetContext({.client = plain_, .observer = observer_});
  if (Result<void> started = endpoint_.Start(); !started) return started;
  if (!endpoint_.address().empty() || !endpoint_.debug_address().empty()) history_->Start();
  // Before the caches, because their first list may need a conversion.
  if (Result<void> started = StartWebhooks(); !started) return started;
  StartGroup(Group::kBeforeCaches);
  caches_.Start({});  // they end in Finish(), after their users
  return {};
}

std::optional<Result<void>> ManagerState::Advance(const Shared<Waiter>& waker) {
  const std::stop_token end = end_.get_token();
  if (step_ == Step::kSyncing) {
    if (!syncing_) syncing_.emplace(caches_.state(), waker);
    std::optional<Result<void>> synced = syncing_->Poll(end);
    look_again_ = synced ? Waiter::kNoDeadline : syncing_->look_again();
    if (!synced) return std::nullopt;
    syncing_.reset();
    if (end.stop_requested()) return Result<void>();
    if (!*synced) return synced;
    synced_.store(true);
    StartGroup(Group::kAnyReplica);
    StartShards();
    step_ = Step::kAcquiring;
    if (elector_) {
      if (Result<void> begun = elector_->state()->BeginToAcquire(end); !begun) {
        return end.stop_requested() ? Result<void>() : begun;
      }
    }
  }
  if (step_ == Step::kAcquiring) {
    std::optional<Result<void>> acquired = elector_ ? elector_->state()->PollAcquired(waker) : Result<void>();
    if (end.stop_requested()) {
      if (elector_) elector_->state()->Stop();
      return Result<void>();
    }
    if (!acquired || !*acquired) return acquired;
    step_ = Step::kLeading;
    leading_.store(true);
    StartGroup(Group::kLeader);
  }
  if (end.stop_requested()) return Result<void>();
  if (!elector_) return std::nullopt;
  const std::optional<Result<void>> lost = elector_->state()->PollLost(waker);
  // A lease that another one has, or is to have, is released if it is still this process's, once the work has ended.
  if (lost && !*lost) lost_.store(lost->error().code() == Code::kTimeout);
  return lost;
}

std::string ManagerState::Running() const {
  const MutexLock lock(mutex_);
  std::string names;
  for (const Runnable& each : runnables_) {
    if (!each.running) continue;
    if (!names.empty()) names += ", ";
    names += each.name;
    if (const std::string doing = each.doing ? each.doing() : ""; !doing.empty()) names += " (" + doing + ")";
  }
  return names;
}

Result<void> ManagerState::WaitForRunning(TimePoint deadline) {
  const Shared<Waiter> waiter = executor_->MakeWaiter("end of manager " + name_);
  {
    const MutexLock lock(mutex_);
    waiter_ = waiter;
  }
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (running_ == 0) return {};
    }
    const Result<void> waited = waiter->Wait({}, deadline);
    if (waited) continue;
    const std::string running = Running();
    if (running.empty()) return {};  // the last one has just ended
    if (waited.error().code() != Code::kTimeout) return waited;
    return Fail(Code::kTimeout, "did not end within " + net::DurationText(options_.graceful_shutdown_timeout) +
                                    " of being stopped: " + running);
  }
}

// Ends everything, in the reverse order of the start.
Result<void> ManagerState::Finish(Result<void> outcome) {
  {
    const MutexLock lock(mutex_);
    phase_ = Phase::kStopping;
  }
  if (drained_at_ != TimePoint::min()) {
    drained_at_ = Later(executor_->clock()->Now(), options_.webhooks.drain);
    webhook_server_->Drain();
  }
  const TimePoint deadline = Later(executor_->clock()->Now(), options_.graceful_shutdown_timeout);
  const Result<void> left = LeaveShards(deadline);
  work_.request_stop();
  history_->Stop();
  Result<void> ended = WaitForRunning(deadline);
  if (ended && !left) ended = left;
  const bool all_ended = ended.has_value();
  const bool abandoned = !all_ended && ended.error().code() == Code::kCancelled;
  if (abandoned) AbandonControllers();
  if (options_.graceful_shutdown_timeout == Nanos::zero()) ended = {};  // whoever does not wait does not care
  StopRecorders();
  if (elector_) {
    if (all_ended && !lost_.load()) {
      ended = elector_->Release(kReleaseLimit);
    } else {
      elector_->Abandon();
    }
  }
  leading_.store(false);
  AwaitDrain();  // functions of webhooks read from the caches
  if (all_ended) {
    caches_.Shutdown();
  } else {  // a handler may be what has not ended
    executor_->Blocking("stop the caches", [caches = caches_] { caches.Shutdown(); });
  }
  if (webhook_server_) ended = Join(std::move(ended), webhook_server_->Stop(kWebhookLimit));
  ended = Join(std::move(ended), endpoint_.Stop(kEndpointLimit));
  // These may hold the manager, which then holds itself. They are destroyed without the lock.
  if (all_ended) webhooks_->Clear();
  std::vector<Runnable> runnables;
  std::vector<Shared<ControllerRunner>> controllers;
  const MutexLock lock(mutex_);
  phase_ = Phase::kEnded;
  waiter_ = {};
  if (all_ended) runnables.swap(runnables_);
  if (all_ended || abandoned) controllers.swap(controllers_);
  for (Runnable& each : runnables_) {  // what has not ended has its function, and will say when it ends
    if (abandoned) runnables.push_back({.name = each.name, .run = std::move(each.run), .doing = std::move(each.doing)});
  }
  if (first_error_) outcome = Join(Fail(*first_error_), outcome);
  Result<void> result = Join(std::move(outcome), ended);
  if (!result) return Fail(result.error().With("run manager " + name_));
  return {};
}

// The executor was shut down, so that nothing of theirs runs any more.
void ManagerState::AbandonControllers() {
  std::vector<Shared<ControllerRunner>> controllers;
  {
    const MutexLock lock(mutex_);
    controllers = controllers_;
  }
  for (const Shared<ControllerRunner>& each : controllers) each->Abandon();
}

// All recorders together have one limit; they report what they drop.
void ManagerState::StopRecorders() {
  std::vector<Recorder> recorders;
  {
    const MutexLock lock(mutex_);
    recorders = recorders_;
  }
  const TimePoint deadline = Later(executor_->clock()->Now(), kEventsLimit);
  for (const Recorder& each : recorders) {
    (void)each.recorder.Stop(std::max(Nanos(0), Nanos(deadline - executor_->clock()->Now())));
  }
}

// --------------------------------------------------------------------------------------------------------- webhooks

// Without it nothing is made, so that a simulation does not touch the I/O thread.
Result<void> ManagerState::OpenWebhooks() {
  const WebhookOptions& options = options_.webhooks;
  if (options.managed && (!options.enabled || options.certificate)) {
    return Fail(Code::kInvalidArgument,
                !options.enabled ? "WebhookOptions::managed is set, but the webhooks are off; set `enabled` as well"
                                 : "WebhookOptions::managed and `certificate` are both set; choose where the "
                                   "certificate comes from");
  }
  if (!options.enabled) return {};
  WebhookServer::Setup setup{.options = options, .routes = webhooks_, .metrics = metrics_, .observer = observer_};
  if (options.managed) {
    Result<Shared<CertificateKeeper>> keeper = CertificateKeeper::Make(connection_, *options.managed, name_);
    if (!keeper) return Fail(keeper.error());
    keeper_ = *std::move(keeper);
    setup.certificates = [kept = keeper_](const std::string& client_ca_pem) { return kept->Current(client_ca_pem); };
    if (Result<void> added = Add(
            "webhook certificates", [kept = keeper_](const std::stop_token& stop) { return kept->Run(stop); },
            Group::kBeforeCaches);
        !added) {
      return added;
    }
    const auto ready = [kept = keeper_](const std::stop_token&) { return kept->Ready(); };
    if (Result<void> added = endpoint_.AddReadyCheck("webhook-certificates", ready); !added) return added;
  }
  Result<Shared<WebhookServer>> server = WebhookServer::Listen(std::move(setup));
  if (!server) return Fail(server.error());
  webhook_server_ = *std::move(server);
  return endpoint_.AddReadyCheck("webhooks", webhook_server_->ReadyCheck());
}

Result<void> ManagerState::StartWebhooks() {
  if (!webhook_server_) return {};
  if (Result<void> started = webhook_server_->Start(); !started) return started;
  drained_at_ = TimePoint::max();
  return {};
}

// API servers go on to call this replica until they know that it is not ready.
void ManagerState::AwaitDrain() {
  if (drained_at_ == TimePoint::min()) return;
  const Shared<Waiter> waiter = executor_->MakeWaiter("the webhook server to drain");
  (void)waiter->Wait({}, drained_at_);
}

const std::string& ManagerState::webhook_address() const noexcept {
  static const std::string& kNone = *new std::string();
  return webhook_server_ ? webhook_server_->address() : kNone;
}

// ----------------------------------------------------------------------------------------------------------- debug

// The functions hold no reference to the manager, which has the endpoint.
Result<void> ManagerState::AddPages() {
  const Caches caches = caches_;
  // A kind that is read for the first time later does not make the process unready.
  const auto synced = [caches, before = MakeShared<Flag>()](const std::stop_token&) -> Result<void> {
    if (before->set.load()) return {};
    for (const cache::InformerStatus& each : caches.state()->unsynced()) {
      return Fail(Code::kUnavailable, each.name + " has not synced: it is " + std::string(ToString(each.state)));
    }
    before->set.store(true);
    return {};
  };
  if (Result<void> added = endpoint_.AddReadyCheck("caches", synced); !added) return added;
  return AddDebugSections();
}

Result<void> ManagerState::AddDebugSections() {
  const auto caches = [caches = caches_] { return caches.status(); };
  const std::vector<std::pair<std::string_view, std::function<DebugSection()>>> sections = {
      {"history", [history = history_] { return DebugSection{.plots = history->Plots()}; }},
      {"controllers",
       [shown = shown_, history = history_, executor = executor_] {
         return ControllersSection(shown->Read(), *history, executor->clock()->Now());
       }},
      {"queues", [shown = shown_, history = history_] { return QueuesSection(shown->Read(), *history); }},
      {"caches", [caches] { return CachesSection(caches()); }},
      {"handlers", [caches] { return HandlersSection(caches()); }},
      {"leader", [elector = elector_] { return LeaderSection(elector); }},
      {"connection", [connection = connection_] { return ConnectionSection(connection); }},
  };
  for (const auto& [name, section] : sections) {
    if (Result<void> added = endpoint_.AddDebugSectionOf(name, section); !added) return added;
  }
  return {};
}

}  // namespace kgen::controller
