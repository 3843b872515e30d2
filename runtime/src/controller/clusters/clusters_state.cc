// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/clusters/clusters_state.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "client/request/connection_state.h"
#include "controller/clusters/cluster_pages.h"

#include "core/observers/notify_observer.h"
#include "kgen/client/selector.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

constexpr std::string_view kSource = "clusters";         // of records
constexpr Nanos kMoreToStop = std::chrono::seconds(15);  // beyond the graceful timeout: Events, the lease
constexpr std::size_t kLongestName = 253;

Result<void> CheckName(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  });
  if (fits) return {};
  return Fail(Code::kInvalidArgument, "the name of a cluster has 1 to 253 letters, digits, '.', '_' and '-'");
}

Result<void> CheckOptions(const ManagerState& home, const ClustersOptions& options) {
  const auto refuse = [](std::string_view what) { return Fail(Code::kInvalidArgument, what); };
  const EndpointOptions& endpoint = options.manager.endpoint;
  if (!endpoint.address.empty() || !endpoint.health_address.empty() || !endpoint.debug_address.empty()) {
    return refuse(
        "ClustersOptions::manager has an endpoint; set it in the options of the home manager, which serves "
        "all clusters");
  }
  if (options.manager.webhooks.enabled) {
    return refuse("ClustersOptions::manager has webhooks; they are served by the home manager alone");
  }
  const auto positive = [&](std::string_view name, Nanos value) -> Result<void> {
    if (value > Nanos::zero()) return {};
    return refuse("ClustersOptions::" + std::string(name) + " is " + net::DurationText(value) +
                  ", but it must be positive");
  };
  if (Result<void> fine = positive("timeout", options.timeout); !fine) return fine;
  if (Result<void> fine = positive("first_pause", options.first_pause); !fine) return fine;
  if (options.longest_pause < options.first_pause) {
    return refuse("ClustersOptions::longest_pause is shorter than first_pause");
  }
  for (const kgen::KubeconfigSecrets& each : options.secrets) {
    if (each.namespace_.empty()) return refuse("KubeconfigSecrets::namespace_ is empty; name the namespace");
    if (Result<Selector> parsed = Selector::Parse(each.label_selector); !parsed) {
      return Fail(parsed.error().With("KubeconfigSecrets::label_selector"));
    }
    if (each.key.empty()) return refuse("KubeconfigSecrets::key is empty; name the key in the data of the Secrets");
  }
  // Whatever else is wrong with them is found now, and not once for each cluster.
  Result<Shared<ManagerState>> made = ManagerState::Make(home.connection(), options.manager, {.cluster = "any"});
  if (!made) return Fail(made.error().With("ClustersOptions::manager"));
  return {};
}

Shared<const ClusterSetup> SetupOf(const ManagerState& home, const ClustersOptions& options) {
  const auto setup = MakeShared<ClusterSetup>();
  setup->manager = options.manager;
  setup->connect = options.connect;
  setup->timeout = options.timeout;
  setup->executor = home.connection().shared_executor();
  setup->observer = client::ConnectionState::Of(home.connection())->observer;
  if (options.manager.leader_election.name.empty()) setup->home_guard = home.lease_guard();
  return setup;
}

}  // namespace

Result<Shared<ClustersState>> ClustersState::Make(const Manager& home, ClustersOptions options) {
  const Shared<ManagerState>& manager = home.state_;
  if (!manager->cluster().empty()) {
    return Fail(Code::kInvalidArgument, "new clusters: the manager is of cluster " + manager->cluster() +
                                            "; clusters have no clusters of their own");
  }
  if (Result<void> fine = CheckOptions(*manager, options); !fine) return Fail(fine.error().With("new clusters"));
  const bool elects = !options.manager.leader_election.name.empty();
  auto state = MakeShared<ClustersState>(*manager, std::move(options));
  const Shared<Clock> clock = manager->connection().executor().clock();
  const auto section = [roster = state->roster_, clock] { return ClustersSection(*roster, clock->Now()); };
  if (Result<void> added = manager->AddDebugSection("clusters", section); !added) {
    return Fail(added.error().With("new clusters"));
  }
  Metrics metrics = manager->metrics();
  metrics.AddCollector([roster = state->roster_, clock] { return ClusterFamilies(*roster, clock->Now()); });
  for (const kgen::KubeconfigSecrets& each : state->options_.secrets) {
    manager->AddRule({each.namespace_, "", "secrets", "", {"get", "list", "watch"}});
  }
  const auto run = [state](const std::stop_token& stop) { return state->Run(stop); };
  const auto doing = [roster = state->roster_] { return roster->NotEnded(); };
  const auto group = elects ? ManagerState::Group::kAnyReplica : ManagerState::Group::kLeader;
  if (Result<void> added = manager->Add("clusters", run, group, doing); !added) return Fail(added.error());
  return state;
}

