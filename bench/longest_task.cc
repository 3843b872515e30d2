// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The longest task on an informer's strand, in CPU time of its thread, with 100,000 and with 1,000,000 small pods:
// lists, relists, an index and a handler that are added late, a resync, a stop, a restored cache. Not a budget:
// tests/runtime/cache/informer_steps_test.cc bounds the number of objects in each task, which does not depend on the
// machine. CPU time is used because the host of a virtual machine may use the processor for something else.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "bench/comparisons.h"
#include "bench/process.h"
#include "bench/saving_pods.h"
#include "bench/scripted_transport.h"
#include "cache/informer.h"
#include "cache/reflector/informer_settings.h"
#include "cache/reflector/list_watch.h"
#include "cache/saved/saved_cache.h"
#include "cache/store/store.h"
#include "k8s/core/v1/types.h"
#include "kgen/cache/shared_informer.h"
#include "kgen/client/connection.h"

namespace kgen::bench {
namespace {

using k8s::core::v1::Pod;
using namespace std::chrono_literals;

double CpuMilliseconds() {
  struct timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Measures the tasks that are posted to the strand of an informer.
class MeasuringExecutor final : public Executor {
 public:
  Shared<Strand> MakeStrand(std::string_view name) override { return inner_->MakeStrand(name); }
  void Post(const Shared<Strand>& strand, Task task) override {
    if (!strand->name().starts_with("informer ")) return inner_->Post(strand, std::move(task));
    inner_->Post(strand, [figures = figures_, task = std::move(task)]() mutable {
      const double start = CpuMilliseconds();
      task();
      task = nullptr;
      const double took = CpuMilliseconds() - start;
      const std::lock_guard lock(figures->mutex);
      figures->longest = std::max(figures->longest, took);
      figures->long_ones += took > 2.0 ? 1 : 0;
      ++figures->tasks;
    });
  }
  void Blocking(std::string name, Task work) override { inner_->Blocking(std::move(name), std::move(work)); }
  void BlockingOn(const Shared<Strand>& strand, Task work) override { inner_->BlockingOn(strand, std::move(work)); }
  void BlockingShort(std::string name, Task work) override { inner_->BlockingShort(std::move(name), std::move(work)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return inner_->MakeWaiter(what); }
  Shared<Clock> clock() noexcept override { return inner_->clock(); }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }

  int tasks() const {
    const std::lock_guard lock(figures_->mutex);
    return figures_->tasks;
  }
  void Print(std::size_t pods, const char* what) {
    const std::lock_guard lock(figures_->mutex);
    std::printf("longest_task %8zu pods  %-34s %8.2f ms of CPU, %d of %d tasks over 2 ms\n", pods, what,
                figures_->longest, figures_->long_ones, figures_->tasks);
    std::fflush(stdout);
    figures_->longest = 0;
    figures_->tasks = figures_->long_ones = 0;
  }

 private:
  struct Figures : SharedObject {
    std::mutex mutex;
    double longest = 0;
    int tasks = 0, long_ones = 0;
  };
  const Shared<Executor> inner_ = Must(MakeThreadPool({.threads = 2}));
  const Shared<Figures> figures_ = MakeShared<Figures>();
};

// Returns small pods with text and members that many of them share, and some that are unique. If `changed`, one in a
// hundred differs.
std::string Items(std::size_t pods, bool changed) {
  std::string text = "[";
  for (std::size_t i = 0; i < pods; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    const bool other = changed && i % 100 == 0;
    text += i == 0 ? "" : ",";
    text += R"({"metadata":{"name":")" + name + R"(","namespace":"namespace-)" + std::to_string(i % 50) +
            R"(","uid":"uid-of-)" + name + R"(","resourceVersion":")" + std::to_string(i + (other ? 5'000'000 : 1)) +
            R"(","labels":{"app":"app-)" + std::to_string(i % 1000) +
            R"("},"annotations":{"example.com/config-hash":")" + std::to_string(i / 2) +
            R"( of a configuration"}},"spec":{"nodeName":"node-)" + std::to_string(i % 5000) +
            R"(","volumes":[{"name":"token","emptyDir":{"sizeLimit":")" + std::to_string(i / 20) + R"("}}]}})";
  }
  return text + "]";
}

void WaitUntilQuiet(MeasuringExecutor& executor) {
  const Shared<Waiter> waiter = executor.MakeWaiter("a quiet strand");
  for (int tasks = -1; tasks != executor.tasks();) {
    tasks = executor.tasks();
    (void)waiter->Wait({}, executor.clock()->Now() + 500ms);
  }
}

// Waits until the store has that version, the handler has received everything and the strand is idle.
void WaitFor(MeasuringExecutor& executor, const cache::Informer& informer, const Registration& registration,
             const std::string& version) {
  const Shared<Waiter> waiter = executor.MakeWaiter("a list");
  const auto pause = [&] { (void)waiter->Wait({}, executor.clock()->Now() + 20ms); };
  while (informer.store()->Snapshot().version() != version || informer.status().resource_version != version) pause();
  while (!registration.HasSynced() || registration.Backlog() != 0) pause();
  WaitUntilQuiet(executor);
}

