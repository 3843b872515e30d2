// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Finalizers of an object, and a controller's own.
#include "kgen/controller/finalizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>

#include <string>
#include <vector>

#include "kgen/controller/terminal_error.h"
#include "kgen/core/unstructured.h"

namespace kgen {
namespace {

using k8s::apps::v1::Deployment;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Time kDeleted = Must(Time::Parse("2024-05-01T10:00:00Z"));

// Contract: controller 173.
TEST(FinalizersTest, SaysWhetherAddingAFinalizerChangedTheObject) {
  Deployment object;
  EXPECT_TRUE(AddFinalizer(object, "a"));
  EXPECT_TRUE(AddFinalizer(object, "b"));
  EXPECT_FALSE(AddFinalizer(object, "a"));
  EXPECT_THAT(object.metadata.finalizers, ElementsAre("a", "b"));
  EXPECT_TRUE(HasFinalizer(object, "b"));
  EXPECT_FALSE(HasFinalizer(object, "c"));
}

// Contract: controller 173.
TEST(FinalizersTest, RemovesEveryEqualFinalizer) {
  Deployment object{.metadata = {.finalizers = {"a", "b", "a"}}};
  EXPECT_TRUE(RemoveFinalizer(object, "a"));
  EXPECT_THAT(object.metadata.finalizers, ElementsAre("b"));
  EXPECT_FALSE(RemoveFinalizer(object, "a"));
}

TEST(FinalizersTest, SaysWhetherAnObjectIsBeingDeleted) {
  EXPECT_FALSE(IsBeingDeleted(Deployment{}));
  EXPECT_TRUE(IsBeingDeleted(Deployment{.metadata = {.deletionTimestamp = kDeleted}}));
}

class FinalizerRegistryTest : public ::testing::Test {
 protected:
  // Registers a finalizer that notes its name and returns `result`.
  void Register(const std::string& name, Result<void> result = {}) {
    Must(finalizers_.Register(name, [this, name, result](Deployment&) {
      called_.push_back(name);
      return result;
    }));
  }

  Finalizers<Deployment> finalizers_;
  std::vector<std::string> called_;
};

// Contract: controller 174.
TEST_F(FinalizerRegistryTest, AddsItsFinalizersToAnObjectThatIsAlive) {
  Register("a");
  Register("b");
  Deployment object{.metadata = {.finalizers = {"other", "b"}}};
  const Finalized done = finalizers_.Run(object);
  EXPECT_TRUE(done.result);
  EXPECT_TRUE(done.updated);
  EXPECT_FALSE(done.status_updated);
  EXPECT_THAT(object.metadata.finalizers, ElementsAre("other", "b", "a"));
  EXPECT_FALSE(finalizers_.Run(object).updated);
  EXPECT_THAT(called_, IsEmpty());
}

// Contract: controller 174.
TEST_F(FinalizerRegistryTest, CleansUpAndRemovesItsFinalizersFromAnObjectThatIsBeingDeleted) {
  Register("b");
  Register("a");
  Register("not there");
  Deployment object{.metadata = {.deletionTimestamp = kDeleted, .finalizers = {"a", "b", "other"}}};
  const Finalized done = finalizers_.Run(object);
  EXPECT_TRUE(done.result);
  EXPECT_TRUE(done.updated);
  EXPECT_THAT(called_, ElementsAre("b", "a"));
  EXPECT_THAT(object.metadata.finalizers, ElementsAre("other"));

  const Finalized again = finalizers_.Run(object);
  EXPECT_FALSE(again.updated);
  EXPECT_THAT(called_, ElementsAre("b", "a"));
}

// Contract: controller 174.
TEST_F(FinalizerRegistryTest, KeepsTheFinalizersOfFunctionsThatFailAndReportsAllErrors) {
  Register("a", Fail(Code::kUnavailable, "no connection"));
  Register("b");
  Register("c", Fail(Code::kForbidden, "not yours"));
  Deployment object{.metadata = {.deletionTimestamp = kDeleted, .finalizers = {"a", "b", "c"}}};
  const Finalized done = finalizers_.Run(object);
  EXPECT_TRUE(done.updated);
  EXPECT_THAT(object.metadata.finalizers, ElementsAre("a", "c"));
  ASSERT_FALSE(done.result);
  EXPECT_EQ(done.result.error().code(), Code::kUnavailable);
  EXPECT_THAT(done.result.error().ToString(),
              AllOf(HasSubstr("finalizer a: no connection"), HasSubstr("finalizer c: not yours")));
}

TEST_F(FinalizerRegistryTest, IsTerminalOnlyIfEveryErrorIs) {
  Register("a", Fail(TerminalError({Code::kInvalid, "never"})));
  Deployment object{.metadata = {.deletionTimestamp = kDeleted, .finalizers = {"a", "b", "c"}}};
  EXPECT_TRUE(IsTerminal(finalizers_.Run(object).result.error()));
  Register("b", Fail(TerminalError({Code::kInvalid, "never"})));
  EXPECT_TRUE(IsTerminal(finalizers_.Run(object).result.error()));
  Register("c", Fail(Code::kUnavailable, "later"));
  EXPECT_FALSE(IsTerminal(finalizers_.Run(object).result.error()));
}

// Contract: controller 174.
TEST_F(FinalizerRegistryTest, SaysWhetherAFunctionChangedTheStatus) {
  Must(finalizers_.Register("a", [](Deployment& object) -> Result<void> {
    object.status->replicas = 0;
    return Fail(Code::kUnavailable, "not yet");
  }));
  Deployment object{.metadata = {.deletionTimestamp = kDeleted, .finalizers = {"a"}}};
  const Finalized done = finalizers_.Run(object);
  EXPECT_FALSE(done.updated);
  EXPECT_TRUE(done.status_updated);
  EXPECT_FALSE(finalizers_.Run(object).status_updated);
}

// Contract: controller 174.
TEST(FinalizersTest, SeesTheStatusOfAnUnstructuredObject) {
  Finalizers<Unstructured> finalizers;
  Must(finalizers.Register("a", [](Unstructured& object) { return object.Set("status.phase", "Gone"); }));
  Unstructured object{.metadata = {.deletionTimestamp = kDeleted, .finalizers = {"b"}}};
  EXPECT_FALSE(finalizers.Run(object).status_updated);
  object.metadata.finalizers.push_back("a");
  const Finalized done = finalizers.Run(object);
  EXPECT_TRUE(done.status_updated);
  EXPECT_TRUE(done.updated);
  EXPECT_THAT(object.metadata.finalizers, ElementsAre("b"));
}

// Contract: controller 174.
TEST_F(FinalizerRegistryTest, RefusesANameTwiceAndAnEmptyOne) {
  Register("a");
  const Result<void> twice = finalizers_.Register("a", [](Deployment&) { return Result<void>(); });
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code(), Code::kAlreadyExists);
  EXPECT_THAT(twice.error().message(), HasSubstr("finalizer a"));
  EXPECT_EQ(finalizers_.Register("", [](Deployment&) { return Result<void>(); }).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(finalizers_.Register("b", nullptr).error().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace kgen
