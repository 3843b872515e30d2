// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/sharing/member_hashes.h"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/runtime/codec/codec_fixture.h"

namespace kgen {
namespace {

using widgets::Widget;
using MemberHashesTest = CodecTest;

constexpr std::string_view kLabels = R"({"app":"a label that is longer than inline"})";
constexpr std::string_view kSpec = R"({"name":"text that is longer than inline","factors":[1.5,2],"when":null})";
constexpr std::string_view kStatus = R"({"name":"a status that is longer than inline","tags":["a"]})";
constexpr std::string_view kEntry =
    R"({"manager":"a manager with a long name","operation":"Update","fieldsV1":{"f:status":{"f:phase":{}}}})";

std::string Object(std::string_view labels, std::string_view entries, std::string_view spec, std::string_view status,
                   std::string_view version = "1") {
  std::string json = R"({"metadata":{"name":"w","namespace":"n","resourceVersion":")";
  json.append(version).append(R"(","labels":)").append(labels).append(R"(,"managedFields":[)").append(entries);
  json.append(R"(]},"spec":)").append(spec).append(R"(,"status":)").append(status).append("}");
  return json;
}

// The states of one object, one after the other.
class Decoding {
 public:
  // Decodes the next state, and checks it against a decode that shares nothing.
  Ref<const Widget> Next(std::string_view json, const DecodeOptions& options = {}) {
    if (forgets_) decoder_ = ObjectDecoder(Widget::kTable);
    AnyRef object = Must(decoder_.Decode(Exact(json), options, before_));
    DecodeOptions plain = options;
    plain.mismatches = nullptr;
    const Widget expected = Must(Decode<Widget>(json, plain));
    EXPECT_EQ(*object.As<Widget>(), expected) << json;
    EXPECT_EQ(Encode(object), Encode(expected)) << json;
    before_ = object;
    return object.As<Widget>();
  }
  // From here on one decoder serves all states, which may find what they share in its memo as well.
  void KeepDecoder() { forgets_ = false; }

