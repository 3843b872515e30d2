// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// World: every state that the simulated server has had, and the writes that make the next one.
#ifndef KGEN_TESTS_SIMULATION_WORLD_H_
#define KGEN_TESTS_SIMULATION_WORLD_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kgen/cache/snapshot.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/codec/encode.h"
#include "kgen/testing/cluster.h"
#include "tests/runtime/core/sample.h"
#include "tests/simulation/listener.h"

namespace kgen::simulation {

inline constexpr const char* kNamespaces[] = {"a", "b"};
inline constexpr const char* kColors[] = {"red", "green", "blue"};

// The server's object at a key.
struct Held {
  std::uint64_t version = 0;
  bool refused = false;  // this informer cannot take it
  bool deep = false;     // because no decoder can
  std::string color{};
  std::string uid{};  // with World::shard_by
};
using Contents = std::map<std::string, Held>;

// Thread safety: on the threads of the simulation.
class World {
 public:
  explicit World(testing::Cluster& cluster) : cluster_(cluster) {
    const KindInfo& kind = *sample::Sample::kTable.kind;
    cluster_.AddResource({.group = std::string(kind.group),
                          .version = std::string(kind.version),
                          .plural = std::string(kind.resource),
                          .singular = std::string(kind.singular),
                          .kind = std::string(kind.kind),
                          .list_kind = std::string(kind.list_kind)});
    // Before the first recorded state: every version from there on is a change of a sample.
    for (const char* name : kNamespaces) Must(cluster_.Add(testing::MinimalObject("v1", "Namespace", "", name)));
    cluster_.Compact();
    states_[cluster_.resource_version()] = {};
  }

  // What the informer selects: objects of a namespace, or of a color; "": everything.
  std::string namespace_{}, color{};
  // With shard_by: of these, the informer selects the objects of a shard.
  std::optional<ShardBy> shard_by{};
  const ShardRanges* shard = nullptr;
  // Whether the informer's transform refuses an object with so many replicas.
  std::function<bool(std::int32_t)> refuses{};

  // Creates, updates, deletes or corrupts an object. Returns what it has done, or "" if it has left the object alone.
  std::string Write();

  // Saves a copy of the server's data, and returns to it. All states since then are lost.
  void SaveCopy() {
    copy_ = cluster_.resource_version();
    cluster_.SaveCopy();
  }
  bool HasLostStates() const { return !lost_.empty(); }
  bool CanRestore() const { return copy_ != 0 && copy_ < cluster_.resource_version(); }
  void Restore() {
    lost_.push_back(states_);
    cluster_.RestoreCopy();
    states_.erase(states_.upper_bound(copy_), states_.end());
    states_[copy_] = std::prev(states_.upper_bound(copy_))->second;
  }

  // Records a write of something else.
  void Note() { states_[cluster_.resource_version()] = Now(); }

  const Contents& Now() const { return states_.rbegin()->second; }
  const Contents& At(std::uint64_t version) const { return std::prev(states_.upper_bound(version))->second; }

  // Returns whether this is what the server held then, in this history or in one that is lost.
  bool HeldAt(std::uint64_t version, const View& view) const {
    const auto held = [&](const States& states) {
      const auto found = states.upper_bound(version);
      return found != states.begin() && Agrees(view, std::prev(found)->second);
    };
    return held(states_) || std::any_of(lost_.begin(), lost_.end(), held);
  }
  // Returns whether the server has held this at any time.
  bool EverHeld(const View& view) const {
    const auto held = [&](const States& states) {
      return std::any_of(states.begin(), states.end(), [&](const auto& each) { return Agrees(view, each.second); });
    };
    return held(states_) || std::any_of(lost_.begin(), lost_.end(), held);
  }
  // Returns whether the view lies on the way from a state that the server has held to `now`, a later one: each object
  // is as in the one or as in the other.
  bool IsBetween(const View& view, const View& now) const {
    const auto on_the_way = [&](const States& states) {
      return std::any_of(states.begin(), states.end(),
                         [&](const auto& each) { return Agrees(Without(view, now, each.second), each.second); });
    };
    return on_the_way(states_) || std::any_of(lost_.begin(), lost_.end(), on_the_way);
  }
  // Returns whether the view shows these contents. It may have the last good state of a refused object, or none.
  bool Agrees(const View& view, const Contents& contents) const;

  // Returns in what the cached object differs from the server's after `change`, which may be a transform; "" in
  // nothing.
  std::string Difference(const AnyRef& object, const std::function<void(nlohmann::json&)>& change = {}) const;

  bool InScope(const std::string& key, const Held& held) const { return IsSelected(key, held) && InShard(key, held); }
  bool IsSelected(const std::string& key, const Held& held) const {
    return key.starts_with(namespace_) && (color.empty() || held.color == color);
  }
  bool InShard(const std::string& key, const Held& held) const {
    if (!shard_by) return true;
    return shard->Contains(ShardHash(*shard_by == ShardBy::kUid ? held.uid : key.substr(0, key.find('/'))));
  }
  // Whether an object was deleted, in whatever history. With shard_by.
  bool WasDeleted(const std::string& uid) const { return deleted_.contains(uid); }
  // How many objects of the current state the informer cannot take.
  std::size_t Refused() const {
    return static_cast<std::size_t>(std::count_if(Now().begin(), Now().end(), [this](const auto& each) {
      return each.second.refused && InScope(each.first, each.second);
    }));
  }

 private:
  using States = std::map<std::uint64_t, Contents>;  // by the version from which it held

