// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Types of an API document that refer to each other.
#include <gtest/gtest.h>
#include <ring/clientset.h>
#include <ring/ring/v1/types.h>

#include <string>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"

namespace {

using ring::ring::v1::Ring;

// Contract: generator REF-08.
TEST(Ring, CompilesAndRoundTrips) {
  const std::string json =
      R"({"apiVersion":"ring.example.com/v1","kind":"Ring","spec":{"inline":{"third":{"ring":{"spec":{"name":"inner"}}}},)"
      R"("named":{"a":{"first":{"name":"b"}}},"second":{"third":{"first":{"name":"c"}}},"seconds":[{"first":{}}]}})";
  const Ring decoded = kgen::Must(kgen::Decode<Ring>(json));
  EXPECT_EQ(kgen::Encode(decoded), json);
  EXPECT_EQ(decoded.spec->second->third->first->name, "c");
  Ring copy = decoded;
  copy.spec->second->first->second->third->ring->spec->name = "far";
  EXPECT_NE(copy, decoded);
  EXPECT_FALSE(decoded.spec->second->first.has_value());
}

}  // namespace
