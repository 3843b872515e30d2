// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen_peer: the program with kgen's pod informer for `./dev bench peers`. bench/peers/informers/ has the server, the
// counterparts for client-go and kube-rs, and the program that measures all of them.
//
//   kgen_peer pods [--short-calls] [--paged] [--json]    reads $KUBECONFIG
//   kgen_peer reference-pods N                           prints reference pods, one in each line, for the server
//
// Prints "synced N" when the handler has had all N pods. Then it takes commands on standard input: "phase" forgets all
// latencies, "report" prints them, "reads SECONDS" measures reads from the cache. When the handler gets the last event
// of a phase, it prints "seen".
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <exception>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/reference_pods.h"
#include "kgen/client/config.h"
#include "kgen/core/stop.h"

namespace {

using k8s::core::v1::Pod;

constexpr std::string_view kSentKey = "bench.kgen.dev/sent";

std::int64_t Nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Counts latencies in microseconds, with an error of up to 3 %. All contestants have the same one.
class Histogram {
 public:
  void Record(std::uint64_t microseconds) {
    std::size_t at = microseconds;
    if (microseconds >= 64) {
      const int shift = static_cast<int>(std::bit_width(microseconds)) - 6;
      at = 64 + static_cast<std::size_t>(shift - 1) * 32 + (microseconds >> shift) - 32;
    }
    ++counts_[std::min(at, counts_.size() - 1)];
    ++total_;
    max_ = std::max(max_, microseconds);
  }
  std::uint64_t Percentile(double share) const {
    auto left = static_cast<std::uint64_t>(share * static_cast<double>(total_));
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (left < counts_[i]) return i < 64 ? i : ((i - 64) % 32 + 32) << ((i - 64) / 32 + 1);
      left -= counts_[i];
    }
    return max_;
  }
  std::uint64_t total() const noexcept { return total_; }
  std::uint64_t max() const noexcept { return max_; }

 private:
  std::array<std::uint64_t, 2048> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

// What the handler has seen of the current phase.
class Observed {
 public:
  void Object(const Pod& pod) {
    const std::int64_t now = Nanoseconds(CLOCK_REALTIME);
    const std::string_view sent = pod.metadata.annotations[kSentKey];
    if (sent.size() < 2) return;
    std::int64_t at = 0;
    std::from_chars(sent.data() + 1, sent.data() + sent.size(), at);
    const std::lock_guard lock(mutex_);
    names_ += pod.metadata.name.size();
    if (at < since_) return;  // a relist passes unchanged objects on too
    latencies_.Record(static_cast<std::uint64_t>(std::max<std::int64_t>(now - at, 0) / 1000));
    if (sent[0] == '!') std::cout << "seen" << '\n' << std::flush;
  }
  void Phase() {
    const std::lock_guard lock(mutex_);
    since_ = Nanoseconds(CLOCK_REALTIME);
    latencies_ = {};
    std::cout << "phase" << '\n' << std::flush;
  }
  void Report() const {
    const std::lock_guard lock(mutex_);
    std::cout << "report " << latencies_.total() << ' ' << latencies_.Percentile(0.5) << ' '
              << latencies_.Percentile(0.99) << ' ' << latencies_.Percentile(0.999) << ' ' << latencies_.max() << '\n'
              << std::flush;
  }

 private:
  mutable std::mutex mutex_;
  std::int64_t since_ = Nanoseconds(CLOCK_REALTIME);  // nanoseconds since 1970; guarded by mutex_, as all members
  Histogram latencies_;
  std::size_t names_ = 0;  // bytes
};

// Gets pods by random keys for so many seconds. Prints the number of gets, and the nanoseconds of CPU and of time.
void Reads(const k8s::core::v1::PodLister& lister, double seconds) {
  constexpr int kGetsBetweenLooks = 256;  // at the clock
  struct Key {
    std::string space, name;
  };
  std::vector<Key> keys;
  for (const auto& pod : lister.List()) keys.push_back({pod->metadata.namespace_.str(), pod->metadata.name.str()});
  const std::int64_t start = Nanoseconds(CLOCK_MONOTONIC);
  const std::int64_t cpu = Nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  const auto duration = static_cast<std::int64_t>(seconds * 1e9);
  std::uint64_t gets = 0, missing = 0, random = 88172645463325252u;
  while (Nanoseconds(CLOCK_MONOTONIC) - start < duration) {
    for (int i = 0; i < kGetsBetweenLooks; ++i, ++gets) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      const Key& key = keys[random % keys.size()];
      const auto pod = lister.Pods(key.space).Get(key.name);
      if (!pod || pod->metadata.name != key.name) ++missing;
    }
  }
  const std::int64_t used = Nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
  const std::int64_t passed = Nanoseconds(CLOCK_MONOTONIC) - start;
  if (missing != 0) throw std::runtime_error(std::to_string(missing) + " gets found nothing");
  std::cout << "reads " << gets << ' ' << used << ' ' << passed << '\n' << std::flush;
}

void RunPods(bool short_calls, bool paged, bool json) {
  auto config = kgen::Must(kgen::rest::LoadConfig());
  config.protobuf = !json;
  const auto clientset = kgen::Must(k8s::Clientset::New(config));
  const std::stop_token stop = kgen::StopOnSignals();
  k8s::SharedInformerFactory factory(clientset, {.defaults = {.streaming_list = !paged}});
  const auto pods = factory.Core().V1().Pods();
  Observed seen;
  const auto handler =
      pods.Informer().AddEventHandler({
                                          .on_add = [&seen](const kgen::Added<Pod>& e) { seen.Object(*e.now); },
                                          .on_update = [&seen](const kgen::Updated<Pod>& e) { seen.Object(*e.now); },
                                      },
                                      {.short_calls = short_calls});
  factory.Start(stop);
  kgen::Must(factory.WaitForCacheSync(stop, {.handlers = {&handler}}));
  std::cout << "synced " << pods.Informer().Indexer().Snapshot().size() << '\n' << std::flush;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "phase") {
      seen.Phase();
    } else if (line == "report") {
      seen.Report();
    } else if (line.starts_with("reads ")) {
      Reads(pods.Lister(), std::stod(line.substr(6)));
    } else {
      throw std::runtime_error("no such command: " + line);
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const auto given = [&](std::string_view flag) {
    return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
  };
  if (given("pods")) {
    RunPods(given("--short-calls"), given("--paged"), given("--json"));
  } else if (arguments.size() == 2 && arguments[0] == "reference-pods") {
    for (const std::string& pod : kgen::bench::ListedPods(std::stoul(argv[2]))) std::cout << pod << '\n';
  } else {
    std::cerr << "usage: kgen_peer pods [--short-calls] [--paged] [--json] | reference-pods N; see ./dev bench peers\n";
    return 2;
  }
} catch (const std::exception& error) {
  std::cerr << "kgen_peer: " << error.what() << "\n";
  return 1;
}
