// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Compares an object that came as JSON with the one that came in protobuf.
#ifndef KGEN_TESTS_INTEGRATION_SAME_OBJECT_H_
#define KGEN_TESTS_INTEGRATION_SAME_OBJECT_H_

#include <iterator>
#include <string_view>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/blocks.h"
#include "kgen/codec/encode.h"
#include "kgen/core/ref.h"

namespace kgen::integration {

// Protobuf has no difference between a list or a map that is nil, which JSON may write as null, and an empty one. The
// zero time, which JSON writes as null too, has one. All members with a time end like this.
inline void RemoveNullLists(nlohmann::json& value) {
  for (auto it = value.begin(); value.is_structured() && it != value.end();) {
    if (it->is_structured()) RemoveNullLists(*it);
    const bool removed =
        value.is_object() && it->is_null() && !it.key().ends_with("Time") && !it.key().ends_with("Timestamp");
    it = removed ? value.erase(it) : std::next(it);
  }
}

// The only objects within an object are the claims of a StatefulSet. Protobuf does not have their apiVersion and kind,
// which JSON has if they were written so.
inline void RemoveTypesOfClaims(nlohmann::json& object) {
  const nlohmann::json::json_pointer claims("/spec/volumeClaimTemplates");
  if (!object.contains(claims)) return;
  for (nlohmann::json& claim : object[claims]) {
    claim.erase("apiVersion");
    claim.erase("kind");
  }
}

inline void ExpectEqual(const AnyRef& expected, const AnyRef& decoded, std::string_view what) {
  if (detail::EqualStruct(expected.object(), decoded.object(), expected.table())) return;
  nlohmann::json a = nlohmann::json::parse(Encode(expected)), b = nlohmann::json::parse(Encode(decoded));
  RemoveNullLists(a);
  RemoveNullLists(b);
  RemoveTypesOfClaims(a);
  EXPECT_EQ(a, b) << what << ": " << nlohmann::json::diff(a, b).dump();
}

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_SAME_OBJECT_H_
