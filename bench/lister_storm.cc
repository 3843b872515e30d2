// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Lister reads during many changes: gets per second, with one and with two readers, while a writer applies 5,000
// changes a second to a store of 10,000 reference pods. Not a budget, because it depends on the machine's cores.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "bench/comparisons.h"
#include "bench/reference_pods.h"
#include "cache/store/store.h"
#include "k8s/core/v1/informers.h"
#include "k8s/core/v1/types.h"
#include "kgen/codec/decode.h"
#include "kgen/core/object_meta.h"

namespace kgen::bench {
namespace {

using k8s::core::v1::Pod;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t kPods = 10'000;
constexpr int kChangesPerSecond = 5'000;
constexpr auto kDuration = 3s;
constexpr std::size_t kGetsBetweenLooks = 256;  // between two checks of the flag that ends the loop

struct Filled {
  Shared<cache::Store> store = MakeShared<cache::Store>();
  std::vector<AnyRef> objects;
  std::vector<ObjectKey> keys;
};

Filled Fill() {
  Filled filled;
  ObjectDecoder decoder(Pod::kTable);
  cache::Transaction all{.changes = {}, .version = "1"};
  for (const std::string& pod : ReferencePods(kPods)) {
    AnyRef object = Must(decoder.Decode(pod));
    const ObjectKey key{object.metadata()->namespace_, object.metadata()->name};
    filled.objects.push_back(object);
    filled.keys.push_back(key);
    all.changes.push_back({key, std::move(object)});
  }
  filled.store->Apply(std::move(all));
  return filled;
}

// Applies changes at an even pace, and catches up when it falls behind. Returns the number of changes.
std::size_t Write(const Filled& filled, const std::atomic<bool>& stop) {
  const Clock::time_point start = Clock::now();
  std::size_t done = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const std::chrono::duration<double> passed = Clock::now() - start;
    const auto due = static_cast<std::size_t>(passed.count() * kChangesPerSecond);
    for (; done < due; ++done) {
      const std::size_t i = done * 7919 % kPods;
      filled.store->Apply({.changes = {{filled.keys[i], filled.objects[i]}}, .version = "2"});
    }
    std::this_thread::yield();
  }
  return done;
}

// Gets objects by name, as a controller does: each get returns a reference that is used and dropped.
std::size_t Read(const Filled& filled, const std::atomic<bool>& stop, std::size_t first) {
  const k8s::core::v1::PodLister lister(filled.store);
  std::size_t gets = 0, missing = 0;
  for (std::size_t i = first; !stop.load(std::memory_order_relaxed);) {
    for (std::size_t k = 0; k < kGetsBetweenLooks; ++k, ++gets) {
      i = (i + 4241) % kPods;
      if (!lister.Get(filled.keys[i])) ++missing;
    }
  }
  if (missing != 0) std::printf("%zu gets found nothing\n", missing);
  return gets;
}

void Storm(const Filled& filled, int readers, bool writing) {
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> gets{0}, changes{0};
  std::vector<std::thread> threads;
  if (writing) threads.emplace_back([&] { changes += Write(filled, stop); });
  for (int r = 0; r < readers; ++r) {
    threads.emplace_back([&, r] { gets += Read(filled, stop, static_cast<std::size_t>(r) * 5000); });
  }
  std::this_thread::sleep_for(kDuration);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(kDuration).count();
  std::printf("lister_gets %d reader%s %s: %.2f million/s, %.0f changes/s\n", readers, readers == 1 ? "" : "s",
              writing ? "beside a writer" : "alone", static_cast<double>(gets) / seconds / 1e6,
              static_cast<double>(changes) / seconds);
}

}  // namespace

void CompareListerReads() {
  const Filled filled = Fill();
  for (const bool writing : {false, true}) {
    for (const int readers : {1, 2}) Storm(filled, readers, writing);
  }
}

}  // namespace kgen::bench
