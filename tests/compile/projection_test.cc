// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Projections: decoding, and informers, caches and controllers of types that have a part of a kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cache/saved/binding.h"
#include "codec/protobuf_encoder.h"
#include "codec/sharing/member_hashes.h"
#include "compiled/projections.h"
#include "k8s/clientset.h"
#include "k8s/core/v1/types.h"
#include "k8s/informers.h"
#include "kgen/cache/factory.h"
#include "kgen/client/options.h"
#include "kgen/client/resource_client.h"
#include "kgen/codec/convert.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/controller/manager.h"
#include "kgen/core/field_path.h"
#include "kgen/core/unstructured.h"
#include "kgen/testing/cluster.h"

namespace {

using compiled::AnyMetadata;
using compiled::PipelinePart;
using compiled::PodOwners;
using compiled::PodPart;
using compiled::PodPlace;
using compiled::PodWithMetadata;
using k8s::core::v1::Pod;
using kgen::Code;
using kgen::Must;
using kgen::meta::v1::ObjectMeta;
using kgen::testing::Cluster;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

template <typename T>
concept HasAnnotations = requires(const T& object) { object.metadata.annotations; };
template <typename T>
concept HasPhase = requires(const T& object) { object.status->phase; };

// What is not kept cannot be named, and an ObjectMeta with members that are absent cannot be taken from the object.
static_assert(HasAnnotations<Pod> && HasAnnotations<AnyMetadata> && HasAnnotations<PodWithMetadata>);
static_assert(!HasAnnotations<PodPart> && HasPhase<Pod> && !HasPhase<PodPart>);
template <typename T>
concept Converts = requires(const T& object) { kgen::Convert<Pod>(object); };
template <typename T>
concept HasClient = std::constructible_from<kgen::ResourceClient<T, void>, kgen::Connection, std::string_view>;
static_assert(Converts<kgen::Unstructured> && !Converts<PodPart> && HasClient<Pod> && !HasClient<PodPart>);
static_assert(!std::convertible_to<const PodPart::Metadata&, const ObjectMeta&>);
static_assert(std::same_as<decltype(PodPart::Spec::affinity), decltype(k8s::core::v1::PodSpec::affinity)>);

constexpr std::string_view kPod = R"({"kind":"Pod","apiVersion":"v1",
  "metadata":{"name":"web-0","namespace":"shop","uid":"u-1","resourceVersion":"7","labels":{"app":"web"},
    "annotations":{"a":"}]\"{["},"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}],"finalizers":["f"]},
  "spec":{"nodeName":"n1","volumes":[{"name":"v","emptyDir":{}}],
    "affinity":{"nodeAffinity":{},"unknown":1},
    "containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":81}]},
      {"name":"d","env":[{"name":"x"}]}]},
  "status":{"phase":"Running","podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}],"conditions":[{"type":"Ready"}]},
  "extra":[[1],{"2":3}]})";

TEST(Projection, IsDescribedInASavedCacheByAllOfItsMembers) {
  EXPECT_EQ(kgen::cache::FormText(Pod::kTable), "");
  EXPECT_EQ(kgen::cache::FormText(kgen::PartialObjectMetadata::kTable), "metadata");
  EXPECT_EQ(kgen::cache::FormText(kgen::Unstructured::kTable), "unstructured");
  EXPECT_EQ(kgen::cache::FormText(PodPlace::kTable),
            "metadata.name,metadata.namespace,metadata.deletionTimestamp,metadata.finalizers,metadata.resourceVersion,"
            "metadata.uid,spec.nodeName");
  EXPECT_EQ(kgen::cache::FormText(PodPart::kTable),
            "metadata.name,metadata.namespace,metadata.deletionTimestamp,metadata.finalizers,metadata.labels,"
            "metadata.resourceVersion,metadata.uid,spec.affinity,spec.containers.ports.containerPort,spec.nodeName,"
            "status.podIPs.ip");
}

