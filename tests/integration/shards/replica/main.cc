// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A replica of a manager that divides ConfigMaps by their namespaces, for the tests of this folder and for
// `./dev bench shards`. Whatever it writes names this process and the fence of the call, so that whoever watches the
// objects sees who worked on what, and in which order.
//
//   shard_replica --identity=NAME --namespace=NAMESPACE --beat=MS --workers=N
//
// Without a namespace it works on everything alone. It reconciles the ConfigMaps with data.wanted:
//
//   "beat"   is written every MS milliseconds, and at the first call with another fence
//   others   get data.done = data.wanted; if data.hold is this identity, the call waits two seconds before it writes
//
// The writes are merge patches without a resourceVersion: only the guard of the call can refuse a late one. It prints a
// line when a call waits and when a write was refused, and in the end what Run() has returned.
#include <k8s/core/v1/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/controller/manager.h"
#include "kgen/core/executor.h"
#include "kgen/core/stop.h"

namespace {

using k8s::core::v1::ConfigMap;
using std::chrono_literals::operator""s;

constexpr int kEndedWithAnError = 3;
constexpr int kBeatWorkers = 4;

class Reconciler {
 public:
  Reconciler(const kgen::Manager& manager, std::string identity, std::chrono::milliseconds beat)
      : manager_(manager), identity_(std::move(identity)), beat_(beat) {}

  kgen::Result<kgen::Requeue> Work(kgen::Request& request) {
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    if (!map || map->data["wanted"].empty()) return kgen::Requeue::Done();
    const std::string wanted = map->data["wanted"].str();
    if (map->data["done"] == wanted) return kgen::Requeue::Done();
    if (map->data["hold"] == identity_) {
      Print("holds " + request.key().str());
      (void)kgen::DefaultExecutor()->MakeWaiter("hold")->Wait({}, kgen::SystemClock()->Now() + 2s);
    }
    if (const auto written = Write(request, wanted); !written) return kgen::Fail(written.error());
    return kgen::Requeue::Done();
  }

  // A beat is an event, which calls for the same key again.
  kgen::Result<kgen::Requeue> Beat(kgen::Request& request) {
    KGEN_TRY(const auto map, request.Get<ConfigMap>());
    if (!map || map->data["wanted"].empty()) return kgen::Requeue::Done();
    const auto now = std::chrono::steady_clock::now();
    {
      const std::scoped_lock lock(mutex_);
      LastBeat& last = beats_[request.key().namespace_.str()];
      const auto due = last.at + beat_;
      if (last.fence == request.fence() && now < due) return kgen::Requeue::After(due - now);
      last = {now, request.fence()};
    }
    if (const auto written = Write(request, map->data["wanted"].str()); !written) return kgen::Fail(written.error());
    return kgen::Requeue::After(beat_);
  }

 private:
  struct LastBeat {
    std::chrono::steady_clock::time_point at{};
    std::uint64_t fence = 0;
  };

  kgen::Result<ConfigMap> Write(kgen::Request& request, const std::string& done) {
    const auto shards = manager_.shards();
    const auto filters = shards ? shards->server_filters : std::nullopt;
    const std::string patch = R"({"data":{"done":")" + done + R"(","owner":")" + identity_ + R"(","fence":")" +
                              std::to_string(request.fence()) + R"(","filters":")" +
                              (!filters   ? "unknown"
                               : *filters ? "yes"
                                          : "no") +
                              R"(","write":")" + std::to_string(++writes_) + "\"}}";
    const ConfigMap named{.metadata = {.name = request.key().name, .namespace_ = request.key().namespace_}};
    auto written = request.client().Patch(named, kgen::MergePatch(patch));
    if (!written && written.error().code() == kgen::Code::kCancelled) {
      Print("refused " + request.key().str() + ": " + written.error().ToString());
    }
    return written;
  }

  void Print(const std::string& line) {
    const std::scoped_lock lock(mutex_);
    std::cout << line << std::endl;
  }

  const kgen::Manager manager_;
  const std::string identity_;
  const std::chrono::milliseconds beat_;
  std::atomic<std::uint64_t> writes_ = 0;
  std::mutex mutex_;
  std::map<std::string, LastBeat> beats_;  // by namespace
};

}  // namespace

int main(int argc, char** argv) try {
  std::map<std::string, std::string> flags{
      {"--identity", ""}, {"--namespace", ""}, {"--beat", "1000"}, {"--workers", "4"}};
  for (const std::string& flag : std::vector<std::string>(argv + 1, argv + argc)) {
    const std::size_t equals = flag.find('=');
    const auto known = flags.find(flag.substr(0, equals));
    if (equals == std::string::npos || known == flags.end()) {
      std::cerr << "usage: shard_replica --identity=NAME --namespace=NAMESPACE --beat=MS --workers=N\n";
      return 2;
    }
    known->second = flag.substr(equals + 1);
  }
  kgen::ManagerOptions options{.name = "shard-replica"};
  if (!flags["--namespace"].empty()) {
    options.shards = {.name = "replicas", .namespace_ = flags["--namespace"], .identity = flags["--identity"]};
  }
  const auto manager = kgen::Must(kgen::Manager::New(kgen::Must(kgen::rest::LoadConfig()), options));
  Reconciler reconciler(manager, flags["--identity"], std::chrono::milliseconds(std::stol(flags["--beat"])));
  const kgen::Predicate<ConfigMap> is_beat([](const ConfigMap& map) { return map.metadata.name == "beat"; });
  // Beats have a queue of their own, so that they do not wait behind many changes.
  kgen::Must(manager.Control<ConfigMap>("beats")
                 .When(is_beat)
                 .MaxConcurrentReconciles(kBeatWorkers)
                 .Reconcile([&](kgen::Request& request) { return reconciler.Beat(request); }));
  kgen::Must(manager.Control<ConfigMap>("maps")
                 .When(!is_beat)
                 .MaxConcurrentReconciles(std::stoi(flags["--workers"]))
                 .Reconcile([&](kgen::Request& request) { return reconciler.Work(request); }));
  const kgen::Result<void> ended = manager.Run(kgen::StopOnSignals());
  if (ended) return 0;
  std::cout << "ended: " << ended.error() << std::endl;
  std::_Exit(kEndedWithAnError);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
