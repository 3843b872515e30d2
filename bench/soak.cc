// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Memory and latency of an informer under continuous updates: reference pods over TLS from a server in a separate
// process (bench/replay/pod_server.h), with one handler, as in any program.
//
//   sync -> updates at 5,000 a second, whose latency is measured -> updates at full speed -> relists
//
// Each part of the run ends with a line of CSV; bench/plot_soak.py draws the lines.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/comparisons.h"
#include "bench/pod_informer.h"
#include "bench/process.h"
#include "bench/replay/pod_server.h"
#include "bench/replay/side_process.h"
#include "bench_parts/projections.h"
#include "k8s/core/v1/types.h"
#include "k8s/informers.h"
#include "kgen/client/config.h"
#include "kgen/client/connection.h"

namespace kgen::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kTimedPiece = 5'000;  // updates between two lines: one second of them
constexpr std::size_t kFastPiece = 50'000;
constexpr double kRate = 5'000;

// The "name=value" arguments of the command line.
struct Options {
  std::map<std::string, std::string> given;
  std::size_t Number(const std::string& name, std::size_t otherwise) const {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : std::stoul(found->second);
  }
};

// What the handler received. Written by the handler; read while the handler is idle.
struct Received {
  std::atomic<long> version{0};
  std::vector<long> latencies;  // microseconds

  void Update(const String& resource_version) {
    const long written = std::strtol(resource_version.str().c_str(), nullptr, 10);
    latencies.push_back(NowMicroseconds() - written);
    // A relist also delivers unchanged objects, whose versions are old.
    if (written > version.load(std::memory_order_relaxed)) version.store(written, std::memory_order_release);
  }
};

double Percentile(const std::vector<long>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)));
  return static_cast<double>(sorted[at]) / 1e3;
}

// T: Pod, or a projection of it.
template <typename T>
class Soak {
 public:
  Soak(std::size_t pods, const std::string& csv)
      : pods_(pods), server_({std::string(kPodServerFlag), std::to_string(pods), folder_.path() + "/ca.pem"}) {
    if (!csv.empty()) csv_ = std::fopen(csv.c_str(), "w");
    Print("updates,relists,rate,rss_mb,alive_mb,blocks_mb,reserved_mb,p50_ms,p99_ms,p999_ms,max_ms,lag_ms,cpu_us");
  }
  Soak(const Soak&) = delete;
  Soak& operator=(const Soak&) = delete;
  ~Soak() {
    stuck_ = false;
    if (csv_ != nullptr) std::fclose(csv_);
  }

  Result<void> Run(const Options& options);

 private:
  void Print(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    if (csv_ != nullptr) std::fprintf(csv_, "%s\n", line.c_str()), std::fflush(csv_);
  }
  SharedInformer<T> Pods() const { return PodsOf<T>(*factory_); }

  Result<void> Sync(bool short_calls);
  void AddStuckHandler(const std::string& limit);
  void PrintStuckHandler();
  std::string Standing() const;
  Result<void> WaitForVersion(const std::string& version);
  Result<void> Updates(std::size_t count, double rate);
  Result<void> Relist();
  void Row(double rate, std::size_t updates, double lag);
  void Summary(double synced, double updated);

  const std::size_t pods_;
  TemporaryFolder folder_;
  SideProcess server_;
  std::FILE* csv_ = nullptr;
  Received received_;
  std::unique_ptr<k8s::SharedInformerFactory> factory_;
  Registration registration_;
  std::atomic<bool> stuck_{false};
  Registration stuck_handler_;
  std::size_t updates_ = 0;
  std::size_t relists_ = 0;
  double cpu_ = 0;           // at the last line
  std::vector<long> timed_;  // latencies in pieces in which the server was in time
  std::size_t late_ = 0;     // pieces in which the server was late
};