  // The view with its objects as in the contents where it has them as in `now`.
  View Without(const View& view, const View& now, const Contents& contents) const {
    const auto version = [](const View& in, const std::string& key) {
      const auto found = in.find(key);
      return found == in.end() ? 0 : found->second;
    };
    View result = view;
    for (const auto& [key, held] : contents) {
      if (version(view, key) != version(now, key)) continue;
      result.erase(key);
      if (InScope(key, held) && !held.refused) result[key] = held.version;
    }
    for (const auto& [key, shown] : view) {
      if (!contents.contains(key) && version(now, key) == shown) result.erase(key);
    }
    return result;
  }

  testing::Cluster& cluster_;
  States states_;
  std::vector<States> lost_;                             // what was before a copy was restored
  std::map<std::string, std::set<std::uint64_t>> good_;  // versions of each key that could be decoded
  std::set<std::string> deleted_;                        // UIDs
  std::uint64_t copy_ = 0;
  std::int32_t writes_ = 0;
};

inline std::string World::Write() {
  using nlohmann::json;
  const auto choose = [this](std::uint32_t n) { return cluster_.simulation().Choose(n); };
  const std::string in = kNamespaces[choose(2)], name = "n" + std::to_string(choose(3));
  const std::string key = in + "/" + name;
  Contents next = Now();
  const bool there = next.contains(key);
  const std::uint32_t what = there ? choose(6) : 0;
  if (there && what < 3 && next[key].deep) return "";
  json object = {
      {"apiVersion", "test.kgen.dev/v1"}, {"kind", "Sample"}, {"metadata", {{"namespace", in}, {"name", name}}}};
  Held held{.color = kColors[choose(3)]};
  object["metadata"]["labels"]["color"] = held.color;
  object["spec"]["replicas"] = ++writes_;
  // What a projection leaves out.
  object["spec"]["nodeName"] = "node " + std::to_string(writes_);
  object["status"]["children"] = {{{"name", std::to_string(writes_)}}, {{"child", {{"name", "b"}}}}};
  held.refused = refuses && refuses(writes_);
  std::string done;
  if (!there) {
    Must(cluster_.Add(object.dump()));
    if (shard_by) held.uid = json::parse(Must(cluster_.Get("samples", in, name)))["metadata"]["uid"];
    done = "create " + key + (held.refused ? ", refused" : "");
  } else if (what < 3) {
    Must(cluster_.Update(object.dump()));
    done = "update " + key + (held.refused ? ", refused" : "");
  } else if (what < 5) {
    Must(cluster_.Delete("samples", in, name));
    done = "delete " + key;
    deleted_.insert(next[key].uid);
    next.erase(key);
  } else {
    // Deeper than the decoder allows: the informer must continue, and keep the last good state.
    json bad = json::parse(Must(cluster_.Get("samples", in, name)));
    bad["spec"]["extra"] = json::parse(std::string(300, '[') + std::string(300, ']'));
    bad["metadata"]["resourceVersion"] = std::to_string(cluster_.resource_version() + 1);
    Must(cluster_.Corrupt("samples", in, name, bad.dump()));
    done = "corrupt " + key;
    held.refused = held.deep = true;
    held.color = next[key].color;
  }
  if (next.contains(key) || !there) {
    held.version = cluster_.resource_version();
    if (there) held.uid = next[key].uid;
    if (!held.refused) good_[key].insert(held.version);
    next[key] = std::move(held);
  }
  states_[cluster_.resource_version()] = std::move(next);
  return done;
}

inline bool World::Agrees(const View& view, const Contents& contents) const {
  for (const auto& [key, held] : contents) {
    if (!InScope(key, held)) continue;
    const auto found = view.find(key);
    if (held.refused ? found != view.end() && !good_.at(key).contains(found->second)
                     : found == view.end() || found->second != held.version) {
      return false;
    }
  }
  // The last good state of a refused object may be of another incarnation, and so in the shard.
  const auto may_show = [&](const std::string& key, const Held& held) {
    return InScope(key, held) || (shard_by == ShardBy::kUid && held.refused && IsSelected(key, held));
  };
  return std::all_of(view.begin(), view.end(), [&](const auto& each) {
    const auto held = contents.find(each.first);
    return held != contents.end() && may_show(held->first, held->second);
  });
}

inline std::string World::Difference(const AnyRef& object, const std::function<void(nlohmann::json&)>& change) const {
  using nlohmann::json;
  const meta::v1::ObjectMeta& meta = *object.metadata();
  json cached = json::parse(Encode(object)),
       stored = json::parse(Must(cluster_.Get("samples", meta.namespace_, meta.name)));
  for (json* each : {&cached, &stored}) {
    each->erase("apiVersion");
    each->erase("kind");
  }
  if (change) change(stored);
  if (cached == stored) return "";
  return meta.name.str() + " is cached as " + cached.dump() + ", stored as " + stored.dump();
}

inline std::string Text(const View& view) {
  std::string text;
  for (const auto& [key, version] : view) text += " " + key + "@" + std::to_string(version);
  return text;
}
inline std::string Text(const Contents& contents) {
  std::string text;
  for (const auto& [key, held] : contents)
    text += " " + key + "@" + std::to_string(held.version) + (held.refused ? "!" : "");
  return text;
}

inline View ViewOf(const cache::AnySnapshot& snapshot) {
  View view;
  for (const ObjectKey& key : snapshot.Keys()) view[key.str()] = Number(snapshot.Get(key).metadata()->resourceVersion);
  return view;
}

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_WORLD_H_