 private:
  bool forgets_ = true;
  ObjectDecoder decoder_{Widget::kTable};
  AnyRef before_;
};

TEST_F(MemberHashesTest, AnUpdateSharesEveryMemberThatHasNotChanged) {
  Decoding decoding;
  const auto first = decoding.Next(Object(kLabels, kEntry, kSpec, kStatus, "1"));
  const auto second = decoding.Next(Object(kLabels, kEntry, kSpec, R"({"name":"another"})", "2"));
  EXPECT_EQ(&*second->spec, &*first->spec);
  EXPECT_EQ(&second->metadata.labels.begin()->second, &first->metadata.labels.begin()->second);
  EXPECT_EQ(&second->metadata.managedFields[0], &first->metadata.managedFields[0]);
  EXPECT_NE(&*second->status, &*first->status);
  EXPECT_EQ(second->metadata.resourceVersion, "2");

  const auto third = decoding.Next(Object("{}", kEntry, R"({"name":"other"})", R"({"name":"another"})", "3"));
  EXPECT_EQ(&*third->status, &*second->status);
  EXPECT_NE(&*third->spec, &*second->spec);
}

TEST_F(MemberHashesTest, AnItemOfAListSharesWithAnObjectOfAWatchThatHasItsKind) {
  Decoding decoding;
  const std::string item = Object(kLabels, kEntry, kSpec, kStatus);
  const auto first = decoding.Next(R"({"kind":"Widget","apiVersion":"test.kgen.dev/v1",)" + item.substr(1));
  const auto second = decoding.Next(item);
  EXPECT_EQ(&*second->spec, &*first->spec);
  EXPECT_EQ(&*second->status, &*first->status);
  EXPECT_EQ(&second->metadata.managedFields[0], &first->metadata.managedFields[0]);
}

TEST_F(MemberHashesTest, AnEntryOfManagedFieldsSharesItsTextAtAnyPosition) {
  Decoding decoding;
  const std::string other = R"({"manager":"another one","time":"2026-01-02T03:04:05Z"})";
  const std::string entry(kEntry);
  const auto first = decoding.Next(Object("{}", other + "," + entry, kSpec, kStatus));
  const auto second = decoding.Next(Object("{}", entry, kSpec, kStatus));
  const auto text = [](const Ref<const Widget>& widget, std::size_t i) {
    return widget->metadata.managedFields[i].fieldsV1.text().data();
  };
  EXPECT_EQ(text(second, 0), text(first, 1));
  // The list as a whole came from the object before; its entries can be found all the same.
  const auto third = decoding.Next(Object("{}", entry, kSpec, kStatus));
  const auto fourth = decoding.Next(Object("{}", other + "," + entry, kSpec, kStatus));
  EXPECT_EQ(text(fourth, 1), text(third, 0));
  EXPECT_EQ(fourth->metadata.managedFields[1].manager.data(), third->metadata.managedFields[0].manager.data());
  const auto fifth = decoding.Next(Object("{}", other + "," + entry, kSpec, kStatus));
  EXPECT_EQ(&fifth->metadata.managedFields[0], &fourth->metadata.managedFields[0]);
  std::string many = entry;
  for (int i = 0; i < 20; ++i) many += R"(,null,{"manager":"m)" + std::to_string(i) + R"("})";
  const auto sixth = decoding.Next(Object("{}", many, kSpec, kStatus));
  const auto seventh = decoding.Next(Object("{}", many, kSpec, kStatus));
  EXPECT_EQ(&seventh->metadata.managedFields[0], &sixth->metadata.managedFields[0]);
  decoding.Next(Object("{}", other + "," + many, kSpec, kStatus));
}

TEST_F(MemberHashesTest, AFieldOfTheWrongTypeIsReportedWithEveryUpdate) {
  Decoding decoding;
  const std::string json = Object("{}", kEntry, kSpec, R"({"count":"x"})");
  for (int i = 0; i < 3; ++i) {
    std::vector<FieldMismatch> mismatches;
    decoding.Next(json, {.mismatches = &mismatches});
    ASSERT_EQ(mismatches.size(), 1u);
    EXPECT_EQ(mismatches[0].path, "status.count");
  }
}

TEST_F(MemberHashesTest, OfTwoMembersOfOneNameTheLastOneCountsAlsoForTheNextUpdate) {
  Decoding decoding;
  const std::string a = R"({"name":"the first of two that are here"})";
  const std::string b = R"({"name":"the second of two that are here"})";
  decoding.Next(R"({"metadata":{"name":"w"},"spec":)" + a + R"(,"spec":)" + b + "}");
  decoding.Next(R"({"metadata":{"name":"w"},"spec":)" + a + "}");
  decoding.Next(R"({"metadata":{"name":"w"},"spec":)" + a + R"(,"spec":null})");
  decoding.Next(R"({"metadata":{"name":"w"},"spec":)" + a + "}");
  const std::string entry(kEntry);
  decoding.Next(R"({"metadata":{"name":"w","managedFields":[)" + entry + R"(],"managedFields":[null]}})");
  decoding.Next(R"({"metadata":{"name":"w","managedFields":[)" + entry + "]}}");
  decoding.Next(R"({"metadata":{"name":"w","labels":{"a":"b"}},"metadata":{"name":"w"}})");
  decoding.Next(R"({"metadata":{"name":"w","labels":{"a":"b"}}})");
}

// Their spelling is stored in the object, outside of the list, so such a list is decoded each time.
TEST_F(MemberHashesTest, ListsOfNumbersKeepTheirSpellingInEachState) {
  ObjectDecoder decoder(widgets::Spec::kTable);
  AnyRef before;
  for (const std::string_view json :
       {R"({"factors":[1.5,2]})", R"({"factors":[1.50,2e0]})", R"({"factors":[1.50,2e0]})",
        R"({"factors":[1.5],"factors":[2e0]})", R"({"factors":[1.5]})", R"({"scores":{"a":1},"scores":{"a":2e0}})",
        R"({"scores":{"a":1}})"}) {
    before = Must(decoder.Decode(json, {}, before));
    EXPECT_EQ(Encode(before), Encode(Must(Decode<widgets::Spec>(json)))) << json;
  }
}

TEST_F(MemberHashesTest, LimitsCountSharedMembers) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string json = R"({"metadata":{"name":"w"},"status":{"env":{"a":"1","b":"2","c":"3"}}})";
  const AnyRef before = Must(decoder.Decode(json));
  EXPECT_TRUE(decoder.Decode(json, {.max_fields = 7}, before).has_value());
  EXPECT_FALSE(decoder.Decode(json, {.max_fields = 6}, before).has_value());
}

TEST_F(MemberHashesTest, AnyObjectCanBeThePreviousOne) {
  ObjectDecoder decoder(Widget::kTable);
  ObjectDecoder unshared(Widget::kTable, {.strings = false, .subtrees = false});
  ObjectDecoder another(widgets::Claim::kTable);
  const std::string json = Object(kLabels, kEntry, kSpec, kStatus);
  const std::string expected = Encode(Must(Decode<Widget>(json)));
  for (const AnyRef& before : {AnyRef(), Must(unshared.Decode(json)), Must(decoder.Decode("{}")),
                               Must(another.Decode(R"({"metadata":{"name":"w"},"spec":{"name":"c"}})")),
                               AnyRef(MakeRef(Must(Decode<Widget>(json))))}) {
    EXPECT_EQ(Encode(Must(decoder.Decode(json, {}, before))), expected);
    EXPECT_EQ(Encode(Must(unshared.Decode(json, {}, before))), expected);
  }
}

TEST_F(MemberHashesTest, OptionsThatChangeTheResultAreNotConfused) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string json =
      R"({"metadata":{"name":"w","managedFields":[{"manager":"m"}]},"spec":{"templates":[{"metadata":{"managedFields":[{}]}}]}})";
  const AnyRef kept = Must(decoder.Decode(json));
  const AnyRef dropped = Must(decoder.Decode(json, {.drop_managed_fields = true}, kept));
  EXPECT_EQ(Encode(dropped), Encode(Must(Decode<Widget>(json, {.drop_managed_fields = true}))));
  EXPECT_EQ(Encode(Must(decoder.Decode(json, {}, dropped))), Encode(kept));
}

