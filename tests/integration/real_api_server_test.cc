// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The real API server itself: if these fail, failures of other tests may not be the fault of kgen.

#include "tests/integration/real_api_server.h"

#include <gtest/gtest.h>

#include <string>

namespace kgen::integration {
namespace {

class RealApiServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server; run ./dev integration";
  }

  // What a watch of config maps from this version begins with.
  static std::string WatchFrom(const std::string& version) {
    return RealApiServer::Kubectl("get --raw '/api/v1/configmaps?watch=1&timeoutSeconds=1&resourceVersion=" + version +
                                  "'");
  }

  static std::string NewestVersion() {
    const std::string list = RealApiServer::Kubectl("get --raw '/api/v1/configmaps?limit=1'");
    const auto begin = list.find("\"resourceVersion\":\"") + 19;
    return list.substr(begin, list.find('"', begin) - begin);
  }
};

TEST_F(RealApiServerTest, AnswersBothUsersOfItsKubeconfig) {
  EXPECT_EQ(RealApiServer::Kubectl("get --raw /readyz"), "ok");
  EXPECT_EQ(RealApiServer::Kubectl("get --raw /readyz --context certificate"), "ok");
}

TEST_F(RealApiServerTest, KeepsWhatWasWrittenAcrossSigkill) {
  RealApiServer::Kubectl("delete configmap kept");
  ASSERT_NE(RealApiServer::Kubectl("create configmap kept --from-literal=a=b").find("created"), std::string::npos);
  RealApiServer::Kill();
  EXPECT_NE(RealApiServer::Kubectl("get configmap kept").find("refused"), std::string::npos);
  RealApiServer::Start();
  EXPECT_EQ(RealApiServer::Kubectl("get configmap kept -o jsonpath={.data.a}"), "b");
}

TEST_F(RealApiServerTest, DeniesTheReaderEverything) {
  EXPECT_NE(RealApiServer::Kubectl("get configmaps --context reader").find("Forbidden"), std::string::npos);
}

TEST_F(RealApiServerTest, RestoresAnOlderCopyOfItsData) {
  RealApiServer::Kubectl("delete configmap lost");
  RealApiServer::Save();
  ASSERT_NE(RealApiServer::Kubectl("create configmap lost").find("created"), std::string::npos);
  RealApiServer::Restore();
  RealApiServer::Start();
  EXPECT_NE(RealApiServer::Kubectl("get configmap lost").find("NotFound"), std::string::npos);
}

TEST_F(RealApiServerTest, Returns410AfterARestartWithCompaction) {
  RealApiServer::Kubectl("delete configmap later");
  const std::string before = NewestVersion();
  RealApiServer::Kubectl("create configmap later");
  EXPECT_NE(WatchFrom(before).find("\"ADDED\""), std::string::npos);
  RealApiServer::Restart(/*compact=*/true);
  EXPECT_NE(WatchFrom(before).find("\"code\":410"), std::string::npos);
}

TEST_F(RealApiServerTest, Returns410AfterCompactionAloneWhenWatchesGoToEtcd) {
  RealApiServer::RestartWithWatchCache(false);
  RealApiServer::Kubectl("delete configmap direct");
  const std::string before = NewestVersion();
  RealApiServer::Kubectl("create configmap direct");
  RealApiServer::Kubectl("label configmap direct newest=kept");
  RealApiServer::Compact();
  EXPECT_NE(WatchFrom(before).find("\"code\":410"), std::string::npos);
  RealApiServer::RestartWithWatchCache(true);
}

}  // namespace
}  // namespace kgen::integration
