// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The first sync of reference pods, and a relist after it: transport, codec and informer process prepared bytes. One
// handler is registered, as in any program.
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/budget.h"
#include "bench/heap.h"
#include "bench/pod_informer.h"
#include "bench/process.h"
#include "bench/protobuf_pods.h"
#include "bench/reference_pods.h"
#include "bench/scripted_transport.h"
#include "bench_parts/projections.h"
#include "k8s/core/v1/types.h"
#include "k8s/informers.h"
#include "kgen/client/connection.h"

namespace kgen::bench {
namespace {

using k8s::core::v1::Pod;
using namespace std::chrono_literals;

constexpr char kVersion[] = "7000000";
constexpr std::size_t kPods = 10'000;
constexpr std::size_t kFewPods = 1'000;  // the two sizes whose difference is the cost of a pod
constexpr std::size_t kMorePods = 3'000;

// ---------------------------------------------------------------------------------------------- prepared bytes

// Which requests the informer makes, and the encoding of the responses.
struct Form {
  bool streaming = false;
  bool protobuf = false;
};

std::string BytesOf(const std::vector<std::string>& pods, Form form) {
  if (form.protobuf) return form.streaming ? AsProtobufEvents(pods, kVersion) : AsProtobufList(pods, kVersion);
  return form.streaming ? AsEvents(pods) : AsArray(pods);
}

// Returns the pod in a later state: with another version, and another second in its status.
std::string Changed(std::string pod) {
  constexpr std::string_view kVersion = R"("resourceVersion":")";
  constexpr std::string_view kTime = R"("startTime":"2024-01-01T00:00:0)";
  pod.insert(pod.find(kVersion) + kVersion.size(), "9");
  char& second = pod.at(pod.find(kTime.substr(0, 13)) + kTime.size());
  second = second == '9' ? '0' : static_cast<char>(second + 1);
  return pod;
}

std::string WithEveryTenthChanged(std::vector<std::string> pods) {
  for (std::size_t i = 0; i < pods.size(); i += 10) pods[i] = Changed(std::move(pods[i]));
  return AsArray(pods);
}

// ------------------------------------------------------------------------------------------------ in the child

// A running informer of pods, whole or projected, over a ScriptedTransport. Never destroyed, since destruction is not
// measured.
template <typename T>
struct PodInformer {
  Shared<Executor> executor = Must(MakeThreadPool({.threads = 2}));
  Shared<ScriptedTransport> transport = MakeShared<ScriptedTransport>();
  std::unique_ptr<k8s::SharedInformerFactory> factory;
  Registration registration;
  std::size_t received = 0;  // by the handler

  void Start(bool streaming, bool drop_managed_fields = false) {
    const Connection connection = Connection::Over({.transport = transport, .executor = executor});
    FactoryOptions options;
    options.defaults.streaming_list = streaming;
    options.defaults.drop_managed_fields = drop_managed_fields;
    factory = std::make_unique<k8s::SharedInformerFactory>(connection, std::move(options));
    registration = Pods().AddEventHandler({
        .on_add = [this](const Added<T>&) { ++received; },
        .on_update = [this](const Updated<T>&) { ++received; },
        .on_delete = [this](const Deleted<T>&) { ++received; },
    });
    factory->Start();
  }

  SharedInformer<T> Pods() const { return PodsOf<T>(*factory); }

  Result<void> WaitForSync() const { return factory->WaitForCacheSync({}, {.handlers = {&registration}}); }

  // Waits until the store has that version, the handler has received everything and the next watch is open.
  Result<void> WaitForVersion(std::string_view version, int watches) const {
    const Shared<Waiter> waiter = executor->MakeWaiter("relist");
    const TimePoint give_up = executor->clock()->Now() + 20s;
    while (Pods().Indexer().Snapshot().version() != version || registration.Backlog() != 0 ||
           transport->watches() < watches) {
      if (executor->clock()->Now() > give_up)
        return Fail(Code::kTimeout, "the relist did not come; the informer is " + State());
      (void)waiter->Wait({}, executor->clock()->Now() + 5ms);
    }
    (void)waiter->Wait({}, executor->clock()->Now() + 100ms);  // until the last task has been destroyed
    return {};
  }

