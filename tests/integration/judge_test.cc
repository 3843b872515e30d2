// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The judge itself: without these, a failure of another test could be its fault.

#include "tests/integration/judge.h"

#include <gtest/gtest.h>

#include <string>

namespace kgen::integration {
namespace {

class JudgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Judge::Present()) GTEST_SKIP() << "no API server; run ./dev integration";
  }

  // What a watch of config maps from this version begins with.
  static std::string WatchFrom(const std::string& version) {
    return Judge::Kubectl("get --raw '/api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion=" + version + "'");
  }

  static std::string NewestVersion() {
    const std::string list = Judge::Kubectl("get --raw '/api/v1/configmaps?limit=1'");
    const auto begin = list.find("\"resourceVersion\":\"") + 19;
    return list.substr(begin, list.find('"', begin) - begin);
  }
};

TEST_F(JudgeTest, AnswersBothUsersOfItsKubeconfig) {
  EXPECT_EQ(Judge::Kubectl("get --raw /readyz"), "ok");
  EXPECT_EQ(Judge::Kubectl("get --raw /readyz --context certificate"), "ok");
}

TEST_F(JudgeTest, KeepsWhatWasWrittenAcrossSigkill) {
  Judge::Kubectl("delete configmap kept");
  ASSERT_NE(Judge::Kubectl("create configmap kept --from-literal=a=b").find("created"), std::string::npos);
  Judge::Kill();
  EXPECT_NE(Judge::Kubectl("get configmap kept").find("refused"), std::string::npos);
  Judge::Start();
  EXPECT_EQ(Judge::Kubectl("get configmap kept -o jsonpath={.data.a}"), "b");
}

TEST_F(JudgeTest, DeniesTheReaderEverything) {
  EXPECT_NE(Judge::Kubectl("get configmaps --context reader").find("Forbidden"), std::string::npos);
}

TEST_F(JudgeTest, RestoresAnOlderCopyOfItsData) {
  Judge::Kubectl("delete configmap lost");
  Judge::Save();
  ASSERT_NE(Judge::Kubectl("create configmap lost").find("created"), std::string::npos);
  Judge::Restore();
  Judge::Start();
  EXPECT_NE(Judge::Kubectl("get configmap lost").find("NotFound"), std::string::npos);
}

TEST_F(JudgeTest, Returns410AfterARestartWithCompaction) {
  Judge::Kubectl("delete configmap later");
  const std::string before = NewestVersion();
  Judge::Kubectl("create configmap later");
  EXPECT_NE(WatchFrom(before).find("\"ADDED\""), std::string::npos);
  Judge::Restart(/*compact=*/true);
  EXPECT_NE(WatchFrom(before).find("\"code\":410"), std::string::npos);
}

TEST_F(JudgeTest, Returns410AfterCompactionAloneWhenWatchesGoToEtcd) {
  Judge::RestartWithWatchCache(false);
  Judge::Kubectl("delete configmap direct");
  const std::string before = NewestVersion();
  Judge::Kubectl("create configmap direct");
  Judge::Kubectl("label configmap direct newest=kept");
  Judge::Compact();
  EXPECT_NE(WatchFrom(before).find("\"code\":410"), std::string::npos);
  Judge::RestartWithWatchCache(true);
}

}  // namespace
}  // namespace kgen::integration
