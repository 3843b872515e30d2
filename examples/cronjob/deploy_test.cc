// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The files in deploy/ that programs write are what these programs write now.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/programs/program.h"
#include "tests/support/paths.h"

namespace {

constexpr const char* kFolder = KGEN_OPERATOR_DIR;

std::string Deployed(const std::string& name) {
  return kgen::test_support::ReadFile(std::string(kFolder) + "/deploy/" + name);
}

std::string OutputOf(const std::string& program, const std::vector<std::string>& arguments) {
  // No cluster is configured, and none is asked.
  kgen::test_support::Program process(program, arguments, {"KUBECONFIG=/nowhere"});
  EXPECT_EQ(process.Wait(), 0) << process.errors();
  return process.output();
}

TEST(CronJobOperatorDeployTest, TheRoleIsWhatTheProgramPrints) {
  EXPECT_EQ(Deployed("role.yaml"), OutputOf(KGEN_CRONJOB_OPERATOR, {"--print-role"}));
}

TEST(CronJobOperatorDeployTest, TheRoleOfTheWritesIsWhatTheMarkersSay) {
  const std::string folder = kFolder;
  EXPECT_EQ(Deployed("role_writes.yaml"),
            OutputOf(KGEN_CRD_EXECUTABLE,
                     {"--rbac", "cronjob-operator-writes", "--use", "k8s", "--flags", KGEN_CRONJOB_FLAGS, "--source",
                      folder + "/controller.cc", folder + "/api/cronjob_v1.h", folder + "/api/cronjob_v2.h"}));
}

TEST(CronJobOperatorDeployTest, TheWebhooksAreWhatTheMarkersSay) {
  const std::string folder = kFolder;
  EXPECT_EQ(Deployed("webhooks.yaml"),
            OutputOf(KGEN_CRD_EXECUTABLE,
                     {"--webhooks", "cronjobs/cronjobs", "--webhook-selector",
                      "app.kubernetes.io/name=cronjob-operator", "--use", "k8s", "--flags", KGEN_CRONJOB_FLAGS,
                      "--source", folder + "/webhooks.h", folder + "/api/cronjob_v1.h", folder + "/api/cronjob_v2.h"}));
}

TEST(CronJobOperatorDeployTest, TheCrdIsWhatTheHeadersSay) {
  EXPECT_EQ(Deployed("crd.yaml"), kgen::test_support::ReadFile(KGEN_CRONJOB_CRD));
}

}  // namespace
