// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Secrets: what no error shows.
#include "core/secrets.h"

#include <gtest/gtest.h>

#include <optional>

#include "kgen/core/result.h"

namespace kgen::testing {
namespace {

using detail::Secret;

std::string Shown(std::string text) {
  detail::HideSecrets(text);
  return text;
}

TEST(Secrets, AreHiddenForAsLongAsOneOfThemExists) {
  std::optional<Secret> first("secret-1"), again("secret-1");
  const Secret other("secret-2");
  EXPECT_EQ(Shown("secret-1, secret-2, secret-1"), "(hidden), (hidden), (hidden)");
  first.reset();
  EXPECT_EQ(Shown("secret-1, secret-2"), "(hidden), (hidden)");
  again.reset();
  EXPECT_EQ(Shown("secret-1, secret-2"), "secret-1, (hidden)");
}

TEST(Secrets, AreNoShortWords) {
  const Secret empty(""), word("yes");
  EXPECT_EQ(Shown("yes"), "yes");
}

TEST(Secrets, AreHiddenWhereATextWasCut) {
  const Secret secret("0123456789abcdefghij");
  EXPECT_EQ(Shown("0123456789abcdef... 0123456789abcdefghi and 0123456789abcdefghijk"),
            "(hidden)... (hidden) and (hidden)k");
  EXPECT_EQ(Shown("0123456789abcde"), "0123456789abcde") << "too little of it to be the secret";
}

TEST(Secrets, AreInNoError) {
  const Secret secret("the-secret");
  EXPECT_EQ(Error(Code::kServer, "a the-secret").ToString(), "a (hidden) (ServerError)");
  EXPECT_EQ(Error::NotConnected("a the-secret").message(), "a (hidden)");
}

}  // namespace
}  // namespace kgen::testing
