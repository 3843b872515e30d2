// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The cost of saving 100,000 reference pods, and of a restart from the file until the first read: whole and projected,
// as they come in protobuf and in JSON. A process of its own measures each figure.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/comparisons.h"
#include "bench/pod_informer.h"
#include "bench/process.h"
#include "bench/reference_pods.h"
#include "bench/saving_pods.h"
#include "bench_parts/projections.h"
#include "k8s/core/v1/types.h"

namespace kgen::bench {
namespace {

using k8s::core::v1::Pod;

constexpr std::size_t kPods = 100'000;
constexpr int kRestarts = 3;

// CPU time of the process so far, and the time of the clock.
struct Spent {
  double cpu = 0;
  TimePoint at{};
};

Spent Now(Executor& executor) {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime), executor.clock()->Now()};
}

void Print(const char* what, std::size_t pods, const Spent& from, const Spent& to) {
  std::printf("%s %zu pods: %.2f s, %.2f s of CPU\n", what, pods,
              std::chrono::duration<double>(to.at - from.at).count(), to.cpu - from.cpu);
}

template <typename T>
void Save(const std::string& folder, bool protobuf) {
  const auto* const items = new std::string(SavedItems(kPods, protobuf));
  auto* const saving = new SavingPods<T>(folder);
  saving->List(*items, protobuf);
  (void)saving->Pods();
  saving->factory.Start();
  Must(saving->factory.WaitForCacheSync({}));
  const Spent synced = Now(*saving->executor);
  WaitForFile(folder, *saving->executor);
  Print("save", saving->Pods().Indexer().Snapshot().size(), synced, Now(*saving->executor));
}

template <typename T>
void Restart(const std::string& folder) {
  auto* const restarted = new SavingPods<T>(folder);
  const auto indexer = restarted->Pods().Indexer();
  const Spent started = Now(*restarted->executor);
  restarted->factory.Start();
  Must(restarted->factory.WaitForCacheSync({}, {.stale = true, .give_up_after = kSavedCacheLimit}));
  const auto view = indexer.Snapshot();
  if (view.Get(view.Keys().front())) Print("restart with", view.size(), started, Now(*restarted->executor));
}

void RunChild(const std::string& what, const std::string& form, const std::string& folder) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const Result<Finished> child = RunWell({program, std::string(kWarmStartFlag), what, form, folder});
  std::printf("%s: %s", form.c_str(), child ? child->output.c_str() : (child.error().ToString() + "\n").c_str());
}

}  // namespace

void MeasureWarmStarts() {
  std::printf("warm_start: reference pods of 9.2 KB\n");
  for (const char* form : {"whole", "projected", "whole-json", "projected-json"}) {
    const TemporaryFolder folder;
    const std::string saved = folder.path() + "/saved";
    RunChild("save", form, saved);
    for (int i = 0; i < kRestarts; ++i) RunChild("restart", form, saved);
  }
}

int WarmStartMain(const std::vector<std::string>& arguments) {
  if (arguments.size() != 3) return 2;
  const bool saves = arguments[0] == "save", whole = arguments[1].starts_with("whole");
  const std::string& folder = arguments[2];
  if (saves) {
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    (whole ? Save<Pod> : Save<bench_parts::PodEntry>)(folder, !arguments[1].ends_with("-json"));
  } else {
    (whole ? Restart<Pod> : Restart<bench_parts::PodEntry>)(folder);
  }
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace kgen::bench
