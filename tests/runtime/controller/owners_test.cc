// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Setting, finding and removing owner references.
#include "kgen/controller/owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/apps/v1/types.h>
#include <k8s/core/v1/types.h>

#include <string>

#include "kgen/core/unstructured.h"

namespace kgen {
namespace {

using k8s::apps::v1::Deployment;
using k8s::apps::v1::ReplicaSet;
using k8s::core::v1::Namespace;
using k8s::core::v1::Node;
using k8s::core::v1::PersistentVolume;
using meta::v1::OwnerReference;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Deployment Owner(std::string_view name = "web", std::string_view namespace_ = "default") {
  return {.metadata = {.name = name, .namespace_ = namespace_, .uid = "u-" + std::string(name)}};
}
ReplicaSet Owned(std::initializer_list<OwnerReference> references = {}) {
  return {.metadata = {.name = "web-1", .namespace_ = "default", .ownerReferences = references}};
}
Unstructured Order(std::string_view api_version = "shop.example.com/v1") {
  return {.metadata = {.name = "first", .namespace_ = "default", .uid = "u-first"},
          .apiVersion = api_version,
          .kind = "Order"};
}

template <typename T, typename O>
Error Refused(T object, const O& owner) {
  const T before = object;
  const Result<void> done = SetControllerReference(object, owner);
  EXPECT_FALSE(done);
  EXPECT_EQ(object, before);
  return done ? Error(Code::kInternal, "was not refused") : done.error();
}

// Contract: controller 168.
TEST(OwnersTest, SetsTheControllerOfAnObject) {
  ReplicaSet set = Owned();
  ASSERT_TRUE(SetControllerReference(set, Owner()));
  ASSERT_THAT(set.metadata.ownerReferences, SizeIs(1));
  EXPECT_EQ(set.metadata.ownerReferences[0], ControllerRef(Owner()));
  EXPECT_TRUE(IsControlledBy(set, Owner()));
}

// Contract: controller 168.
TEST(OwnersTest, BlocksTheDeletionOfTheOwnerAsTheOptionSays) {
  ReplicaSet set = Owned();
  ASSERT_TRUE(SetControllerReference(set, Owner(), {.block_owner_deletion = false}));
  EXPECT_EQ(set.metadata.ownerReferences[0].blockOwnerDeletion, Optional<bool>(false));
  ASSERT_TRUE(SetOwnerReference(set, Owner(), {.block_owner_deletion = true}));
  EXPECT_EQ(set.metadata.ownerReferences[0].blockOwnerDeletion, Optional<bool>(true));
}

// Contract: controller 168.
TEST(OwnersTest, ReplacesTheReferenceOfTheSameGroupKindAndNameWhateverItsVersionAndUid) {
  ReplicaSet set = Owned({{.name = "db", .apiVersion = "apps/v1", .kind = "StatefulSet", .uid = "u-db"},
                          {.name = "web", .apiVersion = "apps/v1beta2", .controller = true, .kind = "Deployment"},
                          {.name = "web", .apiVersion = "extensions/v1", .kind = "Deployment", .uid = "u"}});
  ASSERT_TRUE(SetControllerReference(set, Owner()));
  ASSERT_THAT(set.metadata.ownerReferences, SizeIs(3));
  EXPECT_EQ(set.metadata.ownerReferences[0].name, "db");
  EXPECT_EQ(set.metadata.ownerReferences[1], ControllerRef(Owner()));
  EXPECT_EQ(set.metadata.ownerReferences[2].apiVersion, "extensions/v1");
}

// Contract: controller 168.
TEST(OwnersTest, RefusesASecondController) {
  ReplicaSet set = Owned();
  ASSERT_TRUE(SetControllerReference(set, Owner("db")));
  const Error refused = Refused(set, Owner());
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_THAT(refused.ToString(), AllOf(HasSubstr("make Deployment default/web the controller of ReplicaSet "
                                                  "default/web-1"),
                                        HasSubstr("its controller is Deployment default/db already")));
  // Any other owner may come beside it.
  ASSERT_TRUE(SetOwnerReference(set, Owner()));
  EXPECT_THAT(set.metadata.ownerReferences, SizeIs(2));
}

// Contract: controller 169.
TEST(OwnersTest, SetsAPlainOwnerOnce) {
  ReplicaSet set = Owned();
  ASSERT_TRUE(SetOwnerReference(set, Owner()));
  ASSERT_TRUE(SetOwnerReference(set, Owner()));
  ASSERT_THAT(set.metadata.ownerReferences, SizeIs(1));
  const OwnerReference& reference = set.metadata.ownerReferences[0];
  EXPECT_EQ(reference, (OwnerReference{.name = "web", .apiVersion = "apps/v1", .kind = "Deployment", .uid = "u-web"}));
  ASSERT_TRUE(SetControllerReference(set, Owner()));
  ASSERT_TRUE(SetOwnerReference(set, Owner()));
  EXPECT_FALSE(HasControllerReference(set));
}

// Contract: controller 170.
TEST(OwnersTest, RefusesAnOwnerInAnotherNamespace) {
  const Error other = Refused(Owned(), Owner("web", "elsewhere"));
  EXPECT_EQ(other.code(), Code::kInvalidArgument);
  EXPECT_THAT(other.ToString(), AllOf(HasSubstr("elsewhere/web"), HasSubstr("another namespace")));

  const Error volume = Refused(PersistentVolume{.metadata = {.name = "disk"}}, Owner());
  EXPECT_EQ(volume.code(), Code::kInvalidArgument);
  EXPECT_THAT(volume.ToString(), AllOf(HasSubstr("PersistentVolume disk"), HasSubstr("cluster-scoped")));

  const Error none = Refused(ReplicaSet{.metadata = {.name = "web-1"}}, Owner());
  EXPECT_EQ(none.code(), Code::kInvalidArgument);
  EXPECT_THAT(none.ToString(), HasSubstr("has no namespace"));

  ReplicaSet plain = Owned();
  EXPECT_FALSE(SetOwnerReference(plain, Owner("web", "elsewhere")));
}

// Contract: controller 170.
TEST(OwnersTest, AcceptsAClusterScopedOwnerOfAnyObject) {
  const Node node{.metadata = {.name = "n1", .uid = "u-n1"}};
  ReplicaSet set = Owned();
  EXPECT_TRUE(SetControllerReference(set, node));
  Namespace cluster_scoped{.metadata = {.name = "team"}};
  EXPECT_TRUE(SetControllerReference(cluster_scoped, node));
}

// Contract: controller 170.
TEST(OwnersTest, TakesKindAndScopeOfAnUnstructuredObjectFromTheObject) {
  Unstructured order = Order();
  Unstructured part = order;
  part.metadata.uid.reset();
  ASSERT_TRUE(SetControllerReference(part, order));
  EXPECT_EQ(part.metadata.ownerReferences[0].apiVersion, "shop.example.com/v1");
  EXPECT_EQ(part.metadata.ownerReferences[0].kind, "Order");
  EXPECT_TRUE(HasOwnerReference(part, Order("shop.example.com/v2")));
  EXPECT_FALSE(HasOwnerReference(part, Order("example.com/v1")));

  part.metadata.namespace_.reset();
  EXPECT_FALSE(SetControllerReference(part, order));
  order.metadata.namespace_.reset();  // cluster-scoped, for all one can see
  EXPECT_TRUE(SetControllerReference(part, order));

  PartialObjectMetadata metadata{
      .metadata = {.name = "first", .uid = "u-first"}, .apiVersion = "shop.example.com/v1", .kind = "Order"};
  EXPECT_TRUE(HasOwnerReference(part, metadata));
}

TEST(OwnersTest, SaysWhatTheOwnerLacks) {
  Deployment no_uid = Owner();
  no_uid.metadata.uid.reset();
  const Error refused = Refused(Owned(), no_uid);
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.ToString(), AllOf(HasSubstr("Deployment default/web"), HasSubstr("has no UID")));

