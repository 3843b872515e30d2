// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What the programs of docs/guides run on in their tests: an API server in memory, and a manager.
#ifndef KGEN_TESTS_DOCS_GUIDES_GUIDE_H_
#define KGEN_TESTS_DOCS_GUIDES_GUIDE_H_

#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>

#include <stop_token>
#include <string_view>

#include "kgen/controller/manager.h"
#include "kgen/testing/cluster.h"

namespace guides {

class Guide : public ::testing::Test {
 protected:
  ~Guide() override { Stop(); }
  // Runs the manager until the test ends.
  void Run() {
    running_ = cluster_.simulation().Spawn([this] { return manager_.Run(stop_.get_token()); });
    started_ = true;
    cluster_.RunUntilIdle();
  }
  void Stop() {
    if (!started_) return;
    started_ = false;
    stop_.request_stop();
    cluster_.RunUntilIdle();
    EXPECT_TRUE(running_.done() && running_.result()) << "the manager has not ended well";
  }
  static k8s::core::v1::Pod PodOn(std::string_view node, std::string_view name, std::string_view image) {
    k8s::core::v1::Pod pod = kgen::testing::MinimalPod("default", name);
    pod.spec->nodeName = node;
    pod.spec->containers[0].image = image;
    return pod;
  }

  kgen::testing::Cluster cluster_{{.seed = 1, .observer = kgen::NullObserver()}};
  kgen::Manager manager_ = kgen::Must(kgen::Manager::New(cluster_.Connection(), {.name = "guide"}));
  std::stop_source stop_;

 private:
  bool started_ = false;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};

}  // namespace guides

#endif  // KGEN_TESTS_DOCS_GUIDES_GUIDE_H_
