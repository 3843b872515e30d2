// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The cost of an update of one pod in a large cache, and of a relist: the bytes of the server through decoder, queue,
// store and handler. One thread runs everything in a fixed order, so that counts are the same each time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/budget.h"
#include "bench/callgrind.h"
#include "bench/heap.h"
#include "bench/process.h"
#include "bench/protobuf_pods.h"
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

constexpr char kVersion[] = "7000000", kLaterVersion[] = "7000001";

enum class Encoded : unsigned char { kJson, kProtobuf };

std::string AsList(const std::vector<std::string>& pods, std::string_view version, Encoded encoded) {
  return encoded == Encoded::kProtobuf ? AsProtobufList(pods, version) : AsArray(pods);
}

// Returns the pods of a list in which one in a hundred has changed.
std::string AsLaterList(std::vector<std::string> pods, Encoded encoded) {
  for (std::size_t i = 0; i < pods.size(); i += kRelistStride) AdvancePod(pods[i], 7'000'001, i);
  return AsList(pods, kLaterVersion, encoded);
}

// Returns the events: one per line in JSON, frames in protobuf.
std::string AsUpdates(std::vector<std::string>& pods, Encoded encoded) {
  std::string text;
  for (std::size_t i = 1; i <= kFirstUpdates + kUpdates; ++i) {
    std::string& pod = pods[i * kStride % pods.size()];
    AdvancePod(pod, 20'000'000 + static_cast<long>(i), i);
    if (encoded == Encoded::kProtobuf) {
      text += AsProtobufEvent("MODIFIED", pod);
      continue;
    }
    text += R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1",)" + pod.substr(1) + "}\n";
  }
  return text;
}

// ------------------------------------------------------------------------------------------------ in the child

// Takes the first event from the front of `events`.
std::string TakeEvent(std::string_view& events, Encoded encoded) {
  std::size_t end = 0;
  if (encoded == Encoded::kJson) {
    end = events.find('\n') + 1;
  } else {
    for (std::size_t i = 0; i < 4; ++i) end = end << 8 | static_cast<unsigned char>(events.at(i));
    end += 4;
  }
  std::string event(events.substr(0, end));
  events.remove_prefix(end);
  return event;
}

class UpdatedPods {
 public:
  explicit UpdatedPods(Encoded encoded) : encoded_(encoded) {}

  Result<void> Sync(std::string_view items) {
    SetList(items, kVersion);
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
    SetList(items, kLaterVersion);
    transport_->SendExpired();
    executor_->Run();
    if (received_ == before + count) return {};
    return Fail(Code::kInternal, "the relist made " + std::to_string(received_ - before) + " calls of the handler");
  }

