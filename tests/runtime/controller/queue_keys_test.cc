// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WorkQueue with keys whose copy or text throws.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/controller/work_queue.h"
#include "kgen/testing/simulation.h"

namespace {

// Its next copies throw, or its text.
struct Fragile {
  static inline int copies_that_throw = 0;
  static inline bool text_throws = false;

  explicit Fragile(int n) noexcept : number(n) {}
  Fragile(const Fragile& other) : number(other.number) {
    if (copies_that_throw == 0) return;
    --copies_that_throw;
    throw std::runtime_error("no copy");
  }
  Fragile(Fragile&&) noexcept = default;
  Fragile& operator=(const Fragile&) = delete;
  std::string_view str() const {
    if (text_throws) throw std::runtime_error("no text");
    return "fragile";
  }
  friend bool operator==(const Fragile&, const Fragile&) = default;

  int number;
};

}  // namespace

template <>
struct std::hash<Fragile> {
  std::size_t operator()(const Fragile& key) const noexcept { return std::hash<int>()(key.number); }
};

namespace kgen {
namespace {

class FragileKeyTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    Fragile::copies_that_throw = 0;
    Fragile::text_throws = false;
  }
  void Run() { ASSERT_TRUE(simulation_.RunUntilIdle()); }

  testing::Simulation simulation_{GetParam()};
  struct Told final : Observer {
    void OnReconcileFailed(const ReconcileFailed& e) override { failures.emplace_back(e.key); }
    std::vector<std::string> failures;
  };
  const Shared<Told> told_ = MakeShared<Told>();
  WorkQueue<Fragile> queue_{{.executor = simulation_.executor(), .observer = told_}};
};

TEST_P(FragileKeyTest, KeepsAnItemWhoseCopyThrows) {
  Fragile::copies_that_throw = 1;
  EXPECT_THROW(queue_.Add(Fragile(1)), std::runtime_error);
  EXPECT_EQ(queue_.size(), 0u);
  queue_.Add(Fragile(1));
  Fragile::copies_that_throw = 2;
  EXPECT_THROW(queue_.TryGet(), std::runtime_error);
  EXPECT_EQ(queue_.size(), 1u);
  EXPECT_THROW((void)queue_.Get(), std::runtime_error);
  EXPECT_EQ(queue_.size(), 1u);
  const auto item = queue_.TryGet();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->key.number, 1);
}

TEST_P(FragileKeyTest, PassesAnItemOnWhenTheGetThatWasWokenForItCannotCopyIt) {
  const auto get = [&]() -> Result<int> {
    try {
      Result<WorkQueue<Fragile>::Item> item = queue_.Get();
      if (!item) return Fail(std::move(item).error());
      return item->key.number;
    } catch (const std::runtime_error& thrown) {
      return Fail(Code::kUserCode, thrown.what());
    }
  };
  std::vector<testing::TaskResult<Result<int>>> gets = {simulation_.Spawn(get), simulation_.Spawn(get)};
  Run();
  queue_.Add(Fragile(1));
  Fragile::copies_that_throw = 1;
  Run();
  ASSERT_TRUE(gets[0].done());
  ASSERT_TRUE(gets[1].done()) << "nobody took the item";
  EXPECT_NE(gets[0].result().has_value(), gets[1].result().has_value());
}

TEST_P(FragileKeyTest, RetriesAnItemWhoseTextThrowsAndReportsItsFailure) {
  std::stop_source stop;
  int calls = 0;
  Fragile::text_throws = true;
  const auto processed = simulation_.Spawn([&] {
    return queue_.Process(1, stop.get_token(), [&](const Fragile&) -> Result<void> {
      if (++calls == 1) return Fail(Code::kConflict, "again");
      return {};
    });
  });
  queue_.Add(Fragile(1));
  Run();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(told_->failures, std::vector<std::string>{"a key whose text threw"});
  stop.request_stop();
  Run();
  ASSERT_TRUE(processed.done());
  EXPECT_TRUE(processed.result()) << processed.result();
}

INSTANTIATE_TEST_SUITE_P(Seeds, FragileKeyTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
}  // namespace kgen
