// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The work queue's rows: what one item costs on its way through the queue, and what a waiting one takes.
#include <algorithm>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "bench/budget.h"
#include "bench/heap.h"
#include "kgen/controller/work_queue.h"
#include "tests/support/manual_executor.h"

namespace kgen::bench {
namespace {

constexpr std::size_t kKeys = 1'000;  // distinct ones that pass through the queue
constexpr std::size_t kShort = 20'000;
constexpr std::size_t kLong = 120'000;
constexpr std::size_t kTimed = 3'000'000;
constexpr std::size_t kTurn = 50'000;  // items that are timed together
constexpr std::size_t kDelayed = 1'000'000;

// Names with a text block of their own, as pods have.
std::vector<ObjectKey> Keys(std::size_t count) {
  std::vector<ObjectKey> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back(ObjectKey::Namespaced("default", "web-7d4b9c6f5-" + std::to_string(100'000 + i)));
  }
  return keys;
}

double CpuNanos() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Add, get, done. If it is `measured`, each step reads the machine's clock for the durations in the metrics. The time
// is the fastest turn's: whatever else the machine does only adds to it, in caches and in the processor's other thread.
Result<Figures> PassItems(std::size_t count, bool measured) {
  const std::vector<ObjectKey> keys = Keys(kKeys);
  const RateLimitingQueue queue({.name = "bench", .measure_durations = measured});
  double least = std::numeric_limits<double>::max();
  for (std::size_t turn = 0; turn < count; turn += kTurn) {
    const std::size_t items = std::min(kTurn, count - turn);
    const double begin = CpuNanos();
    for (std::size_t i = 0; i < items; ++i) {
      queue.Add(keys[i % kKeys]);
      const auto item = queue.TryGet();
      if (!item) return Fail(Code::kInternal, "the item was not ready");
      queue.Done(item->key);
    }
    if (items == kTurn) least = std::min(least, (CpuNanos() - begin) / static_cast<double>(items));
  }
  return Figures{{"cpu", least}};
}

// The keys share their text with the queue, as with a cache.
Result<Figures> DelayItems(std::size_t count) {
  const std::vector<ObjectKey> keys = Keys(count);
  const RateLimitingQueue queue({.name = "bench", .executor = MakeShared<testing::ManualExecutor>()});
  Heap::StartCounting();
  for (std::size_t i = 0; i < count; ++i) queue.AddAfter(keys[i], Nanos(1 + i * 7919 % count));
  return Figures{{"bytes", static_cast<double>(Heap::Live()) / static_cast<double>(count)}};
}

Result<Figures> RunQueue(const std::vector<std::string>& arguments) {
  if (arguments.size() != 2) return Fail(Code::kInvalidArgument, "queue: what to do, and how often");
  const std::size_t count = std::stoul(arguments[1]);
  return arguments[0] == "delay" ? DelayItems(count) : PassItems(count, arguments[0] == "measure");
}

Result<double> Figure(const std::string& what, std::size_t count, const std::string& name) {
  const Result<Figures> figures = RunChild("queue", {what, std::to_string(count)});
  if (!figures) return Fail(figures.error());
  return figures->at(name);
}

Result<double> Instructions(const std::string& what) {
  const auto few = InstructionsOfChild("queue", {what, std::to_string(kShort)});
  if (!few) return Fail(few.error());
  const auto many = InstructionsOfChild("queue", {what, std::to_string(kLong)});
  if (!many) return Fail(many.error());
  return (*many - *few) / static_cast<double>(kLong - kShort);
}

}  // namespace

void AddQueueRows(Budget& budget) {
  budget.Add(Child{"queue", RunQueue});
  budget.Add(Row{"queue_item_cpu", 200, "ns/item", [] { return Figure("pass", kTimed, "cpu"); }});
  budget.Add(Row{"queue_item_measured_cpu", 400, "ns/item", [] { return Figure("measure", kTimed, "cpu"); }});
  budget.Add(Row{"queue_item_instructions", 1'100, "instructions/item", [] { return Instructions("pass"); }});
  budget.Add(
      Row{"queue_item_measured_instructions", 1'240, "instructions/item", [] { return Instructions("measure"); }});
  budget.Add(Row{"queue_delayed_bytes", 200, "bytes/item", [] { return Figure("delay", kDelayed, "bytes"); }});
}

}  // namespace kgen::bench
