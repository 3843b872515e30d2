// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/informer_run.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include "cache/informer.h"
#include "cache/reflector/informer_settings.h"
#include "cache/reflector/list_watch.h"
#include "cache/wait_for_sync.h"
#include "kgen/cache/snapshot.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/core/sample.h"
#include "tests/simulation/listener.h"
#include "tests/simulation/sample_part.h"
#include "tests/simulation/shard_scope.h"
#include "tests/simulation/world.h"
#include "tests/support/delaying_executor.h"
#include "tests/support/fake_transport.h"
#include "tests/support/observed_list_watch.h"
#include "tests/support/owned_informer.h"

namespace kgen::simulation {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using sample::Sample;
using testing::Cluster;
using testing::ClusterOptions;
using testing::Fault;

constexpr std::size_t kMostRequests = 50;   // in a second
constexpr std::size_t kMostSameLists = 10;  // in a second: the first probes for a lost connection come quickly
constexpr Nanos kCurrentWithin = 65s;       // O10

std::int32_t ReplicasOf(const AnyRef& object) {
  if (const Ref<const SamplePart> part = object.As<SamplePart>()) return part->spec->replicas.value_or(0);
  const Ref<const Sample> sample = object.As<Sample>();
  return sample->spec->replicas.value_or(0);
}
// Every n-th object makes the transform, or the second index, throw.
bool TransformRefuses(std::int32_t replicas) { return replicas % 5 == 0; }
bool IndexThrows(std::int32_t replicas) { return replicas % 7 == 0; }

// Leaves of an object what SamplePart keeps.
void Project(json& object) {
  json part = {{"metadata", json::object()}, {"spec", {{"replicas", object["spec"]["replicas"]}}}};
  for (const char* member :
       {"name", "namespace", "deletionTimestamp", "finalizers", "labels", "resourceVersion", "uid"}) {
    if (object["metadata"].contains(member)) part["metadata"][member] = object["metadata"][member];
  }
  object = std::move(part);
}

struct Ended {
  int& count;
  ~Ended() { --count; }
};

class InformerRun {
 public:
  InformerRun(std::uint64_t seed, const testing::Trace& replay)
      : cluster_(Options(seed, replay)),
        world_(cluster_),
        was_behind_(seed % 5 < 2),  // as in Options()
        bookmarks_(seed % 7 != 0),
        transforms_(seed % 3 == 1),
        projects_(!transforms_ && seed % 5 == 3) {
    if (transforms_) world_.refuses = TransformRefuses;
    if (!HasShard(seed)) return;
    world_.shard_by = seed / 11 % 2 == 0 ? ShardBy::kUid : ShardBy::kNamespace;
    shard_.emplace(world_, [this](std::uint32_t n) { return Choose(n); });
  }

  RunResult Go() {
    Prepare();
    const int steps = 3 + static_cast<int>(Choose(30));
    for (int i = 0; i < steps && verdict_.text().empty(); ++i) {
      Step();
      CheckStore();
    }
    if (verdict_.text().empty() && !stopped_ && Choose(4) != 0)
      Rest();  // else it is stopped in the middle of everything
    Stop();
    RunResult result;
    result.failure = verdict_.text();
    result.trace = cluster_.simulation().trace();
    result.log = std::move(log_);
    return result;
  }