TEST(ProjectionTest, DecodesItsMembersAndSkipsAllOthers) {
  const auto pod = Must(kgen::Decode<PodPart>(kPod));
  EXPECT_EQ(pod.metadata.name, "web-0");
  EXPECT_EQ(pod.metadata.labels["app"], "web");
  EXPECT_EQ(pod.spec->nodeName, "n1");
  ASSERT_EQ(pod.spec->containers.size(), 2u);
  EXPECT_EQ(*pod.spec->containers[0].ports[1].containerPort, 81);
  EXPECT_TRUE(pod.spec->containers[1].ports.empty());
  EXPECT_EQ(pod.status->podIPs[1].ip, "fd00::1");
  EXPECT_EQ(kgen::CanonicalJson(kgen::Encode(pod)), kgen::CanonicalJson(R"({"kind":"Pod","apiVersion":"v1",
    "metadata":{"name":"web-0","namespace":"shop","uid":"u-1","resourceVersion":"7","labels":{"app":"web"},
      "finalizers":["f"]},
    "spec":{"nodeName":"n1","affinity":{"nodeAffinity":{},"unknown":1},
      "containers":[{"ports":[{"containerPort":80},{"containerPort":81}]},{}]},
    "status":{"podIPs":[{"ip":"10.0.0.1"},{"ip":"fd00::1"}]}})"));
}

template <typename T>
void ExpectTheSameFromProtobuf(const Pod& pod) {
  ASSERT_NE(T::kTable.wire, nullptr) << T::kTable.name;
  const std::string message = Must(kgen::codec::EncodeProtobuf(&pod, Pod::kTable));
  const kgen::AnyRef part =
      Must(kgen::ObjectDecoder(T::kTable).Decode(message, {.encoding = kgen::Encoding::kProtobuf}));
  EXPECT_EQ(kgen::Encode(part), kgen::Encode(Must(kgen::Decode<T>(kgen::Encode(pod)))));
  // As a saved cache has it.
  EXPECT_TRUE(kgen::codec::IsFromProtobuf(part));
  std::string saved;
  ASSERT_TRUE(kgen::codec::AppendProtobuf(part.object(), T::kTable, saved));
  const kgen::AnyRef restored =
      Must(kgen::ObjectDecoder(T::kTable).Decode(saved, {.encoding = kgen::Encoding::kProtobuf}));
  EXPECT_EQ(kgen::Encode(restored), kgen::Encode(part));
}

TEST(ProjectionTest, OfABuiltInKindDecodesProtobufToWhatJsonGives) {
  Pod pod = Must(kgen::Decode<Pod>(kPod));
  pod.unknown_fields = {};
  pod.metadata.creationTimestamp = std::chrono::sys_seconds(std::chrono::seconds(1));  // servers always set it
  pod.spec->affinity->unknown_fields = {};
  ExpectTheSameFromProtobuf<PodPart>(pod);
  ExpectTheSameFromProtobuf<PodOwners>(pod);
  ExpectTheSameFromProtobuf<PodPlace>(pod);
  ExpectTheSameFromProtobuf<AnyMetadata>(pod);
  ExpectTheSameFromProtobuf<PodWithMetadata>(pod);
  EXPECT_EQ(PipelinePart::kTable.wire, nullptr) << "custom resources have no protobuf";
}

TEST(ProjectionTest, ChecksTheKindTheNestingAndTheSizeOfWhatItSkips) {
  EXPECT_THAT(kgen::Decode<PodPart>(R"({"kind":"Node","metadata":{"name":"n"}})").error().message(),
              HasSubstr("expected kind \"Pod\""));
  const std::string deep = R"({"metadata":{"name":"n"},"x":)" + std::string(300, '[') + std::string(300, ']') + "}";
  EXPECT_THAT(kgen::Decode<PodPart>(deep).error().message(), HasSubstr("nested too deeply"));
  EXPECT_FALSE(kgen::Decode<PodPart>(R"({"metadata":{"name":"n"},"x":[1)").has_value());
  EXPECT_FALSE(kgen::Decode<PodPart>(R"({"metadata":{"name":"n"},"x":tru})").has_value());
  kgen::DecodeOptions small;
  small.max_bytes = kPod.size() - 1;
  EXPECT_FALSE(kgen::Decode<PodPart>(kPod, small).has_value());
}

