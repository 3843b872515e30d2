// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Calls whose allocations fail while their answer is worked on, one after the other: each ends with an answer or an
// error, and none without either.
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <utility>

#include "kgen/client/resource_client.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/runtime/codec/widget.h"

// ThreadSanitizer has an operator new of its own, in place of this one.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KGEN_TEST_WITHOUT_OWN_NEW 1
#endif
#endif

#ifndef KGEN_TEST_WITHOUT_OWN_NEW
namespace {
// So many more are given to this thread, and then one is not; less than 0: any number.
thread_local std::int64_t until_one_fails = -1;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (until_one_fails >= 0 && until_one_fails-- == 0) throw std::bad_alloc();
  if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace kgen::testing {
namespace {

using widgets::Widget;
using widgets::WidgetList;

constexpr char kWidget[] = R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget","metadata":{"name":"a-name-that-is-long",
  "namespace":"default","labels":{"a-label-that-is-long":"a-value-that-is-long"}}})";

class MemoryTest : public ClientTest {
 protected:
  // Makes the call, lets its answer come, and fails one allocation of the work that follows. Calls are repeated with a
  // later one each time, until none fails. Returns how many ended with an error.
  template <typename T>
  int FailEach(const std::string& body, const std::function<void(Callback<T>)>& call) {
    int errors = 0;
    for (std::int64_t n = 0; n < 2000; ++n) {
      int answers = 0;
      std::optional<Result<T>> kept;  // what goes with an answer takes memory too, which is another story
      transport_->Hold();
      call([&](Result<T> answer) {
        ++answers;
        kept.emplace(std::move(answer));
      });
      executor_->Run();
      transport_->last().Head(200, {{"content-type", "application/json"}});
      if (!body.empty()) transport_->last().Bytes(body);
      if (!body.empty()) transport_->last().End();
      until_one_fails = n;
      executor_->Run();
      const bool failed = std::exchange(until_one_fails, -1) < 0;
      EXPECT_EQ(answers, 1) << "with allocation " << n;
      if (!failed) {
        EXPECT_TRUE(kept && kept->has_value());
        return errors;
      }
      if (answers != 1) return errors;
      errors += kept->has_value() ? 0 : 1;
    }
    ADD_FAILURE() << "it never got through";
    return errors;
  }

  ResourceClient<Widget, WidgetList> widgets_{connection(), "default"};
};

TEST_F(MemoryTest, EndsEveryGetWhateverAllocationFails) {
  EXPECT_GT(FailEach<Widget>(kWidget, [&](Callback<Widget> done) { widgets_.GetAsync("a", std::move(done)); }), 0);
}

TEST_F(MemoryTest, EndsEveryDeletionWhateverAllocationFails) {
  FailEach<void>(kWidget, [&](Callback<void> done) { widgets_.DeleteAsync("a", std::move(done)); });
}

TEST_F(MemoryTest, EndsTheOpeningOfEveryWatchWhateverAllocationFails) {
  FailEach<Watcher<Widget>>("", [&](Callback<Watcher<Widget>> done) { widgets_.WatchAsync(std::move(done)); });
}

}  // namespace
}  // namespace kgen::testing
#endif  // KGEN_TEST_WITHOUT_OWN_NEW