ClustersState::ClustersState(const ManagerState& home, ClustersOptions options)
    : options_(std::move(options)),
      setup_(SetupOf(home, options_)),
      home_(home.connection()),
      strand_(setup_->executor->MakeStrand("clusters")),
      jitter_(SeedFrom(*setup_->executor->clock())) {}

// ------------------------------------------------------------------------------------------------- what is wanted

Result<void> ClustersState::Each(Clusters::Function function) {
  if (!function) return Fail(Code::kInvalidArgument, "each cluster: the function is empty");
  auto shared = std::make_shared<const Clusters::Function>(std::move(function));
  const MutexLock lock(roster_->mutex);
  if (!ending_) functions_.push_back(std::move(shared));
  return {};
}

Result<void> ClustersState::Add(std::string_view name, const rest::Config& config) {
  const std::string doing = "add cluster " + std::string(name);
  if (Result<void> fine = CheckName(name); !fine) return Fail(fine.error().With(doing));
  Shared<Entry> entry;
  {
    const MutexLock lock(roster_->mutex);
    if (ending_) return Fail(Error(Code::kStopped, "the manager has stopped").With(doing));
    Shared<Entry>& place = roster_->entries[std::string(name)];
    if (!place) place = MakeShared<Entry>(std::string(name), setup_->executor, strand_);
    entry = place;
    if (entry->wanted || entry->refused) {
      return Fail(Error(Code::kInvalidArgument, entry->source.empty()
                                                    ? "there is one of this name; to change its config, call Update()"
                                                    : "there is one of this name, from " + entry->source)
                      .With(doing));
    }
    entry->source.clear();
    Want(*entry, config);
  }
  Advance(entry);
  return {};
}

Result<void> ClustersState::Update(std::string_view name, const rest::Config& config) {
  const std::string doing = "update cluster " + std::string(name);
  Shared<Entry> entry;
  {
    const MutexLock lock(roster_->mutex);
    if (ending_) return Fail(Error(Code::kStopped, "the manager has stopped").With(doing));
    if (Result<Shared<Entry>> own = OwnEntry(name); own) {
      entry = *std::move(own);
    } else {
      return Fail(own.error().With(doing));
    }
    Want(*entry, config);
  }
  Advance(entry);
  return {};
}

Result<void> ClustersState::Remove(std::string_view name) {
  Shared<Entry> entry;
  {
    const MutexLock lock(roster_->mutex);
    Result<Shared<Entry>> own = OwnEntry(name);
    if (!own) return Fail(own.error().With("remove cluster " + std::string(name)));
    entry = *std::move(own);
    entry->wanted.reset();
  }
  Advance(entry);
  return {};
}

// Returns the entry of a cluster that Add() has added.
Result<Shared<ClusterEntry>> ClustersState::OwnEntry(std::string_view name) {
  const auto found = roster_->entries.find(name);
  if (found == roster_->entries.end() || (!found->second->wanted && found->second->source.empty())) {
    return Fail(Code::kInvalidArgument, "there is no such cluster");
  }
  if (found->second->source.empty()) return found->second;
  return Fail(Code::kInvalidArgument, "it comes from " + found->second->source + "; change that instead");
}

// A run goes on with new credentials if it can.
void ClustersState::Want(Entry& entry, const rest::Config& config) {
  entry.wanted = config;
  entry.refused.reset();
  entry.next = TimePoint::min();  // whatever failed may be mended
  if (entry.run && !entry.stopping && !entry.run->ReplaceCredentials(config)) entry.changed = true;
}

void ClustersState::Set(const std::string& name, const std::string& source, Result<rest::Config> config) {
  if (Result<void> fine = CheckName(name); !fine) config = Fail(fine.error());
  Shared<Entry> entry;
  std::string refused;
  {
    const MutexLock lock(roster_->mutex);
    if (ending_) return;
    Shared<Entry>& place = roster_->entries[name];
    if (!place) place = MakeShared<Entry>(name, setup_->executor, strand_);
    entry = place;
    const bool taken = (entry->wanted || entry->refused) && entry->source != source;
    if (taken) {
      refused = source + " is ignored: there is a cluster of this name already, from " +
                (entry->source.empty() ? "Add()" : entry->source);
    } else {
      entry->source = source;
      if (config) {
        Want(*entry, *config);
      } else {
        refused = source + " is refused: " + config.error().ToString();
        if (entry->wanted) refused += "; the cluster goes on with the earlier one";
        entry->refused = config.error();
        if (!entry->wanted) entry->since = Now();
      }
    }
  }
  if (!refused.empty()) Report(*entry, LogLevel::kError, refused);
  Advance(entry);
}

