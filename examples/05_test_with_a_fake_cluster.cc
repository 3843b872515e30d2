// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 05: a test without a server. Cluster is an API server in memory that runs in virtual time: no sleeps, no races, and
// the same result every time.
#include <gtest/gtest.h>
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>
#include <kgen/testing/cluster.h>

using k8s::core::v1::Pod;
using kgen::testing::Cluster;
using kgen::testing::HasActions;
using kgen::testing::MinimalPod;

TEST(PodCounter, CountsEachPodOnceWhateverHappensToTheWatch) {
  Cluster cluster({.seed = 1});
  kgen::Must(cluster.Add(MinimalPod("default", "old")));
  const k8s::Clientset clientset(cluster.Connection());

  k8s::SharedInformerFactory factory(clientset);
  int added = 0;
  const auto registration =
      factory.Core().V1().Pods().Informer().AddEventHandler({.on_add = [&](const kgen::Added<Pod>&) { ++added; }});
  factory.Start();
  kgen::Must(factory.WaitForCacheSync({}, {.handlers = {&registration}}));  // runs the cluster until it returns
  EXPECT_EQ(added, 1);

  kgen::Must(clientset.CoreV1().Pods("default").Create(MinimalPod("default", "new")));
  cluster.RunUntilIdle();
  EXPECT_EQ(added, 2);

  cluster.CutWatches();  // the informer resumes where it stopped; no handler receives a pod twice
  cluster.RunUntilIdle();
  EXPECT_EQ(added, 2);
  EXPECT_THAT(cluster.Writes(), HasActions({"create pods default/new"}));
}