  std::string State() const {
    const cache::InformerStatus now = Pods().status();
    std::string text(ToString(now.state));
    text += " at " + now.resource_version + " after " + std::to_string(now.lists) + " lists and " +
            std::to_string(now.watches) +
            " watches; waiting for the handler: " + std::to_string(registration.Backlog());
    return now.last_error ? text + "; " + now.last_error->ToString() : text;
  }

  // Makes the server forget the version of the watch, so that a new list is needed.
  Result<void> Relist(const std::string& version, std::string_view items) {
    const int watches = transport->watches();
    transport->SetList("Pod", version, items);
    transport->SendExpired();
    return WaitForVersion(version, watches + 1);
  }
};

// Arguments: a file with the bytes of a list or of a streaming list, then words: `streaming`, `protobuf`, `dropping` to
// drop managedFields, and `counted` to count heap use, which costs instructions.
template <typename T>
Result<Figures> SyncOnce(const std::vector<std::string>& arguments) {
  const auto is = [&](std::string_view word) { return std::ranges::find(arguments, word) != arguments.end(); };
  Result<MappedItems> bytes = MappedItems::Open(arguments.at(0));
  if (!bytes) return Fail(std::move(bytes).error());
  auto* informer = new PodInformer<T>();
  if (is("protobuf")) {
    informer->transport->SetProtobuf(bytes->text(), bytes->text());
  } else {
    informer->transport->SetList("Pod", kVersion, bytes->text(), bytes->text());
  }
  if (is("counted")) Heap::StartCounting();
  informer->Start(is("streaming"), is("dropping"));
  if (Result<void> synced = informer->WaitForSync(); !synced) return Fail(std::move(synced).error());
  const std::size_t size = informer->Pods().Indexer().Snapshot().size();
  if (informer->received != size) return Fail(Code::kInternal, "the handler did not receive every pod");
  if (const auto error = informer->Pods().status().last_error) return Fail(*error);
  if (is("counted")) {
    if (Result<void> quiet = informer->WaitForVersion(kVersion, 1); !quiet) return Fail(std::move(quiet).error());
  }
  return Figures{{"heap", static_cast<double>(Heap::Live())},
                 {"allocations", static_cast<double>(Heap::Allocations())}};
}

// Arguments: a file of items, and the same with every tenth one changed.
Result<Figures> Relists(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  Result<MappedItems> changed = MappedItems::Open(arguments.at(1));
  if (!items || !changed) return Fail(Code::kNotFound, "no prepared lists");
  auto* informer = new PodInformer<Pod>();
  informer->transport->SetList("Pod", kVersion, items->text());
  Heap::StartCounting();
  informer->Start(false);
  if (Result<void> synced = informer->WaitForSync(); !synced) return Fail(std::move(synced).error());
  if (Result<void> quiet = informer->WaitForVersion(kVersion, 1); !quiet) return Fail(std::move(quiet).error());

  Figures figures;
  for (const auto& [name, version, text] :
       {std::tuple{"unchanged", "7000001", items->text()}, std::tuple{"changed", "7000002", changed->text()}}) {
    const std::int64_t before = Heap::Live();
    Heap::ResetPeak();
    if (Result<void> done = informer->Relist(version, text); !done) return Fail(std::move(done).error());
    figures[name] = static_cast<double>(Heap::Peak()) / static_cast<double>(before);
  }
  return figures;
}

// ----------------------------------------------------------------------------------------------- in the parent

std::vector<std::string> ArgumentsOf(const std::string& file, Form form) {
  std::vector<std::string> arguments{file};
  if (form.streaming) arguments.emplace_back("streaming");
  if (form.protobuf) arguments.emplace_back("protobuf");
  return arguments;
}

Result<double> InstructionsPerPod(const std::string& child, Form form) {
  const TemporaryFolder folder;
  double instructions[2] = {};
  for (const std::size_t count : {kFewPods, kMorePods}) {
    const std::string file = folder.Write("pods", BytesOf(ReferencePods(count), form));
    Result<double> total = InstructionsOfChild(child, ArgumentsOf(file, form));
    if (!total) return total;
    instructions[count == kMorePods] = *total;
  }
  return (instructions[1] - instructions[0]) / static_cast<double>(kMorePods - kFewPods);
}

