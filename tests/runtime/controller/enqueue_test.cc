// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Enqueue, EnqueueOwner and owner references.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <string>
#include <utility>
#include <vector>

#include "kgen/controller/work_queue.h"
#include "kgen/core/unstructured.h"
#include "tests/support/manual_executor.h"

namespace kgen {
namespace {

using k8s::apps::v1::Deployment;
using k8s::apps::v1::ReplicaSet;
using k8s::core::v1::Node;
using k8s::core::v1::Pod;
using meta::v1::OwnerReference;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class EnqueueTest : public ::testing::Test {
 protected:
  using Keys = std::vector<std::pair<std::string, int>>;

  template <typename T>
  static AnyRef Object(std::vector<OwnerReference> owners = {}) {
    T object{.metadata = {.name = "web", .namespace_ = "default"}};
    for (OwnerReference& owner : owners) object.metadata.ownerReferences.push_back(std::move(owner));
    return MakeRef(std::move(object));
  }
  static OwnerReference Owner(std::string_view name, std::string_view kind, std::string_view api_version,
                              bool controller = true) {
    return {.name = name, .apiVersion = api_version, .controller = controller, .kind = kind, .uid = name};
  }
  // What the handler queues for an event: "namespace/name" and the priority.
  template <typename T>
  Keys Queued(EventHandler<T> handler, AnyEvent::Type type, Reason reason, AnyRef before, AnyRef now) {
    AnyHandler erased = detail::EraseHandler(std::move(handler));
    erased({.type = type, .reason = reason, .key = {"default", "web"}, .before = before, .now = now});
    Keys keys;
    while (const auto item = queue_.TryGet()) {
      keys.emplace_back(item->key.str(), item->priority);
      queue_.Done(item->key);
    }
    return keys;
  }
  Keys OwnersOf(OwnerReference owner, Owners which = Owners::kController) {
    return Queued(EnqueueOwner<Pod, ReplicaSet>(queue_, which), AnyEvent::Type::kAdded, Reason::kWatch, {},
                  Object<Pod>({std::move(owner)}));
  }

  RateLimitingQueue queue_{{.executor = MakeShared<testing::ManualExecutor>()}};
};

// Contract: controller 104, 261.
TEST_F(EnqueueTest, QueuesTheKeyOfAnObjectThatWasAddedChangedOrDeleted) {
  const AnyRef pod = Object<Pod>();
  for (const auto type : {AnyEvent::Type::kAdded, AnyEvent::Type::kUpdated, AnyEvent::Type::kDeleted}) {
    EXPECT_THAT(Queued(Enqueue<Pod>(queue_), type, Reason::kWatch, pod, pod), ElementsAre(Pair("default/web", 0)));
  }
  // A deletion whose last state is unknown.
  EXPECT_THAT(Queued(Enqueue<Pod>(queue_), AnyEvent::Type::kDeleted, Reason::kRelist, {}, {}),
              ElementsAre(Pair("default/web", 0)));
}

// Contract: controller 80, 109, 261.
TEST_F(EnqueueTest, GivesTheFirstListAndResyncsALowPriorityAndDeletionsNever) {
  const AnyRef pod = Object<Pod>({Owner("set", "ReplicaSet", "apps/v1")});
  for (const Reason reason : {Reason::kInitial, Reason::kResync}) {
    for (const auto type : {AnyEvent::Type::kAdded, AnyEvent::Type::kUpdated}) {
      EXPECT_THAT(Queued(Enqueue<Pod>(queue_), type, reason, pod, pod), ElementsAre(Pair("default/web", -100)));
      EXPECT_THAT(Queued(EnqueueOwner<Pod, ReplicaSet>(queue_), type, reason, pod, pod),
                  ElementsAre(Pair("default/set", -100)));
    }
    EXPECT_THAT(Queued(Enqueue<Pod>(queue_), AnyEvent::Type::kDeleted, reason, pod, {}),
                ElementsAre(Pair("default/web", 0)));
  }
}

// Contract: controller 108.
TEST_F(EnqueueTest, DoesNothingForAnEventThatTheHandlerHasNoFunctionFor) {
  const AnyRef pod = Object<Pod>();
  for (const auto type : {AnyEvent::Type::kAdded, AnyEvent::Type::kUpdated, AnyEvent::Type::kDeleted}) {
    EXPECT_THAT(Queued(EventHandler<Pod>{}, type, Reason::kWatch, pod, pod), IsEmpty());
    EventHandler<Pod> only_updates = {.on_update = [this](const Updated<Pod>& e) { queue_.Add(e.key); }};
    EXPECT_EQ(Queued(std::move(only_updates), type, Reason::kWatch, pod, pod).size(),
              type == AnyEvent::Type::kUpdated ? 1u : 0u);
  }
}

// Contract: controller 105, 106.
TEST_F(EnqueueTest, QueuesTheOwnerOfAKindWhateverTheVersion) {
  EXPECT_THAT(OwnersOf(Owner("set", "ReplicaSet", "apps/v1beta2")), ElementsAre(Pair("default/set", 0)));
  EXPECT_THAT(OwnersOf(Owner("set", "ReplicaSet", "extensions/v1")), IsEmpty());
  EXPECT_THAT(OwnersOf(Owner("set", "StatefulSet", "apps/v1")), IsEmpty());
  EXPECT_THAT(OwnersOf(Owner("set", "ReplicaSet", "apps/v1/beta")), IsEmpty());  // malformed
}

// Contract: controller 105, 261.
TEST_F(EnqueueTest, QueuesOnlyTheControllerUnlessAllOwnersCount) {
  EXPECT_THAT(OwnersOf(Owner("set", "ReplicaSet", "apps/v1", false)), IsEmpty());
  EXPECT_THAT(OwnersOf(Owner("set", "ReplicaSet", "apps/v1", false), Owners::kAll),
              ElementsAre(Pair("default/set", 0)));
}

// Contract: controller 105.
TEST_F(EnqueueTest, QueuesBothOwnersWhenAnObjectChangesItsOwner) {
  const auto update = [&](std::string_view before, std::string_view now) {
    return Queued(EnqueueOwner<Pod, ReplicaSet>(queue_), AnyEvent::Type::kUpdated, Reason::kWatch,
                  Object<Pod>({Owner(before, "ReplicaSet", "apps/v1")}),
                  Object<Pod>({Owner(now, "ReplicaSet", "apps/v1")}));
  };
  EXPECT_THAT(update("a", "b"), ElementsAre(Pair("default/a", 0), Pair("default/b", 0)));
  EXPECT_THAT(update("a", "a"), ElementsAre(Pair("default/a", 0)));
}

TEST_F(EnqueueTest, QueuesTheOwnerOfADeletedObjectIfItsStateIsKnown) {
  const auto handler = [&] { return EnqueueOwner<Pod, ReplicaSet>(queue_); };
  EXPECT_THAT(Queued(handler(), AnyEvent::Type::kDeleted, Reason::kWatch,
                     Object<Pod>({Owner("set", "ReplicaSet", "apps/v1")}), {}),
              ElementsAre(Pair("default/set", 0)));
  EXPECT_THAT(Queued(handler(), AnyEvent::Type::kDeleted, Reason::kWatch, {}, {}), IsEmpty());
}

// Contract: controller 105.
TEST_F(EnqueueTest, QueuesAClusterScopedOwnerWithoutANamespace) {
  EXPECT_THAT(Queued(EnqueueOwner<Pod, Node>(queue_), AnyEvent::Type::kAdded, Reason::kWatch, {},
                     Object<Pod>({Owner("node-1", "Node", "v1")})),
              ElementsAre(Pair("node-1", 0)));
}

TEST_F(EnqueueTest, LetsAHandlerOutliveTheQueueOfTheProgram) {
  AnyHandler handler;
  {
    const RateLimitingQueue queue({.executor = MakeShared<testing::ManualExecutor>()});
    handler = detail::EraseHandler(Enqueue<Pod>(queue));
    queue.ShutDown();
  }
  handler({.type = AnyEvent::Type::kAdded, .reason = Reason::kWatch, .key = {"default", "web"}, .now = Object<Pod>()});
}

// Contract: controller 168.
TEST(OwnerReferenceTest, MakesTheReferenceOfAController) {
  const Deployment owner{.metadata = {.name = "web", .namespace_ = "default", .uid = "u1"}};
  EXPECT_EQ(ControllerRef(owner), (OwnerReference{.name = "web",
                                                  .apiVersion = "apps/v1",
                                                  .blockOwnerDeletion = true,
                                                  .controller = true,
                                                  .kind = "Deployment",
                                                  .uid = "u1"}));
  const Unstructured order{.metadata = {.name = "first", .uid = "u2"}, .apiVersion = "shop/v1", .kind = "Order"};
  EXPECT_EQ(ControllerRef(order).apiVersion, "shop/v1");
  EXPECT_EQ(ControllerRef(order).kind, "Order");
}

TEST(OwnerReferenceTest, SaysWhetherAnObjectIsControlledByAnother) {
  const Deployment owner{.metadata = {.name = "web", .uid = "u1"}};
  const Deployment recreated{.metadata = {.name = "web", .uid = "u2"}};
  ReplicaSet set{.metadata = {.name = "web-1", .ownerReferences = {ControllerRef(owner)}}};
  EXPECT_TRUE(IsControlledBy(set, owner));
  EXPECT_FALSE(IsControlledBy(set, recreated));
  set.metadata.ownerReferences[0].controller = false;
  EXPECT_FALSE(IsControlledBy(set, owner));
  EXPECT_FALSE(IsControlledBy(owner, owner));
}

}  // namespace
}  // namespace kgen
