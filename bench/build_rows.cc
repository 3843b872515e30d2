// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The rows about users' builds: cost of compiling, size of a program, speed of the generator.
//
// The times are budgets, not tests: they are not reliable on a machine that does other work at the same time. A user's
// unit is therefore measured in instructions of the compiler. One second is about 4,400 million of them.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/budget.h"
#include "bench/process.h"

namespace kgen::bench {
namespace {

namespace fs = std::filesystem;

// Standard headers that programs include themselves.
constexpr char kStandardHeaders[] = R"(#include <chrono>
#include <expected>
#include <functional>
#include <stop_token>
#include <string>
)";

// A user's unit with informers and types.
constexpr char kWatch[] = R"(#include "k8s/core/v1/types.h"
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
constexpr char kClientset[] = "#include \"k8s/clientset.h\"\n";

constexpr int kRuns = 7;
constexpr char kRuntimeHeaders[] = "-I" KGEN_BENCH_SOURCE_DIR "/runtime/include";
constexpr char kGeneratedHeaders[] = "-I" KGEN_BENCH_SOURCE_DIR "/generated";

// Returns how many million instructions the compiler executes for a source.
Result<double> CompileInstructions(const std::string& text) {
  const TemporaryFolder folder;
  const std::string source = folder.Write("unit.cc", text);
  const Result<Finished> finished = RunWell(
      {"valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--trace-children=yes",
       KGEN_BENCH_CXX, "-std=c++23", "-O0", kRuntimeHeaders, kGeneratedHeaders, "-S", source, "-o", "/dev/null"});
  if (!finished) return Fail(finished.error());
  // "==12345== I   refs:      1,212,345,678", for the driver and for the compiler itself.
  constexpr std::string_view kTotal = "refs:";
  const std::string& output = finished->output;
  double sum = 0;
  for (std::size_t at = output.find(kTotal); at != std::string::npos; at = output.find(kTotal, at)) {
    at += kTotal.size();
    std::string digits = output.substr(at, output.find('\n', at) - at);
    std::erase(digits, ',');
    sum += std::stod(digits);
  }
  if (sum == 0) return Fail(Code::kInternal, "cachegrind printed no total");
  return sum / 1e6;
}

// What the unit costs more than the standard headers that it includes itself.
Result<double> CompileTypesAndFactory() {
  const Result<double> without = CompileInstructions(kStandardHeaders);
  if (!without) return without;
  const Result<double> with = CompileInstructions(std::string(kStandardHeaders) + kWatch);
  if (!with) return with;
  return *with - *without;
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

Result<double> Megabytes(const char* program) {
  std::error_code error;
  const auto size = fs::file_size(program, error);
  if (error) return Fail(Code::kNotFound, std::string("no program ") + program);
  return static_cast<double>(size) / 1e6;
}

std::vector<std::string> GenerateCommand(const std::string& out) {
  std::vector<std::string> command{KGEN_BENCH_TOOL, "generate", "--out", out, "--namespace", "k8s", "--split-by-group"};
  std::vector<std::string> documents;
  for (const auto& entry : fs::directory_iterator(KGEN_BENCH_SOURCE_DIR "/openapi/kubernetes-1.36")) {
    if (entry.is_regular_file()) documents.push_back(entry.path().string());
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
  budget.Add(Row{"compile_pod_and_factory", 1550, "M instructions more", CompileTypesAndFactory});
  budget.Add(Row{"compile_unit", 3590, "M instructions", [] { return CompileInstructions(kWatch); }});
  budget.Add(Row{"compile_unit_with_clientset", 3880, "M instructions",
                 [] { return CompileInstructions(std::string(kClientset) + kWatch); }});
  budget.Add(Row{"compile_kubernetes", 15, "s (CPU)", CompileKubernetes});
  budget.Add(Row{"static_pod_watcher", 7, "MB", [] { return Megabytes(KGEN_BENCH_WATCHER "_static"); }});
  budget.Add(Row{"shared_pod_watcher", 2.15, "MB", [] { return Megabytes(KGEN_BENCH_WATCHER "_shared"); }});
  budget.Add(Row{"generate_builtin_api", 1, "s", [] { return Generate(false); }});
  budget.Add(Row{"generate_unchanged", 0.2, "s", [] { return Generate(true); }});
}

}  // namespace kgen::bench