void ClustersState::Unset(const std::string& name, const std::string& source) {
  Shared<Entry> entry;
  {
    const MutexLock lock(roster_->mutex);
    const auto found = roster_->entries.find(name);
    if (found == roster_->entries.end() || found->second->source != source) return;
    entry = found->second;
    entry->wanted.reset();
    entry->refused.reset();
    entry->source.clear();
  }
  Advance(entry);
}

Result<Manager> ClustersState::Get(std::string_view name) {
  const std::string doing = "get cluster " + std::string(name);
  const MutexLock lock(roster_->mutex);
  const auto found = roster_->entries.find(name);
  if (found == roster_->entries.end()) return Fail(Error(Code::kNotFound, "there is no such cluster").With(doing));
  const Entry& entry = *found->second;
  const Shared<ManagerState> manager = entry.run && !entry.stopping ? entry.run->manager() : Shared<ManagerState>();
  if (manager && manager->synced()) return Manager(manager);
  std::string why = "it is " + std::string(ToString(StateOf(entry)));
  if (const std::optional<Error>& error = entry.refused ? entry.refused : entry.error) {
    why += ", after: " + error->ToString();
  }
  return Fail(Error(Code::kUnavailable, why).With(doing));
}

// ------------------------------------------------------------------------------------------------------- the runs

void ClustersState::Advance(const Shared<Entry>& entry) {
  Shared<ClusterRun> begun, stopped;
  Shared<Entry> forgotten;  // destroyed without the lock
  {
    const MutexLock lock(roster_->mutex);
    Entry& e = *entry;
    const TimePoint now = Now();
    const bool wanted = e.wanted && !ending_;
    if (e.run) {
      if ((wanted && !e.changed) || e.stopping) return;
      e.stopping = true;
      e.since = now;
      stopped = e.run;
      Arm(entry, Later(Later(now, options_.manager.graceful_shutdown_timeout), kMoreToStop));
    } else if (!wanted) {
      e.timer.Cancel();
      if (e.refused && !ending_) return;
      const auto found = roster_->entries.find(e.name);
      if (found == roster_->entries.end() || found->second != entry) return;
      forgotten = std::move(found->second);
      roster_->entries.erase(found);
    } else if (running_ && now >= e.next) {
      e.run = MakeShared<ClusterRun>(e.name, *e.wanted, setup_);
      e.changed = false;
      e.since = e.started = now;
      begun = e.run;
    } else if (running_) {
      Arm(entry, e.next);
    }
  }
  if (stopped) stopped->Stop();
  if (begun) Begin(entry, begun);
}

void ClustersState::Begin(const Shared<Entry>& entry, const Shared<ClusterRun>& run) {
  ClusterRun::Functions functions;
  {
    const MutexLock lock(roster_->mutex);
    functions = functions_;
  }
  setup_->executor->Blocking(
      "start cluster " + entry->name, [self = Shared<ClustersState>(this), entry, run, functions]() mutable {
        const auto wrap = [](Shared<ManagerState> manager) { return Manager(std::move(manager)); };
        run->Begin(std::exchange(functions, {}), wrap,
                   [self, entry, run](const Result<void>& result) { self->OnEnd(entry, run, result); });
      });
}

void ClustersState::OnEnd(const Shared<Entry>& entry, const Shared<ClusterRun>& run, const Result<void>& result) {
  std::string report;
  Shared<Waiter> waiter;
  Shared<ClusterRun> ended;  // destroyed without the lock
  {
    const MutexLock lock(roster_->mutex);
    if (entry->run != run) return;  // nobody waits for it any more
    ended = std::move(entry->run);
    entry->timer.Cancel();
    const bool stopped = std::exchange(entry->stopping, false);
    entry->changed = false;
    entry->since = Now();
    if (!stopped) {
      report = Failed(*entry, result ? Error(Code::kInternal, "it ended by itself") : result.error());
    } else if (!result) {
      report = "it has not ended well: " + result.error().ToString();
    }
    waiter = waiter_;
  }
  if (!report.empty()) Report(*entry, LogLevel::kWarning, report);
  Advance(entry);
  if (waiter) waiter->Notify();
}