template <typename T>
Result<void> Soak<T>::Sync(bool short_calls) {
  const std::vector<std::string> serving = server_.Answer();
  if (serving.size() != 2) return Fail(Code::kUnavailable, "the server does not start");
  std::ifstream file(folder_.path() + "/ca.pem");
  const std::string authority((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Result<Connection> connection =
      Connection::Open({.host = serving[1], .tls = {.ca_data = authority}, .protobuf = false});
  if (!connection) return Fail(std::move(connection).error());
  FactoryOptions options;
  options.defaults.streaming_list = false;
  factory_ = std::make_unique<k8s::SharedInformerFactory>(*connection, std::move(options));
  registration_ = Pods().AddEventHandler(
      {
          .on_add = [this](const Added<T>& e) { received_.Update(e.now->metadata.resourceVersion); },
          .on_update = [this](const Updated<T>& e) { received_.Update(e.now->metadata.resourceVersion); },
      },
      {.short_calls = short_calls});
  factory_->Start();
  if (Result<void> synced = factory_->WaitForCacheSync({}, {.handlers = {&registration_}}); !synced) return synced;
  std::this_thread::sleep_for(1s);  // the memory that the list needed has been freed
  received_.latencies.clear();
  Row(0, pods_, 0);
  return {};
}

// A second handler whose first call does not return before the end. `limit`: HandlerOptions::backlog_bytes, "default"
// or "none".
template <typename T>
void Soak<T>::AddStuckHandler(const std::string& limit) {
  stuck_ = true;
  HandlerOptions options{.name = "stuck"};
  if (limit != "default") options.backlog_bytes = limit == "none" ? kgen::kUnlimited : std::stoul(limit);
  const auto wait = [this] {
    while (stuck_.load()) std::this_thread::sleep_for(10ms);
  };
  stuck_handler_ = Pods().AddEventHandler(
      {.on_add = [wait](const Added<T>&) { wait(); }, .on_update = [wait](const Updated<T>&) { wait(); }},
      std::move(options));
}

template <typename T>
void Soak<T>::PrintStuckHandler() {
  std::printf("the stuck handler: %zu events wait; peak RSS %.1f MB\n", stuck_handler_.Backlog(), MeasureMemory().peak);
  stuck_ = false;
}

template <typename T>
std::string Soak<T>::Standing() const {
  const cache::InformerStatus status = Pods().status();
  return "the informer is " + std::string(ToString(status.state)) + " at version " + status.resource_version +
         " after " + std::to_string(status.lists) + " lists, " + std::to_string(status.watches) + " watches and " +
         std::to_string(status.events) + " events" +
         (status.last_error ? " (" + status.last_error->ToString() + ")" : std::string()) + "; " +
         std::to_string(registration_.Backlog()) + " calls wait; the handler received " +
         std::to_string(received_.version.load());
}

template <typename T>
Result<void> Soak<T>::WaitForVersion(const std::string& version) {
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (received_.version.load(std::memory_order_acquire) < std::stol(version) || registration_.Backlog() != 0) {
    if (std::chrono::steady_clock::now() > give_up) return Fail(Code::kTimeout, Standing() + ", not of " + version);
    std::this_thread::sleep_for(1ms);
  }
  std::this_thread::sleep_for(5ms);
  return {};
}

template <typename T>
Result<void> Soak<T>::Updates(std::size_t count, double rate) {
  const std::vector<std::string> done = server_.Ask("update " + std::to_string(count) + " " + std::to_string(rate));
  if (done.size() != 3) return Fail(Code::kUnavailable, "the server has gone");
  if (Result<void> received = WaitForVersion(done[1]); !received) return received;
  updates_ += count;
  const double lag = std::stod(done[2]) / 1e3;
  constexpr double kInTime = 5;  // ms; if even the server was later than this, the machine was busy
  if (rate > 0 && lag < kInTime) timed_.insert(timed_.end(), received_.latencies.begin(), received_.latencies.end());
  late_ += rate > 0 && lag >= kInTime;
  Row(rate, count, lag);
  return {};
}

template <typename T>
Result<void> Soak<T>::Relist() {
  const std::vector<std::string> done = server_.Ask("expire");
  if (done.size() != 3) return Fail(Code::kUnavailable, "the server has gone");
  if (Result<void> received = WaitForVersion(done[1]); !received) return received;
  ++relists_;
  std::this_thread::sleep_for(500ms);  // the sweep that follows is over
  Row(0, pods_ / 10, 0);
  return {};
}

template <typename T>
void Soak<T>::Row(double rate, std::size_t updates, double lag) {
  const double cpu = MeasureCpu().both();
  const double per_update = updates == 0 ? 0 : (cpu - std::exchange(cpu_, cpu)) * 1e6 / static_cast<double>(updates);
  cpu_ = cpu;
  std::sort(received_.latencies.begin(), received_.latencies.end());
  const std::vector<long>& sorted = received_.latencies;
  const Memory memory = MeasureMemory();
  char line[256];
  std::snprintf(line, sizeof line, "%zu,%zu,%.0f,%.1f,%.1f,%.1f,%.1f,%.3f,%.3f,%.3f,%.3f,%.3f,%.1f", updates_, relists_,
                rate, memory.resident, memory.alive, memory.blocks, memory.reserved, Percentile(sorted, 0.5),
                Percentile(sorted, 0.99), Percentile(sorted, 0.999), Percentile(sorted, 1), lag, per_update);
  Print(line);
  received_.latencies.clear();
}

template <typename T>
void Soak<T>::Summary(double synced, double updated) {
  std::sort(timed_.begin(), timed_.end());
  const double relisted = MeasureMemory().resident;
  const auto row = [](const char* name, double value, double bar, const char* unit) {
    std::printf("%-34s %12.6g %12.6g %-18s %s\n", name, value, bar, unit, value <= bar ? "ok" : "SHORT");
  };
  std::printf("%zu pods: %.1f MB after the sync, %.1f after %zu updates, %.1f after %zu relists\n", pods_, synced,
              updated, updates_, relisted, relists_);
  row("soak_memory_after_updates", updated / synced, 1.15, "times after sync");
  row("soak_memory_after_relists", relisted / synced, 1.15, "times after sync");
  std::printf("%zu latencies; the server itself was more than 5 ms late in %zu more pieces of %zu\n", timed_.size(),
              late_, kTimedPiece);
  row("soak_latency_p99", Percentile(timed_, 0.99), 2, "ms");
  row("soak_latency_p999", Percentile(timed_, 0.999), 5, "ms");
  std::printf("%-34s %12.6g\n", "soak_latency_max", Percentile(timed_, 1));
}

template <typename T>
Result<void> Soak<T>::Run(const Options& options) {
  received_.latencies.reserve(std::max(pods_, kFastPiece) + 1);
  if (Result<void> synced = Sync(options.Number("short", 0) != 0); !synced) return synced;
  const double synced = MeasureMemory().resident;
  const auto stuck = options.given.find("stuck");
  if (stuck != options.given.end()) AddStuckHandler(stuck->second);
  const std::size_t all = options.Number("updates", 2'000'000);
  const std::size_t timed = std::min(options.Number("timed", 300'000), all);
  timed_.reserve(timed);
  while (updates_ < all) {
    const bool slowly = updates_ < timed;
    const std::size_t count = std::min((slowly ? timed : all) - updates_, slowly ? kTimedPiece : kFastPiece);
    if (Result<void> done = Updates(count, slowly ? kRate : 0); !done) return done;
  }
  const double updated = MeasureMemory().resident;
  while (relists_ < options.Number("relists", 10)) {
    if (Result<void> done = Relist(); !done) return done;
  }
  Summary(synced, updated);
  if (stuck != options.given.end()) PrintStuckHandler();
  return {};
}

template <typename T>
Result<void> Run(const Options& options) {
  const auto csv = options.given.find("csv");
  return Soak<T>(options.Number("pods", 10'000), csv == options.given.end() ? "" : csv->second).Run(options);
}

}  // namespace

int SoakMain(const std::vector<std::string>& arguments) {
  Options options;
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      std::fprintf(stderr,
                   "usage: bench soak [pods=N] [updates=N] [timed=N] [relists=N] [short=1] [projected=1] [csv=FILE] "
                   "[stuck=default|none|BYTES]\n");
      return 2;
    }
    options.given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  const Result<void> done =
      options.Number("projected", 0) != 0 ? Run<bench_parts::PodEntry>(options) : Run<k8s::core::v1::Pod>(options);
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().ToString().c_str());
    return 1;
  }
  return 0;
}

}  // namespace kgen::bench