TEST(ProjectionTest, DecodesEveryDamagedObjectThatTheWholeTypeDecodesWithTheSameMembers) {
  int decoded = 0;
  for (std::size_t at = 0; at < kPod.size(); ++at) {
    for (const std::string_view with : {"", "]", "}", "\"", "\\", "{", "x", "null"}) {
      std::string damaged(kPod);
      damaged.replace(at, 1, with);
      const auto part = kgen::Decode<PodPart>(damaged);
      const auto whole = kgen::Decode<Pod>(damaged);
      if (!whole) continue;
      ASSERT_TRUE(part.has_value()) << damaged;
      ++decoded;
      EXPECT_EQ(part->metadata.labels, whole->metadata.labels) << damaged;
      EXPECT_EQ(part->spec->nodeName, whole->spec->nodeName) << damaged;
      EXPECT_EQ(part->spec->affinity, whole->spec->affinity) << damaged;
      EXPECT_EQ(part->spec->containers.size(), whole->spec->containers.size()) << damaged;
      EXPECT_EQ(part->status->podIPs.size(), whole->status->podIPs.size()) << damaged;
    }
  }
  EXPECT_GT(decoded, 500);
}

TEST(ProjectionTest, ReportsAMemberOfTheWrongTypeOnlyIfItKeepsIt) {
  std::vector<kgen::FieldMismatch> mismatches;
  kgen::DecodeOptions options;
  options.mismatches = &mismatches;
  const auto pod = Must(kgen::Decode<PodPart>(
      R"({"metadata":{"name":"n","generation":"x"},"spec":{"nodeName":5,"hostNetwork":"no"}})", options));
  ASSERT_EQ(mismatches.size(), 1u);
  EXPECT_EQ(mismatches[0].path, "spec.nodeName");
  EXPECT_EQ(pod.spec->nodeName, "");
}

TEST(ProjectionTest, HasTheRowsOfTheMetadataOfEveryObject) {
  const kgen::TypeTable& part = *AnyMetadata::kTable.Find("metadata")->table();
  const kgen::TypeTable& whole = ObjectMeta::kTable;
  ASSERT_EQ(part.field_count, whole.field_count);
  EXPECT_EQ(part.size, whole.size);
  EXPECT_EQ(part.unknown_offset, whole.unknown_offset);
  for (std::size_t i = 0; i < whole.field_count; ++i) {
    const kgen::Field& a = part.begin()[i];
    const kgen::Field& b = whole.begin()[i];
    EXPECT_EQ(a.wire_name(), b.wire_name());
    EXPECT_EQ(a.offset, b.offset) << a.name;
    EXPECT_EQ(a.kind, b.kind) << a.name;
    EXPECT_EQ(a.flags, b.flags) << a.name;
    EXPECT_EQ(a.detail, b.detail) << a.name;
  }
  EXPECT_EQ(PodWithMetadata::kTable.Find("metadata")->table(), &whole);
}

TEST(ProjectionTest, KeepsAnObjectOfACustomResourceWholeWithATypeOfItsOwn) {
  const auto pipeline = Must(kgen::Decode<PipelinePart>(
      R"({"kind":"Pipeline","apiVersion":"ci.example.com/v1","metadata":{"name":"p"},)"
      R"("spec":{"build":{"spec":{"containers":[{"name":"c"}]}},"unknown":true},"status":{"phase":"x"}})"));
  EXPECT_EQ(pipeline.spec->build->spec->containers[0].name, "c");
  EXPECT_EQ(pipeline.spec->unknown_fields.size(), 1u) << "within the kept part nothing is lost";
}

TEST(ProjectionTest, FindsUnchangedObjectsByTheirBytesAndSharesWhatItKeeps) {
  kgen::ObjectDecoder decoder(PodPart::kTable);
  const kgen::AnyRef first = Must(decoder.Decode(kPod));
  EXPECT_TRUE(decoder.IsUnchanged(kPod, {}, first));
  std::string changed(kPod);
  changed.replace(changed.find("Running"), 7, "Pending");
  EXPECT_FALSE(decoder.IsUnchanged(changed, {}, first)) << "a byte of a member that is not kept counts as well";
  const kgen::AnyRef second = Must(decoder.Decode(changed, {}, first));
  EXPECT_EQ(*first.As<PodPart>(), *second.As<PodPart>());
  EXPECT_EQ(first.As<Pod>(), nullptr) << "it is no Pod, although it is of that kind";
}

