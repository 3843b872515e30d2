// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The cost of an update of one pod in a large cache, and of a relist: the bytes of the server through decoder, queue,
// store and handler. One thread runs everything in a fixed order, so that counts are the same each time.
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/budget.h"
#include "bench/heap.h"
#include "bench/process.h"
#include "bench/reference_pods.h"
#include "bench/scripted_transport.h"
#include "k8s/core/v1/types.h"
#include "k8s/informers.h"
#include "kgen/client/connection.h"
#include "tests/support/manual_executor.h"

namespace kgen::bench {
namespace {

using k8s::core::v1::Pod;

constexpr std::size_t kPods = 10'000;
constexpr std::size_t kManyPods = 100'000;
constexpr std::size_t kFirstUpdates = 200;  // before anything is counted
constexpr std::size_t kUpdates = 1'000;
constexpr std::size_t kStride = 7919;  // from one updated pod to the next

constexpr std::size_t kRelistStride = 100;  // from one pod that a relist changes to the next

// Returns the pods of a list in which one in a hundred has changed.
std::string AsLaterList(std::vector<std::string> pods) {
  for (std::size_t i = 0; i < pods.size(); i += kRelistStride) AdvancePod(pods[i], 7'000'001, i);
  return AsArray(pods);
}

// Returns the events, one per line.
std::string AsUpdates(std::vector<std::string>& pods) {
  std::string text;
  for (std::size_t i = 1; i <= kFirstUpdates + kUpdates; ++i) {
    std::string& pod = pods[i * kStride % pods.size()];
    AdvancePod(pod, 20'000'000 + static_cast<long>(i), i);
    text += R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",)" + pod.substr(1) + "}\n";
  }
  return text;
}

// ------------------------------------------------------------------------------------------------ in the child

class UpdatedPods {
 public:
  Result<void> Sync(std::string_view items) {
    transport_->SetList("Pod", "7000000", items);
    const Connection connection = Connection::Over({.transport = transport_, .executor = executor_});
    FactoryOptions options;
    options.defaults.streaming_list = false;
    factory_.emplace(connection, std::move(options));
    registration_ = factory_->Core().V1().Pods().Informer().AddEventHandler({
        .on_add = [this](const Added<Pod>&) { ++received_; },
        .on_update = [this](const Updated<Pod>&) { ++received_; },
    });
    factory_->Start();
    if (Result<void> synced = factory_->WaitForCacheSync({}, {.handlers = {&registration_}}); !synced) return synced;
    executor_->Run();
    return {};
  }

  auto Pods() const { return factory_->Core().V1().Pods(); }

  // Ends the watch, so that a list follows. Fails if the handler does not receive every pod of it.
  Result<void> Relist(std::string_view items, std::size_t count) {
    const std::size_t before = received_;
    transport_->SetList("Pod", "7000001", items);
    transport_->Send(
        R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}})"
        "\n");
    executor_->Run();
    if (received_ == before + count) return {};
    return Fail(Code::kInternal, "the relist made " + std::to_string(received_ - before) + " calls of the handler");
  }

  // Takes `count` events from the front of `events`. Fails if the handler does not receive one of them.
  Result<void> Update(std::string_view& events, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t end = events.find('\n') + 1;
      const std::size_t before = received_;
      transport_->Send(std::string(events.substr(0, end)));
      events.remove_prefix(end);
      executor_->Run();
      if (received_ == before + 1) continue;
      const cache::InformerStatus now = factory_->Core().V1().Pods().Informer().status();
      return Fail(Code::kInternal,
                  "update " + std::to_string(i) + " of " + std::to_string(count) + " made " +
                      std::to_string(received_ - before) + " calls of the handler instead of one; the informer is " +
                      std::string(ToString(now.state)) + (now.last_error ? ": " + now.last_error->ToString() : ""));
    }
    return {};
  }

 private:
  const Shared<testing::ManualExecutor> executor_ = MakeShared<testing::ManualExecutor>();
  const Shared<ScriptedTransport> transport_ = MakeShared<ScriptedTransport>();
  std::optional<k8s::SharedInformerFactory> factory_;
  Registration registration_;
  std::size_t received_ = 0;
};

// Arguments: files with the items and the events, and "count" to count allocations, which costs instructions.
Result<Figures> UpdatePods(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  Result<MappedItems> events = MappedItems::Open(arguments.at(1));
  if (!items || !events) return Fail(Code::kNotFound, "no prepared pods");
  auto* pods = new UpdatedPods();  // never destroyed, since destruction is not measured
  std::string_view left = events->text();
  if (Result<void> synced = pods->Sync(items->text()); !synced) return Fail(std::move(synced).error());
  if (Result<void> first = pods->Update(left, kFirstUpdates); !first) return Fail(std::move(first).error());
  if (arguments.size() > 2) Heap::StartCounting();
  CALLGRIND_START_INSTRUMENTATION;
  const Result<void> updated = pods->Update(left, kUpdates);
  CALLGRIND_STOP_INSTRUMENTATION;
  if (!updated) return Fail(updated.error());
  return Figures{{"allocations", static_cast<double>(Heap::Allocations())}};
}