// Returns what to report.
std::string ClustersState::Failed(Entry& entry, const Error& error) {
  const TimePoint now = Now();
  if (now - entry.started >= kStable) entry.failures = 0;
  Nanos pause = options_.first_pause;
  for (int i = 0; i < entry.failures && pause < options_.longest_pause; ++i) pause *= 2;
  pause = std::min(pause, options_.longest_pause);
  pause += jitter_.Between(Nanos(0), pause / 10);
  ++entry.failures;
  entry.error = error;
  entry.next = Later(now, pause);
  return "it has failed: " + error.ToString() + "; it starts again in " + net::DurationText(pause);
}

void ClustersState::Arm(const Shared<Entry>& entry, TimePoint when) {
  if (when == TimePoint::max()) return entry->timer.Cancel();
  entry->timer.Set(when, TimerKind::kHousekeeping, OnTimer{Shared<ClustersState>(this), entry});
}

// On the strand. The pause is over, or a run that should have ended has not.
void ClustersState::OnTime(const Shared<Entry>& entry) {
  Shared<ClusterRun> late;
  Shared<Waiter> waiter;
  {
    const MutexLock lock(roster_->mutex);
    if (entry->run && entry->stopping) {
      late = std::move(entry->run);
      entry->stopping = false;
      waiter = waiter_;
    }
  }
  if (late) {
    late->Close();
    Report(*entry, LogLevel::kError, "it did not end in time; what still runs of it holds its threads and its memory");
  }
  Advance(entry);
  if (waiter) waiter->Notify();
}

// ------------------------------------------------------------------------------------------------------------ Run

Result<void> ClustersState::Run(const std::stop_token& stop) {
  {
    const MutexLock lock(roster_->mutex);
    running_ = true;
  }
  for (const Shared<Entry>& each : roster_->All()) Advance(each);
  std::vector<Shared<SecretFollower>> followers;
  Result<void> outcome;
  for (const kgen::KubeconfigSecrets& each : options_.secrets) {
    followers.push_back(MakeShared<SecretFollower>(home_, each, Shared<ClustersState>(this)));
    if (outcome = followers.back()->Start(); !outcome) break;
  }
  if (outcome) {
    const Result<void> waited = setup_->executor->MakeWaiter("clusters")->Wait(stop);
    if (!waited && !stop.stop_requested()) outcome = waited;
  }
  for (const Shared<SecretFollower>& each : followers) each->Stop();
  {
    const MutexLock lock(roster_->mutex);
    ending_ = true;
  }
  for (const Shared<Entry>& each : roster_->All()) Advance(each);
  if (Result<void> ended = WaitForAll(); !ended) {
    Abandon();
    if (outcome) outcome = ended;
  }
  ClusterRun::Functions functions;  // destroyed without the lock
  const MutexLock lock(roster_->mutex);
  functions.swap(functions_);
  return outcome;
}

// Every run ends, or is given up.
Result<void> ClustersState::WaitForAll() {
  const Shared<Waiter> waiter = setup_->executor->MakeWaiter("the end of the clusters");
  for (;;) {
    {
      const MutexLock lock(roster_->mutex);
      waiter_ = waiter;
      const bool all =
          std::ranges::none_of(roster_->entries, [](const auto& each) { return static_cast<bool>(each.second->run); });
      if (all) {
        waiter_ = {};
        return {};
      }
    }
    if (const Result<void> waited = waiter->Wait(); !waited) return waited;
  }
}

// The executor was shut down.
void ClustersState::Abandon() {
  for (const Shared<Entry>& each : roster_->All()) {
    Shared<ClusterRun> run;
    {
      const MutexLock lock(roster_->mutex);
      run = std::move(each->run);
      each->timer.Cancel();
    }
    if (run) run->Abandon();
  }
  std::map<std::string, Shared<Entry>, std::less<>> entries;
  const MutexLock lock(roster_->mutex);
  waiter_ = {};
  entries.swap(roster_->entries);
}

void ClustersState::Report(const Entry& entry, LogLevel level, const std::string& message) {
  NotifyObserver(Shared<Observer>(setup_->observer), [&](Observer& o) {
    o.OnLogged({.source = kSource, .key = entry.name, .message = message, .level = level, .cluster = entry.name});
  });
}

}  // namespace kgen::controller
