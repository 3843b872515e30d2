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
#include <map>
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

struct Work {
  std::string name{};                           // of the namespace, and of its object
  std::uint64_t fence = 0;                      // the greatest of a call that has begun
  std::string owner{};                          // of that call
  std::uint64_t count = 0;                      // that the server has
  std::string by{};                             // who wrote that
  std::uint64_t before = 0;                     // what others had counted before
  std::map<std::string, std::uint64_t> told{};  // the last count that the server has told a replica to be written
};

struct ManagerWorld {
  testing::Simulation* simulation = nullptr;
  ShardOptions options{};  // without the identity
  Shared<Transport> server{};
  Shared<Observer> observer{};
  bool calm = false;  // no more faults: calls take no time
  std::function<void(std::string_view law, std::string what)> fail{};
  std::function<void(std::string line)> log{};
  std::vector<Work> works{};

  TimePoint Now() const { return simulation->clock()->Now(); }
  Work* Of(std::string_view in_namespace) {
    const auto at = std::ranges::find(works, in_namespace, &Work::name);
    return at == works.end() ? nullptr : &*at;
  }
  // Finds the namespace whose object the path of a request names.
  Work* OfPath(std::string_view path) {
    const auto at = std::ranges::find_if(works, [&](const Work& each) {
      return path.find("/namespaces/" + each.name + "/configmaps/" + each.name) != std::string_view::npos;
    });
    return at == works.end() ? nullptr : &*at;
  }

  // A call has begun, and has read this count.
  void OnCall(Work& work, const std::string& replica, std::uint64_t fence, std::uint64_t count) {
    if (fence > work.fence) {
      log(replica + " works on " + work.name + " with fence " + std::to_string(fence));
      work.fence = fence;
      work.owner = replica;
    } else if (fence == work.fence && work.owner != replica) {
      fail("M1",
           replica + " and " + work.owner + " both have the fence " + std::to_string(fence) + " for " + work.name);
    }
    if (fence < work.fence) return;  // a process that was suspended goes on
    const std::uint64_t newest = work.by == replica ? std::max(work.before, work.told[replica]) : work.count;
    if (count < newest) {
      fail("M2", replica + " reads the count " + std::to_string(count) + " of " + work.name + ", and " + work.by +
                     " has written " + std::to_string(newest));
    }
  }
  // A write leaves a machine.
  void OnSent(const HttpRequest& request) {
    const Work* const work = request.method == "PATCH" ? OfPath(request.path) : nullptr;
    if (work == nullptr) return;
    const auto data = nlohmann::json::parse(request.body)["data"];
    const std::uint64_t fence = std::strtoull(data["fence"].get<std::string>().c_str(), nullptr, 10);
    if (fence < work->fence) {
      fail("M1", data["by"].get<std::string>() + " sends a write for " + work->name + ", and " + work->owner +
                     " has begun to work on it");
    }
  }
  // A write takes effect.
  void OnStored(Work& work, const nlohmann::json& sent) {
    const std::string by = sent["by"].get<std::string>();
    const std::uint64_t fence = std::strtoull(sent["fence"].get<std::string>().c_str(), nullptr, 10);
    const std::uint64_t count = std::strtoull(sent["count"].get<std::string>().c_str(), nullptr, 10);
    if (fence < work.fence) {
      fail("M1",
           "a write of " + by + " for " + work.name + " takes effect, and " + work.owner + " has begun to work on it");
    }
    if (work.by != by) work.before = work.count;
    work.count = count;
    work.by = by;
    // One of its own writes, which it had given up, has come after a later one.
    if (work.told[by] > count) work.told[by] = count;
    log(by + " has counted " + work.name + " to " + std::to_string(count));
  }
};

// The server, seen from the network: drops writes that arrive after their timeout, as their stream would have been
// reset, and tells the world what was stored.
class ManagerServer final : public Transport {
 public:
  ManagerServer(ManagerWorld& world, Shared<Transport> inner) : world_(world), inner_(std::move(inner)) {}

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    Work* const work = request.method == "PATCH" ? world_.OfPath(request.path) : nullptr;
    if (work == nullptr) return inner_->Start(std::move(request), std::move(sink));
    nlohmann::json data = nlohmann::json::parse(request.body)["data"];
    if (world_.Now() > Deadline(request)) {
      world_.log("a write for " + work->name + " has come too late");
      return {};
    }
    return inner_->Start(std::move(request), MakeShared<Inbox>(world_, *work, std::move(data), std::move(sink)));
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
    Inbox(ManagerWorld& world, Work& work, nlohmann::json data, Shared<ResponseSink> sink)
        : world_(world), work_(work), data_(std::move(data)), sink_(std::move(sink)) {}
    void OnHead(HttpHead head) override {
      if (head.status < 300) world_.OnStored(work_, data_);
      sink_->OnHead(std::move(head));
    }
    void OnBytes(std::string bytes) override { sink_->OnBytes(std::move(bytes)); }
    void OnEnd(HttpEnd end) override { sink_->OnEnd(std::move(end)); }

   private:
    ManagerWorld& world_;
    Work& work_;
    const nlohmann::json data_;
    const Shared<ResponseSink> sink_;
  };

  ManagerWorld& world_;
  const Shared<Transport> inner_;
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_MANAGER_WORLD_H_