 private:
  static bool HasShard(std::uint64_t seed) { return seed % 11 >= 7; }
  static ClusterOptions Options(std::uint64_t seed, const testing::Trace& replay) {
    ClusterOptions options{.seed = seed};
    options.streaming_lists = seed % 5 != 0;
    options.bookmarks = seed % 7 != 0;
    options.sharded_lists = HasShard(seed) && seed / 22 % 2 == 0;
    if (seed % 3 == 0) options.history = 4;
    if (seed % 4 < 2) options.latency = 5ms;  // then writes come between the pages of a list
    if (seed % 5 < 2) options.behind = 1 + seed % 4;
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

  // --- The program

  void Prepare() {
    connection_.emplace(cluster_.Connection());
    for (std::uint32_t n = Choose(5); n > 0; --n) Write();
    cache::InformerSettings options;
    options.streaming_list = Choose(4) != 0;
    options.page_size = Choose(2) == 0 ? 2 : 0;
    resyncs_ = Choose(3) == 0;
    if (resyncs_) options.resync = 30s;
    const Nanos delays[] = {0s, 0s, 5s, 60s};  // so that a list can come while changes are queued
    apply_delay_ = delays[Choose(4)];
    const Shared<Executor> simulated = cluster_.simulation().executor();
    const Connection applying = Connection::Over(
        {.transport = MakeShared<testing::FakeTransport>(),  // unused: the list and the watch have the other connection
         .executor = MakeShared<testing::DelayingExecutor>(simulated, apply_delay_),
         .observer = NullObserver()});
    options.shard_by = world_.shard_by;
    if (Choose(3) != 0) options.objects_per_task = 1 + Choose(4);  // so that other tasks run in between
    // The whole, a namespace, or what a selector leaves: then objects come and go by a change of a label.
    if (Choose(4) == 0) world_.namespace_ = kNamespaces[0];
    if (Choose(4) == 0) world_.color = kColors[0];
    const TypeTable& table = projects_ ? SamplePart::kTable : Sample::kTable;
    auto source = MakeShared<testing::ObservedListWatch>(
        cache::MakeListWatch(
            *connection_, *Sample::kTable.kind,
            {.namespace_ = world_.namespace_, .label_selector = world_.color.empty() ? "" : "color=" + world_.color},
            cache::FormOf(table)),
        [this](const ListOptions& list) { CheckRequest(list); });
    informer_ = MakeShared<cache::Informer>(applying, std::move(source), table, options);
    if (transforms_) AddTransform();
    if (Choose(2) == 0) AddIndex();
    if (Choose(2) == 0) AddThrowingIndex();
    if (Choose(2) == 0) AddListener();
    if (Choose(3) == 0) InjectFault();
    if (shard_ && Choose(4) != 0) Hold();
    Log("start");
    informer_->Start(stop_.get_token());
    if (Choose(2) == 0) SpawnWait();
  }

  // Sees every request before it is sent.
  void CheckRequest(const ListOptions& list) {
    const TimePoint now = connection_->clock().Now();
    requests_.push_back(now);
    while (requests_.front() + 1s < now) requests_.pop_front();
    if (requests_.size() > kMostRequests) verdict_.Fail("O9", "a storm of requests");
    if (!list.allow_watch_bookmarks) {
      const std::string text = list.resource_version + " " + list.continue_ + " " +
                               std::to_string(list.limit.value_or(0)) + list.shard_selector;
      if (text != std::exchange(last_list_, text)) same_lists_.clear();
      same_lists_.push_back(now);
      while (same_lists_.front() + 1s < now) same_lists_.pop_front();
      if (same_lists_.size() > kMostSameLists) verdict_.Fail("O9", "the same list again and again without a delay");
    }
  }

  // Refuses some objects and lies about the identity of the others.
  void AddTransform() {
    Must(informer_->SetTransform([](const AnyRef& object) -> Result<AnyRef> {
      if (TransformRefuses(ReplicasOf(object))) {
        if (ReplicasOf(object) % 2 == 0) return Fail(Code::kInvalidArgument, "a transform that fails");
        throw std::runtime_error("a transform that throws");
      }
      Sample changed = *object.As<Sample>();
      changed.metadata.labels["seen"] = "yes";
      changed.metadata.name = "another";
      changed.metadata.resourceVersion = "1";
      changed.metadata.uid.reset();
      return AnyRef(MakeRef(std::move(changed)));
    }));
  }

  void Step() {
    if (shard_ && Choose(4) == 0) return Choose(3) != 0 ? Hold() : HoldBesides();
    switch (Choose(18)) {
      case 0:
      case 1:
      case 2:
      case 3:
        for (std::uint32_t n = 1 + Choose(4); n > 0; --n) Write();
        break;
      case 4:
        cluster_.simulation().executor()->Blocking("writer", [this] { WriteBesides(); });
        break;
      case 5:
        Log("cut watches");
        cluster_.CutWatches();
        break;
      case 6:
        Log("end watches");
        cluster_.EndWatches();
        break;
      case 7:
        Log("compact");
        cluster_.Compact();
        break;
      case 8:
        Log("restart");
        cluster_.Restart();
        break;
      case 9:
        InjectFault();
        break;
      case 10:
        Choose(2) == 0 ? AddListener() : RemoveListener();
        break;
      case 11:
        Choose(3) == 0 ? AddIndex() : SpawnWait();
        break;
      case 12:
        FailWatches();
        break;
      case 13:
        Outage();
        break;
      case 14:
        Log("save a copy");
        world_.SaveCopy();
        break;
      case 15:
        if (world_.CanRestore()) Restore();
        break;
      default:
        Pass();
        break;
    }
    if (Choose(3) != 0) Pass();
  }

  // While everything else continues: between two pages, after the initial events, in the middle of a relist.
  void WriteBesides() {
    for (std::uint32_t n = 1 + Choose(6); n > 0 && !calm_; --n) {
      Write();
      Sleep("a writer", 1ms * Choose(8));
    }
  }
  void Sleep(std::string_view who, Nanos time) {
    const Shared<Waiter> waiter = cluster_.simulation().executor()->MakeWaiter(who);
    const Timer timer =
        cluster_.simulation().clock()->After(time, TimerKind::kProgress, [waiter] { waiter->Notify(); });
    (void)waiter->Wait();
  }

  // Changes the ranges, or lists anew, and waits for that or not.
  void Hold() {
    if (!shard_->CanHold()) return;
    requests_.clear();  // each call may cost a list
    same_lists_.clear();
    const std::uint64_t newest = cluster_.resource_version();
    const bool anew = Choose(6) == 0;
    const ShardScope::Promise promise =
        anew ? shard_->ListAnew(*informer_.get(), newest) : shard_->Hold(*informer_.get(), newest);
    Log((anew ? "list anew" : "hold " + shard_->asked().ToString()) + ", number " + std::to_string(promise.number));
    if (Choose(2) != 0) return;
    ++waits_;
    connection_->executor().Blocking("owner of a shard", [this, promise] {
      const Ended ended{waits_};
      if (!informer_->WaitUntilHeld(promise.number, stop_.get_token(), TimePoint::max())) return;  // stopped
      const std::uint64_t version = Number(informer_->store()->Snapshot().version());
      const std::uint64_t promised = was_behind_ ? promise.cached : promise.version;
      if (version < promised && !shard_->IsVoid(promise) && !verdict_.restored) {
        verdict_.Fail("O12", "call " + std::to_string(promise.number) + " of Hold() is reached at version " +
                                 std::to_string(version) + ", before " + std::to_string(promised));
      }
      CheckStore();
    });
  }
  void HoldBesides() {
    cluster_.simulation().executor()->Blocking("assigner", [this] {
      for (std::uint32_t n = 1 + Choose(3); n > 0 && !calm_; --n) {
        Hold();
        Sleep("an assigner", 1ms * Choose(12));
      }
    });
  }

  void FailWatches() {
    const std::pair<int, const char*> errors[] = {
        {410, "Expired"}, {429, "TooManyRequests"}, {500, "InternalError"}, {500, "StoreReadError"}};
    const auto [status, reason] = errors[Choose(4)];
    Log(std::string("fail watches: ") + reason);
    cluster_.FailWatches(status, reason);
  }

  // No connection is possible for a while.
  void Outage() {
    Log("outage");
    cluster_.Inject({.times = testing::kAlways, .refuse = true});
    cluster_.Restart();
    Pass();
    cluster_.ClearFaults();
    Log("the outage is over");
  }

  void Restore() {
    unnoticed_ = true;
    watches_before_ = informer_->status().watches;
    verdict_.restored = true;
    world_.Restore();
    Log("restore the copy");
  }

  // If the new history passes the informer's version before the informer can ask, the two histories look the same. So
  // nothing is written after a copy was restored until the informer watches the restored state.
  bool MayWrite() {
    const cache::InformerStatus status = informer_ ? informer_->status() : cache::InformerStatus();
    if (status.watches > watches_before_ && status.state == cache::InformerState::kWatching &&
        Number(status.resource_version) <= cluster_.resource_version()) {
      unnoticed_ = false;
    }
    return !unnoticed_ || stopped_;
  }

  void Pass() {
    const Nanos durations[] = {0ms, 1ms, 6ms, 20ms, 1s, 10s, 61s, 400s};
    const Nanos duration = durations[Choose(8)];
    Log("pass " + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms");
    Check(cluster_.simulation().Advance(duration));
  }

  void Check(const Result<std::size_t>& run) {
    if (!run) verdict_.Fail("simulation", run.error().ToString());
  }

  void Write() {
    if (!MayWrite()) return;
    if (const std::string done = world_.Write(); !done.empty()) Log(done);
  }

  void InjectFault() {
    Fault fault;
    fault.verb = Choose(2) == 0 ? "list" : "watch";
    fault.times = 1 + static_cast<int>(Choose(3));
    fault.skip = static_cast<int>(Choose(2));
    std::string what;
    switch (Choose(13)) {
      case 0:
        fault.status = 410, fault.reason = "Expired", what = "410";
        break;
      case 1:
        fault.status = 429, fault.reason = "TooManyRequests", fault.retry_after_seconds = 1, what = "429";
        break;
      case 2:
        fault.status = Choose(2) == 0 ? 500 : 503, fault.reason = "InternalError", what = "5xx";
        break;
      case 3:
        fault.refuse = true, what = "refuse";
        break;
      case 4:
        fault.stall = true, what = "stall";
        break;
      case 5:
        fault.no_end_marker = true, what = "no end marker";
        break;
      case 6:
        fault.drop_bookmarks = true, what = "no bookmarks";
        break;
      case 7:
        fault.delay = 1s * Choose(20), what = "delay";
        break;
      case 8:
      case 9:
        was_behind_ = true;
        fault.behind = 1 + Choose(6), what = std::to_string(fault.behind) + " behind";
        break;
      case 10:
        fault.verb = "watch", fault.late_marker = 1s * (1 + Choose(70)), what = "late marker";
        break;
      case 11:
        fault.status = 504, fault.reason = "Timeout", fault.message = what = "Too large resource version";
        break;
      default:
        fault.cut_after_bytes = Choose(600), fault.ends_well = Choose(3) == 0;
        what = (fault.ends_well ? "end after " : "cut after ") + std::to_string(*fault.cut_after_bytes);
        break;
    }
    Log("fault: " + fault.verb + " " + what + ", " + std::to_string(fault.times) + " times");
    cluster_.Inject(std::move(fault));
  }

  // An index function runs while a version of the store is built: whatever is shown then must be a whole one.
  void AddIndex() {
    if (indexed_) return;
    indexed_ = true;
    Log("add the index");
    const auto added = informer_->AddIndex("color", [this](const AnyRef& object, IndexSink& sink) {
      CheckStore();
      sink.Add(object.metadata()->labels["color"]);
    });
    if (!added && added.error().code() != Code::kStopped) verdict_.Fail("O2", added.error().ToString());
  }

  void AddThrowingIndex() {
    Must(informer_->AddIndex("moody", [](const AnyRef& object, IndexSink& sink) {
      sink.Add("calm");
      if (IndexThrows(ReplicasOf(object))) throw std::runtime_error("an index function that throws");
    }));
  }

  void AddListener() {
    auto listener = std::make_unique<Listener>();
    listener->name = "handler " + std::to_string(listeners_.size());
    listener->verdict = &verdict_;
    listener->informer = informer_.get().get();
    listener->resyncs = resyncs_ && Choose(4) != 0;
    HandlerOptions options{.resync = listener->resyncs ? std::optional<Nanos>() : kNever, .name = listener->name};
    if (shard_) {
      listener->may_leave = [this](const AnyEvent& event) { return shard_->MayLeave(event.before); };
      listener->may_be_deleted = [this](const AnyEvent& event) {
        return verdict_.restored || !world_.color.empty() || world_.WasDeleted(event.before.metadata()->uid.str());
      };
    }
    listener->merges = Choose(3) == 0;
    if (listener->merges) options.backlog_bytes = 1 + Choose(4) * std::size_t{600};  // of an event, or a few
    if (Choose(2) == 0) {
      constexpr Trick kTricks[] = {Trick::kRemovesItself, Trick::kRemovesAnother, Trick::kAddsAnother, Trick::kThrows};
      listener->trick = Choose(20) == 0 ? Trick::kStopsTheInformer : kTricks[Choose(4)];
      listener->trick_at = 1 + static_cast<int>(Choose(3));
    }
    const Nanos paces[] = {1ms, 1s, 0s, 0s, 0s, 0s};
    const Nanos pace = paces[Choose(listener->merges ? 3 : 6)];
    const bool waits = pace > Nanos(0) || listener->trick == Trick::kRemovesAnother;  // which a short call must not
    options.short_calls = !waits && !listener->merges && Choose(3) == 0;
    const char* const how = pace > Nanos(0) ? ", slow" : options.short_calls ? ", short" : "";
    Log("add " + listener->name + how + (listener->merges ? ", merges" : "") +
        (listener->trick != Trick::kNone ? ", trick " + std::to_string(static_cast<int>(listener->trick)) : ""));
    Listener* self = listeners_.emplace_back(std::move(listener)).get();
    self->registration.emplace(informer_->AddEventHandler(
        [this, self, pace](const AnyEvent& event) {
          self->Hear(event);
          if (pace > Nanos(0)) Sleep("slow work", calm_ ? Nanos(1ms) : pace * Choose(30));
          if (self->told == self->trick_at && !calm_) Do(*self);
        },
        std::move(options)));
  }

  // Does what the listener's trick says, in a call of its handler.
  void Do(Listener& listener) {
    switch (listener.trick) {
      case Trick::kRemovesItself:
        listener.removed = true;
        return listener.registration->Remove();
      case Trick::kRemovesAnother:
        return RemoveListener();
      case Trick::kAddsAnother:
        return AddListener();
      case Trick::kThrows:
        throw std::runtime_error("a handler that throws");
      case Trick::kStopsTheInformer:
        Log(listener.name + " stops the informer");
        stopped_ = true;
        return informer_->Stop();
      case Trick::kNone:
        return;
    }
  }

  void RemoveListener() {
    if (listeners_.empty()) return;
    Listener& listener = *listeners_[Choose(static_cast<std::uint32_t>(listeners_.size()))];
    Log("remove " + listener.name);
    listener.leaving = true;
    listener.registration->Remove();
    listener.removed = true;
  }

  // A blocking task that waits for the sync, as a controller does.
  void SpawnWait() {
    std::vector<Listener*> waited;
    for (const auto& listener : listeners_) {
      if (!listener->removed && listener->trick != Trick::kRemovesItself) waited.push_back(listener.get());
    }
    ++waits_;
    connection_->executor().Blocking("main of a controller", [this, waited] {
      const Ended ended{waits_};
      SyncOptions options{.patient = true};
      for (Listener* listener : waited) options.handlers.push_back(&*listener->registration);
      const auto synced =
          cache::WaitForSync(*cluster_.simulation().executor(), stop_.get_token(), {informer_.get()}, options);
      if (!synced) return;  // stopped, or a handler was removed meanwhile
      if (!informer_->HasSynced()) verdict_.Fail("O5", "a wait ended, and the informer has not synced");
      if (informer_->store()->Snapshot().version().empty())
        verdict_.Fail("O5", "a wait ended before the first state was stored");
      CheckStore();
      for (Listener* listener : waited) {
        if (!listener->leaving && !listener->removed) CheckView(*listener);
      }
    });
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
    if (version < newest_seen_ && !verdict_.restored)
      verdict_.Fail("O1", "the store went back to version " + std::to_string(version));
    newest_seen_ = std::max(newest_seen_, version);
    const auto held = [&] { return world_.HeldAt(version, view); };
    if (shard_ ? !shard_->ForSome(informer_.get().get(), held) : !held()) {
      verdict_.Fail("O1", "the store at version " + std::to_string(version) + " holds" + Text(view) +
                              ", the server held" + Text(world_.At(version)) +
                              (shard_ ? "; of the shard " + shard_->asked().ToString() : ""));
    }
    View listed;
    for (const char* in : kNamespaces) {
      for (const AnyRef& object : snapshot.InNamespace(in))
        listed[std::string(in) + "/" + object.metadata()->name.str()] = Number(object.metadata()->resourceVersion);
    }
    if (listed != view) verdict_.Fail("O2", "the namespaces list" + Text(listed) + ", the store" + Text(view));
    if (snapshot.HasIndex("color")) CheckColors(snapshot, view);
    if (snapshot.HasIndex("moody")) CheckMoody(snapshot);
  }

  void CheckColors(const cache::AnySnapshot& snapshot, const View& view) {
    View indexed;
    for (const char* color : kColors) {
      for (const AnyRef& object : snapshot.ByIndex("color", color)) {
        const std::string key = object.metadata()->namespace_.str() + "/" + object.metadata()->name.str();
        if (object.metadata()->labels["color"] != color) verdict_.Fail("O2", key + " stands under another value");
        if (!indexed.emplace(key, Number(object.metadata()->resourceVersion)).second)
          verdict_.Fail("O2", key + " appears twice in the index");
      }
    }
    if (indexed != view) verdict_.Fail("O2", "the index holds" + Text(indexed) + ", the store" + Text(view));
  }

  void CheckMoody(const cache::AnySnapshot& snapshot) {
    std::size_t calm = 0;
    for (const AnyRef& object : snapshot.List()) calm += IndexThrows(ReplicasOf(object)) ? 0 : 1;
    const std::vector<AnyRef> indexed = snapshot.ByIndex("moody", "calm");
    const bool right = std::all_of(indexed.begin(), indexed.end(), [&](const AnyRef& object) {
      return !IndexThrows(ReplicasOf(object)) &&
             snapshot.Get({object.metadata()->namespace_, object.metadata()->name}) == object;
    });
    if (!right || indexed.size() != calm) verdict_.Fail("O2", "the index whose function throws is wrong");
  }

  // A view that has seen all initial events is a state that the server once had.
  void CheckView(const Listener& listener) {
    const auto held = [&] { return world_.EverHeld(listener.view); };
    if (shard_ ? shard_->ForSomeEver(held) : held()) return;
    // Between two events of one transaction it need not be one; then a later event is on its way, or a stop has dropped
    // it. The events of a long transaction are delivered in several tasks, so that the later one need not wait yet; but
    // the store is whole before the first of them.
    if (listener.registration->Backlog() > 0 || stopped_ || informer_->IsStopped()) return;
    const auto between = [&] { return world_.IsBetween(listener.view, ViewOf(informer_->store()->Snapshot())); };
    if (shard_ ? shard_->ForSomeEver(between) : between()) return;
    verdict_.Fail("O5", listener.name + " has synced with" + Text(listener.view) + ", which the server never held");
  }

  void Rest() {
    Log("rest");
    calm_ = true;
    cluster_.ClearFaults();
    if (Choose(2) == 0) {
      cluster_.Restart();  // also frees what stalls
      Check(cluster_.simulation().Advance(kCurrentWithin + apply_delay_));
      CheckCurrent();
    }
    Check(cluster_.simulation().Advance(40min));
    // Resyncs that are applied with a delay longer than their period leave no idle moment for days.
    if (!resyncs_) Check(cluster_.simulation().RunUntilIdle());
    if (stopped_) return;
    CheckStore();
    if (shard_ && informer_->held() != shard_->number()) verdict_.Fail("O12", "the last call of Hold() is not reached");
    const cache::AnySnapshot snapshot = informer_->store()->Snapshot();
    const View view = ViewOf(snapshot);
    const Contents& contents = world_.Now();
    if (!informer_->HasSynced() && !HoldsNothing())
      verdict_.Fail("O6", "the informer never synced; it is " + std::string(ToString(informer_->status().state)));
    if (!world_.Agrees(view, contents)) {
      verdict_.Fail("O6", "at rest the cache holds" + Text(view) + " at version " + std::string(snapshot.version()) +
                              ", the server" + Text(contents) + "; the informer is " +
                              std::string(ToString(informer_->status().state)));
    }
    for (const ObjectKey& key : snapshot.Keys()) CheckObject(snapshot, key, contents);
    for (const auto& listener : listeners_) {
      if (!listener->removed && listener->view != view) {
        verdict_.Fail("O6", listener->name + " believes" + Text(listener->view) + ", the cache holds" + Text(view));
      }
    }
    CheckStatus(snapshot);
    CheckResyncs(static_cast<int>(view.size()));
  }

  bool HoldsNothing() const { return shard_ && shard_->asked().empty(); }

  void CheckCurrent() {
    if (stopped_ || HoldsNothing()) return;
    const cache::AnySnapshot snapshot = informer_->store()->Snapshot();
    const cache::InformerStatus status = informer_->status();
    if (informer_->HasSynced() && status.state == cache::InformerState::kWatching &&
        world_.Agrees(ViewOf(snapshot), world_.Now()))
      return;
    verdict_.Fail("O10", "the cache is not current " + std::to_string((kCurrentWithin + apply_delay_) / 1s) +
                             " s after the last fault: the informer is " + std::string(ToString(status.state)) +
                             " and holds" + Text(ViewOf(snapshot)) + ", the server" + Text(world_.Now()));
  }

  void CheckStatus(const cache::AnySnapshot& snapshot) {
    const cache::InformerStatus status = informer_->status();
    const std::size_t refused = world_.Refused();
    if (status.refused != refused) {
      verdict_.Fail("O6",
                    std::to_string(status.refused) + " objects count as refused, and are " + std::to_string(refused));
    }
    if (!bookmarks_ || HoldsNothing()) return;
    const std::uint64_t newest = cluster_.resource_version();
    if (Number(snapshot.version()) != newest || Number(status.resource_version) != newest) {
      verdict_.Fail("O6", "after bookmarks at version " + std::to_string(newest) + " the store is at " +
                              std::string(snapshot.version()) + ", the reflector at " + status.resource_version);
    }
  }

  void CheckResyncs(int objects) {
    std::vector<int> before;
    for (const auto& listener : listeners_) before.push_back(listener->told_again);
    Check(cluster_.simulation().Advance(100s));
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Listener& listener = *listeners_[i];
      const int told = listener.told_again - before[i];
      if (listener.removed) continue;
      if (listener.resyncs ? told < objects || told > 6 * objects : told != 0) {
        verdict_.Fail("O8", listener.name + " was told " + std::to_string(told) + " times of " +
                                std::to_string(objects) + " objects within 100 seconds that nothing changed");
      }
    }
  }

  void CheckObject(const cache::AnySnapshot& snapshot, const ObjectKey& key, const Contents& contents) {
    const auto held = contents.find(key.str());
    if (held == contents.end()) return;  // reported by Agrees()
    if (held->second.refused != snapshot.IsStale(key))
      verdict_.Fail("O6", key.str() + " should be " + (held->second.refused ? "stale" : "fresh"));
    if (held->second.refused) return;
    const std::string difference = world_.Difference(snapshot.Get(key), [this](json& stored) {
      if (transforms_) stored["metadata"]["labels"]["seen"] = "yes";
      if (projects_) Project(stored);
    });
    if (!difference.empty()) verdict_.Fail("O6", difference);
  }

  void Stop() {
    Log("stop");
    calm_ = true;
    const bool early = waits_ == 0 && Choose(2) == 0;  // who waits for a handler uses its registration
    if (early) listeners_.clear();
    Choose(2) == 0 ? (void)stop_.request_stop() : informer_->Stop();
    if (Choose(2) == 0) {
      if (auto joined = informer_->Join({}); !joined) verdict_.Fail("O7", joined.error().ToString());
      for (const auto& listener : listeners_) listener->removed = true;
    }
    stop_.request_stop();
    Check(cluster_.simulation().RunUntilIdle());
    if (waits_ > 0) {
      verdict_.Fail("O7", "a stop did not end a wait for the sync: " + cluster_.simulation().WhoWaits());
      return;
    }
    listeners_.clear();
    informer_ = {};
    connection_.reset();
    Check(cluster_.simulation().RunUntilIdle());
    CheckNothingIsLeft();
  }

  void CheckNothingIsLeft() {
    const std::string left = LeftUnderWay(cluster_.simulation());
    if (!left.empty()) verdict_.Fail("O7", left);
    const auto open = cluster_.census();
    if (open.watches + open.requests != 0) {
      verdict_.Fail("O7", std::to_string(open.watches) + " watches and " + std::to_string(open.requests) +
                              " requests are left open");
    }
  }

  Cluster cluster_;
  World world_;
  Verdict verdict_;
  std::optional<ShardScope> shard_;
  bool was_behind_ = false;  // a list may have come from a cache that is older than the server's data
  std::string log_;
  std::uint64_t watches_before_ = 0;
  bool unnoticed_ = false;  // that a copy was restored
  Nanos apply_delay_{};
  int waits_ = 0;  // tasks that wait for the sync
  std::uint64_t newest_seen_ = 0;
  bool indexed_ = false, resyncs_ = false;
  const bool bookmarks_, transforms_, projects_;
  bool calm_ = false;               // handlers only listen from now on
  bool stopped_ = false;            // by a handler
  std::deque<TimePoint> requests_;  // of the last second
  std::string last_list_;
  std::deque<TimePoint> same_lists_;  // of the last second
  std::stop_source stop_;
  std::optional<Connection> connection_;
  testing::OwnedInformer informer_;
  std::vector<std::unique_ptr<Listener>> listeners_;
};

}  // namespace

RunResult RunInformer(std::uint64_t seed, const testing::Trace& replay) {
  return Perform<InformerRun>("O7", seed, replay);
}

}  // namespace kgen::simulation