// Arguments: as for UpdatePods, but the second file has the items of the later list.
Result<Figures> RelistPods(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  Result<MappedItems> later = MappedItems::Open(arguments.at(1));
  if (!items || !later) return Fail(Code::kNotFound, "no prepared pods");
  auto* pods = new UpdatedPods();  // never destroyed, since destruction is not measured
  if (Result<void> synced = pods->Sync(items->text()); !synced) return Fail(std::move(synced).error());
  if (arguments.size() > 2) Heap::StartCounting();
  CALLGRIND_START_INSTRUMENTATION;
  const Result<void> listed = pods->Relist(later->text(), kPods);
  CALLGRIND_STOP_INSTRUMENTATION;
  if (!listed) return Fail(listed.error());
  return Figures{{"allocations", static_cast<double>(Heap::Allocations())}};
}

// Arguments: as for UpdatePods. Gets every pod from the lister.
Result<Figures> GetPods(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  if (!items) return Fail(Code::kNotFound, "no prepared pods");
  auto* pods = new UpdatedPods();  // never destroyed, since destruction is not measured
  if (Result<void> synced = pods->Sync(items->text()); !synced) return Fail(std::move(synced).error());
  const std::vector<ObjectKey> keys = pods->Pods().Informer().Indexer().Snapshot().Keys();
  if (keys.size() != kManyPods) return Fail(Code::kInternal, "not every pod is in the cache");
  const auto lister = pods->Pods().Lister();
  std::size_t found = 0;
  CALLGRIND_START_INSTRUMENTATION;
  for (const ObjectKey& key : keys) found += lister.Get(key) ? 1 : 0;
  CALLGRIND_STOP_INSTRUMENTATION;
  if (found != keys.size()) return Fail(Code::kInternal, "the lister did not find every pod");
  return Figures{};
}

// ----------------------------------------------------------------------------------------------- in the parent

struct Prepared {
  explicit Prepared(std::size_t count) {
    std::vector<std::string> pods = ReferencePods(count);
    const std::string items = folder.Write("pods", AsArray(pods));
    arguments = {items, folder.Write("events", AsUpdates(pods))};
  }
  TemporaryFolder folder;
  std::vector<std::string> arguments;
};

Result<double> InstructionsPerUpdate(std::size_t count) {
  const Prepared prepared(count);
  Result<double> total = InstructionsOfChild("updates", prepared.arguments, Counting::kWhenAsked);
  if (total) *total /= static_cast<double>(kUpdates);
  return total;
}

// Measured once, for both rows.
const Result<double>& InstructionsAtFewPods() {
  static const Result<double> kFew = InstructionsPerUpdate(kPods);
  return kFew;
}

Result<double> Ratio() {
  const Result<double>& few = InstructionsAtFewPods();
  if (!few) return few;
  Result<double> many = InstructionsPerUpdate(kManyPods);
  if (many) *many /= *few;
  return many;
}

Result<double> InstructionsPerGet() {
  const Prepared prepared(kManyPods);
  Result<double> total = InstructionsOfChild("gets", prepared.arguments, Counting::kWhenAsked);
  if (total) *total /= static_cast<double>(kManyPods);
  return total;
}

Result<double> AllocationsPerUpdate() {
  Prepared prepared(kPods);
  prepared.arguments.emplace_back("count");
  const Result<Figures> figures = RunChild("updates", prepared.arguments);
  if (!figures) return Fail(figures.error());
  return figures->at("allocations") / static_cast<double>(kUpdates);
}

struct PreparedLists {
  PreparedLists() {
    const std::vector<std::string> pods = ReferencePods(kPods);
    arguments = {folder.Write("pods", AsArray(pods)), folder.Write("later", AsLaterList(pods))};
  }
  TemporaryFolder folder;
  std::vector<std::string> arguments;
};

Result<double> InstructionsPerRelistedPod() {
  const PreparedLists prepared;
  Result<double> total = InstructionsOfChild("relisted", prepared.arguments, Counting::kWhenAsked);
  if (total) *total /= static_cast<double>(kPods);
  return total;
}

Result<double> AllocationsPerRelistedPod() {
  PreparedLists prepared;
  prepared.arguments.emplace_back("count");
  const Result<Figures> figures = RunChild("relisted", prepared.arguments);
  if (!figures) return Fail(figures.error());
  return figures->at("allocations") / static_cast<double>(kPods);
}

}  // namespace

void AddUpdateRows(Budget& budget) {
  budget.Add(Child{"updates", UpdatePods});
  budget.Add(Row{"update_instructions", 104'500, "instructions/event", [] { return InstructionsAtFewPods(); }});
  budget.Add(Row{"update_instructions_ratio", 1.2, "times at 10,000", Ratio});
  budget.Add(Row{"update_allocations", 50, "allocations/event", AllocationsPerUpdate});
  budget.Add(Child{"gets", GetPods});
  budget.Add(Row{"get_instructions", 545, "instructions/get", InstructionsPerGet});
  budget.Add(Child{"relisted", RelistPods});
  budget.Add(Row{"relist_instructions", 37'500, "instructions/pod", InstructionsPerRelistedPod});
  budget.Add(Row{"relist_allocations", 5, "allocations/pod", AllocationsPerRelistedPod});
}

}  // namespace kgen::bench
