// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The longest task on an informer's strand, in CPU time of its thread, with 100,000 and with 1,000,000 small pods:
// lists, relists, a late handler and the end. Information, no budget: tests/runtime/cache/informer_steps_test.cc bounds
// the same in objects for each task, which does not depend on the machine.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "bench/comparisons.h"
#include "bench/scripted_transport.h"
#include "k8s/core/v1/types.h"
#include "kgen/cache/informer_core.h"
#include "kgen/cache/list_watch.h"
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

// Measures what is posted to the strand of an informer.
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
  void Blocking(std::string name, Task body) override { inner_->Blocking(std::move(name), std::move(body)); }
  void BlockingOn(const Shared<Strand>& strand, Task body) override { inner_->BlockingOn(strand, std::move(body)); }
  void BlockingShort(std::string name, Task body) override { inner_->BlockingShort(std::move(name), std::move(body)); }
  Shared<Waiter> MakeWaiter(std::string_view what) override { return inner_->MakeWaiter(what); }
  Shared<Clock> clock() noexcept override { return inner_->clock(); }
  bool InPostedTask() const noexcept override { return inner_->InPostedTask(); }

  int tasks() const {
    const std::lock_guard lock(figures_->mutex);
    return figures_->tasks;
  }
  void Print(std::size_t pods, const char* what) {
    const std::lock_guard lock(figures_->mutex);
    std::printf("longest_task %8zu pods  %-28s %8.2f ms, %d of %d tasks over 2 ms\n", pods, what, figures_->longest,
                figures_->long_ones, figures_->tasks);
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
  const Shared<Executor> inner_ = MakeThreadPool({.threads = 2});
  const Shared<Figures> figures_ = MakeShared<Figures>();
};

std::string Items(std::size_t pods, bool changed) {
  std::string text = "[";
  for (std::size_t i = 0; i < pods; ++i) {
    const std::string name = "pod-" + std::to_string(i);
    const bool other = changed && i % 10 == 0;
    text += i == 0 ? "" : ",";
    text += R"({"metadata":{"name":")" + name + R"(","namespace":"namespace-)" + std::to_string(i % 50) +
            R"(","uid":"uid-of-)" + name + R"(","resourceVersion":")" + std::to_string(i + (other ? 5'000'000 : 1)) +
            R"(","labels":{"app":"app-)" + std::to_string(i % 1000) + R"("}},"spec":{"nodeName":"node-)" +
            std::to_string(i % 5000) + R"("}})";
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

// Until the store shows that version, the handler has heard of everything and the strand is quiet.
void WaitFor(MeasuringExecutor& executor, const cache::InformerCore& core, const Registration& registration,
             const std::string& version) {
  const Shared<Waiter> waiter = executor.MakeWaiter("a list");
  const auto pause = [&] { (void)waiter->Wait({}, executor.clock()->Now() + 20ms); };
  while (core.store()->Snapshot().version() != version || core.status().resource_version != version) pause();
  while (!registration.HasSynced() || registration.Backlog() != 0) pause();
  WaitUntilQuiet(executor);
}

void Measure(std::size_t pods) {
  const auto executor = MakeShared<MeasuringExecutor>();
  const auto transport = MakeShared<ScriptedTransport>();
  const Connection connection = Connection::Over({.transport = transport, .executor = executor});
  cache::InformerOptions options;
  options.streaming_list = false;
  auto core = MakeShared<cache::InformerCore>(connection, cache::MakeListWatch(connection, *Pod::kTable.kind, ""),
                                              Pod::kTable, options);
  const auto relist = [&](const std::string& version, std::string_view items) {
    transport->SetList("Pod", version, items);
    transport->Send(
        R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}})"
        "\n");
  };
  (void)core->AddIndex("node", FieldPath("spec.nodeName"));
  const std::string items = Items(pods, false), changed = Items(pods, true);
  Registration registration = core->AddEventHandler([](const AnyEvent&) {}, {});
  transport->SetList("Pod", "7000000", items);
  core->Start({});
  WaitFor(*executor, *core, registration, "7000000");
  executor->Print(pods, "first list");
  relist("7000001", changed);
  WaitFor(*executor, *core, registration, "7000001");
  executor->Print(pods, "relist, a tenth changed");
  const Registration late = core->AddEventHandler([](const AnyEvent&) {}, {});
  WaitFor(*executor, *core, late, "7000001");
  executor->Print(pods, "a late handler");
  relist("7000002", "[]");
  WaitFor(*executor, *core, registration, "7000002");
  executor->Print(pods, "relist of nothing");
  relist("7000003", items);
  WaitFor(*executor, *core, registration, "7000003");
  executor->Print(pods, "list again");
  core = {};
  WaitUntilQuiet(*executor);
  executor->Print(pods, "end");
}

}  // namespace

void MeasureLongestTasks() {
  Measure(100'000);
  Measure(1'000'000);
}

}  // namespace kgen::bench