TEST_F(MemberHashesTest, AnObjectOfTheSameBytesIsUnchanged) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string item = Object(kLabels, kEntry, kSpec, kStatus);
  const auto event = [&](std::string_view kind, std::string_view version) {
    return R"({"kind":")" + std::string(kind) + R"(","apiVersion":")" + std::string(version) + R"(",)" + item.substr(1);
  };
  const std::string whole = event("Widget", "test.kgen.dev/v1");
  for (const std::string& decoded : {item, whole}) {
    const AnyRef object = Must(decoder.Decode(decoded));
    EXPECT_TRUE(decoder.IsUnchanged(item, {}, object));
    EXPECT_TRUE(decoder.IsUnchanged(whole, {}, object));
    EXPECT_TRUE(
        decoder.IsUnchanged(R"({"apiVersion":"test.kgen.dev/v1","kind":"Widget",)" + item.substr(1), {}, object));
    EXPECT_FALSE(decoder.IsUnchanged(event("Gadget", "test.kgen.dev/v1"), {}, object)) << "would be refused";
    EXPECT_FALSE(decoder.IsUnchanged(event("Widget", "test.kgen.dev/v2"), {}, object)) << "would be refused";
    EXPECT_FALSE(decoder.IsUnchanged(item, {.drop_managed_fields = true}, object));
    EXPECT_FALSE(decoder.IsUnchanged(item, {}, AnyRef()));
    for (std::size_t at = 1; at < item.size(); ++at) {
      std::string other = item;
      other[at] = static_cast<char>(other[at] ^ 1);
      EXPECT_FALSE(decoder.IsUnchanged(Exact(other), {}, object)) << at;
      EXPECT_FALSE(decoder.IsUnchanged(Exact(item.substr(0, at)), {}, object)) << at;
    }
  }
}

TEST_F(MemberHashesTest, AnObjectWithAFieldOfTheWrongTypeIsNeverUnchanged) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string json = Object(kLabels, kEntry, R"({"name":7})", kStatus);
  std::vector<FieldMismatch> mismatches;
  const AnyRef object = Must(decoder.Decode(json, {.mismatches = &mismatches}));
  ASSERT_EQ(mismatches.size(), 1u);
  EXPECT_FALSE(decoder.IsUnchanged(json, {.mismatches = &mismatches}, object));
  EXPECT_TRUE(codec::MemberHashes::Of(object, Widget::kTable).empty());
}

TEST_F(MemberHashesTest, AnObjectHasMemoryOnlyForTheHashesOfMembersThatItHas) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string_view json = R"({"metadata":{"name":"w"}})";
  const AnyRef first = Must(decoder.Decode(json));
  const std::int64_t before = GetHeapUse().bytes;
  const AnyRef object = Must(decoder.Decode(json));
  // One hash, which is of the object as a whole.
  const std::size_t expected = sizeof(detail::ObjectBlock) + Widget::kTable.size + sizeof(codec::MemberHash);
  EXPECT_EQ(GetHeapUse().bytes - before, static_cast<std::int64_t>(expected));
}