  // Takes `count` events from the front of `events`. Fails if the handler does not receive one of them.
  Result<void> Update(std::string_view& events, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t before = received_;
      transport_->Send(TakeEvent(events, encoded_));
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
  void SetList(std::string_view items, const char* version) {
    if (encoded_ == Encoded::kProtobuf) {
      transport_->SetProtobuf(items);
    } else {
      transport_->SetList("Pod", version, items);
    }
  }

  const Encoded encoded_;
  const Shared<testing::ManualExecutor> executor_ = MakeShared<testing::ManualExecutor>();
  const Shared<ScriptedTransport> transport_ = MakeShared<ScriptedTransport>();
  std::optional<k8s::SharedInformerFactory> factory_;
  Registration registration_;
  std::size_t received_ = 0;
};

// Arguments of all children: two files, then words: "protobuf", and "count" to count allocations, which costs
// instructions.
bool Has(const std::vector<std::string>& arguments, std::string_view word) {
  return std::ranges::find(arguments, word) != arguments.end();
}

// Never destroyed, since destruction is not measured.
UpdatedPods& MakePods(const std::vector<std::string>& arguments) {
  return *new UpdatedPods(Has(arguments, "protobuf") ? Encoded::kProtobuf : Encoded::kJson);
}

// The files have the items and the events.
Result<Figures> UpdatePods(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  Result<MappedItems> events = MappedItems::Open(arguments.at(1));
  if (!items || !events) return Fail(Code::kNotFound, "no prepared pods");
  UpdatedPods& pods = MakePods(arguments);
  std::string_view left = events->text();
  if (Result<void> synced = pods.Sync(items->text()); !synced) return Fail(std::move(synced).error());
  if (Result<void> first = pods.Update(left, kFirstUpdates); !first) return Fail(std::move(first).error());
  if (Has(arguments, "count")) Heap::StartCounting();
  CALLGRIND_START_INSTRUMENTATION;
  const Result<void> updated = pods.Update(left, kUpdates);
  CALLGRIND_STOP_INSTRUMENTATION;
  if (!updated) return Fail(updated.error());
  return Figures{{"allocations", static_cast<double>(Heap::Allocations())}};
}

// The files have the items of the two lists.
Result<Figures> RelistPods(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  Result<MappedItems> later = MappedItems::Open(arguments.at(1));
  if (!items || !later) return Fail(Code::kNotFound, "no prepared pods");
  UpdatedPods& pods = MakePods(arguments);
  if (Result<void> synced = pods.Sync(items->text()); !synced) return Fail(std::move(synced).error());
  if (Has(arguments, "count")) Heap::StartCounting();
  CALLGRIND_START_INSTRUMENTATION;
  const Result<void> listed = pods.Relist(later->text(), kPods);
  CALLGRIND_STOP_INSTRUMENTATION;
  if (!listed) return Fail(listed.error());
  return Figures{{"allocations", static_cast<double>(Heap::Allocations())}};
}

// Gets every pod from the lister. The first file has the items.
Result<Figures> GetPods(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  if (!items) return Fail(Code::kNotFound, "no prepared pods");
  UpdatedPods& pods = MakePods(arguments);
  if (Result<void> synced = pods.Sync(items->text()); !synced) return Fail(std::move(synced).error());
  const std::vector<ObjectKey> keys = pods.Pods().Informer().Indexer().Snapshot().Keys();
  if (keys.size() != kManyPods) return Fail(Code::kInternal, "not every pod is in the cache");
  const auto lister = pods.Pods().Lister();
  std::size_t found = 0;
  if (Has(arguments, "count")) Heap::StartCounting();
  CALLGRIND_START_INSTRUMENTATION;
  for (const ObjectKey& key : keys) found += lister.Get(key) ? 1 : 0;
  CALLGRIND_STOP_INSTRUMENTATION;
  if (found != keys.size()) return Fail(Code::kInternal, "the lister did not find every pod");
  return Figures{{"allocations", static_cast<double>(Heap::Allocations())}};
}

// Finds every pod in an index by its UID. The first file has the items.
Result<Figures> FindPods(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  if (!items) return Fail(Code::kNotFound, "no prepared pods");
  UpdatedPods& pods = MakePods(arguments);
  if (Result<void> synced = pods.Sync(items->text()); !synced) return Fail(std::move(synced).error());
  const auto informer = pods.Pods().Informer();
  if (Has(arguments, "count")) Heap::StartCounting();
  if (Result<void> added = informer.AddIndex("uid", FieldPath("metadata.uid")); !added) return Fail(added.error());
  const auto heap = static_cast<double>(Heap::Live());
  const auto indexer = informer.Indexer();
  const std::vector<String> uids = indexer.Snapshot().IndexValues("uid");
  if (uids.size() != kManyPods) return Fail(Code::kInternal, "not every pod is in the index");
  std::size_t found = 0;
  const std::int64_t before = Heap::Allocations();
  CALLGRIND_START_INSTRUMENTATION;
  for (const String& uid : uids) found += indexer.OneByIndex("uid", uid) ? 1 : 0;
  CALLGRIND_STOP_INSTRUMENTATION;
  if (found != uids.size()) return Fail(Code::kInternal, "the index did not find every pod");
  return Figures{{"allocations", static_cast<double>(Heap::Allocations() - before)}, {"index_heap", heap}};
}

// ----------------------------------------------------------------------------------------------- in the parent

// The two files, and the other arguments of a child.
struct Prepared {
  TemporaryFolder folder{};
  std::vector<std::string> arguments{};

