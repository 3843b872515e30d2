// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The first sync of reference pods, and a relist after it: transport, codec and informer process prepared bytes. One
// handler is registered, as in any program.
#include <malloc.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/budget.h"
#include "bench/heap.h"
#include "bench/pod_informer.h"
#include "bench/process.h"
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

constexpr std::size_t kPods = 10'000;
constexpr std::size_t kFewPods = 1'000;  // the two sizes whose difference is the cost of a pod
constexpr std::size_t kMorePods = 3'000;

// ---------------------------------------------------------------------------------------------- prepared bytes

// Returns the pods as a streaming list sends them, with kind and apiVersion in each object.
std::string AsEvents(const std::vector<std::string>& pods) {
  std::string text;
  for (const std::string& pod : pods) {
    text += R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",)" + pod.substr(1) + "}\n";
  }
  return text;
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

  void Start(bool streaming) {
    const Connection connection = Connection::Over({.transport = transport, .executor = executor});
    FactoryOptions options;
    options.defaults.streaming_list = streaming;
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
    transport->Send(
        R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}})"
        "\n");
    return WaitForVersion(version, watches + 1);
  }
};

// Arguments: a file of items or, for a streaming list, of events; and which of the two.
template <typename T>
Result<Figures> SyncOnce(const std::vector<std::string>& arguments) {
  const bool streaming = arguments.at(1) == "stream";
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  if (!items) return Fail(std::move(items).error());
  auto* informer = new PodInformer<T>();
  informer->transport->SetList("Pod", "7000000", items->text(), items->text());
  informer->Start(streaming);
  if (Result<void> synced = informer->WaitForSync(); !synced) return Fail(std::move(synced).error());
  const std::size_t size = informer->Pods().Indexer().Snapshot().size();
  if (informer->received != size) return Fail(Code::kInternal, "the handler did not receive every pod");
  return Figures{{"pods", static_cast<double>(size)}};
}

double InUse() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// Arguments: a file of items, and the same with every tenth one changed.
template <typename T>
Result<Figures> Relists(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(0));
  Result<MappedItems> changed = MappedItems::Open(arguments.at(1));
  if (!items || !changed) return Fail(Code::kNotFound, "no prepared lists");
  auto* informer = new PodInformer<T>();
  informer->transport->SetList("Pod", "7000000", items->text());
  const double in_use = InUse();
  Heap::StartCounting();
  informer->Start(false);
  if (Result<void> synced = informer->WaitForSync(); !synced) return Fail(std::move(synced).error());
  if (Result<void> quiet = informer->WaitForVersion("7000000", 1); !quiet) return Fail(std::move(quiet).error());

  Figures figures;
  figures["first_peak"] = static_cast<double>(Heap::Peak());
  figures["steady"] = static_cast<double>(Heap::Live());
  figures["mallinfo"] = InUse() - in_use;
  figures["pods"] = static_cast<double>(informer->Pods().Indexer().Snapshot().size());
  for (const auto& [name, version, text] :
       {std::tuple{"unchanged", "7000001", items->text()}, std::tuple{"changed", "7000002", changed->text()}}) {
    const std::int64_t before = Heap::Live();
    Heap::ResetPeak();
    if (Result<void> done = informer->Relist(version, text); !done) return Fail(std::move(done).error());
    figures[std::string(name) + "_ratio"] = static_cast<double>(Heap::Peak()) / static_cast<double>(before);
    figures[std::string(name) + "_after"] = static_cast<double>(Heap::Live());
  }
  return figures;
}

// ----------------------------------------------------------------------------------------------- in the parent

Result<double> InstructionsPerPod(const std::string& child, bool streaming) {
  const TemporaryFolder folder;
  double instructions[2] = {};
  for (const std::size_t count : {kFewPods, kMorePods}) {
    const std::vector<std::string> pods = ReferencePods(count);
    const std::string path = folder.Write("pods", streaming ? AsEvents(pods) : AsArray(pods));
    Result<double> total = InstructionsOfChild(child, {path, streaming ? "stream" : "list"});
    if (!total) return total;
    instructions[count == kMorePods] = *total;
  }
  return (instructions[1] - instructions[0]) / static_cast<double>(kMorePods - kFewPods);
}

Result<Figures> FiguresOf(const std::string& child) {
  const TemporaryFolder folder;
  const std::vector<std::string> pods = ReferencePods(kPods);
  return RunChild(child, {folder.Write("pods", AsArray(pods)), folder.Write("changed", WithEveryTenthChanged(pods))});
}

// Measured once, for all rows.
const Result<Figures>& RelistFigures() {
  static const Result<Figures> kFigures = FiguresOf("relists");
  return kFigures;
}

Result<double> ProjectedHeap() {
  Result<Figures> figures = FiguresOf("projected_relists");
  if (!figures) return Fail(std::move(figures).error());
  return (*figures)["steady"] / static_cast<double>(kPods);
}

Result<double> RelistFigure(const std::string& name, double divided_by) {
  const Result<Figures>& figures = RelistFigures();
  if (!figures) return Fail(figures.error());
  const auto found = figures->find(name);
  if (found == figures->end()) return Fail(Code::kInternal, "no figure " + name);
  return found->second / divided_by;
}

}  // namespace

void AddFirstSyncRows(Budget& budget) {
  budget.Add(Child{"first_sync", SyncOnce<Pod>});
  budget.Add(Child{"projected_sync", SyncOnce<bench_parts::PodEntry>});
  budget.Add(Child{"relists", Relists<Pod>});
  budget.Add(Child{"projected_relists", Relists<bench_parts::PodEntry>});
  budget.Add(Row{"first_sync_instructions", 133'000, "instructions/pod",
                 [] { return InstructionsPerPod("first_sync", false); }});
  budget.Add(Row{"projected_sync_instructions", 67'000, "instructions/pod",
                 [] { return InstructionsPerPod("projected_sync", false); }});
  budget.Add(Row{"projected_sync_heap", 1'050, "bytes/pod", ProjectedHeap});
  budget.Add(
      Row{"first_sync_heap", 7'000, "bytes/pod", [] { return RelistFigure("steady", static_cast<double>(kPods)); }});
  budget.Add(Row{"relist_peak_unchanged", 1.2, "times steady heap", [] { return RelistFigure("unchanged_ratio", 1); }});
  budget.Add(
      Row{"relist_peak_tenth_changed", 1.2, "times steady heap", [] { return RelistFigure("changed_ratio", 1); }});
}

}  // namespace kgen::bench
