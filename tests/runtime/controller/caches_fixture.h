// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Caches and a client over the in-memory API server, in virtual time.
#ifndef KGEN_TESTS_RUNTIME_CONTROLLER_CACHES_FIXTURE_H_
#define KGEN_TESTS_RUNTIME_CONTROLLER_CACHES_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <algorithm>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "kgen/client/rest_mapper.h"
#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"
#include "kgen/controller/wait.h"
#include "kgen/core/unstructured.h"
#include "kgen/testing/cluster.h"

namespace kgen::controller {

using k8s::core::v1::ConfigMap;
using k8s::core::v1::Node;
using k8s::core::v1::Pod;

class CachesFixture : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  CachesFixture() : CachesFixture(testing::ClusterOptions()) {}
  explicit CachesFixture(testing::ClusterOptions options) : cluster_(Seeded(std::move(options))) {}

  // The caches of the test, made at the first call. They are started unless `start` is false.
  Caches& Make(CachesOptions options = {}, bool start = true) {
    caches_.emplace(connection_, std::move(options));
    if (start) caches_->Start(stop_.get_token());
    return *caches_;
  }
  CachedClient& MakeClient(CachesOptions options = {}, bool start = true) {
    return client_.emplace(Make(std::move(options), start), "test");
  }
  // Ends everything, and checks that nothing of it is left.
  void ExpectNothingLeft() {
    client_.reset();
    caches_.reset();
    cluster_.RunUntilIdle();
    EXPECT_EQ(cluster_.census().watches, 0u);
    EXPECT_EQ(cluster_.simulation().census().blocking, 0u);
    EXPECT_EQ(cluster_.simulation().census().tasks, 0u);
  }

  static ConfigMap Map(std::string_view name, std::string_view value = "", std::string_view in = "default") {
    ConfigMap map;
    map.metadata.namespace_ = in;
    map.metadata.name = name;
    if (!value.empty()) map.data["value"] = value;
    return map;
  }
  static Pod MakePod(std::string_view name, std::string_view app = "", std::string_view in = "default") {
    Pod pod = testing::MinimalPod(in, name);
    if (!app.empty()) pod.metadata.labels["app"] = app;
    return pod;
  }
  template <typename T>
  static std::vector<std::string> Names(const std::vector<Ref<const T>>& objects) {
    std::vector<std::string> names;
    for (const Ref<const T>& object : objects) names.push_back(object->metadata.name.str());
    std::sort(names.begin(), names.end());
    return names;
  }
  template <typename T>
  static std::vector<std::string> Names(const Result<std::vector<Ref<const T>>>& objects) {
    if (!objects) return {objects.error().ToString()};
    return Names(*objects);
  }
  // The object, or a default one if there is none.
  template <typename T>
  static T Value(const Result<Ref<const T>>& object) {
    if (!object) detail::ThrowError(object.error());
    return *object ? T(**object) : T();
  }
  TimePoint Now() { return cluster_.simulation().clock()->Now(); }
  // The caches do not hear of changes any more.
  void FreezeWatches() {
    cluster_.Inject({.verb = "watch", .times = testing::kAlways, .status = 503, .retry_after_seconds = 1});
    cluster_.CutWatches();
    cluster_.Advance(Nanos(0));
  }

  static testing::ClusterOptions Seeded(testing::ClusterOptions options) {
    options.seed = GetParam();
    return options;
  }

  testing::Cluster cluster_;
  kgen::Connection connection_ = cluster_.Connection();
  std::stop_source stop_;
  std::optional<Caches> caches_;
  std::optional<CachedClient> client_;
};

}  // namespace kgen::controller

#endif  // KGEN_TESTS_RUNTIME_CONTROLLER_CACHES_FIXTURE_H_
