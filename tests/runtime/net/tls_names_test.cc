// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Names of certificates, by the rules of Go's crypto/x509: the rows come from its tests, and what they imply.
#include "net/tls_names.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kgen::net {
namespace {

using namespace std::string_view_literals;

TEST(TlsNames, AreComparedAsGoDoesIt) {
  struct Row {
    std::string_view of_certificate, name;
    bool matches;
  };
  constexpr Row kRows[] = {
      {"api.test", "api.test", true},
      {"API.Test", "api.tESt", true},
      {"api.test", "api.test.", true},
      {"api.test.", "api.test", false},
      {"api.test.", "api.test.", true},
      {"api.test", "x.api.test", false},
      {"api.test", ".test", false},
      {"api.test", "test", false},
      {"*.test", "api.test", true},
      {"*.test", "api.test.", true},
      {"*.test", "*.test", true},
      {"*.test", "a.api.test", false},
      {"*.test", "test", false},
      {"*.test", ".test", false},
      {"*.example.com", "www.example.com", true},
      {"*.example.com", "a.b.example.com", false},
      {"w*.example.com", "www.example.com", false},
      {"www.*.com", "www.example.com", false},
      {"*", "api", false},
      {"*", "*", true},
      {"under_score.test", "under_score.test", true},
      {"-a.test", "-a.test", true},
      {"*.test", "-a.test", false},
      {"api.test", "*.test", false},
      {"api.test\0.evil"sv, "api.test", false},
      {"api.test", "api.test\0.evil"sv, false},
      {"", "", false},
      {".", ".", false},
      {"", "a", false},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(NameMatches(row.of_certificate, row.name), row.matches) << row.of_certificate << " for " << row.name;
  }
}

}  // namespace
}  // namespace kgen::net
