// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The rows about users' builds: compile time, size of a static program, speed of the generator.
//
// The times are budgets, not tests: they are not reliable on a machine that does other work at the same time. The
// compile times are measured in CPU seconds, which other work affects least.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/budget.h"
#include "bench/process.h"

namespace kgen::bench {
namespace {

namespace fs = std::filesystem;

// The standard headers that every user of std::string, expected, stop tokens, times and functions compiles.
constexpr char kBaseline[] = R"(#include <chrono>
#include <expected>
#include <functional>
#include <stop_token>
#include <string>

int main() { return 0; }
)";

constexpr char kUser[] = R"(#include <chrono>
#include <expected>
#include <functional>
#include <stop_token>
#include <string>

#include "k8s/core/v1/types.h"
#include "k8s/informers.h"

using k8s::core::v1::Pod;

int Watch(const kgen::Connection& connection, std::stop_token stop) {
  k8s::SharedInformerFactory factory(connection);
  auto pods = factory.Core().V1().Pods();
  int running = 0;
  auto registration = pods.Informer().AddEventHandler({
      .on_add = [&](const kgen::Added<Pod>& e) { running += e.now->status->phase == "Running"; },
      .on_update = [&](const kgen::Updated<Pod>& e) { running += e.now->metadata.name != e.before->metadata.name; },
      .on_delete = [&](const kgen::Deleted<Pod>&) { --running; },
  });
  factory.Start(stop);
  if (!factory.WaitForCacheSync(stop)) return -1;
  if (auto pod = pods.Lister().Pods("default").Get("web-0")) running += pod->spec->nodeName == "n1";
  return running;
}
)";

constexpr int kRuns = 7;
constexpr char kRuntimeHeaders[] = "-I" KGEN_BENCH_SOURCE_DIR "/runtime/include";
constexpr char kGeneratedHeaders[] = "-I" KGEN_BENCH_SOURCE_DIR "/generated";

Result<double> CompileSeconds(const std::string& source, const std::string& object) {
  Result<Finished> finished =
      RunWell({KGEN_BENCH_CXX, "-std=c++23", "-O0", kRuntimeHeaders, kGeneratedHeaders, "-c", source, "-o", object});
  if (!finished) return Fail(std::move(finished).error());
  return finished->user_seconds;
}

// Returns how many more user seconds the second file takes than the first. They are compiled alternately, so that load
// affects both alike.
Result<double> CompileTime() {
  const TemporaryFolder folder;
  const std::string baseline = folder.Write("baseline.cc", kBaseline);
  const std::string user = folder.Write("user.cc", kUser);
  std::vector<double> without, with;
  for (int i = 0; i < kRuns; ++i) {
    Result<double> first = CompileSeconds(baseline, folder.path() + "/baseline.o");
    Result<double> second = CompileSeconds(user, folder.path() + "/user.o");
    if (!first || !second) return first ? second : first;
    without.push_back(*first);
    with.push_back(*second);
  }
  return Median(with) - Median(without);
}

// Returns the CPU seconds that the sources of kgen::kubernetes take together, of the run that was disturbed least.
Result<double> CompileKubernetes() {
  const TemporaryFolder folder;
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (const char* source : {KGEN_BENCH_KUBERNETES_SOURCES}) {
      Result<Finished> finished =
          RunWell({KGEN_BENCH_CXX, "-std=c++23", "-O2", "-g1", "-ffunction-sections", "-fdata-sections",
                   kRuntimeHeaders, kGeneratedHeaders, "-c", source, "-o", folder.path() + "/tables.o"});
      if (!finished) return Fail(std::move(finished).error());
      sum += finished->user_seconds + finished->system_seconds;
    }
    if (best == 0 || sum < best) best = sum;
  }
  return best;
}

Result<double> StaticWatcher() {
  std::error_code error;
  const auto size = fs::file_size(KGEN_BENCH_STATIC_WATCHER, error);
  if (error) return Fail(Code::kNotFound, "no program " KGEN_BENCH_STATIC_WATCHER);
  return static_cast<double>(size) / 1e6;
}

std::vector<std::string> GenerateCommand(const std::string& out) {
  std::vector<std::string> command{KGEN_BENCH_TOOL, "generate", "--out", out, "--namespace", "k8s", "--split-by-group"};
  std::vector<std::string> documents;
  for (const auto& entry : fs::directory_iterator(KGEN_BENCH_SOURCE_DIR "/openapi/kubernetes-1.36")) {
    if (entry.path().extension() == ".json") documents.push_back(entry.path().string());
  }
  std::sort(documents.begin(), documents.end());
  command.insert(command.end(), documents.begin(), documents.end());
  return command;
}

// Returns the time of the fastest of several runs, which was disturbed least.
Result<double> Generate(bool unchanged) {
  if (std::string_view(KGEN_BENCH_TOOL).empty()) return Fail(Code::kNotFound, "built without the generator");
  const TemporaryFolder folder;
  const std::string out = folder.path() + "/out";
  double best = 0;
  for (int i = 0; i < kRuns; ++i) {
    const bool first = i == 0;
    if (!unchanged) fs::remove_all(out);
    Result<Finished> finished = RunWell(GenerateCommand(out));
    if (!finished) return Fail(std::move(finished).error());
    if (unchanged && first) continue;  // this run created the files
    if (best == 0 || finished->wall_seconds < best) best = finished->wall_seconds;
  }
  return best;
}

}  // namespace

void AddBuildRows(Budget& budget) {
  budget.Add(Row{"compile_pod_and_factory", 0.35, "s more (user)", CompileTime});
  budget.Add(Row{"compile_kubernetes", 15, "s (CPU)", CompileKubernetes});
  budget.Add(Row{"static_pod_watcher", 6, "MB", StaticWatcher});
  budget.Add(Row{"generate_builtin_api", 1, "s", [] { return Generate(false); }});
  budget.Add(Row{"generate_unchanged", 0.2, "s", [] { return Generate(true); }});
}

}  // namespace kgen::bench
