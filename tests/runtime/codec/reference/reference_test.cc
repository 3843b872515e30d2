// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Pods as servers send them, through the generated types.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/reference_pods.h"
#include "k8s/core/v1/types.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/codec_fixture.h"
#include "tests/support/paths.h"

namespace kgen {
namespace {

using k8s::core::v1::Pod;
using ReferenceTest = CodecTest;

void RemoveNull(nlohmann::json& value) {
  for (auto it = value.begin(); value.is_structured() && it != value.end();) {
    if (it->is_structured()) RemoveNull(*it);
    it = it->is_null() && value.is_object() ? value.erase(it) : std::next(it);
  }
}

// What the server would read: without members that are null, with apiVersion and kind.
nlohmann::json Meaning(const std::string& json) {
  nlohmann::json value = nlohmann::json::parse(json);
  RemoveNull(value);
  value["apiVersion"] = "v1";
  value["kind"] = "Pod";
  return value;
}

// Contract: generator COD-01.
TEST_F(ReferenceTest, APodRoundTrips) {
  ObjectDecoder decoder(Pod::kTable);
  for (const std::string& json : bench::ReferencePods(100)) {
    std::vector<FieldMismatch> mismatches;
    const Pod pod = Must(Decode<Pod>(Exact(json), {.mismatches = &mismatches}));
    EXPECT_TRUE(mismatches.empty());
    const std::string text = Encode(pod);
    EXPECT_EQ(Meaning(text), Meaning(json));
    EXPECT_EQ(Encode(Must(decoder.Decode(Exact(json)))), text);
    EXPECT_EQ(Meaning(Encode(Must(Decode<Unstructured>(json)))), Meaning(json));
  }
  EXPECT_GT(decoder.stats().subtree_hits, 1500u);
}

TEST_F(ReferenceTest, NoMemberOfAPodIsUnknownToTheGeneratedTypes) {
  EXPECT_TRUE(Decode<Pod>(bench::ReferencePods(1)[0], {.strict = true}).has_value());
}

TEST_F(ReferenceTest, TruncatedAndChangedPodsAreRefusedOrKeptAndNothingLeaks) {
  const std::string json = bench::ReferencePods(1)[0];
  ObjectDecoder decoder(Pod::kTable);
  const std::int64_t before = LiveBlocks();
  for (std::size_t size = 0; size < json.size(); size += 7) {
    EXPECT_FALSE(decoder.Decode(Exact(std::string_view(json).substr(0, size))).has_value());
    std::string changed = json;
    changed[size] = static_cast<char>(changed[size] ^ 0x13);
    if (auto pod = decoder.Decode(Exact(changed))) {
      EXPECT_TRUE(nlohmann::json::accept(Encode(*pod))) << size;
    }
  }
  decoder.Sweep();
  EXPECT_EQ(LiveBlocks(), before);
}

// The project's own generator of reference pods makes what the measured script makes, byte for byte.
TEST(ReferencePods, AreThoseThatTheBudgetsWereMeasuredWith) {
  const auto script = test_support::SharedPath("tools/reference_pods.py");
  if (!script) GTEST_SKIP() << "needs inputs from KGEN_SHARED_DIR";
  if (std::system("python3 -c pass > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const std::string path = ::testing::TempDir() + "reference_pods.jsonl";
  ASSERT_EQ(std::system(("python3 '" + *script + "' 60 '" + path + "'").c_str()), 0);
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::remove(path.c_str());
  EXPECT_EQ(bench::ReferencePods(60), lines);
}

}  // namespace
}  // namespace kgen
