// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/function.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"

namespace kgen {
namespace {

static_assert(std::is_nothrow_move_constructible_v<UniqueFunction<void()>>);
static_assert(std::is_nothrow_move_assignable_v<UniqueFunction<void()>>);
static_assert(!std::is_copy_constructible_v<UniqueFunction<void()>>);
static_assert(std::is_nothrow_move_constructible_v<Function<void()>>);
static_assert(std::is_nothrow_move_assignable_v<Function<void()>>);
static_assert(std::is_copy_constructible_v<Function<void()>>);

int Twice(int number) { return 2 * number; }

// Counts the objects that are alive. `size` bytes; a move throws, or does not.
template <std::size_t size, bool throws>
class Counted {
 public:
  explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
  Counted(const Counted& other) : alive_(other.alive_) { ++*alive_; }
  Counted(Counted&& other) noexcept(!throws) : alive_(other.alive_) { ++*alive_; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*alive_; }
  const void* operator()() const { return this; }

 private:
  int* alive_;
  std::array<char, size - sizeof(int*)> rest_{};
};
using Small = Counted<3 * sizeof(void*), false>;
using Large = Counted<4 * sizeof(void*), false>;
using ThrowingMove = Counted<2 * sizeof(void*), true>;

template <typename T>
class FunctionObjectTest : public testing::Test {};
using Objects = testing::Types<Small, Large, ThrowingMove>;
TYPED_TEST_SUITE(FunctionObjectTest, Objects);

TYPED_TEST(FunctionObjectTest, LivesUntilTheFunctionIsDestroyedOrReplaced) {
  int alive = 0;
  {
    UniqueFunction<const void*()> function = TypeParam(alive);
    EXPECT_EQ(alive, 1);
    UniqueFunction<const void*()> moved = std::move(function);
    EXPECT_EQ(alive, 1);
    EXPECT_FALSE(function);  // NOLINT(bugprone-use-after-move): a moved-from function is empty
    EXPECT_NE(moved(), nullptr);
    moved = UniqueFunction<const void*()>(TypeParam(alive));
    EXPECT_EQ(alive, 1);
    moved = nullptr;
    EXPECT_EQ(alive, 0);
    moved = TypeParam(alive);
  }
  EXPECT_EQ(alive, 0);
}

TYPED_TEST(FunctionObjectTest, IsCopiedWithTheFunction) {
  int alive = 0;
  {
    const Function<const void*()> function = TypeParam(alive);
    Function<const void*()> copy = function;
    EXPECT_EQ(alive, 2);
    EXPECT_NE(copy(), function());
    copy = function;
    EXPECT_EQ(alive, 2);
    copy = Function<const void*()>();
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

TYPED_TEST(FunctionObjectTest, SurvivesAnAssignmentToItself) {
  int alive = 0;
  Function<const void*()> function = TypeParam(alive);
  Function<const void*()>& same = function;
  function = same;
  ASSERT_TRUE(function);
  EXPECT_NE(function(), nullptr);
  function = std::move(same);
  ASSERT_TRUE(function);
  EXPECT_NE(function(), nullptr);
  EXPECT_EQ(alive, 1);
}

TEST(Function, MovesASmallObjectAndOnlyTheAddressOfALargeOneOrOfOneWhoseMoveMayThrow) {
  int alive = 0;
  UniqueFunction<const void*()> small = Small(alive);
  const void* const before = small();
  UniqueFunction<const void*()> moved = std::move(small);
  EXPECT_NE(moved(), before);
  UniqueFunction<const void*()> large = Large(alive);
  const void* const heap = large();
  moved = std::move(large);
  EXPECT_EQ(moved(), heap);
  UniqueFunction<const void*()> throwing = ThrowingMove(alive);
  const void* const stays = throwing();
  moved = std::move(throwing);
  EXPECT_EQ(moved(), stays);
}

TEST(Function, TakesLambdasPointersAndTheFunctionsOfTheStandardLibrary) {
  UniqueFunction<int(int)> function = Twice;
  EXPECT_EQ(function(2), 4);
  function = [sum = 0](int number) mutable { return sum += number; };
  EXPECT_EQ(function(2) + function(3), 7);
  function = std::function<int(int)>(&Twice);
  EXPECT_EQ(function(3), 6);
#ifdef __cpp_lib_move_only_function
  function = std::move_only_function<int(int)>(&Twice);
  EXPECT_EQ(function(4), 8);
#endif
  function = Function<int(int)>(Twice);
  EXPECT_EQ(function(5), 10);
}

TEST(Function, ConvertsToTheFunctionsOfTheStandardLibrary) {
  const std::function<int(int)> copyable = Function<int(int)>(Twice);
  EXPECT_EQ(copyable(2), 4);
#ifdef __cpp_lib_move_only_function
  std::move_only_function<int(int)> unique = UniqueFunction<int(int)>(Twice);
  EXPECT_EQ(unique(3), 6);
#endif
}

TEST(Function, IsEmptyWhenItIsMadeFromSomethingEmpty) {
  EXPECT_FALSE(UniqueFunction<void()>());
  EXPECT_FALSE(UniqueFunction<void()>(nullptr));
  EXPECT_FALSE(UniqueFunction<void()>(std::function<void()>()));
#ifdef __cpp_lib_move_only_function
  EXPECT_FALSE(UniqueFunction<void()>(std::move_only_function<void()>()));
#endif
  EXPECT_FALSE(UniqueFunction<void()>(Function<void()>()));
  EXPECT_FALSE(UniqueFunction<void()>(static_cast<void (*)()>(nullptr)));
  EXPECT_FALSE(Function<void()>(std::function<void()>()));
  EXPECT_TRUE(Function<void()>() == nullptr);
  EXPECT_TRUE(UniqueFunction<void()>([] {}) != nullptr);
}

TEST(Function, PassesReferencesAndWhatOnlyMoves) {
  UniqueFunction<std::unique_ptr<int>(std::unique_ptr<int>, int&)> function = [](std::unique_ptr<int> own, int& other) {
    other = *own;
    return own;
  };
  int seen = 0;
  EXPECT_EQ(*function(std::make_unique<int>(7), seen), 7);
  EXPECT_EQ(seen, 7);
}

TEST(Function, DropsAResultThatNobodyWantsAndConvertsOneThatIs) {
  int calls = 0;
  UniqueFunction<void()> ignored = [&] { return ++calls; };
  ignored();
  EXPECT_EQ(calls, 1);
  const Function<std::string(std::string_view)> text = [](std::string_view said) { return said.data(); };
  EXPECT_EQ(text("yes"), "yes");
}

TEST(Function, ACopyHasAStateOfItsOwn) {
  const Function<int()> count = [number = 0]() mutable { return ++number; };
  EXPECT_EQ(count(), 1);
  const Function<int()> copy = count;
  EXPECT_EQ(copy(), 2);
  EXPECT_EQ(count(), 2);
}

}  // namespace
}  // namespace kgen