constexpr std::string_view kExpired =
    R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}})"
    "\n";

struct MeasuredInformer {
  MeasuredInformer(std::size_t count, std::string_view listed, std::optional<cache::SavedSettings> saved = {})
      : pods(count), items(listed) {
    cache::InformerSettings options;
    options.saved = std::move(saved);
    options.streaming_list = false;
    informer = MakeShared<cache::Informer>(connection, cache::MakeListWatch(connection, *Pod::kTable.kind), Pod::kTable,
                                           options);
    (void)informer->AddIndex("node", FieldPath("spec.nodeName"));
    registration = informer->AddEventHandler([](const AnyEvent&) {}, {});
    transport->SetList("Pod", std::to_string(version), items);
    informer->Start({});
    WaitFor(registration);
  }
  MeasuredInformer(const MeasuredInformer&) = delete;
  MeasuredInformer& operator=(const MeasuredInformer&) = delete;
  ~MeasuredInformer() {
    if (informer) informer->Stop();
  }
  void WaitFor(const Registration& handler) { bench::WaitFor(*executor, *informer, handler, std::to_string(version)); }
  void Relist(std::string_view listed) {
    transport->SetList("Pod", std::to_string(++version), listed);
    transport->Send(std::string(kExpired));
  }
  void Print(const char* what) { executor->Print(pods, what); }

  const std::size_t pods;
  const std::string_view items;
  int version = 7'000'000;
  const Shared<MeasuringExecutor> executor = MakeShared<MeasuringExecutor>();
  const Shared<ScriptedTransport> transport = MakeShared<ScriptedTransport>();
  const Connection connection = Connection::Over({.transport = transport, .executor = executor});
  Shared<cache::Informer> informer;
  Registration registration;
};

void MeasureLists(std::size_t pods, std::string_view items, std::string_view changed) {
  MeasuredInformer measured(pods, items);
  measured.Print("first list");
  const auto relist = [&](std::string_view listed, const char* what) {
    measured.Relist(listed);
    measured.WaitFor(measured.registration);
    measured.Print(what);
  };
  relist(items, "relist, nothing changed");
  relist(changed, "relist, a hundredth changed");
  (void)measured.informer->AddIndex(
      "app", [](const AnyRef& pod, IndexSink& sink) { sink.Add(pod.metadata()->labels["app"]); });
  relist(items, "an index added late, and a relist");
  relist("[]", "relist of nothing");
  relist(items, "list again");
  measured.informer->Stop();
  measured.informer = {};
  WaitUntilQuiet(*measured.executor);
  measured.Print("end");
}

void MeasureHandlers(std::size_t pods, std::string_view items) {
  MeasuredInformer measured(pods, items);
  measured.Print("first list");
  const Registration late = measured.informer->AddEventHandler([](const AnyEvent&) {}, {});
  measured.WaitFor(late);
  measured.Print("a late handler");
  std::atomic<std::size_t> received{0};
  const Registration resynced = measured.informer->AddEventHandler(
      [&](const AnyEvent& event) { received += event.reason == Reason::kResync ? 1 : 0; }, {.resync = 5s});
  measured.WaitFor(resynced);
  const Shared<Waiter> waiter = measured.executor->MakeWaiter("a resync");
  while (received < pods) (void)waiter->Wait({}, measured.executor->clock()->Now() + 20ms);
  WaitUntilQuiet(*measured.executor);
  measured.Print("a late handler and a resync");
  measured.Relist(items);
  (void)waiter->Wait({}, measured.executor->clock()->Now() + 300ms);
  measured.informer->Stop();
  WaitUntilQuiet(*measured.executor);
  measured.Print("stop in the middle of a relist");
}

// The server does not say which cluster it is, so a list follows what was restored.
void MeasureRestore(std::size_t pods, std::string_view items) {
  const TemporaryFolder folder;
  const cache::SavedSettings saved{
      .files = cache::MakeSavedFiles(folder.path()), .binding = {.resource = "pods"}, .every = 1s};
  {
    const MeasuredInformer measured(pods, items, saved);
    WaitForFile(folder.path(), *measured.executor);
    measured.informer->Stop();
    Must(measured.informer->Join({}));
  }
  MeasuredInformer measured(pods, items, saved);
  measured.Print("a restored cache, and a list");
}
}  // namespace

void MeasureLongestTasks() {
  for (const std::size_t pods : {100'000, 1'000'000}) {
    const std::string items = Items(pods, false);
    MeasureLists(pods, items, Items(pods, true));
    MeasureHandlers(pods, items);
    MeasureRestore(pods, items);
  }
}

}  // namespace kgen::bench
