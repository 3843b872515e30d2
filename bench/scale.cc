// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Memory and CPU of informers of very many pods, in one process or divided between several, from a server that makes
// the pods as it sends them (bench/replay/pod_server.h):
//
//   start -> sync -> updates at a given rate -> a relist, if it is asked for
//
// Each process has an informer with one handler. All figures are of these processes; the server has one of its own.
//
//   ./dev bench scale pods=1000000 form=projected|whole      default: projected
//                     processes=4 by=namespace|uid           each holds a shard; default: one, which holds everything
//                     started=1                              of the processes; the others only have their shards
//                     filter=0                               the server ignores shardSelector, as without the gate
//                     updates=50000 rate=5000 relist=1 json=1
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/comparisons.h"
#include "bench/process.h"
#include "bench/replay/made_pods.h"
#include "bench/replay/pod_server.h"
#include "bench/replay/side_process.h"
#include "bench_parts/projections.h"
#include "cache/informer.h"
#include "cache/reflector/list_watch.h"
#include "cache/wait_for_sync.h"
#include "k8s/core/v1/types.h"
#include "kgen/cache/shared_informer.h"
#include "kgen/client/config.h"
#include "kgen/client/connection.h"
#include "kgen/client/shard_ranges.h"
#include "kgen/core/memory.h"

namespace kgen::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPods = 1'000'000;