class ProjectionCacheTest : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void Add(std::string_view name, std::string_view labels, std::string_view node) {
    Must(cluster_.Add(std::string_view(Json(name, labels, node, "Pending"))));
  }
  static std::string Json(std::string_view name, std::string_view labels, std::string_view node,
                          std::string_view phase) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":")" + std::string(name) +
           R"(","labels":{)" + std::string(labels) + R"(}},"spec":{"nodeName":")" + std::string(node) +
           R"(","containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]}]},"status":{"phase":")" +
           std::string(phase) + R"("}})";
  }

  Cluster cluster_{{.seed = GetParam()}};
  // Lists page by page, and not as the beginning of a watch.
  k8s::SharedInformerFactory Paging() const {
    return k8s::SharedInformerFactory(clientset_, {.defaults = {.page_size = 2, .streaming_list = false}});
  }

  const k8s::Clientset clientset_{cluster_.Connection()};
  k8s::SharedInformerFactory factory_{clientset_};
};

TEST_P(ProjectionCacheTest, AFactoryFollowsAKindInSeveralForms) {
  Add("web-0", R"("app":"web")", "n1");
  const auto parts = factory_.Of<PodPart>();
  const auto whole = factory_.Core().V1().Pods();
  Must(parts.Informer().AddIndex("node", kgen::FieldPath("spec.nodeName")));
  (void)whole.Informer();
  factory_.Start();
  Must(factory_.WaitForCacheSync());
  Add("web-1", R"("app":"web")", "n1");
  Add("db-0", R"("app":"db")", "n2");
  cluster_.RunUntilIdle();

  const auto part = parts.Lister().Get({"shop", "web-1"});
  EXPECT_EQ(part->spec->nodeName, "n1");
  EXPECT_EQ(parts.Lister().List(Must(kgen::Selector::Parse("app=db"))).size(), 1u);
  EXPECT_EQ(parts.Informer().Indexer().Snapshot().ByIndex("node", "n1").size(), 2u);
  const auto pod = whole.Lister().Pods("shop").Get("web-1");
  EXPECT_EQ(pod->spec->containers[0].image, "i");
  EXPECT_EQ(cluster_.census().watches, 2u) << "each form has a watch of its own";
  std::vector<std::string> names;
  for (const kgen::cache::InformerStatus& each : factory_.status()) names.push_back(each.name);
  EXPECT_THAT(names, UnorderedElementsAre("pods", "pods (compiled.PodPart)"));
  cluster_.Compact();
  cluster_.CutWatches();
  Must(cluster_.Delete("pods", "shop", "web-0"));
  cluster_.RunUntilIdle();
  EXPECT_FALSE(parts.Lister().Get({"shop", "web-0"}));
}

