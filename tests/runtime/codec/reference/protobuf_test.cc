// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Protobuf through the generated types. What servers send is compared in tests/integration; here, kgen's own encoder
// writes what is decoded.
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "bench/reference_pods.h"
#include "codec/list_splitter.h"
#include "codec/protobuf_encoder.h"
#include "codec/protobuf_envelope.h"
#include "codec/protobuf_wire.h"
#include "codec/sharing/member_hashes.h"
#include "k8s/apps/v1/types.h"
#include "k8s/core/v1/types.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/codec_fixture.h"

namespace kgen {
namespace {

using codec::AppendField;
using codec::EncodeProtobuf;
using k8s::core::v1::Pod;
using ProtobufTest = CodecTest;
using ::testing::HasSubstr;

constexpr DecodeOptions kProtobuf = {.encoding = Encoding::kProtobuf};

std::string MessageOf(const Pod& pod) { return Must(EncodeProtobuf(&pod, Pod::kTable)); }

// Pods as a list has them, in both encodings.
struct Both {
  std::string json, message;
};
std::vector<Both> Pods(int count) {
  std::vector<Both> pods;
  for (std::string& json : bench::ReferencePods(count)) {
    std::string message = MessageOf(Must(Decode<Pod>(json)));
    pods.push_back({std::move(json), std::move(message)});
  }
  return pods;
}

TEST_F(ProtobufTest, APodEqualsThatFromJson) {
  ObjectDecoder decoder(Pod::kTable);
  for (const Both& pod : Pods(100)) {
    const Pod expected = Must(Decode<Pod>(pod.json));
    EXPECT_EQ(Must(Decode<Pod>(Exact(pod.message), kProtobuf)), expected);
    EXPECT_EQ(*Must(decoder.Decode(Exact(pod.message), kProtobuf)).As<Pod>(), expected);
  }
  EXPECT_GT(decoder.stats().subtree_hits, 1500u);
}

TEST_F(ProtobufTest, AnObjectThatCameAsProtobufIsOneUntilItIsChanged) {
  ObjectDecoder decoder(Pod::kTable);
  const Both pod = Pods(1)[0];
  const AnyRef object = Must(decoder.Decode(pod.message, kProtobuf));
  EXPECT_TRUE(codec::IsFromProtobuf(object));
  EXPECT_TRUE(codec::IsFromProtobuf(Must(decoder.Decode(pod.message, kProtobuf, object))));
  EXPECT_FALSE(codec::IsFromProtobuf(Must(decoder.Decode(pod.json))));
  EXPECT_FALSE(codec::IsFromProtobuf(Must(decoder.Decode(pod.json, {}, object))));
  Pod changed = *object.As<Pod>();
  changed.metadata.labels["a"] = "b";
  EXPECT_FALSE(codec::IsFromProtobuf(MakeRef(std::move(changed))));
  EXPECT_FALSE(codec::IsFromProtobuf({}));
}

TEST_F(ProtobufTest, MetadataAloneIsTheSameAfterItWasEncodedAgain) {
  ObjectDecoder decoder(PartialObjectMetadata::kTable);
  PartialObjectMetadata metadata;
  metadata.metadata = Must(Decode<Pod>(Pods(1)[0].json)).metadata;
  const AnyRef object = Must(decoder.Decode(Must(EncodeProtobuf(&metadata, PartialObjectMetadata::kTable)), kProtobuf));
  EXPECT_TRUE(codec::IsFromProtobuf(object));
  std::string message;
  ASSERT_TRUE(codec::AppendProtobuf(object.object(), object.table(), message));
  EXPECT_EQ(Encode(Must(decoder.Decode(message, kProtobuf))), Encode(object));
}

TEST_F(ProtobufTest, AnUpdateSharesWhatHasNotChanged) {
  Pod pod = Must(Decode<Pod>(Pods(1)[0].json));
  const auto decode = [&](const AnyRef& before) {
    return Must(ObjectDecoder(Pod::kTable).Decode(Exact(MessageOf(pod)), kProtobuf, before));
  };
  const AnyRef first = decode({});
  pod.metadata.resourceVersion = "2";
  pod.status->phase = "Failed";
  ASSERT_GT(pod.metadata.managedFields.size(), 1u);
  pod.metadata.managedFields[0].manager = "another";
  const AnyRef second = decode(first);
  const Ref<const Pod> now = second.As<Pod>(), earlier = first.As<Pod>();
  EXPECT_EQ(*now, pod);
  EXPECT_EQ(&*now->spec, &*earlier->spec);
  EXPECT_EQ(&now->metadata.labels["app"], &earlier->metadata.labels["app"]);
  EXPECT_NE(&*now->status, &*earlier->status);
  const auto text = [](const Pod& of, std::size_t i) { return of.metadata.managedFields[i].fieldsV1.text().data(); };
  EXPECT_EQ(text(*now, 1), text(*earlier, 1));
}

TEST_F(ProtobufTest, AnUnchangedObjectIsRecognisedWithinItsEncoding) {
  const Both pod = Pods(1)[0];
  ObjectDecoder decoder(Pod::kTable);
  const AnyRef object = Must(decoder.Decode(pod.message, kProtobuf));
  EXPECT_TRUE(decoder.IsUnchanged(Exact(pod.message), kProtobuf, object));
  EXPECT_FALSE(decoder.IsUnchanged(Exact(pod.json), {}, object));
  EXPECT_TRUE(decoder.IsUnchanged(Exact(pod.json), {}, Must(decoder.Decode(pod.json, {}, object))));
}

TEST_F(ProtobufTest, ManagedFieldsCanBeDropped) {
  const Both pod = Pods(1)[0];
  const DecodeOptions options = {.encoding = Encoding::kProtobuf, .drop_managed_fields = true};
  EXPECT_EQ(Must(Decode<Pod>(pod.message, options)), Must(Decode<Pod>(pod.json, {.drop_managed_fields = true})));
}

TEST_F(ProtobufTest, AFieldThatTheTableDoesNotKnowIsAnErrorThatNamesIt) {
  std::string message = Pods(1)[0].message;
  AppendField(200, "from the future", message);
  const auto decoded = Decode<Pod>(message, kProtobuf);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), Code::kDecode);
  EXPECT_THAT(decoded.error().message(), HasSubstr("a field of k8s.core.v1.Pod with the number 200"));
}