  void Write(const std::string& first, const std::string& second, Encoded encoded) {
    arguments = {folder.Write("first", first), folder.Write("second", second)};
    if (encoded == Encoded::kProtobuf) arguments.emplace_back("protobuf");
  }
};

void PrepareUpdates(std::size_t count, Encoded encoded, Prepared& prepared) {
  std::vector<std::string> pods = ReferencePods(count);
  const std::string items = AsList(pods, kVersion, encoded);
  prepared.Write(items, AsUpdates(pods, encoded), encoded);
}

void PrepareRelist(Encoded encoded, Prepared& prepared) {
  const std::vector<std::string> pods = ListedPods(kPods);
  prepared.Write(AsList(pods, kVersion, encoded), AsLaterList(pods, encoded), encoded);
}

Result<double> Instructions(const std::string& child, const Prepared& prepared, std::size_t count) {
  Result<double> total = InstructionsOfChild(child, prepared.arguments, Counting::kWhenAsked);
  if (total) *total /= static_cast<double>(count);
  return total;
}

Result<double> Counted(const std::string& child, Prepared& prepared, const char* figure, std::size_t count) {
  prepared.arguments.emplace_back("count");
  const Result<Figures> figures = RunChild(child, prepared.arguments);
  if (!figures) return Fail(figures.error());
  return figures->at(figure) / static_cast<double>(count);
}
Result<double> Allocations(const std::string& child, Prepared& prepared, std::size_t count) {
  return Counted(child, prepared, "allocations", count);
}

Result<double> InstructionsPerUpdate(std::size_t count, Encoded encoded) {
  Prepared prepared;
  PrepareUpdates(count, encoded, prepared);
  return Instructions("updates", prepared, kUpdates);
}

// Measured once, for both rows.
const Result<double>& InstructionsAtFewPods() {
  static const Result<double> kFew = InstructionsPerUpdate(kPods, Encoded::kJson);
  return kFew;
}

Result<double> Ratio() {
  const Result<double>& few = InstructionsAtFewPods();
  if (!few) return few;
  Result<double> many = InstructionsPerUpdate(kManyPods, Encoded::kJson);
  if (many) *many /= *few;
  return many;
}

// `child`: "gets" or "finds".
Result<double> InstructionsPerRead(const std::string& child) {
  Prepared prepared;
  PrepareUpdates(kManyPods, Encoded::kJson, prepared);
  return Instructions(child, prepared, kManyPods);
}

Result<double> AllocationsPerRead(const std::string& child) {
  Prepared prepared;
  PrepareUpdates(kManyPods, Encoded::kJson, prepared);
  return Allocations(child, prepared, kManyPods);
}

Result<double> HeapPerIndexValue() {
  Prepared prepared;
  PrepareUpdates(kManyPods, Encoded::kJson, prepared);
  return Counted("finds", prepared, "index_heap", kManyPods);
}

Result<double> AllocationsPerUpdate(Encoded encoded) {
  Prepared prepared;
  PrepareUpdates(kPods, encoded, prepared);
  return Allocations("updates", prepared, kUpdates);
}

Result<double> InstructionsPerRelistedPod(Encoded encoded) {
  Prepared prepared;
  PrepareRelist(encoded, prepared);
  return Instructions("relisted", prepared, kPods);
}

Result<double> AllocationsPerRelistedPod(Encoded encoded) {
  Prepared prepared;
  PrepareRelist(encoded, prepared);
  return Allocations("relisted", prepared, kPods);
}

}  // namespace

void AddUpdateRows(Budget& budget) {
  constexpr char kPerEvent[] = "instructions/event", kPerPod[] = "instructions/pod";
  constexpr Encoded kJson = Encoded::kJson, kProtobuf = Encoded::kProtobuf;
  budget.Add(Child{"updates", UpdatePods});
  budget.Add(Row{"update_instructions", 104'200, kPerEvent, [] { return InstructionsAtFewPods(); }});
  budget.Add(Row{"update_instructions_ratio", 1.2, "times at 10,000", Ratio});
  budget.Add(Row{"update_allocations", 47, "allocations/event", [] { return AllocationsPerUpdate(kJson); }});
  budget.Add(
      Row{"protobuf_update_instructions", 73'100, kPerEvent, [] { return InstructionsPerUpdate(kPods, kProtobuf); }});
  budget.Add(
      Row{"protobuf_update_allocations", 47, "allocations/event", [] { return AllocationsPerUpdate(kProtobuf); }});
  budget.Add(Child{"gets", GetPods});
  budget.Add(Row{"get_instructions", 545, "instructions/get", [] { return InstructionsPerRead("gets"); }});
  budget.Add(Row{"get_allocations", 0, "allocations/get", [] { return AllocationsPerRead("gets"); }});
  budget.Add(Child{"finds", FindPods});
  budget.Add(Row{"find_instructions", 518, "instructions/look-up", [] { return InstructionsPerRead("finds"); }});
  budget.Add(Row{"find_allocations", 0, "allocations/look-up", [] { return AllocationsPerRead("finds"); }});
  budget.Add(Row{"index_heap", 72, "bytes/value", HeapPerIndexValue});
  budget.Add(Child{"relisted", RelistPods});
  budget.Add(Row{"relist_instructions", 35'000, kPerPod, [] { return InstructionsPerRelistedPod(kJson); }});
  budget.Add(Row{"relist_allocations", 4.5, "allocations/pod", [] { return AllocationsPerRelistedPod(kJson); }});
  budget.Add(
      Row{"protobuf_relist_instructions", 15'500, kPerPod, [] { return InstructionsPerRelistedPod(kProtobuf); }});
  budget.Add(
      Row{"protobuf_relist_allocations", 4, "allocations/pod", [] { return AllocationsPerRelistedPod(kProtobuf); }});
}

}  // namespace kgen::bench
