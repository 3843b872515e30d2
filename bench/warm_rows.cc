// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The instructions of saving a cache of reference pods, and of a restart from the file until the first read. A
// simulation decides which thread decodes what, so that the counts are the same in each run.
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/budget.h"
#include "bench/callgrind.h"
#include "bench/process.h"
#include "bench/reference_pods.h"
#include "bench/saving_pods.h"
#include "bench_parts/projections.h"
#include "k8s/core/v1/types.h"
#include "kgen/testing/simulation.h"

namespace kgen::bench {
namespace {

using bench_parts::PodEntry;
using k8s::core::v1::Pod;

constexpr std::size_t kPods = 3'000;
constexpr std::uint64_t kSeed = 1;

// ------------------------------------------------------------------------------------------------ in the child

// Arguments of both children: the folder of the saved cache, a file of items, and "protobuf" if they are that.
template <typename T>
Result<Figures> SaveOnce(const std::vector<std::string>& arguments) {
  Result<MappedItems> items = MappedItems::Open(arguments.at(1));
  if (!items) return Fail(std::move(items).error());
  auto* const simulation = new testing::Simulation(kSeed);
  auto* const saving = new SavingPods<T>(arguments.at(0), simulation->executor());
  saving->List(items->text(), arguments.size() > 2);
  (void)saving->Pods();
  saving->factory.Start();
  if (Result<void> synced = saving->factory.WaitForCacheSync({}); !synced) return Fail(std::move(synced).error());
  CALLGRIND_START_INSTRUMENTATION;
  const auto saved = simulation->Advance(std::chrono::seconds(2));
  CALLGRIND_STOP_INSTRUMENTATION;
  if (!saved) return Fail(saved.error());
  if (!HasFile(arguments.at(0))) return Fail(Code::kInternal, "the cache was not saved");
  return Figures{};
}

template <typename T>
Result<Figures> RestoreOnce(const std::vector<std::string>& arguments) {
  auto* const simulation = new testing::Simulation(kSeed);
  auto* const restarted = new SavingPods<T>(arguments.at(0), simulation->executor());
  const auto indexer = restarted->Pods().Indexer();
  CALLGRIND_START_INSTRUMENTATION;
  restarted->factory.Start();
  const Result<void> restored =
      restarted->factory.WaitForCacheSync({}, {.stale = true, .give_up_after = kSavedCacheLimit});
  const auto view = indexer.Snapshot();
  CALLGRIND_STOP_INSTRUMENTATION;
  if (!restored) return Fail(restored.error());
  if (view.size() != kPods) return Fail(Code::kInternal, "not every pod was restored");
  return Figures{};
}

// ----------------------------------------------------------------------------------------------- in the parent

Result<double> PerPod(Result<double> total) {
  if (total) *total /= kPods;
  return total;
}

// The folder of the saved cache, the file of items, and the arguments of a child.
struct Prepared {
  TemporaryFolder folder{}, saved{};
  std::vector<std::string> arguments;

  explicit Prepared(bool protobuf) : arguments{saved.path(), folder.Write("pods", SavedItems(kPods, protobuf))} {
    if (protobuf) arguments.emplace_back("protobuf");
  }
};

Result<double> Saving(const std::string& form, bool protobuf) {
  const Prepared prepared(protobuf);
  return PerPod(InstructionsOfChild("save_" + form, prepared.arguments, Counting::kWhenAsked));
}

Result<double> Restoring(const std::string& form, bool protobuf) {
  const Prepared prepared(protobuf);
  if (Result<Figures> done = RunChild("save_" + form, prepared.arguments); !done) return Fail(std::move(done).error());
  return PerPod(InstructionsOfChild("restore_" + form, prepared.arguments, Counting::kWhenAsked));
}

}  // namespace

void AddWarmRows(Budget& budget) {
  constexpr char kPerPod[] = "instructions/pod";
  budget.Add(Child{"save_whole", SaveOnce<Pod>});
  budget.Add(Child{"save_projected", SaveOnce<PodEntry>});
  budget.Add(Child{"restore_whole", RestoreOnce<Pod>});
  budget.Add(Child{"restore_projected", RestoreOnce<PodEntry>});
  budget.Add(Row{"warm_save_instructions", 112'800, kPerPod, [] { return Saving("whole", false); }});
  budget.Add(Row{"warm_protobuf_save_instructions", 97'500, kPerPod, [] { return Saving("whole", true); }});
  budget.Add(Row{"warm_projected_save_instructions", 12'300, kPerPod, [] { return Saving("projected", false); }});
  budget.Add(Row{"warm_restore_instructions", 117'600, kPerPod, [] { return Restoring("whole", false); }});
  budget.Add(Row{"warm_protobuf_restore_instructions", 99'300, kPerPod, [] { return Restoring("whole", true); }});
  budget.Add(Row{"warm_projected_restore_instructions", 17'100, kPerPod, [] { return Restoring("projected", false); }});
}

}  // namespace kgen::bench
