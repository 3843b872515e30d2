// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SavingPods: an informer of pods with a warm start, over prepared bytes.
#ifndef KGEN_BENCH_SAVING_PODS_H_
#define KGEN_BENCH_SAVING_PODS_H_

#include <chrono>
#include <filesystem>
#include <string>

#include "bench/pod_informer.h"
#include "bench/scripted_transport.h"
#include "k8s/informers.h"
#include "kgen/client/connection.h"

namespace kgen::bench {

// An informer that saves in that folder. Never destroyed, since destruction is not measured.
template <typename T>
struct SavingPods {
  Shared<Executor> executor = Must(MakeThreadPool({.threads = 2}));
  Shared<ScriptedTransport> transport = MakeShared<ScriptedTransport>();
  k8s::SharedInformerFactory factory;

  explicit SavingPods(const std::string& folder)
      : factory(Connection::Over({.transport = transport, .executor = executor, .observer = NullObserver()}),
                {.defaults = {.streaming_list = false,
                              .warm_start = WarmStart{.folder = folder, .save_every = std::chrono::seconds(1)}}}) {}
  SharedInformer<T> Pods() const { return PodsOf<T>(factory); }
};

inline bool HasFile(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".saved") return true;
  }
  return false;
}

// Waits until the folder has the file of a save.
inline void WaitForFile(const std::string& folder, Executor& executor) {
  const Shared<Waiter> waiter = executor.MakeWaiter("the file");
  while (!HasFile(folder)) (void)waiter->Wait({}, executor.clock()->Now() + std::chrono::milliseconds(10));
}

}  // namespace kgen::bench

#endif  // KGEN_BENCH_SAVING_PODS_H_
