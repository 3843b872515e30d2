// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// 07: any kind. Applies a file, reads and changes one of its objects without generated code, and converts it into the
// generated type.
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <kgen/client/apply.h>
#include <kgen/client/dynamic_client.h>
#include <kgen/codec/convert.h>
#include <kgen/testing/cluster.h>

#include <fstream>
#include <iostream>
#include <string>

using k8s::core::v1::ConfigMap;

namespace {

TEST(AnyKindExample, AppliesAFileAndChangesWhatIsInIt) {
  kgen::testing::Cluster cluster({.seed = 1});
  const std::string path = ::testing::TempDir() + "shop.yaml";
  std::ofstream(path) << R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: shop}
data: {currency: EUR}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: stock}
data: {teapots: "2"}
)";

  // Applies the file as `kubectl apply --server-side -f` does. An error names the file, the line and the object.
  const auto applied = kgen::ApplyFile(cluster.Connection(), path, {.field_manager = "shop-installer"});
  ASSERT_TRUE(applied) << applied.error();
  for (const kgen::AppliedObject& each : *applied) std::cout << "applied " << each << '\n';
  EXPECT_EQ(applied->size(), 2u);

  // A client by kind, and members by path, need no generated code.
  const kgen::DynamicClient dynamic(cluster.Connection());
  const auto maps = kgen::Must(dynamic.ForKind({"", "v1", "ConfigMap"}, "default"));
  kgen::Unstructured stock = kgen::Must(maps.Get("stock"));
  kgen::Must(stock.Set("data.teapots", "3"));
  stock = kgen::Must(maps.Update(stock));

  // Converts the object into the generated type. Members for which that has no place are kept, and listed.
  const auto converted = kgen::Must(kgen::Convert<ConfigMap>(stock));
  for (const kgen::Unplaced& each : converted.unplaced) std::cout << each.path << ": " << each.reason << '\n';
  EXPECT_TRUE(converted.unplaced.empty());
  EXPECT_EQ(converted.value.data["teapots"], "3");
}

}  // namespace
