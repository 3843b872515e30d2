// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The files in deploy/ that programs write are what these programs write now.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/programs/program.h"

namespace {

std::string FileAt(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}
std::string Deployed(const std::string& name) { return FileAt(std::string(KGEN_OPERATOR_DIR) + "/deploy/" + name); }

std::string OutputOf(const std::string& program, const std::vector<std::string>& arguments) {
  // No cluster is configured, and none is asked.
  kgen::test_support::Program process(program, arguments, {"KUBECONFIG=/nowhere"});
  EXPECT_EQ(process.Wait(), 0) << process.errors();
  return process.output();
}

TEST(StoreOperatorDeployTest, TheRoleIsWhatTheProgramPrints) {
  EXPECT_EQ(Deployed("role.yaml"), OutputOf(KGEN_STORE_OPERATOR, {"--print-role"}));
}

TEST(StoreOperatorDeployTest, TheRoleOfTheWritesIsWhatTheMarkersSay) {
  const std::string folder = KGEN_OPERATOR_DIR;
  EXPECT_EQ(Deployed("role_writes.yaml"),
            OutputOf(KGEN_CRD_EXECUTABLE, {"--rbac", "store-operator-writes", "--flags", KGEN_STORE_FLAGS, "--source",
                                           folder + "/controller.cc", folder + "/api/store_v1.h"}));
}

TEST(StoreOperatorDeployTest, TheCrdIsWhatTheHeaderSays) { EXPECT_EQ(Deployed("crd.yaml"), FileAt(KGEN_STORE_CRD)); }

}  // namespace
