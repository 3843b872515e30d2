// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The pods that the server of `./dev bench scale` makes as it sends them.
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "bench/replay/made_pods.h"
#include "k8s/core/v1/types.h"
#include "kgen/codec/decode.h"

namespace kgen {
namespace {

using bench::MadePods;
using k8s::core::v1::Pod;

constexpr std::size_t kPods = 1'200;  // more than two namespaces

const MadePods& Pods() {
  static const MadePods kMade(kPods);
  return kMade;
}

Pod FromJson(const MadePods& pods, std::size_t i, const MadePods::State& state) {
  std::string text = "{";
  pods.AppendJson(i, state, text);
  return Must(Decode<Pod>(text + "}"));
}

TEST(MadePodsTest, APodIsTheSameInBothEncodings) {
  const MadePods& pods = Pods();
  for (std::size_t i = 0; i < kPods; i += 7) {
    const MadePods::State updated = {.version = 200'000'000'000'000, .updates = i};
    for (const MadePods::State& state : {MadePods::FirstState(i), updated}) {
      std::string message;
      pods.AppendProtobuf(i, state, message);
      EXPECT_EQ(message.size(), pods.ProtobufSize(i));
      EXPECT_EQ(Must(Decode<Pod>(message, {.encoding = Encoding::kProtobuf})), FromJson(pods, i, state)) << i;
    }
  }
}

TEST(MadePodsTest, EveryPodIsAnotherOneInTheOrderOfLists) {
  const MadePods& pods = Pods();
  std::set<std::string> uids, addresses, sets;
  std::pair<std::string, std::string> before;
  for (std::size_t i = 0; i < kPods; ++i) {
    const Pod pod = FromJson(pods, i, MadePods::FirstState(i));
    const std::pair key(pod.metadata.namespace_.str(), pod.metadata.name.str());
    EXPECT_LT(before, key);
    before = key;
    uids.insert(pod.metadata.uid.str());
    addresses.insert(pod.status->podIP.str());
    sets.insert(pod.metadata.ownerReferences[0].uid.str());
    EXPECT_EQ(pods.Hash(i, ShardBy::kUid), ShardHash(pod.metadata.uid));
    EXPECT_EQ(pods.Hash(i, ShardBy::kNamespace), ShardHash(pod.metadata.namespace_));
  }
  EXPECT_EQ(uids.size(), kPods);
  EXPECT_EQ(addresses.size(), kPods);
  EXPECT_EQ(sets.size(), kPods / 20);
}

TEST(MadePodsTest, AnUpdateChangesTheVersionAndTheStatus) {
  const MadePods& pods = Pods();
  const Pod before = FromJson(pods, 3, {.version = 200'000'000'000'000, .updates = 1});
  const Pod after = FromJson(pods, 3, {.version = 200'000'000'000'001, .updates = 2});
  EXPECT_NE(after.metadata.resourceVersion, before.metadata.resourceVersion);
  EXPECT_NE(after.status->conditions[0].lastTransitionTime, before.status->conditions[0].lastTransitionTime);
  EXPECT_NE(after.status->containerStatuses[1].restartCount, before.status->containerStatuses[1].restartCount);
  EXPECT_EQ(after.metadata.uid, before.metadata.uid);
  EXPECT_EQ(after.spec, before.spec);
}

}  // namespace
}  // namespace kgen
