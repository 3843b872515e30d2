// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The controller with a home cluster and two others in memory, in one virtual time.
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <kgen/client/config.h>
#include <kgen/testing/cluster.h>

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "exports.h"

namespace {

using k8s::core::v1::ConfigMap;
using kgen::Must;

class ExportsTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  ExportsTest() {
    Must(ExportConfigMaps(home_, clusters_));
    Must(home_server_.Add(kgen::testing::MinimalObject("v1", "Namespace", "", kExports)));
    for (const char* const name : {"eu", "us"}) Must(clusters_.Add(name, {.host = name}));
    running_ = home_server_.simulation().Spawn([this] { return home_.Run(stop_.get_token()); });
    home_server_.RunUntilIdle();
  }
  ~ExportsTest() override {
    stop_.request_stop();
    home_server_.RunUntilIdle();
  }

  static ConfigMap Exported(std::string_view name, std::string_view value) {
    ConfigMap map{.metadata = {.name = name, .namespace_ = "default"}, .data = {{"value", value}}};
    map.metadata.labels[kExport] = "true";
    return map;
  }
  std::string ValueAtHome(std::string_view name) {
    const auto copy = home_server_.Get("configmaps", kExports, name);
    return copy ? std::string(Must(kgen::Decode<ConfigMap>(*copy)).data["value"].view()) : "none";
  }

  kgen::testing::Cluster home_server_{{.seed = GetParam(), .observer = kgen::NullObserver()}};
  kgen::testing::Cluster eu_{{.simulation = &home_server_.simulation()}},
      us_{{.simulation = &home_server_.simulation()}};
  const kgen::Manager home_ = Must(kgen::Manager::New(home_server_.Connection(), {.name = "exports"}));
  const kgen::Clusters clusters_ = Must(kgen::Clusters::New(
      home_, {.connect = [this](const kgen::rest::Config& config) -> kgen::Result<kgen::Connection> {
        return (config.host == "eu" ? eu_ : us_).Connection(config.observer);
      }}));
  std::stop_source stop_;
  kgen::testing::TaskResult<kgen::Result<void>> running_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, ExportsTest, ::testing::Range<std::uint64_t>(0, 5));

TEST_P(ExportsTest, CopiesWhatIsExportedFromEachClusterUnderItsName) {
  Must(eu_.Add(Exported("prices", "1")));
  Must(us_.Add(Exported("prices", "2")));
  Must(us_.Add(ConfigMap{.metadata = {.name = "private", .namespace_ = "default"}}));
  home_server_.RunUntilIdle();
  EXPECT_EQ(ValueAtHome("eu.default.prices"), "1");
  EXPECT_EQ(ValueAtHome("us.default.prices"), "2");
  EXPECT_EQ(ValueAtHome("us.default.private"), "none");
  EXPECT_TRUE(eu_.Writes().empty());
}

TEST_P(ExportsTest, DeletesTheCopyWithTheOriginal) {
  Must(eu_.Add(Exported("prices", "1")));
  Must(us_.Add(Exported("prices", "2")));
  home_server_.RunUntilIdle();
  Must(eu_.Delete("configmaps", "default", "prices"));
  home_server_.RunUntilIdle();
  EXPECT_EQ(ValueAtHome("eu.default.prices"), "none");
  EXPECT_EQ(ValueAtHome("us.default.prices"), "2");
}

TEST_P(ExportsTest, GoesOnInOneClusterWhileAnotherIsNotReachable) {
  eu_.Inject({.times = kgen::testing::kAlways, .refuse = true});
  eu_.CutWatches();
  Must(us_.Add(Exported("prices", "2")));
  home_server_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(ValueAtHome("us.default.prices"), "2");
  EXPECT_FALSE(running_.done());
}

}  // namespace
