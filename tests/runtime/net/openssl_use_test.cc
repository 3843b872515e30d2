// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/openssl_use.h"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <future>

#include "kgen/core/executor.h"
#include "net/event_loop.h"

namespace kgen::net {
namespace {

constexpr unsigned kMark = 4321;

// The random generator that OpenSSL keeps for the calling thread. It makes one if it has none.
EVP_RAND_CTX* Generator() { return RAND_get0_public(nullptr); }

void MarkGenerator() {
  unsigned requests = kMark;
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests),
                               OSSL_PARAM_construct_end()};
  ASSERT_EQ(EVP_RAND_CTX_set_params(Generator(), params), 1);
}

bool GeneratorIsMarked() {
  unsigned requests = 0;
  OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_DRBG_PARAM_RESEED_REQUESTS, &requests),
                         OSSL_PARAM_construct_end()};
  EXPECT_EQ(EVP_RAND_CTX_get_params(Generator(), params), 1);
  return requests == kMark;
}

struct Marks {
  bool in_use;     // at the end of the use, within which there was another one
  bool after_use;  // later on the same thread
};

Marks UseAndLook() {
  Marks marks{};
  {
    const OpenSslUse use;
    EXPECT_TRUE(use);
    MarkGenerator();
    {
      const OpenSslUse inner;
    }
    marks.in_use = GeneratorIsMarked();
  }
  const OpenSslUse use;
  marks.after_use = GeneratorIsMarked();
  return marks;
}

TEST(OpenSslUseTest, AThreadOfAnExecutorHasNothingOfOpenSslLeftAfterTheLastUse) {
  const Shared<Executor> executor = Must(MakeThreadPool());
  std::promise<Marks> posted;
  executor->Post(executor->MakeStrand("posted"), [&posted] { posted.set_value(UseAndLook()); });
  std::promise<Marks> blocking;
  executor->Blocking("blocking", [&blocking] { blocking.set_value(UseAndLook()); });
  for (std::promise<Marks>* marks : {&posted, &blocking}) {
    const Marks seen = marks->get_future().get();
    EXPECT_TRUE(seen.in_use);
    EXPECT_FALSE(seen.after_use);
  }
}

TEST(OpenSslUseTest, AnEventLoopAndAThreadOfTheUserKeepTheirGenerators) {
  const Shared<EventLoop> loop = EventLoop::Make();
  std::promise<Marks> marks;
  loop->Post([&marks] { marks.set_value(UseAndLook()); });
  EXPECT_TRUE(marks.get_future().get().after_use);
  loop->Stop();
  EXPECT_TRUE(UseAndLook().after_use);
}

}  // namespace
}  // namespace kgen::net
