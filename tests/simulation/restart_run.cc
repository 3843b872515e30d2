// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/restart_run.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "cache/informer.h"
#include "cache/reflector/informer_settings.h"
#include "cache/reflector/list_watch.h"
#include "cache/saved/saved_cache.h"
#include "cache/wait_for_sync.h"
#include "kgen/codec/decode.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/core/sample.h"
#include "tests/simulation/listener.h"
#include "tests/simulation/world.h"
#include "tests/support/owned_informer.h"
#include "tests/support/simulated_files.h"

namespace kgen::simulation {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using sample::Sample;
using testing::Cluster;
using testing::ClusterOptions;
using testing::Fault;

// What the file holds.
struct OnDisk {
  cache::SavedState state;
  View view;
};

class RestartRun {
 public:
  RestartRun(std::uint64_t seed, const testing::Trace& replay)
      : cluster_(Options(seed, replay)),
        world_(cluster_),
        bookmarks_(seed % 7 != 0),
        lags_(seed % 6 == 0),
        forgets_(seed % 4 == 0) {
    for (std::uint32_t n = Choose(6); n > 0; --n) world_.Write();  // which all servers at this address have
    world_.SaveCopy();
    if (Choose(4) == 0) world_.namespace_ = kNamespaces[0];
    if (Choose(4) == 0) world_.color = kColors[0];
    every_ = Choose(2) == 0 ? 1s : 10s;
  }

  RunResult Go() {
    for (std::uint32_t lives = 2 + Choose(4); lives > 0 && verdict_.text().empty(); --lives) {
      Start(Choose(3) == 0);
      for (std::uint32_t steps = Choose(12); steps > 0 && verdict_.text().empty(); --steps) {
        Step();
        CheckStore();
      }
      if (verdict_.text().empty() && lives == 1 && Choose(4) != 0) Rest();
      Die();
      if (lives > 1) Between();
    }
    return {.failure = verdict_.text(), .trace = cluster_.simulation().trace(), .log = std::move(log_)};
  }

 private:
  static ClusterOptions Options(std::uint64_t seed, const testing::Trace& replay) {
    ClusterOptions options{.seed = seed};
    options.streaming_lists = seed % 5 != 0;
    options.bookmarks = seed % 7 != 0;
    if (seed % 4 == 0) options.history = 6;
    if (seed % 4 < 2) options.latency = 5ms;
    if (seed % 6 == 0) options.behind = 1 + seed % 4;
    if (seed % 2 == 0) options.kinds = sample::kKinds;  // in protobuf, but for what that cannot express
    options.replay = replay;
    options.observer = NullObserver();
    return options;
  }

  std::uint32_t Choose(std::uint32_t n) { return cluster_.simulation().Choose(n); }
  void Log(std::string line) {
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(cluster_.simulation().clock()->Now().time_since_epoch());
    log_ += std::to_string(now.count()) + " ms, version " + std::to_string(cluster_.resource_version()) + ": " +
            std::move(line) + "\n";
  }
  void Check(const Result<std::size_t>& run) {
    if (!run) verdict_.Fail("simulation", run.error().ToString());
  }
  // Blocks a simulated thread.
  void Sleep(std::string_view who, Nanos time) {
    const Shared<Waiter> waiter = cluster_.simulation().executor()->MakeWaiter(who);
    const Timer timer =
        cluster_.simulation().clock()->After(time, TimerKind::kProgress, [waiter] { waiter->Notify(); });
    (void)waiter->Wait();
  }

  // --- A process

  // Without faults in a calm process.
  void Start(bool calm) {
    calm_ = calm;
    cluster_.ClearFaults();
    files_->FillDisk(false);
    files_->FailReads(false);
    ForgetWhatLooksTheSame();
    if (!calm && Choose(2) == 0) files_->CrashAt(files_->operations() + 1 + Choose(30));
    if (!calm && Choose(3) == 0) InjectFault();
    const std::optional<OnDisk> saved = ReadDisk();
    began_at_ = cluster_.resource_version();
    stop_ = {};
    connection_.emplace(cluster_.Connection());
    cache::InformerSettings settings;
    settings.streaming_list = Choose(4) != 0;
    settings.page_size = Choose(2) == 0 ? 2 : 0;
    if (Choose(3) != 0) settings.objects_per_task = 1 + Choose(4);
    settings.saved = cache::SavedSettings{.files = files_, .binding = Binding(), .every = every_};
    auto source = cache::MakeListWatch(
        *connection_, *Sample::kTable.kind,
        {.namespace_ = world_.namespace_, .label_selector = world_.color.empty() ? "" : "color=" + world_.color},
        cache::FormOf(Sample::kTable));
    informer_ = MakeShared<cache::Informer>(*connection_, std::move(source), Sample::kTable, std::move(settings));
    for (std::uint32_t n = Choose(3); n > 0; --n) AddListener();
    Log(std::string(calm ? "start, calm" : "start") +
        (saved ? ", with the saved version " + saved->state.version : ""));
    informer_->Start(stop_.get_token());
    if (Choose(2) == 0) SpawnWait(Choose(2) == 0);
    if (calm && saved) CheckResumes(saved->state);
  }

