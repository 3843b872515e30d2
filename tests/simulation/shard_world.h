// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What all replicas of the shards' simulation share: the cells, who works on them, and the server, which checks what
// reaches it. See shard_run.h.
#ifndef KGEN_TESTS_SIMULATION_SHARD_WORLD_H_
#define KGEN_TESTS_SIMULATION_SHARD_WORLD_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/shards/shard_map.h"
#include "kgen/controller/shards.h"
#include "kgen/core/observer.h"
#include "kgen/net/transport.h"
#include "kgen/testing/simulation.h"

namespace kgen::simulation {

inline constexpr std::size_t kCells = 6;
inline constexpr Nanos kWriteTimeout = std::chrono::seconds(3);

struct Cell {
  std::uint64_t hash = 0;
  std::string name{};         // of its object
  std::string owner{};        // the member that was told last to start it
  TimePoint started{};        // when
  std::uint64_t applied = 0;  // the version of the last write that reached the server in time
};

struct ShardWorld {
  testing::Simulation* simulation = nullptr;
  ShardOptions options{};  // without the identity
  Shared<Transport> server{};
  Shared<Observer> observer{};
  bool calm = false;  // no more faults: work takes no time
  std::function<void(std::string_view law, std::string what)> fail{};
  std::function<void(std::string line)> log{};
  // Returns the members, other than `member`, whose guards let writes for that hash through.
  std::function<std::vector<std::string>(std::uint64_t hash, const std::string& member)> others_that_may_write{};
  std::array<Cell, kCells> cells{};
  std::string lineage{};  // of the last map that was written
  std::uint64_t epoch = 0, map_version = 0;

  TimePoint Now() const { return simulation->clock()->Now(); }
  Cell* CellOf(std::string_view path) {
    for (Cell& cell : cells) {
      if (path.find("/configmaps/" + cell.name + "?") != std::string_view::npos || path.ends_with("/" + cell.name)) {
        return &cell;
      }
    }
    return nullptr;
  }

  // Work on a cell starts.
  void OnStart(Cell& cell, const std::string& member, const ShardStart& from) {
    for (const std::string& other : others_that_may_write(cell.hash, member)) {
      fail("S1", member + " starts " + cell.name + ", for which " + other + " may write");
    }
    const auto known = from.versions.find("configmaps");
    const std::string version = known == from.versions.end() ? "0" : known->second;
    if (!from.list_anew && cell.applied != 0 && std::strtoull(version.c_str(), nullptr, 10) < cell.applied) {
      fail("S2", member + " starts " + cell.name + " from version " + version + ", and " + cell.owner +
                     " has written version " + std::to_string(cell.applied));
    }
    log(member + " starts " + cell.name + (from.list_anew ? ", listing anew" : " from version " + version));
    cell.owner = member;
    cell.started = Now();
  }

  // A write for a cell leaves a machine.
  void OnSent(const HttpRequest& request, const std::string& member) {
    const Cell* const cell = request.method == "PUT" ? CellOf(request.path) : nullptr;
    if (cell != nullptr && cell->owner != member) {
      fail("S1", member + " sends a write for " + cell->name + ", and " + cell->owner + " has started it");
    }
  }

  // A map has reached the server, and was stored. Answers may come late, so that the version says which was first.
  void OnMap(const std::string& text, std::uint64_t version) {
    if (version <= map_version) return;
    map_version = version;
    const std::optional<controller::ShardMap> map = controller::ParseMap(text);
    if (!map) return fail("S4", "a map that cannot be read: " + text);
    for (const controller::MapRange& range : map->ranges) {
      if (!range.owner.empty() && !map->Has(range.owner)) fail("S4", "an owner that is no member: " + text);
    }
    if (map->lineage == lineage && map->epoch == epoch) return;  // a renewal
    const std::uint64_t expected = map->lineage == lineage ? epoch + 1 : 1;
    if (map->epoch != expected) {
      fail("S4", "epoch " + std::to_string(map->epoch) + " of " + map->lineage + " follows " + std::to_string(epoch) +
                     " of " + lineage);
    }
    lineage = map->lineage;
    epoch = map->epoch;
    log("map: " + text);
  }
};

// The server, seen from the network: drops writes for cells that arrive after their timeout, as their stream would
// have been reset, and tells the world what was stored.
class ShardServer final : public Transport {
 public:
  ShardServer(ShardWorld& world, Shared<Transport> inner) : world_(world), inner_(std::move(inner)) {}

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    Cell* const cell = request.method == "PUT" ? world_.CellOf(request.path) : nullptr;
    if (cell != nullptr) {
      const std::string member = Member(request);
      const TimePoint sent = Sent(request);
      if (world_.Now() > sent + kWriteTimeout) return {};
      if (member != cell->owner && sent >= cell->started) {
        world_.fail("S1", "a write of " + member + " for " + cell->name + " arrives that was sent after " +
                              cell->owner + " has started it");
      }
      const bool late = member != cell->owner;
      return inner_->Start(std::move(request), MakeShared<Inbox>(world_, late ? nullptr : cell, std::move(sink)));
    }
    const bool lease = request.method != "GET" && request.path.find("/leases") != std::string::npos;
    if (!lease) return inner_->Start(std::move(request), std::move(sink));
    return inner_->Start(std::move(request), MakeShared<Inbox>(world_, nullptr, std::move(sink)));
  }
  void Close() noexcept override {}

  static std::string Body(const Cell& cell, const std::string& member, TimePoint sent) {
    return nlohmann::json{{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"metadata", {{"name", cell.name}}},
                          {"data", {{"by", member}, {"sent", std::to_string(sent.time_since_epoch().count())}}}}
        .dump();
  }

 private:
  class Inbox final : public ResponseSink {
   public:
    Inbox(ShardWorld& world, Cell* cell, Shared<ResponseSink> sink)
        : world_(world), cell_(cell), sink_(std::move(sink)) {}
    void OnHead(HttpHead head) override {
      stored_ = head.status < 300;
      sink_->OnHead(std::move(head));
    }
    void OnBytes(std::string bytes) override {
      body_ += bytes;
      sink_->OnBytes(std::move(bytes));
    }
    void OnEnd(HttpEnd end) override {
      if (stored_) Learn();
      sink_->OnEnd(std::move(end));
    }

   private:
    void Learn() {
      const auto object = nlohmann::json::parse(body_, nullptr, false);
      if (!object.is_object() || !object.contains("metadata")) return;
      const auto& metadata = object["metadata"];
      const std::uint64_t version = std::strtoull(metadata.value("resourceVersion", "0").c_str(), nullptr, 10);
      if (cell_ != nullptr) {
        cell_->applied = std::max(cell_->applied, version);
      } else if (metadata.contains("annotations")) {
        const std::string map = metadata["annotations"].value(std::string(controller::kMapAnnotation), "");
        if (!map.empty()) world_.OnMap(map, version);
      }
    }
    ShardWorld& world_;
    Cell* const cell_;
    Shared<ResponseSink> sink_;
    std::string body_{};
    bool stored_ = false;
  };

  static std::string Member(const HttpRequest& request) {
    return nlohmann::json::parse(request.body)["data"]["by"].get<std::string>();
  }
  static TimePoint Sent(const HttpRequest& request) {
    const std::string text = nlohmann::json::parse(request.body)["data"]["sent"].get<std::string>();
    return TimePoint(Nanos(std::strtoll(text.c_str(), nullptr, 10)));
  }

  ShardWorld& world_;
  const Shared<Transport> inner_;
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_SHARD_WORLD_H_