  Deployment no_name = Owner();
  no_name.metadata.name.reset();
  EXPECT_THAT(Refused(Owned(), no_name).ToString(), HasSubstr("has no name"));

  Unstructured no_kind = Order();
  no_kind.kind.reset();
  EXPECT_THAT(Refused(Owned(), no_kind).ToString(), HasSubstr("no apiVersion or no kind"));
  EXPECT_THAT(Refused(Owned(), Order("a/b/c")).ToString(), HasSubstr("a/b/c"));
  EXPECT_FALSE(HasOwnerReference(Owned(), Order("a/b/c")));
}

// Contract: controller 169.
TEST(OwnersTest, RemovesAnOwner) {
  ReplicaSet set = Owned();
  ASSERT_TRUE(SetOwnerReference(set, Owner()));
  ASSERT_TRUE(SetControllerReference(set, Owner("db")));
  EXPECT_TRUE(HasOwnerReference(set, Owner()));
  ASSERT_TRUE(RemoveOwnerReference(set, Owner()));
  EXPECT_FALSE(HasOwnerReference(set, Owner()));
  EXPECT_TRUE(HasOwnerReference(set, Owner("db")));

  const Result<void> again = RemoveOwnerReference(set, Owner());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kNotFound);
  EXPECT_THAT(again.error().ToString(), HasSubstr("Deployment default/web is not the owner of ReplicaSet"));
}

// Contract: controller 169.
TEST(OwnersTest, RemovesTheControllerOnlyIfItIsTheOne) {
  ReplicaSet set = Owned();
  ASSERT_TRUE(SetOwnerReference(set, Owner()));
  ASSERT_TRUE(SetControllerReference(set, Owner("db")));
  EXPECT_TRUE(HasControllerReference(set));
  const Result<void> refused = RemoveControllerReference(set, Owner());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kNotFound);
  EXPECT_TRUE(HasOwnerReference(set, Owner()));

  ASSERT_TRUE(RemoveControllerReference(set, Owner("db")));
  EXPECT_FALSE(HasControllerReference(set));
  ASSERT_TRUE(RemoveOwnerReference(set, Owner()));
  EXPECT_THAT(set.metadata.ownerReferences, IsEmpty());
}

}  // namespace
}  // namespace kgen