  static cache::SavedBinding Binding() { return {.server = "simulated", .resource = "samples.test.kgen.dev/v1"}; }

  void Step() {
    switch (Choose(calm_ ? 8 : 18)) {
      case 0:
      case 1:
      case 2:
        for (std::uint32_t n = 1 + Choose(4); n > 0; --n) Write();
        break;
      case 3:
        AddListener();
        break;
      case 4:
        SpawnWait(Choose(2) == 0);
        break;
      case 8:
      case 9:
        InjectFault();
        break;
      case 10:
        Log("cut watches");
        cluster_.CutWatches();
        break;
      case 11:
        Compact(Choose(2) == 0);
        break;
      case 12:
        Log("fail watches: 410");
        cluster_.FailWatches(410, "Expired");
        break;
      case 13:
        Log("the disk is full, or has room again");
        files_->FillDisk(full_ = !full_);
        break;
      case 14:
        Log("save a copy");
        world_.SaveCopy();
        break;
      case 15:
        Restore();
        break;
      case 16:
        cluster_.simulation().executor()->Blocking("writer", [this] {
          for (std::uint32_t n = 1 + Choose(6); n > 0 && !resting_; --n) {
            Write();
            Sleep("a writer", 1ms * Choose(8));
          }
        });
        break;
      default:
        break;
    }
    Pass();
  }

