// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What all replicas of the managers' simulation share: the objects, who works on them, and the server, which checks
// what reaches it. See manager_run.h.
#ifndef KGEN_TESTS_SIMULATION_MANAGER_WORLD_H_
#define KGEN_TESTS_SIMULATION_MANAGER_WORLD_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/controller/shards.h"
#include "kgen/core/object_key.h"
#include "kgen/core/observer.h"
#include "kgen/net/transport.h"
#include "kgen/testing/simulation.h"
#include "tests/simulation/stream_network.h"

namespace kgen::simulation {

inline constexpr std::uint32_t kTeams = 6;  // namespaces, with a ConfigMap each

// A write of a controller that has taken effect.
struct StoredWrite {
  std::uint64_t version = 0;  // of the object, or of its deletion
  std::string by{};
  bool gone = false;  // it has ended the object
  bool told = false;  // its writer knows
};

// What has become of one object, and what was seen of it.
struct Track {
  std::string resource{}, namespace_{}, name{};
  std::vector<StoredWrite> writes{};            // in the order in which they took effect
  std::optional<std::uint64_t> absent_since{};  // the version of its last end; 0: before it was first created
  std::uint64_t seen = 0;                       // the newest version that a call of an owner has read
  std::string text() const { return resource + " " + (namespace_.empty() ? name : namespace_); }
};

// An object that a controller reconciles. Its name is the one of its namespace, if it has one.
struct Work {
  Track main{}, owned{};
  bool wanted = true;          // by the user: it exists, and has not been deleted
  std::uint64_t fence = 0;     // the greatest of a call that has begun
  std::string owner{};         // of that call
  std::uint64_t settings = 0;  // the newest version of the settings that a call of an owner has read
};

// What is in a run beside the ConfigMaps.
struct ManagerFeatures {
  bool owns = false;     // each ConfigMap owns a Secret
  bool deletes = false;  // the user deletes objects, with finalizers and without, and creates them again
  bool more = false;     // Nodes, which a second controller reconciles, and settings that every replica holds
};

struct ManagerWorld {
  testing::Simulation* simulation = nullptr;
  ShardOptions options{};  // without the identity
  Shared<Transport> server{};
  Shared<Observer> observer{};
  bool calm = false;  // no more faults: calls take no time
  std::function<void(std::string_view law, std::string what)> fail{};
  std::function<void(std::string line)> log{};
  // The version of an object that the server has, and the version of the server.
  std::function<std::optional<std::uint64_t>(const Track& track)> version_of{};
  std::function<std::uint64_t()> newest{};
  ManagerFeatures has{};
  std::vector<Work> works{};  // the ConfigMaps first

  TimePoint Now() const { return simulation->clock()->Now(); }
  Work* Of(std::string_view resource, const ObjectKey& key) {
    const auto at = std::ranges::find_if(works, [&](const Work& each) {
      return each.main.resource == resource && each.main.namespace_ == key.namespace_ && each.main.name == key.name;
    });
    return at == works.end() ? nullptr : &*at;
  }
  // What a write is for; null for anything else.
  struct Target {
    Work* work = nullptr;
    Track* track = nullptr;
    explicit operator bool() const { return work != nullptr; }
  };
  Target Of(const HttpRequest& request) {
    if (request.method == "GET") return {};
    const std::string_view path = std::string_view(request.path).substr(0, request.path.find('?'));
    for (Work& work : works) {
      for (Track* const track : {&work.main, &work.owned}) {
        if (!track->resource.empty() && Names(path, *track)) return {&work, track};
      }
    }
    return {};
  }
  using Fence = std::optional<std::uint64_t>;
  // The fence of the call that makes a write. A deletion does not have it.
  static Fence FenceIn(const HttpRequest& request) {
    const auto body = nlohmann::json::parse(request.body, nullptr, false);
    const auto fence = nlohmann::json::json_pointer("/metadata/annotations/fence");
    if (!body.is_object() || !body.contains(fence)) return {};
    return std::strtoull(body[fence].get<std::string>().c_str(), nullptr, 10);
  }
  // Whether a later owner's call has begun.
  static bool IsLate(const Work& work, Fence fence, const std::string& by) {
    return fence ? *fence < work.fence : by != work.owner;
  }

  // A call begins.
  void OnCall(Work& work, const std::string& replica, std::uint64_t fence) {
    if (fence > work.fence) {
      log(replica + " works on " + work.main.text() + " with fence " + std::to_string(fence));
      work.fence = fence;
      work.owner = replica;
    } else if (fence == work.fence && work.owner != replica) {
      fail("M1", replica + " and " + work.owner + " both have the fence " + std::to_string(fence) + " for " +
                     work.main.text());
    }
  }
  // A call reads an object in this version; 0: it reads nothing.
  void OnRead(const Work& work, Track& track, const std::string& replica, std::uint64_t fence, std::uint64_t version) {
    if (version == 0 && !track.absent_since) {
      fail("M3", replica + " reads nothing for " + track.text());
    }
    if (fence < work.fence) return;  // a process that was suspended goes on
    const std::uint64_t read = version != 0 ? version : track.absent_since.value_or(0);
    const auto known = std::find_if(track.writes.rbegin(), track.writes.rend(),
                                    [&](const StoredWrite& each) { return each.by != replica || each.told; });
    if (known != track.writes.rend() && read < known->version) {
      fail("M2", replica + " reads " + Describe(track, version) + ", and " + known->by + " has written version " +
                     std::to_string(known->version));
    }
    if (read < track.seen) {
      fail("M2", replica + " reads " + Describe(track, version) + ", and version " + std::to_string(track.seen) +
                     " was read before");
    }
    track.seen = std::max(track.seen, version);
  }
  void OnSettings(Work& work, const std::string& replica, std::uint64_t fence, std::uint64_t version) {
    if (version == 0) fail("M3", replica + " reads no settings for " + work.main.text());
    if (fence < work.fence) return;
    if (version < work.settings) {
      fail("M2", replica + " reads version " + std::to_string(version) + " of the settings for " + work.main.text() +
                     ", and version " + std::to_string(work.settings) + " was read before");
    }
    work.settings = std::max(work.settings, version);
  }
  // A write has succeeded; `version` is in the answer, and 0 of a deletion.
  static void OnTold(Track& track, const std::string& replica, std::uint64_t version) {
    for (StoredWrite& each : track.writes) {
      if (each.by == replica && (version == 0 ? each.gone : each.version == version)) each.told = true;
    }
  }

