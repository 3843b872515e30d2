// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reader of the audit log, without a server.
#include "tests/integration/sample_controller/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace kgen::integration {
namespace {

using ::testing::ElementsAre;

// A line of the log: `user` writes `spec` to a Foo, which then has this version.
std::string Line(const std::string& user, const std::string& spec, int version, int code = 200) {
  return R"({"verb": "update", "userAgent": ")" + user + R"(/1", "requestObject": {"spec": ")" + spec +
         R"("}, "objectRef": {"resource": "foos", "namespace": "n", "name": "a"}, "responseStatus": {"code": )" +
         std::to_string(code) + R"(}, "responseObject": {"metadata": {"resourceVersion": ")" + std::to_string(version) +
         "\"}}}\n";
}
std::string Write(const std::string& spec) { return R"(update foos a {"spec":")" + spec + "\"}"; }

std::vector<std::string> Read(const std::string& lines) {
  std::istringstream log(lines);
  return WritesIn(log, "me", "n").objects;
}

TEST(AuditLog, LeavesOutARepetitionThatChangesNothing) {
  EXPECT_THAT(Read(Line("you", "y", 7) + Line("me", "a", 9) + Line("me", "a", 9)), ElementsAre(Write("a")));
  EXPECT_THAT(Read(Line("me", "a", 9) + Line("me", "a", 9, 409) + Line("me", "a", 9)), ElementsAre(Write("a")));
}

TEST(AuditLog, HasARepetitionThatTakesBackAChangeOfAnother) {
  EXPECT_THAT(Read(Line("me", "a", 9) + Line("you", "y", 10) + Line("me", "a", 11)),
              ElementsAre(Write("a"), Write("a")));
}

TEST(AuditLog, TakesALateLineOfAnEarlierWriteForNoChange) {
  EXPECT_THAT(Read(Line("me", "a", 9) + Line("you", "y", 7) + Line("me", "a", 9)), ElementsAre(Write("a")));
}

}  // namespace
}  // namespace kgen::integration