  void Pass() {
    const Nanos durations[] = {0ms, 1ms, 6ms, 20ms, 1s, 10s, 61s, 200s};
    const Nanos duration = durations[Choose(8)];
    Log("pass " + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms");
    Check(cluster_.simulation().Advance(duration));
  }

  void InjectFault() {
    Fault fault;
    fault.verb = Choose(2) == 0 ? "list" : "watch";
    fault.times = 1 + static_cast<int>(Choose(3));
    const char* what = "410";
    switch (Choose(9)) {
      case 0:
        fault.status = 410, fault.reason = "Expired";
        break;
      case 1:
        fault.status = 500, fault.reason = "InternalError", what = "500";
        break;
      case 2:
        fault.refuse = true, what = "refuse";
        break;
      case 3:
        fault.stall = true, what = "stall";
        break;
      case 4:
        fault.drop_bookmarks = true, fault.verb = "watch", what = "no bookmarks";
        break;
      case 5:
        fault.delay = 1s * Choose(20), what = "delay";
        break;
      case 6:
        fault.verb = "get", fault.status = 403, fault.reason = "Forbidden", fault.times = testing::kAlways,
        what = "403";
        break;
      case 7:
        fault.verb = "get", fault.status = 503, fault.reason = "ServiceUnavailable", what = "503";
        break;
      default:
        fault.cut_after_bytes = static_cast<int>(Choose(600)), what = "cut";
        break;
    }
    Log("fault: " + fault.verb + " " + what + ", " + std::to_string(fault.times) + " times");
    // An informer that cannot ask which cluster this is takes all objects for objects of another one.
    verdict_.restored = verdict_.restored || fault.verb == "get";
    cluster_.Inject(std::move(fault));
  }

  void AddListener() {
    auto listener = std::make_unique<Listener>();
    listener->name = "handler " + std::to_string(listeners_.size());
    listener->verdict = &verdict_;
    listener->informer = informer_.get().get();
    listener->merges = Choose(4) == 0;
    HandlerOptions options{.resync = kNever, .name = listener->name};
    if (listener->merges) options.backlog_bytes = Choose(4) * std::size_t{600} + 1;
    const bool slow = listener->merges || Choose(4) == 0;
    Log("add " + listener->name + (slow ? ", slow" : ""));
    Listener* self = listeners_.emplace_back(std::move(listener)).get();
    self->registration.emplace(informer_->AddEventHandler(
        [this, self, slow](const AnyEvent& event) {
          self->Hear(event);
          if (slow) Sleep("slow work", 1ms * Choose(30));
        },
        std::move(options)));
  }

  // A blocking task that waits for the sync, or until the saved state may be read.
  void SpawnWait(bool stale) {
    std::vector<Listener*> waited;
    for (const auto& listener : listeners_) waited.push_back(listener.get());
    Log(stale ? "wait, stale" : "wait");
    connection_->executor().Blocking("main of a controller", [this, waited, stale] {
      SyncOptions options{.stale = stale, .patient = true};
      for (Listener* listener : waited) options.handlers.push_back(&*listener->registration);
      const auto synced =
          cache::WaitForSync(*cluster_.simulation().executor(), stop_.get_token(), {informer_.get()}, options);
      if (!synced) return;  // stopped
      if (!stale && !informer_->HasSynced()) verdict_.Fail("O5", "a wait ended, and the informer has not synced");
      if (informer_->store()->Snapshot().version().empty()) verdict_.Fail("R2", "a wait ended without a state");
      CheckStore();
      for (Listener* listener : waited) CheckView(*listener, stale);
    });
  }

  void Write() {
    if (!MayWrite()) return;
    if (const std::string done = world_.Write(); !done.empty()) Log(done);
  }

  void Die() {
    const std::uint32_t how = Choose(3);
    if (how != 0) files_->CrashAt(0);
    resting_ = true;
    Log(how == 0 ? "stop" : how == 1 ? "the process crashes" : "the power fails");
    if (informer_->HasSynced()) CheckSynced();
    informer_->Stop();
    if (auto joined = informer_->Join({}); !joined) verdict_.Fail("O7", joined.error().ToString());
    for (const auto& listener : listeners_) listener->removed = true;
    stop_.request_stop();
    Check(cluster_.simulation().RunUntilIdle());
    listeners_.clear();
    informer_ = {};
    connection_.reset();
    Check(cluster_.simulation().RunUntilIdle());
    CheckNothingIsLeft();
    how == 2 ? files_->Restart() : files_->EndProcess();
    resting_ = false;
    synced_ = false;
  }

  // --- Between two processes

  void Between() {
    for (std::uint32_t n = Choose(5); n > 0; --n) {
      switch (Choose(9)) {
        case 0:
        case 1:
        case 2:
          for (std::uint32_t writes = 1 + Choose(8); writes > 0; --writes) Write();
          break;
        case 3:
          Compact(true);
          break;
        case 4:
          Restore();
          break;
        case 5:
        case 6:
          ReplaceServer();
          break;
        case 7:
          Damage();
          break;
        default:
          Log("pass");
          Check(cluster_.simulation().Advance(Choose(3) == 0 ? 11min : 30s));
          break;
      }
    }
  }

  void Compact(bool restart) {
    Log(restart ? "restart" : "compact");
    restart ? cluster_.Restart() : cluster_.Compact();
    history_since_ = cluster_.resource_version();
  }

  void Restore() {
    if (!world_.CanRestore()) return;
    if (informer_) watches_before_ = informer_->status().watches;
    world_.Restore();
    history_since_ = cluster_.resource_version();
    unnoticed_ = verdict_.restored = restored_ = true;
    Log("restore the copy");
  }

  // Another server at the same address, which shares the past with the one before.
  void ReplaceServer() {
    if (!world_.CanRestore()) return;
    Restore();
    json kube_system = json::parse(Must(cluster_.Get("namespaces", "", "kube-system")));
    kube_system["metadata"]["uid"] = "cluster-" + std::to_string(++servers_);
    Must(cluster_.Corrupt("namespaces", "", "kube-system", kube_system.dump()));
    world_.Note();
    history_since_ = cluster_.resource_version();
    unnoticed_ = false;
    Log("it is another server now");
    for (std::uint32_t writes = 3 + Choose(10); writes > 0; --writes) Write();
  }

  // The file then may have an earlier state. If that is of another history, the server's may look like it.
  void Damage() {
    if (world_.HasLostStates()) return;
    const std::string name = Binding().FileName();
    std::string content = files_->Content(name);
    if (content.empty()) return;
    const std::uint32_t at = Choose(static_cast<std::uint32_t>(content.size()));
    Log("damage the file at " + std::to_string(at));
    Choose(2) == 0 ? content.resize(at) : (void)(content[at] = static_cast<char>(content[at] ^ 0x10));
    files_->SetContent(name, std::move(content));
  }

  std::string Uid() const {
    return json::parse(Must(cluster_.Get("namespaces", "", "kube-system")))["metadata"]["uid"].get<std::string>();
  }

  std::optional<OnDisk> ReadDisk() {
    OnDisk found;
    View next;
    files_->FailReads(false);
    auto state = cache::SavedReader::Read(*files_, Binding(), [&](const cache::SavedBatch& batch) {
      for (const cache::SavedItem& item : batch.items) {
        if (item.bytes.empty()) {
          next.erase(item.key.str());
          continue;
        }
        const auto object = Must(Decode<Sample>(item.bytes, {.encoding = item.encoding}));
        next[ObjectKey(object.metadata.namespace_, object.metadata.name).str()] =
            Number(object.metadata.resourceVersion);
      }
      if (batch.committed) found.view = next;
      return true;
    });
    if (!state) return std::nullopt;
    found.state = *std::move(state);
    return found;
  }

  // Returns whether the file has a state of the history that the server has now.
  bool IsOfThisHistory(const OnDisk& saved) const {
    const std::uint64_t version = Number(saved.state.version);
    return saved.state.cluster == Uid() && version <= cluster_.resource_version() &&
           world_.Agrees(saved.view, world_.At(version));
  }

  // If the new history of a server that was restored has passed the saved version, the two look the same. Then there is
  // no file.
  void ForgetWhatLooksTheSame() {
    const std::optional<OnDisk> saved = ReadDisk();
    foreign_ = saved && !IsOfThisHistory(*saved);
    // The last good state of an object that is refused may also be of a lost history.
    verdict_.restored = foreign_ || world_.HasLostStates();
    unnoticed_ = foreign_ && saved->state.cluster == Uid();
    watches_before_ = 0;
    restored_ = false;
    if (!unnoticed_ || Number(saved->state.version) > cluster_.resource_version()) return;
    files_->SetContent(Binding().FileName(), "");
    unnoticed_ = false;
  }

  // Nothing is written after a copy was restored until the informer watches the restored state and has saved it, for
  // the same reason.
  bool MayWrite() {
    if (!unnoticed_) return true;
    if (!informer_ || files_->crashed()) return false;
    const cache::InformerStatus status = informer_->status();
    const bool noticed = status.watches > watches_before_ && status.state == cache::InformerState::kWatching &&
                         Number(status.resource_version) <= cluster_.resource_version();
    const std::optional<OnDisk> saved = ReadDisk();
    unnoticed_ = !noticed || (saved && !IsOfThisHistory(*saved));
    return !unnoticed_;
  }

  // --- The oracle

  void CheckStore() {
    const cache::AnySnapshot snapshot = informer_->store()->Snapshot();
    const View view = ViewOf(snapshot);
    if (snapshot.version().empty()) {
      if (!view.empty()) verdict_.Fail("O1", "objects without a version");
      return;
    }
    const std::uint64_t version = Number(snapshot.version());
    if (!world_.HeldAt(version, view)) {
      verdict_.Fail("O1", "the store at version " + std::to_string(version) + " holds" + Text(view) +
                              ", which the server never held");
    }
    if (informer_->HasSynced() == informer_->status().stale)
      verdict_.Fail("R1", "synced and stale, or neither with a state");
    if (informer_->HasSynced() && !std::exchange(synced_, true)) CheckSynced();
  }

  void CheckSynced() {
    if (restored_) return;  // the informer may not know it yet
    const cache::AnySnapshot snapshot = informer_->store()->Snapshot();
    const std::uint64_t version = Number(snapshot.version());
    if (version > cluster_.resource_version() || !world_.Agrees(ViewOf(snapshot), world_.At(version))) {
      verdict_.Fail("R1", "it has synced at version " + std::to_string(version) + " with" + Text(ViewOf(snapshot)) +
                              ", which this server has never held");
    }
    if (!lags_ && version < began_at_) {
      verdict_.Fail("R1", "it has synced at version " + std::to_string(version) + ", and the process began at " +
                              std::to_string(began_at_));
    }
  }

  // A view that has handled a whole state is one that the server once had; see informer_run.cc for the exceptions. A
  // list may follow the saved state at once, and its events come in steps.
  void CheckView(const Listener& listener, bool stale) {
    if (stale && informer_->status().lists > 0) return;
    if (world_.EverHeld(listener.view) || listener.registration->Backlog() > 0 || informer_->IsStopped()) return;
    verdict_.Fail("R2", listener.name + " has handled" + Text(listener.view) + ", which the server never held");
  }

  void CheckResumes(const cache::SavedState& saved) {
    const Nanos age = cluster_.simulation().clock()->WallNow().time_since_epoch() - Nanos(saved.saved_at);
    const std::uint64_t version = Number(saved.version);
    const bool resumes = saved.resumable && saved.cluster == Uid() && age < 10min - 1s && version >= history_since_ &&
                         version <= cluster_.resource_version() && !forgets_ && !foreign_;
    if (!resumes) return;
    Check(cluster_.simulation().Advance(100s));
    if (informer_->IsStopped() || !bookmarks_) return;
    if (informer_->status().lists != 0 || !informer_->HasSynced()) {
      verdict_.Fail("R3", "the saved version " + saved.version + " was not resumed: the informer is " +
                              std::string(ToString(informer_->status().state)) + " after " +
                              std::to_string(informer_->status().lists) + " lists");
    }
  }

  void Rest() {
    Log("rest");
    resting_ = true;
    cluster_.ClearFaults();
    files_->FillDisk(full_ = false);
    if (Choose(2) == 0) cluster_.Restart();  // also frees what stalls
    Check(cluster_.simulation().Advance(15min));
    CheckStore();
    const cache::AnySnapshot snapshot = informer_->store()->Snapshot();
    const View view = ViewOf(snapshot);
    const cache::InformerStatus status = informer_->status();
    if (!informer_->HasSynced() || status.stale || !world_.Agrees(view, world_.Now())) {
      verdict_.Fail("R4", "at rest the cache holds" + Text(view) + ", the server" + Text(world_.Now()) +
                              "; the informer is " + std::string(ToString(status.state)));
    }
    if (status.refused != world_.Refused()) {
      verdict_.Fail("R4", std::to_string(status.refused) + " objects count as refused, and are " +
                              std::to_string(world_.Refused()));
    }
    for (const AnyRef& object : snapshot.List()) {
      if (snapshot.IsStale({object.metadata()->namespace_, object.metadata()->name})) continue;
      if (const std::string difference = world_.Difference(object); !difference.empty())
        verdict_.Fail("R4", difference);
    }
    for (const auto& listener : listeners_) {
      if (listener->view == view) continue;
      verdict_.Fail("R4", listener->name + " believes" + Text(listener->view) + ", the cache holds" + Text(view));
    }
    if (files_->crashed()) return;
    const std::optional<OnDisk> saved = ReadDisk();
    if (!saved || saved->view != view || saved->state.version != snapshot.version() ||
        saved->state.resumable != (status.refused == 0)) {
      verdict_.Fail("R5", saved ? "the file holds" + Text(saved->view) + " at version " + saved->state.version
                                : "the file cannot be read");
    }
  }

  void CheckNothingIsLeft() {
    const auto left = cluster_.simulation().census();
    const auto open = cluster_.census();
    if (left.blocking + left.timers + left.tasks + open.watches + open.requests == 0) return;
    verdict_.Fail("O7", std::to_string(left.blocking) + " blocking tasks, " + std::to_string(left.timers) +
                            " timers, " + std::to_string(left.tasks) + " tasks, " + std::to_string(open.watches) +
                            " watches and " + std::to_string(open.requests) +
                            " requests are left: " + cluster_.simulation().WhoWaits());
  }

  Cluster cluster_;
  World world_;
  Verdict verdict_;
  std::string log_;
  const bool bookmarks_;
  const bool lags_;     // the server answers from a cache that is behind
  const bool forgets_;  // it keeps few events
  Nanos every_{};
  Shared<test_support::SimulatedFiles> files_ = MakeShared<test_support::SimulatedFiles>(
      [this](std::uint32_t n) { return Choose(n); }, [this] { Sleep("the disk", 1ms * Choose(4)); });
  std::uint64_t history_since_ = 0;
  int servers_ = 0;
  // The following are about the current process.
  std::uint64_t began_at_ = 0;
  std::uint64_t watches_before_ = 0;
  bool calm_ = false, resting_ = false, synced_ = false, full_ = false;
  bool foreign_ = false;    // the file has a state of a history that is lost
  bool restored_ = false;   // the server, while the process was running
  bool unnoticed_ = false;  // that a copy was restored
  std::stop_source stop_;
  std::optional<Connection> connection_;
  testing::OwnedInformer informer_;
  std::vector<std::unique_ptr<Listener>> listeners_;
};

}  // namespace

RunResult RunRestarts(std::uint64_t seed, const testing::Trace& replay) {
  return Perform<RestartRun>("O7", seed, replay);
}

}  // namespace kgen::simulation