TEST_F(ProtobufTest, ZerosAreAbsentWhereJsonWouldLeaveThemOut) {
  std::string metadata, spec, container, message;
  AppendField(1, "web", metadata);
  AppendField(2, "", metadata);                 // generateName, omitempty
  AppendField(10, std::uint64_t{0}, metadata);  // deletionGracePeriodSeconds, a pointer
  AppendField(1, "", container);                // name, always
  AppendField(3, "", spec);                     // restartPolicy, omitempty
  AppendField(2, container, spec);
  AppendField(11, std::uint64_t{0}, spec);  // hostNetwork, omitempty
  AppendField(1, metadata, message);
  AppendField(2, spec, message);
  const Pod pod = Must(Decode<Pod>(message, kProtobuf));
  EXPECT_FALSE(pod.metadata.generateName.has_value());
  EXPECT_TRUE(pod.metadata.deletionGracePeriodSeconds.has_value());
  EXPECT_TRUE(pod.spec->containers[0].name.has_value());
  EXPECT_FALSE(pod.spec->restartPolicy.has_value());
  EXPECT_FALSE(pod.spec->hostNetwork.has_value());
}

// Returns a pod with that text as its phase.
std::string WithPhase(std::string_view text) {
  std::string status, message;
  AppendField(1, text, status);
  AppendField(3, status, message);
  return message;
}

TEST_F(ProtobufTest, TextThatIsNotUtf8IsAnError) {
  const Pod runs = Must(Decode<Pod>(WithPhase("l\xC3\xA4uft"), kProtobuf));
  EXPECT_EQ(runs.status->phase, "l\xC3\xA4uft");
  for (const char* text : {"\xFF", "abcdefgh\xC3", "abcdefghijklmnopqrstuvw\xED\xA0\x80xyz"}) {
    EXPECT_FALSE(Decode<Pod>(WithPhase(text), kProtobuf));
  }
}

TEST_F(ProtobufTest, AByteThatIsNotUtf8IsFoundWhereverItIs) {
  for (std::size_t size = 1; size <= 20; ++size) {
    std::string text(size, 'x');
    const Pod pod = Must(Decode<Pod>(Exact(WithPhase(text)), kProtobuf));
    EXPECT_EQ(pod.status->phase, text);
    for (std::size_t at = 0; at < size; ++at) {
      text.assign(size, 'x')[at] = '\xFF';
      EXPECT_FALSE(Decode<Pod>(Exact(WithPhase(text)), kProtobuf)) << size << ", " << at;
    }
  }
}

