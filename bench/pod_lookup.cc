// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// examples/pod_lookup with 100,000 pods: their heap with the four indexes, and look-ups by address of 16 readers. Not a
// budget, because the time of a look-up depends on the machine's caches.
#include "examples/pod_lookup/pod_lookup.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/comparisons.h"
#include "bench/heap.h"
#include "bench/process.h"
#include "bench/reference_pods.h"
#include "bench/scripted_transport.h"
#include "kgen/client/connection.h"

namespace kgen::bench {
namespace {

constexpr std::size_t kPods = 100'000;
constexpr std::size_t kReaders = 16;
constexpr std::size_t kLookUps = 500'000;  // of each reader
constexpr std::size_t kStride = 7919;      // from one address to the next

std::string AddressOf(std::string_view pod) {
  constexpr std::string_view kIp = R"("podIP":")";
  const std::size_t at = pod.find(kIp) + kIp.size();
  return std::string(pod.substr(at, pod.find('"', at) - at));
}

double ThreadNanos() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

void MeasurePodLookups() {
  std::vector<std::string> addresses;
  const TemporaryFolder folder;
  std::string file;
  {
    const std::vector<std::string> pods = ReferencePods(kPods);
    for (const std::string& pod : pods) addresses.push_back(AddressOf(pod));
    file = folder.Write("pods", AsEvents(pods));
  }
  const MappedItems events = Must(MappedItems::Open(file));
  const auto transport = MakeShared<ScriptedTransport>();
  transport->SetList("Pod", "7000000", "[]", events.text());
  Heap::StartCounting();
  PodLookup lookup(Connection::Over({.transport = transport, .executor = Must(MakeThreadPool({.threads = 2}))}));
  Must(lookup.Start({}));
  std::printf("pod_lookup %zu pods: %.0f bytes of heap a pod\n", kPods, static_cast<double>(Heap::Live()) / kPods);

  std::atomic<std::size_t> missing{0};
  std::vector<double> nanos(kReaders);
  std::vector<std::thread> readers;
  for (std::size_t reader = 0; reader < kReaders; ++reader) {
    readers.emplace_back([&, reader] {
      const double begin = ThreadNanos();
      for (std::size_t i = 0; i < kLookUps; ++i) {
        if (!lookup.ByAddress(addresses[(i * kStride + reader) % kPods])) ++missing;
      }
      nanos[reader] = (ThreadNanos() - begin) / static_cast<double>(kLookUps);
    });
  }
  for (std::thread& reader : readers) reader.join();
  if (missing != 0) std::printf("%zu look-ups found nothing\n", missing.load());
  std::ranges::sort(nanos);
  std::printf("pod_lookup %zu pods, %zu readers: %.0f ns of CPU a look-up (median of the readers)\n", kPods, kReaders,
              nanos[kReaders / 2]);
}

}  // namespace kgen::bench