TEST_P(ProjectionCacheTest, AnIndexOfAMemberThatIsNotKeptIsRefused) {
  const auto refused = factory_.Of<PodPart>().Informer().AddIndex("phase", kgen::FieldPath("status.phase"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message(), HasSubstr("add the member to the projection"));
}

TEST_P(ProjectionCacheTest, MetadataAloneAreAskedForAsPartialObjectMetadata) {
  Add("web-0", R"("app":"web")", "n1");
  const auto owners = factory_.Of<PodOwners>();
  std::vector<std::string> seen;
  const auto registration = owners.Informer().AddEventHandler(
      {.on_add = [&](const kgen::Added<PodOwners>& e) { seen.push_back(e.key.str()); }});
  factory_.Start();
  Must(factory_.WaitForCacheSync());
  Add("web-1", R"("app":"web")", "n1");
  cluster_.RunUntilIdle();
  cluster_.Compact();
  cluster_.CutWatches();
  Add("web-2", R"("app":"web")", "n1");
  cluster_.RunUntilIdle();
  EXPECT_THAT(seen, UnorderedElementsAre("shop/web-0", "shop/web-1", "shop/web-2"));
}

TEST_P(ProjectionCacheTest, ATransformChangesTheProjection) {
  Add("web-0", R"("app":"web","drop":"this")", "n1");
  const auto parts = factory_.Of<PodPart>();
  Must(parts.Informer().SetTransform([](PodPart& pod) {
    pod.metadata.labels.erase("drop");
    pod.metadata.name = "other";  // has no effect: the identity stays
    pod.spec->containers = {};
  }));
  factory_.Start();
  Must(factory_.WaitForCacheSync());
  const auto pod = parts.Lister().Get({"shop", "web-0"});
  ASSERT_TRUE(pod);
  EXPECT_FALSE(pod->metadata.labels.contains("drop"));
  EXPECT_EQ(pod->metadata.labels["app"], "web");
  EXPECT_TRUE(pod->spec->containers.empty());
  EXPECT_EQ(pod->spec->nodeName, "n1");
  PodPart copy = *pod;
  copy.metadata.labels["app"] = "shop";
  EXPECT_NE(copy, *pod);
}

TEST_P(ProjectionCacheTest, TheSpecIsNotSentForMetadataAlone) {
  const std::string large(20'000, 'x');
  Add("web-0", R"("app":"web")", large);
  cluster_.Inject({.verb = "list", .times = kgen::testing::kAlways, .cut_after_bytes = 10'000});
  auto factory = Paging();
  const auto owners = factory.Of<PodOwners>().Informer();
  const auto parts = factory.Of<PodPart>().Informer();
  factory.Start();
  cluster_.Advance(std::chrono::seconds(10));
  EXPECT_TRUE(owners.HasSynced());
  EXPECT_FALSE(parts.HasSynced());
}

TEST_P(ProjectionCacheTest, BothFormsAreListedInPages) {
  for (const char* name : {"web-0", "web-1", "web-2", "web-3", "web-4"}) Add(name, R"("app":"web")", "n1");
  auto factory = Paging();
  const auto parts = factory.Of<PodPart>();
  const auto owners = factory.Of<PodOwners>();
  (void)parts.Lister();
  (void)owners.Lister();
  factory.Start();
  Must(factory.WaitForCacheSync());
  EXPECT_EQ(parts.Lister().List().size(), 5u);
  EXPECT_EQ(owners.Lister().List().size(), 5u);
}

TEST_P(ProjectionCacheTest, AHandlerCanSkipUpdatesThatChangeNothingOfWhatIsKept) {
  Add("web-0", R"("app":"web")", "n1");
  const auto informer = factory_.Of<PodPart>().Informer();
  int all = 0;
  int some = 0;
  const auto every =
      informer.AddEventHandler({.on_update = [&](const kgen::Updated<PodPart>&) { ++all; }}, {.resync = kgen::kNever});
  const auto changed = informer.AddEventHandler({.on_update = [&](const kgen::Updated<PodPart>&) { ++some; }},
                                                {.resync = kgen::kNever, .skip_unchanged = true});
  factory_.Start();
  Must(factory_.WaitForCacheSync());
  Must(cluster_.Update(std::string_view(Json("web-0", R"("app":"web")", "n1", "Running"))));
  cluster_.RunUntilIdle();
  EXPECT_EQ(all, 1);
  EXPECT_EQ(some, 0);
  Must(cluster_.Update(std::string_view(Json("web-0", R"("app":"shop")", "n1", "Running"))));
  cluster_.RunUntilIdle();
  EXPECT_EQ(all, 2);
  EXPECT_EQ(some, 1);
}

class ProjectionManagerTest : public ProjectionCacheTest {
 protected:
  // Returns the message with which a manager refuses a controller, or nothing.
  std::string Refusal(kgen::Result<kgen::Controller> controller) {
    return controller ? std::string() : std::string(controller.error().message());
  }
  static kgen::Result<kgen::Requeue> Nothing(kgen::Request& /*request*/) { return kgen::Requeue::Done(); }

  const kgen::Manager manager_ = Must(kgen::Manager::New(cluster_.Connection(), {.name = "parts"}));
};

TEST_P(ProjectionManagerTest, AControllerReadsProjectionsAndPatchesTheObject) {
  Add("web-0", R"("app":"web")", "n1");
  std::stop_source stop;
  Must(manager_.Control<PodPart>("labels").Reconcile([&](kgen::Request& request) -> kgen::Result<kgen::Requeue> {
    const auto pod = Must(request.Get<PodPart>());
    if (!pod || pod->metadata.labels.contains("seen")) {
      stop.request_stop();
      return kgen::Requeue::Done();
    }
    const auto patch = kgen::MergePatch(R"({"metadata":{"labels":{"seen":"yes"}}})");
    const PodPart patched = Must(request.client().Patch(*pod, patch));
    EXPECT_EQ(patched.metadata.labels["seen"], "yes");
    const auto again = Must(request.Get<PodPart>());
    EXPECT_EQ(again->metadata.labels["seen"], "yes") << "it reads its own write";
    return kgen::Requeue::Done();
  }));
  Must(manager_.Run(stop.get_token()));
  EXPECT_THAT(Must(cluster_.Get("pods", "shop", "web-0")), HasSubstr(R"("seen":"yes")"));
  EXPECT_THAT(Must(cluster_.Get("pods", "shop", "web-0")), HasSubstr(R"("image":"i")"));
}

TEST_P(ProjectionManagerTest, LiveReadsReturnProjectionsToo) {
  Add("web-0", R"("app":"web")", "n1");
  const kgen::CachedClient live = manager_.client().Live();
  const auto part = Must(live.Get<PodPart>({"shop", "web-0"}));
  EXPECT_EQ(part->spec->nodeName, "n1");
  const auto owners = Must(live.Get<PodOwners>({"shop", "web-0"}));
  EXPECT_EQ(owners->metadata.name, "web-0");
  EXPECT_EQ(Must(live.List<PodPart>()).size(), 1u);
  EXPECT_EQ(Must(live.List<PodOwners>()).size(), 1u);
}

TEST_P(ProjectionManagerTest, WhatTheControllerReadsMustBeKept) {
  EXPECT_THAT(Refusal(manager_.Control<PodPart>("a").When(kgen::GenerationChanged()).Reconcile(Nothing)),
              HasSubstr("a predicate reads metadata.generation, which compiled.PodPart does not have"));
  EXPECT_THAT(Refusal(manager_.Control<PodPart>("b")
                          .WithEventFilter(!(kgen::LabelsChanged() || kgen::AnnotationsChanged()))
                          .Reconcile(Nothing)),
              HasSubstr("metadata.annotations"));
  EXPECT_THAT(Refusal(manager_.Control<PodPart>("c")
                          .When(kgen::MatchesMetadata([](const ObjectMeta&) { return true; }))
                          .Reconcile(Nothing)),
              HasSubstr("the whole metadata"));
  EXPECT_THAT(Refusal(manager_.Control<Pod>("d").Owns<PodPart>().Reconcile(Nothing)),
              HasSubstr("Owns() reads metadata.ownerReferences, which compiled.PodPart does not have"));
  EXPECT_EQ(Refusal(manager_.Control<Pod>("e").Owns<PodOwners>().Reconcile(Nothing)), "");
  EXPECT_EQ(Refusal(manager_.Control<PodPart>("f").When(kgen::LabelsChanged()).Reconcile(Nothing)), "");
}

TEST_P(ProjectionManagerTest, AFilterByLabelsThatAreNotKeptIsRefused) {
  kgen::Caches caches(cluster_.Connection(), {});
  const auto places = Must(caches.Of<PodPlace>());
  caches.Start({});
  Must(places.WaitForSync());
  EXPECT_TRUE(places.List().has_value());
  const auto refused = places.List({.labels = Must(kgen::Selector::Parse("app=web"))});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("add metadata.labels to the members of the projection"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ProjectionCacheTest, ::testing::Range<std::uint64_t>(1, 6));
INSTANTIATE_TEST_SUITE_P(Seeds, ProjectionManagerTest, ::testing::Range<std::uint64_t>(1, 6));

}  // namespace
