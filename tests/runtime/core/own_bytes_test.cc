// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/own_bytes.h"

#include <gtest/gtest.h>

#include <string>

#include "kgen/core/memory.h"
#include "tests/runtime/core/sample.h"

namespace kgen::detail {
namespace {

using sample::Sample;

Sample Big() {
  Sample sample;
  sample.metadata.name = "a-name-that-needs-a-block-of-its-own";
  sample.metadata.labels["a-label-that-needs-a-block"] = std::string(1000, 'x');
  sample.spec->replicas = 3;
  return sample;
}

TEST(OwnBytes, AreWhatIsFreedWithAnObject) {
  const std::int64_t before = GetHeapUse().bytes;
  const AnyRef object = MakeRef(Big());
  const std::int64_t used = GetHeapUse().bytes - before;
  EXPECT_GT(used, 1000);
  EXPECT_NEAR(static_cast<double>(OwnBytes(object)), static_cast<double>(used), 300.0);
  EXPECT_EQ(OwnBytes({}), 0u);
}

TEST(OwnBytes, DoNotIncludeWhatAnotherObjectShares) {
  const AnyRef object = MakeRef(Big());
  const std::size_t alone = OwnBytes(object);
  const Ref<const Sample> sample = object.As<Sample>();
  const String shared = sample->metadata.labels["a-label-that-needs-a-block"];
  EXPECT_LT(OwnBytes(object) + 900, alone);
}

TEST(BytesWithShare, CountsAPartOfWhatSeveralObjectsShare) {
  const AnyRef object = MakeRef(Big());
  const std::size_t alone = BytesWithShare(object);
  EXPECT_EQ(alone, OwnBytes(object));
  const Ref<const Sample> sample = object.As<Sample>();
  const String of_the_informer = sample->metadata.labels["a-label-that-needs-a-block"];
  EXPECT_EQ(BytesWithShare(object), alone);
  const String of_another_object = of_the_informer;
  EXPECT_NEAR(static_cast<double>(BytesWithShare(object)), static_cast<double>(alone) - 520, 30);
  EXPECT_EQ(BytesWithShare({}), 0u);
}

}  // namespace
}  // namespace kgen::detail
