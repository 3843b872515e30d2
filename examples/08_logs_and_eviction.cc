// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 08: logs, eviction and an asynchronous call. Reads the end of each worker's log, evicts the worker that reports that
// it is stuck, and follows the log of another one.
#include <gtest/gtest.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/policy/v1/types.h>
#include <kgen/client/async_client.h>
#include <kgen/client/subresources.h>
#include <kgen/testing/cluster.h>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

using k8s::core::v1::Pod;
using k8s::core::v1::PodsClient;
using std::chrono_literals::operator""min;

namespace {

// Blocks until the log ends, and returns its lines.
std::vector<std::string> Follow(const PodsClient& pods, const std::string& name) {
  std::vector<std::string> lines;
  auto log = kgen::Must(kgen::StreamLogs(pods, name, {.follow = true}));
  auto line = log.Next();  // blocks until the container has written one
  for (; line; line = log.Next()) lines.push_back(*line);
  if (line.error().code() != kgen::Code::kStopped) std::cerr << line.error() << '\n';
  return lines;
}

// While a PodDisruptionBudget forbids the eviction, the server may name the time of the next attempt, and the call
// waits for it. The asynchronous form needs no thread during that time.
kgen::Result<void> EvictWithin(const PodsClient& pods, const std::string& name, kgen::Nanos limit) {
  kgen::Result<void> evicted;
  const auto done = pods.connection().executor().MakeWaiter("the eviction of " + name);
  kgen::Evict(pods.Async(), name, {},
              [&](kgen::Result<void> result) {  // on a thread of the executor, and must not block
                evicted = std::move(result);
                done->Notify();
              },
              {.timeout = limit});
  // The calling thread is free to start more evictions here.
  kgen::Must(done->Wait());
  return evicted;
}

TEST(LogsAndEvictionExample, EvictsTheWorkerThatIsStuck) {
  kgen::testing::Cluster cluster({.seed = 1});
  const PodsClient pods = k8s::Clientset(cluster.Connection()).CoreV1().Pods("default");
  for (const char* name : {"worker-0", "worker-1"}) kgen::Must(cluster.Add(kgen::testing::MinimalPod("default", name)));
  cluster.SetLog("default", "worker-0", "started\nready\n");
  cluster.SetLog("default", "worker-1", "started\nwaits for a lock for 60 s\n");

  std::vector<std::string> stuck;
  for (const Pod& pod : kgen::Must(pods.List())) {
    const std::string end = kgen::Must(kgen::Logs(pods, pod.metadata.name, {.tail_lines = 1}));
    if (end.starts_with("waits for a lock")) stuck.push_back(pod.metadata.name.str());
  }
  ASSERT_EQ(stuck, std::vector<std::string>{"worker-1"});

  const kgen::Result<void> evicted = EvictWithin(pods, stuck.front(), 5min);
  EXPECT_TRUE(evicted) << evicted.error();
  EXPECT_EQ(pods.Get("worker-1").error().code(), kgen::Code::kNotFound);
  EXPECT_EQ(Follow(pods, "worker-0"), (std::vector<std::string>{"started", "ready"}));
}

}  // namespace