TEST_F(MemberHashesTest, ManyUpdatesInARowLeakNothing) {
  const std::int64_t before = LiveBlocks();
  {
    Decoding decoding;
    for (int i = 0; i < 200; ++i) {
      decoding.Next(Object(kLabels, kEntry, kSpec, R"({"name":"number )" + std::to_string(i) + "\"}"));
    }
  }
  EXPECT_EQ(LiveBlocks(), before);
}

// Members in all forms in which they may come, at random.
std::string RandomObject(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<std::string_view> of) { return of.begin()[random() % of.size()]; };
  const auto spec = [&] {
    return pick({kSpec, "null", "{}", "[]", R"({"rows":[[1,2e0],[3]],"scores":{"a":1e0}})", R"({"anything":{"b":"c"}})",
                 R"({"parts":[null,{"name":"x"},7]})", R"( { "name" : "white space" } )", R"({"amount":"1Gi"})"});
  };
  const auto status = [&] { return pick({kStatus, "null", "{}", "7", R"({"tags":["a",null]})", R"({"count":1e0})"}); };
  const auto labels = [&] { return pick({kLabels, "null", "{}", R"({"a":null})", R"({"a":7})", R"({"a":"b"})"}); };
  const auto entry = [&] { return pick({kEntry, "null", "{}", "7", R"({"manager":"m"})", R"({"manager":7})"}); };
  std::string json = R"({"metadata":{"name":"w","labels":)";
  json.append(labels()).append(R"(,"managedFields":[)");
  for (std::size_t i = random() % 9; i > 0; --i) json.append(entry()).append(i > 1 ? "," : "");
  json.append(R"(],"finalizers":)").append(pick({"[]", R"(["a.b/c","d"])", "null", R"([null])", "{}"}));
  if (random() % 8 == 0) json.append(R"(,"labels":)").append(labels());
  json += "}";
  for (int i = 0; i < 3; ++i) {
    if (random() % 3 != 0) json.append(R"(,"spec":)").append(spec());
    if (random() % 3 != 0) json.append(R"(,"status":)").append(status());
    if (random() % 4 == 0) json.append(R"(,"unknown":)").append(spec());
  }
  return json + "}";
}

TEST_F(MemberHashesTest, SharingChangesNothingWhateverTheObjectsAre) {
  std::mt19937 random(7);
  const std::int64_t before = LiveBlocks();
  {
    Decoding decoding;
    for (int i = 0; i < 6000; ++i) {
      if (i == 3000) decoding.KeepDecoder();
      std::vector<FieldMismatch> mismatches;
      std::vector<FieldMismatch> expected;
      const std::string json = RandomObject(random);
      decoding.Next(json, {.mismatches = &mismatches});
      (void)Must(Decode<Widget>(json, {.mismatches = &expected}));
      ASSERT_EQ(mismatches.size(), expected.size()) << json;
    }
  }
  EXPECT_EQ(LiveBlocks(), before);
}

TEST(PeekKey, FindsNameAndNamespaceAtAnyPosition) {
  const auto peek = [](std::string_view json, bool namespaced) {
    ObjectKey key;
    return PeekKey(json, namespaced, key) ? key.str() : std::string("none");
  };
  EXPECT_EQ(peek(R"({"metadata":{"name":"a","namespace":"n"}})", true), "n/a");
  EXPECT_EQ(peek(R"({"spec":{"name":"x"},"metadata":{"labels":{"name":"y"},"namespace":"n","name":"a"}})", true),
            "n/a");
  EXPECT_EQ(peek(R"({"metadata":{"name":"a","namespace":"n"}})", false), "a");
  EXPECT_EQ(peek(R"({"metadata":{"name":"a"}})", true), "none");
  EXPECT_EQ(peek(R"({"metadata":{"name":7}})", false), "none");
  EXPECT_EQ(peek(R"({"metadata":[]})", false), "none");
  EXPECT_EQ(peek(R"({"metadata":{"name":"a)", false), "none");
  EXPECT_EQ(peek("", false), "none");
}

}  // namespace
}  // namespace kgen