// Returns "heap" or "allocations" of a pod. Measured once for each child and form.
Result<double> HeapFigure(const std::string& child, Form form, const std::string& name, bool dropping = false) {
  static std::map<std::vector<std::string>, Result<Figures>> measured;
  std::vector<std::string> arguments = ArgumentsOf(child, form);
  arguments.emplace_back("counted");
  if (dropping) arguments.emplace_back("dropping");
  auto found = measured.find(arguments);
  if (found == measured.end()) {
    const TemporaryFolder folder;
    const std::vector<std::string> key = arguments;
    arguments[0] = folder.Write("pods", BytesOf(ReferencePods(kPods), form));
    found = measured.emplace(key, RunChild(child, arguments)).first;
  }
  if (!found->second) return Fail(found->second.error());
  return found->second->at(name) / static_cast<double>(kPods);
}

// Returns the largest heap during a relist, divided by the heap before. Measured once, for both rows.
Result<double> RelistPeak(const std::string& name) {
  static const Result<Figures> kFigures = [] {
    const TemporaryFolder folder;
    const std::vector<std::string> pods = ReferencePods(kPods);
    return RunChild("relists",
                    {folder.Write("pods", AsArray(pods)), folder.Write("changed", WithEveryTenthChanged(pods))});
  }();
  if (!kFigures) return Fail(kFigures.error());
  return kFigures->at(name);
}

}  // namespace

void AddFirstSyncRows(Budget& budget) {
  budget.Add(Child{"first_sync", SyncOnce<Pod>});
  budget.Add(Child{"projected_sync", SyncOnce<bench_parts::PodEntry>});
  budget.Add(Child{"relists", Relists});
  const auto instructions = [&](std::string name, double limit, const char* child, Form form) {
    budget.Add(Row{std::move(name), limit, "instructions/pod", [=] { return InstructionsPerPod(child, form); }});
  };
  const auto allocations = [&](std::string name, double limit, const char* child, Form form) {
    budget.Add(Row{std::move(name), limit, "allocations/pod", [=] { return HeapFigure(child, form, "allocations"); }});
  };
  const auto heap = [&](std::string name, double limit, const char* child, Form form, bool dropping = false) {
    budget.Add(Row{std::move(name), limit, "bytes/pod", [=] { return HeapFigure(child, form, "heap", dropping); }});
  };
  const Form json, streaming{.streaming = true}, protobuf{.protobuf = true},
      protobuf_streaming{.streaming = true, .protobuf = true};
  instructions("first_sync_instructions", 132'500, "first_sync", json);
  instructions("streaming_sync_instructions", 134'800, "first_sync", streaming);
  instructions("protobuf_sync_instructions", 102'200, "first_sync", protobuf);
  instructions("protobuf_streaming_sync_instructions", 104'100, "first_sync", protobuf_streaming);
  instructions("projected_sync_instructions", 66'100, "projected_sync", json);
  instructions("projected_protobuf_sync_instructions", 30'700, "projected_sync", protobuf);
  allocations("first_sync_allocations", 35.2, "first_sync", json);
  allocations("protobuf_sync_allocations", 34.4, "first_sync", protobuf);
  allocations("projected_sync_allocations", 15.5, "projected_sync", json);
  allocations("projected_protobuf_sync_allocations", 14.7, "projected_sync", protobuf);
  heap("first_sync_heap", 6'780, "first_sync", json);
  heap("first_sync_heap_dropping", 5'780, "first_sync", json, true);
  heap("protobuf_sync_heap", 6'800, "first_sync", protobuf);
  heap("projected_sync_heap", 1'020, "projected_sync", json);
  budget.Add(Row{"relist_peak_unchanged", 1.2, "times steady heap", [] { return RelistPeak("unchanged"); }});
  budget.Add(Row{"relist_peak_tenth_changed", 1.2, "times steady heap", [] { return RelistPeak("changed"); }});
}

}  // namespace kgen::bench
