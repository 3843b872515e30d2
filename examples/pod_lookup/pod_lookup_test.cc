// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "pod_lookup.h"

#include <gtest/gtest.h>
#include <kgen/testing/cluster.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace {

using kgen::Must;

class PodLookupTest : public ::testing::Test {
 protected:
  PodLookupTest() { Must(cluster_.Add(Pod("web-0", "Running", "10.0.0.1", "false"))); }

  void Start() { Must(lookup_.Start({})); }
  static std::string Pod(std::string_view name, std::string_view phase, std::string_view ip, std::string_view host) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":")" + std::string(name) +
           R"(","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"rs-1"}]},)" +
           R"("spec":{"nodeName":"n1","hostNetwork":)" + std::string(host) +
           R"(,"containers":[{"name":"c","image":"i"}]},"status":{"phase":")" + std::string(phase) +
           R"(","podIPs":[{"ip":")" + std::string(ip) + R"("}],"containerStatuses":[{"name":"c","image":"i",)" +
           R"("imageID":"","ready":true,"restartCount":0,"containerID":"containerd://)" + std::string(name) +
           R"("}]}})";
  }
  static std::string NameOf(const PodLookup::Entry& pod) { return pod ? pod->metadata.name.str() : "none"; }

  kgen::testing::Cluster cluster_{{.seed = 1}};
  PodLookup lookup_{cluster_.Connection()};
};

TEST_F(PodLookupTest, FindsAPodByWhatIdentifiesIt) {
  Start();
  const PodLookup::Entry pod = lookup_.ByAddress("10.0.0.1");
  EXPECT_EQ(NameOf(pod), "web-0");
  EXPECT_EQ(NameOf(lookup_.ByContainer("containerd://web-0")), "web-0");
  EXPECT_EQ(NameOf(lookup_.ByUid(pod->metadata.uid.view())), "web-0");
  EXPECT_EQ(lookup_.ByOwner("rs-1").size(), 1u);
  EXPECT_EQ(NameOf(lookup_.ByAddress("10.0.0.2")), "none");
}

TEST_F(PodLookupTest, AnAddressBelongsToThePodThatHasItNow) {
  Start();
  Must(cluster_.Update(Pod("web-0", "Succeeded", "10.0.0.1", "false")));
  Must(cluster_.Add(Pod("web-1", "Running", "10.0.0.1", "false")));
  cluster_.RunUntilIdle();
  EXPECT_EQ(NameOf(lookup_.ByAddress("10.0.0.1")), "web-1");
  Must(cluster_.Delete("pods", "shop", "web-1"));
  cluster_.RunUntilIdle();
  EXPECT_EQ(NameOf(lookup_.ByAddress("10.0.0.1")), "none");
}

TEST_F(PodLookupTest, AnAddressOfANodeBelongsToNoPod) {
  Must(cluster_.Add(Pod("proxy", "Running", "192.168.0.9", "true")));
  Start();
  EXPECT_EQ(NameOf(lookup_.ByAddress("192.168.0.9")), "none");
  EXPECT_EQ(NameOf(lookup_.ByContainer("containerd://proxy")), "proxy");
}

TEST_F(PodLookupTest, AnswersFromTheSavedPodsAfterARestartEvenWithoutAServer) {
  std::string folder = ::testing::TempDir() + "pod-lookup-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    PodLookup first(cluster_.Connection(), folder);
    Must(first.Start({}));
    EXPECT_TRUE(first.IsCurrent());
    cluster_.Advance(std::chrono::seconds(11));
  }
  Must(cluster_.Delete("pods", "shop", "web-0"));
  Must(cluster_.Add(Pod("web-1", "Running", "10.0.0.1", "false")));
  cluster_.Inject({.times = kgen::testing::kAlways, .refuse = true});
  PodLookup second(cluster_.Connection(), folder);
  Must(second.Start({}));
  EXPECT_FALSE(second.IsCurrent());
  EXPECT_EQ(NameOf(second.ByAddress("10.0.0.1")), "web-0");
  EXPECT_EQ(second.ByOwner("rs-1").size(), 1u);
  cluster_.ClearFaults();
  cluster_.Advance(std::chrono::minutes(3));
  EXPECT_TRUE(second.IsCurrent());
  EXPECT_EQ(NameOf(second.ByAddress("10.0.0.1")), "web-1");
  std::filesystem::remove_all(folder);
}

}  // namespace
