// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/informer_run.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "kgen/cache/indexer.h"
#include "kgen/cache/informer_core.h"
#include "kgen/cache/list_watch.h"
#include "kgen/codec/encode.h"
#include "kgen/core/memory.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/core/sample.h"

namespace kgen::simulation {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using sample::Sample;
using testing::Cluster;
using testing::ClusterOptions;
using testing::Fault;

constexpr const char* kNamespaces[] = {"a", "b"};
constexpr const char* kColors[] = {"red", "green", "blue"};

std::uint64_t Number(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What the server held under a key.
struct Held {
  std::uint64_t version = 0;
  bool corrupt = false;  // does not fit the kind: no informer can take it
  std::string color{};
};
using Contents = std::map<std::string, Held>;
using View = std::map<std::string, std::uint64_t>;  // versions by key

// The first thing that is wrong; later ones follow from it.
class Verdict {
 public:
  void Fail(std::string_view law, std::string what) {
    if (text_.empty()) text_ = std::string(law) + ": " + std::move(what);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// A handler and what it believes.
struct Listener {
  std::string name;
  Verdict* verdict = nullptr;
  cache::Store* store = nullptr;
  View view;
  View last;  // the newest version told of each key
  bool removed = false;
  int remove_after = -1;  // events, then it removes itself
  int told = 0;
  std::optional<Registration> registration;

  void Fail(std::string_view law, const AnyEvent& event, std::string_view why) {
    verdict->Fail(law, name + " was told of " + event.key.str() + ": " + std::string(why));
  }

  void Hear(const AnyEvent& event) {
    if (removed) return Fail("O3", event, "after it was removed");
    const std::string key = event.key.str();
    const std::uint64_t before = event.before ? Number(event.before.metadata()->resourceVersion) : 0;
    const std::uint64_t now = event.now ? Number(event.now.metadata()->resourceVersion) : 0;
    const auto known = view.find(key);
    switch (event.type) {
      case AnyEvent::Type::kAdded:
        if (known != view.end()) Fail("O3", event, "an addition of what is there");
        if (now <= last[key]) Fail("O3", event, "an addition of an old version");
        break;
      case AnyEvent::Type::kUpdated:
        if (known == view.end()) return Fail("O3", event, "an update of what is not there");
        if (known->second != before) Fail("O3", event, "an update from another version than the last one told");
        if (event.before.metadata()->uid != event.now.metadata()->uid) Fail("O3", event, "an update of another object");
        if (event.reason == Reason::kResync ? now != before : now <= before)
          Fail("O3", event, "an update to an older version");
        break;
      case AnyEvent::Type::kDeleted:
        // Of an object that never could be decoded the deletion is all that there is to tell.
        if (known == view.end() && !event.before) break;
        if (known == view.end()) return Fail("O3", event, "a deletion of what is not there");
        // A deletion that the server told of carries the object as it went, which is newer by the deletion at least.
        if (event.final_state_unknown ? before != known->second : before < known->second) {
          Fail("O3", event, "a deletion with an older state than the last one told");
        }
        last[key] = std::max(last[key], before);
        break;
    }
    if (now != 0) last[key] = view[key] = now;
    if (now == 0) view.erase(key);
    const AnyRef stored = store->Look(event.key);
    if (now != 0 && stored && Number(stored.metadata()->resourceVersion) < now)
      Fail("O4", event, "before the store had it");
    if (Number(store->Snapshot().version()) < Number(event.version))
      Fail("O4", event, "before the store had that version");
    ++told;
  }
};

struct Ended {
  int& count;
  ~Ended() { --count; }
};

class InformerRun {
 public:
  InformerRun(std::uint64_t seed, const testing::Trace& replay) : cluster_(Options(seed, replay)) {
    const KindInfo& kind = *Sample::kTable.kind;
    cluster_.AddResource({.group = std::string(kind.group),
                          .version = std::string(kind.version),
                          .plural = std::string(kind.resource),
                          .singular = std::string(kind.singular),
                          .kind = std::string(kind.kind),
                          .list_kind = std::string(kind.list_kind)});
    states_[cluster_.resource_version()] = {};
  }

  RunResult Go() {
    Prepare();
    const int steps = 3 + static_cast<int>(Choose(30));
    for (int i = 0; i < steps && verdict_.text().empty(); ++i) {
      Step();
      CheckStore();
    }
    if (verdict_.text().empty() && Choose(4) != 0) Rest();  // else it is stopped in the middle of everything
    Stop();
    RunResult result;
    result.failure = verdict_.text();
    result.trace = cluster_.simulation().trace();
    result.log = std::move(log_);
    return result;
  }

 private:
  static ClusterOptions Options(std::uint64_t seed, const testing::Trace& replay) {
    ClusterOptions options;
    options.seed = seed;
    options.streaming_lists = seed % 5 != 0;
    options.bookmarks = seed % 7 != 0;
    if (seed % 3 == 0) options.history = 4;
    if (seed % 4 == 0) options.latency = 5ms;
    options.replay = replay;
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
    cache::InformerOptions options;
    options.streaming_list = Choose(4) != 0;
    options.page_size = Choose(3) == 0 ? 2 : 0;
    if (Choose(3) == 0) options.resync = 30s;
    if (Choose(3) == 0) options.apply_delay = 5s;  // so that a list can come while changes are queued
    // The whole, a namespace, or what a selector leaves: then objects come and go by a change of a label.
    if (Choose(4) == 0) namespace_ = kNamespaces[0];
    if (Choose(4) == 0) color_ = kColors[0];
    auto tweak = [color = color_](ListOptions& list) {
      if (!color.empty()) list.label_selector = "color=" + color;
    };
    core_ = MakeShared<cache::InformerCore>(
        *connection_, cache::MakeListWatch(*connection_, *Sample::kTable.kind, namespace_, std::move(tweak)),
        Sample::kTable, options);
    if (Choose(2) == 0) AddIndex();
    if (Choose(2) == 0) AddListener();
    if (Choose(3) == 0) InjectFault();
    Log("start");
    core_->Start(stop_.get_token());
    if (Choose(2) == 0) SpawnWait();
  }

  void Step() {
    switch (Choose(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        for (std::uint32_t n = 1 + Choose(4); n > 0; --n) Write();
        break;
      case 4:
        cluster_.simulation().executor()->Blocking("writer", [this] { Write(); });
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
      default:
        Pass();
        break;
    }
    if (Choose(3) != 0) Pass();
  }

  void Pass() {
    const Nanos durations[] = {0ms, 1ms, 20ms, 1s, 10s, 61s, 400s};
    const Nanos duration = durations[Choose(7)];
    Log("pass " + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()) + " ms");
    Check(cluster_.simulation().Advance(duration));
  }

  void Check(const Result<std::size_t>& run) {
    if (!run) verdict_.Fail("simulation", run.error().ToString());
  }

  void Write() {
    const std::string in = kNamespaces[Choose(2)], name = "n" + std::to_string(Choose(3));
    const std::string key = in + "/" + name;
    Contents next = states_.rbegin()->second;
    const bool there = next.contains(key);
    const std::uint32_t what = there ? Choose(6) : 0;
    json object = {
        {"apiVersion", "test.kgen.dev/v1"}, {"kind", "Sample"}, {"metadata", {{"namespace", in}, {"name", name}}}};
    const std::string color = kColors[Choose(3)];
    object["metadata"]["labels"]["color"] = color;
    object["spec"]["replicas"] = ++writes_;
    if (!there) {
      Must(cluster_.Add(object.dump()));
      Log("create " + key);
    } else if (what < 3) {
      if (next[key].corrupt) return;
      Must(cluster_.Update(object.dump()));
      Log("update " + key);
    } else if (what < 5) {
      Must(cluster_.Delete("samples", in, name));
      Log("delete " + key);
      next.erase(key);
    } else {
      // Deeper than the decoder goes: the informer must go on, and keep the last good state.
      json bad = json::parse(Must(cluster_.Get("samples", in, name)));
      bad["spec"]["extra"] = json::parse(std::string(300, '[') + std::string(300, ']'));
      bad["metadata"]["resourceVersion"] = std::to_string(cluster_.resource_version() + 1);
      Must(cluster_.Corrupt("samples", in, name, bad.dump()));
      Log("corrupt " + key);
      next[key].corrupt = true;
    }
    if (next.contains(key) || !there) {
      next[key].version = cluster_.resource_version();
      next[key].corrupt = there && what == 5;
      if (!next[key].corrupt) {
        good_[key].insert(next[key].version);
        next[key].color = color;
      }
    }
    states_[cluster_.resource_version()] = std::move(next);
  }

  void InjectFault() {
    Fault fault;
    fault.verb = Choose(2) == 0 ? "list" : "watch";
    fault.times = 1 + static_cast<int>(Choose(3));
    fault.skip = static_cast<int>(Choose(2));
    std::string what;
    switch (Choose(9)) {
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
      default:
        fault.cut_after_bytes = static_cast<int>(Choose(600)),
        what = "cut after " + std::to_string(fault.cut_after_bytes);
        break;
    }
    Log("fault: " + fault.verb + " " + what + ", " + std::to_string(fault.times) + " times");
    cluster_.Inject(std::move(fault));
  }

  void AddIndex() {
    if (indexed_) return;
    indexed_ = true;
    Log("add the index");
    const auto added = core_->AddIndex(
        "color", [](const AnyRef& object, IndexSink& sink) { sink.Add(object.metadata()->labels["color"]); });
    if (!added) verdict_.Fail("O2", added.error().ToString());
  }

  void AddListener() {
    auto listener = std::make_unique<Listener>();
    listener->name = "handler " + std::to_string(listeners_.size());
    listener->verdict = &verdict_;
    listener->store = core_->store().get();
    if (Choose(4) == 0) listener->remove_after = 1 + static_cast<int>(Choose(3));
    Listener* self = listener.get();
    const bool slow = Choose(3) == 0;
    Log("add " + listener->name + (slow ? ", slow" : "") + (listener->remove_after > 0 ? ", removes itself" : ""));
    listener->registration.emplace(core_->AddEventHandler(
        [this, self, slow](const AnyEvent& event) {
          self->Hear(event);
          if (slow)
            (void)connection_->executor()
                .MakeWaiter("slow work")
                ->Wait({}, connection_->clock().Now() + 1ms * Choose(50));
          if (self->told == self->remove_after) {
            self->removed = true;
            self->registration->Remove();
          }
        },
        {.name = listener->name}));
    listeners_.push_back(std::move(listener));
  }

  void RemoveListener() {
    if (listeners_.empty()) return;
    Listener& listener = *listeners_[Choose(static_cast<std::uint32_t>(listeners_.size()))];
    Log("remove " + listener.name);
    listener.registration->Remove();
    listener.removed = true;
  }

  // A body that waits for the sync, as a controller does.
  void SpawnWait() {
    std::vector<Listener*> waited;
    for (const auto& listener : listeners_) {
      if (!listener->removed && listener->remove_after < 0) waited.push_back(listener.get());
    }
    ++waits_;
    connection_->executor().Blocking("main of a controller", [this, waited] {
      const Ended ended{waits_};
      SyncOptions options{.patient = true};
      for (Listener* listener : waited) options.handlers.push_back(&*listener->registration);
      const auto synced = detail::WaitForSync(stop_.get_token(), {core_}, options);
      if (!synced) return;  // stopped, or a handler was removed meanwhile
      if (!core_->HasSynced()) verdict_.Fail("O5", "a wait ended, and the informer has not synced");
      if (core_->store()->Snapshot().version().empty())
        verdict_.Fail("O5", "a wait ended before the first state was stored");
      CheckStore();
      for (Listener* listener : waited) {
        if (!listener->removed) CheckView(*listener);
      }
    });
  }

  // --- The oracle

  const Contents& StateAt(std::uint64_t version) const { return std::prev(states_.upper_bound(version))->second; }

  // Is this what the server held then? Of corrupt objects the last good state may be there, or none.
  bool Agrees(const View& view, const Contents& contents) const {
    for (const auto& [key, held] : contents) {
      if (!InScope(key, held)) continue;
      const auto found = view.find(key);
      if (held.corrupt ? found != view.end() && !good_.at(key).contains(found->second)
                       : found == view.end() || found->second != held.version) {
        return false;
      }
    }
    return std::all_of(view.begin(), view.end(), [&](const auto& each) {
      const auto held = contents.find(each.first);
      return held != contents.end() && InScope(held->first, held->second);
    });
  }

  bool InScope(const std::string& key, const Held& held) const {
    return key.starts_with(namespace_) && (color_.empty() || held.color == color_);
  }

  static std::string Text(const View& view) {
    std::string text;
    for (const auto& [key, version] : view) text += " " + key + "@" + std::to_string(version);
    return text;
  }
  static std::string Text(const Contents& contents) {
    std::string text;
    for (const auto& [key, held] : contents)
      text += " " + key + "@" + std::to_string(held.version) + (held.corrupt ? "!" : "");
    return text;
  }

  static View ViewOf(const cache::AnySnapshot& snapshot) {
    View view;
    for (const ObjectKey& key : snapshot.Keys())
      view[key.str()] = Number(snapshot.Get(key).metadata()->resourceVersion);
    return view;
  }

  void CheckStore() {
    const cache::AnySnapshot snapshot = core_->store()->Snapshot();
    const View view = ViewOf(snapshot);
    if (snapshot.version().empty()) {
      if (!view.empty()) verdict_.Fail("O1", "objects without a version");
      return;
    }
    const std::uint64_t version = Number(snapshot.version());
    if (version < newest_seen_) verdict_.Fail("O1", "the store went back to version " + std::to_string(version));
    newest_seen_ = std::max(newest_seen_, version);
    if (!Agrees(view, StateAt(version))) {
      verdict_.Fail("O1", "the store at version " + std::to_string(version) + " holds" + Text(view) +
                              ", the server held" + Text(StateAt(version)));
    }
    if (!snapshot.HasIndex("color")) return;
    View indexed;
    for (const char* color : kColors) {
      for (const AnyRef& object : snapshot.ByIndex("color", color)) {
        const std::string key = object.metadata()->namespace_.str() + "/" + object.metadata()->name.str();
        if (object.metadata()->labels["color"] != color) verdict_.Fail("O2", key + " stands under another value");
        if (!indexed.emplace(key, Number(object.metadata()->resourceVersion)).second)
          verdict_.Fail("O2", key + " stands twice in the index");
      }
    }
    if (indexed != view) verdict_.Fail("O2", "the index holds" + Text(indexed) + ", the store" + Text(view));
  }

  // A view that has seen all initial events is a state that the server once had.
  void CheckView(const Listener& listener) {
    for (const auto& [version, contents] : states_) {
      if (Agrees(listener.view, contents)) return;
    }
    // Between two events of one transaction it need not be one; then a later event is on its way.
    if (listener.registration->Backlog() > 0) return;
    verdict_.Fail("O5", listener.name + " has synced with" + Text(listener.view) + ", which the server never held");
  }

  void Rest() {
    Log("rest");
    cluster_.ClearFaults();
    if (Choose(2) == 0) cluster_.Restart();  // also frees what stalls
    Check(cluster_.simulation().Advance(40min));
    Check(cluster_.simulation().RunUntilIdle());
    CheckStore();
    const cache::AnySnapshot snapshot = core_->store()->Snapshot();
    const View view = ViewOf(snapshot);
    const Contents& contents = states_.rbegin()->second;
    if (!core_->HasSynced())
      verdict_.Fail("O6", "the informer never synced; it is " + std::string(core_->status().state));
    if (!Agrees(view, contents)) {
      verdict_.Fail("O6", "at rest the cache holds" + Text(view) + " at version " + std::string(snapshot.version()) +
                              ", the server" + Text(contents) + "; the informer is " +
                              std::string(core_->status().state));
    }
    for (const ObjectKey& key : snapshot.Keys()) CheckObject(snapshot, key, contents);
    for (const auto& listener : listeners_) {
      if (!listener->removed && listener->view != view) {
        verdict_.Fail("O6", listener->name + " believes" + Text(listener->view) + ", the cache holds" + Text(view));
      }
    }
  }

  void CheckObject(const cache::AnySnapshot& snapshot, const ObjectKey& key, const Contents& contents) {
    const auto held = contents.find(key.str());
    if (held == contents.end()) return;  // told by Agrees()
    if (held->second.corrupt != snapshot.IsStale(key))
      verdict_.Fail("O6", key.str() + " should be " + (held->second.corrupt ? "stale" : "fresh"));
    if (held->second.corrupt) return;
    const auto object = snapshot.Get(key).As<Sample>();
    json cached = json::parse(std::string(std::string_view(Encode(*object)))),
         stored = json::parse(Must(cluster_.Get("samples", key.namespace_, key.name)));
    for (json* each : {&cached, &stored}) {
      each->erase("apiVersion");
      each->erase("kind");
    }
    if (cached != stored)
      verdict_.Fail("O6", key.str() + " is cached as " + cached.dump() + ", stored as " + stored.dump());
  }

  void Stop() {
    Log("stop");
    const bool early = waits_ == 0 && Choose(2) == 0;  // who waits for a handler uses its registration
    if (early) listeners_.clear();
    Choose(2) == 0 ? (void)stop_.request_stop() : core_->Stop();
    if (Choose(2) == 0) {
      if (auto joined = core_->Join({}); !joined) verdict_.Fail("O7", joined.error().ToString());
    }
    stop_.request_stop();
    if (waits_ > 0) Check(cluster_.simulation().RunUntilIdle());
    if (waits_ > 0) {
      verdict_.Fail("O7", "a stop did not end a wait for the sync: " + cluster_.simulation().WhoWaits());
      return;
    }
    listeners_.clear();
    core_ = {};
    connection_.reset();
    Check(cluster_.simulation().RunUntilIdle());
    const auto left = cluster_.simulation().census();
    if (left.bodies + left.timers + left.tasks != 0) {
      verdict_.Fail("O7", std::to_string(left.bodies) + " bodies, " + std::to_string(left.timers) + " timers and " +
                              std::to_string(left.tasks) + " tasks are left: " + cluster_.simulation().WhoWaits());
    }
    const auto open = cluster_.census();
    if (open.watches + open.requests != 0) {
      verdict_.Fail("O7", std::to_string(open.watches) + " watches and " + std::to_string(open.requests) +
                              " requests are left open");
    }
  }

  Cluster cluster_;
  Verdict verdict_;
  std::string log_;
  std::map<std::uint64_t, Contents> states_;             // by the version from which it held
  std::map<std::string, std::set<std::uint64_t>> good_;  // versions of each key that could be decoded
  int writes_ = 0;
  int waits_ = 0;  // bodies that wait for the sync
  std::uint64_t newest_seen_ = 0;
  bool indexed_ = false;
  std::string namespace_, color_;  // what the informer looks at; "": everything
  std::stop_source stop_;
  std::optional<Connection> connection_;
  Shared<cache::InformerCore> core_;
  std::vector<std::unique_ptr<Listener>> listeners_;
};

}  // namespace

RunResult RunInformer(std::uint64_t seed, const testing::Trace& replay) {
  const std::int64_t before = LiveBlocks();
  RunResult result;
  {
    InformerRun run(seed, replay);
    try {
      result = run.Go();
    } catch (const std::exception& error) {
      result.failure = std::string("thrown: ") + error.what();
    }
  }
  if (result.failure.empty() && LiveBlocks() != before) {
    result.failure = "O7: " + std::to_string(LiveBlocks() - before) + " blocks are left";
  }
  return result;
}

}  // namespace kgen::simulation