  // A write of a replica leaves its machine.
  void OnSent(const HttpRequest& request, const std::string& by) {
    const Target to = Of(request);
    if (to && IsLate(*to.work, FenceIn(request), by)) {
      fail("M1",
           by + " sends a write for " + to.track->text() + ", and " + to.work->owner + " has begun to work on it");
    }
  }
  // A write has taken effect.
  void OnStored(const Target& to, Fence fence, const std::string& by) {
    if (IsLate(*to.work, fence, by)) {
      fail("M1", "a write of " + by + " for " + to.track->text() + " takes effect, and " + to.work->owner +
                     " has begun to work on it");
    }
    const std::optional<std::uint64_t> version = version_of(*to.track);
    to.track->writes.push_back({.version = version.value_or(newest()), .by = by, .gone = !version});
    if (!version) to.track->absent_since = newest();
    log(by + (version ? " has written " : " has ended ") + to.track->text() + ", version " +
        std::to_string(to.track->writes.back().version));
  }

 private:
  static bool Names(std::string_view path, const Track& track) {
    const std::string in = track.namespace_.empty() ? "" : "/namespaces/" + track.namespace_;
    const std::string all = in + "/" + track.resource, one = all + "/" + track.name;
    return path.ends_with(all) ? !in.empty() : path.ends_with(one);
  }
  static std::string Describe(const Track& track, std::uint64_t version) {
    return version == 0 ? "nothing for " + track.text() : "version " + std::to_string(version) + " of " + track.text();
  }
};

// The server, seen from the network: drops writes that arrive after their timeout, as their stream would have been
// reset, and tells the world what was stored.
class ManagerServer final : public Transport {
 public:
  ManagerServer(ManagerWorld& world, Shared<Transport> inner) : world_(world), inner_(std::move(inner)) {}

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    const ManagerWorld::Target to = world_.Of(request);
    if (!to) return inner_->Start(std::move(request), std::move(sink));
    if (world_.Now() > Deadline(request)) {
      world_.log("a write for " + to.track->text() + " has come too late");
      return {};
    }
    const std::string by = std::ranges::find(request.headers, kFromHeader, &HttpHeader::name)->value;
    const ManagerWorld::Fence fence = ManagerWorld::FenceIn(request);
    return inner_->Start(std::move(request), MakeShared<Inbox>(world_, to, fence, by, std::move(sink)));
  }
  void Close() noexcept override {}

 private:
  // When the client has given it up at the latest.
  static TimePoint Deadline(const HttpRequest& request) {
    const std::size_t at = request.path.find("timeout=");
    if (at == std::string::npos) return TimePoint::max();
    const auto sent = std::ranges::find(request.headers, kSentHeader, &HttpHeader::name);
    Nanos timeout{};
    const char* text = request.path.c_str() + at + std::string_view("timeout=").size();
    while (*text >= '0' && *text <= '9') {
      char* unit = nullptr;
      const double number = std::strtod(text, &unit);
      const std::string_view rest(unit);
      const double scale = rest.starts_with("ms")  ? 1e6
                           : rest.starts_with("s") ? 1e9
                           : rest.starts_with("m") ? 6e10
                                                   : 1e3;
      timeout += Nanos(static_cast<Nanos::rep>(number * scale));
      text = unit + (rest.starts_with("ms") ? 2 : rest.starts_with("s") || rest.starts_with("m") ? 1 : 3);
    }
    return TimePoint(Nanos(std::strtoll(sent->value.c_str(), nullptr, 10))) + timeout;
  }
  class Inbox final : public ResponseSink {
   public:
    Inbox(ManagerWorld& world, ManagerWorld::Target to, ManagerWorld::Fence fence, std::string by,
          Shared<ResponseSink> sink)
        : world_(world), to_(to), fence_(fence), by_(std::move(by)), sink_(std::move(sink)) {}
    void OnHead(HttpHead head) override {
      if (head.status < 300) world_.OnStored(to_, fence_, by_);
      sink_->OnHead(std::move(head));
    }
    void OnBytes(std::string bytes) override { sink_->OnBytes(std::move(bytes)); }
    void OnEnd(HttpEnd end) override { sink_->OnEnd(std::move(end)); }

   private:
    ManagerWorld& world_;
    const ManagerWorld::Target to_;
    const ManagerWorld::Fence fence_;
    const std::string by_;
    const Shared<ResponseSink> sink_;
  };

  ManagerWorld& world_;
  const Shared<Transport> inner_;
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_MANAGER_WORLD_H_
