// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SavingPods: an informer of pods with a warm start, over prepared bytes.
#ifndef KGEN_BENCH_SAVING_PODS_H_
#define KGEN_BENCH_SAVING_PODS_H_

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "bench/pod_informer.h"
#include "bench/protobuf_pods.h"
#include "bench/reference_pods.h"
#include "bench/scripted_transport.h"
#include "k8s/informers.h"
#include "kgen/client/connection.h"
#include "kgen/core/observer.h"

namespace kgen::bench {

// Ends the process if the file is refused or cannot be written. The transport has no list of a restart, so the informer
// would try to get one for ever.
struct NeedsSavedCache final : Observer {
  void OnSavedCacheFailed(const SavedCacheFailed& event) override {
    std::fprintf(stderr, "the saved cache in %s %s: %s\n", std::string(event.path).c_str(),
                 event.saving ? "was not written" : "is not used", event.error->ToString().c_str());
    std::_Exit(1);
  }
};

// How long an informer may take to read its file, or to save it. A folder without a file is no failure of a saved
// cache.
constexpr std::chrono::minutes kSavedCacheLimit{2};

constexpr char kSavedVersion[] = "7000000";

// Returns the items of a list of so many reference pods, as SavingPods::List() takes them.
inline std::string SavedItems(std::size_t pods, bool protobuf) {
  return protobuf ? AsProtobufList(ReferencePods(pods), kSavedVersion) : AsArray(ReferencePods(pods));
}

// An informer that saves in that folder. Never destroyed, since destruction is not measured.
template <typename T>
struct SavingPods {
  Shared<Executor> executor;
  Shared<ScriptedTransport> transport = MakeShared<ScriptedTransport>();
  k8s::SharedInformerFactory factory;

  explicit SavingPods(const std::string& folder, Shared<Executor> runs_on = Must(MakeThreadPool({.threads = 2})))
      : executor(std::move(runs_on)),
        factory(
            Connection::Over({.transport = transport, .executor = executor, .observer = MakeShared<NeedsSavedCache>()}),
            {.defaults = {.streaming_list = false,
                          .warm_start = WarmStart{.folder = folder, .save_every = std::chrono::seconds(1)}}}) {}
  // Sets the list of the server; `items` must live until it was sent.
  void List(std::string_view items, bool protobuf) {
    if (protobuf) {
      transport->SetProtobuf(items);
    } else {
      transport->SetList("Pod", kSavedVersion, items);
    }
  }
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