// The "name=value" arguments of the command line.
struct Options {
  std::map<std::string, std::string> given;
  std::string Text(const std::string& name, const std::string& otherwise) const {
    const auto found = given.find(name);
    return found == given.end() ? otherwise : found->second;
  }
  std::size_t Number(const std::string& name, std::size_t otherwise) const {
    return std::stoul(Text(name, std::to_string(otherwise)));
  }
  static Options Of(const std::vector<std::string>& arguments) {
    Options options;
    for (const std::string& argument : arguments) {
      const std::size_t equals = argument.find('=');
      if (equals != std::string::npos) options.given[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
    return options;
  }
};

// ------------------------------------------------------------------------------------------------------- a client

// What the handler received.
struct Received {
  std::atomic<std::size_t> events{0};
  std::vector<long> latencies;  // microseconds; written by the handler, read while it is idle

  void Update(const String& resource_version) {
    latencies.push_back(NowMicroseconds() - std::strtol(resource_version.str().c_str(), nullptr, 10));
    events.fetch_add(1, std::memory_order_release);
  }
};

double Percentile(const std::vector<long>& sorted, double share) {
  return sorted.empty() ? 0 : static_cast<double>(sorted[static_cast<std::size_t>(share * double(sorted.size() - 1))]);
}

// T: Pod, or a projection of it.
template <typename T>
class Client {
 public:
  Result<void> Run(const Options& options) {
    std::ifstream file(options.Text("ca", ""));
    const std::string authority((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    Result<Connection> connection = Connection::Open(
        {.host = options.Text("url", ""), .tls = {.ca_data = authority}, .protobuf = options.Number("json", 0) == 0});
    if (!connection) return Fail(std::move(connection).error());
    const auto start = std::chrono::steady_clock::now();
    Result<Shared<cache::Informer>> made = Make(*connection, options);
    if (!made) return Fail(std::move(made).error());
    informer_ = *made;
    registration_ = Pods().AddEventHandler({
        .on_add = [this](const Added<T>&) { received_.events.fetch_add(1, std::memory_order_release); },
        .on_update = [this](const Updated<T>& e) { received_.Update(e.now->metadata.resourceVersion); },
    });
    informer_->Start({});
    const SyncOptions wait{.handlers = {&registration_}};
    if (Result<void> synced = cache::WaitForSync(*informer_->executor(), {}, {informer_}, wait); !synced) return synced;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    std::printf("synced %zu %.2f ", Pods().Indexer().Snapshot().size(), passed.count());
    received_.events = 0;
    Figures();
    for (std::string word; std::cin >> word;) {
      std::string version;
      std::cin >> version;
      if (Result<void> reached = Reach(version); !reached) return reached;
    }
    informer_->Stop();
    return informer_->Join({});
  }

 private:
  SharedInformer<T> Pods() const { return SharedInformer<T>(informer_); }

  // The informer that a factory would make, which perhaps holds only the pods of a shard.
  static Result<Shared<cache::Informer>> Make(const Connection& connection, const Options& options) {
    cache::InformerSettings settings;
    const std::string ranges = options.Text("ranges", "");
    if (!ranges.empty()) settings.shard_by = options.Text("by", "") == "uid" ? ShardBy::kUid : ShardBy::kNamespace;
    auto source = cache::MakeListWatch(connection, *k8s::core::v1::Pod::kTable.kind, {}, cache::FormOf(T::kTable));
    auto informer = MakeShared<cache::Informer>(connection, std::move(source), T::kTable, std::move(settings));
    if (ranges.empty()) return informer;
    Result<ShardRanges> held = ShardRanges::Parse(ranges);
    if (!held) return Fail(std::move(held).error());
    informer->Hold(*std::move(held));
    return informer;
  }

  // Waits until the cache has that version and the handler has received everything.
  Result<void> Reach(const std::string& version) {
    constexpr int kQuietLooks = 50;  // the events of a list are passed on in steps
    std::size_t before = 0;
    const auto give_up = std::chrono::steady_clock::now() + 300s;
    for (int quiet = 0; quiet < kQuietLooks; std::this_thread::sleep_for(20ms)) {
      const std::size_t events = received_.events.load();
      const bool there = events == std::exchange(before, events) && Pods().Indexer().Snapshot().version() == version &&
                         registration_.Backlog() == 0;
      quiet = there ? quiet + 1 : 0;
      if (std::chrono::steady_clock::now() > give_up) {
        return Fail(Code::kTimeout, "the cache is at " + Pods().status().resource_version + " and not at " + version);
      }
    }
    std::vector<long>& latencies = received_.latencies;
    std::ranges::sort(latencies);
    std::printf("reached %zu %.0f %.0f ", received_.events.exchange(0), Percentile(latencies, 0.5),
                Percentile(latencies, 0.99));
    latencies.clear();
    Figures();
    return {};
  }

  // CPU since the last call, and memory once nothing is left to do.
  void Figures() {
    std::this_thread::sleep_for(2s);  // what the list needed has been freed
    const CpuSeconds cpu = MeasureCpu();
    const Memory memory = MeasureMemory();
    const HeapUse use = GetHeapUse();
    std::printf("%.3f %.3f %.1f %.1f %.1f %.1f %.1f %.1f\n", cpu.user - cpu_.user, cpu.system - cpu_.system,
                memory.resident, memory.peak, memory.alive, memory.blocks, static_cast<double>(use.blocks) / 1e6,
                static_cast<double>(use.allocations) / 1e6);
    std::fflush(stdout);
    cpu_ = cpu;
  }

  Shared<cache::Informer> informer_;
  Registration registration_;
  Received received_;
  CpuSeconds cpu_;
};

// --------------------------------------------------------------------------------------------------------- parent

// Divides all hashes between so many processes, so that each has about as many pods. Hashes of UIDs are spread evenly.
// Hashes of namespaces are few, and often close to each other, so the bounds are between those that there are.
std::vector<ShardRanges> Divide(std::size_t pods, ShardBy by, std::size_t processes) {
  std::vector<std::uint64_t> hashes;
  if (by == ShardBy::kNamespace) {
    for (std::size_t i = 0; i < pods; i += MadePods::kPodsInNamespace) hashes.push_back(MadePods::Hash(i, by));
    std::ranges::sort(hashes);
  }
  const auto bound = [&](std::size_t i) -> std::uint64_t {
    if (by == ShardBy::kNamespace) return i == 0 ? 0 : hashes[i * hashes.size() / processes];
    return UINT64_MAX / processes * i;
  };
  std::vector<ShardRanges> ranges;
  for (std::size_t i = 0; i < processes; ++i) {
    ranges.push_back({{bound(i), i + 1 == processes ? UINT64_MAX : bound(i + 1) - 1}});
  }
  return ranges;
}

void PrintHead() {
  std::printf("%-8s %7s %10s %8s %8s %8s %8s %9s %9s %9s %9s %9s %8s %8s\n", "step", "process", "objects", "s",
              "user s", "sys s", "us each", "RSS MB", "peak MB", "alive MB", "blocks M", "allocs M", "p50 us",
              "p99 us");
}

// `words`: a line of a client. Returns false if it failed.
bool PrintRow(const char* step, std::size_t process, const std::vector<std::string>& words) {
  const bool synced = !words.empty() && words[0] == "synced";
  const bool timed = std::string_view(step) == "updates";
  const std::size_t first = synced ? 3 : 4;  // of the words that both have
  if (words.size() != first + 8) {
    std::printf("process %zu has failed\n", process);
    return false;
  }
  const double user = std::stod(words[first]), system = std::stod(words[first + 1]), objects = std::stod(words[1]);
  std::printf("%-8s %7zu %10.0f %8s %8.2f %8.2f %8.2f %9s %9s %9s %9s %9s %8s %8s\n", step, process, objects,
              synced ? words[2].c_str() : "", user, system, (user + system) * 1e6 / std::max(objects, 1.0),
              words[first + 2].c_str(), words[first + 3].c_str(), words[first + 4].c_str(), words[first + 6].c_str(),
              words[first + 7].c_str(), timed ? words[2].c_str() : "", timed ? words[3].c_str() : "");
  std::fflush(stdout);
  return true;
}

void PrintServer(const SideProcess& server) {
  const CpuSeconds cpu = MeasureCpu(server.pid());
  std::ifstream file("/proc/" + std::to_string(server.pid()) + "/status");
  std::string word;
  while (file >> word && word != "VmHWM:") {
  }
  file >> word;
  std::printf("server: %.1f s of CPU, peak %.1f MB\n", cpu.both(), std::stod(word) * 1024 / 1e6);
}

class Scale {
 public:
  explicit Scale(const Options& options)
      : options_(options),
        server_({std::string(kPodServerFlag), std::to_string(options.Number("pods", kPods)), folder_.path() + "/ca.pem",
                 options.Number("filter", 1) != 0 ? "shards" : "all"}) {}

  int Run() {
    const std::vector<std::string> serving = server_.Answer();
    if (serving.size() != 2) return 1;
    const std::size_t processes = options_.Number("processes", 1);
    const ShardBy by = options_.Text("by", "namespace") == "uid" ? ShardBy::kUid : ShardBy::kNamespace;
    const std::vector<ShardRanges> ranges = Divide(options_.Number("pods", kPods), by, processes);
    for (std::size_t i = 0; i < std::min(processes, options_.Number("started", processes)); ++i) {
      std::vector<std::string> arguments = {std::string(kScaleClientFlag), "url=" + serving[1],
                                            "ca=" + folder_.path() + "/ca.pem"};
      if (processes > 1) arguments.push_back("ranges=" + ranges[i].ToString());
      for (const auto& [name, value] : options_.given) arguments.push_back(name + "=" + value);
      clients_.emplace_back(std::move(arguments));
    }
    PrintHead();
    if (!Rows("sync")) return 1;
    const std::size_t updates = options_.Number("updates", 50'000);
    if (updates > 0 && !Order("update " + std::to_string(updates) + " " + options_.Text("rate", "5000"), "updates"))
      return 1;
    if (options_.Number("relist", 0) != 0 && !Order("expire", "relist")) return 1;
    PrintServer(server_);
    return 0;
  }

 private:
  bool Rows(const char* step) {
    bool fine = true;
    for (std::size_t i = 0; i < clients_.size(); ++i) fine = PrintRow(step, i, clients_[i].Answer()) && fine;
    return fine;
  }
  // Makes the server do something, and waits until every client has seen it.
  bool Order(const std::string& command, const char* step) {
    const std::vector<std::string> done = server_.Ask(command);
    if (done.size() != 3) return false;
    for (SideProcess& client : clients_) client.Tell("reach " + done[1]);
    if (done[2] != "0") std::printf("the server was up to %s us late\n", done[2].c_str());
    return Rows(step);
  }

  const Options options_;
  TemporaryFolder folder_;
  SideProcess server_;
  std::vector<SideProcess> clients_;
};

}  // namespace

int ScaleClientMain(const std::vector<std::string>& arguments) {
  const Options options = Options::Of(arguments);
  const Result<void> done = options.Text("form", "projected") == "projected"
                                ? Client<bench_parts::PodEntry>().Run(options)
                                : Client<k8s::core::v1::Pod>().Run(options);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().ToString().c_str());
  return 1;
}

void MeasureEventCosts() {
  const MadePods pods(kPods);
  std::string json, protobuf;
  constexpr std::size_t kSome = 1000;
  constexpr std::size_t kStride = 991;
  for (std::size_t i = 0; i < kSome; ++i) {
    pods.AppendJson(i * kStride, MadePods::FirstState(i), json);
    pods.AppendProtobuf(i * kStride, MadePods::FirstState(i), protobuf);
  }
  std::printf("event_cost: a pod has %zu bytes as JSON, %zu as protobuf\n", json.size() / kSome,
              protobuf.size() / kSome);
  for (const char* key : {"tenant-00017", "3f0c9a52-6a1e-4d7b-a9c3-0d1f2e3a4b5c"}) {
    constexpr int kHashes = 2'000'000;
    std::string text = key;
    std::uint64_t sum = 0;
    const double begin = MeasureCpu().both();
    for (int i = 0; i < kHashes; ++i) {
      text[i % text.size()] ^= 1;
      sum += ShardHash(text);
    }
    std::printf("event_cost: the hash of %zu bytes takes %.0f ns (%llu)\n", text.size(),
                (MeasureCpu().both() - begin) * 1e9 / kHashes, static_cast<unsigned long long>(sum % 10));
  }
}

int ScaleMain(const std::vector<std::string>& arguments) { return Scale(Options::Of(arguments)).Run(); }

}  // namespace kgen::bench