TEST_F(ProtobufTest, TimesAreAbsentIfZeroAndRefusedOutOfRange) {
  const auto with_start = [](std::uint64_t seconds, std::uint64_t nanos) {
    std::string time, status, message;
    if (seconds != 0 || nanos != 0) {
      AppendField(1, seconds, time);
      AppendField(2, nanos, time);
    }
    AppendField(7, time, status);
    AppendField(3, status, message);
    return Decode<Pod>(message, kProtobuf);
  };
  const auto start = [&](std::uint64_t seconds, std::uint64_t nanos) {
    const Pod pod = Must(with_start(seconds, nanos));
    return pod.status->startTime;
  };
  EXPECT_FALSE(start(0, 0).has_value());
  EXPECT_EQ(start(1, 999), Must(Time::Parse("1970-01-01T00:00:01Z")));
  EXPECT_EQ(start(253'402'300'799, 0), Must(Time::Parse("9999-12-31T23:59:59Z")));
  EXPECT_FALSE(with_start(253'402'300'800, 0));
  EXPECT_FALSE(with_start(1, 1'000'000'000));
}

TEST_F(ProtobufTest, AnEntryWithoutItsKeyOrItsValueHasEmptyText) {
  std::string value, metadata, message;
  AppendField(2, "value", value);
  AppendField(11, value, metadata);
  AppendField(12, "", metadata);
  AppendField(1, metadata, message);
  const Pod pod = Must(Decode<Pod>(message, kProtobuf));
  EXPECT_EQ(pod.metadata.labels[""], "value");
  EXPECT_TRUE(pod.metadata.annotations.contains(""));
}

TEST_F(ProtobufTest, RawJsonIsAsAServerWritesIt) {
  using k8s::apps::v1::ControllerRevision;
  const auto with_data = [](std::string_view json) {
    std::string data, message;
    if (!json.empty()) AppendField(1, json, data);
    AppendField(2, data, message);
    return Decode<ControllerRevision>(message, kProtobuf);
  };
  EXPECT_EQ(Must(with_data(R"({"a": "<b \" >" , "c":[1, 2.50]})")).data.text(),
            R"({"a":"\u003cb \" \u003e","c":[1,2.50]})");
  for (std::size_t size = 0; size < 20; ++size) {
    for (std::size_t at = 0; at <= size; ++at) {
      for (const auto& [stored, written] : std::map<std::string, std::string>{
               {"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}, {"=", "="}, {"%", "%"}, {" ", " "}}) {
        const std::string before(at, 'x'), after(size - at, 'x');
        EXPECT_EQ(Must(with_data('"' + before + stored + after + '"')).data.text(),
                  '"' + before + written + after + '"');
        EXPECT_EQ(Must(with_data(std::string(at, ' ') + '"' + stored + '"' + std::string(size - at, '\n'))).data.text(),
                  '"' + written + '"');
      }
    }
  }
  EXPECT_EQ(Must(with_data("\"\xE2\x80\xA8\"")).data.text(), R"("\u2028")");
  EXPECT_EQ(Must(with_data("\"\xE2\x82\xAC\"")).data.text(), "\"\xE2\x82\xAC\"");
  EXPECT_EQ(Must(with_data("")).data.text(), "null");
  EXPECT_FALSE(with_data(R"({"a":)"));
}

TEST_F(ProtobufTest, DamagedMessagesAreRefusedOrDecodedAndNothingLeaks) {
  const std::string message = Pods(1)[0].message;
  ObjectDecoder decoder(Pod::kTable);
  const AnyRef before = Must(decoder.Decode(message, kProtobuf));
  const auto decode = [&](const std::string& damaged) {
    (void)Decode<Pod>(Exact(damaged), kProtobuf);
    const auto object = decoder.Decode(Exact(damaged), kProtobuf, before);
    if (object) (void)Encode(*object);
  };
  for (std::size_t size = 0; size < message.size(); ++size) decode(message.substr(0, size));
  for (std::size_t at = 0; at < message.size(); ++at) {
    for (const int bits : {0x01, 0x08, 0x80, 0xFF}) {
      std::string damaged = message;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      decode(damaged);
    }
  }
}

TEST_F(ProtobufTest, NestingFieldsAndBytesAreLimited) {
  const std::string message = Pods(1)[0].message;
  EXPECT_FALSE(Decode<Pod>(message, {.encoding = Encoding::kProtobuf, .max_bytes = message.size() - 1}));
  EXPECT_TRUE(Decode<Pod>(message, {.encoding = Encoding::kProtobuf, .max_bytes = message.size()}));
  EXPECT_FALSE(Decode<Pod>(message, {.encoding = Encoding::kProtobuf, .max_depth = 3}));
  EXPECT_FALSE(Decode<Pod>(message, {.encoding = Encoding::kProtobuf, .max_fields = 20}));
}

// ---- Lists.

std::string ListOf(const std::vector<Both>& pods, std::string_view kind = "PodList") {
  std::string metadata, list;
  AppendField(2, "17", metadata);
  AppendField(3, "next page", metadata);
  AppendField(1, metadata, list);
  for (const Both& pod : pods) AppendField(2, pod.message, list);
  return codec::EnvelopeOf("v1", kind, list);
}

struct Split {
  std::vector<std::string> items;
  std::string version, next, envelope;
  std::optional<Error> error;
};
Split SplitInPieces(std::string_view bytes, const std::function<std::size_t()>& size, std::size_t limit = 1 << 20) {
  Split split;
  ListSplitter splitter(
      [&](std::string_view item) -> Result<void> {
        split.items.emplace_back(item);
        return {};
      },
      limit, Encoding::kProtobuf);
  while (!bytes.empty()) {
    const std::string piece(bytes.substr(0, size()));
    bytes.remove_prefix(piece.size());
    if (const auto fed = splitter.Feed(piece); !fed) {
      split.error = fed.error();
      return split;
    }
  }
  if (const auto metadata = splitter.Finish()) {
    split.version = metadata->resourceVersion.str();
    split.next = metadata->continue_.str();
    split.envelope = splitter.envelope();
  } else {
    split.error = metadata.error();
  }
  return split;
}
Split SplitAtOnce(std::string_view bytes, std::size_t limit = 1 << 20) {
  return SplitInPieces(bytes, [&] { return bytes.size(); }, limit);
}

TEST_F(ProtobufTest, AListIsSplitWhereverItsBytesAreCut) {
  const std::vector<Both> pods = Pods(5);
  const std::string list = ListOf(pods);
  std::mt19937 random(1);
  for (int run = 0; run < 50; ++run) {
    const std::size_t most = run < 5 ? 1 + static_cast<std::size_t>(run) : 1 + random() % 40'000;
    const Split split = SplitInPieces(list, [&] { return 1 + random() % most; });
    ASSERT_FALSE(split.error) << split.error->message();
    ASSERT_EQ(split.items.size(), pods.size());
    for (std::size_t i = 0; i < pods.size(); ++i) EXPECT_EQ(split.items[i], pods[i].message);
    EXPECT_EQ(split.version, "17");
    EXPECT_EQ(split.next, "next page");
    EXPECT_EQ(split.envelope, R"({"apiVersion":"v1","kind":"PodList"})");
  }
}

TEST_F(ProtobufTest, AnEmptyListHasNoItems) {
  const Split split = SplitAtOnce(ListOf({}));
  ASSERT_FALSE(split.error);
  EXPECT_TRUE(split.items.empty());
  EXPECT_TRUE(SplitAtOnce(codec::EnvelopeOf("v1", "PodList", "")).items.empty());
}

TEST_F(ProtobufTest, AStatusInPlaceOfAListIsTheEnvelope) {
  const meta::v1::Status status{.code = 403, .message = "not today"};
  const std::string message = Must(EncodeProtobuf(&status, meta::v1::Status::kTable));
  const Split split = SplitAtOnce(codec::EnvelopeOf("v1", "Status", message));
  ASSERT_FALSE(split.error);
  EXPECT_THAT(split.envelope, HasSubstr(R"("kind":"Status")"));
  EXPECT_EQ(Must(Decode<meta::v1::Status>(split.envelope)).message, "not today");
}

TEST_F(ProtobufTest, AListThatIsCutIsAnError) {
  const std::string list = ListOf(Pods(2));
  for (std::size_t size = 0; size < list.size() - 4; size += 7) {
    EXPECT_TRUE(SplitAtOnce(list.substr(0, size)).error) << size;
  }
}

TEST_F(ProtobufTest, AnItemOverTheLimitAndOneThatIsLongerThanTheListAreErrors) {
  const std::vector<Both> pods = Pods(1);
  EXPECT_TRUE(SplitAtOnce(ListOf(pods), pods[0].message.size() - 1).error);
  EXPECT_FALSE(SplitAtOnce(ListOf(pods), pods[0].message.size()).error);
  std::string list;
  AppendField(2, pods[0].message, list);
  std::string cut = codec::EnvelopeOf("v1", "PodList", list.substr(0, list.size() - 1)) + std::string(10, 'x');
  EXPECT_TRUE(SplitAtOnce(cut).error);
}

TEST_F(ProtobufTest, ADamagedListEndsInAnErrorOrInItems) {
  const std::string list = ListOf(Pods(1));
  for (std::size_t at = 0; at < list.size(); ++at) {
    for (const int bits : {0x01, 0x08, 0x80, 0xFF}) {
      std::string damaged = list;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      (void)SplitInPieces(damaged, [] { return std::size_t{4096}; });
    }
  }
}

}  // namespace
}  // namespace kgen
