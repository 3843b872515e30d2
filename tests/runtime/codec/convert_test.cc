// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/codec/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/tables/table_builder.h"
#include "kgen/core/unstructured.h"
#include "tests/runtime/codec/codec_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen {

// The widgets of the next version: members of other kinds, fewer and more of them.
namespace plans {

struct Piece {
  String name{};
  Optional<Piece> child = kAbsent;
  Optional<std::int64_t> count{};
  List<Piece> parts{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Labels {  // of an ObjectMeta, what a CRD declares
  String name{};
  Map<String> labels{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Template {
  Optional<Labels> metadata = kAbsent;
  Optional<Piece> spec = kAbsent;
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Plan {
  String name{};
  String amount{};                     // was a Quantity
  Optional<Piece> anything = kAbsent;  // was Json
  String blob{};                       // was Bytes
  Optional<std::int32_t> large{};      // was 64 bits
  Map<Piece> named{};
  IntOrString note{};  // was text
  Json optional{};     // was a struct
  List<Piece> parts{};
  String port{};                   // was an IntOrString
  Optional<std::int32_t> ratio{};  // was a double
  Optional<double> replicas{};     // was 32 bits
  List<Template> templates{};
  String when{};  // was a Time
  Optional<std::int32_t> added{};
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

struct Gadget {
  meta::v1::ObjectMeta metadata{};
  Optional<Plan> spec = kAbsent;
  UnknownFields unknown_fields{};
  static const TypeTable kTable;
};

namespace {

using detail::FindNameSlots;
using detail::MakeField;
using detail::MakeTable;

constexpr Field kPieceFields[] = {
    MakeField("name", offsetof(Piece, name), ValueKind::kString),
    MakeField("child", offsetof(Piece, child), ValueKind::kBox, &Piece::kTable),
    MakeField("count", offsetof(Piece, count), ValueKind::kInt64),
    MakeField("parts", offsetof(Piece, parts), ValueKind::kList, &kTypeOf<Piece>),
};
constexpr Field kLabelsFields[] = {
    MakeField("name", offsetof(Labels, name), ValueKind::kString),
    MakeField("labels", offsetof(Labels, labels), ValueKind::kMap, &kTypeOf<String>),
};
constexpr Field kTemplateFields[] = {
    MakeField("metadata", offsetof(Template, metadata), ValueKind::kBox, &Labels::kTable),
    MakeField("spec", offsetof(Template, spec), ValueKind::kBox, &Piece::kTable),
};
constexpr Field kPlanFields[] = {
    MakeField("name", offsetof(Plan, name), ValueKind::kString),
    MakeField("amount", offsetof(Plan, amount), ValueKind::kString),
    MakeField("anything", offsetof(Plan, anything), ValueKind::kBox, &Piece::kTable),
    MakeField("blob", offsetof(Plan, blob), ValueKind::kString),
    MakeField("large", offsetof(Plan, large), ValueKind::kInt32),
    MakeField("named", offsetof(Plan, named), ValueKind::kMap, &kTypeOf<Piece>),
    MakeField("note", offsetof(Plan, note), ValueKind::kIntOrString),
    MakeField("optional", offsetof(Plan, optional), ValueKind::kJson),
    MakeField("parts", offsetof(Plan, parts), ValueKind::kList, &kTypeOf<Piece>),
    MakeField("port", offsetof(Plan, port), ValueKind::kString),
    MakeField("ratio", offsetof(Plan, ratio), ValueKind::kInt32),
    MakeField("replicas", offsetof(Plan, replicas), ValueKind::kDouble),
    MakeField("templates", offsetof(Plan, templates), ValueKind::kList, &kTypeOf<Template>),
    MakeField("when", offsetof(Plan, when), ValueKind::kString),
    MakeField("added", offsetof(Plan, added), ValueKind::kInt32),
};
constexpr Field kGadgetFields[] = {
    MakeField("metadata", offsetof(Gadget, metadata), ValueKind::kStruct, &meta::v1::ObjectMeta::kTable),
    MakeField("spec", offsetof(Gadget, spec), ValueKind::kBox, &Plan::kTable),
};
constexpr detail::NameSlots kPieceSlots = FindNameSlots(kPieceFields);
constexpr detail::NameSlots kLabelsSlots = FindNameSlots(kLabelsFields);
constexpr detail::NameSlots kTemplateSlots = FindNameSlots(kTemplateFields);
constexpr detail::NameSlots kPlanSlots = FindNameSlots(kPlanFields);
constexpr detail::NameSlots kGadgetSlots = FindNameSlots(kGadgetFields);
constexpr KindInfo kGadgetKind = {.group = "test.kgen.dev",
                                  .version = "v2",
                                  .kind = "Gadget",
                                  .list_kind = "GadgetList",
                                  .resource = "gadgets",
                                  .singular = "gadget",
                                  .scope = Scope::kNamespaced,
                                  .list = nullptr};

}  // namespace

constinit const TypeTable Piece::kTable = MakeTable<Piece>("test.Piece", kPieceFields, kPieceSlots);
constinit const TypeTable Labels::kTable = MakeTable<Labels>("test.Labels", kLabelsFields, kLabelsSlots);
constinit const TypeTable Template::kTable = MakeTable<Template>("test.Template", kTemplateFields, kTemplateSlots);
constinit const TypeTable Plan::kTable = MakeTable<Plan>("test.Plan", kPlanFields, kPlanSlots);
constinit const TypeTable Gadget::kTable =
    MakeTable<Gadget>("test.Gadget", kGadgetFields, kGadgetSlots, offsetof(Gadget, metadata), &kGadgetKind);

}  // namespace plans

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using widgets::Part;
using widgets::Spec;
using widgets::Widget;

class ConvertTest : public CodecTest {
 protected:
  // The spec as a Plan; what could not be placed as "path: reason".
  plans::Plan PlanOf(std::string_view json) {
    auto converted = Convert<plans::Plan>(Must(Decode<Spec>(json)));
    if (!converted) {
      ADD_FAILURE() << converted.error();
      return {};
    }
    EXPECT_EQ(CanonicalJson(Encode(converted->value)), CanonicalJson(json));
    unplaced_.clear();
    for (const Unplaced& each : converted->unplaced) unplaced_.push_back(each.path + ": " + each.reason);
    return std::move(converted->value);
  }

  std::vector<std::string> unplaced_;
};

TEST_F(ConvertTest, MovesWhatFits) {
  meta::v1::ObjectMeta metadata;
  metadata.name = "a";
  metadata.uid = "u";
  const String* label = &metadata.labels.insert_or_assign("app", "web");
  const meta::v1::ObjectMeta copy = metadata;
  const auto copied = Must(Convert<plans::Labels>(copy));
  EXPECT_NE(&copied.value.labels["app"], label);
  const auto moved = Must(Convert<plans::Labels>(std::move(metadata)));
  EXPECT_EQ(&moved.value.labels["app"], label);
  EXPECT_EQ(Encode(moved.value), R"({"name":"a","labels":{"app":"web"},"uid":"u"})");
}

TEST_F(ConvertTest, LeavesASourceThatIsCopiedAsItWas) {
  const Part part = Must(Decode<Part>(R"({"name":"a","child":{"name":"b"},"parts":[{"name":"c"}],"env":{"k":"v"}})"));
  const Part before = part;
  auto converted = Must(Convert<plans::Piece>(part));
  converted.value.child->name = "changed";
  converted.value.parts[0].name = "changed";
  EXPECT_EQ(part, before);
}

TEST_F(ConvertTest, SharesNothingWithAnObjectOfACache) {
  ObjectDecoder decoder(Widget::kTable);
  const std::string json = WithSpec(R"({"named":{"k":{"name":"b"}},"parts":[{"name":"a","tags":["t"]}]})");
  const Ref<const Widget> first = Must(decoder.Decode(json)).As<Widget>();
  const Ref<const Widget> second = Must(decoder.Decode(json)).As<Widget>();
  auto converted = Must(Convert<plans::Gadget>(*first));
  converted.value.metadata.name = "other";
  converted.value.spec->parts[0].name = "other";
  converted.value.spec->named["k"].name = "other";
  EXPECT_EQ(Encode(*first), json);
  EXPECT_EQ(Encode(*second), json);
}

TEST_F(ConvertTest, WidensNumbersAndNarrowsThoseThatFit) {
  const plans::Plan plan = PlanOf(R"({"large":7,"ratio":3,"replicas":2})");
  EXPECT_EQ(*plan.large, 7);
  EXPECT_EQ(*plan.ratio, 3);
  EXPECT_EQ(*plan.replicas, 2.0);
  EXPECT_THAT(unplaced_, IsEmpty());
}

TEST_F(ConvertTest, KeepsANumberOutOfRangeAsItIs) {
  const plans::Plan plan = PlanOf(R"({"large":5000000000,"ratio":0.5})");
  EXPECT_FALSE(plan.large.has_value());
  EXPECT_EQ(plan.unknown_fields["large"].text(), "5000000000");
  EXPECT_THAT(unplaced_, ElementsAre(HasSubstr("large: expected"), HasSubstr("ratio: expected")));
}

TEST_F(ConvertTest, KeepsTheSpellingOfNumbers) {
  EXPECT_EQ(Encode(PlanOf(R"({"large":1e1,"ratio":2.0,"replicas":1.50e1})")),
            R"({"large":1e1,"ratio":2.0,"replicas":1.50e1})");
  EXPECT_EQ(Encode(Must(Convert<plans::Piece>(Must(Decode<Part>(R"({"count":1.0})")))).value), R"({"count":1.0})");
}

TEST_F(ConvertTest, ReadsTextAsTheTypeOfTheTarget) {
  const plans::Plan plan =
      PlanOf(R"({"amount":"500m","blob":"aGk=","note":"50%","port":"http","when":"2026-11-22T08:00:00.5Z"})");
  EXPECT_EQ(plan.amount, "500m");
  EXPECT_EQ(plan.blob, "aGk=");
  EXPECT_EQ(plan.note.string_value(), "50%");
  EXPECT_EQ(plan.port, "http");
  EXPECT_EQ(plan.when, "2026-11-22T08:00:00.5Z");
  EXPECT_THAT(unplaced_, IsEmpty());
}

TEST_F(ConvertTest, ReadsJsonAsAStructAndAStructAsJson) {
  const plans::Plan plan = PlanOf(R"({"anything":{"name":"a","more":1},"optional":{"name":"b"}})");
  EXPECT_EQ(plan.anything->name, "a");
  EXPECT_EQ(plan.optional.text(), R"({"name":"b"})");
  EXPECT_THAT(unplaced_, ElementsAre("anything.more: test.Piece has no such member"));
}

TEST_F(ConvertTest, ListsWhatItCouldNotPlaceByPath) {
  PlanOf(R"({"parts":[{"name":"a"},{"count":1,"tags":["x"]}],"named":{"k.1":{"token":"t"}},"enabled":true,"port":80,)"
         R"("templates":[{"metadata":{"name":"a","uid":"u"}}]})");
  EXPECT_THAT(
      unplaced_,
      ElementsAre("enabled: test.Plan has no such member", "port: expected a string, found number 80",
                  "named['k.1'].token: test.Piece has no such member", "parts[1].tags: test.Piece has no such member",
                  "templates[0].metadata.uid: test.Labels has no such member"));
}

TEST_F(ConvertTest, PlacesUnknownFieldsThatTheTargetKnows) {
  const plans::Plan plan = PlanOf(R"({"added":5,"later":true,"replicas":"many"})");
  EXPECT_EQ(*plan.added, 5);
  EXPECT_EQ(plan.unknown_fields["later"].text(), "true");
  EXPECT_THAT(unplaced_, ElementsAre(HasSubstr("later: "), HasSubstr("replicas: expected a number")));
}

TEST_F(ConvertTest, DoesNotBringBackAnUnknownFieldThatWasReplaced) {
  Spec spec = Must(Decode<Spec>(R"({"large":"many","note":null})"));
  spec.large = 1;
  spec.note = "n";
  EXPECT_EQ(Encode(Must(Convert<plans::Plan>(spec)).value), R"({"large":1,"note":"n"})");
}

TEST_F(ConvertTest, KeepsNulls) {
  PlanOf(R"({"note":null,"large":null,"optional":null,"parts":[null,{"name":null}],"named":{"k":null}})");
  EXPECT_THAT(unplaced_, IsEmpty());
  PlanOf(R"({"enabled":null,"parts":[7]})");
  EXPECT_THAT(unplaced_, ElementsAre("parts[0]: expected an object"));
}

TEST_F(ConvertTest, TellsPresentAndEmptyFromAbsent) {
  PlanOf(R"({"anything":{},"optional":{},"parts":[],"named":{},"name":"","templates":[{"metadata":{},"spec":{}}]})");
  Spec looked;
  looked.optional->child->name.has_value();
  looked.parts.reset();
  EXPECT_EQ(Encode(Must(Convert<plans::Plan>(std::move(looked))).value), "{}");
  auto back = Must(Convert<widgets::Claim>(Must(Decode<plans::Template>(R"({"metadata":{},"spec":{}})"))));
  EXPECT_EQ(Encode(back.value), R"({"apiVersion":"v1","kind":"Claim","spec":{},"metadata":{}})");
}

TEST_F(ConvertTest, LeavesOutEntriesThatWereOnlyLookedAt) {
  Spec spec;
  spec.named["set"].name = "a";
  static_cast<void>(spec.named["looked"]);
  EXPECT_EQ(Encode(Must(Convert<plans::Plan>(std::move(spec))).value), R"({"named":{"set":{"name":"a"}}})");
}

TEST_F(ConvertTest, TakesListsAndMapsOfStructs) {
  List<Part> parts;
  parts.emplace_back().token = "t";
  auto list = Must(Convert<List<plans::Piece>>(parts));
  ASSERT_EQ(list.value.size(), 1u);
  EXPECT_EQ(list.unplaced[0].path, "[0].token");
  Map<Part> named;
  named["k"].name = "a";
  EXPECT_EQ(Must(Convert<Map<plans::Piece>>(named)).value["k"].name, "a");
  EXPECT_FALSE(Must(Convert<List<plans::Piece>>(List<Part>())).value.has_value());
}

TEST_F(ConvertTest, WritesTheKindOfTheTarget) {
  auto gadget = Must(Convert<plans::Gadget>(Must(Decode<Widget>(WithSpec(R"({"name":"s"})")))));
  EXPECT_EQ(Encode(gadget.value),
            R"({"apiVersion":"test.kgen.dev/v2","kind":"Gadget","metadata":{"name":"w"},"spec":{"name":"s"}})");
  EXPECT_THAT(gadget.unplaced, IsEmpty());
}

TEST_F(ConvertTest, GoesToUnstructuredAndBack) {
  const std::string json = WithSpec(R"({"parts":[{"name":"a"}],"large":1.0,"more":{"x":1}})");
  const Widget widget = Must(Decode<Widget>(json));
  auto any = Must(Convert<Unstructured>(widget));
  EXPECT_EQ(any.value.apiVersion, "test.kgen.dev/v1");
  EXPECT_EQ(any.value.kind, "Widget");
  EXPECT_EQ(Must(any.value.GetString("spec.parts[0].name")), "a");
  EXPECT_THAT(any.unplaced, IsEmpty());
  EXPECT_EQ(CanonicalJson(Encode(any.value)), CanonicalJson(json));
  auto back = Must(Convert<Widget>(any.value));
  EXPECT_EQ(back.value, widget);
  ASSERT_EQ(back.unplaced.size(), 1u);
  EXPECT_EQ(back.unplaced[0].path, "spec.more");
}

TEST_F(ConvertTest, RefusesAnUnstructuredOfAnotherKind) {
  Unstructured any = Must(Convert<Unstructured>(Must(Decode<Widget>(WithSpec("{}"))))).value;
  any.kind = "Order";
  auto refused = Convert<Widget>(any);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kDecode);
  EXPECT_THAT(refused.error().ToString(), HasSubstr(R"(expected kind "Widget", found string "Order")"));
}

TEST_F(ConvertTest, SaysTheKindOfEachItemOfAList) {
  widgets::WidgetList list;
  list.items.emplace_back().metadata.name = "w";
  auto any = Must(Convert<UnstructuredList>(list));
  EXPECT_EQ(any.value.kind, "WidgetList");
  EXPECT_EQ(any.value.items[0].kind, "Widget");
  EXPECT_EQ(CanonicalJson(Encode(any.value)), CanonicalJson(Encode(list)));
  any.value.items[0].kind = "Order";
  EXPECT_THAT(Convert<widgets::WidgetList>(any.value).error().ToString(), HasSubstr("items[0]"));
}

TEST_F(ConvertTest, EndsAtTheDepthOfTheDecoder) {
  Part part;
  for (int i = 1; i < 256; ++i) {
    Part outer;
    outer.child = std::move(part);
    part = std::move(outer);
  }
  EXPECT_TRUE(Convert<plans::Piece>(part));
  Part outer;
  outer.child = part;
  auto refused = Convert<plans::Piece>(std::move(outer));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("nested too deeply"));
  Spec spec;
  spec.anything = Json(std::string(255, '[') + std::string(255, ']'));
  EXPECT_TRUE(Convert<plans::Plan>(spec));
  spec.anything = Json(std::string(256, '[') + std::string(256, ']'));
  EXPECT_FALSE(Convert<plans::Plan>(spec));
}

TEST_F(ConvertTest, RefusesJsonThatIsNone) {
  Spec spec;
  spec.unknown_fields.Set("later", Json("{"));
  EXPECT_EQ(Convert<plans::Plan>(spec).error().code(), Code::kDecode);
}

}  // namespace
}  // namespace kgen
